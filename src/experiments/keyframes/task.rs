//! The file of a task: arm, tool, fingers and keyframes. Two controllers read it, this program's and a ROS 2 process in Python.

use std::path::Path;

use serde::Deserialize;

use crate::io::scene_file::{self, SceneError};
use crate::math::{RigidTransform, Rotation, Vector3};

/// A task file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// Not readable, or not of this form.
    #[error(transparent)]
    File(#[from] SceneError),
    /// A number out of its range, or a keyframe that lacks something.
    #[error("keyframe '{keyframe}': {what}")]
    Keyframe {
        /// The keyframe.
        keyframe: String,
        /// What is wrong, and what would be right.
        what: &'static str,
    },
    /// A setting that is out of its range.
    #[error("{what}")]
    Setting {
        /// What is wrong, and what would be right.
        what: &'static str,
    },
}

/// A whole task.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The arm's joints.
    pub arm: Arm,
    /// What the keyframes place.
    pub tool: Tool,
    /// The fingers and their force control.
    pub fingers: Fingers,
    /// The keyframes, in order.
    pub keyframes: Vec<Keyframe>,
}

/// The arm's joints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Their names in the scene.
    pub joints: Vec<String>,
    /// Which part of their speed limits may be used [-].
    pub speed: f64,
}

/// A frame fixed to a body of the arm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The body.
    pub body: String,
    /// Position in the body [m].
    pub xyz: [f64; 3],
    /// Fixed-axis angles in the body [rad].
    #[serde(default)]
    pub rpy: [f64; 3],
}

/// Two fingers that slide, and how hard they close.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingers {
    /// Their joints; the first closes with a positive effort, the second with a negative one.
    pub joints: [String; 2],
    /// The bodies that touch.
    pub pads: [String; 2],
    /// Unit direction of closing of the first pad, in the pads' axes [-]; the second closes against it.
    pub axis: [f64; 3],
    /// How far each finger is from the middle when open [m].
    pub open: f64,
    /// Stiffness of the controller that opens them [N/m].
    pub stiffness: f64,
    /// Stiffness that holds the middle between them [N/m].
    pub centering: f64,
    /// Force to close with [N].
    pub force: f64,
    /// How fast it rises [N/s].
    pub ramp: f64,
    /// Gain of the integral of the measured error [1/s].
    pub integral: f64,
    /// A pad force below this holds nothing [N].
    pub holds: f64,
    /// Vertical force that the pads carry when the tool hangs in the grip, least and most [N].
    pub load: [f64; 2],
    /// How often a grasp that fails is tried again.
    pub retries: u32,
}

/// What the fingers are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GripState {
    /// Open, by position.
    Open,
    /// Closed, by force.
    Closed,
}

/// What ends a keyframe but its time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// The pads hold for that long [s].
    Grip(f64),
    /// The pads have carried the tool's weight for that long [s].
    Load(f64),
    /// The vertical force on the pads changes by that much [N].
    Touch(f64),
}

/// Where the tool is to be, and what the fingers do meanwhile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Its name, for messages.
    pub name: String,
    /// The body in whose frame the pose is; without one the tool stays where it is.
    #[serde(default)]
    pub frame: Option<String>,
    /// Where `point` is to be [m].
    #[serde(default)]
    pub xyz: [f64; 3],
    /// How the tool is turned, fixed-axis angles [rad].
    #[serde(default)]
    pub rpy: [f64; 3],
    /// The point of the tool that moves in a straight line, in its frame [m].
    #[serde(default)]
    pub point: [f64; 3],
    /// How long it takes [s]; longer where a joint reaches its speed limit.
    pub duration: f64,
    /// The fingers.
    pub grip: GripState,
    /// What ends it; what has not happened by its end is a failure.
    #[serde(default)]
    pub until: Option<Until>,
    /// Whether heights count from where the tool touched.
    #[serde(default)]
    pub from_touch: bool,
    /// The name of its start in the plots.
    #[serde(default)]
    pub event: Option<String>,
}

/// X from position and fixed-axis angles.
pub(super) fn pose(xyz: &[f64; 3], rpy: &[f64; 3]) -> RigidTransform {
    RigidTransform::from_parts(Vector3::from(*xyz).into(), Rotation::from_euler_angles(rpy[0], rpy[1], rpy[2]))
}

impl Task {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// A file that cannot be read, is not of this form, or has a number out of range.
    pub fn read(path: &Path) -> Result<Self, TaskError> {
        let task: Self = scene_file::read_yaml(path)?;
        task.check()?;
        Ok(task)
    }

    fn check(&self) -> Result<(), TaskError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let fingers = &self.fingers;
        if self.arm.joints.is_empty() || !positive(self.arm.speed) || self.arm.speed > 1.0 {
            return Err(TaskError::Setting { what: "arm: joints must be named, and speed be above 0 and at most 1" });
        }
        let gains = [fingers.stiffness, fingers.centering, fingers.force, fingers.ramp, fingers.holds];
        if !gains.into_iter().all(positive) || fingers.holds >= fingers.force {
            return Err(TaskError::Setting { what: "fingers: all numbers must be positive, and holds below force" });
        }
        for keyframe in &self.keyframes {
            let fail = |what| TaskError::Keyframe { keyframe: keyframe.name.clone(), what };
            let numbers = keyframe.xyz.iter().chain(&keyframe.rpy).chain(&keyframe.point);
            if !positive(keyframe.duration) {
                return Err(fail("duration must be positive [s]"));
            }
            if !numbers.copied().all(f64::is_finite) {
                return Err(fail("xyz, rpy and point must be finite"));
            }
            let value = match keyframe.until {
                Some(Until::Grip(value) | Until::Load(value) | Until::Touch(value)) => value,
                None => 1.0,
            };
            if !positive(value) {
                return Err(fail("until must have a positive value"));
            }
        }
        Ok(())
    }
}
