//! Tables and figures of the pushes of a held prism, compared with the closed form.

use std::path::Path;

use super::push::{CONTACT_NAMES, Fingers, HeldPush, drop_of_closed_form, take};
use crate::experiments::error::make_folder;
use crate::experiments::push_record::{Labels, mean};
use crate::experiments::{ExperimentError, PushSummary, Series};
use crate::stepping::StepSettings;

/// The masses of figure 4.19 \[kg\].
pub const THESIS_MASSES: [f64; 2] = [0.1, 0.2005];

/// A push of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldRow {
    /// Mass \[kg\] and friction coefficient of the wall [-].
    pub push: (f64, f64),
    /// Its end in x and z, errors and times.
    pub summary: PushSummary,
    /// The distance of the closed form \[mm\]; `None` if the prism falls out of the fingers.
    pub closed_form: Option<f64>,
    /// Mean force of the wall along the push \[N\].
    pub wall: f64,
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
        let (title, name) = (
            format!("Prism of {:.1} g, wall friction {mu_wall}", 1e3 * mass),
            format!("push_{:.1}g_{mu_wall}", 1e3 * mass),
        );
        let labels = Labels {
            title: &title,
            position: ["x", "z"],
            force: (["wall_x", "wall_z"], ["push", "up"]),
            contacts: &CONTACT_NAMES,
            force_title: "Force of the wall",
        };
        let end = samples.last().map_or(1.0, |sample| sample.time);
        let closed_form = drop_of_closed_form(*mass, *mu_wall).map(|drop| 1e3 * drop);
        let exact = closed_form.map(|drop| {
            Series::new("z, closed form", samples.iter().map(|sample| (sample.time, -drop * sample.time / end)))
        });
        labels.write((out, &name), &samples, exact, Vec::new())?;
        let wall = mean(&samples, |sample| sample.force[0]);
        rows.push(HeldRow { push: (*mass, *mu_wall), summary: PushSummary::new(&samples), closed_form, wall });
    }
    Ok(rows)
}
