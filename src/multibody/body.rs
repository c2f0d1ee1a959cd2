//! A rigid body.

use crate::math::{JointIndex, SpatialInertia};

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name, unique among the bodies.
    pub name: String,
    /// Inertia about its origin Bo, in its axes.
    pub inertia: SpatialInertia,
    /// The joint of which it is the child; `None` for the world.
    pub parent_joint: Option<JointIndex>,
}
