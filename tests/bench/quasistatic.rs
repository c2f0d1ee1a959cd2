//! Steps of an arm that stacks ten cubes (69 velocities, 54 contacts on average): our engine, cold and warm,
//! compared with Clarabel in one run. Then whole steps of the same task as it ships (96 contacts on average),
//! with geometry and Jacobians, and the solver's part of them. At last rows of 10, 30 and 60 boxes that a
//! finger pushes along the ground (the only part with the argument `rows`): whole steps with Coulomb's law,
//! with the relaxed friction, and with the relaxed friction by Clarabel, and smoothed derivatives, with their
//! time relative to a step with Coulomb's law.
//!
//! How to read it: each line is a set of problems. The time of a problem is the shortest of the rounds [us];
//! `median` and `worst` are over the problems, and `iter.` is the mean number of iterations. The rounds go
//! through all engines one after the other, so that other load on the machine affects all of them equally.
//! `cold` starts from v = 0 and no multipliers, `warm` from the velocities and multipliers of the step
//! before. The problems of the corpus do not follow each other: there `warm` solves the same problem again.
#![allow(non_snake_case, missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a benchmark fails by panicking")]

#[path = "../it/golden.rs"]
#[allow(dead_code)]
mod golden;
#[path = "../it/quasistatic/problems.rs"]
mod problems;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use isobar::contact::ContactProperties;
use isobar::experiments::cube_stacking::{self, Script};
use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::solvers::quasistatic::{
    Engine, FrictionCone, FrictionModel, QuasistaticProblem, QuasistaticSettings, QuasistaticSolver,
};
use isobar::stepping::{
    JointCommand, JointTarget, QuasistaticDerivatives, QuasistaticStepping, Simulation, StepSettings, Stepping,
};

const ROUNDS: usize = 15;
/// The tolerance of the settings that gives Clarabel its own default, 1e-8.
const CLARABEL: f64 = 1e-3;

/// Best time of each problem [us], and Newton iterations.
#[derive(Default)]
struct Times {
    best: Vec<f64>,
    iterations: Vec<u32>,
}

impl Times {
    fn note(&mut self, index: usize, seconds: f64, iterations: u32) {
        if self.best.len() <= index {
            self.best.resize(index + 1, f64::INFINITY);
            self.iterations.resize(index + 1, 0);
        }
        self.best[index] = self.best[index].min(1e6 * seconds);
        self.iterations[index] = iterations;
    }
    fn summary(&self) -> String {
        let mut sorted = self.best.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = f64::from(self.iterations.iter().sum::<u32>()) / self.iterations.len() as f64;
        format!("{:8.1} {:8.1} {:6.1}", sorted[sorted.len() / 2], sorted[sorted.len() - 1], mean)
    }
}

fn solve(
    solver: &mut QuasistaticSolver,
    problem: &mut QuasistaticProblem,
    v: &mut [f64],
    settings: &QuasistaticSettings,
) -> (f64, u32) {
    let start = Instant::now();
    let report = solver.solve(problem, v, settings).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(!report.fallback);
    (seconds, report.iterations)
}

fn compare(name: &str, problems: &mut [QuasistaticProblem], friction: FrictionCone, consecutive: bool) {
    let settings = QuasistaticSettings { friction, ..QuasistaticSettings::default() };
    let reference = QuasistaticSettings { engine: Engine::Clarabel, tolerance: CLARABEL, ..settings };
    let (mut cold, mut warm, mut clarabel) = (Times::default(), Times::default(), Times::default());
    let (mut solver, mut reference_solver) = (QuasistaticSolver::default(), QuasistaticSolver::default());
    let mut v = vec![0.0; problems[0].size()];
    for _ in 0..ROUNDS {
        solver.forget();
        v.fill(0.0);
        for (index, problem) in problems.iter_mut().enumerate() {
            let mut v_cold = vec![0.0; problem.size()];
            let mut v_reference = v_cold.clone();
            if !consecutive {
                v.fill(0.0);
                solve(&mut solver, problem, &mut v, &settings);
            }
            let (seconds, iterations) = solve(&mut solver, problem, &mut v, &settings);
            warm.note(index, seconds, iterations);
            let mut fresh = solver.clone();
            fresh.forget();
            let (seconds, iterations) = solve(&mut fresh, problem, &mut v_cold, &settings);
            cold.note(index, seconds, iterations);
            let (seconds, iterations) = solve(&mut reference_solver, problem, &mut v_reference, &reference);
            clarabel.note(index, seconds, iterations);
        }
    }
    println!("{name:28} | {} | {} | {}", cold.summary(), warm.summary(), clarabel.summary());
}

fn main() {
    if std::env::args().any(|argument| argument == "rows") {
        return rows_of_boxes();
    }
    println!("{:28} | {:^24} | {:^24} | {:^24}", "", "ours, cold", "ours, warm", "clarabel");
    let columns = "  median    worst  iter.";
    println!("{:28} | {columns:24} | {columns:24} | {columns:24}", "[us]");
    let corpus = golden::folder("quasistatic/qp_corpus");
    for mode in ["qs", "qd5", "qd"] {
        let mut problems: Vec<_> = corpus.iter().map(|file| problems::corpus_problem(file, mode)).collect();
        compare(&format!("corpus {mode} cone"), &mut problems, FrictionCone::Exact, false);
        compare(&format!("corpus {mode} pyramid"), &mut problems, FrictionCone::Pyramid { rays: 4 }, false);
    }
    for file in golden::folder("quasistatic/qp_sequence") {
        let steps = file["steps"].as_array().unwrap();
        let mut problems: Vec<_> = steps.iter().map(problems::sequence_problem).collect();
        let singular = problems[0].quadratic[9 * 70] == 0.0;
        compare(
            if singular { "sequence qs cone" } else { "sequence qd5 cone" },
            &mut problems,
            FrictionCone::Exact,
            true,
        );
    }
    whole_steps();
    rows_of_boxes();
}

/// A row of `count` boxes that touch each other, and a finger at the first.
fn row_of_boxes(count: u32, model: FrictionModel, engine: Engine) -> Simulation {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.3), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    let at = RigidTransform::translation;
    builder.add_geometry(BodyIndex::WORLD, "ground", at(0.0, 0.0, 0.0), Shape::HalfSpace, &rigid).unwrap();
    let (side, mass) = (0.04, 0.1);
    let inertia =
        |mass: f64, moment: f64| SpatialInertia::from_central(mass, &Vector3::zeros(), &(Matrix3::identity() * moment));
    let finger = builder.add_body("finger", inertia(0.01, 1e-6));
    let spec = JointSpec {
        axis_F: Vector3::x(),
        X_PF: at(-0.5 * side - 0.005, 0.0, 0.2 * side),
        ..JointSpec::new("finger_joint", BodyIndex::WORLD, finger, JointKind::Prismatic)
    };
    let joint = builder.add_joint(spec).unwrap();
    builder.set_actuator(joint, Actuator { stiffness: 1e5, gravity_compensation: true, ..Actuator::PASSIVE });
    let tip = Shape::Sphere { radius: 0.005 };
    builder.add_geometry(finger, "tip", at(0.0, 0.0, 0.0), tip, &rigid).unwrap();
    let boxes: Vec<_> = (0..count)
        .map(|i| {
            let body = builder.add_body(&format!("box_{i}"), inertia(mass, mass * side * side / 6.0));
            let shape = Shape::Box { size: Vector3::repeat(side) };
            builder.add_geometry(body, "box", at(0.0, 0.0, 0.0), shape, &rigid).unwrap();
            (body, side * f64::from(i))
        })
        .collect();
    let scene = Arc::new(builder.build(Vector3::z() * -9.81).unwrap());
    let mut state = scene.model().default_state();
    for (body, x) in boxes {
        scene.model().set_free_body_pose(&mut state, body, &at(x, 0.0, 0.5 * side));
    }
    let mut options = QuasistaticStepping::default();
    (options.solver.model, options.solver.engine) = (model, engine);
    let settings =
        StepSettings { step_ns: 10_000_000, stepping: Stepping::Quasistatic(options), ..StepSettings::default() };
    Simulation::new(scene, state, settings).unwrap()
}

/// Medians over 20 steps of each row. The rounds alternate between the kinds. Some columns of the exact
/// derivatives in a row are differences of steps, because flush faces open and close within them: they are
/// taken once, of ten boxes.
fn rows_of_boxes() {
    let kinds = [
        (FrictionModel::Coulomb, Engine::Cone),
        (FrictionModel::Relaxed, Engine::Cone),
        (FrictionModel::Relaxed, Engine::Clarabel),
    ];
    let head = ["coulomb", "relaxed", "clarabel", "smoothed derivatives", "per step"];
    println!("{:12} | {:>9} {:>9} {:>9} | {:>20} {:>8}", "[ms]", head[0], head[1], head[2], head[3], head[4]);
    let target = |step: u32| JointTarget { position: Some(2e-4 * f64::from(step)), ..JointTarget::default() };
    for count in [10, 30, 60] {
        let mut rows = kinds.map(|(model, engine)| row_of_boxes(count, model, engine));
        let mut derivatives = QuasistaticDerivatives::new(&rows[0]).unwrap();
        let mut times: [Vec<f64>; 4] = Default::default();
        for step in 1..=20 {
            let command: JointCommand = [target(step)].into_iter().collect();
            let start = Instant::now();
            derivatives.differentiate_smoothed(&rows[0], &command, 1e-4).unwrap();
            times[3].push(1e3 * start.elapsed().as_secs_f64());
            for (row, times) in rows.iter_mut().zip(&mut times) {
                let start = Instant::now();
                row.step(&command).unwrap();
                times.push(1e3 * start.elapsed().as_secs_f64());
            }
        }
        let [coulomb, relaxed, clarabel, smoothed] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        let ratio = smoothed / coulomb;
        println!("{count:3} boxes    | {coulomb:9.2} {relaxed:9.2} {clarabel:9.2} | {smoothed:20.2} {ratio:8.1}");
    }
    let row = row_of_boxes(10, FrictionModel::Coulomb, Engine::Cone);
    let mut derivatives = QuasistaticDerivatives::new(&row).unwrap();
    let start = Instant::now();
    derivatives.differentiate(&row, &[target(1)].into_iter().collect()).unwrap();
    let time = 1e3 * start.elapsed().as_secs_f64();
    println!("exact derivatives of 10 boxes: {time:.0} ms, {} columns by steps", derivatives.columns_by_steps());
}

/// Whole steps of the task, each with its shortest time of the rounds.
fn whole_steps() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let loaded = scene_file::load(&config.join("cube_stacking.yaml"), &PackageMap::from_environment()).unwrap();
    let script = Script::read(&loaded, &config.join("tasks/cube_stacking.yaml")).unwrap();
    let began = Instant::now();
    println!("{:28} | {:>8} {:>8} | {:>8} {:>8}", "whole steps [us]", "median", "worst", "solver", "worst");
    for step in [0.01, 0.1, 0.2, 0.4] {
        let (mut times, mut solver) = (Times::default(), Times::default());
        for _ in 0..ROUNDS.min((ROUNDS as f64 * step / 0.02).ceil() as usize) {
            let stepping = Stepping::Quasistatic(loaded.quasistatic);
            let clock = || began.elapsed().as_secs_f64();
            let (trace, _) = cube_stacking::run(&loaded, &script, stepping, step, 1.0, &clock, &mut |_, _| {}).unwrap();
            trace.step_times.iter().enumerate().for_each(|(index, seconds)| times.note(index, *seconds, 0));
            trace.solver_times.iter().enumerate().for_each(|(index, seconds)| solver.note(index, *seconds, 0));
        }
        println!("{:28} | {:.17} | {:.17}", format!("steps of {step} s"), times.summary(), solver.summary());
    }
}
