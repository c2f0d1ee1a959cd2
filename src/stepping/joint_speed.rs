//! The reports of joints at their velocity limits: of those that exceed them, and of those that dynamic steps
//! with [`DynamicStepping::enforce_velocity_limit`] hold back.

use std::fmt;

use super::joint_rows::has_speed_limit;
use super::settings::{DynamicStepping, Stepping};
use super::simulation::Simulation;
use crate::math::{Index, ScalarJointIndex};
use crate::multibody::{JointKind, State};
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
    /// The joint whose speed exceeds `least` times its limit by the largest factor.
    fn find(scene: &'a Scene, state: &State, least: f64) -> Option<Self> {
        let mut fastest: Option<Self> = None;
        for (number, index) in scene.joints().iter().enumerate() {
            let joint = &scene.model().joints()[*index];
            let (limit, speed) = (joint.limits.velocity, joint.velocity(&state.v).unwrap_or(0.0).abs());
            let part = fastest.map_or(least, |fastest| fastest.speed / fastest.limit);
            if has_speed_limit(joint) && speed > part * limit {
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
    /// The joint that now exceeds its velocity limit by the largest factor, if any does. Only dynamic steps
    /// with [`DynamicStepping::enforce_velocity_limit`] enforce these limits, to a thousandth.
    pub fn fast_joint(&self) -> Option<FastJoint<'_>> {
        let enforced =
            matches!(self.settings().stepping, Stepping::Dynamic(DynamicStepping { enforce_velocity_limit: true, .. }));
        FastJoint::find(self.scene(), self.state(), if enforced { 1.0 + ENFORCED_TO } else { 1.0 })
    }

    /// The joints that their velocity limits held back in the last step. Without
    /// [`DynamicStepping::enforce_velocity_limit`] there are none.
    pub fn limited_joints(&self) -> impl Iterator<Item = LimitedJoint<'_>> {
        let scene = self.scene();
        self.speed_limits().iter().map(move |(joint, impulse)| LimitedJoint { scene, joint: *joint, impulse: *impulse })
    }
}

/// The units of a joint's velocity and of an impulse on it.
fn units(scene: &Scene, joint: ScalarJointIndex) -> (&'static str, &'static str) {
    match scene.model().joints()[scene.joints()[joint.to_usize()]].kind {
        JointKind::Prismatic => ("m/s", "N s"),
        _ => ("rad/s", "N m s"),
    }
}

/// If velocity limits are enforced, joints that exceed them by less than this fraction are not named [-].
const ENFORCED_TO: f64 = 1e-3;

/// A joint that its velocity limit held back in a step. `Display` gives a sentence with the name and the
/// amounts.
#[derive(Clone, Copy, Debug)]
pub struct LimitedJoint<'a> {
    scene: &'a Scene,
    joint: ScalarJointIndex,
    /// [N s] or [N m s]
    impulse: f64,
}

impl<'a> LimitedJoint<'a> {
    /// The joint.
    pub fn joint(&self) -> ScalarJointIndex {
        self.joint
    }
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.scene.joint_names()[self.joint.to_usize()]
    }
    /// Its velocity limit [rad/s] or [m/s].
    pub fn limit(&self) -> f64 {
        self.scene.model().joints()[self.scene.joints()[self.joint.to_usize()]].limits.velocity
    }
    /// The impulse of the limit on the joint over the step, negative if it moves in the positive direction
    /// [N s] or [N m s].
    pub fn impulse(&self) -> f64 {
        self.impulse
    }
}

impl fmt::Display for LimitedJoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the velocity limit of {:.3} {} of the joint `{}` acts with an impulse of {:.3e} {}",
            self.limit(),
            units(self.scene, self.joint).0,
            self.name(),
            self.impulse,
            units(self.scene, self.joint).1,
        )
    }
}

impl fmt::Display for FastJoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let actuator = &self.scene.actuators()[self.joint.to_usize()];
        let remedy = if actuator.stiffness > 0.0 || actuator.damping > 0.0 {
            "command it more slowly, with more damping or a smaller effort limit"
        } else {
            "its actuator has no gains: give it `damping`, or command a smaller effort"
        };
        write!(
            f,
            "the joint `{}` moves at {:.3}, above its velocity limit of {:.3} {}: {remedy}, or, in dynamic steps, use \
             `enforce_velocity_limit: true`",
            self.name(),
            self.speed,
            self.limit,
            units(self.scene, self.joint).0,
        )
    }
}
