//! Checkpoints: a restored run has the same bits as one that never stopped, and other files are refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::{BodyIndex, Index, RigidTransform, ScalarJointIndex, SpatialForce, Vector3};
use isobar::multibody::JointLimits;
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{
    BodyWrench, Checkpoint, CheckpointError, CommandSchedule, ContactScheme, DynamicStepping, JointCommand,
    JointSchedule, QuasistaticStepping, Simulation, StepSettings, Stepping, TimedWrenches, UnactuatedInertia, Waveform,
    WrenchAxes, schedules,
};

use crate::random::Random;
use crate::worlds::{GRAVITY, Slider, at, body_on_ground, compliant, quasistatic, settings, simulate};

/// All results of a step, bit by bit.
fn bits(simulation: &Simulation) -> Vec<u64> {
    let (state, report) = (simulation.state(), simulation.report());
    let mut snapshot = isobar::stepping::Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let wrenches = simulation.body_wrenches().iter().flat_map(|F| F.to_vector().iter().copied().collect::<Vec<_>>());
    let accelerations = snapshot.A_WB.iter().flat_map(|A| A.to_vector().iter().copied().collect::<Vec<_>>());
    let numbers = state.q.iter().chain(&state.v).copied().chain(snapshot.joint_effort.iter().copied());
    let numbers = numbers.chain(wrenches).chain(accelerations);
    let counts = [report.solver_iterations, report.faces, report.faces_dropped, report.solver_fallbacks];
    let counts = counts.into_iter().map(u64::from).chain([simulation.step_count(), report.solver_residual.to_bits()]);
    numbers.map(f64::to_bits).chain(counts).collect()
}

/// The inputs of a step: the scene's commands, with an offset of the first position in step 2 or, without
/// such a command, a target that is held from then on; and a wrench that changes every seventh step.
fn take_step(simulation: &mut Simulation, schedule: &CommandSchedule, number: u64) {
    let mut command = JointCommand::new(simulation.scene());
    schedule.fill(simulation.time_ns(), &mut command);
    if number == 2 && !command.targets.is_empty() {
        let first = &mut command[ScalarJointIndex::from_usize(0)];
        first.position = Some(first.position.map_or(0.003, |position| position + 0.01));
    }
    if number % 7 == 3 {
        let body = BodyIndex::from_usize(simulation.scene().model().bodies().len() - 1);
        let push = 0.01 * (number % 5) as f64;
        let wrench = SpatialForce::new(Vector3::z() * (0.1 * push), Vector3::x() * push);
        simulation.set_external_wrench(body, wrench).unwrap();
    }
    simulation.step(&command).unwrap();
}

/// Runs `steps` steps; at random ones the run is saved, and a new simulation continues from there in parallel
/// for some steps.
fn continues(make: &dyn Fn() -> (Simulation, CommandSchedule), steps: u64, random: &mut Random, label: &str) {
    let (mut simulation, schedule) = make();
    let mut beside: Vec<(u64, Simulation)> = Vec::new();
    for number in 0..steps {
        if random.below(12) == 0 || number == 1 {
            let bytes = simulation.save().to_bytes();
            let (mut restored, _) = make();
            restored.restore(&Checkpoint::from_bytes(&bytes).unwrap()).unwrap();
            assert_eq!(bits(&restored), bits(&simulation), "{label}: as restored at step {number}");
            beside.push((number, restored));
        }
        take_step(&mut simulation, &schedule, number);
        let expected = bits(&simulation);
        for (from, restored) in &mut beside {
            take_step(restored, &schedule, number);
            assert_eq!(bits(restored), expected, "{label}: step {number} after a checkpoint at {from}");
            assert_eq!(restored.data().X_WB, simulation.data().X_WB);
        }
        beside.retain(|(from, _)| number < from + 25);
    }
    // A restored simulation also returns to the same start.
    let checkpoint = simulation.save();
    let (mut restored, _) = make();
    restored.restore(&checkpoint).unwrap();
    simulation.reset();
    restored.reset();
    take_step(&mut simulation, &schedule, 0);
    take_step(&mut restored, &schedule, 0);
    assert_eq!(bits(&restored), bits(&simulation), "{label}: reset");
}

fn config(name: &str) -> LoadedScene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(name);
    scene_file::load(&file, &PackageMap::default()).unwrap()
}

/// Shipped scenes, with their commands over time: pressure fields, rigid points, arms, grippers; in every
/// mode.
#[test]
fn a_restored_run_of_a_shipped_scene_has_the_same_bits() {
    let mut random = Random::new(11);
    for (name, steps) in [
        ("drop.yaml", 120),
        ("spatula_slip.yaml", 60),
        ("planar_gripper.yaml", 60),
        ("cube_stacking.yaml", 25),
        ("iiwa_demo.yaml", 40),
    ] {
        let loaded = config(name);
        let dynamic = Stepping::Dynamic(loaded.dynamic);
        let quasistatic = Stepping::Quasistatic(loaded.quasistatic);
        let spook = Stepping::Spook(loaded.spook);
        for (mode, stepping) in [("dynamic", dynamic), ("quasistatic", quasistatic), ("spook", spook)] {
            let settings = StepSettings { stepping, ..loaded.settings };
            let make = || {
                let simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).unwrap();
                (simulation, loaded.commands.clone())
            };
            continues(&make, steps, &mut random, &format!("{name}, {mode}"));
        }
    }
}

/// Bricks and balls that fall into a heap: pairs come near each other and part, and only those near each
/// other have a memory.
#[test]
fn a_restored_run_of_a_heap_has_the_same_bits() {
    let mut random = Random::new(13);
    let loaded = config("start/heap.yaml");
    for scheme in [ContactScheme::Lagged, ContactScheme::Coupled] {
        let dynamic = DynamicStepping { scheme, ..loaded.dynamic };
        let settings = StepSettings { stepping: Stepping::Dynamic(dynamic), step_ns: 5_000_000, ..loaded.settings };
        let make = || {
            let simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).unwrap();
            (simulation, CommandSchedule::default())
        };
        continues(&make, 30, &mut random, &format!("{scheme:?}"));
    }
}

/// Balls that bounce, roll and spin on a conveyor, two of them on a string.
const CONVEYOR: &str = "
ground: { surface_velocity: [0.1, 0, 0], torsional_radius: 0.002, rolling_friction: 0.001, restitution: 0.5, mu_dynamic: 0.5 }
models:
  - { name: left, sphere: 0.03, density: 700, free: { xyz: [0, 0, 0.06] } }
  - { name: right, sphere: 0.03, density: 700, free: { xyz: [0, 0.2, 0.04] } }
  - name: ball
    sphere: 0.02
    density: 700
    free: {}
    count: 12
    random: { within: [[0.1, -0.2, 0.01], [0.4, 0.2, 0.15]], seed: 3 }
materials: [{ compliant: false, restitution: 0.5, torsional_radius: 0.002, rolling_friction: 0.001 }]
closures: [{ distance: { a: { body: left }, b: { body: right }, length: 0.201 } }]
";

#[test]
fn a_restored_run_with_bounces_rolling_and_closures_has_the_same_bits() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/conveyor.yaml");
    let loaded = scene_file::load_str(CONVEYOR, &file, &PackageMap::default()).unwrap();
    let make = || (loaded.simulation().unwrap(), CommandSchedule::default());
    continues(&make, 200, &mut Random::new(14), "conveyor");
}

/// A rigid box that lands on rigid ground and slides under changing wrenches, beside an impedance with
/// friction and limits: loads of points, multipliers of contacts and of bounds.
#[test]
fn a_restored_run_of_rigid_contact_has_the_same_bits() {
    let mut random = Random::new(12);
    let rigid = isobar::contact::ContactProperties {
        compliant: Some(false),
        mu_dynamic: Some(0.3),
        ..isobar::contact::ContactProperties::default()
    };
    let make = |settings: StepSettings| {
        let mut builder = SceneBuilder::new();
        let ground =
            builder.add_geometry(BodyIndex::WORLD, "ground", RigidTransform::identity(), Shape::HalfSpace, &rigid);
        ground.unwrap();
        let limits = JointLimits { lower: -0.1, upper: 0.005, ..JointLimits::default() };
        let actuator = Actuator { stiffness: 100.0, damping: 1.0, ..Actuator::PASSIVE };
        Slider { friction: 0.2, limits, actuator, ..Slider::of_mass(0.5) }.add(&mut builder, "slider");
        let inertia = isobar::math::SpatialInertia::from_central(
            0.5,
            &Vector3::zeros(),
            &(isobar::math::Matrix3::identity() * 1e-3),
        );
        let body = builder.add_body("box", inertia);
        let size = Vector3::new(0.1, 0.1, 0.06);
        builder.add_geometry(body, "shape", RigidTransform::identity(), Shape::Box { size }, &rigid).unwrap();
        let scene = builder.build(Vector3::z() * -GRAVITY).unwrap();
        let mut state = scene.model().default_state();
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.05));
        (Simulation::new(Arc::new(scene), state, settings).unwrap(), CommandSchedule::default())
    };
    let stiff = UnactuatedInertia::SCALED;
    for settings in [settings(1e-3), quasistatic(0.01, UnactuatedInertia::Mass), quasistatic(0.05, stiff)] {
        continues(&|| make(settings), 150, &mut random, &format!("{settings:?}"));
    }
}

/// Gravity and gains that were changed in the run are in the checkpoint.
#[test]
fn gravity_and_gains_of_the_run_are_restored() {
    let actuator = Actuator { stiffness: 50.0, damping: 2.0, ..Actuator::PASSIVE };
    let make = || Slider { actuator, ..Slider::of_mass(1.0) }.simulation(GRAVITY, settings(1e-3));
    let mut simulation = make();
    simulation.scene_mut().set_gravity(Vector3::new(0.5, 0.0, -3.0)).unwrap();
    simulation.scene_mut().set_gains(ScalarJointIndex::from_usize(0), 70.0, 1.0).unwrap();
    simulation.step(&JointCommand::default()).unwrap();
    let mut restored = make();
    restored.restore(&simulation.save()).unwrap();
    simulation.step(&JointCommand::default()).unwrap();
    restored.step(&JointCommand::default()).unwrap();
    assert_eq!(bits(&restored), bits(&simulation));
    assert_eq!(restored.scene().model().gravity_W(), &Vector3::new(0.5, 0.0, -3.0));
}

fn ball(radius: f64, step: f64) -> Simulation {
    let (shape, moments) = (Shape::Sphere { radius }, Vector3::repeat(1e-4));
    let (scene, mut state, body) =
        body_on_ground(shape, 0.2, moments, &compliant(1e6, 1.0, 0.5), Vector3::z() * -GRAVITY);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.049));
    Simulation::new(scene, state, settings(step)).unwrap()
}

/// A checkpoint of another scene, of another step or mode is refused with the difference, and the simulation
/// continues unchanged.
#[test]
fn a_checkpoint_of_another_scene_is_refused_by_name() {
    let mut simulation = ball(0.05, 1e-3);
    (0..20).for_each(|_| {
        simulation.step(&JointCommand::default()).unwrap();
    });
    let before = bits(&simulation);
    let refused =
        |simulation: &mut Simulation, other: &Simulation| simulation.restore(&other.save()).unwrap_err().to_string();
    let larger = refused(&mut simulation, &ball(0.06, 1e-3));
    assert!(larger.contains("collision geometry 'body/shape' differs"), "{larger}");
    let slider = refused(&mut simulation, &Slider::of_mass(1.0).simulation(GRAVITY, settings(1e-3)));
    assert!(slider.contains("body 'slider_body'") && slider.contains("lacks"), "{slider}");
    let mut fewer = simulate(SceneBuilder::new(), GRAVITY, settings(1e-3));
    let missing = refused(&mut fewer, &simulation);
    assert!(missing.contains("body 'body'"), "{missing}");
    let step = refused(&mut simulation, &ball(0.05, 2e-3));
    assert!(step.contains("step_ns: 2000000") && step.contains("step_ns: 1000000"), "{step}");
    let mut other = ball(0.05, 1e-3);
    let stepping = Stepping::Quasistatic(QuasistaticStepping::default());
    other.reset_with(StepSettings { stepping, ..settings(1e-3) }).unwrap();
    let mode = refused(&mut simulation, &other);
    assert!(mode.contains("Quasistatic") && mode.contains("Dynamic"), "{mode}");
    assert_eq!(bits(&simulation), before);
    simulation.step(&JointCommand::default()).unwrap();
    let mut never = ball(0.05, 1e-3);
    (0..21).for_each(|_| {
        never.step(&JointCommand::default()).unwrap();
    });
    assert_eq!(bits(&simulation), bits(&never));
}

/// The values of a scene file are compared as they were at the start, and changes of the run do not count.
/// These are gravity, gains, the initial state, and the commands and wrenches over time.
#[test]
fn a_checkpoint_of_another_start_is_refused_with_the_difference() {
    let actuator = |stiffness| Actuator { stiffness, damping: 2.0, ..Actuator::PASSIVE };
    let slider = |gravity: f64, stiffness, position| {
        let slider = Slider { actuator: actuator(stiffness), ..Slider::of_mass(1.0) };
        let mut builder = SceneBuilder::new();
        slider.add(&mut builder, "slider");
        let scene = Arc::new(builder.build(Vector3::z() * -gravity).unwrap());
        let mut state = scene.model().default_state();
        state.q[0] = position;
        Simulation::new(scene, state, settings(1e-3)).unwrap()
    };
    let mut run = slider(GRAVITY, 50.0, 0.0);
    run.set_gravity(Vector3::zeros()).unwrap();
    run.set_gains(ScalarJointIndex::from_usize(0), 70.0, 1.0).unwrap();
    run.step(&JointCommand::default()).unwrap();
    let checkpoint = run.save();
    slider(GRAVITY, 50.0, 0.0).restore(&checkpoint).unwrap();
    for (mut other, what) in [
        (slider(1.0, 50.0, 0.0), "gravity"),
        // These have the gravity and the gains of the run.
        (slider(0.0, 50.0, 0.0), "gravity"),
        (slider(GRAVITY, 70.0, 0.0), "actuator of joint 'slider'"),
        (slider(GRAVITY, 50.0, 0.01), "initial state of joint 'slider'"),
    ] {
        let before = bits(&other);
        let refused = other.restore(&checkpoint).unwrap_err().to_string();
        assert!(refused.contains(&format!("its {what} differs from that of this scene")), "{refused}");
        assert_eq!(bits(&other), before);
    }
    let commands = |value| CommandSchedule {
        joints: vec![JointSchedule { position: Some(Waveform::Constant(value)), ..Default::default() }],
    };
    let wrenches = |value| {
        let (zero, force) = (Waveform::Constant(0.0), Waveform::Constant(value));
        TimedWrenches::new(vec![BodyWrench {
            body: BodyIndex::from_usize(1),
            axes: WrenchAxes::World,
            force: [force, zero.clone(), zero.clone()],
            torque: [zero.clone(), zero.clone(), zero],
        }])
    };
    let signature = |commands, wrenches| schedules(run.scene(), &commands, &wrenches);
    let stated = checkpoint.clone().with_schedules(signature(commands(0.1), wrenches(1.0)));
    let read = Checkpoint::from_bytes(&stated.to_bytes()).unwrap();
    assert_eq!(read, stated);
    read.check_schedules(&signature(commands(0.1), wrenches(1.0))).unwrap();
    let none = (CommandSchedule::default(), TimedWrenches::default());
    for (other, what) in [
        (signature(commands(0.2), wrenches(1.0)), "its schedule of commands of joint 'slider' differs"),
        (signature(commands(0.1), wrenches(2.0)), "its schedule of wrenches on body 'slider_body' differs"),
        (signature(commands(0.1), none.1), "schedule of wrenches on body 'slider_body', which this scene lacks"),
    ] {
        let refused = read.check_schedules(&other).unwrap_err().to_string();
        assert!(refused.contains(what), "{refused}");
    }
    let unstated = checkpoint.check_schedules(&signature(commands(0.2), wrenches(1.0)));
    assert_eq!(unstated, Ok(()), "a program that has other inputs states none");
}

/// Every truncation, every changed byte and an appended byte are detected. Other formats and newer versions
/// have errors of their own.
#[test]
fn a_damaged_checkpoint_is_refused() {
    let mut simulation = ball(0.05, 1e-3);
    (0..20).for_each(|_| {
        simulation.step(&JointCommand::default()).unwrap();
    });
    let bytes = simulation.save().to_bytes();
    for len in 0..bytes.len() {
        let error = Checkpoint::from_bytes(&bytes[..len]).unwrap_err();
        assert!(matches!(error, CheckpointError::Length { .. } | CheckpointError::Foreign), "{len}: {error}");
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Checkpoint::from_bytes(&damaged).is_err(), "byte {at}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(Checkpoint::from_bytes(&longer), Err(CheckpointError::Length { .. })));
    assert_eq!(Checkpoint::from_bytes(b"#!/bin/sh\n"), Err(CheckpointError::Foreign));
    let mut newer = bytes;
    newer[8] = 99;
    assert_eq!(Checkpoint::from_bytes(&newer), Err(CheckpointError::Version { found: 99 }));
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("isobar_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn isobar_run(folder: &Folder, scene: &str, arguments: &[&str]) -> std::process::Output {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(scene);
    program.current_dir(&folder.0).arg("run").arg(scene).arg("--quiet").args(arguments).output().unwrap()
}

/// Two runs of 0.05 s, the second from the first one's checkpoint, write the rows of one run of 0.1 s.
#[test]
fn the_program_continues_from_a_file() {
    let folder = Folder::new("checkpoints");
    let run = |arguments: &[&str]| {
        let output = isobar_run(&folder, "drop.yaml", arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["--duration", "0.1", "--csv", "whole.csv", "--every", "3"]);
    run(&["--duration", "0.05", "--csv", "first.csv", "--every", "3", "--checkpoint", "run.checkpoint"]);
    run(&["--duration", "0.05", "--csv", "second.csv", "--every", "3", "--from", "run.checkpoint"]);
    let rows = |name: &str| {
        let text = folder.text(name);
        text.lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (whole, mut both) = (rows("whole.csv"), rows("first.csv"));
    // The last row of the first run is not on the grid of three steps.
    both.pop();
    both.extend(rows("second.csv"));
    assert_eq!(both, whole);
    assert!(!folder.0.join("run.checkpoint.partial").exists());
    // Every 20 ms and at the end, so that the last one is of 0.05 s.
    let each = ["--checkpoint", "each.checkpoint", "--checkpoint-period", "0.02"];
    run(&[["--duration", "0.05"].as_slice(), &each].concat());
    let read = |name: &str| isobar::io::checkpoint_file::read(&folder.0.join(name)).unwrap();
    assert_eq!(read("each.checkpoint"), read("run.checkpoint"));
}

/// Errors name the file and the remedy.
#[test]
fn the_program_refuses_other_files_by_name() {
    let folder = Folder::new("no_checkpoints");
    let refused = |scene: &str, arguments: &[&str]| {
        let output = isobar_run(&folder, scene, arguments);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let made = isobar_run(&folder, "drop.yaml", &["--duration", "0.01", "--checkpoint", "drop.checkpoint"]);
    assert!(made.status.success());
    std::fs::write(folder.0.join("text"), "no checkpoint").unwrap();
    let bytes = std::fs::read(folder.0.join("drop.checkpoint")).unwrap();
    std::fs::write(folder.0.join("cut"), &bytes[..bytes.len() / 2]).unwrap();
    for (scene, file, means) in [
        ("drop.yaml", "missing", "check the path"),
        ("drop.yaml", "/dev/null", "not a regular file"),
        ("drop.yaml", "text", "it is not a checkpoint of Isobar"),
        ("drop.yaml", "cut", "it is truncated"),
        ("cube_stacking.yaml", "drop.checkpoint", "to another scene"),
    ] {
        let error = refused(scene, &["--duration", "0.01", "--from", file]);
        assert!(error.contains(file) && error.contains(means), "{error}");
    }
    let step = refused("drop.yaml", &["--duration", "0.01", "--step", "0.0005", "--from", "drop.checkpoint"]);
    assert!(step.contains("step_ns"), "{step}");
    let write = refused("drop.yaml", &["--duration", "0.01", "--checkpoint", "missing/folder/file"]);
    assert!(write.contains("missing/folder/file") && write.contains("check the folder"), "{write}");
}
