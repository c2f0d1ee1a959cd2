//! Measured pushes: a table with one row for each [Yu et al. 2016].

use std::path::Path;

use crate::experiments::ExperimentError;
use crate::experiments::error::read_text;

/// Nominal contact points and angles that differ by less than this are equal [-], \[degrees\].
const SAME: f64 = 1e-6;

/// One measured push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredPush {
    /// The commanded contact point [-] and angle \[degrees\].
    pub nominal: (f64, f64),
    /// Measured contact point on the side [-].
    pub contact: f64,
    /// Measured angle of the push \[rad\].
    pub angle: f64,
    /// Measured distance of the rod from the side at the start \[mm\].
    pub gap: f64,
    /// Position \[mm\] and turn \[degrees\] of the object at the end.
    pub end: [f64; 3],
}

/// Reads the valid rows of a table of measured pushes.
///
/// # Errors
/// A file that is missing, has other columns, or has no valid row.
pub(super) fn read(file: &Path) -> Result<Vec<MeasuredPush>, ExperimentError> {
    let text = read_text(file)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let wrong = |problem: String| ExperimentError::Measurements { path: file.to_owned(), problem };
    let column = |name: &str| {
        header.iter().position(|other| *other == name).ok_or_else(|| wrong(format!("it has no column `{name}`")))
    };
    let names = ["s", "t_deg", "s_measured", "t_measured_rad", "gap0_mm", "dx_mm", "dy_mm", "dth_deg", "label_ok"];
    let columns = names.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers = columns.iter().map(|column| fields.get(*column)?.trim().parse::<f64>().ok());
        let Some(row) = numbers.collect::<Option<Vec<_>>>() else {
            return Err(wrong(format!("line {} is not a row of numbers", number + 2)));
        };
        if let [s, t, contact, angle, gap, dx, dy, turn, ok] = row[..]
            && ok == 1.0
        {
            rows.push(MeasuredPush { nominal: (s, t), contact, angle, gap, end: [dx, dy, turn] });
        }
    }
    if rows.is_empty() {
        return Err(wrong("it has no valid row".to_owned()));
    }
    Ok(rows)
}

/// The measured ends \[mm, degrees\] of the push at `contact` and `degrees`. The object is symmetric, so that
/// the push at 1 - contact with the opposite angle is its mirror image.
pub(super) fn ends_of(rows: &[MeasuredPush], (contact, degrees): (f64, f64)) -> Vec<[f64; 3]> {
    let is =
        |(s, t): (f64, f64), (contact, degrees): (f64, f64)| (s - contact).abs() < SAME && (t - degrees).abs() < SAME;
    let end = |row: &MeasuredPush| {
        let [x, y, turn] = row.end;
        if is(row.nominal, (contact, degrees)) {
            Some([x, y, turn])
        } else if is(row.nominal, (1.0 - contact, -degrees)) {
            Some([x, -y, -turn])
        } else {
            None
        }
    };
    rows.iter().filter_map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A push on the axis of symmetry is its own mirror image and counts once.
    #[test]
    fn mirrored_pushes_are_measurements_of_the_same_push() {
        let row = |nominal, end| MeasuredPush { nominal, contact: 0.5, angle: 0.0, gap: 0.0, end };
        let rows = [
            row((0.8, -20.0), [24.0, 6.0, 33.0]),
            row((0.2, 20.0), [25.0, -5.0, -31.0]),
            row((0.5, 0.0), [50.0, 1.0, 2.0]),
            row((0.8, 20.0), [1.0, 1.0, 1.0]),
        ];
        assert_eq!(ends_of(&rows, (0.8, -20.0)), [[24.0, 6.0, 33.0], [25.0, 5.0, 31.0]]);
        assert_eq!(ends_of(&rows, (0.5, 0.0)), [[50.0, 1.0, 2.0]]);
        assert_eq!(ends_of(&rows, (0.3, 0.0)), [[0.0; 3]; 0]);
    }
}
