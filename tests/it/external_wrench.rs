//! External wrenches on bodies: Newton's law and statics are the oracles.

use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Index, Matrix3, ScalarJointIndex, SpatialForce, SpatialInertia, Vector3};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{
    ForceTorqueSensor, HeldWrench, JointCommand, Simulation, StepError, Stepping, TimedWrenches, UnactuatedInertia,
};

use crate::worlds::{GRAVITY, Slider, at, body_on_ground, compliant, quasistatic, settings, simulate};

fn push(f: Vector3) -> SpatialForce {
    SpatialForce::new(Vector3::zeros(), f)
}

/// a = F/m and alpha = tau/I; a force beside the centre of mass turns the body, too. Without other forces the
/// step is exact in v.
#[test]
fn a_free_body_accelerates_by_force_over_mass() {
    let (mass, moment, step) = (2.0, 0.5, 1e-3);
    let mut builder = SceneBuilder::new();
    let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &(Matrix3::identity() * moment));
    let body = builder.add_body("body", inertia);
    let scene = Arc::new(builder.build(Vector3::zeros()).expect("a scene"));
    let mut simulation =
        Simulation::new(scene.clone(), scene.model().default_state(), settings(step)).expect("a simulation");
    let wrench = SpatialForce::new(Vector3::new(0.0, 0.0, 0.25), Vector3::new(3.0, -1.0, 0.5));
    simulation.set_external_wrench(body, wrench).expect("a wrench");
    for _ in 0..100 {
        simulation.step(&JointCommand::default()).expect("a step");
    }
    let V_WB = simulation.data().V_WB[body];
    assert!((V_WB.v - wrench.f * (0.1 / mass)).norm() < 1e-10, "{:?}", V_WB.v);
    assert!((V_WB.w - wrench.tau * (0.1 / moment)).norm() < 1e-10, "{:?}", V_WB.w);
    // A reset removes the wrench.
    simulation.reset();
    simulation.step(&JointCommand::default()).expect("a step");
    assert!(simulation.data().V_WB[body].v.norm() < 1e-12);
}

/// On a block at rest on the ground a horizontal push below mu m g meets as much friction, in dynamic and
/// quasistatic steps, with or without inertia. Above it a block with inertia moves.
#[test]
fn a_pushed_block_stays_while_friction_can_hold_it() {
    let (mass, friction) = (0.5, 0.4);
    let size = Vector3::repeat(0.1);
    let moments = Vector3::repeat(mass * 0.01 / 6.0);
    let bound = friction * mass * GRAVITY;
    let modes = [
        settings(1e-3),
        quasistatic(0.01, UnactuatedInertia::None),
        quasistatic(0.1, UnactuatedInertia::Mass),
        quasistatic(0.4, UnactuatedInertia::None),
    ];
    for settings in modes {
        let rubber = compliant(1e6, 10.0, friction);
        let (scene, mut state, body) =
            body_on_ground(Shape::Box { size }, mass, moments, &rubber, Vector3::z() * -GRAVITY);
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.05));
        let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
        for _ in 0..500 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let before = simulation.data().X_WB[body].translation.vector;
        // The push acts at the height of the ground, so that it does not tip the block.
        let low = |f: f64| SpatialForce::new(Vector3::new(0.0, -0.05 * f, 0.0), Vector3::x() * f);
        simulation.set_external_wrench(body, low(0.8 * bound)).expect("a wrench");
        for _ in 0..100 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let contact = simulation.body_wrenches()[body].f;
        let expected = Vector3::new(-0.8 * bound, 0.0, mass * GRAVITY);
        // Quasistatic fields settle within 10 nm, on some 1e5 N/m; the dynamic block has come to rest.
        assert!((contact - expected).norm() < 1e-2, "{settings:?}: {contact:?} for {expected:?}");
        let moved = (simulation.data().X_WB[body].translation.vector - before).norm();
        assert!(moved < 1e-4, "{settings:?}: {moved} m");
        simulation.set_external_wrench(body, low(1.5 * bound)).expect("a wrench");
        let none = matches!(settings.stepping, Stepping::Quasistatic(q) if q.inertia == UnactuatedInertia::None);
        if none {
            let refused = simulation.step(&JointCommand::default());
            let named = matches!(refused, Err(StepError::NoSupport { .. } | StepError::NotSettled { .. }));
            assert!(named, "{settings:?}: no equilibrium, {refused:?}");
            continue;
        }
        for _ in 0..100 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        assert!(simulation.data().X_WB[body].translation.vector.x - before.x > 1e-3, "{settings:?}: it slides");
    }
}

/// A spring of k holds mass and push: k x = F - m g, in dynamic and quasistatic steps. The sensor in the
/// joint measures the opposite of mass and push together.
#[test]
fn a_spring_gives_way_by_force_over_stiffness() {
    let (mass, stiffness, force) = (0.5, 2000.0, 12.0);
    for settings in [settings(1e-3), quasistatic(0.1, UnactuatedInertia::Mass)] {
        let mut builder = SceneBuilder::new();
        let actuator = Actuator { stiffness, damping: 100.0, ..Actuator::PASSIVE };
        let joint = Slider { actuator, ..Slider::of_mass(mass) }.add(&mut builder, "slider");
        let mut simulation = simulate(builder, GRAVITY, settings);
        let sensor = ForceTorqueSensor::new(simulation.scene(), joint);
        let body = simulation.scene().model().joints()[joint].child;
        simulation.set_external_wrench(body, push(Vector3::z() * force)).expect("a wrench");
        let mut measured = SpatialForce::ZERO;
        for _ in 0..1000 {
            let before = sensor.motion(&simulation);
            simulation.step(&JointCommand::default()).expect("a step");
            measured = sensor.measure(&simulation, &before);
        }
        let along = force - mass * GRAVITY;
        let q = simulation.state().q[0];
        assert!((q - along / stiffness).abs() < 1e-9, "{settings:?}: {q}");
        assert!((measured.f.z + along).abs() < 1e-6, "{settings:?}: {measured:?}");
    }
}

/// Changes of gravity and gains between quasistatic steps apply from the next one on: k x = -m g.
#[test]
fn gravity_and_gains_change_between_quasistatic_steps() {
    let mut builder = SceneBuilder::new();
    let actuator = Actuator { stiffness: 2000.0, ..Actuator::PASSIVE };
    Slider { actuator, ..Slider::of_mass(0.5) }.add(&mut builder, "slider");
    let mut simulation = simulate(builder, 10.0, quasistatic(0.1, UnactuatedInertia::Mass));
    let mut sag = |gravity: f64, stiffness: f64| {
        let scene = simulation.scene_mut();
        scene.set_gravity(Vector3::z() * -gravity).expect("finite");
        scene.set_gains(ScalarJointIndex::from_usize(0), stiffness, 0.0).expect("positive");
        simulation.step(&JointCommand::default()).expect("a step");
        simulation.state().q[0]
    };
    for (gravity, stiffness) in [(10.0, 2000.0), (10.0, 1000.0), (5.0, 1000.0), (0.0, 1000.0)] {
        let expected = -0.5 * gravity / stiffness;
        let found = sag(gravity, stiffness);
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
}

#[test]
fn a_wrench_that_is_not_finite_is_refused() {
    let mut builder = SceneBuilder::new();
    Slider::of_mass(1.0).add(&mut builder, "slider");
    let mut simulation = simulate(builder, GRAVITY, settings(1e-3));
    let body = BodyIndex::WORLD;
    let error = simulation.set_external_wrench(body, push(Vector3::repeat(f64::NAN))).expect_err("not a number");
    assert!(matches!(error, StepError::WrenchNotFinite { .. }), "{error}");
    assert_eq!(simulation.external_wrenches()[body], SpatialForce::ZERO);
}

const FLOATING: &str = "
gravity: [0, 0, 0]
step: 0.001
integrator: semi_implicit
models:
  - name: brick
    urdf: tests/ros/scenes/ball.urdf
    free: { xyz: [0, 0, 1], rpy: [0, 0, 1.5707963267948966] }
";

fn loaded(wrenches: &str) -> Result<scene_file::LoadedScene, scene_file::SceneError> {
    let label = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("wrenches.yaml");
    scene_file::load_str(&format!("{FLOATING}{wrenches}"), &label, &PackageMap::default())
}

/// Steps of `scene` under its wrenches; the velocity of its one body after `steps`.
fn velocity_after(mut scene: scene_file::LoadedScene, steps: usize) -> Vector3 {
    let mut simulation = scene.simulation().expect("a simulation");
    for _ in 0..steps {
        scene.wrenches.apply(&mut simulation).expect("finite wrenches");
        simulation.step(&JointCommand::default()).expect("a step");
    }
    let body = scene.scene.free_bodies()[0];
    simulation.data().V_WB[body].v
}

/// Impulse and momentum: a force of 3 N over half of each 20 ms pushes as 1.5 N would. In the axes of the
/// body, which is turned by a quarter about z, its x is the world's y.
#[test]
fn a_scene_pushes_over_time_in_the_axes_that_it_names() {
    let wave = "[{ square_wave: { first: 3, then: 0, period: 0.02 } }, 0, 0]";
    let mass = {
        let scene = loaded("").expect("a scene");
        scene.scene.model().bodies()[scene.scene.free_bodies()[0]].inertia.mass
    };
    for (axes, along) in [("", Vector3::y()), ("axes: body, ", Vector3::y()), ("axes: world, ", Vector3::x())] {
        let scene = loaded(&format!("wrenches:\n  ball: {{ {axes}force: {wave} }}\n")).expect("a scene");
        let v = velocity_after(scene, 100);
        assert!((v - along * (1.5 * 0.1 / mass)).norm() < 1e-9, "{axes}: {v:?}");
    }
}

/// A held wrench adds to the scheduled one, a newer one replaces it, and it ends with its time: impulse and
/// momentum.
#[test]
fn a_held_wrench_ends_with_its_time() {
    let scene = loaded("").expect("a scene");
    let mut simulation = scene.simulation().expect("a simulation");
    let body = scene.scene.free_bodies()[0];
    let mass = scene.scene.model().bodies()[body].inertia.mass;
    let mut wrenches = TimedWrenches::default();
    let hold = |force: f64, until_ns: u64| HeldWrench { body, F_BBo_B: push(Vector3::z() * force), until_ns };
    wrenches.hold(hold(100.0, 50_000_000));
    wrenches.hold(hold(2.0, 20_000_000));
    for _ in 0..60 {
        wrenches.apply(&mut simulation).expect("finite wrenches");
        simulation.step(&JointCommand::default()).expect("a step");
    }
    let v = simulation.data().V_WB[body].v;
    assert!((v - Vector3::z() * (2.0 * 0.02 / mass)).norm() < 1e-9, "{v:?}");
    assert!(wrenches.is_empty() && simulation.external_wrenches()[body] == SpatialForce::ZERO);
}

#[test]
fn wrenches_of_a_scene_that_make_no_sense_are_named() {
    for (wrenches, means) in [
        ("wrenches: { bal: { force: [1, 0, 0] } }", "did you mean `ball`"),
        ("wrenches: { world: { force: [1, 0, 0] } }", "cannot move"),
        ("wrenches: { ball: { force: [1, 0] } }", "three numbers or waveforms"),
        ("wrenches: { ball: { force: [.nan, 0, 0] } }", "finite"),
        ("wrenches: { ball: { force: [1, 0, 0], axes: boddy } }", "body"),
        ("wrenches: { ball: { forces: [1, 0, 0] } }", "force"),
    ] {
        let error = loaded(wrenches).expect_err("refused").to_string();
        assert!(error.contains(means) && error.contains("wrenches.yaml:"), "{wrenches}: {error}");
    }
}

/// Under 3 N in the first half of each 20 ms, a recording shows 3 N while the force acts, and 0 once it has
/// ended: in the CSV file at each step, in the MCAP file as messages that begin and end with the push.
#[test]
fn external_wrenches_are_recorded() {
    let folder = std::env::temp_dir().join(format!("isobar_wrenches_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let urdf = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ros/scenes/ball.urdf");
    let scene = FLOATING.replace("tests/ros/scenes/ball.urdf", urdf);
    let wave = "[0, 0, { square_wave: { first: 3, then: 0, period: 0.02 } }]";
    let text = format!("{scene}wrenches: {{ ball: {{ force: {wave} }} }}\npublish: {{ wrenches: 1000 }}\n");
    std::fs::write(folder.join("push.yaml"), text).expect("a scene");
    let run = |more: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        program.current_dir(&folder).args(["run", "push.yaml", "--duration", "0.04", "--quiet"]);
        let output = program.args(["--csv", "push.csv", "--record", "push.mcap"]).args(more).output().expect("it runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&[]), (true, String::new()));
    let force = |step: usize| if (step - 1) % 20 < 10 { 3.0 } else { 0.0 };
    let file = std::fs::read_to_string(folder.join("push.csv")).expect("rows");
    let mut rows = file.lines().filter(|line| !line.starts_with('#'));
    let column = rows.next().expect("a head").split(',').position(|name| name == "ball.external_fz");
    let column = column.expect("a column of the force");
    let forces: Vec<f64> = rows.map(|row| row.split(',').nth(column).expect("a field").parse().expect("f64")).collect();
    assert_eq!(forces[1..], (1..=40).map(force).collect::<Vec<_>>());
    let bag = std::fs::read(folder.join("push.mcap")).expect("a bag");
    let messages = mcap::MessageStream::new(&bag).expect("MCAP").map(|message| message.expect("a message"));
    let pushes: Vec<(u64, f64)> = messages
        .filter(|message| message.channel.topic == "/isobar/external_wrench")
        .map(|message| {
            // Force x, y, z and torque x, y, z are the last 48 bytes.
            let z = &message.data[message.data.len() - 32..message.data.len() - 24];
            (message.log_time / 1_000_000, f64::from_le_bytes(z.try_into().expect("8 bytes")))
        })
        .collect();
    let pushed = (1..=11).chain(21..=31);
    assert_eq!(pushes, pushed.map(|step| (step as u64, force(step))).collect::<Vec<_>>());
    // No file is overwritten without --force.
    let (good, said) = run(&[]);
    assert!(!good && said.contains("push.csv exists already") && said.contains("--force"), "{said}");
    assert_eq!(std::fs::read_to_string(folder.join("push.csv")).expect("rows"), file);
    std::fs::remove_file(folder.join("push.csv")).expect("the rows go");
    let (good, said) = run(&[]);
    assert!(!good && said.contains("push.mcap exists already"), "{said}");
    assert!(!folder.join("push.csv").exists(), "nothing is written before the refusal");
    assert_eq!(run(&["--force"]), (true, String::new()));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
