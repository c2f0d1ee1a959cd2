//! The planar gripper of the paper [Pang & Tedrake 2021, section V-A]: two fingers squeeze a disc of 10 N
//! that rests on the ground and then pull down.

use isobar::math::Vector3;
use isobar::solvers::quasistatic::{
    ContactAxis, ContactKey, Engine, FrictionCone, LcpDiagnosis, QuasistaticProblem, QuasistaticSettings,
    QuasistaticSolver, SolutionRange, diagnose_lcp,
};
use serde_json::Value;

use crate::golden::{json, numbers};

const STEP: f64 = 0.01;
const RADIUS: f64 = 0.1;
const WEIGHT: f64 = 10.0;
const STIFFNESS: f64 = 1000.0;
const FRICTION: f64 = 0.5;
/// Largest difference of a displacement [m] and of a force [N] by a pivoting or Newton method, and through an
/// interior point.
const EXACT: (f64, f64) = (1e-8, 1e-5);
const INTERIOR: (f64, f64) = (1e-7, 1e-4);

/// The step from q = (x_c, y_c, x_l, x_r, y) to the commands of (x_l, x_r, y).
fn problem(q: &[f64], command: &[f64]) -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(5, STEP);
    for (i, command) in command.iter().enumerate() {
        let dof = 2 + i;
        problem.quadratic[dof * 5 + dof] = STEP * STEP * STIFFNESS;
        problem.linear[dof] = STEP * STIFFNESS * (command - q[dof]);
    }
    problem.linear[1] = -STEP * WEIGHT;
    let mut add = |point: u32, phi: f64, columns: &[(u32, f64, f64)]| {
        let columns = columns.iter().map(|(dof, n, t)| (*dof, Vector3::new(*n, *t, 0.0)));
        problem.add_contact(ContactKey { pair: 0, point }, phi / STEP, FRICTION, columns);
    };
    // The velocity of the disc relative to the left finger, the right finger and the ground.
    add(0, q[0] - q[2] - RADIUS, &[(0, 1.0, 0.0), (1, 0.0, 1.0), (2, -1.0, 0.0), (4, 0.0, -1.0)]);
    add(1, q[3] - q[0] - RADIUS, &[(0, -1.0, 0.0), (1, 0.0, 1.0), (3, 1.0, 0.0), (4, 0.0, -1.0)]);
    add(2, q[1] - RADIUS, &[(0, 0.0, 1.0), (1, 1.0, 0.0)]);
    problem
}

fn settings(engine: Engine) -> QuasistaticSettings {
    QuasistaticSettings { engine, friction: FrictionCone::Pyramid { rays: 2 }, ..QuasistaticSettings::default() }
}

/// Our own trajectory: q after each step, and the forces (n, t) of the three contacts.
struct Trajectory {
    q: Vec<Vec<f64>>,
    forces: Vec<Vec<Vector3>>,
}

/// Runs the commands of `file` and compares the unique quantities.
fn run(file: &Value, engine: Engine, (metres, newtons): (f64, f64)) -> Trajectory {
    let steps = file["steps"].as_array().unwrap();
    let mut q = numbers(&steps[0]["q_before"]);
    let mut solver = QuasistaticSolver::default();
    let mut v = vec![0.0; 5];
    let mut trajectory = Trajectory { q: Vec::new(), forces: Vec::new() };
    for step in steps {
        let mut problem = problem(&q, &numbers(&step["qa_cmd"]));
        let report = solver.solve(&mut problem, &mut v, &settings(engine)).unwrap();
        assert!(!report.fallback);
        let forces: Vec<Vector3> = solver.contact_impulses().iter().map(|gamma| gamma / STEP).collect();
        let (c_n, c_t) = (numbers(&step["c_n"]), numbers(&step["c_t_signed"]));
        let name = format!("{engine:?}, t = {}", step["t_start"]);
        for (v, expected) in v.iter().zip(numbers(&step["delta"])) {
            assert!((STEP * v - expected).abs() <= metres, "{name}: h v = {}, not {expected}", STEP * v);
        }
        for (force, expected) in forces.iter().zip(&c_n) {
            assert!((force.x - expected).abs() <= newtons, "{name}: c_n = {}, not {expected}", force.x);
        }
        let friction = (forces[0].y + forces[1].y, c_t[0] + c_t[1]);
        assert!((friction.0 - friction.1).abs() <= newtons, "{name}: c_f1 + c_f2 = {}, not {}", friction.0, friction.1);
        // Force balance of the disc.
        assert!((forces[0].x - forces[1].x + forces[2].y).abs() <= newtons, "{name}: balance along x");
        assert!((forces[0].y + forces[1].y + forces[2].x - WEIGHT).abs() <= newtons, "{name}: balance along y");
        for (q, v) in q.iter_mut().zip(&v) {
            *q += STEP * v;
        }
        trajectory.q.push(q.clone());
        trajectory.forces.push(forces);
    }
    trajectory
}

/// The events of the paper, in steps of 0.01 s: interval i is from i h to (i+1) h.
fn assert_events(trajectory: &Trajectory, slips_until: std::ops::RangeInclusive<usize>) {
    let phi = |step: usize| trajectory.q[step][0] - trajectory.q[step][2] - RADIUS;
    assert!(phi(1) > 1e-4 && phi(2).abs() < 1e-7, "touch at 0.03 s");
    assert!(trajectory.forces[2][0].x.abs() < 1e-4 && trajectory.forces[3][0].x > 1.0, "the force grows from 0.03 s");
    assert!((trajectory.forces[7][0].x - 10.0).abs() < 1e-4, "10 N at 0.08 s");
    let slip = |step: usize| (trajectory.q[step][4] - trajectory.q[step - 1][4]).abs();
    assert!(slip(12) < 1e-7 && slip(13) > 1e-3, "slip from 0.13 s");
    let last = (13..34).rev().find(|step| slip(*step) > 1e-7).unwrap();
    assert!(slips_until.contains(&last), "slip ends in interval {last}");
}

#[test]
fn lemke_follows_the_gripper_of_the_paper() {
    let Some(file) = json("quasistatic/planar_gripper_lcp_tstop0.23_quasistatic.json") else { return };
    let trajectory = run(&file, Engine::Lemke, EXACT);
    // The slip ends with the command at 0.23 s.
    assert_events(&trajectory, 22..=22);
    let gap = |step: usize| trajectory.q[step][0] - trajectory.q[step][2] - RADIUS;
    assert!((3..35).all(|step| gap(step).abs() < 1e-9), "no boundary layer");
}

#[test]
fn the_convex_program_follows_the_gripper_of_the_paper() {
    let Some(file) = json("quasistatic/planar_gripper_qp_tstop0.23_quasistatic.json") else { return };
    for (engine, tolerance) in [(Engine::Cone, EXACT), (Engine::Clarabel, INTERIOR)] {
        let trajectory = run(&file, engine, tolerance);
        assert_events(&trajectory, 28..=33);
        // Sliding opens a boundary layer of mu h v = 1 mm, which decays by a factor of three per step after
        // it.
        let gap = |step: usize| trajectory.q[step][0] - trajectory.q[step][2] - RADIUS;
        assert!((gap(22) - FRICTION * 0.002).abs() < 1e-6, "the layer is mu times the slip of a step: {}", gap(22));
        for step in 23..28 {
            let ratio = gap(step - 1) / gap(step);
            assert!((ratio - 3.0).abs() < 1e-3, "{engine:?}: the layer falls by {ratio} in step {step}");
        }
    }
}

/// [smallest, largest] of a quantity over all modes of the reference file.
fn reference_range(modes: &Value, name: &str) -> SolutionRange {
    let number = |value: &Value| match value.as_str() {
        Some(text) => text.parse::<f64>().unwrap(),
        None => value.as_f64().unwrap(),
    };
    let mut range = SolutionRange { smallest: f64::INFINITY, largest: f64::NEG_INFINITY };
    for mode in modes.as_array().unwrap() {
        let ends = mode["range"][name].as_array().unwrap();
        range.smallest = range.smallest.min(number(&ends[0]));
        range.largest = range.largest.max(number(&ends[1]));
    }
    range
}

fn assert_same_range(name: &str, range: &SolutionRange, expected: &SolutionRange, tolerance: f64) {
    for (found, expected) in [(range.smallest, expected.smallest), (range.largest, expected.largest)] {
        let same = found == expected || (found - expected).abs() <= tolerance;
        assert!(same, "{name}: {range:?}, expected {expected:?}");
    }
}

fn assert_ranges(diagnosis: &LcpDiagnosis, modes: &Value) {
    let LcpDiagnosis::Solvable { velocities, forces } = diagnosis else { panic!("{diagnosis}") };
    for (v, name) in velocities.iter().zip(["d_xc", "d_yc", "d_xl", "d_xr", "d_y"]) {
        let moved = SolutionRange { smallest: STEP * v.smallest, largest: STEP * v.largest };
        assert_same_range(name, &moved, &reference_range(modes, name), 1e-7);
    }
    for (contact, axis, range) in forces {
        let letter = if *axis == ContactAxis::Normal { 'n' } else { 't' };
        let name = format!("c{letter}{}", contact + 1);
        assert_same_range(&name, range, &reference_range(modes, &name), 1e-4);
    }
}

#[test]
fn ill_posed_commands_are_diagnosed() {
    let Some(file) = json("quasistatic/illposed_lcp1.json") else { return };
    let q = numbers(&file["set_up"]["q"]);
    let statement = |name: &str| {
        let command = numbers(&file["set_up"]["qa_cmd"][name]);
        let tracking: Vec<(u32, f64)> =
            command.iter().enumerate().map(|(i, c)| (2 + i as u32, (c - q[2 + i]) / STEP)).collect();
        (problem(&q, &command), tracking)
    };

    let (squeeze, tracking) = statement("i_squeeze");
    let diagnosis = diagnose_lcp(&squeeze, 2, &tracking).unwrap();
    let LcpDiagnosis::Infeasible { weights, overlap } = &diagnosis else { panic!("{diagnosis}") };
    let expected = numbers(&file["i_squeeze_infeasible"]["farkas_y"]);
    for (contact, y) in expected.iter().enumerate() {
        let found = weights.iter().find(|(index, _)| *index == contact).map_or(0.0, |(_, weight)| *weight);
        assert!((found - y).abs() < 1e-6, "{diagnosis}");
    }
    assert!((overlap + file["i_squeeze_infeasible"]["yT_b"].as_f64().unwrap()).abs() < 1e-8, "{diagnosis}");
    assert!(diagnosis.to_string().contains("contact 0 with weight 1.000, contact 1 with weight 1.000"), "{diagnosis}");

    for (name, lcp1, lcp6) in [
        ("ii_graze_hold", Some("ii_graze_hold_LCP1"), "ii_graze_hold_LCP6"),
        ("iii_graze_up", Some("iii_graze_up_LCP1"), "iii_graze_up_LCP6"),
        ("i_squeeze", None, "i_squeeze_same_command_LCP6"),
    ] {
        let (problem, tracking) = statement(name);
        if let Some(lcp1) = lcp1 {
            let diagnosis = diagnose_lcp(&problem, 2, &tracking).unwrap();
            assert!(!diagnosis.is_determined(), "{name}: {diagnosis}");
            assert!(diagnosis.to_string().starts_with("many solutions"), "{diagnosis}");
            assert_ranges(&diagnosis, &file[lcp1]);
        }
        assert_ranges(&diagnose_lcp(&problem, 2, &[]).unwrap(), &file[lcp6]);
    }
}

/// The experiment gives the same diagnoses of the three commands: one has no solution and two have many; with
/// impedances all have a solution.
#[test]
fn the_experiment_names_the_three_ill_posed_commands() {
    let cases = isobar::experiments::planar_gripper::ill_posed().unwrap();
    assert_eq!(cases.len(), 3);
    assert!(matches!(cases[0].tracked, LcpDiagnosis::Infeasible { .. }), "{}", cases[0].tracked);
    for case in &cases[1..] {
        assert!(case.tracked.to_string().starts_with("many solutions"), "{}: {}", case.name, case.tracked);
    }
    for case in &cases {
        let solvable = matches!(case.with_impedances, LcpDiagnosis::Solvable { .. });
        assert!(solvable, "{}: {}", case.name, case.with_impedances);
    }
}
