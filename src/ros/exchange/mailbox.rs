//! State shared by the spinning thread and the simulation thread: one lock over commands, requests and the
//! next world. A command is therefore never seen in part, nor with the joints of another world.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::counters::Counters;
use super::health::{CheckpointStatus, Health, RecordingStatus};
use super::lockstep::{AwaitedState, StampMismatch};
use super::requests::{
    BodyStates, BoundaryChange, CheckpointOutcome, CheckpointRequest, Checkpoints, NewBodyState, ResetScope,
    StepRefusal, resets,
};
use super::settings::{Mode, Physics, RunSettings};
use super::step_watch::StepWatch;
use super::sync::{Condvar, Mutex, MutexGuard};
use super::world::NewWorld;
use crate::math::{BodyIndex, ByteWriter, Index, ScalarJointIndex, SpatialForce};
use crate::ros::commands::goal::GoalUpdates;
use crate::ros::commands::joint_command::CheckedCommand;
use crate::ros::commands::standing_command::{CommandEvent, FollowSettings, StandingCommand};
use crate::ros::commands::tracking::JointStates;
use crate::ros::commands::trajectory::{Trajectory, TrajectoryError};
use crate::ros::commands::trial::Withdrawal;
use crate::stepping::{Checkpoint, JointCommand};

/// A stamped command in lockstep: the controller that sent it, and the stamp \[ns\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) controller: usize,
    pub(crate) time_ns: u64,
}

/// The state that the simulation thread reads at each step boundary. `W` is the type of the next world.
#[derive(Debug)]
pub(crate) struct Mailbox<W = NewWorld> {
    state: Mutex<MailboxState<W>>,
    changed: Condvar,
    stop: AtomicBool,
    quit: AtomicBool,
    pub(crate) counters: Counters,
    pub(crate) recording: Arc<RecordingStatus>,
    pub(crate) checkpoint: CheckpointStatus,
    pub(crate) step_watch: StepWatch,
    /// The reason why the simulation ended by itself.
    pub(super) failure: Mutex<Option<String>>,
    /// The reason why no step can be taken until a reset.
    pub(super) halted: Mutex<Option<String>>,
    /// The reason why no requested step is taken in lockstep.
    pub(super) unanswered: Mutex<Option<String>>,
    pub(super) health: Mutex<Option<Health>>,
    body_states: Mutex<Arc<BodyStates>>,
    /// The newest world whose topics are published.
    published: AtomicU64,
}

/// All state under the lock.
#[derive(Debug)]
struct MailboxState<W> {
    /// Number of changes that wake the simulation thread.
    changes: u64,
    commands: StandingCommand,
    awaited: AwaitedState,
    settings: RunSettings,
    /// Mode and length \[ns\] of the steps in force. Those of `settings` apply from the next reset on.
    stepping: (Mode, u64),
    physics: Option<Physics>,
    /// The numbers of the newest request for the states of the bodies, and of the last one answered.
    state_requests: u64,
    state_requests_answered: u64,
    checkpoints: Checkpoints,
    /// The positions of the joints at the last step boundary \[rad\] or \[m\].
    positions: Vec<f64>,
    /// Resets, checkpoints, wrenches and placements, as they arrived.
    boundary: Vec<BoundaryChange>,
    /// A world that waits to be entered, the number of the newest world, and that of the one that runs.
    world: Option<Box<W>>,
    worlds: u64,
    worlds_entered: u64,
    /// The number of controllers that answer in the newest world; `None` if that world carries no state over.
    controllers: Option<usize>,
    paused: bool,
    /// Steps requested while paused, and how many of them were taken.
    steps_wanted: u64,
    steps_taken: u64,
}

impl<W> MailboxState<W> {
    fn set_positions(&mut self, positions: &[f64]) {
        self.positions.clear();
        self.positions.extend_from_slice(positions);
    }

    /// Whether a reset, a new world, a state request or a checkpoint request is pending. A wait for commands
    /// must not delay these.
    fn is_urgent(&self) -> bool {
        let waits = |change: &BoundaryChange| !matches!(change, BoundaryChange::Wrench(..));
        self.world.is_some() || self.state_requests != self.state_requests_answered || self.boundary.iter().any(waits)
    }
}

/// The changes that the simulation thread takes from the mailbox at a step boundary.
#[derive(Debug)]
pub(crate) struct Collected<W = NewWorld> {
    pub(crate) settings: RunSettings,
    pub(crate) paused: bool,
    /// Remaining steps to take while paused.
    pub(crate) steps: u64,
    pub(crate) physics: Option<Physics>,
    /// The number of the newest request for the states of the bodies, if one waits.
    pub(crate) state_requests: Option<u64>,
    /// Resets, checkpoints, wrenches and placements, to be made in this order.
    pub(crate) boundary: Vec<BoundaryChange>,
    /// The world to continue with; all other fields already refer to it.
    pub(crate) world: Option<Box<W>>,
    /// The argument for [`Mailbox::wait_for_change`].
    pub(crate) changes: u64,
}

impl<W> Mailbox<W> {
    /// A mailbox of a world with `joints` joints.
    pub(crate) fn new(joints: usize, settings: RunSettings, paused: bool) -> Self {
        let state = MailboxState {
            changes: 0,
            commands: StandingCommand::new(joints),
            awaited: AwaitedState::default(),
            settings,
            stepping: (settings.mode, settings.step_ns),
            physics: None,
            state_requests: 0,
            state_requests_answered: 0,
            checkpoints: Checkpoints::default(),
            positions: Vec::new(),
            boundary: Vec::new(),
            world: None,
            worlds: 0,
            worlds_entered: 0,
            controllers: None,
            paused,
            steps_wanted: 0,
            steps_taken: 0,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            counters: Counters::default(),
            recording: Arc::default(),
            checkpoint: CheckpointStatus::default(),
            step_watch: StepWatch::default(),
            failure: Mutex::new(None),
            halted: Mutex::new(None),
            unanswered: Mutex::new(None),
            health: Mutex::new(None),
            body_states: Mutex::new(Arc::default()),
            published: AtomicU64::new(0),
        }
    }

    /// The state stays usable if another thread panicked with the lock, because every change leaves it
    /// consistent.
    fn lock(&self) -> MutexGuard<'_, MailboxState<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes the simulation thread.
    fn change<R>(&self, change: impl FnOnce(&mut MailboxState<W>) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        state.changes += 1;
        self.changed.notify_all();
        result
    }

    /// Merges a controller's command into the standing command.
    ///
    /// # Errors
    /// In lockstep, a stamp other than that of the state that waits for commands. Nothing changes then.
    pub(crate) fn command(
        &self,
        controller: usize,
        command: &CheckedCommand,
        stamp: Option<Stamp>,
    ) -> Result<(), StampMismatch> {
        let mut state = self.lock();
        if let Some(stamp) = stamp {
            state.awaited.check(stamp.controller, stamp.time_ns)?;
            state.awaited.answer(stamp.controller);
            state.changes += 1;
            self.changed.notify_all();
        }
        state.commands.command(controller, command);
        Ok(())
    }

    /// Whether a command with that stamp would be accepted now.
    pub(crate) fn check_stamp(&self, stamp: Stamp) -> Result<(), StampMismatch> {
        self.lock().awaited.check(stamp.controller, stamp.time_ns)
    }

    /// Starts a controller's trajectory.
    ///
    /// # Errors
    /// Its time is over, or belongs to another clock.
    pub(crate) fn start_trajectory(&self, controller: usize, trajectory: Trajectory) -> Result<(), TrajectoryError> {
        self.lock().commands.start(controller, trajectory)
    }

    /// Ends the trajectories of a controller and those of `joints`, and holds those of `joints` that a
    /// velocity or an effort moves.
    pub(crate) fn cancel_trajectory(&self, controller: usize, joints: &[ScalarJointIndex]) {
        self.lock().commands.cancel(controller, joints);
    }

    /// Ends the goals with these numbers; their joints are held where they are.
    pub(crate) fn cancel_goals(&self, numbers: &[u64]) {
        self.lock().commands.cancel_goals(numbers);
    }

    /// The goal updates since the last call.
    pub(crate) fn goal_updates(&self) -> GoalUpdates {
        self.lock().commands.take_goal_updates()
    }

    /// Advances to a step boundary of the world with that number, and writes the targets of commanded joints
    /// into `command`. Events are appended to `events`. Returns false if a reset or another world is pending,
    /// which must be taken over before the next step.
    pub(crate) fn advance(
        &self,
        world: u64,
        joints: &JointStates<'_>,
        settings: &FollowSettings,
        command: &mut JointCommand,
        events: &mut Vec<CommandEvent>,
    ) -> bool {
        let mut state = self.lock();
        if resets(&state.boundary).is_some() || state.worlds != world {
            return false;
        }
        state.set_positions(joints.position);
        state.commands.advance(joints, settings, events);
        state.commands.fill(command);
        true
    }

    /// Stores the positions of the joints of the world with that number, unless another world waits.
    pub(crate) fn set_positions(&self, world: u64, positions: &[f64]) {
        let mut state = self.lock();
        if state.worlds == world {
            state.set_positions(positions);
        }
    }

    /// Calls `read` with the positions of the joints of the newest world at the last step boundary. Those of
    /// joints that no step has moved yet may be missing, or NaN.
    pub(crate) fn with_positions<R>(&self, read: impl FnOnce(&[f64]) -> R) -> R {
        read(&self.lock().positions)
    }

    /// Withdraws the commands that most likely made a step of the world with the number `world` fail; `named`
    /// are the joints that the failure names. `None` if a reset or another world waits, which comes first.
    pub(crate) fn withdraw(&self, world: u64, named: &[ScalarJointIndex]) -> Option<Withdrawal> {
        let mut state = self.lock();
        let stands = resets(&state.boundary).is_none() && state.worlds == world;
        stands.then(|| state.commands.withdraw(named))
    }

    /// Opens the state at `time_ns` of the world with that number for commands. If another world waits that
    /// carries the state over, its controllers answer, by their numbers in that world; if it does not, no
    /// answer counts.
    pub(crate) fn await_commands(&self, world: u64, time_ns: u64, controllers: usize) {
        let mut state = self.lock();
        match if state.worlds == world { Some(controllers) } else { state.controllers } {
            Some(controllers) => state.awaited.set(time_ns, controllers),
            None => state.awaited.close(),
        }
    }

    /// Requests a reset. A reset of the state discards all commands that came before it; any reset ends
    /// trajectories and wrenches, and in lockstep the state that waits for commands.
    pub(crate) fn request_reset(&self, scope: ResetScope) {
        self.set_halted(None);
        self.change(|state| {
            if scope.state {
                state.commands.clear();
                // Later commands are not checked against the positions before the reset.
                state.positions.clear();
            } else {
                state.commands.hold_trajectories();
            }
            if scope.time {
                state.commands.reset_time();
            }
            state.awaited.close();
            // It ends the wrenches before it. A reset before these wrenches becomes a part of it.
            let wrench = |change: &BoundaryChange| matches!(change, BoundaryChange::Wrench(..));
            let last = state.boundary.iter().rposition(|change| !wrench(change));
            let mut scope = scope;
            if let Some(last) = last
                && let Some(before) = state.boundary[last].reset()
            {
                state.boundary.truncate(last);
                scope = ResetScope { state: before.state || scope.state, time: before.time || scope.time };
            }
            state.boundary.push(BoundaryChange::Reset(scope));
        });
    }

    /// Requests the states of the bodies, after `placement` if there is one. Returns the number that
    /// [`Mailbox::state_requests_answered`] reaches when the answer is there.
    pub(crate) fn request_state(&self, placement: Option<NewBodyState>) -> u64 {
        self.change(|state| {
            state.boundary.extend(placement.map(BoundaryChange::BodyState));
            state.state_requests += 1;
            state.state_requests
        })
    }

    /// Answers the state requests up to `number`.
    pub(crate) fn answer_state_requests(&self, number: u64, states: BodyStates) {
        *self.body_states.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(states);
        self.lock().state_requests_answered = number;
    }

    pub(crate) fn state_requests_answered(&self) -> u64 {
        self.lock().state_requests_answered
    }

    /// The states of the bodies when the last state requests were answered.
    pub(crate) fn body_states(&self) -> Arc<BodyStates> {
        self.body_states.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hands over the world with that number, which has `joints` joints: commands refer to those from now on.
    /// If anything is carried over, `indices` has the new index of each old joint. Then the state that waits
    /// for commands still waits, with its answers: `controllers` has the old index of each new controller.
    pub(crate) fn set_world(
        &self,
        number: u64,
        joints: usize,
        indices: Option<&[Option<ScalarJointIndex>]>,
        controllers: &[Option<usize>],
        physics: Physics,
        world: W,
    ) {
        self.change(|state| {
            let mut positions = vec![f64::NAN; joints];
            let carried = indices.into_iter().flatten().zip(&state.positions);
            for (index, position) in carried.filter_map(|(index, position)| Some(((*index)?, position))) {
                positions[index.to_usize()] = *position;
            }
            state.positions = positions;
            state.commands.enter_world(joints, indices);
            state.boundary.retain(|change| !matches!(change, BoundaryChange::Wrench(..)));
            match indices {
                Some(_) => state.awaited.renumber_controllers(controllers),
                None => state.awaited.close(),
            }
            state.controllers = indices.map(|_| controllers.len());
            state.physics = Some(physics);
            state.worlds = number;
            state.world = Some(Box::new(world));
        });
    }

    /// Records that the world with that number runs.
    pub(crate) fn world_entered(&self, number: u64) {
        self.lock().worlds_entered = number;
    }

    /// Records that the topics of the world with that number are published.
    pub(crate) fn world_published(&self, number: u64) {
        self.published.store(number, Ordering::Release);
    }

    /// Whether the newest world runs and is published.
    pub(crate) fn worlds_settled(&self) -> bool {
        let state = self.lock();
        state.worlds == state.worlds_entered && self.published.load(Ordering::Acquire) == state.worlds
    }

    /// Pauses or resumes. Requested steps that have not been taken are discarded.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.change(|state| {
            state.paused = paused;
            state.steps_wanted = state.steps_taken;
        });
    }

    pub(crate) fn paused(&self) -> bool {
        self.lock().paused
    }

    /// Requests `count` steps of a paused simulation. Returns the values of [`Mailbox::steps_taken`] before
    /// the first and after the last of them.
    pub(crate) fn request_steps(&self, count: u64) -> Result<(u64, u64), StepRefusal> {
        self.change(|state| {
            if !state.paused {
                return Err(StepRefusal::NotPaused);
            }
            let from = state.steps_wanted;
            state.steps_wanted = from.checked_add(count).ok_or(StepRefusal::TooMany)?;
            Ok((from, state.steps_wanted))
        })
    }

    /// Withdraws the steps from `from` to `to` that have not been taken, except one that may be in progress;
    /// returns the new `to`.
    pub(crate) fn withdraw_steps(&self, from: u64, to: u64) -> u64 {
        self.change(|state| {
            let taken = state.steps_taken;
            let reached = if taken < from { from } else { to.min(taken + 1) };
            state.steps_wanted -= to - reached;
            reached
        })
    }

    pub(crate) fn steps_taken(&self) -> u64 {
        self.lock().steps_taken
    }

    /// Records that a requested step was taken; returns how many are left.
    pub(crate) fn step_taken(&self) -> u64 {
        let mut state = self.lock();
        state.steps_taken += 1;
        // The request for this step may have been withdrawn while it was taken.
        state.steps_wanted = state.steps_wanted.max(state.steps_taken);
        state.steps_wanted - state.steps_taken
    }

    /// Sets the settings from the next step on. The joints `stiffened`, whose actuators get a stiffness, are
    /// held where they are if nothing commands them.
    pub(crate) fn set_settings(&self, settings: RunSettings, physics: Physics, stiffened: &[ScalarJointIndex]) {
        self.change(|state| {
            state.settings = settings;
            state.physics = Some(physics);
            state.commands.hold_idle(stiffened);
        });
    }

    pub(crate) fn settings(&self) -> RunSettings {
        self.lock().settings
    }

    /// Records the mode and the length \[ns\] of the steps from now on.
    pub(crate) fn set_stepping(&self, stepping: (Mode, u64)) {
        self.lock().stepping = stepping;
    }

    /// The settings, with the mode and the length of the steps that are in force.
    pub(crate) fn settings_in_force(&self) -> RunSettings {
        let state = self.lock();
        RunSettings { mode: state.stepping.0, step_ns: state.stepping.1, ..state.settings }
    }

    /// Takes the changes since the last call.
    pub(crate) fn collect(&self) -> Collected<W> {
        let mut state = self.lock();
        let boundary = std::mem::take(&mut state.boundary);
        if resets(&boundary).is_some() {
            state.awaited.close();
        }
        Collected {
            settings: state.settings,
            paused: state.paused,
            steps: state.steps_wanted.saturating_sub(state.steps_taken),
            physics: state.physics.take(),
            world: state.world.take(),
            state_requests: (state.state_requests != state.state_requests_answered).then_some(state.state_requests),
            boundary,
            changes: state.changes,
        }
    }

    /// Applies a wrench to a body of the newest world from the next step on, in place of the previous one on
    /// that body.
    pub(crate) fn apply_wrench(&self, body: BodyIndex, F_BBo_B: SpatialForce) {
        let boundary = &mut self.lock().boundary;
        let since = boundary.iter().rposition(|change| !matches!(change, BoundaryChange::Wrench(..)));
        let mut newest = boundary.iter_mut().skip(since.map_or(0, |index| index + 1));
        let of_body =
            |change: &&mut BoundaryChange| matches!(change, BoundaryChange::Wrench(other, _) if *other == body);
        match newest.find(of_body) {
            Some(change) => *change = BoundaryChange::Wrench(body, F_BBo_B),
            None => boundary.push(BoundaryChange::Wrench(body, F_BBo_B)),
        }
    }

    /// Requests that a checkpoint is saved at the next step boundary, or that `restore` is restored there.
    /// Returns the number of the request.
    pub(crate) fn request_checkpoint(&self, restore: Option<Checkpoint>) -> u64 {
        self.change(|state| {
            state.checkpoints.number += 1;
            let number = state.checkpoints.number;
            let request = CheckpointRequest { number, restore: restore.map(Box::new) };
            state.boundary.push(BoundaryChange::Checkpoint(request));
            number
        })
    }

    /// Records the outcome of a request for a checkpoint.
    pub(crate) fn answer_checkpoint(&self, number: u64, outcome: CheckpointOutcome) {
        self.lock().checkpoints.ended.push((number, outcome));
    }

    /// The outcome of a request for a checkpoint; `None` while it waits.
    pub(crate) fn take_checkpoint_outcome(&self, number: u64) -> Option<CheckpointOutcome> {
        let ended = &mut self.lock().checkpoints.ended;
        let index = ended.iter().position(|(other, _)| *other == number)?;
        Some(ended.swap_remove(index).1)
    }

    /// The standing command of the world with that number, for a checkpoint. `None` if another world waits.
    pub(crate) fn save_commands(&self, world: u64) -> Option<Vec<u8>> {
        let state = self.lock();
        let mut writer = ByteWriter::default();
        (state.worlds == world).then(|| state.commands.write(&mut writer))?;
        Some(writer.into_bytes())
    }

    /// Continues with the standing command of a checkpoint, in the world with that number. `later` are the
    /// resets that were requested after the checkpoint and collected with it; they and the resets that wait
    /// also apply to `saved`. False if another world waits.
    pub(crate) fn restore_commands(&self, world: u64, mut saved: StandingCommand, later: Option<ResetScope>) -> bool {
        let mut state = self.lock();
        let waiting = resets(&state.boundary).into_iter().chain(later);
        let later = waiting.reduce(|a, b| ResetScope { state: a.state || b.state, time: a.time || b.time });
        let fits = state.worlds == world;
        if fits {
            // A reset of the state has discarded all commands before it, and those since are newer.
            if !later.is_some_and(|scope| scope.state) {
                if let Some(scope) = later {
                    saved.hold_trajectories();
                    if scope.time {
                        saved.reset_time();
                    }
                }
                state.commands.restore(saved);
            }
            state.awaited.close();
        }
        fits
    }

    /// The controllers that have not answered the state that waits for commands.
    pub(crate) fn missing_answers(&self) -> Vec<usize> {
        self.lock().awaited.missing().collect()
    }

    /// Waits at most `timeout` for a change after `changes`.
    pub(crate) fn wait_for_change(&self, changes: u64, timeout: Duration) {
        let state = self.lock();
        if state.changes == changes && !self.stopped() {
            drop(self.changed.wait_timeout(state, timeout));
        }
    }

    /// Waits at most `timeout` for all answers or an urgent request. Returns whether all have answered.
    pub(crate) fn wait_for_commands(&self, timeout: Duration) -> bool {
        let mut state = self.lock();
        if !state.awaited.is_answered() && !state.is_urgent() && !self.stopped() {
            state = self.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.awaited.is_answered()
    }

    /// Requests the end of the node.
    pub(crate) fn quit(&self) {
        self.quit.store(true, Ordering::Release);
        self.stop();
    }

    /// Whether the node ends because of a request.
    pub(crate) fn quitting(&self) -> bool {
        self.quit.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.change(|_| ());
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}
