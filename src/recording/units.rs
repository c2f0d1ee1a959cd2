//! Units of the joints' numbers.

use crate::math::{Index, ScalarJointIndex};
use crate::multibody::JointKind;
use crate::scene::Scene;

/// Units of a joint with one degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointUnits {
    /// The unit of its position.
    pub position: &'static str,
    /// The unit of its velocity.
    pub velocity: &'static str,
    /// The unit of its effort.
    pub effort: &'static str,
}

/// Units of a joint.
pub fn joint_units(scene: &Scene, joint: ScalarJointIndex) -> JointUnits {
    let kind = scene.joints().get(joint.to_usize()).map(|index| scene.model().joints()[*index].kind);
    match kind {
        Some(JointKind::Prismatic) => JointUnits { position: "m", velocity: "m/s", effort: "N" },
        _ => JointUnits { position: "rad", velocity: "rad/s", effort: "N m" },
    }
}
