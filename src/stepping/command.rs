//! Commands of a controller to the joints.

use crate::math::{IndexVec, ScalarJointIndex};
use crate::scene::Scene;

/// The standing command of one joint; `None` means not commanded. If a joint has no target at all, its
/// actuator's stiffness holds it at its initial position, in quasistatic steps at the last commanded
/// position. An actuator with damping alone slows the joint down, and one without gains leaves it free.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointTarget {
    /// Position \[rad\] or \[m\] that the joint's impedance pulls towards.
    pub position: Option<f64>,
    /// Velocity [rad/s] or [m/s] that the joint's damping pulls towards.
    pub velocity: Option<f64>,
    /// Feed-forward effort [N m] or \[N\].
    pub effort: Option<f64>,
}

/// The standing command of all joints of a scene, in the order of [`Scene::joint_names`]: `command[joint]` is
/// the target of the joint that [`Scene::joint`] finds. The default has no targets, and commands nothing in
/// any scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointCommand {
    /// One target per joint.
    pub targets: IndexVec<ScalarJointIndex, JointTarget>,
}

impl JointCommand {
    /// A command for `scene` that commands no joint yet.
    pub fn new(scene: &Scene) -> Self {
        Self::for_joints(scene.joint_names().len())
    }
    /// A command for a scene of `joints` joints that commands none of them yet.
    pub fn for_joints(joints: usize) -> Self {
        Self { targets: IndexVec::from_elem(JointTarget::default(), joints) }
    }
}

impl FromIterator<JointTarget> for JointCommand {
    /// One target per joint of the scene.
    fn from_iter<S: IntoIterator<Item = JointTarget>>(targets: S) -> Self {
        Self { targets: targets.into_iter().collect() }
    }
}

impl std::ops::Index<ScalarJointIndex> for JointCommand {
    type Output = JointTarget;
    fn index(&self, joint: ScalarJointIndex) -> &JointTarget {
        &self.targets[joint]
    }
}

impl std::ops::IndexMut<ScalarJointIndex> for JointCommand {
    fn index_mut(&mut self, joint: ScalarJointIndex) -> &mut JointTarget {
        &mut self.targets[joint]
    }
}
