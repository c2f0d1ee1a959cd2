//! Features for planners and for users of scenes: copies, held commands, Lemke's method from a scene.

use std::path::Path;

use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::Vector3;
use isobar::multibody::JointLimits;
use isobar::scene::SceneBuilder;
use isobar::solvers::quasistatic::{Engine, FrictionCone};
use isobar::stepping::{
    JointCommand, QuasistaticDerivatives, Simulation, SmoothedRollout, Snapshot, Stepping, UnactuatedInertia,
};

use super::{add_finger, bits, positions, rigid, simulate, spring};
use crate::worlds::{quasistatic, settings};

/// A finger without contact.
fn finger() -> Simulation {
    let mut builder = SceneBuilder::new();
    let tip = (Shape::Sphere { radius: 0.01 }, &rigid(0.2));
    let from = (Vector3::zeros(), Vector3::x());
    add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(500.0, f64::INFINITY), tip);
    simulate(builder, Vector3::zeros(), quasistatic(0.05, UnactuatedInertia::None), &[])
}

/// A joint without a new command is held at the last one, also after a new state was set.
#[test]
fn a_new_state_keeps_the_held_commands() {
    let mut simulation = finger();
    simulation.step(&positions(&[0.02])).expect("a step");
    let mut state = simulation.state().clone();
    state.q[0] = -0.1;
    simulation.set_state(state).expect("a state");
    simulation.step(&JointCommand::default()).expect("a step");
    assert!((simulation.state().q[0] - 0.02).abs() < 1e-12, "{}", simulation.state().q[0]);
    simulation.reset();
    simulation.step(&JointCommand::default()).expect("a step");
    assert!(simulation.state().q[0].abs() < 1e-12, "a reset returns to the initial positions");
}

/// A copy of a simulation has its own state and memory, and takes the steps that the original takes, in each
/// mode.
#[test]
fn a_copy_takes_the_same_steps_and_leaves_the_original() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/planar_gripper.yaml");
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
    let dynamic = settings(1e-3);
    for settings in [
        loaded.settings,
        isobar::stepping::StepSettings { stepping: Stepping::Quasistatic(loaded.quasistatic), ..dynamic },
    ] {
        let mut simulation =
            Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).expect("a simulation");
        let mut command = JointCommand::new(&loaded.scene);
        for _ in 0..3 {
            loaded.commands.fill(simulation.time_ns(), &mut command);
            simulation.step(&command).expect("a step");
        }
        let before = bits(&simulation);
        let mut copy = simulation.clone();
        let steps = |simulation: &mut Simulation, command: &mut JointCommand| {
            (0..5)
                .map(|_| {
                    loaded.commands.fill(simulation.time_ns(), command);
                    simulation.step(command).expect("a step");
                    bits(simulation)
                })
                .collect::<Vec<_>>()
        };
        let copied = steps(&mut copy, &mut command);
        assert_eq!(bits(&simulation), before, "the original is where it was");
        assert_eq!(copied, steps(&mut simulation, &mut command), "the same bits");
    }
}

/// `solver: lemke` in a scene: Coulomb's law on a pyramid. Sliding down with the sphere, the fingers' forces
/// are those of Coulomb's law of the default solver, in the plane of the gripper.
#[test]
fn lemkes_method_is_reached_from_scenes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/planar_gripper.yaml");
    let text = std::fs::read_to_string(&path).expect("the scene");
    let run = |quasistatic: &str| {
        let text = text.replace("quasistatic: { inertia: none, friction: relaxed }", quasistatic);
        let loaded = scene_file::load_str(&text, &path, &PackageMap::new()).expect("the scene loads");
        let mut simulation =
            Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
        let mut command = JointCommand::new(&loaded.scene);
        let mut heights = Vec::new();
        for _ in 0..30 {
            loaded.commands.fill(simulation.time_ns(), &mut command);
            simulation.step(&command).expect("a step");
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            let carriage = loaded.scene.joint("carriage_z").expect("a joint");
            heights.push(snapshot.joint_position[carriage]);
        }
        (heights, loaded.quasistatic.solver)
    };
    let (lemke, solver) = run("quasistatic: { inertia: none, solver: lemke, friction: { pyramid: 4 } }");
    assert_eq!((solver.engine, solver.friction), (Engine::Lemke, FrictionCone::Pyramid { rays: 4 }));
    let (coulomb, _) = run("quasistatic: { inertia: none }");
    let error = lemke.iter().zip(&coulomb).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Points of the default solver yield by 0.1 um under 10 N, in each of the steps that slide.
    assert!(error < 2e-6, "{error} m: {lemke:?} {coulomb:?}");
    let text = text.replace("inertia: none, friction: relaxed", "solver: lemke, friction: coulomb");
    let error = scene_file::load_str(&text, &path, &PackageMap::new()).expect_err("an error").to_string();
    assert!(error.contains("{ pyramid: 8 }"), "{error}");
}

/// The smoothed step does not jump where a finger comes within the detection distance of a cube, and its
/// derivatives are those of its steps there.
#[test]
fn a_smoothed_step_is_continuous_where_detection_begins() {
    let step = |gap: f64, command: f64| {
        let mut builder = SceneBuilder::new();
        let tip = (Shape::Sphere { radius: 0.01 }, &rigid(0.2));
        let from = (Vector3::new(-0.04 - gap, 0.0, 0.0), Vector3::x());
        add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(500.0, f64::INFINITY), tip);
        let cube = super::add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(0.3));
        let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
        let simulation = simulate(builder, Vector3::zeros(), settings, &[(cube, Vector3::zeros())]);
        let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
        derivatives.differentiate_smoothed(&simulation, &positions(&[command]), 1e-2).expect("derivatives");
        let x = simulation.scene().model().free_joint(cube).expect("a free body").v_start + 3;
        // The finger and its command move together.
        (derivatives.v()[x], derivatives.A(x, 0) + derivatives.B(x, 0))
    };
    let (inside, outside) = (step(0.005 - 1e-6, 0.0), step(0.005 + 1e-6, 0.0));
    assert!((inside.0 - outside.0).abs() < 1e-6, "{inside:?} {outside:?}");
    assert!(outside.0.abs() < 1e-6, "{outside:?}");
    for gap in [0.0048, 0.004, 0.003, 0.002] {
        let width = 1e-6;
        let slope = -0.1 * (step(gap + width, 0.0).0 - step(gap - width, 0.0).0) / (2.0 * width);
        let (_, a) = step(gap, 0.0);
        // Data are differentiated over 1e-5, along which the cubic of a fading weight has this curvature.
        let tolerance = 1e-5 + (1e-5 / (0.005_f64 - gap)).powi(2);
        assert!((a - slope).abs() < tolerance * a.abs().max(1.0), "gap {gap}: {a} for {slope}");
    }
    assert!(step(0.004, 0.0).0 > 1e-3, "the finger acts at a distance");
}

/// A smoothed step that fails keeps the held positions: the next step without a command moves towards them.
#[test]
fn a_smoothed_step_that_fails_keeps_the_held_positions() {
    let mut rollout = SmoothedRollout::new(&finger()).expect("a quasistatic simulation");
    rollout.step(&positions(&[0.02]), 1e-4).expect("a step");
    rollout.step(&positions(&[0.5]), -1.0).expect_err("a weight that is not positive");
    rollout.step(&JointCommand::default(), 1e-4).expect("a step");
    let position = rollout.simulation().state().q[0];
    assert!((position - 0.02).abs() < 1e-9, "{position}");
}

/// `isobar run` warns of a commanded velocity that quasistatic steps ignore, and names the joint.
#[test]
fn a_velocity_without_effect_is_warned_of() {
    let run = |command: &str, mode: &str| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        program.current_dir(env!("CARGO_MANIFEST_DIR")).args([
            "run",
            "config/planar_gripper.yaml",
            "--duration",
            "0.01",
        ]);
        let output = program.args(["--stepping", mode, "--command", command]).output().expect("it runs");
        String::from_utf8_lossy(&output.stderr).contains("its commanded velocity has no effect")
    };
    assert!(run("left_x.velocity=0.1", "quasistatic"));
    assert!(!run("left_x.velocity=0.1", "dynamic"));
    assert!(!run("left_x.position=-0.1", "quasistatic"));
}
