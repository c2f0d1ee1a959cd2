//! Tables and figures of pushes, compared with reference paths and measured ends.

use std::path::Path;

use super::compare::{MEASURED_ENDS, reference_ends, reference_forces};
use super::measured::{self, MeasuredPush};
use super::push::{CONTACT_NAMES, Properties, Push, Pusher, SIDE, Support, THESIS_PUSHES, take};
use crate::experiments::error::make_folder;
use crate::experiments::plot::GAP;
use crate::experiments::push_record::{Labels, mean};
use crate::experiments::{Chart, ExperimentError, PushSample, PushSummary, Scale, Series};
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
    /// The reference and the measured ends of this push.
    pub expected: Expected,
}

/// The reference of a push, and its measured ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// The end \[mm, mm, degrees\] and the mean force \[N\] of the path of minimum power. The path does not
    /// depend on the mass and on the friction of the ground, to which the force is in proportion.
    pub reference: Option<([f64; 3], f64)>,
    /// Mean and standard deviation of the measured ends \[mm, mm, degrees\].
    pub measured: Option<([f64; 3], [f64; 3])>,
}

impl Expected {
    fn new(push: &Push, nominal: (f64, f64)) -> Self {
        let Properties { mass, mu_ground, mu_pusher, speed, .. } = push.properties;
        let thesis = Properties::default();
        let known = THESIS_PUSHES.iter().position(|other| *other == nominal);
        // Without friction on the ground the object flies ahead of the rod
        let same_path = mu_pusher == thesis.mu_pusher && mu_ground > 0.0;
        let reference = known.filter(|_| same_path).map(|number| {
            let scale = mu_ground * mass / (thesis.mu_ground * thesis.mass);
            (reference_ends(push.support)[number], scale * reference_forces(push.support)[number])
        });
        let same = same_path && mu_ground == thesis.mu_ground && mass == thesis.mass && speed == thesis.speed;
        Self { reference, measured: known.filter(|_| same).map(|number| MEASURED_ENDS[number]) }
    }
}

/// Takes `pushes`, writes a CSV and a figure for each to the folder `out`, and returns their table. The
/// figures show the ends of the reference and of the pushes of the file `measured`, if there are any.
///
/// # Errors
/// A step that fails, or a file that cannot be read or written.
pub fn study(
    pushes: &[(f64, f64)],
    (support, pusher, properties): (Support, Pusher, Properties),
    settings: StepSettings,
    measured: Option<&Path>,
    out: &Path,
    clock: &dyn Fn() -> f64,
) -> Result<Vec<PushRow>, ExperimentError> {
    let measured = measured.map(measured::read).transpose()?.unwrap_or_default();
    make_folder(out)?;
    let mut rows = Vec::new();
    for push in pushes {
        let with = Push { properties, ..Push::new(*push, support, pusher) };
        let (samples, expected) = (take(&with, settings, clock)?, Expected::new(&with, *push));
        let (title, name) = (format!("Push at {}, {} degrees", push.0, push.1), format!("push_{}_{}", push.0, push.1));
        let labels = Labels {
            title: &title,
            position: ["x", "y"],
            force: (["fx", "fy"], ["x", "y"]),
            contacts: &CONTACT_NAMES,
            force_title: "Force of the pusher",
        };
        let reference = expected.reference.map(|(end, _)| end);
        let above = from_above(&samples, reference, &measured::ends_of(&measured, *push));
        labels.write((out, &name), &samples, None, vec![above])?;
        let force = mean(&samples, |sample| sample.force[0].hypot(sample.force[1]));
        rows.push(PushRow { push: *push, summary: PushSummary::new(&samples), force, expected });
    }
    Ok(rows)
}

/// The outline of the object at a position \[mm\] and turn \[degrees\], with a gap at its end.
fn outline([x, y, turn]: [f64; 3]) -> impl Iterator<Item = (f64, f64)> {
    let (sin, cos) = turn.to_radians().sin_cos();
    let half = 0.5e3 * SIDE;
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)];
    let turned = move |(a, b): (f64, f64)| (x + half * (a * cos - b * sin), y + half * (a * sin + b * cos));
    corners.into_iter().map(turned).chain([GAP])
}

/// The object from above: its start, its end, and the ends of the reference and of measured pushes, each with
/// the mark of the object's own x axis.
fn from_above(samples: &[PushSample], reference: Option<[f64; 3]>, measured: &[[f64; 3]]) -> Chart {
    let with_axis = |pose: [f64; 3]| {
        let (sin, cos) = pose[2].to_radians().sin_cos();
        let half = 0.5e3 * SIDE;
        let axis = [(pose[0], pose[1]), (pose[0] + half * cos, pose[1] + half * sin), GAP];
        outline(pose).chain(axis)
    };
    // Later lines cover earlier ones
    let mut series = vec![Series::new("start", with_axis([0.0; 3]))];
    if !measured.is_empty() {
        series.push(Series::new("measured ends", measured.iter().flat_map(|pose| with_axis(*pose))));
    }
    series.extend(reference.map(|pose| Series::new("end of the reference", with_axis(pose))));
    series.push(Series::new("end", with_axis(PushSummary::new(samples).end)));
    let path = samples.iter().map(|sample| (1e3 * sample.position[0], 1e3 * sample.position[1]));
    series.push(Series::new("path of the centre", path));
    Chart { scale: Scale::Equal, ..Chart::new("From above", ["x [mm]", "y [mm]"], series) }
}

/// A measured push and its simulated end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridPush {
    /// The measurement.
    pub measured: MeasuredPush,
    /// Simulated position \[mm\] and turn \[degrees\] at the end.
    pub end: [f64; 3],
}

impl GridPush {
    /// Distance of the ends \[mm\].
    pub fn position(&self) -> f64 {
        (self.end[0] - self.measured.end[0]).hypot(self.end[1] - self.measured.end[1])
    }

    /// Difference of the turns \[degrees\].
    pub fn angle(&self) -> f64 {
        (self.end[2] - self.measured.end[2]).abs()
    }
}

/// The errors of a grid of pushes, relative to measured pushes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridErrors {
    /// The pushes with a valid measurement.
    pub pushes: Vec<GridPush>,
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
    let rows = measured::read(file)?;
    let mut errors = GridErrors::default();
    let share = 1.0 / rows.len() as f64;
    for (number, measured) in rows.iter().enumerate() {
        progress("pushes", number as u64, rows.len() as u64);
        // The recorded poses overlap by up to a millimetre; the rod then starts in touch
        let MeasuredPush { contact, angle, gap, .. } = *measured;
        let gap = (1e-3 * gap).max(0.0);
        let push = Push { contact, angle, gap, support, pusher, properties: Properties::default() };
        let row = PushSummary::new(&take(&push, settings, clock)?);
        let pair = GridPush { measured: *measured, end: row.end };
        errors.position += share * pair.position();
        errors.angle += share * pair.angle();
        errors.failed += share * row.failed;
        errors.took += share * row.took[0];
        errors.pushes.push(pair);
    }
    Ok(errors)
}

/// The mean errors of `pushes` as a table in Markdown: a row for each contact point, a column for each angle,
/// and in each cell the distance \[mm\] and the difference of the turn \[degrees\].
pub fn grid_table(pushes: &[GridPush]) -> String {
    let sorted = |of: &dyn Fn(&GridPush) -> f64| {
        let mut values: Vec<f64> = pushes.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    let (contacts, angles) = (sorted(&|push| push.measured.nominal.0), sorted(&|push| push.measured.nominal.1));
    let mut text = String::from("| contact |");
    angles.iter().for_each(|angle| text.push_str(&format!(" {angle} |")));
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(angles.len()));
    for contact in &contacts {
        text.push_str(&format!("\n| {contact} |"));
        for angle in &angles {
            let here: Vec<&GridPush> =
                pushes.iter().filter(|push| push.measured.nominal == (*contact, *angle)).collect();
            let mean = |of: &dyn Fn(&GridPush) -> f64| {
                here.iter().map(|push| of(push)).sum::<f64>() / here.len().max(1) as f64
            };
            let cell = format!(" {:.1}, {:.1} |", mean(&GridPush::position), mean(&GridPush::angle));
            text.push_str(if here.is_empty() { " |" } else { &cell });
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four corners at half a side from the centre, in the turned axes, and back at the first one.
    #[test]
    fn outlines_are_turned_squares() {
        let corners: Vec<_> = outline([10.0, 20.0, 90.0]).collect();
        let half = 0.5e3 * SIDE;
        let expected = [(-half, half), (-half, -half), (half, -half), (half, half), (-half, half)];
        for ((x, y), (ex, ey)) in corners.iter().zip(expected) {
            assert!((x - 10.0 - ex).abs() < 1e-9 && (y - 20.0 - ey).abs() < 1e-9, "{corners:?}");
        }
        assert!(corners.len() == 6 && corners[5].0.is_nan());
    }

    /// Means of the pushes of a cell; a cell without a push is empty.
    #[test]
    fn the_table_has_a_cell_for_each_contact_and_angle() {
        let push = |nominal, x: f64, turn: f64| GridPush {
            measured: MeasuredPush { nominal, contact: 0.0, angle: 0.0, gap: 0.0, end: [0.0; 3] },
            end: [x, 0.0, turn],
        };
        let pushes = [push((0.1, -20.0), 1.0, 2.0), push((0.1, -20.0), 3.0, -6.0), push((0.2, 0.0), 5.0, 1.0)];
        let table = "| contact | -20 | 0 |\n|---|---|---|\n| 0.1 | 2.0, 4.0 | |\n| 0.2 | | 5.0, 1.0 |\n";
        assert_eq!(grid_table(&pushes), table);
    }
}
