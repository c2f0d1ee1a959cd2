//! The report of a joint that moves faster than its velocity limit, which no step enforces.

use std::fmt;

use super::simulation::Simulation;
use crate::math::{Index, ScalarJointIndex};
use crate::multibody::State;
use crate::scene::Scene;

/// A joint that moves faster than its velocity limit. `Display` gives a sentence with the name, the amounts
/// and the remedy.
#[derive(Clone, Copy, Debug)]
pub struct FastJoint<'a> {
    scene: &'a Scene,
    joint: ScalarJointIndex,
    /// [rad/s] or [m/s]
    speed: f64,
    /// [rad/s] or [m/s]
    limit: f64,
}

impl<'a> FastJoint<'a> {
    /// The joint whose speed exceeds its limit by the largest factor. A limit of 0 counts as none: many URDF
    /// files state it if no limit is known.
    fn find(scene: &'a Scene, state: &State) -> Option<Self> {
        let mut fastest: Option<Self> = None;
        for (number, index) in scene.joints().iter().enumerate() {
            let joint = &scene.model().joints()[*index];
            let (limit, speed) = (joint.limits.velocity, joint.velocity(&state.v).unwrap_or(0.0).abs());
            let part = fastest.map_or(1.0, |fastest| fastest.speed / fastest.limit);
            if limit > 0.0 && speed > part * limit {
                fastest = Some(Self { scene, joint: ScalarJointIndex::from_usize(number), speed, limit });
            }
        }
        fastest
    }

    /// The joint.
    pub fn joint(&self) -> ScalarJointIndex {
        self.joint
    }
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.scene.joint_names()[self.joint.to_usize()]
    }
    /// Its speed [rad/s] or [m/s].
    pub fn speed(&self) -> f64 {
        self.speed
    }
    /// Its velocity limit [rad/s] or [m/s].
    pub fn limit(&self) -> f64 {
        self.limit
    }
}

impl Simulation {
    /// The joint that now exceeds its velocity limit by the largest factor, if any does. Steps do not enforce
    /// these limits.
    pub fn fast_joint(&self) -> Option<FastJoint<'_>> {
        FastJoint::find(self.scene(), self.state())
    }
}

impl fmt::Display for FastJoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the joint `{}` moves at {:.3}, above its velocity limit of {:.3} rad/s or m/s, which no step enforces: \
             command it more slowly, with more damping or a smaller effort limit",
            self.name(),
            self.speed,
            self.limit,
        )
    }
}
