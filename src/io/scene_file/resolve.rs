//! Lookup of a file's names in the scene that was built from it.

use super::error::SceneError;
use super::reader::{Named, unknown_name};
use crate::math::{BodyIndex, JointIndex, ScalarJointIndex};
use crate::recording::{JointUnits, joint_units};
use crate::scene::Scene;

/// Looks up names; an error lists the existing ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) scene: &'a Scene,
}

impl Names<'_> {
    fn body_names(&self) -> Vec<&str> {
        self.scene.model().bodies().iter().map(|body| body.name.as_str()).collect()
    }

    /// The body of that name, which may be `world`.
    pub(super) fn body(&self, named: &Named) -> Result<BodyIndex, SceneError> {
        self.scene.body(&named.name).ok_or_else(|| unknown_name(named, "body", self.body_names()))
    }

    /// A body that carries collision geometry.
    pub(super) fn contact_body(&self, named: &Named) -> Result<BodyIndex, SceneError> {
        let body = self.body(named)?;
        let geometries = self.scene.geometries();
        if geometries.iter().any(|geometry| geometry.body == body) {
            return Ok(body);
        }
        let mut with: Vec<&str> = geometries.iter().map(|geometry| self.scene.body_name(geometry.body)).collect();
        with.dedup();
        Err(unknown_name(named, "body with collision geometry called", with))
    }

    /// A joint with one degree of freedom.
    pub(super) fn joint(&self, named: &Named) -> Result<ScalarJointIndex, SceneError> {
        let names = self.scene.joint_names().iter().map(String::as_str);
        self.scene.joint(&named.name).ok_or_else(|| unknown_name(named, "joint", names))
    }

    /// A joint of any kind.
    pub(super) fn any_joint(&self, named: &Named) -> Result<JointIndex, SceneError> {
        let model = self.scene.model();
        let names = model.joints().iter().map(|joint| joint.name.as_str());
        model.joint(&named.name).ok_or_else(|| unknown_name(named, "joint", names))
    }

    /// Units of the joint.
    pub(super) fn units(&self, joint: ScalarJointIndex) -> JointUnits {
        joint_units(self.scene, joint)
    }
}
