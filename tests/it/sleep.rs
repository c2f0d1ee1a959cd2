//! Bodies that sleep, and what comes near them: bodies that bounce, land and are pushed, and fingers.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::math::{BodyIndex, Index, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{DynamicStepping, JointCommand, Simulation, Sleep, StepSettings, Stepping};

use crate::heap_scene::body;
use crate::worlds::{GRAVITY, at};

const SLEEP: Sleep = Sleep { speed: 1e-3, time: 0.1 };

/// A box (kind 0) or ball (kind 1).
struct Part {
    kind: usize,
    half: [f64; 3],
    mass: f64,
    X_WB: RigidTransform,
    v: [f64; 3],
}

/// Bodies between walls; `slider` is a box on a joint along an axis, whose position is 0 at its pose.
#[derive(Default)]
struct Place {
    parts: Vec<Part>,
    walls: Vec<([f64; 3], [f64; 3])>,
    slider: Option<([f64; 3], RigidTransform, Vector3, Actuator)>,
    gravity: [f64; 3],
    material: ContactProperties,
}

fn material(soft: bool) -> ContactProperties {
    ContactProperties {
        compliant: Some(soft),
        hydroelastic_modulus: soft.then_some(1e7),
        mu_dynamic: Some(0.5),
        ..ContactProperties::default()
    }
}

impl Place {
    fn simulation(&self, step_ns: u64, sleep: Option<Sleep>) -> Simulation {
        let mut builder = SceneBuilder::new();
        let hard = ContactProperties { compliant: Some(false), hydroelastic_modulus: None, ..self.material.clone() };
        for (number, (half, [x, y, z])) in self.walls.iter().enumerate() {
            let shape = body(0, (*half).into()).0;
            builder
                .add_geometry(BodyIndex::WORLD, &format!("wall_{number}"), at(*x, *y, *z), shape, &hard)
                .expect("a wall");
        }
        let mut free = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let (shape, _, moments) = body(part.kind, part.half.into());
            let inertia = inertia(part.mass, moments);
            let index = builder.add_body(&format!("body_{number}"), inertia);
            builder.add_geometry(index, "shape", at(0.0, 0.0, 0.0), shape, &self.material).expect("a geometry");
            free.push((index, part));
        }
        if let Some((half, X_PF, axis_F, actuator)) = &self.slider {
            let (shape, _, moments) = body(0, (*half).into());
            let child = builder.add_body("finger", inertia(0.2, moments));
            builder.add_geometry(child, "shape", at(0.0, 0.0, 0.0), shape, &self.material).expect("a geometry");
            let spec = JointSpec::new("slide", BodyIndex::WORLD, child, JointKind::Prismatic);
            let joint = builder.add_joint(JointSpec { X_PF: *X_PF, axis_F: *axis_F, ..spec }).expect("a joint");
            builder.set_actuator(joint, *actuator);
        }
        let scene = builder.build(self.gravity.into()).expect("a scene");
        let mut state = scene.model().default_state();
        for (index, part) in free {
            scene.model().set_free_body_pose(&mut state, index, &part.X_WB);
            let start = scene.model().free_joint(index).expect("a free body").v_start;
            state.v[start + 3..start + 6].copy_from_slice(&part.v);
        }
        let stepping = Stepping::Dynamic(DynamicStepping { sleep, ..DynamicStepping::default() });
        Simulation::new(Arc::new(scene), state, StepSettings { step_ns, stepping, ..StepSettings::default() })
            .expect("a simulation")
    }
}

fn inertia(mass: f64, moments: Vector3) -> SpatialInertia {
    SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&(mass * moments)))
}

/// The position of the centre of a body, by its number.
fn centre(simulation: &Simulation, number: usize) -> Vector3 {
    simulation.data().X_WB[BodyIndex::from_usize(number + 1)].translation.vector
}

fn is_asleep(simulation: &Simulation, number: usize) -> bool {
    simulation.is_asleep(BodyIndex::from_usize(number + 1))
}

fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.step(&JointCommand::default()).expect("a step");
    }
}

/// A ball that lands 1 mm beside a tall block, which sleeps again when the ball rests, stays on the floor.
#[test]
fn a_ball_lands_beside_a_body_that_sleeps() {
    let block = Part { kind: 0, half: [0.05, 0.05, 0.2], mass: 4.0, X_WB: at(0.0, 0.0, 0.2), v: [0.0; 3] };
    let ball = Part { kind: 1, half: [0.02; 3], mass: 0.03, X_WB: at(0.071, 0.0, 0.48), v: [0.0; 3] };
    let place = Place {
        parts: vec![block, ball],
        walls: vec![([1.0, 1.0, 0.05], [0.0, 0.0, -0.05])],
        gravity: [0.0, 0.0, -GRAVITY],
        material: material(false),
        ..Place::default()
    };
    let mut simulation = place.simulation(1_000_000, Some(SLEEP));
    let (mut slept, mut woke) = (false, false);
    for _ in 0..800 {
        steps(&mut simulation, 1);
        woke |= slept && !is_asleep(&simulation, 0);
        slept |= is_asleep(&simulation, 0);
        let z = centre(&simulation, 1).z;
        assert!(z > 0.0199, "t = {} s: the ball is at z = {z}", simulation.time());
    }
    assert!(slept && woke);
    assert_eq!([0, 1].map(|number| is_asleep(&simulation, number)), [true; 2]);
}

/// A ball between a wall and a heavy body that sleeps bounces back and forth: each bounce wakes the body,
/// which moves by less than the limit, and sleeps when the ball is gone.
#[test]
fn a_ball_bounces_off_a_body_that_sleeps() {
    let block = Part { kind: 0, half: [0.1; 3], mass: 1e4, X_WB: at(0.0, 0.0, 0.0), v: [0.0; 3] };
    let ball = Part { kind: 1, half: [0.02; 3], mass: 0.03, X_WB: at(-0.35, 0.0, 0.0), v: [2.0, 0.0, 0.0] };
    let place = Place {
        parts: vec![block, ball],
        walls: vec![([0.05, 0.5, 0.5], [-0.55, 0.0, 0.0])],
        material: ContactProperties { restitution: Some(1.0), mu_dynamic: Some(0.0), ..material(false) },
        ..Place::default()
    };
    let mut simulation = place.simulation(1_000_000, Some(SLEEP));
    let (mut bounces, mut woke, mut speed) = (0, 0, 2.0);
    for _ in 0..1000 {
        steps(&mut simulation, 1);
        woke += usize::from(!is_asleep(&simulation, 0));
        let now = simulation.state().v[9];
        bounces += usize::from(now * speed < 0.0);
        speed = now;
        // Points react at most one step of the ball's way early or late
        let x = centre(&simulation, 1).x;
        assert!((-0.483..-0.117).contains(&x), "t = {} s: the ball is at x = {x}", simulation.time());
    }
    // 0.36 m in 0.18 s from wall to wall
    assert!((4..=6).contains(&bounces), "{bounces} bounces");
    assert!((100..120).contains(&woke), "awake in {woke} steps, 100 of them at the start");
}

/// A finger presses on a block, which stays awake, and lifts off along its normal; the block then sleeps.
#[test]
fn a_finger_lifts_off_a_body_that_has_been_slow() {
    for soft in [false, true] {
        let block = Part { kind: 0, half: [0.05; 3], mass: 1.0, X_WB: at(0.0, 0.0, 0.05), v: [0.0; 3] };
        let place = Place {
            parts: vec![block],
            walls: vec![([1.0, 1.0, 0.05], [0.0, 0.0, -0.05])],
            gravity: [0.0, 0.0, -GRAVITY],
            material: material(soft),
            slider: Some(([0.02; 3], at(0.0, 0.0, 0.12), Vector3::z(), Actuator::PASSIVE)),
        };
        let mut simulation = place.simulation(1_000_000, Some(SLEEP));
        steps(&mut simulation, 400);
        assert!(!is_asleep(&simulation, 0), "soft: {soft}: it carries the finger");
        let mut command = JointCommand::new(simulation.scene());
        let joint = simulation.scene().joint("slide").expect("the slide");
        command[joint].effort = Some(4.0);
        for _ in 0..50 {
            simulation.step(&command).expect("a step");
        }
        // The effort of 4 N against 1.962 N of weight: v = 0.51 m/s after 50 ms
        let v = simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(*v));
        assert!((v - 0.05 * (4.0 - 0.2 * GRAVITY) / 0.2).abs() < 0.03, "soft: {soft}: {v} m/s");
        assert!(is_asleep(&simulation, 0), "soft: {soft}");
    }
}

/// A body that drifts slowly falls asleep and stops. When a finger reaches its neighbour within a step, both
/// wake, and the body still does not move: nothing acts on it.
#[test]
fn a_body_that_wakes_within_a_step_starts_from_rest() {
    let plate = Part { kind: 0, half: [0.004, 0.05, 0.05], mass: 0.5, X_WB: at(0.05, 0.0, 0.0), v: [0.0; 3] };
    let drifting = Part { X_WB: at(0.05, 0.102, 0.0), v: [0.0, 5e-4, 0.0], ..plate };
    let place = Place {
        parts: vec![plate, drifting],
        material: material(true),
        slider: Some(([0.02; 3], at(0.0, 0.0, 0.0), Vector3::x(), Actuator { damping: 1e4, ..Actuator::PASSIVE })),
        ..Place::default()
    };
    let mut simulation = place.simulation(10_000_000, Some(SLEEP));
    steps(&mut simulation, 20);
    assert!([0, 1].iter().all(|number| is_asleep(&simulation, *number)));
    let (before, mut command) = (centre(&simulation, 1), JointCommand::new(simulation.scene()));
    let joint = simulation.scene().joint("slide").expect("the slide");
    command[joint].velocity = Some(10.0);
    for _ in 0..10 {
        simulation.step(&command).expect("a step");
        if !is_asleep(&simulation, 0) {
            break;
        }
    }
    assert!([0, 1].iter().all(|number| !is_asleep(&simulation, *number)));
    assert_eq!(centre(&simulation, 1), before);
    let [hit, rests] = [0, 1].map(|number| simulation.data().V_WB[BodyIndex::from_usize(number + 1)]);
    assert!(hit.v.x > 1.0, "the plate moves with {}", hit.v.x);
    assert_eq!(rests.v, Vector3::zeros());
}

/// A body that is hit within a step reaches a thin plate that sleeps and was too far away to touch; and so
/// does a finger whose velocity command is stiff. The plate acts as one that never slept.
#[test]
fn a_body_pushed_within_a_step_wakes_what_it_reaches() {
    for soft in [false, true] {
        let cube =
            |x: f64, v: f64| Part { kind: 0, half: [0.02; 3], mass: 0.5, X_WB: at(x, 0.0, 0.0), v: [v, 0.0, 0.0] };
        let plate = |x: f64| Part { kind: 0, half: [0.004, 0.05, 0.05], mass: 0.5, X_WB: at(x, 0.0, 0.0), v: [0.0; 3] };
        // 3 mm from cube to plate; the other cube arrives after 0.15 s
        let place = Place {
            parts: vec![plate(0.027), cube(0.0, 0.0), cube(-3.045, 20.0)],
            material: material(soft),
            ..Place::default()
        };
        let run = |sleep: Option<Sleep>| {
            let mut simulation = place.simulation(1_000_000, sleep);
            steps(&mut simulation, 140);
            assert_eq!(is_asleep(&simulation, 0), sleep.is_some());
            steps(&mut simulation, 20);
            simulation
        };
        let (awake, woken) = (run(None), run(Some(SLEEP)));
        let momentum: f64 = [3, 9, 15].map(|dof| 0.5 * woken.state().v[dof]).iter().sum();
        assert!((momentum - 10.0).abs() < 1e-6, "soft: {soft}: {momentum} N s");
        assert!(woken.state().v[3] > 5.0, "soft: {soft}: the plate moves with {}", woken.state().v[3]);
        assert_eq!(awake.state(), woken.state(), "soft: {soft}");

        let actuator = Actuator { damping: 1e4, ..Actuator::PASSIVE };
        let place = Place {
            parts: vec![plate(0.05)],
            material: material(soft),
            slider: Some(([0.02; 3], at(0.0, 0.0, 0.0), Vector3::x(), actuator)),
            ..Place::default()
        };
        let run = |sleep: Option<Sleep>| {
            let mut simulation = place.simulation(10_000_000, sleep);
            steps(&mut simulation, 20);
            assert_eq!(is_asleep(&simulation, 0), sleep.is_some());
            let mut command = JointCommand::new(simulation.scene());
            let joint = simulation.scene().joint("slide").expect("the slide");
            command[joint].velocity = Some(10.0);
            for _ in 0..5 {
                simulation.step(&command).expect("a step");
            }
            simulation
        };
        let (awake, woken) = (run(None), run(Some(SLEEP)));
        let [plate, finger] = [0, 1].map(|number| centre(&woken, number).x);
        assert!(plate - finger > 0.015, "soft: {soft}: the plate at {plate}, the finger at {finger}");
        assert_eq!(awake.state(), woken.state(), "soft: {soft}");
    }
}

/// A box that sleeps on a slope of 20 degrees keeps its friction when a run continues from a checkpoint, and
/// `is_asleep` tells the same.
#[test]
fn a_body_that_sleeps_on_a_slope_keeps_its_friction() {
    for soft in [false, true] {
        let (sin, cos) = 20.0_f64.to_radians().sin_cos();
        let place = Place {
            parts: vec![Part { kind: 0, half: [0.05; 3], mass: 1.0, X_WB: at(0.0, 0.0, 0.05), v: [0.0; 3] }],
            walls: vec![([1.0, 1.0, 0.05], [0.0, 0.0, -0.05])],
            gravity: [GRAVITY * sin, 0.0, -GRAVITY * cos],
            material: material(soft),
            ..Place::default()
        };
        let mut simulation = place.simulation(1_000_000, Some(SLEEP));
        steps(&mut simulation, 400);
        assert!(is_asleep(&simulation, 0), "soft: {soft}");
        let mut continued = place.simulation(1_000_000, Some(SLEEP));
        continued.restore(&simulation.save()).expect("a checkpoint");
        assert!(is_asleep(&continued, 0), "soft: {soft}: before the first step");
        for run in [&mut simulation, &mut continued] {
            steps(run, 2);
            let force = run.body_wrenches()[BodyIndex::from_usize(1)].f;
            let due = -Vector3::from(place.gravity);
            // Rest is reached within the tolerance of friction, 1 %
            assert!((force - due).norm() < 0.02 * GRAVITY, "soft: {soft}: {force:?} instead of {due:?}");
        }
        assert_eq!(continued.state(), simulation.state());
    }
}
