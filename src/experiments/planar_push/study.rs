//! Tables and figures of pushes, compared with reference paths and measured ends.

use std::path::Path;

use super::push::{Push, Pusher, Support, take};
use crate::experiments::error::{make_folder, read_text};
use crate::experiments::push_record::{Labels, mean};
use crate::experiments::{Chart, ExperimentError, PushSample, PushSummary, Series};
use crate::stepping::StepSettings;

/// A push of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct PushRow {
    /// Contact point [-] and angle \[degrees\].
    pub push: (f64, f64),
    /// Its end, errors and times.
    pub summary: PushSummary,
    /// Mean size of the force of the pusher \[N\].
    pub force: f64,
}

/// Takes `pushes`, writes a CSV and a figure for each to the folder `out`, and returns their table.
///
/// # Errors
/// A step that fails, or a file that cannot be written.
pub fn study(
    pushes: &[(f64, f64)],
    (support, pusher): (Support, Pusher),
    settings: StepSettings,
    out: &Path,
    clock: &dyn Fn() -> f64,
) -> Result<Vec<PushRow>, ExperimentError> {
    make_folder(out)?;
    let mut rows = Vec::new();
    for push in pushes {
        let samples = take(&Push::new(*push, support, pusher), settings, clock)?;
        let (title, name) = (format!("Push at {}, {} degrees", push.0, push.1), format!("push_{}_{}", push.0, push.1));
        let labels = Labels {
            title: &title,
            position: ["x", "y"],
            force: (["fx", "fy"], ["x", "y"]),
            force_title: "Force of the pusher",
        };
        labels.write((out, &name), &samples, None, vec![path_from_above(&samples)])?;
        let force = mean(&samples, |sample| sample.force[0].hypot(sample.force[1]));
        rows.push(PushRow { push: *push, summary: PushSummary::new(&samples), force });
    }
    Ok(rows)
}

fn path_from_above(samples: &[PushSample]) -> Chart {
    let centre = samples.iter().map(|sample| (1e3 * sample.position[0], 1e3 * sample.position[1]));
    Chart::new("Path from above", ["x [mm]", "y [mm]"], vec![Series::new("centre", centre)])
}

/// The errors of a grid of pushes, relative to measured pushes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridErrors {
    /// Pushes with a valid measurement.
    pub pushes: u32,
    /// Mean Euclidean error of the end position \[mm\].
    pub position: f64,
    /// Mean error of the turn \[degrees\].
    pub angle: f64,
    /// Fraction of the steps that did not converge [-].
    pub failed: f64,
    /// Mean time of a step \[ms\].
    pub took: f64,
}

/// Takes every push of the measured `file`, from its measured contact point, angle and gap, and compares the
/// ends. Rows that the file marks as wrong are left out.
///
/// # Errors
/// A step that fails, or a file that is missing or has other columns.
pub fn grid(
    file: &Path,
    (support, pusher): (Support, Pusher),
    settings: StepSettings,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<GridErrors, ExperimentError> {
    let text = read_text(file)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let wrong = |problem: String| ExperimentError::Measurements { path: file.to_owned(), problem };
    let column = |name: &str| {
        header.iter().position(|other| *other == name).ok_or_else(|| wrong(format!("it has no column `{name}`")))
    };
    let columns = ["s_measured", "t_measured_rad", "gap0_mm", "dx_mm", "dy_mm", "dth_deg", "label_ok"];
    let columns = columns.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers = columns.iter().map(|column| fields.get(*column)?.trim().parse::<f64>().ok());
        let Some(row) = numbers.collect::<Option<Vec<_>>>() else {
            return Err(wrong(format!("line {} is not a row of numbers", number + 2)));
        };
        if let [contact, angle, gap, dx, dy, turn, ok] = row[..]
            && ok == 1.0
        {
            rows.push(([contact, angle, gap], [dx, dy, turn]));
        }
    }
    if rows.is_empty() {
        return Err(wrong("it has no valid row".to_owned()));
    }
    let mut errors = GridErrors { pushes: rows.len() as u32, ..GridErrors::default() };
    let share = 1.0 / rows.len() as f64;
    for (number, ([contact, angle, gap], [dx, dy, turn])) in rows.iter().enumerate() {
        progress("pushes", number as u64, rows.len() as u64);
        // The recorded poses overlap by up to a millimetre; the rod then starts in touch
        let push = Push { contact: *contact, angle: *angle, gap: (1e-3 * gap).max(0.0), support, pusher };
        let row = PushSummary::new(&take(&push, settings, clock)?);
        errors.position += share * (row.end[0] - dx).hypot(row.end[1] - dy);
        errors.angle += share * (row.end[2] - turn).abs();
        errors.failed += share * row.failed;
        errors.took += share * row.took[0];
    }
    Ok(errors)
}
