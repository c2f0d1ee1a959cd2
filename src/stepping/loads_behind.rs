//! The report of a quasistatic step that settled only with the loads of its start.

use std::fmt;

use super::result::StepResult;
use crate::math::{Index, JointIndex, ScalarJointIndex};
use crate::multibody::JointKind;
use crate::scene::Scene;

/// A joint whose load at the end of the last quasistatic step is not the one that acted, because the step
/// settled only with the loads of its start. `Display` gives a sentence with the name, the amount and the
/// remedy.
#[derive(Clone, Copy, Debug)]
pub struct LoadsBehind<'a> {
    scene: &'a Scene,
    joint: ScalarJointIndex,
    /// [N m] or \[N\]
    miss: f64,
}

impl<'a> LoadsBehind<'a> {
    /// The joint whose load differs most, if loads were behind.
    pub(super) fn find(scene: &'a Scene, result: &StepResult) -> Option<Self> {
        let (dof, miss) = result.behind?;
        let joints = scene.model().joints();
        let of_dof = |joint: &JointIndex| joints[*joint].v_start == dof && joints[*joint].mimic.is_none();
        let number = scene.joints().iter().position(of_dof)?;
        Some(Self { scene, joint: ScalarJointIndex::from_usize(number), miss })
    }

    /// The joint.
    pub fn joint(&self) -> ScalarJointIndex {
        self.joint
    }
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.scene.joint_names()[self.joint.to_usize()]
    }
    /// The difference of its loads [N m] or \[N\].
    pub fn miss(&self) -> f64 {
        self.miss
    }
}

impl fmt::Display for LoadsBehind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joint = &self.scene.model().joints()[self.scene.joints()[self.joint.to_usize()]];
        write!(
            f,
            "this quasistatic step settled only with the weights and external wrenches of its start: at its end, joint \
             `{}` carries {:.1e} {} more or less. Stiffen the joints, set `gravity_compensation`, or start the robot \
             nearer to its balance",
            self.name(),
            self.miss,
            if joint.kind == JointKind::Prismatic { "N" } else { "N m" },
        )
    }
}
