//! The runs, their table and their plots.

use std::fmt::Write as _;
use std::path::Path;

use super::scenes::{BodyPath, Case};
use crate::experiments::error::{make_folder, write_text};
use crate::experiments::study::power_law;
use crate::experiments::{Chart, ExperimentError, Scale, Series, draw};
use crate::stepping::{
    ContactScheme, ContactSurfaces, ContinuousStepping, DynamicStepping, ErrorControl, FrictionBound, Stepping,
};

/// The fixed steps \[ns\]; all divide the interval of the samples.
const STEPS_NS: [u64; 6] = [2_000_000, 1_000_000, 500_000, 250_000, 125_000, 62_500];
/// The tolerances of error control [m, rad].
const TOLERANCES: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];
/// The step of the simulation with error control and in the continuous model \[ns\].
const EVERY_NS: u64 = 10_000_000;

/// A discrete method.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name in tables.
    pub name: &'static str,
    /// Its options.
    pub options: DynamicStepping,
}

impl Method {
    /// Lagged friction with bounds from the start and from the solution, and the other schemes.
    pub fn all() -> Vec<Self> {
        let start = DynamicStepping { surfaces: ContactSurfaces::Start, ..DynamicStepping::default() };
        let with = |name, scheme| Self { name, options: DynamicStepping { scheme, ..start } };
        let lagged = DynamicStepping { friction_bound: FrictionBound::Lagged, ..start };
        vec![
            Self { name: "lagged", options: lagged },
            Self { name: "lagged, solved bounds (default)", options: DynamicStepping::default() },
            with("coupled", ContactScheme::Coupled),
            with("tamsi", ContactScheme::Tamsi),
            with("similar", ContactScheme::Similar),
        ]
    }
}

/// A run with a fixed step.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedRow {
    /// The method's name.
    pub method: &'static str,
    /// Step \[s\].
    pub step: f64,
    /// Number of steps.
    pub steps: u64,
    /// Largest error of a sample \[m\]; `None` if a step failed.
    pub error: Option<f64>,
    /// Steps whose solver did not converge.
    pub unsolved: u64,
}

/// The limit of a method as the step vanishes, from its two shortest steps.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitRow {
    /// The method's name.
    pub method: &'static str,
    /// The largest distance of its limit from the continuous model \[m\].
    pub distance: f64,
    /// The order of convergence of the longer steps to this limit.
    pub order: Option<f64>,
}

/// A run with error control, in the default scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlRow {
    /// The tolerance [m, rad].
    pub tolerance: f64,
    /// Largest error of a sample \[m\].
    pub error: f64,
    /// Dynamic steps that were solved.
    pub solves: u64,
    /// Steps of the simulation with a solve that did not converge.
    pub unsolved: u64,
    /// Fixed steps of equal error, by the power law of the errors of the default scheme.
    pub equal_steps: Option<f64>,
}

/// The results of one scene.
#[derive(Clone, Debug, PartialEq)]
pub struct StepErrors {
    /// The scene.
    pub name: &'static str,
    /// Parts of the reference.
    pub reference_parts: u64,
    /// Difference of the reference from the run with the next tolerance \[m\].
    pub reference_error: f64,
    /// Runs with fixed steps.
    pub fixed: Vec<FixedRow>,
    /// The limits of all methods.
    pub limits: Vec<LimitRow>,
    /// Runs with error control.
    pub controlled: Vec<ControlRow>,
}

impl StepErrors {
    /// The order of a method: the slope of the logarithm of its errors against that of the step, over its
    /// four shortest steps; and the factor of the power law.
    pub fn order(&self, method: &str) -> Option<(f64, f64)> {
        let of_method = self.fixed.iter().filter(|row| row.method == method);
        let points: Vec<(f64, f64)> = of_method.filter_map(|row| Some((row.step, row.error?))).collect();
        power_law(&points[points.len().saturating_sub(4)..])
    }
}

/// Runs a scene in the continuous model, with all methods and steps, and with error control.
///
/// # Errors
/// A step of the reference or of a run with error control that fails.
fn measure(case: &Case, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<StepErrors, ExperimentError> {
    let mut run = |name: &str, stepping, step_ns| {
        let title = format!("{}, {name}", case.name);
        case.run(stepping, step_ns, &mut |done, all| progress(&title, done, all))
    };
    let continuous =
        |tolerance| Stepping::Continuous(ContinuousStepping { tolerance, ..ContinuousStepping::default() });
    let reference = run("continuous", continuous(case.reference[0]), EVERY_NS)?;
    let coarser = run("continuous", continuous(case.reference[1]), EVERY_NS)?;
    let mut errors = StepErrors {
        name: case.name,
        reference_parts: reference.parts,
        reference_error: coarser.distance(&reference),
        fixed: Vec::new(),
        limits: Vec::new(),
        controlled: Vec::new(),
    };
    for Method { name, options } in Method::all() {
        let mut paths = Vec::new();
        for step_ns in STEPS_NS {
            // A scheme may find no solution
            let path = run(name, Stepping::Dynamic(options), step_ns).ok();
            let error = path.as_ref().map(|path| path.distance(&reference));
            let unsolved = path.as_ref().map_or(0, |path| path.unsolved);
            let (step, steps) = (step_ns as f64 * 1e-9, case.end_ns / step_ns);
            errors.fixed.push(FixedRow { method: name, step, steps, error, unsolved });
            paths.extend(path.map(|path| (step, path)));
        }
        errors.limits.extend(limit(name, &paths, &reference));
    }
    let default = Method { name: "lagged, solved bounds (default)", options: DynamicStepping::default() };
    let law = errors.order(default.name);
    for tolerance in TOLERANCES {
        let options = DynamicStepping { error_control: Some(ErrorControl { tolerance }), ..default.options };
        let path = run("error control", Stepping::Dynamic(options), EVERY_NS)?;
        let error = path.distance(&reference);
        let equal_steps = law.map(|(factor, order)| case.end_ns as f64 * 1e-9 / (error / factor).powf(1.0 / order));
        errors.controlled.push(ControlRow {
            tolerance,
            error,
            solves: path.solves,
            unsolved: path.unsolved,
            equal_steps,
        });
    }
    Ok(errors)
}

/// The limit of a method, from its paths with all steps; `None` if some have failed.
fn limit(method: &'static str, paths: &[(f64, BodyPath)], reference: &BodyPath) -> Option<LimitRow> {
    let [longer @ .., (_, coarse), (_, fine)] = paths else { return None };
    if paths.len() != STEPS_NS.len() {
        return None;
    }
    let limit = coarse.limit(fine);
    let points: Vec<(f64, f64)> = longer.iter().map(|(step, path)| (*step, path.distance(&limit))).collect();
    let order = power_law(&points).map(|(_, order)| order);
    Some(LimitRow { method, distance: limit.distance(reference), order })
}

/// Measures all `cases`, and writes the tables and the plots to the folder `out`.
///
/// # Errors
/// Those of `measure`, and a file that cannot be written.
pub fn study(
    cases: &[Case],
    out: &Path,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<StepErrors>, ExperimentError> {
    make_folder(out)?;
    let results = cases.iter().map(|case| measure(case, progress)).collect::<Result<Vec<_>, _>>()?;
    let mut text = String::from("scene,method,step,tolerance,solves,error,unsolved\n");
    let mut charts = Vec::new();
    for result in &results {
        for FixedRow { method, step, steps, error, unsolved } in &result.fixed {
            let error = error.map_or_else(String::new, |error| format!("{error:.6e}"));
            let _ = writeln!(text, "{},\"{method}\",{step:e},,{steps},{error},{unsolved}", result.name);
        }
        for ControlRow { tolerance, error, solves, unsolved, .. } in &result.controlled {
            let _ = writeln!(text, "{},error control,,{tolerance:e},{solves},{error:.6e},{unsolved}", result.name);
        }
        charts.push(chart(result));
    }
    write_text(&out.join("step_error.csv"), &text)?;
    draw(&out.join("step_error.svg"), &charts)?;
    Ok(results)
}

/// Error against the number of solves.
fn chart(result: &StepErrors) -> Chart {
    let mut series: Vec<Series> = Method::all()
        .iter()
        .map(|method| {
            let rows = result.fixed.iter().filter(|row| row.method == method.name);
            Series::new(method.name, rows.filter_map(|row| Some((row.steps as f64, row.error?))))
        })
        .collect();
    let controlled = result.controlled.iter().map(|row| (row.solves as f64, row.error));
    series.push(Series::new("error control", controlled));
    let title = format!("{}: error of the path against the continuous model", result.name);
    let chart = Chart::new(&title, ["solved steps", "largest error [m]"], series);
    Chart { scale: Scale::Logarithmic, ..chart }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the runs of some steps, the last two have no ratio of 2, and there is no limit.
    #[test]
    fn a_method_with_a_failed_run_has_no_limit() {
        let path = || (1e-3, BodyPath::default());
        let paths: Vec<_> = STEPS_NS.iter().map(|_| path()).collect();
        assert!(limit("lagged", &paths, &path().1).is_some());
        assert!(limit("lagged", &paths[1..], &path().1).is_none());
    }
}
