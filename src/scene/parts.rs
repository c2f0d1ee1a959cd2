//! The parts of a scene besides its bodies: geometries, pairs that may touch, actuators.

use std::sync::Arc;

use crate::contact::{CombinedMaterial, ContactMaterial};
use crate::geometry::{HydroelasticGeometry, RigidShape, Shape, TriangleColors};
use crate::math::{BodyIndex, GeometryIndex, RigidTransform};

/// A collision geometry of a body.
#[derive(Clone, Debug)]
pub struct CollisionGeometry {
    /// Unique name, `body/element`.
    pub name: String,
    /// The body that carries it.
    pub body: BodyIndex,
    /// Pose of the geometry in its body.
    pub X_BG: RigidTransform,
    /// Its shape.
    pub shape: Shape,
    /// Its mesh and pressure field.
    pub hydroelastic: HydroelasticGeometry,
    /// Its shape for point contact with other rigid geometries; `None` if it is compliant.
    pub rigid: Option<RigidShape>,
    /// Its contact material.
    pub material: ContactMaterial,
    /// Whether a file states that it is compliant or how stiff it is. Otherwise its shape decides.
    pub states_compliance: bool,
}

/// A geometry of a body that is only displayed.
#[derive(Clone, Debug)]
pub struct VisualGeometry {
    /// The body that carries it.
    pub body: BodyIndex,
    /// Pose of the geometry in its body.
    pub X_BV: RigidTransform,
    /// Its shape.
    pub shape: Shape,
    /// Red, green, blue, alpha in 0..1; `None` if the file states no colour.
    pub color: Option<[f64; 4]>,
    /// The colours of the triangles of a mesh, from its file, if there is no `color`.
    pub mesh_colors: Option<Arc<TriangleColors>>,
}

/// The kind of the contact of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactKind {
    /// A surface of equal pressure: at least one of the two is compliant.
    #[default]
    PressureField,
    /// Points: both are rigid, without a pressure field to define a contact surface.
    Points,
}

/// Two geometries that may touch, A with the smaller index, and the properties of their contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactPair {
    /// The geometry with the smaller index.
    pub A: GeometryIndex,
    /// The other geometry.
    pub B: GeometryIndex,
    /// The kind of their contact.
    pub kind: ContactKind,
    /// Their combined material.
    pub material: CombinedMaterial,
}

impl ContactPair {
    /// The restitution of a pair of rigid geometries, if it is above 0 [-].
    pub fn restitution(&self) -> Option<f64> {
        let e = self.material.points.restitution;
        (self.kind == ContactKind::Points && e > 0.0).then_some(e)
    }
}

/// The impedance that drives a joint with one degree of freedom:
/// effort = clamp(stiffness (q_cmd - q) + damping (v_cmd - v) + feed-forward, +-effort_limit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actuator {
    /// Stiffness [N m/rad] or [N/m].
    pub stiffness: f64,
    /// Damping [N m s/rad] or [N s/m]. Quasistatic steps use it only without stiffness.
    pub damping: f64,
    /// Largest effort [N m] or \[N\]; infinite without a limit.
    pub effort_limit: f64,
    /// Whether the gravity torque of the joint is fed forward.
    pub gravity_compensation: bool,
}

impl Actuator {
    /// An actuator that applies effort commands without limit.
    pub const PASSIVE: Self =
        Self { stiffness: 0.0, damping: 0.0, effort_limit: f64::INFINITY, gravity_compensation: false };

    /// The gain without which a command of these quantities has no effect. A position needs stiffness or,
    /// without a commanded velocity, damping. A velocity needs damping.
    pub fn missing_gain(&self, position: bool, velocity: bool) -> Option<&'static str> {
        if position && self.stiffness == 0.0 && self.damping == 0.0 {
            return Some("stiffness");
        }
        (velocity && self.damping == 0.0).then_some("damping")
    }

    /// Whether quasistatic steps ignore the velocity of a command of these quantities: with stiffness, they
    /// hold the last position.
    pub fn holds_position(&self, position: bool, velocity: bool) -> bool {
        velocity && !position && self.stiffness > 0.0
    }
}
