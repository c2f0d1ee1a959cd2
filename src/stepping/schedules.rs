//! The signature of commands and wrenches over time, for checkpoints.

use std::fmt::Debug;

use super::command_schedule::CommandSchedule;
use super::timed_wrenches::TimedWrenches;
use crate::math::Index;
use crate::scene::{Scene, SceneSignature};

/// The signature of a scene's commands and wrenches over time.
pub fn schedules(scene: &Scene, commands: &CommandSchedule, wrenches: &TimedWrenches) -> SceneSignature {
    let joints = commands.joints.iter().map(|schedule| {
        let name = scene.joint_names().get(schedule.joint.to_usize()).map_or("", String::as_str);
        (format!("schedule of commands of joint '{name}'"), schedule as &dyn Debug)
    });
    let bodies = wrenches.scheduled().iter().map(|schedule| {
        let name = &scene.model().bodies()[schedule.body].name;
        (format!("schedule of wrenches on body '{name}'"), schedule as &dyn Debug)
    });
    SceneSignature::of_parts(joints.chain(bodies))
}
