//! The record of a pushed object: its samples, their sums, a table and charts.

use std::fmt::Write as _;
use std::path::Path;

use super::error::write_text;
use super::{Chart, ExperimentError, Series, draw};
use crate::stepping::{ContactPatch, FrictionErrors};

/// Contacts of a push whose errors are recorded; the last ones may have no name.
pub(super) const CONTACTS: usize = 5;

/// The end of one step of a push.
#[derive(Clone, Copy, Debug, Default)]
pub struct PushSample {
    /// Time since the start of the push \[s\].
    pub time: f64,
    /// Position of the object in the plane of its motion, from the start of the push \[m\].
    pub position: [f64; 2],
    /// Turn of the object in this plane \[rad\].
    pub angle: f64,
    /// Force of the pusher on the object in this plane \[N\].
    pub force: [f64; 2],
    /// Friction errors of each contact, in the order of their names in the table.
    pub contacts: [FrictionErrors; CONTACTS],
    /// Largest friction errors of a contact point of the object with its support.
    pub errors: FrictionErrors,
    /// Largest friction errors of a net force of the support.
    pub net_errors: FrictionErrors,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// The wall-clock time of the step \[s\].
    pub took: f64,
}

/// The largest friction errors of the points and of the net forces of `patches`.
pub(super) fn largest_errors<'a>(patches: impl Iterator<Item = &'a ContactPatch>) -> (FrictionErrors, FrictionErrors) {
    let none = (FrictionErrors::default(), FrictionErrors::default());
    patches.fold(none, |(points, net), patch| (points.max(patch.friction), net.max(patch.net_friction)))
}

/// The end of a push, and sums over its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PushSummary {
    /// Position \[mm\] and turn \[degrees\] at the end.
    pub end: [f64; 3],
    /// Largest cone error of a point and of the net force [-].
    pub cone: [f64; 2],
    /// Mean alignment error of the points and of the net force \[degrees\].
    pub alignment: [f64; 2],
    /// Steps that did not converge, as a part of all [-].
    pub failed: f64,
    /// Median and longest time of a step \[ms\].
    pub took: [f64; 2],
}

impl PushSummary {
    /// The sums of `samples`.
    pub(super) fn new(samples: &[PushSample]) -> Self {
        let mean = |of: &dyn Fn(&PushSample) -> f64| mean(samples, of);
        let most = |of: &dyn Fn(&PushSample) -> f64| samples.iter().map(of).fold(0.0, f64::max);
        let last = samples.last().copied().unwrap_or_default();
        Self {
            end: [1e3 * last.position[0], 1e3 * last.position[1], last.angle.to_degrees()],
            cone: [most(&|sample| sample.errors.cone), most(&|sample| sample.net_errors.cone)],
            alignment: [
                mean(&|sample| sample.errors.alignment.to_degrees()),
                mean(&|sample| sample.net_errors.alignment.to_degrees()),
            ],
            failed: mean(&|sample| f64::from(u8::from(!sample.converged))),
            took: [1e3 * median(samples.iter().map(|sample| sample.took)), 1e3 * most(&|sample| sample.took)],
        }
    }
}

/// The median of some values, the upper of two in the middle; 0 without values.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The largest number of steps of a push.
const STEPS_MAX: f64 = 1e7;

/// The number of steps of `step` \[s\] in `duration` \[s\].
///
/// # Errors
/// Steps that do not end there, to a thousandth of a step, or too many steps.
pub(super) fn whole_steps(duration: f64, step: f64) -> Result<u32, ExperimentError> {
    let count = (duration / step).round();
    if count.is_nan() || count > STEPS_MAX {
        let shortest = duration / STEPS_MAX;
        return Err(ExperimentError::Push(format!(
            "a push of {duration} s has too many steps of {step:e} s; take steps of {shortest:e} s or longer"
        )));
    }
    // Steps are whole nanoseconds
    if count >= 1.0 && (count * step - duration).abs() < 1e-3 * step + count * 0.5e-9 {
        return Ok(count as u32);
    }
    let near = duration / count.max(1.0);
    Err(ExperimentError::Push(format!("a push of {duration} s is no whole number of steps of {step} s; take {near} s")))
}

/// The mean of a quantity over all samples; 0 without samples.
pub(super) fn mean(samples: &[PushSample], of: impl Fn(&PushSample) -> f64) -> f64 {
    samples.iter().map(of).sum::<f64>() / samples.len().max(1) as f64
}

/// The words of a record.
pub(super) struct Labels<'a> {
    /// The title of the first chart.
    pub(super) title: &'a str,
    /// The names of both coordinates.
    pub(super) position: [&'a str; 2],
    /// The names of both components of the force: in the table, and in the chart.
    pub(super) force: ([&'a str; 2], [&'a str; 2]),
    /// The names of the contacts whose errors are recorded, at most [`CONTACTS`].
    pub(super) contacts: &'a [&'a str],
    /// The title of the chart of the force.
    pub(super) force_title: &'a str,
}

impl Labels<'_> {
    fn table(&self, samples: &[PushSample]) -> String {
        let ([x, y], [fx, fy]) = (self.position, self.force.0);
        let errors = "cone_error,alignment_error,net_cone_error,net_alignment_error";
        let mut text = format!("time,{x},{y},angle,{fx},{fy},{errors}");
        for name in self.contacts {
            let _ = write!(text, ",{0}.cone_error,{0}.alignment_error", name.replace(' ', "_"));
        }
        text.push_str(",converged\n");
        for sample in samples {
            let PushSample { time, position: [x, y], angle, force: [fx, fy], errors, net_errors, converged, .. } =
                sample;
            // Writing to a string cannot fail
            let _ = write!(text, "{time:.6},{x:.9},{y:.9},{angle:.9},{fx:.6},{fy:.6}");
            for errors in [errors, net_errors].into_iter().chain(sample.contacts.iter().take(self.contacts.len())) {
                let _ = write!(text, ",{:.3e},{:.6}", errors.cone, errors.alignment);
            }
            let _ = writeln!(text, ",{}", u8::from(*converged));
        }
        text
    }

    /// Charts over time: displacement with the lines of `exact`, force, and the cone error and alignment
    /// error of each contact.
    fn charts(&self, samples: &[PushSample], exact: Option<Series>) -> Vec<Chart> {
        let line = |name: &str, of: &dyn Fn(&PushSample) -> f64| {
            Series::new(name, samples.iter().map(|sample| (sample.time, of(sample))))
        };
        let chart = |title: &str, axis: &str, series| Chart::new(title, ["time [s]", axis], series);
        let displacement = [
            line(self.position[0], &|sample| 1e3 * sample.position[0]),
            line(self.position[1], &|sample| 1e3 * sample.position[1]),
            line("turn", &|sample| sample.angle.to_degrees()),
        ];
        // A line for each contact, as in the thesis, and one for the net force
        let lines = |of: &dyn Fn(&FrictionErrors) -> f64| {
            let contacts = self.contacts.iter().enumerate();
            let mut lines: Vec<Series> =
                contacts.map(|(k, name)| line(name, &|sample: &PushSample| of(&sample.contacts[k]))).collect();
            lines.push(line("net force", &|sample| of(&sample.net_errors)));
            lines
        };
        let [along, across] = self.force.1;
        vec![
            chart(self.title, "displacement [mm], turn [degrees]", displacement.into_iter().chain(exact).collect()),
            chart(
                self.force_title,
                "force [N]",
                vec![line(along, &|sample| sample.force[0]), line(across, &|sample| sample.force[1])],
            ),
            chart("Cone error C", "C [-]", lines(&|errors| errors.cone)),
            chart("Alignment error A", "A [degrees]", lines(&|errors| errors.alignment.to_degrees())),
        ]
    }

    /// Writes `NAME.csv` and `NAME.svg` to the folder `out`. `exact` is a reference line in the chart of the
    /// displacement, and `others` are further charts.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn write(
        &self,
        (out, name): (&Path, &str),
        samples: &[PushSample],
        exact: Option<Series>,
        others: Vec<Chart>,
    ) -> Result<(), ExperimentError> {
        write_text(&out.join(format!("{name}.csv")), &self.table(samples))?;
        let charts: Vec<Chart> = self.charts(samples, exact).into_iter().chain(others).collect();
        Ok(draw(&out.join(format!("{name}.svg")), &charts)?)
    }
}
