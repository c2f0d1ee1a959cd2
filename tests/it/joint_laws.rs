//! Closed forms of actuators, limits, friction and couplings.

use std::sync::Arc;

use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, Mimic};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{JointCommand, JointTarget, Simulation, Snapshot, StepError};

use crate::worlds::{GRAVITY, Slider, run, settings, simulate};

fn command(target: JointTarget) -> JointCommand {
    JointCommand::from_iter([target])
}

fn position(position: f64) -> JointCommand {
    command(JointTarget { position: Some(position), ..JointTarget::default() })
}

fn effort(effort: f64) -> JointCommand {
    command(JointTarget { effort: Some(effort), ..JointTarget::default() })
}

/// An impedance holds its load at the sag m g / K, stably, with a step ten times longer than the natural
/// period over 2 pi, which no explicit scheme allows.
#[test]
fn stiff_impedance_is_stable_and_sags_by_the_load() {
    let actuator = Actuator { stiffness: 1e6, damping: 1e3, ..Actuator::PASSIVE };
    let mut simulation = Slider { actuator, ..Slider::of_mass(1.0) }.simulation(GRAVITY, settings(1e-2));
    run(&mut simulation, &position(0.3), 1.0);
    let sag = 0.3 - simulation.state().q[0];
    assert!((sag - GRAVITY / 1e6).abs() < 1e-9, "sag {sag:e} m");
}

/// Without any command the impedance holds the joint at its start.
#[test]
fn uncommanded_impedance_holds_its_start() {
    let actuator = Actuator { stiffness: 1e6, damping: 1e3, gravity_compensation: true, ..Actuator::PASSIVE };
    let mut simulation = Slider { actuator, ..Slider::of_mass(1.0) }.simulation(GRAVITY, settings(1e-3));
    run(&mut simulation, &JointCommand::default(), 0.5);
    assert!(simulation.state().q[0].abs() < 1e-12, "{:?}", simulation.state());
}

/// The effort limit bounds the impedance: a mass far from its goal accelerates with limit / m.
#[test]
fn effort_limit_bounds_the_impedance() {
    let actuator = Actuator { stiffness: 1e6, damping: 10.0, effort_limit: 3.0, ..Actuator::PASSIVE };
    let mut simulation = Slider { actuator, ..Slider::of_mass(2.0) }.simulation(0.0, settings(1e-3));
    run(&mut simulation, &position(1e3), 0.2);
    assert!((simulation.state().v[0] - 0.2 * 3.0 / 2.0).abs() < 1e-9);
}

/// A velocity command reaches its speed, to the solver's tolerance of 1e-7.
#[test]
fn velocity_command_is_tracked() {
    let actuator = Actuator { damping: 100.0, ..Actuator::PASSIVE };
    let mut simulation = Slider { actuator, ..Slider::of_mass(1.0) }.simulation(0.0, settings(1e-3));
    run(&mut simulation, &command(JointTarget { velocity: Some(0.7), ..JointTarget::default() }), 0.5);
    assert!((simulation.state().v[0] - 0.7).abs() < 1e-6);
}

/// A falling slider stops at its limit: below it only by the near-rigid compliance, and without a rebound.
#[test]
fn joint_limits_hold() {
    let limits = JointLimits { lower: -0.1, upper: 0.05, ..JointLimits::default() };
    let mut simulation = Slider { limits, ..Slider::of_mass(1.0) }.simulation(GRAVITY, settings(1e-3));
    for _ in 0..1000 {
        run(&mut simulation, &JointCommand::default(), 1e-3);
        assert!(simulation.state().q[0] > -0.1 - 1e-5, "{:?}", simulation.state());
    }
    assert!((simulation.state().q[0] + 0.1).abs() < 1e-5, "{:?}", simulation.state());
    run(&mut simulation, &effort(100.0), 1.0);
    assert!((simulation.state().q[0] - 0.05).abs() < 1e-5, "{:?}", simulation.state());
}

/// A falling slider exceeds its velocity limit of 1 m/s after the time of 1 m/s over g, and is named from
/// then on. A limit of 0 counts as none.
#[test]
fn a_joint_above_its_velocity_limit_is_named() {
    for (velocity, named) in [(1.0, true), (0.0, false), (f64::INFINITY, false)] {
        let limits = JointLimits { velocity, ..JointLimits::default() };
        let mut simulation = Slider { limits, ..Slider::of_mass(1.0) }.simulation(GRAVITY, settings(1e-3));
        for _ in 0..200 {
            run(&mut simulation, &JointCommand::default(), 1e-3);
            let fast = simulation.fast_joint();
            assert_eq!(fast.is_some(), named && simulation.state().v[0].abs() > 1.0, "{velocity}: {fast:?}");
            let Some(fast) = fast else { continue };
            assert_eq!((fast.name(), fast.limit(), fast.speed()), ("slider", 1.0, simulation.state().v[0].abs()));
            assert!(fast.to_string().contains("`slider` moves at"), "{fast}");
        }
        assert_eq!(simulation.fast_joint().is_some(), named);
    }
}

/// Dry friction balances a smaller force, and reduces a larger one by its bound.
#[test]
fn dry_joint_friction() {
    let slider = Slider { friction: 2.0, ..Slider::of_mass(1.0) };
    let mut simulation = slider.simulation(0.0, settings(1e-3));
    run(&mut simulation, &effort(1.9), 0.5);
    assert!(simulation.state().v[0].abs() < 1e-6);
    run(&mut simulation, &effort(5.0), 0.5);
    assert!((simulation.state().v[0] - 1.5).abs() < 1e-5);
}

/// A mimic joint follows q = m q_leader + c, and loads its leader with m^2 of its own mass.
#[test]
fn mimic_joint_follows_and_loads_its_leader() {
    let mut builder = SceneBuilder::new();
    Slider::of_mass(1.0).add(&mut builder, "leader");
    let inertia = SpatialInertia::from_central(0.5, &Vector3::zeros(), &(Matrix3::identity() * 1e-3));
    let child = builder.add_body("follower_body", inertia);
    builder
        .add_joint(JointSpec {
            mimic: Some(Mimic { joint: "leader".to_owned(), multiplier: -2.0, offset: 0.0 }),
            ..JointSpec::new("follower", BodyIndex::WORLD, child, JointKind::Prismatic)
        })
        .expect("a joint");
    let mut simulation = simulate(builder, 0.0, settings(1e-3));
    let target = JointTarget { effort: Some(3.0), ..JointTarget::default() };
    run(&mut simulation, &JointCommand::from_iter([target, JointTarget::default()]), 0.5);
    let state = simulation.state();
    let law = 0.5 * 3.0 / (1.0 + 4.0 * 0.5);
    assert!((state.v[0] - law).abs() < 1e-9 * law, "{state:?}");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    assert_eq!(snapshot.joint_position.as_slice()[1], -2.0 * snapshot.joint_position.as_slice()[0]);
    assert_eq!(snapshot.joint_velocity.as_slice()[1], -2.0 * snapshot.joint_velocity.as_slice()[0]);
}

/// Springs of 1000 N/m that pull a joint of 0.1 kg to 0.03 m and to 0 meet in the middle, and each step
/// converges: at rest their impulses of 0.015 N s cancel, and rounding is measured beside these, not beside
/// their sum. The springs belong to a joint and its mimic. The motion is critically damped with a time
/// constant of 0.01 s, of which nothing is left after 2 s.
#[test]
fn springs_that_oppose_each_other_converge() {
    let actuator = Actuator { stiffness: 1000.0, damping: 20.0, effort_limit: 200.0, ..Actuator::PASSIVE };
    for (multiplier, goal) in [(1.0, 0.03), (-1.0, 0.03), (1.0, 0.1 / 3.0)] {
        let mut builder = SceneBuilder::new();
        Slider { actuator, ..Slider::of_mass(0.1) }.add(&mut builder, "leader");
        let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
        let child = builder.add_body("follower_body", inertia);
        let follower = builder
            .add_joint(JointSpec {
                mimic: Some(Mimic { joint: "leader".to_owned(), multiplier, offset: 0.0 }),
                ..JointSpec::new("follower", BodyIndex::WORLD, child, JointKind::Prismatic)
            })
            .expect("a joint");
        builder.set_actuator(follower, actuator);
        let mut simulation = simulate(builder, 0.0, settings(1e-3));
        let target = JointTarget { position: Some(goal), ..JointTarget::default() };
        run(&mut simulation, &JointCommand::from_iter([target, JointTarget::default()]), 2.0);
        let q = simulation.state().q[0];
        assert!((q - 0.5 * goal).abs() < 1e-12, "{q}");
    }
}

/// A finger that its actuator presses against its limit comes to rest, and each step converges.
#[test]
fn an_actuator_against_a_limit_converges() {
    let actuator = Actuator { stiffness: 1000.0, damping: 20.0, ..Actuator::PASSIVE };
    let limits = JointLimits { lower: 0.0, upper: 0.01, ..JointLimits::default() };
    let mut simulation = Slider { actuator, limits, ..Slider::of_mass(0.1) }.simulation(0.0, settings(1e-3));
    run(&mut simulation, &position(0.03), 2.0);
    assert!((simulation.state().q[0] - 0.01).abs() < 1e-5, "{:?}", simulation.state());
}

/// A command that is not a number, or of the wrong length, is refused and the state stays.
#[test]
fn malformed_commands_are_refused() {
    let mut simulation = Slider::of_mass(1.0).simulation(GRAVITY, settings(1e-3));
    run(&mut simulation, &JointCommand::default(), 0.01);
    let before = simulation.state().clone();
    assert!(matches!(simulation.step(&effort(f64::NAN)), Err(StepError::CommandNotFinite { .. })));
    let two = JointCommand::for_joints(2);
    assert!(matches!(simulation.step(&two), Err(StepError::CommandLength { given: 2, expected: 1 })));
    assert_eq!(*simulation.state(), before);
    run(&mut simulation, &JointCommand::default(), 0.01);
}

/// A body without mass on a moving joint is refused when the simulation is made, with the joint's name.
#[test]
fn singular_mass_is_an_error_with_a_name() {
    let mut builder = SceneBuilder::new();
    Slider::of_mass(0.0).add(&mut builder, "slider");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let state = scene.model().default_state();
    let error = Simulation::new(scene, state, settings(1e-3)).expect_err("no mass");
    assert!(error.to_string().contains("joint 'slider'"), "{error}");
}
