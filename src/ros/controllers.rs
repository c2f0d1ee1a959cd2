//! Commands from controllers: checked, clamped, merged into the standing command, and said what is wrong with them.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use futures::{FutureExt, Stream, StreamExt};
use r2r::builtin_interfaces::msg::Time;
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::Float64MultiArray;
use r2r::trajectory_msgs::msg::JointTrajectory;
use r2r::{Node, QosProfile};

use super::command::{self, Clamped, CommandError, CommandMessage, CommandedJoint, ControlMode};
use super::exchange::{Mailbox, StampFit, count};
use super::parameters::Parameters;
use super::throttle::{Throttle, and_more};
use super::trajectory::{PointMessage, Trajectory, TrajectoryError};
use crate::io::scene_file::JointGroup;
use crate::scene::Scene;

type Messages<T> = Pin<Box<dyn Stream<Item = T> + Send>>;

fn subscribe<T: r2r::WrappedTypesupport + Send + 'static>(node: &mut Node, topic: &str) -> r2r::Result<Messages<T>> {
    Ok(Box::pin(node.subscribe::<T>(topic, QosProfile::default())?))
}

fn next<T>(messages: &mut Messages<T>) -> Option<T> {
    messages.next().now_or_never().flatten()
}

/// A quantity that a group command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Position,
    Velocity,
    Effort,
}

/// A controller's topics, and the joints that it knows.
struct Controller {
    /// In front of its topics, as in `arm/`; empty for the one of all joints.
    prefix: String,
    /// Its number among those that lockstep waits for.
    awaited: Option<usize>,
    joints: Vec<CommandedJoint>,
    /// The joints of a group command, in its order: all but mimic joints.
    group: Vec<String>,
    commands: Messages<JointState>,
    trajectories: Messages<JointTrajectory>,
    groups: [(Quantity, Messages<Float64MultiArray>); 3],
}

/// All controllers.
pub(super) struct Controllers {
    controllers: Vec<Controller>,
    mailbox: Arc<Mailbox>,
    lockstep: bool,
    clamped: Vec<Clamped>,
    refusals: [Throttle; CommandError::KINDS],
    trajectory_refusals: Throttle,
    clamps: Throttle,
    names: Vec<String>,
}

/// How many controllers lockstep waits for.
pub(super) fn lockstep_controllers(groups: &[JointGroup], namespaces: bool) -> usize {
    if namespaces { groups.len() } else { 1 }
}

impl Controllers {
    /// Subscribes for all joints of `scene` and, in namespaces, for those of each model.
    pub(super) fn new(
        node: &mut Node,
        scene: &Scene,
        groups: &[JointGroup],
        parameters: &Parameters,
        mailbox: Arc<Mailbox>,
    ) -> r2r::Result<Self> {
        let namespaces = parameters.flag("robot_namespaces");
        let everything = JointGroup {
            model: String::new(),
            joints: (0..scene.joints().len()).collect(),
            names: scene.joint_names().to_vec(),
        };
        let mut controllers =
            vec![Controller::new(node, scene, &everything, String::new(), (!namespaces).then_some(0))?];
        if namespaces {
            let parts = crate::io::topic_names::topic_parts(groups.iter().map(|group| group.model.as_str()));
            for (number, (group, part)) in groups.iter().zip(parts).enumerate() {
                controllers.push(Controller::new(node, scene, group, format!("{part}/"), Some(number))?);
            }
        }
        let mut all = Self {
            controllers,
            mailbox,
            lockstep: parameters.flag("lockstep"),
            clamped: Vec::new(),
            refusals: std::array::from_fn(|_| Throttle::default()),
            trajectory_refusals: Throttle::default(),
            clamps: Throttle::default(),
            names: scene.joint_names().to_vec(),
        };
        all.set_modes(parameters);
        Ok(all)
    }

    /// Takes over the control modes.
    pub(super) fn set_modes(&mut self, parameters: &Parameters) {
        for joint in self.controllers.iter_mut().flat_map(|controller| &mut controller.joints) {
            if let Some(name) = self.names.get(joint.target) {
                joint.mode = parameters.control_mode(name);
            }
        }
    }

    /// Takes everything that has come. Streams keep their ten oldest messages and drop newer ones: call this after every
    /// spin, which adds one message a topic at most.
    pub(super) fn take_all(&mut self) {
        for number in 0..self.controllers.len() {
            while let Some(message) = next(&mut self.controllers[number].commands) {
                self.take_command(number, &message);
            }
            while let Some(message) = next(&mut self.controllers[number].trajectories) {
                self.take_trajectory(number, &message);
            }
            for group in 0..self.controllers[number].groups.len() {
                while let Some(message) = next(&mut self.controllers[number].groups[group].1) {
                    self.take_group(number, group, &message.data);
                }
            }
        }
    }

    fn take_command(&mut self, number: usize, message: &JointState) {
        let stamp_ns = nanoseconds(&message.header.stamp);
        let JointState { name, position, velocity, effort, .. } = message;
        let message = CommandMessage { name, position, velocity, effort };
        let result = self.check_stamp(number, stamp_ns).and_then(|awaited| {
            let Self { controllers, mailbox, clamped, .. } = self;
            clamped.clear();
            let joints = &controllers[number].joints;
            mailbox.update_command(|standing| command::merge(joints, &message, standing, clamped))?;
            self.cancel_trajectory(number);
            if let Some(awaited) = awaited {
                self.mailbox.answered(awaited);
            }
            Ok(())
        });
        self.report(number, "joint_commands", result);
    }

    /// In lockstep the stamp decides; returns the number of who has answered.
    fn check_stamp(&self, number: usize, stamp_ns: u64) -> Result<Option<usize>, CommandError> {
        if !self.lockstep {
            return Ok(None);
        }
        let awaited = self.controllers[number].awaited.ok_or(CommandError::NotInLockstep)?;
        match self.mailbox.stamp_fit(awaited, stamp_ns) {
            StampFit::Awaited => Ok(Some(awaited)),
            StampFit::Stale => Err(CommandError::Stamp { stamp_ns, problem: "it is of an earlier one, or the second" }),
            StampFit::Early => Err(CommandError::Stamp { stamp_ns, problem: "it is still to come" }),
        }
    }

    fn take_group(&mut self, number: usize, group: usize, values: &[f64]) {
        let (quantity, topic) = match self.controllers[number].groups[group].0 {
            Quantity::Position => (Quantity::Position, "position_commands"),
            Quantity::Velocity => (Quantity::Velocity, "velocity_commands"),
            Quantity::Effort => (Quantity::Effort, "effort_commands"),
        };
        let result = self.merge_group(number, quantity, values);
        self.report(number, topic, result);
    }

    fn merge_group(&mut self, number: usize, quantity: Quantity, values: &[f64]) -> Result<(), CommandError> {
        if self.lockstep {
            return Err(CommandError::NotInLockstep);
        }
        let Self { controllers, mailbox, clamped, .. } = self;
        let Controller { joints, group, .. } = &controllers[number];
        if values.len() != group.len() {
            return Err(CommandError::GroupLength { joints: group.len(), values: values.len() });
        }
        let pick = |wanted: Quantity| if quantity == wanted { values } else { &[] };
        let message = CommandMessage {
            name: group,
            position: pick(Quantity::Position),
            velocity: pick(Quantity::Velocity),
            effort: pick(Quantity::Effort),
        };
        clamped.clear();
        mailbox.update_command(|standing| command::merge(joints, &message, standing, clamped))?;
        self.cancel_trajectory(number);
        Ok(())
    }

    /// A command takes the place of the trajectory that its controller has sent before.
    fn cancel_trajectory(&self, number: usize) {
        self.mailbox.cancel_trajectory(number);
    }

    fn take_trajectory(&mut self, number: usize, message: &JointTrajectory) {
        let start_ns = nanoseconds(&message.header.stamp);
        let points = message.points.iter().map(|point| PointMessage {
            positions: &point.positions,
            velocities: &point.velocities,
            accelerations: &point.accelerations,
            time_ns: i64::from(point.time_from_start.sec) * 1_000_000_000 + i64::from(point.time_from_start.nanosec),
        });
        let Controller { joints, prefix, .. } = &self.controllers[number];
        let start = (start_ns > 0).then_some(start_ns);
        let refused = if self.lockstep {
            CommandError::NotInLockstep.to_string()
        } else {
            match Trajectory::new(joints, &message.joint_names, start, points) {
                Ok(trajectory) => {
                    self.mailbox.set_trajectory(number, trajectory);
                    return;
                }
                // A cancellation of all joints.
                Err(TrajectoryError::NoJoints) if message.points.is_empty() => {
                    let joints = joints.iter().map(|joint| joint.target).collect();
                    self.mailbox.set_trajectory(number, Trajectory::cancellation(joints));
                    return;
                }
                Err(error) => error.to_string(),
            }
        };
        count(&self.mailbox.counters.rejected);
        if let Some(kept_back) = self.trajectory_refusals.due(Instant::now()) {
            tracing::warn!("{prefix}joint_trajectory: {refused}. The trajectory was dropped{}", and_more(kept_back));
        }
    }

    fn report(&mut self, number: usize, topic: &str, result: Result<(), CommandError>) {
        let prefix = &self.controllers[number].prefix;
        match result {
            Ok(()) => {
                let Some(Clamped { joint, array, asked, used }) = self.clamped.first() else { return };
                count(&self.mailbox.counters.clamped);
                if let Some(kept_back) = self.clamps.due(Instant::now()) {
                    let name = &self.controllers[number].joints[*joint].name;
                    let more = and_more(kept_back);
                    tracing::warn!(
                        "{prefix}{topic}: {array} {asked} of joint '{name}' is beyond its limit; {used} is used{more}"
                    );
                }
            }
            Err(error) => {
                let counters = &self.mailbox.counters;
                count(if matches!(error, CommandError::Stamp { .. }) { &counters.stale } else { &counters.rejected });
                if let Some(kept_back) = self.refusals[error.kind()].due(Instant::now()) {
                    tracing::warn!("{prefix}{topic}: {error}. The command was dropped{}", and_more(kept_back));
                }
            }
        }
    }
}

impl Controller {
    fn new(
        node: &mut Node,
        scene: &Scene,
        group: &JointGroup,
        prefix: String,
        awaited: Option<usize>,
    ) -> r2r::Result<Self> {
        let model = scene.model();
        let joints: Vec<CommandedJoint> = group
            .joints
            .iter()
            .zip(&group.names)
            .map(|(&target, name)| {
                let (joint, actuator) = (&model.joints()[scene.joints()[target]], &scene.actuators()[target]);
                CommandedJoint {
                    name: name.clone(),
                    target,
                    mode: ControlMode::Auto,
                    lower: joint.limits.lower,
                    upper: joint.limits.upper,
                    velocity: joint.limits.velocity,
                    effort: actuator.effort_limit.min(joint.limits.effort),
                }
            })
            .collect();
        let leads = |joint: &&CommandedJoint| model.joints()[scene.joints()[joint.target]].mimic.is_none();
        Ok(Self {
            awaited,
            group: joints.iter().filter(leads).map(|joint| joint.name.clone()).collect(),
            joints,
            commands: subscribe(node, &format!("{prefix}joint_commands"))?,
            trajectories: subscribe(node, &format!("{prefix}joint_trajectory"))?,
            groups: [
                (Quantity::Position, subscribe(node, &format!("{prefix}position_commands"))?),
                (Quantity::Velocity, subscribe(node, &format!("{prefix}velocity_commands"))?),
                (Quantity::Effort, subscribe(node, &format!("{prefix}effort_commands"))?),
            ],
            prefix,
        })
    }
}

/// A stamp in nanoseconds; what lies before time zero is zero.
fn nanoseconds(stamp: &Time) -> u64 {
    u64::try_from(stamp.sec).unwrap_or(0) * 1_000_000_000 + u64::from(stamp.nanosec)
}
