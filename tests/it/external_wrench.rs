//! External wrenches on bodies: Newton's law and statics are the oracles.

use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Index, Matrix3, ScalarJointIndex, SpatialForce, SpatialInertia, Vector3};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{ForceTorqueSensor, JointCommand, Simulation, StepError, Stepping, UnactuatedInertia};

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
    // a reset takes it away
    simulation.reset();
    simulation.step(&JointCommand::default()).expect("a step");
    assert!(simulation.data().V_WB[body].v.norm() < 1e-12);
}

/// On a block at rest on the ground a horizontal push below mu m g meets as much friction, in both modes and
/// with or without inertia; above it the block moves, and without inertia it has no equilibrium.
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
        // at the height of the ground, so that it does not tip the block
        let low = |f: f64| SpatialForce::new(Vector3::new(0.0, -0.05 * f, 0.0), Vector3::x() * f);
        simulation.set_external_wrench(body, low(0.8 * bound)).expect("a wrench");
        for _ in 0..100 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let contact = simulation.body_wrenches()[body].f;
        let expected = Vector3::new(-0.8 * bound, 0.0, mass * GRAVITY);
        // quasistatic fields settle within 10 nm, on some 1e5 N/m; the dynamic block has come to rest
        assert!((contact - expected).norm() < 1e-2, "{settings:?}: {contact:?} for {expected:?}");
        let moved = (simulation.data().X_WB[body].translation.vector - before).norm();
        assert!(moved < 1e-4, "{settings:?}: {moved} m");
        simulation.set_external_wrench(body, low(1.5 * bound)).expect("a wrench");
        let none = matches!(settings.stepping, Stepping::Quasistatic(q) if q.inertia == UnactuatedInertia::None);
        if none {
            continue; // no equilibrium
        }
        for _ in 0..100 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        assert!(simulation.data().X_WB[body].translation.vector.x - before.x > 1e-3, "{settings:?}: it slides");
    }
}

/// A spring of k holds mass and push: k x = F - m g in both modes; the sensor in the joint measures the
/// opposite of both.
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
            let before = sensor.momentum(&simulation);
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
