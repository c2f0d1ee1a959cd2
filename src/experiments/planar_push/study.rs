//! Tables and figures of pushes, beside reference paths and measured ends.

use std::fmt::Write as _;
use std::path::Path;

use super::push::{Push, PushSample, Pusher, Support, take};
use crate::experiments::error::{make_folder, read_text, write_text};
use crate::experiments::{Chart, ExperimentError, Series, draw};
use crate::stepping::StepSettings;

/// A push of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct PushRow {
    /// Contact point [-] and angle \[degrees\].
    pub push: (f64, f64),
    /// Position \[mm\] and turn \[degrees\] at the end.
    pub end: [f64; 3],
    /// Mean size of the force of the pusher \[N\].
    pub force: f64,
    /// Largest cone error of a point and of the net force [-].
    pub cone: [f64; 2],
    /// Mean alignment error of the points and of the net force \[degrees\].
    pub alignment: [f64; 2],
    /// Steps that did not converge, as a part of all [-].
    pub failed: f64,
    /// Mean and longest time of a step \[ms\].
    pub took: [f64; 2],
}

impl PushRow {
    fn new(push: (f64, f64), samples: &[PushSample]) -> Self {
        let count = samples.len().max(1) as f64;
        let mean = |of: &dyn Fn(&PushSample) -> f64| samples.iter().map(of).sum::<f64>() / count;
        let most = |of: &dyn Fn(&PushSample) -> f64| samples.iter().map(of).fold(0.0, f64::max);
        let last = samples.last().copied().unwrap_or_default();
        Self {
            push,
            end: [1e3 * last.position[0], 1e3 * last.position[1], last.angle.to_degrees()],
            force: mean(&|sample| sample.force[0].hypot(sample.force[1])),
            cone: [most(&|sample| sample.errors.cone), most(&|sample| sample.net_errors.cone)],
            alignment: [
                mean(&|sample| sample.errors.alignment.to_degrees()),
                mean(&|sample| sample.net_errors.alignment.to_degrees()),
            ],
            failed: mean(&|sample| f64::from(u8::from(!sample.converged))),
            took: [1e3 * mean(&|sample| sample.took), 1e3 * most(&|sample| sample.took)],
        }
    }
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
        let name = format!("push_{}_{}", push.0, push.1);
        write_text(&out.join(format!("{name}.csv")), &table(&samples))?;
        draw(&out.join(format!("{name}.svg")), &charts(*push, &samples))?;
        rows.push(PushRow::new(*push, &samples));
    }
    Ok(rows)
}

fn table(samples: &[PushSample]) -> String {
    let mut text =
        "time,x,y,angle,fx,fy,cone_error,alignment_error,net_cone_error,net_alignment_error,converged\n".to_owned();
    for sample in samples {
        let PushSample { time, position: [x, y], angle, force: [fx, fy], errors, net_errors, converged, .. } = sample;
        // Writing to a string cannot fail
        let _ = writeln!(
            text,
            "{time:.6},{x:.9},{y:.9},{angle:.9},{fx:.6},{fy:.6},{:.3e},{:.6},{:.3e},{:.6},{}",
            errors.cone,
            errors.alignment,
            net_errors.cone,
            net_errors.alignment,
            u8::from(*converged)
        );
    }
    text
}

/// The panels of the thesis's figures: displacement, force, cone error, alignment error, path from above.
fn charts((contact, degrees): (f64, f64), samples: &[PushSample]) -> Vec<Chart> {
    let line = |name: &str, of: &dyn Fn(&PushSample) -> f64| {
        Series::new(name, samples.iter().map(|sample| (sample.time, of(sample))))
    };
    let title = format!("Push at {contact}, {degrees} degrees");
    vec![
        Chart::new(
            &title,
            ["time [s]", "displacement [mm], turn [degrees]"],
            vec![
                line("x", &|sample| 1e3 * sample.position[0]),
                line("y", &|sample| 1e3 * sample.position[1]),
                line("turn", &|sample| sample.angle.to_degrees()),
            ],
        ),
        Chart::new(
            "Force of the pusher",
            ["time [s]", "force [N]"],
            vec![line("x", &|sample| sample.force[0]), line("y", &|sample| sample.force[1])],
        ),
        Chart::new(
            "Cone error C",
            ["time [s]", "C [-]"],
            vec![line("points", &|sample| sample.errors.cone), line("net force", &|sample| sample.net_errors.cone)],
        ),
        Chart::new(
            "Alignment error A",
            ["time [s]", "A [degrees]"],
            vec![
                line("points", &|sample| sample.errors.alignment.to_degrees()),
                line("net force", &|sample| sample.net_errors.alignment.to_degrees()),
            ],
        ),
        Chart::new(
            "Path from above",
            ["x [mm]", "y [mm]"],
            vec![Series::new(
                "centre",
                samples.iter().map(|sample| (1e3 * sample.position[0], 1e3 * sample.position[1])),
            )],
        ),
    ]
}

/// The errors of a grid of pushes beside measured ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridErrors {
    /// Pushes with a valid measurement.
    pub pushes: u32,
    /// Mean Euclidean error of the end position \[mm\].
    pub position: f64,
    /// Mean error of the turn \[degrees\].
    pub angle: f64,
    /// Steps that did not converge, as a part of all [-].
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
        let row = PushRow::new((*contact, angle.to_degrees()), &take(&push, settings, clock)?);
        errors.position += share * (row.end[0] - dx).hypot(row.end[1] - dy);
        errors.angle += share * (row.end[2] - turn).abs();
        errors.failed += share * row.failed;
        errors.took += share * row.took[0];
    }
    Ok(errors)
}
