//! The standing command: the present target of each joint, and the trajectories that change the targets over
//! time.
//!
//! Commands to other joints do not change a joint's target. A command or a trajectory ends the trajectories
//! of its own controller, and those that move any of its joints. Joints of such an ended trajectory are held
//! where they are, without velocity, unless the new command sets them.

use super::goal::{GoalEnd, GoalNews};
use super::joint_command::CheckedCommand;
use super::tracking::{JointStates, Progress, Tracking};
use super::trajectory::{Trajectory, TrajectoryError};
use crate::math::{ByteReader, ByteWriter, BytesError, Index, IndexVec, ScalarJointIndex};
use crate::stepping::{JointCommand, JointTarget};

/// The standing command of one joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct StandingTarget {
    target: JointTarget,
    /// Whether the position of the next step boundary becomes its target.
    hold: bool,
}

impl StandingTarget {
    const HOLD: Self = Self { target: JointTarget { position: None, velocity: None, effort: None }, hold: true };

    fn is_commanded(&self) -> bool {
        self.hold || self.target != JointTarget::default()
    }
}

/// The settings for following commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowSettings {
    /// Largest distance of a joint from its trajectory \[rad\] or \[m\]; 0 allows any.
    pub(crate) trajectory_tolerance: f64,
    /// Simulated time without a command after which the joints are held \[ns\]; 0 disables this.
    pub(crate) command_timeout_ns: u64,
    /// Whether feedback of goals is wanted now.
    pub(crate) feedback: bool,
}

/// An event of a step's commands, for the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CommandEvent {
    /// A trajectory ended. The value is never [`Progress::Following`].
    TrajectoryEnded(Progress),
    /// A trajectory exceeded the limits of its joints for the first time.
    TrajectoryClamped,
    /// The timeout expired without a command: the commanded joints are held.
    TimedOut,
}

/// The standing command of all joints of a world.
#[derive(Debug)]
pub(crate) struct StandingCommand {
    joints: IndexVec<ScalarJointIndex, StandingTarget>,
    trajectories: Vec<Tracking>,
    /// Time of the last step boundary \[ns\].
    now_ns: u64,
    /// Whether a command came since the last step boundary.
    is_new: bool,
    /// Time of the step boundary after the newest command \[ns\], and whether the joints have been held
    /// since.
    commanded_ns: u64,
    timed_out: bool,
    goals: GoalNews,
}

impl StandingCommand {
    /// A standing command without targets for any of `joints` joints.
    pub(crate) fn new(joints: usize) -> Self {
        Self {
            joints: IndexVec::from_elem(StandingTarget::default(), joints),
            trajectories: Vec::new(),
            now_ns: 0,
            is_new: true,
            commanded_ns: 0,
            timed_out: false,
            goals: GoalNews::default(),
        }
    }

    /// Merges a command: its values replace those of the same joint and quantity.
    pub(crate) fn command(&mut self, controller: usize, command: &CheckedCommand) {
        let joints = &command.joints;
        if joints.is_empty() {
            return;
        }
        self.end_trajectories(|ended| {
            ended.controller() == controller || joints.iter().any(|(joint, _)| ended.joints().contains(joint))
        });
        for (joint, given) in joints {
            let Some(standing) = self.joints.get_mut(*joint) else { continue };
            let JointTarget { position, velocity, effort } = &mut standing.target;
            *position = given.position.or(*position);
            *velocity = given.velocity.or(*velocity);
            *effort = given.effort.or(*effort);
            standing.hold &= given.position.is_none();
        }
        self.is_new = true;
    }

    /// Starts a trajectory.
    ///
    /// # Errors
    /// Its time is over, or belongs to another clock. Nothing changes in either case.
    pub(crate) fn start(&mut self, controller: usize, trajectory: Trajectory) -> Result<(), TrajectoryError> {
        trajectory.check_start(self.now_ns)?;
        self.end_trajectories(|ended| {
            let shares = ended.joints().iter().any(|joint| trajectory.joints().contains(joint));
            ended.controller() == controller || shares
        });
        self.trajectories.push(Tracking::new(controller, trajectory));
        self.is_new = true;
        Ok(())
    }

    /// Ends the trajectories of a controller and those of `joints`, and holds `joints` where they are.
    pub(crate) fn cancel(&mut self, controller: usize, joints: &[ScalarJointIndex]) {
        self.end_trajectories(|ended| {
            ended.controller() == controller || ended.joints().iter().any(|joint| joints.contains(joint))
        });
        for joint in joints {
            if let Some(standing) = self.joints.get_mut(*joint) {
                *standing = StandingTarget::HOLD;
            }
        }
        self.is_new = true;
    }

    /// Forgets all commands.
    pub(crate) fn clear(&mut self) {
        self.end_trajectories(|_| true);
        self.joints.fill(StandingTarget::default());
        self.is_new = true;
    }

    /// Ends all trajectories and holds their joints, because time has changed.
    pub(crate) fn hold_trajectories(&mut self) {
        self.end_trajectories(|_| true);
        self.is_new = true;
    }

    /// Continues in a world of `joints` joints. If anything is carried over, `indices` has the new index of
    /// each old joint; a trajectory continues if all its joints do.
    pub(crate) fn enter_world(&mut self, joints: usize, indices: Option<&[Option<ScalarJointIndex>]>) {
        let Some(indices) = indices else {
            self.clear();
            self.joints = IndexVec::from_elem(StandingTarget::default(), joints);
            self.now_ns = 0;
            return;
        };
        let of = |joint: &ScalarJointIndex| indices.get(joint.to_usize()).copied().flatten();
        self.end_trajectories(|tracking| tracking.joints().iter().any(|joint| of(joint).is_none()));
        for tracking in &mut self.trajectories {
            let stays = tracking.renumber_joints(indices);
            debug_assert!(stays, "trajectories with a joint that is gone have ended");
        }
        let mut renumbered = IndexVec::from_elem(StandingTarget::default(), joints);
        for (joint, standing) in self.joints.iter_enumerated() {
            if let Some(new) = of(&joint).and_then(|joint| renumbered.get_mut(joint)) {
                *new = *standing;
            }
        }
        self.joints = renumbered;
    }

    /// Ends trajectories early: their joints are held, and their goals are interrupted.
    fn end_trajectories(&mut self, ends: impl Fn(&Tracking) -> bool) {
        let Self { joints, trajectories, goals, .. } = self;
        trajectories.retain(|tracking| {
            let ends = ends(tracking);
            if ends {
                hold(joints, tracking);
                goals.ended.extend(tracking.goal().map(|goal| (goal, GoalEnd::Interrupted)));
            }
            !ends
        });
    }

    /// Advances to a step boundary: computes targets of trajectories, joints to hold, and the timeout.
    /// Reports are appended to `events`.
    pub(crate) fn advance(
        &mut self,
        states: &JointStates<'_>,
        settings: &FollowSettings,
        events: &mut Vec<CommandEvent>,
    ) {
        self.now_ns = states.time_ns;
        if std::mem::take(&mut self.is_new) {
            (self.commanded_ns, self.timed_out) = (states.time_ns, false);
        }
        if !self.trajectories.is_empty() {
            self.commanded_ns = states.time_ns;
            self.follow(states, settings, events);
        }
        self.hold_when_abandoned(states, settings.command_timeout_ns, events);
        for (joint, standing) in self.joints.indices().zip(self.joints.iter_mut()) {
            if std::mem::take(&mut standing.hold) {
                standing.target.position = Some(states.of(joint).0);
            }
        }
    }

    fn follow(&mut self, states: &JointStates<'_>, settings: &FollowSettings, events: &mut Vec<CommandEvent>) {
        let Self { joints, trajectories, goals, .. } = self;
        trajectories.retain_mut(|tracking| {
            let was_clamped = tracking.clamped();
            let progress = tracking.advance(states, settings.trajectory_tolerance, |joint, target| {
                if let Some(standing) = joints.get_mut(joint) {
                    *standing = StandingTarget { target, hold: false };
                }
            });
            if tracking.clamped() && !was_clamped {
                events.push(CommandEvent::TrajectoryClamped);
            }
            if settings.feedback
                && let Some(feedback) = tracking.feedback(states)
            {
                goals.feedback.retain(|other| other.number != feedback.number);
                goals.feedback.push(feedback);
            }
            let end = match progress {
                Progress::Following => return true,
                Progress::Done => GoalEnd::Reached,
                Progress::Aborted { joint, error } => GoalEnd::Path { joint, error },
                Progress::Missed { joint, error } => GoalEnd::End { joint, error },
                Progress::Overflow { joint } => GoalEnd::Overflow { joint },
            };
            if matches!(progress, Progress::Aborted { .. } | Progress::Overflow { .. }) {
                hold(joints, tracking);
            }
            goals.ended.extend(tracking.goal().map(|goal| (goal, end)));
            events.push(CommandEvent::TrajectoryEnded(progress));
            false
        });
    }

    /// Holds commanded joints where they are after too long without a command.
    fn hold_when_abandoned(&mut self, states: &JointStates<'_>, timeout_ns: u64, events: &mut Vec<CommandEvent>) {
        let since = states.time_ns.saturating_sub(self.commanded_ns);
        let commanded = |standing: &StandingTarget| standing.is_commanded();
        if timeout_ns == 0 || since <= timeout_ns || self.timed_out || !self.joints.iter().any(commanded) {
            return;
        }
        for standing in self.joints.iter_mut().filter(|standing| standing.is_commanded()) {
            *standing = StandingTarget::HOLD;
        }
        self.timed_out = true;
        events.push(CommandEvent::TimedOut);
    }

    /// Writes the targets of commanded joints into `command`; entries of other joints do not change.
    pub(crate) fn fill(&self, command: &mut JointCommand) {
        for (target, standing) in command.targets.iter_mut().zip(self.joints.iter()) {
            if standing.target != JointTarget::default() {
                *target = standing.target;
            }
        }
    }

    /// Writes the targets and the trajectories, without their goals.
    pub(crate) fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.joints.len());
        for StandingTarget { target, hold } in self.joints.iter() {
            [target.position, target.velocity, target.effort].into_iter().for_each(|value| writer.optional(value));
            writer.flag(*hold);
        }
        writer.len(self.trajectories.len());
        self.trajectories.iter().for_each(|tracking| tracking.write(writer));
        writer.u64(self.now_ns);
        writer.u64(self.commanded_ns);
        writer.flag(self.is_new);
        writer.flag(self.timed_out);
    }

    /// Reads what [`StandingCommand::write`] wrote, for a world of `count` joints.
    pub(crate) fn read(bytes: &[u8], count: usize) -> Result<Self, BytesError> {
        let mut reader = ByteReader::new(bytes);
        let mut standing = Self::new(count);
        if reader.len(28)? != count {
            return Err(BytesError::Invalid);
        }
        for joint in standing.joints.iter_mut() {
            let (position, velocity, effort) = (reader.optional()?, reader.optional()?, reader.optional()?);
            *joint = StandingTarget { target: JointTarget { position, velocity, effort }, hold: reader.flag()? };
        }
        for _ in 0..reader.len(1)? {
            standing.trajectories.push(Tracking::read(&mut reader, count)?);
        }
        (standing.now_ns, standing.commanded_ns) = (reader.u64()?, reader.u64()?);
        (standing.is_new, standing.timed_out) = (reader.flag()?, reader.flag()?);
        reader.end()?;
        Ok(standing)
    }

    /// Continues with the commands of a checkpoint; the goals of the present trajectories are interrupted.
    pub(crate) fn restore(&mut self, saved: Self) {
        self.end_trajectories(|_| true);
        *self = Self { goals: std::mem::take(&mut self.goals), ..saved };
    }

    /// The goal updates since the last call.
    pub(crate) fn take_goal_news(&mut self) -> GoalNews {
        std::mem::take(&mut self.goals)
    }
}

fn hold(joints: &mut IndexVec<ScalarJointIndex, StandingTarget>, tracking: &Tracking) {
    for joint in tracking.joints() {
        if let Some(standing) = joints.get_mut(*joint) {
            *standing = StandingTarget::HOLD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ros::commands::joint_command::{CommandMessage, CommandedJoint, check};
    use crate::ros::commands::trajectory::PointMessage;

    const STEP_NS: u64 = 10_000_000;
    const JOINTS: usize = 3;
    const NAMES: [&str; JOINTS] = ["slide", "turn", "lift"];

    fn joints() -> Vec<CommandedJoint> {
        NAMES.iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect()
    }

    /// The standing command, and joints that a test can move.
    struct Bench {
        standing: StandingCommand,
        time_ns: u64,
        position: Vec<f64>,
        timeout_ns: u64,
    }

    impl Bench {
        fn new() -> Self {
            Self { standing: StandingCommand::new(JOINTS), time_ns: 0, position: vec![0.0; JOINTS], timeout_ns: 0 }
        }

        fn command(&mut self, controller: usize, names: &[&str], position: &[f64], velocity: &[f64]) {
            let name: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let message = CommandMessage { name: &name, position, velocity, effort: &[] };
            self.standing.command(controller, &check(&joints(), &message, &mut Vec::new()).unwrap());
        }

        /// A trajectory to `goal` in `duration_ns`.
        fn start(&mut self, controller: usize, names: &[&str], goal: &[f64], duration_ns: u64) {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let time_ns = i64::try_from(duration_ns).unwrap();
            let point = PointMessage { positions: goal, velocities: &[], accelerations: &[], time_ns };
            let trajectory = Trajectory::new(&joints(), &names, None, [point].into_iter()).unwrap();
            self.standing.start(controller, trajectory).unwrap();
        }

        /// Returns the targets of the next step, then moves the joints to them and advances the time.
        fn step(&mut self) -> Vec<JointTarget> {
            let states = JointStates { time_ns: self.time_ns, position: &self.position, velocity: &[0.0; JOINTS] };
            let settings =
                FollowSettings { trajectory_tolerance: 0.0, command_timeout_ns: self.timeout_ns, feedback: false };
            self.standing.advance(&states, &settings, &mut Vec::new());
            let mut command = JointCommand::for_joints(JOINTS);
            self.standing.fill(&mut command);
            let targets = command.targets.as_slice().to_vec();
            for (position, target) in self.position.iter_mut().zip(&targets) {
                *position = target.position.unwrap_or(*position);
            }
            self.time_ns += STEP_NS;
            targets
        }
    }

    fn at(position: f64) -> JointTarget {
        JointTarget { position: Some(position), ..JointTarget::default() }
    }

    /// Regression, observed on the built node: `turn` jumped back from 0.998 rad to its target before the
    /// trajectory.
    #[test]
    fn a_command_for_one_joint_leaves_the_others_where_the_trajectory_has_brought_them() {
        let mut bench = Bench::new();
        bench.command(0, &["slide", "turn"], &[0.0, -0.5], &[]);
        bench.step();
        bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
        (0..6).for_each(|_| drop(bench.step()));
        let turn = bench.position[1];
        assert!(turn > 0.0, "on its way: {turn}");
        bench.command(0, &["slide"], &[0.2], &[]);
        (0..3).for_each(|_| assert_eq!(bench.step()[..2], [at(0.2), at(turn)]));
    }

    /// Commands and trajectories that were written and read at any step give the same targets from there on.
    #[test]
    fn a_standing_command_that_was_read_goes_on_as_the_one_that_was_written() {
        for saved_at in 0..16 {
            let mut bench = Bench::new();
            bench.timeout_ns = 4 * STEP_NS;
            let mut copy: Option<Bench> = None;
            for step in 0..24 {
                for bench in [Some(&mut bench), copy.as_mut()].into_iter().flatten() {
                    match step {
                        1 => bench.command(0, &["slide", "turn"], &[0.1, 0.2], &[0.0, 0.5]),
                        3 => bench.start(1, &["turn"], &[1.0], 6 * STEP_NS),
                        5 => bench.start(2, &["lift"], &[-1.0], 4 * STEP_NS),
                        7 => bench.standing.cancel(2, &[ScalarJointIndex::from_usize(2)]),
                        _ => {}
                    }
                }
                if step == saved_at {
                    let mut writer = ByteWriter::default();
                    bench.standing.write(&mut writer);
                    let bytes = writer.into_bytes();
                    assert!((0..bytes.len()).all(|len| StandingCommand::read(&bytes[..len], JOINTS).is_err()));
                    assert!(StandingCommand::read(&bytes, JOINTS + 1).is_err());
                    let standing = StandingCommand::read(&bytes, JOINTS).unwrap();
                    copy = Some(Bench { standing, position: bench.position.clone(), ..bench });
                }
                let targets = bench.step();
                assert!(copy.as_mut().is_none_or(|copy| copy.step() == targets), "saved at {saved_at}, step {step}");
            }
        }
    }

    /// Regression: the trajectory behaved as above and left a velocity target behind.
    #[test]
    fn a_newer_trajectory_on_fewer_joints_holds_the_others_without_velocity() {
        let mut bench = Bench::new();
        bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
        (0..6).for_each(|_| drop(bench.step()));
        let turn = bench.position[1];
        bench.start(0, &["slide"], &[0.0], 10 * STEP_NS);
        (0..20).for_each(|_| assert_eq!(bench.step()[1], at(turn)));
    }

    /// A command that sets no position of a joint holds it where its trajectory has brought it.
    #[test]
    fn a_velocity_after_a_trajectory_pulls_from_where_the_joint_is() {
        let mut bench = Bench::new();
        bench.start(0, &["turn"], &[1.0], 10 * STEP_NS);
        (0..6).for_each(|_| drop(bench.step()));
        let turn = bench.position[1];
        bench.command(0, &["turn"], &[], &[0.5]);
        assert_eq!(bench.step()[1], JointTarget { velocity: Some(0.5), ..at(turn) });
    }

    #[test]
    fn a_deleted_joint_ends_its_trajectory_and_holds_the_others() {
        let mut bench = Bench::new();
        bench.command(0, &["lift"], &[0.3], &[]);
        bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
        (0..6).for_each(|_| drop(bench.step()));
        let turn = bench.position[1];
        // `slide` is gone; `lift` and `turn` swap their indices.
        let index = |index| Some(ScalarJointIndex::from_usize(index));
        bench.standing.enter_world(2, Some(&[None, index(1), index(0)]));
        bench.position = vec![0.3, turn, 0.0];
        assert_eq!(bench.step()[..2], [at(0.3), at(turn)]);
    }

    /// Controller, joints and steps left of a trajectory.
    type Moving = (usize, Vec<usize>, u64);

    /// The expected state of each joint, as a simple model.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Model {
        Uncommanded,
        Target(JointTarget),
        /// Held where it is at the next step.
        Held,
        /// Moved by the trajectory with this number.
        Moved(usize),
    }

    /// 100,000 random sequences of commands, trajectories, cancellations, timeouts and resets. Once a joint
    /// is commanded, it keeps its target whatever arrives for other joints. A joint whose trajectory ends
    /// early is held where it is.
    #[test]
    fn a_joint_keeps_its_target_whatever_arrives_for_others() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        // Xorshift: the same sequences in every run.
        let mut below = |n: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % n
        };
        for sequence in 0..100_000 {
            let mut bench = Bench::new();
            bench.timeout_ns = below(3) * 5 * STEP_NS;
            let mut model = [Model::Uncommanded; JOINTS];
            let mut moving: Vec<Moving> = Vec::new();
            let (mut quiet, mut timed_out) = (0, false);
            for _ in 0..12 {
                let controller = below(2) as usize;
                let named: Vec<usize> = (0..JOINTS).filter(|_| below(2) == 0).collect();
                let names: Vec<&str> = named.iter().map(|joint| NAMES[*joint]).collect();
                let values: Vec<f64> = named.iter().map(|_| below(100) as f64 * 0.01).collect();
                let mut end = |model: &mut [Model; JOINTS], ends: &dyn Fn(&Moving) -> bool| {
                    for (number, trajectory) in moving.iter_mut().enumerate() {
                        if trajectory.2 > 0 && ends(trajectory) {
                            trajectory.2 = 0;
                            let of_it = model.iter_mut().filter(|joint| **joint == Model::Moved(number));
                            of_it.for_each(|joint| *joint = Model::Held);
                        }
                    }
                };
                let ended = |of: &Moving| of.0 == controller || of.1.iter().any(|joint| named.contains(joint));
                let operation = if named.is_empty() { 5 } else { below(8) };
                match operation {
                    0 | 1 => {
                        end(&mut model, &ended);
                        bench.command(controller, &names, &values, &[]);
                        for (joint, value) in named.iter().zip(&values) {
                            let JointTarget { velocity, effort, .. } = match model[*joint] {
                                Model::Target(target) => target,
                                _ => JointTarget::default(),
                            };
                            model[*joint] = Model::Target(JointTarget { position: Some(*value), velocity, effort });
                        }
                        (quiet, timed_out) = (0, false);
                    }
                    2 => {
                        end(&mut model, &ended);
                        let steps = 1 + below(5);
                        bench.start(controller, &names, &values, steps * STEP_NS);
                        named.iter().for_each(|joint| model[*joint] = Model::Moved(moving.len()));
                        moving.push((controller, named, steps + 1));
                        (quiet, timed_out) = (0, false);
                    }
                    3 => {
                        end(&mut model, &ended);
                        let cancelled: Vec<_> =
                            named.iter().map(|joint| ScalarJointIndex::from_usize(*joint)).collect();
                        bench.standing.cancel(controller, &cancelled);
                        named.iter().for_each(|joint| model[*joint] = Model::Held);
                        (quiet, timed_out) = (0, false);
                    }
                    4 => {
                        moving.iter_mut().for_each(|trajectory| trajectory.2 = 0);
                        bench.standing.clear();
                        model = [Model::Uncommanded; JOINTS];
                        (quiet, timed_out) = (0, false);
                    }
                    _ => {
                        let before = bench.position.clone();
                        let targets = bench.step();
                        for (joint, expected) in model.iter_mut().enumerate() {
                            if *expected == Model::Held {
                                *expected = Model::Target(at(before[joint]));
                            }
                        }
                        if moving.iter().any(|trajectory| trajectory.2 > 0) {
                            quiet = 0;
                        } else if bench.timeout_ns > 0 && quiet * STEP_NS > bench.timeout_ns && !timed_out {
                            timed_out = true;
                            for (joint, expected) in model.iter_mut().enumerate() {
                                if matches!(expected, Model::Target(_)) {
                                    *expected = Model::Target(at(before[joint]));
                                }
                            }
                        }
                        quiet += 1;
                        for (number, trajectory) in moving.iter_mut().enumerate().filter(|(_, of)| of.2 > 0) {
                            trajectory.2 -= 1;
                            for joint in trajectory.1.iter().filter(|_| trajectory.2 == 0) {
                                assert_eq!(model[*joint], Model::Moved(number));
                                model[*joint] = Model::Target(at(bench.position[*joint]));
                            }
                        }
                        for (joint, expected) in model.iter().enumerate() {
                            let target = targets[joint];
                            let holds = match expected {
                                Model::Uncommanded => target == JointTarget::default(),
                                Model::Target(wanted) => target == *wanted,
                                Model::Moved(_) => target.velocity.is_some(),
                                Model::Held => false,
                            };
                            assert!(holds, "sequence {sequence}: {}: {target:?}, not {expected:?}", NAMES[joint]);
                        }
                    }
                }
            }
        }
    }
}
