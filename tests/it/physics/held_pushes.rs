//! A wall pushes a prism along between two round flat fingers [Andersson 2021, section 4.4], and the gripper
//! of that section as a scene.

use std::path::Path;

use isobar::experiments::PushSample;
use isobar::experiments::prehensile_push::{Fingers, HeldPush, drop_of_closed_form, take};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::solvers::complementarity::{ComplementaritySolver, FrictionLaw};
use isobar::solvers::quasistatic::{FrictionModel, QuasistaticSettings};
use isobar::stepping::{JointCommand, QuasistaticStepping, Simulation, StepSettings, Stepping, UnactuatedInertia};

use super::spook::{pairs, spook};
use crate::worlds::settings;

const STEP: f64 = 1.0 / 60.0;

/// Mass \[kg\], wall friction, and the distance that the prism slides down \[mm\]: the closed form
/// 2 mu N (sin phi + mu_wall cos phi) = m g with mu = 0.15, N = 20 N, g = 9.81 m/s2, over 15 mm.
const CLOSED_FORM: [(f64, f64, f64); 6] = [
    (0.1, 0.0, 2.48595),
    (0.1, 0.1, 0.95749),
    (0.1, 0.2, 0.0),
    (0.2005, 0.0, 5.20488),
    (0.2005, 0.1, 3.55335),
    (0.2005, 0.2, 1.95902),
];

fn push((mass, mu_wall): (f64, f64), fingers: Fingers, with: StepSettings) -> Vec<PushSample> {
    take(&HeldPush { mass, mu_wall, fingers }, with, &|| 0.0).expect("a push")
}

/// The closed form for the masses of the thesis, and none for a prism of 5 kg, which friction of 6 N cannot
/// hold.
#[test]
fn a_prism_that_is_too_heavy_has_no_closed_form() {
    for (mass, mu_wall, exact) in CLOSED_FORM {
        let drop = drop_of_closed_form(mass, mu_wall).expect("a distance");
        assert!((1e3 * drop - exact).abs() < 1e-5, "{mass} kg, {mu_wall}: {drop} m");
    }
    assert_eq!(drop_of_closed_form(5.0, 0.1), None);
}

/// Options of pushes that have no effect are refused by name, and so is a friction that no material gives.
#[test]
fn options_without_effect_are_refused() {
    for (arguments, reason) in [
        ("prehensile-push --stepping dynamic --solver split", "--solver has no effect with --stepping dynamic"),
        ("planar-push --stepping quasistatic --surfaces start", "--surfaces has no effect with --stepping quasistatic"),
        ("planar-push --seed 3", "--seed has no effect with --friction none"),
        ("planar-push --surfaces start", "--surfaces has no effect without a pad or a patch"),
        ("prehensile-push --fingers points --surfaces start", "--surfaces has no effect without a pad or a patch"),
        (
            "planar-push --pusher two-points --stepping quasistatic",
            "two-points has no effect with --stepping quasistatic",
        ),
        ("planar-push --compare --out somewhere", "cannot be used with"),
        ("planar-push --contact 7 --angle 0", "expected a number from 0 to 1"),
        ("planar-push --friction box --frame body", "--frame has no effect with --friction box"),
        ("planar-push --friction randomized --directions 8", "--directions has no effect with --friction randomized"),
        ("prehensile-push --mass 0.1 --wall-friction 0.5", "less than 0.4"),
    ] {
        let mut isobar = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        let output = isobar.arg("experiment").args(arguments.split(' ')).output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(reason), "{arguments}: {said}");
    }
}

fn coulomb_quasistatic() -> StepSettings {
    let default = QuasistaticStepping::default();
    let solver = QuasistaticSettings { model: FrictionModel::Coulomb, ..default.solver };
    let stepping = QuasistaticStepping { solver, inertia: UnactuatedInertia::Drag { time_constant: 10.0 }, ..default };
    StepSettings { stepping: Stepping::Quasistatic(stepping), ..settings(STEP) }
}

/// Closed form of the sliding, to 2 % or 0.02 mm, whichever is larger; every step converges.
#[test]
fn held_prisms_slide_as_the_closed_form_says() {
    let exact_cone = spook(STEP, ComplementaritySolver::Direct, FrictionLaw::ExactCone);
    let mut wrong = Vec::new();
    for (name, fingers, with) in [
        ("dynamic", Fingers::Points, settings(STEP)),
        ("dynamic, patches", Fingers::Patch, settings(STEP)),
        ("quasistatic", Fingers::Patch, coulomb_quasistatic()),
        ("spook", Fingers::Points, exact_cone),
        ("spook, patches", Fingers::Patch, exact_cone),
    ] {
        for (mass, mu_wall, exact) in CLOSED_FORM {
            let samples = push((mass, mu_wall), fingers, with);
            let failed = samples.iter().filter(|sample| !sample.converged).count();
            let [x, z] = samples.last().expect("samples").position.map(|metres| 1e3 * metres);
            let line = format!("{name} {mass} kg, wall {mu_wall}: {x:.4}, {z:.4} and not -{exact} mm; {failed} failed");
            println!("{line}");
            if (z + exact).abs() > (0.02 * exact).max(0.02) || failed > 0 {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Thesis: boxes along the axes of the world give the friction upwards its own bound, which carries the
/// prism; it does not slide down.
#[test]
fn box_friction_does_not_let_a_held_prism_slide_down() {
    for law in [FrictionLaw::Box, FrictionLaw::ScaledBox] {
        let samples = push((0.2005, 0.0), Fingers::Points, spook(STEP, ComplementaritySolver::Direct, law));
        let z = 1e3 * samples.last().expect("samples").position[1];
        println!("{law:?}: {z} mm");
        assert!(z.abs() < 0.05, "{law:?}: {z} mm");
    }
}

/// The fastest joint of the gripper: the carriage rises by 100 mm in 1 s, and the fingers close with 0.05
/// m/s. A solver that creates energy throws the fingers open with 5 m/s [m/s].
const FASTEST: f64 = 0.4;

/// The gripper closes with 20 N on a bar of 1.97 N, lifts it by 100 mm and holds it, with every friction
/// model of the direct solver and with the projected cone of all solvers but one: its friction is up to 6 N.
/// 16 sweeps of projected Gauss-Seidel do not bring the grip to rest, and do not report convergence.
///
/// Tolerance: the impedance of the carriage gives way by the weight of the bar over its stiffness, 0.197 mm.
/// The fingers creep down at less than the stiction tolerance, 1e-6 m/s.
#[test]
fn two_fingers_lift_and_hold_a_bar() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/two_finger_lift.yaml");
    let chosen = |(solver, law): &(ComplementaritySolver, FrictionLaw)| {
        *solver == ComplementaritySolver::Direct || *law == FrictionLaw::ProjectedCone
    };
    let all = pairs().filter(chosen).map(|(solver, law)| (solver.name(), law.name(), spook(STEP, solver, law)));
    let others = [("dynamic", "", settings(STEP)), ("quasistatic", "coulomb", coulomb_quasistatic())];
    let mut wrong = Vec::new();
    for (solver, law, with) in all.chain(others) {
        let loaded = scene_file::load(&file, &PackageMap::new()).expect("the scene");
        let bar = loaded.scene.free_bodies()[0];
        let mut simulation = Simulation::new(loaded.scene, loaded.initial, with).expect("a simulation");
        let (mut command, mut failed) = (JointCommand::new(simulation.scene()), 0);
        let of_bar = simulation.scene().model().free_joint(bar).expect("a free bar").v_start;
        let mut fastest = 0.0_f64;
        for _ in 0..150 {
            loaded.commands.fill(simulation.time_ns(), &mut command);
            let report = simulation.step(&command).expect("a step");
            failed += u32::from(!report.solver_converged);
            let joints = simulation.state().v.iter().enumerate().filter(|(i, _)| !(of_bar..of_bar + 6).contains(i));
            fastest = joints.map(|(_, v)| v.abs()).fold(fastest, f64::max);
        }
        let z = 1e3 * (simulation.data().X_WB[bar].translation.z - 0.05);
        let line =
            format!("{solver} {law}: the bar is at {z:.3} mm; {failed} of 150 steps not converged, {fastest:.3} m/s");
        println!("{line}");
        let sweeps = matches!(solver, "gauss_seidel" | "split");
        let right = if solver == "gauss_seidel" { failed > 0 } else { (z - 99.803).abs() < 0.01 };
        if !right || (failed > 0 && !sweeps) || fastest > FASTEST {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
