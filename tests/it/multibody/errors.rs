//! Invalid models are refused with the reason, and so are simulations of them.

use std::sync::Arc;

use isobar::math::{BodyIndex, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec, Mimic, ModelBuilder, ModelError};
use isobar::scene::SceneBuilder;
use isobar::stepping::{QuasistaticStepping, Simulation, StepSettings, Stepping};

fn two_bodies() -> (ModelBuilder, BodyIndex, BodyIndex) {
    let mut builder = ModelBuilder::new();
    let ball = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(isobar::math::Matrix3::identity() * 0.1));
    let (a, b) = (builder.add_body("a", ball), builder.add_body("b", SpatialInertia::ZERO));
    (builder, a, b)
}

#[test]
fn a_closed_chain_names_both_joints() {
    let (mut builder, a, b) = two_bodies();
    builder.add_joint(JointSpec::new("first", BodyIndex::WORLD, b, JointKind::Revolute)).unwrap();
    let error = builder.add_joint(JointSpec::new("second", a, b, JointKind::Revolute)).unwrap_err();
    assert_eq!(
        error,
        ModelError::TwoParents { body: "b".to_owned(), first: "first".to_owned(), second: "second".to_owned() }
    );
}

#[test]
fn a_ring_is_found() {
    let (mut builder, a, b) = two_bodies();
    builder.add_joint(JointSpec::new("ab", a, b, JointKind::Revolute)).unwrap();
    builder.add_joint(JointSpec::new("ba", b, a, JointKind::Revolute)).unwrap();
    assert!(matches!(builder.build(Vector3::zeros()), Err(ModelError::Ring { .. })));
}

#[test]
fn axes_numbers_and_names_are_checked() {
    let (mut builder, a, b) = two_bodies();
    let spec = JointSpec::new("j", BodyIndex::WORLD, a, JointKind::Prismatic);
    let flat = JointSpec { axis_F: Vector3::new(0.0, 1e-10, 0.0), ..spec.clone() };
    assert!(matches!(builder.add_joint(flat), Err(ModelError::ZeroAxis { .. })));
    let nan = JointSpec { damping: f64::NAN, ..spec.clone() };
    assert!(matches!(builder.add_joint(nan), Err(ModelError::InvalidNumber { what: "damping", .. })));
    builder.add_joint(spec.clone()).unwrap();
    assert!(matches!(builder.add_joint(JointSpec { child: b, ..spec }), Err(ModelError::DuplicateJoint { .. })));
    builder.add_body("a", SpatialInertia::ZERO);
    assert!(matches!(builder.build(Vector3::zeros()), Err(ModelError::DuplicateBody { .. })));
}

#[test]
fn mimics_need_a_scalar_leader_outside_a_circle() {
    let build = |leader: &str, of_a: Option<&str>, kind_of_a: JointKind| {
        let (mut builder, a, b) = two_bodies();
        let mimic = |joint: &str| Mimic { joint: joint.to_owned(), multiplier: 1.0, offset: 0.0 };
        let first = JointSpec::new("first", BodyIndex::WORLD, a, kind_of_a);
        builder.add_joint(JointSpec { mimic: of_a.map(mimic), ..first }).unwrap();
        let second = JointSpec::new("second", a, b, JointKind::Revolute);
        builder.add_joint(JointSpec { mimic: Some(mimic(leader)), ..second }).unwrap();
        builder.build(Vector3::zeros()).map(|model| model.nv())
    };
    assert_eq!(build("first", None, JointKind::Revolute), Ok(1));
    assert!(matches!(build("nobody", None, JointKind::Revolute), Err(ModelError::MimicUnknown { .. })));
    assert!(matches!(build("first", None, JointKind::Planar), Err(ModelError::MimicNotScalar { dofs: 3, .. })));
    assert!(matches!(build("first", Some("second"), JointKind::Revolute), Err(ModelError::MimicCircle { .. })));
}

#[test]
fn a_massless_leaf_is_named() {
    let (mut builder, a, b) = two_bodies();
    builder.add_joint(JointSpec::new("tip", a, b, JointKind::Revolute)).unwrap();
    let error = builder.build(Vector3::zeros()).unwrap().check_mass().unwrap_err();
    assert_eq!(error, ModelError::Massless { body: "b".to_owned(), joint: "tip".to_owned(), mass: 0.0 });
}

/// Only dynamic steps need the mass of each motion; a quasistatic one has the stiffness of the actuator.
#[test]
fn a_dynamic_simulation_of_a_massless_leaf_is_refused() {
    let mut builder = SceneBuilder::new();
    let tip = builder.add_body("tip", SpatialInertia::ZERO);
    builder.add_joint(JointSpec::new("wrist", BodyIndex::WORLD, tip, JointKind::Revolute)).unwrap();
    let scene = Arc::new(builder.build(Vector3::zeros()).unwrap());
    let simulation = |stepping| {
        let settings = StepSettings { stepping, ..StepSettings::default() };
        Simulation::new(scene.clone(), scene.model().default_state(), settings).map(drop)
    };
    let error = simulation(Stepping::default()).unwrap_err();
    assert!(error.to_string().contains("'wrist'") && error.to_string().contains("'tip'"), "{error}");
    simulation(Stepping::Quasistatic(QuasistaticStepping::default())).unwrap();
}
