//! Velocity limits of joints, enforced in dynamic steps.

use std::sync::Arc;

use isobar::math::{BodyIndex, Vector3};
use isobar::multibody::{JointLimits, JointSpec, Mimic};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{DynamicStepping, JointCommand, JointTarget, Simulation, StepSettings, Stepping};

use crate::worlds::{GRAVITY, Slider, settings, simulate};

fn enforced(step: f64) -> StepSettings {
    let options = DynamicStepping { enforce_velocity_limit: true, ..DynamicStepping::default() };
    StepSettings { stepping: Stepping::Dynamic(options), ..settings(step) }
}

fn limited(velocity: f64) -> JointLimits {
    JointLimits { velocity, ..JointLimits::default() }
}

/// Closed form: a slider of 2 kg falls freely up to its limit of 1 m/s, and then at 1 m/s under an impulse of
/// m g h in each step. A limit of 0 and none at all do not act.
///
/// Tolerance: a limit is exceeded by 1e-6 of the change of velocity that it prevents, g h = 0.1 m/s at most.
#[test]
fn a_falling_slider_keeps_its_velocity_limit() {
    let mass = 2.0;
    for step in [1e-3, 1e-2] {
        for velocity in [1.0, 0.0, f64::INFINITY] {
            let slider = Slider { limits: limited(velocity), ..Slider::of_mass(mass) };
            let mut simulation = slider.simulation(GRAVITY, enforced(step));
            for number in 1..=(0.3 / step).round() as u32 {
                simulation.step(&JointCommand::default()).expect("a step");
                let (free, v) = (-GRAVITY * step * f64::from(number), simulation.state().v[0]);
                let acts = velocity == 1.0 && free < -1.0;
                assert!((v - if acts { -1.0 } else { free }).abs() < 1e-6, "{step} s, {velocity}: {v}");
                let joints: Vec<_> = simulation.limited_joints().collect();
                assert_eq!(joints.len(), usize::from(acts), "{step} s, {velocity}: {v} {joints:?}");
                // The first step at the limit takes what is beyond it, and the others m g h
                let excess = (-1.0 - free).min(GRAVITY * step);
                for joint in joints {
                    assert_eq!((joint.name(), joint.limit()), ("slider", 1.0));
                    assert!((joint.impulse() - mass * excess).abs() < 1e-5 * mass, "{joint}: {excess}");
                }
                assert!(simulation.fast_joint().is_none_or(|_| velocity != 1.0), "it is named as too fast");
            }
        }
    }
}

/// A stiff actuator without a limit of its effort drives a slider to a far target: at its velocity limit,
/// both ways. The same limit holds a mimic joint that moves three times as fast as its leader.
#[test]
fn stiff_actuators_do_not_pass_a_velocity_limit() {
    for mimic in [false, true] {
        for stiffness in [200.0, 1e5] {
            let actuator = Actuator { stiffness, damping: 10.0, ..Actuator::PASSIVE };
            let mut builder = SceneBuilder::new();
            let limits = if mimic { JointLimits::default() } else { limited(0.2) };
            Slider { limits, actuator, ..Slider::of_mass(1.0) }.add(&mut builder, "leader");
            if mimic {
                let body = builder.add_body("follower_body", super::bodies::box_inertia(0.1, &Vector3::repeat(0.1)));
                let spec = JointSpec {
                    limits: limited(0.6),
                    mimic: Some(Mimic { joint: "leader".to_owned(), multiplier: 3.0, offset: 0.0 }),
                    ..JointSpec::new("follower", BodyIndex::WORLD, body, isobar::multibody::JointKind::Prismatic)
                };
                builder.add_joint(spec).expect("a joint");
            }
            let mut simulation = simulate(builder, 0.0, enforced(1e-3));
            for (target, direction) in [(1.0, 1.0), (-1.0, -1.0)] {
                let target = JointTarget { position: Some(target), ..JointTarget::default() };
                let command: JointCommand = std::iter::once(target).chain(mimic.then(JointTarget::default)).collect();
                for number in 0..100 {
                    let report = simulation.step(&command).expect("a step");
                    assert!(report.solver_converged, "stiffness {stiffness}, mimic {mimic}, step {number}: {report:?}");
                    let v = simulation.state().v[0];
                    if stiffness > 1e4 || number > 10 {
                        assert!((v - 0.2 * direction).abs() < 2e-4, "mimic {mimic}, step {number}: {v}");
                        assert_eq!(simulation.limited_joints().count(), 1);
                    }
                }
            }
        }
    }
}

/// Without the option a limit does not act.
#[test]
fn a_velocity_limit_is_not_enforced_by_default() {
    let slider = Slider { limits: limited(0.1), ..Slider::of_mass(1.0) };
    let mut builder = SceneBuilder::new();
    slider.add(&mut builder, "slider");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let initial = scene.model().default_state();
    let mut simulation = Simulation::new(scene, initial, settings(1e-2)).expect("a simulation");
    for _ in 0..10 {
        simulation.step(&JointCommand::default()).expect("a step");
    }
    assert!((simulation.state().v[0] + 0.1 * GRAVITY).abs() < 1e-9, "{:?}", simulation.state());
    assert_eq!(simulation.limited_joints().count(), 0);
    assert!(simulation.fast_joint().is_some());
}
