//! Tables and figures of the pushes of a held prism, beside the closed form.

use std::fmt::Write as _;
use std::path::Path;

use super::push::{Fingers, HeldPush, HeldSample, drop_of_closed_form, take};
use crate::experiments::error::{make_folder, write_text};
use crate::experiments::{Chart, ExperimentError, Series, draw};
use crate::stepping::StepSettings;

/// The masses of figure 4.19 \[kg\].
pub const THESIS_MASSES: [f64; 2] = [0.1, 0.2005];

/// A push of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldRow {
    /// Mass \[kg\] and friction coefficient of the wall [-].
    pub push: (f64, f64),
    /// x and z at the end \[mm\], and the turn \[degrees\].
    pub end: [f64; 3],
    /// The distance of the closed form \[mm\].
    pub closed_form: f64,
    /// Mean force of the wall along the push \[N\].
    pub wall: f64,
    /// Largest cone error of a point and of the net force [-].
    pub cone: [f64; 2],
    /// Mean alignment error of the points and of the net force \[degrees\].
    pub alignment: [f64; 2],
    /// Steps that did not converge, as a part of all [-].
    pub failed: f64,
    /// Mean and longest time of a step \[ms\].
    pub took: [f64; 2],
}

impl HeldRow {
    fn new((mass, mu_wall): (f64, f64), samples: &[HeldSample]) -> Self {
        let count = samples.len().max(1) as f64;
        let mean = |of: &dyn Fn(&HeldSample) -> f64| samples.iter().map(of).sum::<f64>() / count;
        let most = |of: &dyn Fn(&HeldSample) -> f64| samples.iter().map(of).fold(0.0, f64::max);
        let last = samples.last().copied().unwrap_or_default();
        Self {
            push: (mass, mu_wall),
            end: [1e3 * last.position[0], 1e3 * last.position[1], last.angle.to_degrees()],
            closed_form: 1e3 * drop_of_closed_form(mass, mu_wall),
            wall: mean(&|sample| sample.wall[0]),
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

/// Takes the pushes of each mass and wall friction, writes a CSV and a figure for each to the folder `out`,
/// and returns their table.
///
/// # Errors
/// A step that fails, or a file that cannot be written.
pub fn study(
    pushes: &[(f64, f64)],
    fingers: Fingers,
    settings: StepSettings,
    out: &Path,
    clock: &dyn Fn() -> f64,
) -> Result<Vec<HeldRow>, ExperimentError> {
    make_folder(out)?;
    let mut rows = Vec::new();
    for (mass, mu_wall) in pushes {
        let samples = take(&HeldPush { mass: *mass, mu_wall: *mu_wall, fingers }, settings, clock)?;
        let name = format!("push_{:.1}g_{mu_wall}", 1e3 * mass);
        write_text(&out.join(format!("{name}.csv")), &table(&samples))?;
        draw(&out.join(format!("{name}.svg")), &charts((*mass, *mu_wall), &samples))?;
        rows.push(HeldRow::new((*mass, *mu_wall), &samples));
    }
    Ok(rows)
}

fn table(samples: &[HeldSample]) -> String {
    let mut text =
        "time,x,z,angle,wall_x,wall_z,cone_error,alignment_error,net_cone_error,net_alignment_error,converged\n"
            .to_owned();
    for sample in samples {
        let HeldSample { time, position: [x, z], angle, wall: [fx, fz], errors, net_errors, converged, .. } = sample;
        // Writing to a string cannot fail
        let _ = writeln!(
            text,
            "{time:.6},{x:.9},{z:.9},{angle:.9},{fx:.6},{fz:.6},{:.3e},{:.6},{:.3e},{:.6},{}",
            errors.cone,
            errors.alignment,
            net_errors.cone,
            net_errors.alignment,
            u8::from(*converged)
        );
    }
    text
}

fn charts((mass, mu_wall): (f64, f64), samples: &[HeldSample]) -> Vec<Chart> {
    let line = |name: &str, of: &dyn Fn(&HeldSample) -> f64| {
        Series::new(name, samples.iter().map(|sample| (sample.time, of(sample))))
    };
    let end = samples.last().map_or(1.0, |sample| sample.time);
    let exact = -1e3 * drop_of_closed_form(mass, mu_wall) / end;
    vec![
        Chart::new(
            &format!("Prism of {:.1} g, wall friction {mu_wall}", 1e3 * mass),
            ["time [s]", "displacement [mm], turn [degrees]"],
            vec![
                line("x", &|sample| 1e3 * sample.position[0]),
                line("z", &|sample| 1e3 * sample.position[1]),
                line("z, closed form", &|sample| exact * sample.time),
                line("turn", &|sample| sample.angle.to_degrees()),
            ],
        ),
        Chart::new(
            "Force of the wall",
            ["time [s]", "force [N]"],
            vec![line("push", &|sample| sample.wall[0]), line("up", &|sample| sample.wall[1])],
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
    ]
}
