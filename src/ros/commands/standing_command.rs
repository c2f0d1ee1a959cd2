//! The standing command: the present target of each joint, and the trajectories that change the targets over
//! time.
//!
//! Commands to other joints do not change a joint's target. A command or a trajectory ends the trajectories
//! of its own controller, and those that move any of its joints. Joints of such an ended trajectory are held
//! where they are, without velocity, unless the new command sets them. A trajectory that has not begun ends
//! without any effect on its joints.
//!
//! After a failed step, the commands that may be its cause are withdrawn (`withdrawal.rs`).

mod withdrawal;

use super::goal::{GoalEnd, GoalUpdates};
use super::joint_command::CheckedCommand;
use super::tracking::{JointStates, Progress, Tracking};
use super::trajectory::{Trajectory, TrajectoryError};
use super::trial::{Stage, Trial};
use crate::math::{ByteReader, ByteWriter, BytesError, Index, IndexVec, ScalarJointIndex};
use crate::stepping::{JointCommand, JointTarget};

/// The standing command of one joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct StandingTarget {
    target: JointTarget,
    /// Whether its position at the next step boundary becomes its target.
    hold: bool,
    /// Whether the joint is held: its target is a measured position, not a commanded one.
    held: bool,
    /// Whether a step has succeeded with its newest command.
    trial: Trial,
    /// The target that is withdrawn while steps without it are tried.
    withdrawn: Option<JointTarget>,
    /// Time of the step boundary after its newest command \[ns\].
    commanded_ns: u64,
}

impl StandingTarget {
    const NOTHING: JointTarget = JointTarget { position: None, velocity: None, effort: None };

    /// Holds the joint where it is at the next step boundary.
    fn hold(&mut self) {
        (self.target, self.hold, self.held) = (Self::NOTHING, true, true);
        (self.trial, self.withdrawn) = (Trial::Passed, None);
    }

    /// Whether a command or a trajectory set its target.
    fn is_commanded(&self) -> bool {
        (self.target != Self::NOTHING || self.hold) && !self.held
    }

    /// Replaces the target by `given`, or only the quantities that `given` has.
    fn command(&mut self, given: &JointTarget, whole: bool) {
        if whole || self.held && given.position.is_none() {
            (self.target, self.hold) = (Self::NOTHING, false);
        }
        let JointTarget { position, velocity, effort } = &mut self.target;
        *position = given.position.or(*position);
        *velocity = given.velocity.or(*velocity);
        *effort = given.effort.or(*effort);
        self.hold &= given.position.is_none();
        (self.held, self.trial, self.withdrawn) = (false, Trial::New, None);
    }

    /// Whether the timeout applies to the joint: it has a target and is not held.
    fn can_be_abandoned(&self) -> bool {
        !self.held && self.target != Self::NOTHING
    }
}

/// The settings for following commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowSettings {
    /// Largest distance of a joint from its trajectory \[rad\] or \[m\]; 0 allows any.
    pub(crate) trajectory_tolerance: f64,
    /// Simulated time without a command to a joint after which it is held \[ns\]; 0 disables this.
    pub(crate) command_timeout_ns: u64,
    /// Whether feedback of goals is wanted now.
    pub(crate) feedback: bool,
    /// Whether the last step has succeeded.
    pub(crate) passed: bool,
}

/// An event of a step's commands, for the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CommandEvent {
    /// A trajectory ended. The value is never [`Progress::Following`].
    TrajectoryEnded(Progress),
    /// A trajectory exceeded the limits of its joints for the first time.
    TrajectoryClamped,
    /// The timeout of commanded joints expired: they are held.
    TimedOut,
    /// A trajectory from a topic was ended by a command that does not set all its joints.
    TrajectoryInterrupted,
}

/// The standing command of all joints of a world.
#[derive(Debug)]
pub(crate) struct StandingCommand {
    joints: IndexVec<ScalarJointIndex, StandingTarget>,
    trajectories: Vec<Tracking>,
    /// The trajectories that are withdrawn while steps without them are tried.
    suspended: Vec<Tracking>,
    /// The commands that are withdrawn after failed steps.
    stage: Stage,
    /// Time of the last step boundary \[ns\].
    now_ns: u64,
    goals: GoalUpdates,
    /// Whether the next step reports [`CommandEvent::TrajectoryInterrupted`].
    interrupted: bool,
}

impl StandingCommand {
    /// A standing command without targets for any of `joints` joints.
    pub(crate) fn new(joints: usize) -> Self {
        Self {
            joints: IndexVec::from_elem(StandingTarget::default(), joints),
            trajectories: Vec::new(),
            suspended: Vec::new(),
            stage: Stage::default(),
            now_ns: 0,
            goals: GoalUpdates::default(),
            interrupted: false,
        }
    }

    /// Takes a command for the joints that it names.
    pub(crate) fn command(&mut self, controller: usize, command: &CheckedCommand) {
        let joints = &command.joints;
        if joints.is_empty() {
            return;
        }
        let names = |joint: &ScalarJointIndex| joints.iter().any(|(named, _)| named == joint);
        self.replace_trajectories(controller, names);
        for (joint, given) in joints {
            if let Some(standing) = self.joints.get_mut(*joint) {
                standing.command(given, command.whole);
            }
        }
    }

    /// Starts a trajectory.
    ///
    /// # Errors
    /// Its time is over, or belongs to another clock. Nothing changes in either case.
    pub(crate) fn start(&mut self, controller: usize, trajectory: Trajectory) -> Result<(), TrajectoryError> {
        trajectory.check_start(self.now_ns)?;
        self.replace_trajectories(controller, |joint| trajectory.joints().contains(joint));
        self.trajectories.push(Tracking::new(controller, trajectory));
        Ok(())
    }

    /// Ends the trajectories of a controller and those of `joints`. Those of `joints` that a velocity or an
    /// effort moves are held where they are; the others keep their targets.
    pub(crate) fn cancel(&mut self, controller: usize, joints: &[ScalarJointIndex]) {
        self.end_trajectories(|ended| {
            ended.controller() == controller || ended.joints().iter().any(|joint| joints.contains(joint))
        });
        for joint in joints {
            let moves = |target: JointTarget| target.velocity.is_some() || target.effort.is_some();
            if let Some(standing) = self.joints.get_mut(*joint)
                && (moves(standing.target) || standing.withdrawn.is_some_and(moves))
            {
                standing.hold();
            }
        }
    }

    /// Ends the trajectories that follow the goals with these numbers; their joints are held.
    pub(crate) fn cancel_goals(&mut self, numbers: &[u64]) {
        self.end_trajectories(|ended| ended.goal().is_some_and(|goal| numbers.contains(&goal)));
    }

    /// Ends all trajectories and clears all commands.
    pub(crate) fn clear(&mut self) {
        self.end_trajectories(|_| true);
        self.joints.fill(StandingTarget::default());
        self.stage = Stage::default();
    }

    /// Ends all trajectories and holds their joints, because time has changed.
    pub(crate) fn hold_trajectories(&mut self) {
        self.end_trajectories(|_| true);
    }

    /// Holds those of `joints` that nothing commands where they are.
    pub(crate) fn hold_idle(&mut self, joints: &[ScalarJointIndex]) {
        let moves = |joint: &ScalarJointIndex| self.trajectories.iter().any(|of| of.joints().contains(joint));
        for joint in joints.iter().filter(|joint| !moves(joint)) {
            if let Some(standing) = self.joints.get_mut(*joint)
                && standing.target == StandingTarget::NOTHING
            {
                standing.hold();
            }
        }
    }

    /// Simulated time starts again at zero.
    pub(crate) fn reset_time(&mut self) {
        self.now_ns = 0;
        self.joints.iter_mut().for_each(|standing| standing.commanded_ns = 0);
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
        for tracking in self.trajectories.iter_mut().chain(&mut self.suspended) {
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

    /// Ends the trajectories of a controller and those that move a joint that `sets` selects, for a newer
    /// command to these joints.
    fn replace_trajectories(&mut self, controller: usize, sets: impl Fn(&ScalarJointIndex) -> bool) {
        let ends = |of: &Tracking| of.controller() == controller || of.joints().iter().any(&sets);
        // The client of a goal gets its result.
        let stops = |of: &&Tracking| ends(of) && of.goal().is_none() && !of.joints().iter().all(&sets);
        self.interrupted |= self.trajectories.iter().any(|of| stops(&of));
        self.end_trajectories(ends);
    }

    /// Ends trajectories early: their joints are held, and their goals are interrupted.
    fn end_trajectories(&mut self, ends: impl Fn(&Tracking) -> bool) {
        let Self { joints, trajectories, suspended, goals, .. } = self;
        let mut stays = |tracking: &Tracking, end: &mut dyn FnMut(&Tracking)| {
            let ends = ends(tracking);
            if ends {
                end(tracking);
                goals.ended.extend(tracking.goal().map(|goal| (goal, GoalEnd::Interrupted)));
            }
            !ends
        };
        trajectories.retain(|tracking| stays(tracking, &mut |ended| hold(joints, ended)));
        // Their joints are held already, and stay so.
        let mut keep_held = |ended: &Tracking| {
            for joint in ended.joints() {
                joints.get_mut(*joint).into_iter().for_each(|standing| standing.withdrawn = None);
            }
        };
        suspended.retain(|tracking| stays(tracking, &mut keep_held));
    }

    /// Advances to a step boundary: computes targets of trajectories, joints to hold, and the timeout.
    /// Events are appended to `events`.
    pub(crate) fn advance(
        &mut self,
        states: &JointStates<'_>,
        settings: &FollowSettings,
        events: &mut Vec<CommandEvent>,
    ) {
        self.now_ns = states.time_ns;
        if settings.passed {
            self.step_succeeded_without();
        }
        if std::mem::take(&mut self.interrupted) {
            events.push(CommandEvent::TrajectoryInterrupted);
        }
        for standing in self.joints.iter_mut() {
            if standing.trial == Trial::New {
                standing.commanded_ns = states.time_ns;
            }
            standing.trial.begin_step(settings.passed);
        }
        self.follow(states, settings, events);
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
            let (tolerance, passed) = (settings.trajectory_tolerance, settings.passed);
            let progress = tracking.advance(states, tolerance, passed, |joint, target, trial| {
                if let Some(standing) = joints.get_mut(joint) {
                    let commanded_ns = states.time_ns;
                    *standing = StandingTarget { target, commanded_ns, trial, ..StandingTarget::default() };
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

    /// Holds each commanded joint where it is after too long without a command to it.
    fn hold_when_abandoned(&mut self, states: &JointStates<'_>, timeout_ns: u64, events: &mut Vec<CommandEvent>) {
        if timeout_ns == 0 {
            return;
        }
        let mut timed_out = false;
        for standing in self.joints.iter_mut().filter(|standing| standing.can_be_abandoned()) {
            if states.time_ns.saturating_sub(standing.commanded_ns) > timeout_ns {
                standing.hold();
                timed_out = true;
            }
        }
        if timed_out {
            events.push(CommandEvent::TimedOut);
        }
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
        for StandingTarget { target, hold, held, trial, commanded_ns, .. } in self.joints.iter() {
            [target.position, target.velocity, target.effort].into_iter().for_each(|value| writer.optional(value));
            [*hold, *held, *trial == Trial::New].into_iter().for_each(|flag| writer.flag(flag));
            writer.u64(*commanded_ns);
        }
        writer.len(self.trajectories.len());
        self.trajectories.iter().for_each(|tracking| tracking.write(writer));
        writer.u64(self.now_ns);
    }

    /// Reads the output of [`StandingCommand::write`] for a world of `count` joints.
    pub(crate) fn read(bytes: &[u8], count: usize) -> Result<Self, BytesError> {
        let mut reader = ByteReader::new(bytes);
        let mut standing = Self::new(count);
        if reader.len(38)? != count {
            return Err(BytesError::Invalid);
        }
        for joint in standing.joints.iter_mut() {
            let (position, velocity, effort) = (reader.optional()?, reader.optional()?, reader.optional()?);
            let target = JointTarget { position, velocity, effort };
            let (hold, held, is_new) = (reader.flag()?, reader.flag()?, reader.flag()?);
            let trial = if is_new { Trial::New } else { Trial::Passed };
            *joint = StandingTarget { target, hold, held, trial, withdrawn: None, commanded_ns: reader.u64()? };
        }
        for _ in 0..reader.len(1)? {
            standing.trajectories.push(Tracking::read(&mut reader, count)?);
        }
        standing.now_ns = reader.u64()?;
        reader.end()?;
        Ok(standing)
    }

    /// Continues with the commands of a checkpoint; the goals of the present trajectories are interrupted.
    pub(crate) fn restore(&mut self, saved: Self) {
        self.end_trajectories(|_| true);
        *self = Self { goals: std::mem::take(&mut self.goals), ..saved };
    }

    /// The goal updates since the last call.
    pub(crate) fn take_goal_updates(&mut self) -> GoalUpdates {
        std::mem::take(&mut self.goals)
    }
}

/// Holds the joints of a trajectory if it has begun.
fn hold(joints: &mut IndexVec<ScalarJointIndex, StandingTarget>, tracking: &Tracking) {
    for joint in tracking.joints().iter().filter(|_| tracking.has_begun()) {
        if let Some(standing) = joints.get_mut(*joint) {
            standing.hold();
        }
    }
}

#[cfg(test)]
mod tests;
