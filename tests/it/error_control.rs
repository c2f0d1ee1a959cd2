//! Laws of steps with error control: the tolerance, the number of solves, the times, checkpoints.

mod rest;

use std::sync::Arc;

use isobar::contact::{ContactProperties, FaceFriction};
use isobar::geometry::Shape;
use isobar::io::{package::PackageMap, scene_file};
use isobar::math::{BodyIndex, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::scene::{Actuator, Scene};
use isobar::stepping::{
    Checkpoint, ContactScheme, DynamicStepping, ErrorControl, JointCommand, JointTarget, Simulation, Snapshot,
    StepSettings, Stepping,
};

use crate::worlds::{GRAVITY, Slider, at, body_on_ground, compliant};

/// The step of the simulation with error control \[ns\].
const EVERY_NS: u64 = 10_000_000;

struct Fall {
    scene: Arc<Scene>,
    initial: State,
    body: BodyIndex,
    /// \[ns\]
    end_ns: u64,
}

/// A compliant box falls on an edge and comes to rest.
fn box_drop() -> Fall {
    let properties = ContactProperties { mesh_resolution_hint: Some(0.05), ..compliant(1e6, 10.0, 0.5) };
    let moments = Vector3::new(2.2e-4, 4.8e-4, 5.7e-4);
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let shape = Shape::Box { size: Vector3::new(0.1, 0.06, 0.04) };
    let (scene, mut initial, body) = body_on_ground(shape, 0.5, moments, &properties, gravity);
    let turned = nalgebra::UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.1, 0.0));
    let pose = at(0.0, 0.0, 0.06) * isobar::math::RigidTransform::from_parts(Vector3::zeros().into(), turned.into());
    scene.model().set_free_body_pose(&mut initial, body, &pose);
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.2, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut initial, body, &V);
    Fall { scene, initial, body, end_ns: 300_000_000 }
}

/// A coin that slides and spins until it rests.
fn coin() -> Fall {
    let (mass, radius, length) = (0.01, 0.02, 0.002);
    let across = mass * (3.0 * radius * radius + length * length) / 12.0;
    let moments = Vector3::new(across, across, 0.5 * mass * radius * radius);
    let properties = ContactProperties { mesh_resolution_hint: Some(0.01), ..compliant(1e7, 1.0, 0.3) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let shape = Shape::Cylinder { radius, length };
    let (scene, mut initial, body) = body_on_ground(shape, mass, moments, &properties, gravity);
    scene.model().set_free_body_pose(&mut initial, body, &at(0.0, 0.0, 0.5 * length - 1e-8));
    let V = SpatialVelocity::new(Vector3::new(0.0, 0.0, 20.0), Vector3::new(0.5, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut initial, body, &V);
    Fall { scene, initial, body, end_ns: 300_000_000 }
}

/// A rigid box that slides and falls takes controlled steps with every contact scheme. The matrix of `tamsi`
/// is not symmetric: with half of it the run ended in a matrix without a factor.
#[test]
fn every_contact_scheme_takes_controlled_steps() {
    let (mass, size) = (0.2, Vector3::new(0.1, 0.06, 0.03));
    let squares = size.component_mul(&size) * (mass / 12.0);
    let moments = Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y);
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let properties =
        ContactProperties { compliant: Some(false), mu_dynamic: Some(0.6), ..ContactProperties::default() };
    let (scene, mut initial, body) = body_on_ground(Shape::Box { size }, mass, moments, &properties, gravity);
    let turned = nalgebra::UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1);
    let pose = at(0.0, 0.0, 0.06) * isobar::math::RigidTransform::from_parts(Vector3::zeros().into(), turned.into());
    scene.model().set_free_body_pose(&mut initial, body, &pose);
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.5, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut initial, body, &V);
    for scheme in [ContactScheme::Lagged, ContactScheme::Coupled, ContactScheme::Tamsi] {
        let with = StepSettings { face_friction: FaceFriction::Centroid, ..settings(EVERY_NS, Some(1e-4)) };
        let Stepping::Dynamic(options) = with.stepping else { panic!("dynamic steps") };
        let with = StepSettings { stepping: Stepping::Dynamic(DynamicStepping { scheme, ..options }), ..with };
        let mut simulation = Simulation::new(scene.clone(), initial.clone(), with).expect("a simulation");
        for _ in 0..30 {
            let step = simulation.step(&JointCommand::default());
            step.unwrap_or_else(|error| panic!("{}: {error}", scheme.name()));
        }
        let height = simulation.data().X_WB[body].translation.vector.z;
        assert!((0.014..0.05).contains(&height), "{}: {height}", scheme.name());
    }
}

fn settings(step_ns: u64, tolerance: Option<f64>) -> StepSettings {
    let error_control = tolerance.map(|tolerance| ErrorControl { tolerance });
    let options = DynamicStepping { error_control, ..DynamicStepping::default() };
    StepSettings { step_ns, stepping: Stepping::Dynamic(options), ..StepSettings::default() }
}

/// Position of the body, and the x component of its z axis, every 10 ms; and the number of solves.
fn run(fall: &Fall, settings: StepSettings) -> (Vec<[f64; 4]>, u64) {
    let mut simulation = Simulation::new(fall.scene.clone(), fall.initial.clone(), settings).expect("a simulation");
    let (mut path, mut solves) = (Vec::new(), 0);
    while simulation.time_ns() < fall.end_ns {
        let report = simulation.step(&JointCommand::default()).expect("a step");
        solves += u64::from(report.solves);
        if simulation.time_ns().is_multiple_of(EVERY_NS) {
            let X = simulation.data().X_WB[fall.body];
            let p = X.translation.vector;
            path.push([p.x, p.y, p.z, X.rotation.matrix()[(0, 2)]]);
        }
    }
    (path, solves)
}

/// The largest difference in a position \[m\] or direction [-].
fn difference(a: &[[f64; 4]], b: &[[f64; 4]]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Positions are within the tolerance during the whole run, and the fixed step with the same error needs more
/// solves. Oracle: fixed steps of 40 and 20 us, extrapolated to 0; they are of first order.
#[test]
fn error_control_meets_its_tolerance_with_fewer_solves_than_fixed_steps() {
    let tolerance = 1e-3;
    for (name, fall) in [("box", box_drop()), ("coin", coin())] {
        let [coarse, fine] = [40_000, 20_000].map(|step_ns| run(&fall, settings(step_ns, None)).0);
        let mut reference = fine;
        let all = reference.iter_mut().flatten().zip(coarse.iter().flatten());
        all.for_each(|(fine, coarse)| *fine += *fine - coarse);
        let (finest, steps) = run(&fall, settings(50_000, None));
        let (path, solves) = run(&fall, settings(EVERY_NS, Some(tolerance)));
        let error = difference(&path, &reference);
        // On the law of first order
        let equal = difference(&finest, &reference) * steps as f64 / error;
        println!(
            "{name}, tolerance {tolerance:.0e}: error {error:.2e} in {solves} solves; {equal:.0} fixed steps have it"
        );
        assert!(error <= tolerance, "{name}: {error:e} with {tolerance:e}");
        assert!((solves as f64) < equal, "{name}: {solves} instead of {equal} fixed steps");
    }
}

/// The same input gives the same bits, and a run that continues from a checkpoint has the bits of the run
/// that was saved: the length of the next part is part of it. Times are whole steps of the simulation.
#[test]
fn runs_with_error_control_repeat_their_bits_and_continue_from_checkpoints() {
    let fall = box_drop();
    let controlled = settings(EVERY_NS, Some(1e-4));
    let new = || Simulation::new(fall.scene.clone(), fall.initial.clone(), controlled).expect("a simulation");
    let bits = |simulation: &Simulation| {
        let State { q, v } = simulation.state();
        q.iter().chain(v).map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    let (mut first, mut second) = (new(), new());
    let mut parts = 0;
    for step in 1..=12 {
        let report = first.step(&JointCommand::default()).expect("a step");
        assert_eq!(report, second.step(&JointCommand::default()).expect("a step"));
        assert_eq!(first.time_ns(), step * EVERY_NS);
        parts = parts.max(report.parts);
    }
    assert!(parts > 4 && bits(&first) == bits(&second), "{parts} parts at most");
    let saved = Checkpoint::from_bytes(&first.save().to_bytes()).expect("a checkpoint");
    let mut third = new();
    third.restore(&saved).expect("to restore");
    for _ in 0..12 {
        first.step(&JointCommand::default()).expect("a step");
        third.step(&JointCommand::default()).expect("a step");
    }
    assert_eq!(bits(&first), bits(&third));
}

/// The mean contact force of a step with error control changes the momentum: m dv = (F - m g) dt.
///
/// Tolerance: extrapolation changes the velocity by the error of a part, 1e-4 m in 0.1 s each.
#[test]
fn the_mean_force_of_the_parts_is_the_change_of_momentum() {
    let fall = box_drop();
    let mut simulation = Simulation::new(fall.scene.clone(), fall.initial.clone(), settings(EVERY_NS, Some(1e-5)))
        .expect("a simulation");
    let (mut parts, mut pushed) = (0, 0.0_f64);
    for _ in 0..30 {
        let before = simulation.data().V_WB[fall.body].v;
        parts = simulation.step(&JointCommand::default()).expect("a step").parts;
        let change = simulation.data().V_WB[fall.body].v - before;
        let force = simulation.body_wrenches()[fall.body].f;
        let expected = (force / 0.5 - Vector3::z() * GRAVITY) * 1e-2;
        assert!((change - expected).norm() < f64::from(parts) * 1e-4, "{change} instead of {expected}");
        pushed = pushed.max(force.z);
    }
    assert!(pushed > 10.0 && parts > 0, "{pushed} N");
}

/// A step that fails after many good parts changes nothing: neither state, loads, efforts and report nor the
/// steps that follow. The effort makes the speed overflow after 7.2 ms.
#[test]
fn a_step_that_fails_leaves_the_results_of_the_last_good_one() {
    let slider = Slider { actuator: Actuator::PASSIVE, ..Slider::of_mass(4e-3) };
    let mut simulation = slider.simulation(0.0, settings(EVERY_NS, Some(1e-4)));
    let push = |effort: f64| -> JointCommand {
        [JointTarget { effort: Some(effort), ..JointTarget::default() }].into_iter().collect()
    };
    simulation.step(&push(1.0)).expect("a step");
    let mut other = simulation.clone();
    let (mut before, mut after) = (Snapshot::default(), Snapshot::default());
    simulation.snapshot_into(&mut before);
    let report = *simulation.report();
    assert_eq!(before.joint_effort.as_slice(), [1.0]);
    simulation.step(&push(1e308)).expect_err("a speed that overflows");
    simulation.snapshot_into(&mut after);
    assert_eq!(before.joint_effort, after.joint_effort);
    assert_eq!(before.A_WB, after.A_WB);
    assert_eq!((report, simulation.state()), (*simulation.report(), other.state()));
    for _ in 0..3 {
        let again = simulation.step(&push(1.0)).expect("a step");
        assert_eq!((again, simulation.state()), (other.step(&push(1.0)).expect("a step"), other.state()));
    }
}

/// The forces of the faces are those of the last solve, although the state goes on from there by
/// extrapolation: their sum is the net force.
#[test]
fn face_forces_sum_to_the_net_force() {
    let fall = coin();
    let mut simulation = Simulation::new(fall.scene.clone(), fall.initial.clone(), settings(EVERY_NS, Some(1e-3)))
        .expect("a simulation");
    let mut snapshot = Snapshot::default();
    for _ in 0..15 {
        simulation.step(&JointCommand::default()).expect("a step");
        simulation.snapshot_into(&mut snapshot);
        let [patch] = snapshot.contact_patches() else { panic!("{:?}", snapshot.contact_patches().len()) };
        let sum: Vector3 = patch.faces.force_B_W.iter().sum();
        assert!((sum - patch.F_BC_W.f).norm() < 1e-9 * patch.F_BC_W.f.norm(), "{sum} instead of {}", patch.F_BC_W.f);
    }
}

/// The key of scene files, its default and the modes that refuse it.
#[test]
fn scene_files_state_a_tolerance_in_place_of_a_step() {
    let folder = std::env::temp_dir().join(format!("isobar-tolerance-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let load = |text: &str| {
        let file = folder.join("scene.yaml");
        let scene = "models: [{ name: box, box: [0.1, 0.1, 0.1], mass: 1, free: { xyz: [0, 0, 0.1] } }]\nground: {}\n";
        std::fs::write(&file, format!("{scene}{text}\n")).expect("a file");
        scene_file::load(&file, &PackageMap::new())
    };
    let loaded = load("step: { tolerance: 1e-4 }").expect("a scene");
    assert_eq!(loaded.settings.step_ns, EVERY_NS);
    assert_eq!(loaded.dynamic.error_control, Some(ErrorControl { tolerance: 1e-4 }));
    let every = load("step: { tolerance: 1e-4, every: 0.002 }").expect("a scene");
    assert_eq!(every.settings.step_ns, 2_000_000);
    assert_eq!(load("step: 0.001").expect("a scene").dynamic.error_control, None);
    // Shorter than the shortest part of a longer step
    let shortest = load("step: { tolerance: 1e-4, every: 1e-6 }").expect("a scene");
    let (mut simulation, command) = (shortest.simulation().expect("a simulation"), JointCommand::new(&shortest.scene));
    for _ in 0..3 {
        simulation.step(&command).expect("a step");
    }
    for (text, way_out) in [
        ("step: { every: 0.01 }", "tolerance: 1e-4"),
        ("step: { tolerance: 0 }", "tolerance"),
        ("stepping: spook\nstep: { tolerance: 1e-4 }", "stepping: dynamic"),
    ] {
        let error = load(text).expect_err(text);
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let message = format!("{error}: {}", source.unwrap_or_default());
        assert!(message.contains(way_out), "{text}\n{message}\nexpected: {way_out}");
    }
    std::fs::remove_dir_all(&folder).expect("to remove the folder");
}
