//! Commands from controllers: checked, clamped and merged into the standing command. Faults are logged.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::time::Instant;

#[cfg(isobar_control)]
use crate::ros::client::interfaces::control_msgs::action::FollowJointTrajectory;
use crate::ros::client::interfaces::sensor_msgs::msg::JointState;
use crate::ros::client::interfaces::std_msgs::msg::Float64MultiArray;
use crate::ros::client::interfaces::trajectory_msgs::msg::JointTrajectory;

use crate::io::scene_file::JointGroup;
use crate::math::{Index, ScalarJointIndex};
use crate::multibody::JointKind;
use crate::names::topic_parts_beside;
use crate::ros::client::messages::nanoseconds;
use crate::ros::client::{ClientError, Node, Subscription};
use crate::ros::commands::joint_command::{
    CheckedCommand, Clamped, CommandError, CommandMessage, CommandedJoint, ControlMode, check,
};
use crate::ros::commands::trajectory::{PointMessage, Trajectory, TrajectoryError, joints_of};
use crate::ros::exchange::counters::count;
use crate::ros::exchange::lockstep::StampMismatch;
use crate::ros::exchange::mailbox::{Mailbox, Stamp};
use crate::ros::log::names::Number;
use crate::ros::log::throttle::Reports;
#[cfg(isobar_control)]
use crate::ros::subscriptions::follow_joint_trajectory::{FollowJointTrajectoryServer, Refusal, goal_tolerances};
use crate::scene::Scene;

/// The position limit of a joint at an end without a limit, if its other end has one [rad or m].
const POSITION_MAX: f64 = 1e4;
/// The largest speed limit, also of joints without one [rad/s or m/s].
const VELOCITY_MAX: f64 = 1e6;
/// The largest effort limit, also of joints without one [N m or N].
const EFFORT_MAX: f64 = 1e9;

/// The topics of a controller, and the types of their messages.
pub(crate) const COMMAND_TOPICS: [(&str, &str); 5] = [
    ("joint_commands", "sensor_msgs/msg/JointState"),
    ("joint_trajectory", "trajectory_msgs/msg/JointTrajectory"),
    ("position_commands", "std_msgs/msg/Float64MultiArray"),
    ("velocity_commands", "std_msgs/msg/Float64MultiArray"),
    ("effort_commands", "std_msgs/msg/Float64MultiArray"),
];

/// A quantity that a group command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Position,
    Velocity,
    Effort,
}

/// A controller's topics, and the joints that it can command.
struct Controller {
    /// Its number, from [`id_of`] its model.
    id: usize,
    /// The model whose joints it commands; empty for that of all joints.
    model: String,
    /// The prefix of its topics, as in `arm/`; empty for the controller of all joints.
    prefix: String,
    /// Its index among the controllers that lockstep waits for.
    awaited: Option<usize>,
    joints: Vec<CommandedJoint>,
    /// The joints of a group command, in its order: all but mimic joints.
    group: Vec<String>,
    commands: Subscription<JointState>,
    trajectories: Subscription<JointTrajectory>,
    #[cfg(isobar_control)]
    follow: FollowJointTrajectoryServer,
    groups: [(Quantity, Subscription<Float64MultiArray>); 3],
}

/// The prefixes of the topics of a scene's controllers, and the controllers that the previous scene does not
/// have.
pub(crate) struct NewControllers {
    prefixes: Vec<String>,
    made: Vec<Controller>,
}

/// The reason of a report about messages of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Refused(Discriminant<CommandError>),
    RefusedTrajectory(Discriminant<TrajectoryError>),
    Clamped,
    Idle,
}

/// All controllers.
pub(crate) struct Controllers {
    controllers: Vec<Controller>,
    mailbox: Arc<Mailbox>,
    lockstep: bool,
    clamped: Vec<Clamped>,
    /// A joint of the last command on which it had no effect, and the gain that is missing.
    idle: Option<(usize, &'static str)>,
    /// Of each topic and reason.
    reports: Reports<(String, Reason)>,
    namespaces: bool,
    /// The models of the controllers that lockstep waits for.
    awaited: Vec<String>,
    #[cfg(isobar_control)]
    goals: u64,
}

/// Parameters of controllers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerOptions<'a> {
    pub(crate) lockstep: bool,
    /// Whether each model has a controller of its own.
    pub(crate) namespaces: bool,
    /// The control mode of each joint of the scene.
    pub(crate) modes: &'a [ControlMode],
    /// The stiffness and the damping of each.
    pub(crate) gains: &'a [(f64, f64)],
}

/// The models of the controllers that lockstep waits for; empty for the controller of all joints. Without
/// joints there is nothing to command: each step follows at once.
fn awaited_models(groups: &[JointGroup], namespaces: bool) -> Vec<String> {
    match namespaces {
        true => groups.iter().map(|group| group.model.clone()).collect(),
        false if groups.iter().any(|group| !group.joints.is_empty()) => vec![String::new()],
        false => Vec::new(),
    }
}

/// The prefixes of the topics of a scene's controllers: of all joints, and in namespaces of each model.
/// Models in `kept` have these names in their topics.
pub(crate) fn topic_prefixes(groups: &[JointGroup], namespaces: bool, kept: &[(&str, &str)]) -> Vec<String> {
    let models: Vec<&str> = groups.iter().filter(|_| namespaces).map(|group| group.model.as_str()).collect();
    let parts = topic_parts_beside(&models, kept);
    std::iter::once(String::new()).chain(parts.into_iter().map(|part| format!("{part}/"))).collect()
}

impl Controllers {
    /// Subscribes for all joints of `scene` and, in namespaces, for those of each model.
    pub(crate) fn new(
        node: &mut Node,
        scene: &Scene,
        groups: &[JointGroup],
        options: ControllerOptions<'_>,
        mailbox: Arc<Mailbox>,
    ) -> Result<Self, ClientError> {
        let mut all = Self {
            controllers: Vec::new(),
            mailbox,
            lockstep: options.lockstep,
            clamped: Vec::new(),
            idle: None,
            reports: Reports::default(),
            namespaces: options.namespaces,
            awaited: Vec::new(),
            #[cfg(isobar_control)]
            goals: 0,
        };
        let made = all.subscribe(node, all.prefixes(groups, false))?;
        all.enter(made, scene, groups, options.modes, options.gains);
        Ok(all)
    }

    /// The prefixes of the topics of another scene's controllers. If the scene is a changed version of the
    /// present one, models that stay keep theirs.
    pub(crate) fn prefixes(&self, groups: &[JointGroup], is_changed: bool) -> Vec<String> {
        let robots = self.controllers.iter().filter(|_| is_changed);
        let kept: Vec<_> = robots.filter_map(|known| Some((&*known.model, known.prefix.strip_suffix('/')?))).collect();
        topic_prefixes(groups, self.namespaces, &kept)
    }

    /// Subscribes to the topics with these `prefixes` of another scene that the present one does not have.
    ///
    /// # Errors
    /// ROS refuses a topic; the topics created before it are removed.
    pub(crate) fn subscribe(&mut self, node: &mut Node, prefixes: Vec<String>) -> Result<NewControllers, ClientError> {
        let mut made = Vec::new();
        for prefix in &prefixes {
            if self.controllers.iter().all(|known| known.prefix != *prefix) {
                made.push(Controller::new(node, prefix.clone())?);
            }
        }
        Ok(NewControllers { prefixes, made })
    }

    /// Takes commands for the joints of another scene from now on; `made` has its new topics. Topics that
    /// stay keep their waiting messages. Returns the old index of each controller that lockstep waits for.
    pub(crate) fn enter(
        &mut self,
        made: NewControllers,
        scene: &Scene,
        groups: &[JointGroup],
        modes: &[ControlMode],
        gains: &[(f64, f64)],
    ) -> Vec<Option<usize>> {
        let before = std::mem::replace(&mut self.awaited, awaited_models(groups, self.namespaces));
        let same = |model: &String| before.iter().position(|known| known == model);
        let indices = self.awaited.iter().map(same).collect();
        if self.lockstep && self.awaited.is_empty() {
            tracing::info!("lockstep: the scene has no joints, so that no step waits for a command");
        }
        let everything = JointGroup {
            model: String::new(),
            joints: (0..scene.joints().len()).collect(),
            names: scene.joint_names().to_vec(),
        };
        let mut before = std::mem::take(&mut self.controllers);
        before.extend(made.made);
        for (number, prefix) in made.prefixes.into_iter().enumerate() {
            let (group, awaited) = match number.checked_sub(1) {
                None => (&everything, (!self.namespaces).then_some(0)),
                Some(robot) => (&groups[robot], Some(robot)),
            };
            if let Some(index) = before.iter().position(|controller| controller.prefix == prefix) {
                let mut controller = before.swap_remove(index);
                controller.set_joints(scene, group, awaited);
                self.controllers.push(controller);
            }
        }
        #[cfg(isobar_control)]
        before.iter_mut().for_each(|gone| gone.follow.abandon("its robot was deleted"));
        // A joint of a new world begins with its gains.
        let _ = self.set_modes(modes, gains);
        indices
    }

    /// Ends all goals, because the node ends. Returns whether clients have yet to request their results.
    pub(crate) fn end_goals(&mut self) -> bool {
        #[cfg(isobar_control)]
        self.controllers.iter_mut().for_each(|controller| {
            // Clients may have asked for results since the last spin.
            controller.follow.take_cancellations();
            controller.follow.abandon("the node ends");
        });
        #[cfg(isobar_control)]
        let awaits = self.controllers.iter().any(|controller| controller.follow.awaits_request());
        #[cfg(not(isobar_control))]
        let awaits = false;
        awaits
    }

    /// The topics of the controllers that lockstep waits for.
    pub(crate) fn awaited_topics(&self) -> Vec<String> {
        let topic = |index| {
            let of = self.controllers.iter().find(|controller| controller.awaited == Some(index));
            of.map(|controller| format!("{}joint_commands", controller.prefix))
        };
        (0..self.awaited.len()).filter_map(topic).collect()
    }

    /// Sets the control mode and the gains of each joint of the scene. Returns the joints whose actuators had
    /// no stiffness.
    pub(crate) fn set_modes(&mut self, modes: &[ControlMode], gains: &[(f64, f64)]) -> Vec<ScalarJointIndex> {
        let mut stiffened = Vec::new();
        for joint in self.controllers.iter_mut().flat_map(|controller| &mut controller.joints) {
            if let Some((stiffness, damping)) = gains.get(joint.target.to_usize()) {
                if *stiffness > 0.0 && !joint.gains.0 {
                    stiffened.push(joint.target);
                }
                joint.gains = (*stiffness > 0.0, *damping > 0.0);
            }
            if let Some(mode) = modes.get(joint.target.to_usize()) {
                joint.mode = match *mode {
                    ControlMode::Auto if joint.mimic => ControlMode::Nothing,
                    mode => mode,
                };
            }
        }
        stiffened
    }

    /// The prefixes of the topics of all controllers, without the namespace of the node.
    pub(crate) fn topic_prefixes(&self) -> impl Iterator<Item = &str> {
        self.controllers.iter().map(|controller| controller.prefix.as_str())
    }

    /// Takes all messages that have arrived. Call it after every spin, because a subscription keeps a limited
    /// number of messages.
    pub(crate) fn take_all(&mut self) {
        self.reports.overdue(Instant::now()).iter().for_each(|line| tracing::warn!("{line}"));
        self.mailbox.with_positions(|positions| {
            for joint in self.controllers.iter_mut().flat_map(|controller| &mut controller.joints) {
                joint.is_at(positions.get(joint.target.to_usize()).copied().unwrap_or(f64::NAN));
            }
        });
        for number in 0..self.controllers.len() {
            while let Some(message) = self.controllers[number].commands.next() {
                self.take_command(number, &message);
            }
            while let Some(message) = self.controllers[number].trajectories.next() {
                self.take_trajectory(number, &message);
            }
            for group in 0..self.controllers[number].groups.len() {
                while let Some(message) = self.controllers[number].groups[group].1.next() {
                    self.take_group(number, group, &message.data);
                }
            }
            #[cfg(isobar_control)]
            self.take_goals(number);
        }
        #[cfg(isobar_control)]
        self.report_goals();
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
        let canceled = self.controllers[number].follow.take_cancellations();
        if !canceled.is_empty() {
            self.mailbox.cancel_goals(&canceled);
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
        trajectory.tolerances = Some(goal_tolerances(self.goals, goal, joints)?);
        Ok(self.mailbox.start_trajectory(*id, trajectory)?)
    }

    /// Publishes the ends of goals, and the progress of the others.
    #[cfg(isobar_control)]
    fn report_goals(&mut self) {
        let news = self.mailbox.goal_updates();
        for controller in &mut self.controllers {
            news.feedback.iter().for_each(|feedback| controller.follow.publish_feedback(feedback, ""));
            news.ended.iter().for_each(|(goal, end)| controller.follow.ended(*goal, end, &controller.joints));
        }
    }

    fn take_command(&mut self, number: usize, message: &JointState) {
        let stamp_ns = nanoseconds(&message.header.stamp);
        let JointState { name, position, velocity, effort, .. } = message;
        let message = CommandMessage { name, position, velocity, effort };
        let result = self.command(number, stamp_ns, &message);
        self.report(number, "joint_commands", result);
    }

    fn command(&mut self, number: usize, stamp_ns: u64, message: &CommandMessage<'_>) -> Result<(), CommandError> {
        let Self { controllers, mailbox, clamped, idle, lockstep, .. } = self;
        let Controller { id, joints, awaited, .. } = &controllers[number];
        let stamp = match lockstep {
            true => Some(Stamp { controller: awaited.ok_or(CommandError::NotInLockstep)?, time_ns: stamp_ns }),
            false => None,
        };
        let refused = |mismatch| CommandError::Stamp {
            stamp_ns,
            problem: match mismatch {
                StampMismatch::Stale => "it belongs to an earlier state, or this one was answered already",
                StampMismatch::Early => "it belongs to a later state",
            },
        };
        if let Some(stamp) = stamp {
            mailbox.check_stamp(stamp).map_err(refused)?;
        }
        clamped.clear();
        let command = check(joints, message, clamped);
        // Values without effect answer the state all the same: without an answer no step would follow.
        if let (Err(CommandError::NoGains { .. } | CommandError::NotTaken { .. }), Some(stamp)) = (&command, stamp) {
            mailbox.command(*id, &CheckedCommand::default(), Some(stamp)).map_err(refused)?;
        }
        let command = command?;
        *idle = command.idle;
        // The state that waits for commands may have changed by now: the stamp is checked again when the
        // command is merged, under one lock.
        mailbox.command(*id, &command, stamp).map_err(refused)
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
        let Self { controllers, mailbox, clamped, idle, .. } = self;
        let Controller { id, joints, group, .. } = &controllers[number];
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
        // Commands from the topics of the other quantities remain in force.
        let command = CheckedCommand { whole: false, ..check(joints, &message, clamped)? };
        *idle = command.idle;
        // A message without a stamp is not refused.
        let _ = mailbox.command(*id, &command, None);
        Ok(())
    }

    fn take_trajectory(&mut self, number: usize, message: &JointTrajectory) {
        let Controller { id, joints, prefix, .. } = &self.controllers[number];
        let (reason, refused) = if self.lockstep {
            let error = CommandError::NotInLockstep;
            (Reason::Refused(discriminant(&error)), error.to_string())
        } else {
            let taken = match message.points.is_empty() {
                // A message without points is a cancellation for the joints that it names, or for all.
                true => canceled_joints(joints, &message.joint_names).map(|canceled| {
                    self.mailbox.cancel_trajectory(*id, &canceled);
                    tracing::info!("{prefix}joint_trajectory: canceled; joints that moved are held");
                }),
                false => read_trajectory(joints, message)
                    .and_then(|trajectory| self.mailbox.start_trajectory(*id, trajectory)),
            };
            let Err(error) = taken else { return };
            (Reason::RefusedTrajectory(discriminant(&error)), error.to_string())
        };
        count(&self.mailbox.counters.rejected);
        self.warn(number, "joint_trajectory", reason, &format!("{refused}. The trajectory was dropped"));
    }

    /// Logs a warning about a topic, at most once a second for each reason.
    fn warn(&mut self, number: usize, topic: &str, reason: Reason, text: &str) {
        let topic = format!("{}{topic}", self.controllers[number].prefix);
        let text = format!("{topic}: {text}");
        if let Some(line) = self.reports.due((topic, reason), text, Instant::now()) {
            tracing::warn!("{line}");
        }
    }

    fn report(&mut self, number: usize, topic: &str, result: Result<(), CommandError>) {
        match result {
            Ok(()) => {
                if let Some((joint, gain)) = self.idle.take() {
                    let name = &self.controllers[number].joints[joint].name;
                    let text = format!(
                        "its values have no effect on joint '{name}', whose actuator has no {gain} (parameter \
                         gains.{name}.{gain}); the other joints follow"
                    );
                    self.warn(number, topic, Reason::Idle, &text);
                }
                let Some(&Clamped { joint, array, asked, used }) = self.clamped.first() else { return };
                count(&self.mailbox.counters.clamped);
                let name = &self.controllers[number].joints[joint].name;
                let (asked, used) = (Number(asked), Number(used));
                let text = format!("{array} {asked} of joint '{name}' exceeds its limit; {used} is used");
                self.warn(number, topic, Reason::Clamped, &text);
            }
            Err(error) => {
                let counters = &self.mailbox.counters;
                count(if matches!(error, CommandError::Stamp { .. }) { &counters.stale } else { &counters.rejected });
                let reason = Reason::Refused(discriminant(&error));
                self.warn(number, topic, reason, &format!("{error}. The command was dropped"));
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
                    target: ScalarJointIndex::from_usize(target),
                    mode: ControlMode::Auto,
                    mimic: joint.mimic.is_some(),
                    gains: (true, true),
                    unlimited: joint.limits.lower.is_infinite() && joint.limits.upper.is_infinite(),
                    turns: joint.kind == JointKind::Continuous,
                    present: None,
                    lower: joint.limits.lower.max(-POSITION_MAX),
                    upper: joint.limits.upper.min(POSITION_MAX),
                    velocity: joint.limits.velocity.min(VELOCITY_MAX),
                    effort: actuator.effort_limit.min(joint.limits.effort).min(EFFORT_MAX),
                }
            })
            .collect();
        let leads = |joint: &&CommandedJoint| model.joints()[scene.joints()[joint.target.to_usize()]].mimic.is_none();
        self.group = joints.iter().filter(leads).map(|joint| joint.name.clone()).collect();
        (self.joints, self.awaited) = (joints, awaited);
        self.model.clone_from(&group.model);
        self.id = id_of(&group.model);
    }

    fn new(node: &mut Node, prefix: String) -> Result<Self, ClientError> {
        Ok(Self {
            id: id_of(""),
            model: String::new(),
            awaited: None,
            group: Vec::new(),
            joints: Vec::new(),
            commands: node.subscribe(&format!("{prefix}joint_commands"))?,
            trajectories: node.subscribe(&format!("{prefix}joint_trajectory"))?,
            #[cfg(isobar_control)]
            follow: FollowJointTrajectoryServer::new(node, &prefix)?,
            groups: [
                (Quantity::Position, node.subscribe(&format!("{prefix}position_commands"))?),
                (Quantity::Velocity, node.subscribe(&format!("{prefix}velocity_commands"))?),
                (Quantity::Effort, node.subscribe(&format!("{prefix}effort_commands"))?),
            ],
            prefix,
        })
    }
}

/// The number of the controller of a model: 1 for that of all joints, which has none, else the FNV-1a hash of
/// the model's name. Checkpoints contain the numbers of controllers with trajectories, so they must be the
/// same in every run; the topics of a model may have another name after a start with a checkpoint.
fn id_of(model: &str) -> usize {
    if model.is_empty() {
        return 1;
    }
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    model.bytes().fold(0xcbf2_9ce4_8422_2325, hash) as usize
}

fn targets(joints: &[CommandedJoint]) -> Vec<ScalarJointIndex> {
    joints.iter().map(|joint| joint.target).collect()
}

fn canceled_joints(joints: &[CommandedJoint], names: &[String]) -> Result<Vec<ScalarJointIndex>, TrajectoryError> {
    if names.is_empty() { Ok(targets(joints)) } else { joints_of(joints, names) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn group(model: &str) -> JointGroup {
        JointGroup { model: model.to_owned(), joints: Vec::new(), names: Vec::new() }
    }

    /// The names of `arm-1` and `arm_1` in topics are the same. After the first is gone, the second keeps its
    /// topics: a controller of `arm-1` does not move it.
    #[test]
    fn a_model_keeps_its_topics_when_another_is_gone() {
        let prefixes = topic_prefixes(&[group("arm-1"), group("arm_1")], true, &[]);
        assert_eq!(prefixes, ["", "arm_1/", "arm_1_2/"]);
        let kept = [("arm-1", "arm_1"), ("arm_1", "arm_1_2")];
        assert_eq!(topic_prefixes(&[group("arm_1")], true, &kept), ["", "arm_1_2/"]);
        assert_eq!(topic_prefixes(&[group("arm_1"), group("arm.1")], true, &kept), ["", "arm_1_2/", "arm_1/"]);
        assert_eq!(topic_prefixes(&[group("arm_1")], false, &kept), [""]);
    }

    /// Reference values of 64-bit FNV-1a: of "a" and of "foobar".
    #[test]
    fn the_number_of_a_controller_depends_on_its_model_only() {
        assert_eq!(id_of("a"), 0xaf63_dc4c_8601_ec8c_u64 as usize);
        assert_eq!(id_of("foobar"), 0x8594_4171_f739_67e8_u64 as usize);
        assert_eq!(id_of(""), 1);
    }
}
