//! The file of a task: arm, tool, gripper and keyframes. docs/reference/task-files.md explains the keys. Two
//! controllers read the same files: [`Controller`](super::Controller), and a ROS 2 process in Python
//! (controllers/isobar_control/task.py).

use std::path::Path;

use serde::Deserialize;

use crate::io::scene_file::{self, SceneError};

/// A task file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The file cannot be read or has the wrong form.
    #[error(transparent)]
    File(#[from] SceneError),
    /// A number out of its range, or a keyframe without a required part.
    #[error("keyframe '{keyframe}': {what}")]
    Keyframe {
        /// The keyframe.
        keyframe: String,
        /// The fault and its remedy.
        what: &'static str,
    },
    /// A setting that is out of its range.
    #[error("{what}")]
    Setting {
        /// The fault and its remedy.
        what: &'static str,
    },
}

/// A whole task.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The arm's joints.
    pub arm: Arm,
    /// The frame that the keyframes move.
    pub tool: Tool,
    /// The body in whose frame poses and directions are, unless a keyframe names another one.
    #[serde(default)]
    pub frame: Option<String>,
    /// The default time law of the tool along its path.
    #[serde(default)]
    pub time_scaling: TimeScaling,
    /// The fingers.
    #[serde(default)]
    pub gripper: Gripper,
    /// The sensor of the contact force on the tool.
    #[serde(default)]
    pub touch: Option<TouchSensor>,
    /// The number of times that a failed grasp is repeated, from the first keyframe on.
    #[serde(default)]
    pub retries: u32,
    /// The keyframes, in order.
    pub keyframes: Vec<Keyframe>,
}

/// The arm's joints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Their names in the scene.
    pub joints: Vec<String>,
    /// The part of their speed limits that may be used [-].
    #[serde(default = "one")]
    pub speed: f64,
}

fn one() -> f64 {
    1.0
}

/// A frame fixed to a body of the arm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The body.
    pub body: String,
    /// Position in the body \[m\].
    #[serde(default)]
    pub xyz: [f64; 3],
    /// Fixed-axis angles in the body \[rad\].
    #[serde(default)]
    pub rpy: [f64; 3],
}

/// The fingers of a gripper. Their opening is one number.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gripper {
    /// The fingers.
    pub fingers: Vec<Finger>,
    /// Two fingers can close by force; without this, all fingers are commanded by position.
    #[serde(default)]
    pub force_control: Option<ForceControl>,
}

/// One finger.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finger {
    /// Its joint.
    pub joint: String,
    /// Joint position = factor * opening.
    pub factor: f64,
    /// The body whose contact force is measured.
    #[serde(default)]
    pub pad: Option<String>,
}

/// Force control of two fingers that close against each other.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForceControl {
    /// Unit direction in which the fingers' joints move their pads, in the pads' axes [-].
    pub axis: [f64; 3],
    /// Stiffness of the controller that opens the fingers [N/m].
    pub stiffness: f64,
    /// Stiffness that holds the middle between the fingers [N/m].
    pub centering: f64,
    /// The rate at which the force rises [N/s].
    pub ramp: f64,
    /// Gain of the integral of the measured error [1/s].
    pub integral: f64,
    /// The smallest pad force that can hold an object \[N\].
    pub holds: f64,
}

/// The sensor of the contact force on the tool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TouchSensor {
    /// The contact torques at the arm's joints.
    ExternalTorques,
    /// The contact forces on these bodies; they are summed.
    Links(Vec<String>),
}

/// The part of the path as a function of the part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeScaling {
    /// At constant speed.
    Linear,
    /// 3 s² - 2 s³: at rest at both ends.
    Cubic,
    /// 10 s³ - 15 s⁴ + 6 s⁵: at rest and without acceleration at both ends.
    #[default]
    Quintic,
}

impl TimeScaling {
    /// Part of the path [-] at the part `s` of the time, 0 to 1 [-].
    pub fn at(self, s: f64) -> f64 {
        match self {
            Self::Linear => s,
            Self::Cubic => s * s * (3.0 - 2.0 * s),
            Self::Quintic => s * s * s * (10.0 - 15.0 * s + 6.0 * s * s),
        }
    }
}

/// A circle about an axis through its centre.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// Its centre in the keyframe's frame \[m\].
    pub centre: [f64; 3],
    /// Direction of its axis in the keyframe's frame.
    #[serde(default = "upwards")]
    pub axis: [f64; 3],
    /// The number of turns.
    #[serde(default = "one")]
    pub turns: f64,
}

fn upwards() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

/// A held force: the tool moves along a direction until the force has the wanted value.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// Direction in which the tool presses, in the keyframe's frame.
    pub along: [f64; 3],
    /// The force to hold \[N\].
    pub force: f64,
}

/// The quantity of a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sense {
    /// The grip force is at least this \[N\].
    Grip(f64),
    /// The tool pulls down on the pads with a force in this range \[N\].
    Load([f64; 2]),
    /// The contact force has changed by at least this since the keyframe began \[N\].
    Touch {
        /// The change \[N\].
        force: f64,
        /// Along this direction in the keyframe's frame; without it, in any direction.
        along: Option<[f64; 3]>,
    },
}

/// A condition on measured forces.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "ConditionFile")]
pub struct Condition {
    /// The required measurement.
    pub sense: Sense,
    /// The time for which it must hold without a break \[s\].
    pub duration: f64,
}

/// A condition as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionFile {
    grip: Option<f64>,
    load: Option<[f64; 2]>,
    touch: Option<f64>,
    along: Option<[f64; 3]>,
    #[serde(default, rename = "for")]
    duration: f64,
}

impl TryFrom<ConditionFile> for Condition {
    type Error = &'static str;

    fn try_from(file: ConditionFile) -> Result<Self, Self::Error> {
        let sense = match (file.grip, file.load, file.touch) {
            (Some(force), None, None) => Sense::Grip(force),
            (None, Some(range), None) => Sense::Load(range),
            (None, None, Some(force)) => Sense::Touch { force, along: file.along },
            _ => return Err("a condition has one of grip, load and touch"),
        };
        if file.along.is_some() && file.touch.is_none() {
            return Err("`along` is for `touch` only: remove it");
        }
        Ok(Self { sense, duration: file.duration })
    }
}

/// A target of the tool and of the fingers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Its name, for messages.
    pub name: String,
    /// Its duration \[s\]; it takes longer if a joint reaches its speed limit.
    pub duration: f64,
    /// The body in whose frame poses and directions are.
    #[serde(default)]
    pub frame: Option<String>,
    /// The position of `point` at the end \[m\]; the point moves in a straight line. Without `xyz`, `by` and
    /// `circle` it stays.
    #[serde(default)]
    pub xyz: Option<[f64; 3]>,
    /// The displacement of `point` \[m\].
    #[serde(default)]
    pub by: Option<[f64; 3]>,
    /// A circle on which `point` moves.
    #[serde(default)]
    pub circle: Option<Circle>,
    /// The orientation of the tool at the end, fixed-axis angles \[rad\]; without it the tool keeps its
    /// orientation.
    #[serde(default)]
    pub rpy: Option<[f64; 3]>,
    /// A point of the tool, in its frame \[m\].
    #[serde(default)]
    pub point: [f64; 3],
    /// The time law of the tool along its path.
    #[serde(default)]
    pub time_scaling: Option<TimeScaling>,
    /// The opening at the end \[m\] or \[rad\].
    #[serde(default)]
    pub open: Option<f64>,
    /// The force to close with \[N\]. Without `open` and `close` the gripper keeps its target.
    #[serde(default)]
    pub close: Option<f64>,
    /// A force that is held during the keyframe.
    #[serde(default)]
    pub press: Option<Press>,
    /// The condition that ends the keyframe; the keyframe fails if the condition is not met within
    /// `duration`.
    #[serde(default)]
    pub until: Option<Condition>,
    /// The condition that must be met at the end.
    #[serde(default)]
    pub needs: Option<Condition>,
    /// Whether heights are measured from the height of the touch.
    #[serde(default)]
    pub from_touch: bool,
    /// The name of its start in plots.
    #[serde(default)]
    pub event: Option<String>,
}

impl Task {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// A file that cannot be read, has the wrong form, or has a number out of range.
    pub fn read(path: &Path) -> Result<Self, TaskError> {
        let task: Self = scene_file::read_yaml(path)?;
        task.check()?;
        Ok(task)
    }

    /// The bodies whose contact forces the controller measures: pads, then those of `touch`; each once.
    pub fn sensing_bodies(&self) -> Vec<&str> {
        let touch: &[String] = match &self.touch {
            Some(TouchSensor::Links(links)) => links,
            _ => &[],
        };
        let mut found: Vec<&str> = Vec::new();
        for name in self.gripper.fingers.iter().filter_map(|finger| finger.pad.as_ref()).chain(touch) {
            if !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
        found
    }
}
