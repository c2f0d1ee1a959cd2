//! A scene refuses invalid values with an error and then is unchanged.

use isobar::math::{Index, ScalarJointIndex, Vector3};
use isobar::multibody::ModelError;
use isobar::scene::{Actuator, SceneBuildError, SceneBuilder, SceneChangeError};
use isobar::stepping::{JointCommand, SimulationError, UnactuatedInertia};

use crate::worlds::{Slider, quasistatic, settings, simulate};

const STIFFNESS: f64 = 20.0;

#[test]
fn gains_that_no_impedance_has_are_refused_and_change_nothing() {
    let mut builder = SceneBuilder::new();
    let actuator = Actuator { stiffness: STIFFNESS, ..Actuator::PASSIVE };
    Slider { actuator, ..Slider::of_mass(1.0) }.add(&mut builder, "slider");
    let mut scene = builder.build(Vector3::zeros()).expect("a scene");
    let joint = ScalarJointIndex::from_usize(0);
    for (stiffness, damping, gain) in [
        (-1.0, 0.0, "stiffness"),
        (f64::NAN, 0.0, "stiffness"),
        (1.0, f64::INFINITY, "damping"),
        (1.0, -1.0, "damping"),
    ] {
        let error = scene.set_gains(joint, stiffness, damping).expect_err("gains out of range");
        assert!(matches!(error, SceneChangeError::Gain { gain: named, .. } if named == gain), "{error}");
        assert!(error.to_string().contains(&format!("'{}'", scene.joint_names()[0])), "{error}");
        assert_eq!(scene.actuators()[0], actuator);
    }
    let none = ScalarJointIndex::from_usize(1);
    assert_eq!(scene.set_gains(none, 1.0, 1.0), Err(SceneChangeError::UnknownJoint { joint: 1, count: 1 }));
    scene.set_gains(joint, 0.0, 3.0).expect("gains of a damper");
    assert_eq!(scene.actuators()[0], Actuator { stiffness: 0.0, damping: 3.0, ..actuator });
}

#[test]
fn gravity_that_is_no_number_is_refused_and_changes_nothing() {
    let down = Vector3::new(0.0, 0.0, -9.81);
    let mut scene = SceneBuilder::new().build(down).expect("a scene");
    for component in [f64::NAN, f64::INFINITY] {
        let error = scene.set_gravity(Vector3::new(0.0, component, 0.0)).expect_err("gravity that is not finite");
        assert!(matches!(error, SceneChangeError::Gravity(ModelError::InvalidNumber { .. })), "{error}");
        assert_eq!(*scene.model().gravity_W(), down);
    }
}

#[test]
fn a_refinement_that_is_not_positive_is_refused() {
    let mut builder = SceneBuilder::new();
    for refinement in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = builder.set_refinement(refinement).expect_err("no refinement");
        assert!(matches!(error, SceneBuildError::Refinement { .. }), "{error}");
    }
    builder.set_refinement(2.0).expect("twice as fine");
}

/// A link without inertia is taken by quasistatic steps only: a reset to dynamic steps is refused, and the
/// quasistatic steps go on.
#[test]
fn a_reset_to_steps_with_inertia_needs_mass() {
    let mut builder = SceneBuilder::new();
    let actuator = Actuator { stiffness: STIFFNESS, ..Actuator::PASSIVE };
    Slider { actuator, ..Slider::of_mass(0.0) }.add(&mut builder, "slider");
    let mut simulation = simulate(builder, 0.0, quasistatic(0.01, UnactuatedInertia::None));
    let before = simulation.settings();
    let error = simulation.reset_with(settings(0.001)).expect_err("a slider without mass");
    assert!(matches!(error, SimulationError::Mass(_)), "{error}");
    assert_eq!(simulation.settings(), before);
    simulation.step(&JointCommand::default()).expect("a quasistatic step");
}
