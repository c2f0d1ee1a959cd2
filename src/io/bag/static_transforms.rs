//! Transforms that never change: the roots of welded models.

use crate::math::{BodyIndex, JointIndex, RigidTransform};
use crate::scene::Scene;

/// The pose of a welded model's root C in the frame P that it is welded to.
#[derive(Clone, Debug)]
pub struct StaticTransform {
    /// The frame P.
    pub parent: String,
    /// The frame C: the name of the root link in the scene.
    pub child: String,
    /// Pose of C in P.
    pub X_PC: RigidTransform,
}

/// The transforms of all welded models of a scene whose world is called `world_frame`.
pub fn static_transforms(scene: &Scene, world_frame: &str) -> Vec<StaticTransform> {
    let weld = |joint: &JointIndex| {
        let joint = &scene.model().joints()[*joint];
        let parent = if joint.parent == BodyIndex::WORLD { world_frame } else { scene.body_name(joint.parent) };
        StaticTransform { parent: parent.to_owned(), child: scene.body_name(joint.child).to_owned(), X_PC: joint.X_PF }
    };
    scene.root_welds().iter().map(weld).collect()
}
