//! Commands from controllers: checked, clamped, merged into the standing command, and said what is wrong with them.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use futures::{FutureExt, Stream, StreamExt};
use r2r::builtin_interfaces::msg::Time;
#[cfg(isobar_control)]
use r2r::control_msgs::action::FollowJointTrajectory;
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::Float64MultiArray;
use r2r::trajectory_msgs::msg::JointTrajectory;
use r2r::{Node, QosProfile};

use super::command::{self, Clamped, CommandError, CommandMessage, CommandedJoint, ControlMode};
use super::exchange::{Mailbox, StampFit, count};
#[cfg(isobar_control)]
use super::follow::{self, Follow, Refusal};
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
    /// Its own, whatever other controllers come and go.
    id: usize,
    /// In front of its topics, as in `arm/`; empty for the one of all joints.
    prefix: String,
    /// Its number among those that lockstep waits for.
    awaited: Option<usize>,
    joints: Vec<CommandedJoint>,
    /// The joints of a group command, in its order: all but mimic joints.
    group: Vec<String>,
    commands: Messages<JointState>,
    trajectories: Messages<JointTrajectory>,
    #[cfg(isobar_control)]
    follow: Follow,
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
    namespaces: bool,
    ids: usize,
    #[cfg(isobar_control)]
    goals: u64,
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
        let mut all = Self {
            controllers: Vec::new(),
            mailbox,
            lockstep: parameters.flag("lockstep"),
            clamped: Vec::new(),
            refusals: std::array::from_fn(|_| Throttle::default()),
            trajectory_refusals: Throttle::default(),
            clamps: Throttle::default(),
            names: Vec::new(),
            namespaces: parameters.flag("robot_namespaces"),
            ids: 0,
            #[cfg(isobar_control)]
            goals: 0,
        };
        all.enter(node, scene, groups, parameters)?;
        Ok(all)
    }

    /// Listens for the joints of another scene from now on. Topics that stay keep what has come.
    pub(super) fn enter(
        &mut self,
        node: &mut Node,
        scene: &Scene,
        groups: &[JointGroup],
        parameters: &Parameters,
    ) -> r2r::Result<()> {
        let everything = JointGroup {
            model: String::new(),
            joints: (0..scene.joints().len()).collect(),
            names: scene.joint_names().to_vec(),
        };
        let mut wanted = vec![(String::new(), &everything, (!self.namespaces).then_some(0))];
        if self.namespaces {
            let parts = crate::io::topic_names::topic_parts(groups.iter().map(|group| group.model.as_str()));
            let named = groups.iter().zip(parts).enumerate();
            wanted.extend(named.map(|(number, (group, part))| (format!("{part}/"), group, Some(number))));
        }
        let mut before = std::mem::take(&mut self.controllers);
        for (prefix, group, awaited) in wanted {
            let known = before.iter().position(|controller| controller.prefix == prefix);
            let mut controller = match known {
                Some(place) => before.swap_remove(place),
                None => {
                    self.ids += 1;
                    Controller::new(node, self.ids, prefix)?
                }
            };
            controller.set_joints(scene, group, awaited);
            self.controllers.push(controller);
        }
        #[cfg(isobar_control)]
        before.iter_mut().for_each(|gone| gone.follow.abandon());
        self.names = scene.joint_names().to_vec();
        self.set_modes(parameters);
        Ok(())
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
            #[cfg(isobar_control)]
            self.take_goals(number);
        }
        #[cfg(isobar_control)]
        self.tell_goals();
    }

    #[cfg(isobar_control)]
    fn take_goals(&mut self, number: usize) {
        while let Some(goal) = self.controllers[number].follow.next(self.goals + 1) {
            self.goals += 1;
            if let Err(refusal) = self.set_goal(number, &goal) {
                count(&self.mailbox.counters.rejected);
                self.controllers[number].follow.refuse(self.goals, refusal);
            }
        }
        let Controller { id, follow, joints, .. } = &mut self.controllers[number];
        if follow.take_cancellations() {
            let joints = joints.iter().map(|joint| joint.target).collect();
            self.mailbox.set_trajectory(*id, Trajectory::cancellation(joints));
        }
    }

    #[cfg(isobar_control)]
    fn set_goal(&self, number: usize, goal: &FollowJointTrajectory::Goal) -> Result<(), Refusal> {
        if self.lockstep {
            return Err(Refusal::invalid(CommandError::NotInLockstep.to_string()));
        }
        if goal.trajectory.points.is_empty() {
            return Err(Refusal::invalid("the trajectory has no points"));
        }
        let Controller { id, joints, .. } = &self.controllers[number];
        let mut trajectory = read_trajectory(joints, &goal.trajectory)?;
        trajectory.terms = Some(follow::terms(self.goals, goal, joints)?);
        self.mailbox.set_trajectory(*id, trajectory);
        Ok(())
    }

    /// Passes on what has become of goals.
    #[cfg(isobar_control)]
    fn tell_goals(&mut self) {
        let news = self.mailbox.goal_news();
        for controller in &mut self.controllers {
            news.feedback.iter().for_each(|feedback| controller.follow.tell(feedback, ""));
            news.ended.iter().for_each(|(goal, end)| controller.follow.ended(*goal, end));
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
        self.mailbox.cancel_trajectory(self.controllers[number].id);
    }

    fn take_trajectory(&mut self, number: usize, message: &JointTrajectory) {
        let Controller { id, joints, prefix, .. } = &self.controllers[number];
        let refused = if self.lockstep {
            CommandError::NotInLockstep.to_string()
        } else {
            match read_trajectory(joints, message) {
                Ok(trajectory) => {
                    self.mailbox.set_trajectory(*id, trajectory);
                    return;
                }
                // A cancellation of all joints.
                Err(TrajectoryError::NoJoints) if message.points.is_empty() => {
                    let joints = joints.iter().map(|joint| joint.target).collect();
                    self.mailbox.set_trajectory(*id, Trajectory::cancellation(joints));
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
    fn set_joints(&mut self, scene: &Scene, group: &JointGroup, awaited: Option<usize>) {
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
        self.group = joints.iter().filter(leads).map(|joint| joint.name.clone()).collect();
        (self.joints, self.awaited) = (joints, awaited);
    }

    fn new(node: &mut Node, id: usize, prefix: String) -> r2r::Result<Self> {
        Ok(Self {
            id,
            awaited: None,
            group: Vec::new(),
            joints: Vec::new(),
            commands: subscribe(node, &format!("{prefix}joint_commands"))?,
            trajectories: subscribe(node, &format!("{prefix}joint_trajectory"))?,
            #[cfg(isobar_control)]
            follow: Follow::new(node, &prefix)?,
            groups: [
                (Quantity::Position, subscribe(node, &format!("{prefix}position_commands"))?),
                (Quantity::Velocity, subscribe(node, &format!("{prefix}velocity_commands"))?),
                (Quantity::Effort, subscribe(node, &format!("{prefix}effort_commands"))?),
            ],
            prefix,
        })
    }
}

fn read_trajectory(joints: &[CommandedJoint], message: &JointTrajectory) -> Result<Trajectory, TrajectoryError> {
    let start_ns = nanoseconds(&message.header.stamp);
    let points = message.points.iter().map(|point| PointMessage {
        positions: &point.positions,
        velocities: &point.velocities,
        accelerations: &point.accelerations,
        time_ns: i64::from(point.time_from_start.sec) * 1_000_000_000 + i64::from(point.time_from_start.nanosec),
    });
    Trajectory::new(joints, &message.joint_names, (start_ns > 0).then_some(start_ns), points)
}

/// A stamp in nanoseconds; what lies before time zero is zero.
fn nanoseconds(stamp: &Time) -> u64 {
    u64::try_from(stamp.sec).unwrap_or(0) * 1_000_000_000 + u64::from(stamp.nanosec)
}
