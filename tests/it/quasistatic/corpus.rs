//! The corpus of consecutive and of single steps, in all modes, with all engines.

use isobar::solvers::quasistatic::{
    Engine, FrictionCone, QuasistaticProblem, QuasistaticReport, QuasistaticSettings, QuasistaticSolver,
};

use super::problems::{corpus_problem, sequence_problem};
use crate::golden::{folder, numbers};
use crate::random::Random;

/// Largest difference of h v [m] or [rad] from the reference: the references differ among themselves by as
/// much.
const DISPLACEMENT: f64 = 2e-5;
/// The same for the sequences: one reference, at a looser gap.
const DISPLACEMENT_OF_SEQUENCES: f64 = 3e-5;
/// Residuals of the friction cone [N s] and of complementarity [J].
const RESIDUAL: f64 = 1e-8;
/// The residual of complementarity of the interior point [J], which stops earlier where Q is singular.
const RESIDUAL_OF_CLARABEL: f64 = 1e-7;

fn displacement_error(problem: &QuasistaticProblem, v: &[f64], reference: &[f64]) -> f64 {
    v.iter().zip(reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) * problem.step
}

fn assert_optimal(name: &str, report: &QuasistaticReport) {
    let residuals = &report.residuals;
    let complementarity = if report.engine == Engine::Cone { RESIDUAL } else { RESIDUAL_OF_CLARABEL };
    assert!(
        residuals.cone <= RESIDUAL && residuals.complementarity <= complementarity && residuals.primal <= 1e-7,
        "{name}: {report:?}"
    );
    assert!(residuals.stationarity <= 1e-7, "{name}: forces balance: {report:?}");
}

fn corpus_agrees(engine: Engine) {
    for file in folder("quasistatic/qp_corpus") {
        let rays = file["n_d"].as_u64().unwrap() as u32;
        for mode in ["qs", "qd5", "qd"] {
            for (suffix, friction) in [("", FrictionCone::Pyramid { rays }), ("_socp", FrictionCone::Exact)] {
                let name = format!("{} {mode}{suffix} {engine:?}", file["name"].as_str().unwrap());
                let mut problem = corpus_problem(&file, mode);
                let reference = numbers(&file["ref"][format!("{mode}{suffix}")]["v"]);
                let settings = QuasistaticSettings { engine, friction, ..QuasistaticSettings::default() };
                let mut solver = QuasistaticSolver::default();
                let mut v = vec![0.0; problem.size()];
                for start in ["cold", "warm"] {
                    let report = solver
                        .solve(&mut problem, &mut v, &settings)
                        .unwrap_or_else(|error| panic!("{name} {start}: {error}"));
                    let error = displacement_error(&problem, &v, &reference);
                    assert!(error <= DISPLACEMENT, "{name} {start}: h v differs by {error:e}; {report:?}");
                    assert_optimal(&name, &report);
                    assert!(!report.fallback, "{name} {start} fell back to clarabel");
                }
            }
        }
    }
}

#[test]
fn our_engine_agrees_with_the_corpus() {
    corpus_agrees(Engine::Cone);
}

#[test]
fn sequences_agree_with_our_engine() {
    sequences_agree(Engine::Cone);
}

#[test]
fn clarabel_agrees_with_the_corpus() {
    corpus_agrees(Engine::Clarabel);
}

#[test]
fn sequences_agree_with_clarabel_engine() {
    sequences_agree(Engine::Clarabel);
}

fn sequences_agree(engine: Engine) {
    for file in folder("quasistatic/qp_sequence") {
        let settings = QuasistaticSettings { engine, ..QuasistaticSettings::default() };
        let mut solver = QuasistaticSolver::default();
        let mut v = Vec::new();
        for step in file["steps"].as_array().unwrap() {
            let mut problem = sequence_problem(step);
            v.resize(problem.size(), 0.0);
            let name = format!("step {} {engine:?}", step["step"]);
            let report =
                solver.solve(&mut problem, &mut v, &settings).unwrap_or_else(|error| panic!("{name}: {error}"));
            let error = displacement_error(&problem, &v, &numbers(&step["v_socp_reference"]));
            assert!(error <= DISPLACEMENT_OF_SEQUENCES, "{name}: h v differs by {error:e}; {report:?}");
            assert_optimal(&name, &report);
            assert!(!report.fallback, "{name} fell back to clarabel");
        }
        assert_eq!(solver.fallbacks(), 0);
    }
}

/// The problems of the corpus with loads that vary at random by half, five times each: no engine returns an
/// error, although Clarabel stops some solves for lack of progress, and both find the same step.
#[test]
fn problems_of_the_kind_of_the_corpus_are_solved() {
    let (mut random, mut solves, mut fallbacks, mut worst) = (Random::new(9), 0, 0, 0.0_f64);
    for file in folder("quasistatic/qp_corpus") {
        let rays = file["n_d"].as_u64().unwrap() as u32;
        for mode in ["qs", "qd5", "qd"] {
            for friction in [FrictionCone::Pyramid { rays }, FrictionCone::Exact] {
                for _ in 0..5 {
                    let mut problem = corpus_problem(&file, mode);
                    problem.linear.iter_mut().for_each(|b| *b *= 1.0 + 0.5 * random.next());
                    let [ours, clarabel] = [Engine::Cone, Engine::Clarabel].map(|engine| {
                        let settings = QuasistaticSettings { engine, friction, ..QuasistaticSettings::default() };
                        let mut solver = QuasistaticSolver::default();
                        let mut v = vec![0.0; problem.size()];
                        let name = format!("{} {mode} {friction:?} {engine:?}", file["name"]);
                        let report = solver
                            .solve(&mut problem, &mut v, &settings)
                            .unwrap_or_else(|error| panic!("{name}: {error}"));
                        (v, report)
                    });
                    solves += 1;
                    fallbacks += u32::from(ours.1.fallback);
                    worst = worst.max(displacement_error(&problem, &ours.0, &clarabel.0));
                }
            }
        }
    }
    println!("{solves} solves, {fallbacks} by Clarabel instead of ours, h v differs by {worst:.1e}");
    assert!(worst <= DISPLACEMENT, "h v differs by {worst:e}");
    // Each hundredth of the steps may need the other engine, at a cost of ten solves.
    assert!(100 * fallbacks <= solves, "{fallbacks} of {solves}");
}
