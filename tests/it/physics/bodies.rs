//! Bodies and scenes that these tests share.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec, State};
use isobar::scene::{Scene, SceneBuilder};
use isobar::stepping::{JointCommand, JointTarget};

/// Inertia of a homogeneous box about its centre.
pub(super) fn box_inertia(mass: f64, size: &Vector3) -> SpatialInertia {
    let [x, y, z] = [0, 1, 2].map(|i| size[i] * size[i] * mass / 12.0);
    SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&Vector3::new(y + z, x + z, x + y)))
}

/// A rigid material with the friction coefficient `friction`.
pub(super) fn rigid(friction: f64) -> ContactProperties {
    ContactProperties { compliant: Some(false), mu_dynamic: Some(friction), ..ContactProperties::default() }
}

/// A body that slides along `axis` of the world, with a box of `size` about its origin; the joint's zero is
/// at `X_WB`.
pub(super) fn add_pusher(
    builder: &mut SceneBuilder,
    (name, mass): (&str, f64),
    X_WB: RigidTransform,
    axis: Vector3,
    size: Vector3,
    properties: &ContactProperties,
) -> BodyIndex {
    let body = builder.add_body(name, box_inertia(mass, &size));
    let joint = JointSpec::new(&format!("{name}_slide"), BodyIndex::WORLD, body, JointKind::Prismatic);
    builder.add_joint(JointSpec { X_PF: X_WB, axis_F: axis, ..joint }).expect("a joint");
    builder.add_geometry(body, "box", RigidTransform::identity(), Shape::Box { size }, properties).expect("a box");
    body
}

/// The scene, and the state in which its free bodies are at `poses`.
pub(super) fn finish(builder: SceneBuilder, gravity: Vector3, poses: &[RigidTransform]) -> (Arc<Scene>, State) {
    let scene = builder.build(gravity).expect("a scene");
    let mut state = scene.model().default_state();
    for (body, X_WB) in scene.free_bodies().iter().zip(poses) {
        scene.model().set_free_body_pose(&mut state, *body, X_WB);
    }
    (Arc::new(scene), state)
}

/// Efforts of all joints [N m] or [N].
pub(super) fn efforts(efforts: &[f64]) -> JointCommand {
    let target = |effort: &f64| JointTarget { effort: Some(*effort), ..JointTarget::default() };
    efforts.iter().map(target).collect()
}
