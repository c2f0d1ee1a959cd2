//! The controller of a task: it follows the keyframes and uses measured forces for its decisions.

use std::sync::Arc;

use super::differential::DifferentialInverse;
use super::grip::{Grip, GripCommand, JointMeasurement};
use super::path::{Path, pose};
use super::senses::{Measurement, Senses};
use super::task::{Condition, Keyframe, Sense, Task};
use crate::math::{BodyIndex, Index, RigidTransform, ScalarJointIndex, Vector3};
use crate::multibody::State;
use crate::scene::Scene;
use crate::stepping::{JointCommand, JointTarget};

/// If the tool is farther than this from its pose at the end of a keyframe \[m\] or \[rad\], the arm
/// continues to move there, for [`OVERTIME`] at most.
const POSE_TOLERANCE: f64 = 2e-3;
/// The extra time that a keyframe may take, as a multiple of its duration [-].
const OVERTIME: f64 = 3.0;

/// The reason why a task cannot continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// The scene lacks an item that the task names.
    #[error("the scene has no {kind} '{name}'; change the scene or the task file")]
    Scene {
        /// Body or joint.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A pose out of reach.
    #[error(
        "t = {time:.3} s: keyframe '{keyframe}' is out of the arm's reach: {error:.1e} m or rad remain; move it nearer"
    )]
    Reach {
        /// Time \[s\].
        time: f64,
        /// The keyframe.
        keyframe: String,
        /// The remaining error \[m\] or \[rad\].
        error: f64,
    },
    /// The measured grip or load is too small.
    #[error(
        "t = {time:.3} s: the grasp does not hold in keyframe '{keyframe}': grip force {force:.1} N, load {load:.2} N, after {retries} retries"
    )]
    Grasp {
        /// Time \[s\].
        time: f64,
        /// The keyframe.
        keyframe: String,
        /// Grip force \[N\].
        force: f64,
        /// Downward force of the tool on the pads \[N\].
        load: f64,
        /// Retries so far.
        retries: u32,
    },
    /// The tool did not touch as expected.
    #[error("t = {time:.3} s: keyframe '{keyframe}' ended without a touch; move it lower, or lower its threshold")]
    NoTouch {
        /// Time \[s\].
        time: f64,
        /// The keyframe.
        keyframe: String,
    },
}

/// The start of a keyframe that has an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its time \[s\].
    pub time: f64,
    /// Its name.
    pub name: String,
}

/// Indices of the task's names in a scene.
#[derive(Clone, Debug)]
struct Names {
    arm: Vec<ScalarJointIndex>,
    fingers: Vec<ScalarJointIndex>,
    /// The body of each keyframe's frame; the world if it has none.
    frames: Vec<BodyIndex>,
}

/// The controller of a task.
#[derive(Clone, Debug)]
pub struct Controller {
    scene: Arc<Scene>,
    task: Task,
    names: Names,
    arm: DifferentialInverse,
    senses: Senses,
    grip: Grip,
    command: GripCommand,
    /// The commanded opening \[m\] or \[rad\]: when the keyframe began, and now.
    opening_before: f64,
    opening: f64,
    /// The number of the current keyframe.
    number: usize,
    path: Option<Path>,
    /// Path time in the keyframe, and real time in it \[s\].
    path_time: f64,
    elapsed: f64,
    /// The time for which the keyframe's condition `until` has been met \[s\].
    held: f64,
    /// The contact force when the keyframe began \[N\].
    force_before_W: Vector3,
    /// Height of the touch \[m\].
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
    pub fn new(task: Task, scene: &Arc<Scene>, initial: &State) -> Result<Self, ControllerError> {
        let model = scene.model();
        let joint = |name: &String| scene.joint(name).ok_or_else(|| missing("joint", name));
        let body = |name: &str| scene.body(name).ok_or_else(|| missing("body", name));
        let arm = task.arm.joints.iter().map(joint).collect::<Result<Vec<_>, _>>()?;
        let fingers: Vec<_> =
            task.gripper.fingers.iter().map(|finger| joint(&finger.joint)).collect::<Result<_, _>>()?;
        let frame = |keyframe: &Keyframe| {
            let name = keyframe.frame.as_ref().or(task.frame.as_ref());
            name.map_or(Ok(BodyIndex::WORLD), |name| body(name))
        };
        let frames = task.keyframes.iter().map(frame).collect::<Result<Vec<_>, _>>()?;
        task.sensing_bodies().into_iter().try_for_each(|name| body(name).map(|_| ()))?;
        let joints: Vec<_> = arm.iter().map(|index| scene.joints()[index.to_usize()]).collect();
        let tool = body(&task.tool.body)?;
        let X_BT = pose(&task.tool.xyz, &task.tool.rpy);
        let inverse = DifferentialInverse::new(model, &joints, tool, X_BT, &initial.q, task.arm.speed);
        let position = |index: &ScalarJointIndex| {
            model.joints()[scene.joints()[index.to_usize()]].position(&initial.q).unwrap_or(0.0)
        };
        let openings = fingers.iter().zip(&task.gripper.fingers).map(|(index, finger)| position(index) / finger.factor);
        let opening = openings.sum::<f64>() / fingers.len().max(1) as f64;
        let mut controller = Self {
            senses: Senses::new(&task, scene, &arm, tool, &initial.q),
            names: Names { arm, fingers, frames },
            arm: inverse,
            grip: Grip::default(),
            command: GripCommand::Open(opening),
            opening_before: opening,
            opening,
            number: 0,
            path: None,
            path_time: 0.0,
            elapsed: 0.0,
            held: 0.0,
            force_before_W: Vector3::zeros(),
            touch_z: 0.0,
            retries: 0,
            events: Vec::new(),
            time: 0.0,
            scene: scene.clone(),
            task,
        };
        controller.begin(0);
        Ok(controller)
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }
    /// The keyframes with an event that have begun so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
    /// Whether all keyframes are done.
    pub fn done(&self) -> bool {
        self.number >= self.task.keyframes.len()
    }
    /// The number of the current keyframe.
    pub fn keyframe(&self) -> usize {
        self.number
    }
    /// The number of repeated grasps.
    pub fn retries(&self) -> u32 {
        self.retries
    }
    /// The commanded pose of the tool.
    pub fn X_WT(&self) -> RigidTransform {
        self.arm.X_WT()
    }

    /// Reads the measurements and writes the command for the next `dt` \[s\].
    ///
    /// # Errors
    /// A grasp that does not hold, a pose out of reach, or a missing touch.
    pub fn control(
        &mut self,
        measured: &Measurement,
        dt: f64,
        command: &mut JointCommand,
    ) -> Result<(), ControllerError> {
        self.senses.update(&self.task, &self.scene, measured, dt);
        let (grip, before) = (self.command, self.opening);
        if let Some(path) = &mut self.path {
            path.press(&self.senses.force_W, dt);
            let part = path.part(self.path_time);
            let X_WT = path.at(part);
            if let GripCommand::Open(opening) = grip {
                self.opening = self.opening_before + (opening - self.opening_before) * part;
            }
            let allowed = self.arm.advance(self.scene.model(), &X_WT, dt);
            self.path_time += dt * allowed;
            self.elapsed += dt;
            self.decide(dt)?;
        } else {
            self.arm.rest();
        }
        self.time += dt;
        self.write_arm(command);
        self.write_fingers(measured, grip, before, dt, command);
        Ok(())
    }

    fn begin(&mut self, number: usize) {
        self.number = number;
        (self.path_time, self.elapsed, self.held) = (0.0, 0.0, 0.0);
        self.force_before_W = self.senses.force_W;
        self.opening_before = self.opening;
        let pressed = self.path.as_ref().map_or(0.0, Path::pressed);
        let start = self.arm.X_WT();
        let (arm, touch_z, scaling) = (&self.arm, self.touch_z, self.task.time_scaling);
        let keyframe = self.task.keyframes.get(number);
        self.path = keyframe
            .map(|keyframe| Path::new(keyframe, scaling, arm.X_WB(self.names.frames[number]), start, pressed, touch_z));
        let Some(keyframe) = keyframe else { return };
        let opening = keyframe.open.map(GripCommand::Open);
        self.command = opening.or(keyframe.close.map(GripCommand::Close)).unwrap_or(self.command);
        if let Some(name) = &keyframe.event {
            self.events.push(Event { time: self.time, name: name.clone() });
        }
    }

    /// The downward force of the tool on the fingers that hold it \[N\].
    fn load(&self) -> f64 {
        -self.senses.force_W.z
    }

    fn is_met(&self, condition: &Condition) -> bool {
        match &condition.sense {
            Sense::Grip(force) => self.senses.grip >= *force,
            Sense::Load([least, most]) => (*least..=*most).contains(&self.load()),
            Sense::Touch { force, along } => {
                let change = self.senses.force_W - self.force_before_W;
                let direction = self.path.as_ref().zip(along.as_ref()).map(|(path, along)| path.direction_W(along));
                direction.map_or(change.norm(), |along| change.dot(&along)) > *force
            }
        }
    }

    /// Decides whether the keyframe ends, fails, or continues.
    fn decide(&mut self, dt: f64) -> Result<(), ControllerError> {
        let keyframe = &self.task.keyframes[self.number];
        let (until, needs, duration) = (keyframe.until, keyframe.needs, keyframe.duration);
        let late = self.elapsed > (1.0 + OVERTIME) * duration;
        let over = self.path_time >= duration || late;
        let closing = matches!(until, Some(Condition { sense: Sense::Grip(_), .. }));
        let holds = self.task.gripper.force_control.map_or(0.0, |control| control.holds);
        let lost = matches!(self.command, GripCommand::Close(_)) && !closing && self.senses.grip < holds;
        let met = until.is_some_and(|until| self.is_met(&until));
        self.held = if met { self.held + dt } else { 0.0 };
        if lost {
            return self.try_again();
        }
        if met && until.is_some_and(|until| self.held >= until.duration) {
            if matches!(until, Some(Condition { sense: Sense::Touch { .. }, .. })) {
                self.touch_z = self.arm.X_WT().translation.vector.z;
            }
            return self.finish(needs);
        }
        if !over {
            return Ok(());
        }
        if let Some(until) = until {
            return self.fail(&until);
        }
        let error = self.path.as_ref().map_or(0.0, |path| self.arm.error(&path.at(1.0)).amax());
        if error > POSE_TOLERANCE {
            let keyframe = self.task.keyframes[self.number].name.clone();
            return if late { Err(ControllerError::Reach { time: self.time, keyframe, error }) } else { Ok(()) };
        }
        self.finish(needs)
    }

    /// Continues with the next keyframe if the condition at the end of this one is met.
    fn finish(&mut self, needs: Option<Condition>) -> Result<(), ControllerError> {
        match needs {
            Some(needs) if !self.is_met(&needs) => self.fail(&needs),
            _ => {
                self.begin(self.number + 1);
                Ok(())
            }
        }
    }

    /// Handles a condition that is not met: tries the grasp again, or returns the error of a missing touch.
    fn fail(&mut self, condition: &Condition) -> Result<(), ControllerError> {
        match condition.sense {
            Sense::Grip(_) | Sense::Load(_) => self.try_again(),
            Sense::Touch { .. } => {
                let keyframe = self.task.keyframes[self.number].name.clone();
                Err(ControllerError::NoTouch { time: self.time, keyframe })
            }
        }
    }

    /// Returns to the first keyframe, if retries are left.
    fn try_again(&mut self) -> Result<(), ControllerError> {
        if self.retries >= self.task.retries {
            let keyframe = self.task.keyframes[self.number].name.clone();
            let (time, force, load, retries) = (self.time, self.senses.grip, self.load(), self.retries);
            return Err(ControllerError::Grasp { time, keyframe, force, load, retries });
        }
        self.retries += 1;
        self.begin(0);
        Ok(())
    }

    fn write_arm(&self, command: &mut JointCommand) {
        for (i, index) in self.names.arm.iter().enumerate() {
            command[*index] = JointTarget {
                position: Some(self.arm.position(self.scene.model(), i)),
                velocity: Some(self.arm.speed(i)),
                effort: None,
            };
        }
    }

    /// Fingers under force control follow efforts, the others positions; `before` is the opening commanded
    /// last.
    fn write_fingers(
        &mut self,
        measured: &Measurement,
        grip: GripCommand,
        before: f64,
        dt: f64,
        command: &mut JointCommand,
    ) {
        let fingers = &self.task.gripper.fingers;
        let Some(control) = &self.task.gripper.force_control else {
            for (finger, index) in fingers.iter().zip(&self.names.fingers) {
                let (position, velocity) = (finger.factor * self.opening, finger.factor * (self.opening - before) / dt);
                command[*index] = JointTarget { position: Some(position), velocity: Some(velocity), effort: None };
            }
            return;
        };
        let joint = |index: &ScalarJointIndex| JointMeasurement {
            position: measured.positions.get(index.to_usize()).copied().unwrap_or(0.0),
            velocity: measured.velocities.get(index.to_usize()).copied().unwrap_or(0.0),
        };
        let joints: Vec<_> = self.names.fingers.iter().map(joint).collect();
        // The opening of this tick, not the one at the keyframe's end.
        let grip = match grip {
            GripCommand::Open(_) => GripCommand::Open(self.opening),
            close @ GripCommand::Close(_) => close,
        };
        let efforts = self.grip.efforts(fingers, control, grip, &joints, self.senses.grip, dt);
        for (index, effort) in self.names.fingers.iter().zip(efforts) {
            command[*index] = JointTarget { position: None, velocity: Some(0.0), effort: Some(effort) };
        }
    }
}

fn missing(kind: &'static str, name: &str) -> ControllerError {
    ControllerError::Scene { kind, name: name.to_owned() }
}
