//! The controller of a task: follows the keyframes, and decides by what the pads feel.

use super::super::reach::rotation_vector;
use super::differential::DifferentialInverse;
use super::grip::{FingerMeasurement, Grip, pad_force};
use super::task::{GripState, Keyframe, Task, Until, pose};
use crate::math::{BodyIndex, RigidTransform, Rotation, Vector3};
use crate::multibody::{Model, State};
use crate::scene::Scene;
use crate::stepping::{JointCommand, JointTarget};

/// Forces are filtered with this time constant before a touch is told from them [s].
const FILTER_TIME: f64 = 0.02;
/// The arm may be this far from a keyframe at its end [m] or [rad]; then it goes on moving there for `OVERTIME` at most.
const POSE_TOLERANCE: f64 = 2e-3;
/// How much longer than planned a keyframe may take, in parts of its duration [-].
const OVERTIME: f64 = 3.0;

/// Why a task cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// The scene lacks something that the task names.
    #[error("the scene has no {kind} '{name}'; change the scene or the task file")]
    Scene {
        /// Body or joint.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A pose out of reach.
    #[error(
        "t = {time:.3} s: keyframe '{keyframe}' is out of the arm's reach: {error:.1e} m or rad are left; move it nearer"
    )]
    Reach {
        /// Time [s].
        time: f64,
        /// The keyframe.
        keyframe: String,
        /// What is left [m] or [rad].
        error: f64,
    },
    /// The pads hold nothing, or not enough.
    #[error(
        "t = {time:.3} s: the grasp does not hold in keyframe '{keyframe}': pad force {force:.1} N, load {load:.2} N, after {retries} retries"
    )]
    Grasp {
        /// Time [s].
        time: f64,
        /// The keyframe.
        keyframe: String,
        /// Mean pad force [N].
        force: f64,
        /// Vertical force on the pads [N].
        load: f64,
        /// Retries so far.
        retries: u32,
    },
    /// The tool was to touch and did not.
    #[error("t = {time:.3} s: keyframe '{keyframe}' ended without a touch; let it go lower, or lower its threshold")]
    NoTouch {
        /// Time [s].
        time: f64,
        /// The keyframe.
        keyframe: String,
    },
}

/// What the controller is told: only what a real robot has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measurement {
    /// The fingers in the order of the task file.
    pub fingers: [FingerMeasurement; 2],
    /// Sum of the vertical contact forces on the pads [N], upwards: what is held pulls down.
    pub load_z: f64,
}

/// The start of a keyframe that has an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When [s].
    pub time: f64,
    /// Its name.
    pub name: String,
}

/// Indices of the task's names in a scene.
#[derive(Clone, Debug)]
struct Names {
    /// Where the arm's joints stand in `Scene::joint_names`.
    arm: Vec<usize>,
    fingers: [usize; 2],
    /// The body of each keyframe's frame.
    frames: Vec<Option<BodyIndex>>,
}

/// The controller of a task.
#[derive(Clone, Debug)]
pub struct Controller {
    task: Task,
    names: Names,
    arm: DifferentialInverse,
    grip: Grip,
    /// The present keyframe.
    number: usize,
    /// Path time in it, and real time in it [s].
    path_time: f64,
    elapsed: f64,
    /// Where the tool was when it began.
    start: RigidTransform,
    /// Since when its condition holds [s].
    held: f64,
    /// Filtered vertical force on the pads, and what it was when the keyframe began [N].
    load: f64,
    load_before: f64,
    /// What heights from the touch are counted from [m].
    touch_z: f64,
    retries: u32,
    events: Vec<Event>,
    time: f64,
}

impl Controller {
    /// A controller of `scene` from `initial`.
    ///
    /// # Errors
    /// A name that the scene does not have.
    pub fn new(task: Task, scene: &Scene, initial: &State) -> Result<Self, ControllerError> {
        let model = scene.model();
        let joint = |name: &String| {
            scene.joint_position(name).ok_or_else(|| ControllerError::Scene { kind: "joint", name: name.clone() })
        };
        let body =
            |name: &String| scene.body(name).ok_or_else(|| ControllerError::Scene { kind: "body", name: name.clone() });
        let arm = task.arm.joints.iter().map(joint).collect::<Result<Vec<_>, _>>()?;
        let fingers = [joint(&task.fingers.joints[0])?, joint(&task.fingers.joints[1])?];
        let frame = |keyframe: &Keyframe| keyframe.frame.as_ref().map(body).transpose();
        let frames = task.keyframes.iter().map(frame).collect::<Result<Vec<_>, _>>()?;
        let joints: Vec<_> = arm.iter().map(|place| scene.joints()[*place]).collect();
        let X_BT = pose(&task.tool.xyz, &task.tool.rpy);
        let inverse =
            DifferentialInverse::new(model, &joints, body(&task.tool.body)?, X_BT, &initial.q, task.arm.speed);
        let start = inverse.X_WT();
        let mut controller = Self {
            names: Names { arm, fingers, frames },
            arm: inverse,
            grip: Grip::default(),
            number: 0,
            path_time: 0.0,
            elapsed: 0.0,
            start,
            held: 0.0,
            load: 0.0,
            load_before: 0.0,
            touch_z: 0.0,
            retries: 0,
            events: Vec::new(),
            time: 0.0,
            task,
        };
        controller.begin(0);
        Ok(controller)
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }
    /// What has begun so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
    /// Whether all keyframes are done.
    pub fn done(&self) -> bool {
        self.number >= self.task.keyframes.len()
    }
    /// The present keyframe's number.
    pub fn keyframe(&self) -> usize {
        self.number
    }
    /// How often a grasp was tried again.
    pub fn retries(&self) -> u32 {
        self.retries
    }
    /// Where the tool is commanded to be.
    pub fn X_WT(&self) -> RigidTransform {
        self.arm.X_WT()
    }

    /// Reads the sensors and writes the command for the next `dt` [s].
    ///
    /// # Errors
    /// A grasp that does not hold, a pose out of reach, or a touch that does not come.
    pub fn control(
        &mut self,
        model: &Model,
        measured: &Measurement,
        dt: f64,
        command: &mut JointCommand,
    ) -> Result<(), ControllerError> {
        self.load += (measured.load_z - self.load) * (dt / (FILTER_TIME + dt));
        let mut state = GripState::Closed;
        if let Some(keyframe) = self.task.keyframes.get(self.number) {
            state = keyframe.grip;
            let target = self.target(self.number);
            let part = self.arm.advance(model, &target, dt);
            self.path_time += dt * part;
            self.elapsed += dt;
            self.decide(measured, dt)?;
        }
        self.time += dt;
        let efforts = self.grip.efforts(&self.task.fingers, state, &measured.fingers, dt);
        self.write(model, efforts, command);
        Ok(())
    }

    /// Where the tool is to be in the present keyframe.
    fn target(&self, number: usize) -> RigidTransform {
        let keyframe = &self.task.keyframes[number];
        let Some(end) = self.end_pose(number) else { return self.start };
        let x = (self.path_time / keyframe.duration).clamp(0.0, 1.0);
        // guarded motions go at constant speed, the others start and end at rest
        let guarded = matches!(keyframe.until, Some(Until::Touch(_)));
        let part = if guarded { x } else { x * x * x * (10.0 - 15.0 * x + 6.0 * x * x) };
        let p_TP = Vector3::from(keyframe.point);
        let from = self.start.translation.vector + self.start.rotation * p_TP;
        let to = end.translation.vector + end.rotation * p_TP;
        let turn = rotation_vector(&(end.rotation * self.start.rotation.inverse()));
        let rotation = Rotation::new(turn * part) * self.start.rotation;
        let p_WT = from + (to - from) * part - rotation * p_TP;
        RigidTransform::from_parts(p_WT.into(), rotation)
    }

    /// The tool's pose at the end of a keyframe; `None` where it stays.
    fn end_pose(&self, number: usize) -> Option<RigidTransform> {
        let keyframe = &self.task.keyframes[number];
        let X_WF = self.arm.X_WB(self.names.frames[number]?);
        let X_FT = pose(&keyframe.xyz, &keyframe.rpy);
        let shift = X_FT.rotation * Vector3::from(keyframe.point);
        let mut X_WT = X_WF * RigidTransform::from_parts((X_FT.translation.vector - shift).into(), X_FT.rotation);
        if keyframe.from_touch {
            X_WT.translation.vector.z += self.touch_z - X_WF.translation.vector.z;
        }
        Some(X_WT)
    }

    fn begin(&mut self, number: usize) {
        self.number = number;
        (self.path_time, self.elapsed, self.held) = (0.0, 0.0, 0.0);
        self.start = self.arm.X_WT();
        self.load_before = self.load;
        if let Some(name) = self.task.keyframes.get(number).and_then(|keyframe| keyframe.event.clone()) {
            self.events.push(Event { time: self.time, name });
        }
    }

    /// Whether the keyframe ends, fails, or goes on.
    fn decide(&mut self, measured: &Measurement, dt: f64) -> Result<(), ControllerError> {
        let keyframe = &self.task.keyframes[self.number];
        let (fingers, number) = (&self.task.fingers, self.number);
        let force = pad_force(fingers, &measured.fingers);
        let over = self.path_time >= keyframe.duration || self.elapsed > (1.0 + OVERTIME) * keyframe.duration;
        let lost = keyframe.grip == GripState::Closed
            && !matches!(keyframe.until, Some(Until::Grip(_)))
            && force < fingers.holds;
        let (condition, needed) = match keyframe.until {
            Some(Until::Grip(time)) => (force >= fingers.holds, time),
            Some(Until::Load(time)) => ((fingers.load[0]..=fingers.load[1]).contains(&-self.load), time),
            Some(Until::Touch(change)) => (self.load - self.load_before > change, 0.0),
            None => (false, f64::INFINITY),
        };
        self.held = if condition { self.held + dt } else { 0.0 };
        if lost {
            return self.try_again(force);
        }
        if condition && self.held >= needed {
            if matches!(keyframe.until, Some(Until::Touch(_))) {
                self.touch_z = self.arm.X_WT().translation.vector.z;
            }
            self.begin(number + 1);
            return Ok(());
        }
        if !over {
            return Ok(());
        }
        match keyframe.until {
            Some(Until::Grip(_) | Until::Load(_)) => return self.try_again(force),
            Some(Until::Touch(_)) => {
                return Err(ControllerError::NoTouch { time: self.time, keyframe: keyframe.name.clone() });
            }
            None => {}
        }
        let error = self.end_pose(number).map_or(0.0, |end| self.arm.error(&end).amax());
        if error > POSE_TOLERANCE {
            if self.elapsed > (1.0 + OVERTIME) * keyframe.duration {
                return Err(ControllerError::Reach { time: self.time, keyframe: keyframe.name.clone(), error });
            }
            return Ok(());
        }
        self.begin(number + 1);
        Ok(())
    }

    /// Back to the first keyframe with open fingers, if there are tries left.
    fn try_again(&mut self, force: f64) -> Result<(), ControllerError> {
        if self.retries >= self.task.fingers.retries {
            let keyframe = self.task.keyframes[self.number].name.clone();
            let (time, load, retries) = (self.time, -self.load, self.retries);
            return Err(ControllerError::Grasp { time, keyframe, force, load, retries });
        }
        self.retries += 1;
        self.begin(0);
        Ok(())
    }

    fn write(&self, model: &Model, efforts: [f64; 2], command: &mut JointCommand) {
        for (i, place) in self.names.arm.iter().enumerate() {
            command.targets[*place] = JointTarget {
                position: Some(self.arm.position(model, i)),
                velocity: Some(self.arm.speed(i)),
                effort: None,
            };
        }
        for (place, effort) in self.names.fingers.iter().zip(efforts) {
            command.targets[*place] = JointTarget { position: None, velocity: Some(0.0), effort: Some(effort) };
        }
    }
}
