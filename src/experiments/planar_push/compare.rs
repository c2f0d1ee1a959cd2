//! Comparison of every solver and friction model with the path of minimum power.

use std::fmt::Write as _;

use super::push::{Push, Pusher, Support, THESIS_PUSHES, take};
use crate::experiments::push_record::median;
use crate::experiments::{ExperimentError, PushSummary};
use crate::solvers::complementarity::{ComplementaritySettings, ComplementaritySolver, FrictionFrame, FrictionLaw};
use crate::stepping::{QuasistaticStepping, SpookStepping, StepSettings, Stepping};

/// The steps of the thesis \[s\].
pub const THESIS_STEPS: [f64; 2] = [1.0 / 60.0, 1.0 / 600.0];

/// Directions of multi-directional friction, and edges of the polyhedral cone.
const DIRECTIONS: u32 = 32;

/// The position \[mm\] and the turn \[degrees\] of the object after the pushes [`THESIS_PUSHES`]: ends of
/// quasi-static paths of minimum power, by the midpoint rule in steps of 2.5 ms, with four equal supports or
/// a uniform pressure below the object.
pub fn reference_ends(support: Support) -> [[f64; 3]; 4] {
    match support {
        Support::Corners => {
            [[50.0, 0.0, 0.0], [33.080, 5.023, -13.946], [39.601, 12.614, 18.189], [33.694, -1.157, 21.692]]
        }
        Support::Pad => [[50.0, 0.0, 0.0], [28.902, 1.347, -25.915], [31.863, 16.441, 31.775], [23.802, 5.739, 33.686]],
    }
}

/// The mean force of the rod along those paths \[N\].
pub fn reference_forces(support: Support) -> [f64; 4] {
    match support {
        Support::Corners => [1.31376, 1.22593, 1.21789, 1.09264],
        Support::Pad => [1.31376, 1.17561, 1.18639, 0.96118],
    }
}

/// Mean and standard deviation of the measured ends of the pushes [`THESIS_PUSHES`] in x and y \[mm\] and
/// turn \[degrees\]: 4 pushes of the first kind and 8 of each other one, on all sides and mirrored, of the
/// square `rect1` on ABS at 10 mm/s [Yu et al. 2016].
pub const MEASURED_ENDS: [([f64; 3], [f64; 3]); 4] = [
    ([49.90, -0.48, -0.72], [0.43, 1.17, 1.31]),
    ([26.78, -2.17, -25.58], [2.81, 1.96, 6.94]),
    ([29.23, 14.79, 38.22], [6.07, 3.85, 11.31]),
    ([23.85, 5.93, 31.86], [4.67, 3.99, 4.68]),
];

/// The thesis's pushes with one mode, or one solver and friction model.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareRow {
    /// The mode, or the solver and the friction model.
    pub name: String,
    /// Step \[s\].
    pub step: f64,
    /// Largest distance from the reference at the end of a push \[mm\].
    pub position: f64,
    /// Largest difference of the turn there \[degrees\].
    pub angle: f64,
    /// Largest cone error of a point and of the net force [-].
    pub cone: [f64; 2],
    /// Mean alignment error of the points and of the net force \[degrees\].
    pub alignment: [f64; 2],
    /// Fraction of the steps that did not converge [-].
    pub failed: f64,
    /// Median and longest time of a step \[ms\].
    pub took: [f64; 2],
}

/// All modes, and all pairs of a solver and a friction model that exist.
fn kinds() -> Vec<(String, Stepping)> {
    let laws = [
        FrictionLaw::Box,
        FrictionLaw::ScaledBox,
        FrictionLaw::OrientedBox(FrictionFrame::Slip),
        FrictionLaw::Randomized { seed: 0 },
        FrictionLaw::MultiDirectional { directions: DIRECTIONS },
        FrictionLaw::ProjectedCone,
        FrictionLaw::PolyhedralCone { edges: DIRECTIONS },
        FrictionLaw::ExactCone,
    ];
    let mut kinds = vec![
        ("dynamic".to_owned(), Stepping::default()),
        ("quasistatic".to_owned(), Stepping::Quasistatic(QuasistaticStepping::default())),
    ];
    for solver in ComplementaritySolver::ALL {
        for friction in laws {
            let settings = ComplementaritySettings { solver, friction, ..ComplementaritySettings::default() };
            if settings.check().is_ok() {
                let spook = SpookStepping { solver: settings, ..SpookStepping::default() };
                kinds.push((format!("{}, {}", solver.name(), friction.name()), Stepping::Spook(spook)));
            }
        }
    }
    kinds
}

/// Runs the thesis's pushes with every mode, solver and friction model at each of `steps` \[s\].
///
/// # Errors
/// A step that fails.
pub fn compare(
    (support, pusher): (Support, Pusher),
    steps: &[f64],
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<CompareRow>, ExperimentError> {
    let kinds = kinds();
    let mut rows = Vec::new();
    for (number, (name, stepping)) in kinds.iter().enumerate() {
        for step in steps {
            progress("solvers and friction models", number as u64, kinds.len() as u64);
            let settings =
                StepSettings { step_ns: (step * 1e9).round() as u64, stepping: *stepping, ..StepSettings::default() };
            let mut row = CompareRow {
                name: name.clone(),
                step: *step,
                position: 0.0,
                angle: 0.0,
                cone: [0.0; 2],
                alignment: [0.0; 2],
                failed: 0.0,
                took: [0.0; 2],
            };
            let mut times = Vec::new();
            for (push, [x, y, turn]) in THESIS_PUSHES.iter().zip(reference_ends(support)) {
                let samples = take(&Push::new(*push, support, pusher), settings, clock)?;
                times.extend(samples.iter().map(|sample| sample.took));
                let PushSummary { end, cone, alignment, failed, took } = PushSummary::new(&samples);
                let share = 1.0 / THESIS_PUSHES.len() as f64;
                row.position = row.position.max((end[0] - x).hypot(end[1] - y));
                row.angle = row.angle.max((end[2] - turn).abs());
                row.failed += share * failed;
                row.took[1] = row.took[1].max(took[1]);
                for i in 0..2 {
                    row.cone[i] = row.cone[i].max(cone[i]);
                    row.alignment[i] += share * alignment[i];
                }
            }
            row.took[0] = 1e3 * median(times.into_iter());
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The rows as a table in Markdown. The last column is the step over the median time that it takes: above 1,
/// steps run faster than real time.
pub fn compare_table(rows: &[CompareRow]) -> String {
    let mut text = String::from(
        "| mode, or solver and friction | step [ms] | off by [mm] | off by [degrees] | C points | C net | A points \
         [degrees] | A net [degrees] | not converged | ms a step (longest) | times real time |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let CompareRow { name, step, position, angle, cone, alignment, failed, took } = row;
        // Writing to a string cannot fail
        let _ = writeln!(
            text,
            "| {name} | {:.2} | {position:.2} | {angle:.2} | {:.0e} | {:.0e} | {:.1} | {:.1} | {:.0} % | {:.3} ({:.2}) | \
             {:.0} |",
            1e3 * step,
            cone[0],
            cone[1],
            alignment[0],
            alignment[1],
            100.0 * failed,
            took[0],
            took[1],
            1e3 * step / took[0]
        );
    }
    text
}
