//! Checks of the numbers in a task file.

use super::task::{Condition, Keyframe, Sense, Task, TaskError};

/// A vector shorter than this has no direction [-].
const DIRECTION_MIN: f64 = 1e-9;

impl Task {
    /// Refuses the first setting or keyframe that is wrong.
    pub(super) fn check(&self) -> Result<(), TaskError> {
        let fail = |what| Err(TaskError::Setting { what });
        if self.arm.joints.is_empty() || !positive(self.arm.speed) || self.arm.speed > 1.0 {
            return fail("arm: joints must be named, and speed must be above 0 and at most 1");
        }
        if !self.tool.xyz.iter().chain(&self.tool.rpy).all(|x| x.is_finite()) {
            return fail("tool: xyz and rpy must be finite");
        }
        if !self.gripper.fingers.iter().all(|finger| finger.factor.is_finite() && finger.factor != 0.0) {
            return fail("gripper: factors must be finite and not zero");
        }
        if let Some(control) = &self.gripper.force_control {
            if self.gripper.fingers.len() != 2 || self.gripper.fingers.iter().any(|finger| finger.pad.is_none()) {
                return fail("gripper: force control is for two fingers with a pad each");
            }
            let gains = [control.stiffness, control.centering, control.ramp, control.integral, control.holds];
            if !gains.into_iter().all(positive) || !direction(&control.axis) {
                return fail("gripper: the numbers of force_control must be positive, and axis a direction");
            }
        }
        if self.keyframes.is_empty() {
            return fail("keyframes: there must be at least one");
        }
        for keyframe in &self.keyframes {
            if let Err(what) = self.check_keyframe(keyframe) {
                return Err(TaskError::Keyframe { keyframe: keyframe.name.clone(), what });
            }
        }
        Ok(())
    }

    fn check_keyframe(&self, keyframe: &Keyframe) -> Result<(), &'static str> {
        let circle = keyframe.circle.as_ref();
        let numbers = keyframe.xyz.iter().chain(&keyframe.by).chain(&keyframe.rpy).flatten();
        let numbers = numbers.chain(&keyframe.point).chain(circle.iter().flat_map(|circle| &circle.centre));
        let numbers = numbers.chain(circle.map(|circle| &circle.turns)).chain(&keyframe.open);
        let ways = [keyframe.xyz.is_some(), keyframe.by.is_some(), circle.is_some()];
        let framed = keyframe.frame.is_some() || self.frame.is_some();
        let control = self.gripper.force_control;
        let rules = [
            (positive(keyframe.duration), "duration must be positive [s]"),
            (numbers.copied().all(f64::is_finite), "xyz, by, circle, rpy, point and open must be finite"),
            (ways.into_iter().filter(|has| *has).count() <= 1, "xyz, by and circle exclude each other"),
            (framed || !(ways.contains(&true) || keyframe.rpy.is_some()), "name the frame of its pose: `frame`"),
            (circle.is_none_or(|circle| direction(&circle.axis)), "circle: axis must be a direction"),
            (keyframe.open.is_none() || keyframe.close.is_none(), "open and close exclude each other"),
            (keyframe.close.is_none_or(positive), "close must be a positive force [N]"),
            (keyframe.close.is_none() || control.is_some(), "close needs the gripper's force_control"),
            (
                keyframe.close.is_none_or(|force| control.is_none_or(|control| control.holds < force)),
                "close must be above the holding force of force_control",
            ),
            (
                keyframe.press.is_none_or(|press| direction(&press.along) && press.force >= 0.0 && press.force < 1e9),
                "press: along must be a direction, and force zero or more [N]",
            ),
            (keyframe.press.is_none() || self.touch.is_some(), "press needs `touch`"),
            (keyframe.needs.is_none_or(|needs| needs.duration == 0.0), "needs: `for` belongs to `until`"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, what)| Err(what))?;
        keyframe.until.iter().chain(&keyframe.needs).try_for_each(|condition| self.check_condition(condition))
    }

    fn check_condition(&self, condition: &Condition) -> Result<(), &'static str> {
        let pads = self.gripper.fingers.iter().any(|finger| finger.pad.is_some());
        let (sensed, range) = match condition.sense {
            Sense::Grip(force) => (pads, positive(force)),
            Sense::Load([least, most]) => (self.touch.is_some(), least.is_finite() && most.is_finite() && least < most),
            Sense::Touch { force, along } => {
                (self.touch.is_some(), positive(force) && along.is_none_or(|along| direction(&along)))
            }
        };
        if !(condition.duration >= 0.0 && condition.duration.is_finite()) {
            return Err("until: `for` must be zero or more [s]");
        }
        if !range {
            return Err("until and needs: forces must be positive, load a range, and along a direction");
        }
        if sensed { Ok(()) } else { Err("grip needs fingers with a pad; touch and load need `touch`") }
    }
}

fn positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

fn direction(axis: &[f64; 3]) -> bool {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    length > DIRECTION_MIN && length.is_finite()
}
