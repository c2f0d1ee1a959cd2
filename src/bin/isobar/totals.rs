//! The closing table of `isobar run`.

use std::collections::BTreeSet;
use std::time::Duration;

use isobar::io::scene_file::LoadedScene;
use isobar::math::{BodyIndex, Index, ScalarJointIndex};
use isobar::stepping::{Simulation, StepReport, Stepping};

/// Sums over a run, for the closing table.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) steps: u64,
    pub(super) faces: u64,
    pub(super) iterations: u64,
    pub(super) iterations_max: u32,
    pub(super) not_converged: u64,
    pub(super) fallbacks: u64,
    pub(super) friction_rounds: u64,
    /// Parts of steps, and dynamic steps solved for them.
    pub(super) parts: u64,
    pub(super) solves: u64,
    pub(super) wrong_friction: u64,
    /// The largest error of friction as a fraction of its limit, its pair, and the time of the step's end
    /// \[s\].
    pub(super) worst_friction: Option<(f64, String, f64)>,
    /// Pairs whose friction was beyond the tolerance, by more than a thousandth of the weight of the lightest
    /// body.
    pub(super) wrong_pairs: BTreeSet<usize>,
    /// Pairs of geometries that may have passed through each other.
    pub(super) missed: BTreeSet<usize>,
    /// Steps in which the velocity limit of a joint acted.
    pub(super) limited: u64,
    /// The largest impulse of a velocity limit [N s] or [N m s], its joint, and the time.
    pub(super) largest_limit: Option<(f64, String, f64)>,
    /// Steps after which a joint was above its velocity limit.
    pub(super) fast: u64,
    /// The joints that were above it.
    pub(super) fast_joints: BTreeSet<ScalarJointIndex>,
    /// Quasistatic steps in which friction of pressure fields acted at the centroids of faces.
    pub(super) at_centroids: u64,
    /// Bodies whose inertial force was more than 10 % of their contact forces in a quasistatic step.
    pub(super) inertial: BTreeSet<BodyIndex>,
    /// Quasistatic steps that settled only with the loads of their start.
    pub(super) behind: u64,
    /// The joints whose loads differed most in them.
    pub(super) behind_joints: BTreeSet<ScalarJointIndex>,
    pub(super) stepping: Duration,
}

impl Totals {
    pub(super) fn add(&mut self, report: &StepReport, took: Duration) {
        self.steps += 1;
        self.faces += u64::from(report.faces);
        self.iterations += u64::from(report.solver_iterations);
        self.iterations_max = self.iterations_max.max(report.solver_iterations);
        self.not_converged += u64::from(!report.solver_converged);
        self.fallbacks += u64::from(report.solver_fallbacks);
        self.friction_rounds += u64::from(report.friction_rounds);
        self.parts += u64::from(report.parts);
        self.solves += u64::from(report.solves);
        self.wrong_friction += u64::from(!report.friction_converged());
        self.at_centroids += u64::from(report.friction_at_centroids);
        self.behind += u64::from(report.loads_behind != 0.0);
        self.stepping += took;
    }
}

/// The closing table.
pub(super) fn summary(simulation: &Simulation, loaded: &LoadedScene, totals: &Totals) -> String {
    let steps = totals.steps as f64;
    let wall = totals.stepping.as_secs_f64();
    let simulated = steps * simulation.settings().step();
    let mut rows = vec![
        ("simulated time".to_owned(), format!("{:.6} s in {} steps", simulation.time(), totals.steps)),
        ("real-time factor".to_owned(), format!("{:.2}", simulated / wall.max(f64::MIN_POSITIVE))),
        ("a step takes".to_owned(), format!("{:.1} us on average", wall / steps * 1e6)),
        ("contact faces".to_owned(), format!("{:.1} on average", totals.faces as f64 / steps)),
        (
            "solver iterations".to_owned(),
            format!("{:.2} on average, {} at most", totals.iterations as f64 / steps, totals.iterations_max),
        ),
    ];
    if totals.solves > totals.steps {
        let (solves, parts) = (totals.solves as f64 / steps, totals.parts as f64 / steps);
        let name = match &simulation.settings().stepping {
            Stepping::Quasistatic(_) => "quasistatic steps",
            Stepping::Dynamic(options) if options.error_control.is_none() => "dynamic steps",
            _ => "error control",
        };
        rows.push((name.to_owned(), format!("{parts:.2} parts and {solves:.2} solves a step on average")));
    }
    if let Some(scheme) = simulation.report().scheme {
        rows.push(("contact scheme".to_owned(), scheme.name().to_owned()));
    }
    if totals.not_converged > 0 {
        rows.push(("not converged".to_owned(), format!("{} steps", totals.not_converged)));
    }
    if totals.friction_rounds > 0 {
        let rounds = format!("{:.3} on average", totals.friction_rounds as f64 / steps);
        rows.push(("friction rounds".to_owned(), rounds));
    }
    if let Some((worst, pair, time)) = &totals.worst_friction {
        let amount = match worst.is_finite() {
            true => format!("by {:.3} % of its limit", 1e2 * worst),
            false => "without a normal force".to_owned(),
        };
        let steps = totals.wrong_friction;
        rows.push(("wrong friction".to_owned(), format!("{steps} steps, at most {amount} (`{pair}`, t = {time} s)")));
    }
    if totals.fast > 0 {
        let joints: Vec<_> =
            totals.fast_joints.iter().map(|joint| loaded.scene.joint_names()[joint.to_usize()].as_str()).collect();
        rows.push(("joints too fast".to_owned(), format!("{} steps (`{}`)", totals.fast, joints.join("`, `"))));
    }
    if let Some((impulse, name, time)) = &totals.largest_limit {
        let steps = totals.limited;
        let most = format!("{steps} steps, impulse at most {impulse:.3e} N s or N m s (`{name}`, t = {time} s)");
        rows.push(("velocity limits".to_owned(), most));
    }
    if totals.at_centroids > 0 {
        rows.push(("friction at centroids".to_owned(), format!("{} steps", totals.at_centroids)));
    }
    if totals.behind > 0 {
        let joints: Vec<_> =
            totals.behind_joints.iter().map(|joint| loaded.scene.joint_names()[joint.to_usize()].as_str()).collect();
        rows.push(("loads of the start".to_owned(), format!("{} steps (`{}`)", totals.behind, joints.join("`, `"))));
    }
    if totals.fallbacks > 0 {
        rows.push(("solved by Clarabel".to_owned(), format!("{} programs", totals.fallbacks)));
    }
    for (output, value) in loaded.outputs.outputs().iter().zip(loaded.outputs.values()) {
        rows.push((output.name.clone(), format!("{value:.6} {}", if output.unit == "1" { "" } else { output.unit })));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:width$}  {}\n", value.trim_end())).collect()
}
