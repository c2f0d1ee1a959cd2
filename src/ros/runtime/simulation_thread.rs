//! The simulation thread: it collects requests, takes a step when it is due, and sends the state on.

use std::time::{Duration, Instant};

use super::lockstep_turn::{LockstepTurn, Turn};
use super::pacer::Pacer;
use super::running_world::{EnteredWorld, RunningWorld};
use super::statistics::Statistics;
use super::step_reports::StepReports;
use crate::math::JointIndex;
use crate::recording::{Due, Rates};
use crate::ros::checkpoints::file::{CheckpointSender, Queue};
use crate::ros::checkpoints::node_state::NodeState;
use crate::ros::commands::standing_command::{CommandEvent, FollowSettings, StandingCommand};
use crate::ros::commands::tracking::JointStates;
use crate::ros::commands::trial::Withdrawal;
use crate::ros::exchange::counters::count;
use crate::ros::exchange::health::{Activity, Health};
use crate::ros::exchange::lockstep::Lockstep;
use crate::ros::exchange::mailbox::{Collected, Mailbox};
use crate::ros::exchange::requests::{BoundaryChange, CheckpointOutcome, CheckpointRequest, ResetScope, resets};
use crate::ros::exchange::settings::{Mode, RunSettings, SceneStepping};
use crate::ros::exchange::state_queue::StateSender;
use crate::ros::exchange::world::{NewWorld, WorldSource};
use crate::ros::log::causes::with_causes;
use crate::ros::log::names::shown;
use crate::ros::scheduling::share_processor;
use crate::stepping::{Checkpoint, CommandSchedule, Simulation, TimedWrenches};

/// The longest wait, and so the longest delay of a stop.
const WAIT_MAX: Duration = Duration::from_millis(20);
/// The interval between feedback messages of goals.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(50);
/// The interval of reports about the health of the simulation.
const HEALTH_PERIOD: Duration = Duration::from_secs(1);

/// The queue of states to the publishing thread.
struct StateOutput<'a> {
    sender: &'a StateSender,
    /// The rates in force.
    rates: Rates,
    /// Whether the newest state, which must be published whole, found no free buffer.
    pending: bool,
}

/// The state of the simulation thread, by subject.
pub(crate) struct SimulationThread<'a> {
    mailbox: &'a Mailbox,
    world: RunningWorld,
    /// Total time of the runs before the present one, since time was last set to zero \[ns\].
    time_offset_ns: u64,
    lockstep: Option<LockstepTurn>,
    pacer: Pacer,
    output: StateOutput<'a>,
    /// Whether a step has failed.
    halted: bool,
    events: Vec<CommandEvent>,
    feedback_at: Option<Instant>,
    statistics: Statistics,
    reports: StepReports,
    /// Whether the last step has succeeded.
    passed: bool,
    /// The queue to the thread that writes checkpoints, if there is a file for them.
    checkpoints: Option<CheckpointSender>,
    /// The mode and the length \[ns\] of the steps, as chosen at the start or at the last reset.
    stepping: (Mode, u64),
}

/// The parts of a [`SimulationThread`] that are made before the thread starts.
pub(crate) struct SimulationSetup {
    pub(crate) simulation: Simulation,
    pub(crate) stepping: SceneStepping,
    pub(crate) schedule: CommandSchedule,
    pub(crate) wrenches: TimedWrenches,
    pub(crate) force_torque: Vec<JointIndex>,
    pub(crate) source: WorldSource,
    pub(crate) lockstep: Option<Lockstep>,
    pub(crate) checkpoints: Option<CheckpointSender>,
    /// The state of the node in the checkpoint that `simulation` continues from.
    pub(crate) restored: Option<NodeState>,
}

impl<'a> SimulationThread<'a> {
    pub(crate) fn new(setup: SimulationSetup, mailbox: &'a Mailbox, sender: &'a StateSender) -> Self {
        let SimulationSetup { simulation, stepping, schedule, wrenches, force_torque, source, .. } = setup;
        let SimulationSetup { lockstep, checkpoints, restored, .. } = setup;
        let mut world = RunningWorld::new(0, simulation, stepping, schedule, wrenches, &force_torque, source);
        let settings = mailbox.settings();
        let (mut time_offset_ns, mut stepping) = (0, (settings.mode, settings.step_ns));
        if let Some(state) = restored {
            world.set_measured(&state.measured);
            world.set_held_wrenches(&state.held);
            (time_offset_ns, stepping) = (state.time_offset_ns, (state.mode, state.step_ns));
        }
        mailbox.set_stepping(stepping);
        Self {
            mailbox,
            world,
            time_offset_ns,
            checkpoints,
            stepping,
            lockstep: lockstep.map(LockstepTurn::new),
            pacer: Pacer::default(),
            output: StateOutput { sender, rates: mailbox.settings().rates, pending: false },
            halted: false,
            events: Vec::new(),
            feedback_at: None,
            statistics: Statistics::default(),
            reports: StepReports::default(),
            passed: true,
        }
    }

    fn time_ns(&self) -> u64 {
        self.time_offset_ns + self.world.time_ns()
    }

    /// The simulation rests, or its time jumps: from the next step on it keeps its pace again.
    fn restart_pace(&mut self) {
        self.pacer.restart();
        self.statistics.restart_pace();
    }

    /// Runs until the mailbox requests a stop or a late command ends the run.
    pub(crate) fn run(&mut self) {
        self.mailbox.set_positions(self.world.number, self.world.positions());
        self.present(Due::ALL);
        self.run_until_stopped();
        self.mailbox.step_watch.ended();
        let periodic = self.checkpoints.is_some() && self.mailbox.settings().checkpoint_period_ns > 0;
        let saves = periodic && !self.world.is_empty() && self.world.source().is_of_start;
        if saves && !self.send_checkpoint(Vec::new(), Queue::Wait) {
            tracing::warn!(
                "no checkpoint was written at the end: the disk does not answer, or another world was about to start"
            );
        }
    }

    fn run_until_stopped(&mut self) {
        let mut may_step = true;
        while !self.mailbox.stopped() {
            self.mailbox.step_watch.boundary(Instant::now());
            // Waits for commands before collecting, so that a step uses all settings that arrived before its
            // commands.
            let turn = if may_step { self.turn() } else { Turn::Wait };
            if turn == Turn::End {
                return;
            }
            let began = Instant::now();
            let (collected, is_new_state) = self.collect();
            may_step = !self.halted && (!collected.paused || collected.steps > 0);
            self.report_health(may_step);
            if !may_step {
                self.rest(collected.changes);
                continue;
            }
            if turn != Turn::Step || (is_new_state && self.lockstep.is_some()) || !self.is_due(&collected) {
                continue;
            }
            self.take_step(&collected, began);
            share_processor();
        }
    }

    /// Takes over the requests, in this order: another world, gravity and gains, then resets, checkpoints,
    /// wrenches and placements as they came, and the states of the bodies. Also returns whether the state is
    /// a new one.
    fn collect(&mut self) -> (Collected, bool) {
        let mut collected = self.mailbox.collect();
        self.output.rates = collected.settings.rates;
        let entered = collected.world.take().map(|world| self.enter(*world)).is_some();
        if let Some(physics) = &collected.physics {
            self.world.apply(physics);
        }
        let (mut is_new_state, mut placed) = (entered, false);
        let mut changes = std::mem::take(&mut collected.boundary).into_iter();
        while let Some(change) = changes.next() {
            match change {
                BoundaryChange::Reset(scope) => {
                    self.reset(scope, &collected.settings);
                    is_new_state = true;
                }
                BoundaryChange::Checkpoint(request) => {
                    is_new_state |= self.answer_checkpoint_request(request, resets(changes.as_slice()));
                }
                BoundaryChange::Wrench(body, F_BBo_B) => {
                    self.world.hold_wrench(body, F_BBo_B, collected.settings.wrench_duration_ns);
                }
                BoundaryChange::BodyState(placement) => placed |= self.world.set_body_state(&placement),
            }
        }
        // If no step follows, bodies that were placed are published at once, with the stamp of the present
        // time.
        let stands = self.halted || self.lockstep.is_some() || (collected.paused && collected.steps == 0);
        if is_new_state {
            self.mailbox.set_positions(self.world.number, self.world.positions());
            self.present(Due::ALL);
        } else if placed && stands {
            self.publish(Due::ALL, false);
        }
        if let Some(number) = collected.state_requests {
            self.mailbox.answer_state_requests(number, self.world.body_states(self.time_ns(), !self.halted));
        }
        (collected, is_new_state)
    }

    /// Continues in another world. Time continues too, unless the world starts at its own time zero.
    fn enter(&mut self, next: NewWorld) {
        let time_ns = self.time_ns();
        let EnteredWorld { carries, controllers, chosen } = self.world.enter(next);
        if let Some(chosen) = chosen {
            self.set_stepping(chosen);
        }
        if carries {
            // The same, unless the length of a step has changed.
            self.time_offset_ns = time_ns.saturating_sub(self.world.time_ns());
        } else {
            (self.time_offset_ns, self.halted) = (0, false);
            self.mailbox.set_halted(None);
            self.mailbox.checkpoint.world_changed();
        }
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.set_controllers(controllers);
        }
        self.restart_pace();
        self.mailbox.world_entered(self.world.number);
    }

    /// Restores the initial state and sets time to zero, each if `scope` contains it. Time that is not reset
    /// advances by a step, so that each state has its own stamp.
    fn reset(&mut self, scope: ResetScope, settings: &RunSettings) {
        let time_ns = self.time_ns();
        if scope.state {
            if self.world.reset_state(settings) {
                self.set_stepping((settings.mode, settings.step_ns));
            }
        } else {
            self.world.restart_time();
        }
        self.time_offset_ns = if scope.time { 0 } else { time_ns + self.world.step_ns() };
        self.restart_pace();
        if std::mem::take(&mut self.halted) {
            tracing::info!("reset: the simulation runs again");
        }
        self.mailbox.set_halted(None);
    }

    fn set_stepping(&mut self, stepping: (Mode, u64)) {
        self.stepping = stepping;
        self.mailbox.set_stepping(stepping);
    }

    /// Saves, or continues from a checkpoint; `later` are the resets that follow. True if the state has
    /// changed.
    fn answer_checkpoint_request(&mut self, request: CheckpointRequest, later: Option<ResetScope>) -> bool {
        let number = request.number;
        let Some(checkpoint) = request.restore else {
            if !self.send_checkpoint(vec![number], Queue::Try) {
                let done =
                    Err("no checkpoint was made: the disk is behind, or the world is changing; try again".to_owned());
                self.mailbox.answer_checkpoint(number, CheckpointOutcome { done, physics: None });
            }
            return false;
        };
        let done = self.restore(&checkpoint, later);
        let physics = done.is_ok().then(|| (self.world.number, self.world.physics()));
        let restored = done.is_ok();
        self.mailbox.answer_checkpoint(number, CheckpointOutcome { done, physics });
        restored
    }

    /// Continues from a checkpoint; if it is refused, nothing has changed.
    fn restore(&mut self, checkpoint: &Checkpoint, later: Option<ResetScope>) -> Result<String, String> {
        let state = NodeState::read(checkpoint.attachment()).map_err(|error| error.to_string())?;
        // Before the commands are read, which belong to the joints of the scene.
        self.world.check_scene(checkpoint).map_err(|error| {
            let then = state.as_ref().map(|state| state.world.as_str()).filter(|world| !world.is_empty());
            let (then, now) = (then.unwrap_or("an unknown world"), &self.world.source().name);
            let why = match then == now {
                true => format!("It was made before {now} or its files were changed"),
                false => format!("It was made in {}, and the present world is {now}", shown(then)),
            };
            format!("{}. {why}", with_causes(&error))
        })?;
        let joints = self.world.joints();
        let commands = match &state {
            Some(state) => StandingCommand::read(&state.commands, joints).map_err(|error| error.to_string())?,
            None => StandingCommand::new(joints),
        };
        self.world.restore(checkpoint).map_err(|error| with_causes(&error))?;
        if !self.mailbox.restore_commands(self.world.number, commands, later) {
            tracing::warn!("another world came while the checkpoint was restored: its commands are dropped");
        }
        self.world.release_wrenches();
        self.world.set_measured(state.as_ref().map_or(&[], |state| &state.measured));
        self.world.set_held_wrenches(state.as_ref().map_or(&[], |state| &state.held));
        self.time_offset_ns = state.map_or(0, |state| state.time_offset_ns);
        self.restart_pace();
        self.halted = false;
        self.mailbox.set_halted(None);
        Ok(format!("the simulation continues from the checkpoint, at {:.4} s", self.time_ns() as f64 * 1e-9))
    }

    /// Sends a checkpoint to its file. False if there is no file or no world to save, if another world waits,
    /// or if the disk is behind.
    fn send_checkpoint(&self, requests: Vec<u64>, queue: Queue) -> bool {
        let Some(sender) = self.checkpoints.as_ref().filter(|_| !self.world.is_empty()) else { return false };
        let Some(commands) = self.mailbox.save_commands(self.world.number) else { return false };
        let (mode, step_ns) = self.stepping;
        let (measured, held) = (self.world.measured().to_vec(), self.world.held_wrenches().to_vec());
        let WorldSource { name: world, entities, .. } = self.world.source().clone();
        let time_offset_ns = self.time_offset_ns;
        let state = NodeState { time_offset_ns, mode, step_ns, measured, held, entities, commands, world };
        sender.send(self.world.save().with_attachment(state.write()), requests, queue)
    }

    /// Waits a short time for a change while the simulation is paused or halted.
    fn rest(&mut self, changes: u64) {
        self.restart_pace();
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.rest(self.mailbox);
        }
        if self.output.pending {
            self.publish(Due::ALL, false);
        }
        self.mailbox.wait_for_change(changes, WAIT_MAX);
    }

    /// Waits in lockstep for the commands that answer the present state.
    fn turn(&mut self) -> Turn {
        let time_ns = self.time_ns();
        let Some(lockstep) = &mut self.lockstep else { return Turn::Step };
        let turn = lockstep.wait(self.mailbox, time_ns, WAIT_MAX);
        if turn == Turn::Repeat {
            self.publish(Due::ALL, true);
        }
        turn
    }

    /// Whether the next step is due at the real-time factor. If it is not, waits a short time for a change.
    fn is_due(&mut self, collected: &Collected) -> bool {
        if collected.paused {
            self.pacer.restart();
            self.statistics.unpaced();
            return true;
        }
        let delay = self.pacer.delay(Instant::now(), self.time_ns(), collected.settings.real_time_factor);
        if !delay.is_zero() {
            self.mailbox.wait_for_change(collected.changes, delay.min(WAIT_MAX));
        }
        // An undisturbed wait ends when the step is due; requests that arrived meanwhile are collected before
        // the step.
        delay.is_zero()
    }

    fn take_step(&mut self, collected: &Collected, began: Instant) {
        let before_ns = self.time_ns();
        if !self.step(&collected.settings) {
            return;
        }
        if !self.halted {
            let left = collected.paused.then(|| self.mailbox.step_taken());
            self.present(self.due(before_ns, &collected.settings.rates, left));
            let period_ns = collected.settings.checkpoint_period_ns;
            if period_ns > 0 && self.time_ns() / period_ns != before_ns / period_ns {
                self.save_after_period();
            }
        }
        self.statistics.add_turn(began.elapsed());
    }

    /// Sends a checkpoint, if this node can start again with it. If the disk is behind, it is dropped.
    fn save_after_period(&self) {
        if self.world.source().is_of_start {
            self.send_checkpoint(Vec::new(), Queue::Try);
        } else if self.checkpoints.is_some() && !self.world.is_empty() {
            self.mailbox.checkpoint.keep();
        }
    }

    /// The parts of the state that are published after a step. In lockstep these always include the joints,
    /// and the clock unless its rate is 0. After the last requested step of a paused simulation, when none is
    /// `left`, everything is published.
    fn due(&self, before_ns: u64, rates: &Rates, left: Option<u64>) -> Due {
        if left == Some(0) {
            return Due::ALL;
        }
        let due = Due::between(before_ns, self.time_ns(), rates);
        if self.lockstep.is_some() { Due { joint_states: true, clock: rates.clock > 0.0, ..due } } else { due }
    }

    /// Publishes the present state, and in lockstep opens it for commands.
    fn present(&mut self, due: Due) {
        let time_ns = self.time_ns();
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.open(self.mailbox, self.world.number, time_ns);
        }
        if due.any() {
            self.publish(due, false);
        }
    }

    /// Sends the present state to be published. Parts with a rate of 0 are left out, except joint states in
    /// lockstep, which controllers answer.
    fn publish(&mut self, asked: Due, repeat: bool) {
        let (time_ns, world) = (self.time_ns(), &self.world);
        let under_rates = asked.under(&self.output.rates);
        let due = if self.lockstep.is_some() { Due { joint_states: true, ..under_rates } } else { under_rates };
        let sent = self.output.sender.send(|state| {
            (state.due, state.repeat, state.world) = (due, repeat, world.number);
            world.snapshot_into(&mut state.snapshot, &mut state.sensors);
            state.snapshot.time_ns = time_ns;
        });
        if !sent {
            count(&self.mailbox.counters.skipped);
        }
        self.output.pending = !sent && asked == Due::ALL;
    }

    /// Takes one step with the standing command, or with the scene's own commands if there is none. A failed
    /// step leaves the last good state. Then the wrenches that other nodes apply are dropped, or, if there
    /// are none, commands are withdrawn. Without either, the simulation is halted. Returns false if no step
    /// was taken and the simulation is not halted.
    fn step(&mut self, settings: &RunSettings) -> bool {
        let time_ns = self.time_ns();
        let feedback = self.feedback_at.is_none_or(|at| at.elapsed() >= FEEDBACK_PERIOD);
        if feedback {
            self.feedback_at = Some(Instant::now());
        }
        let follow = FollowSettings {
            trajectory_tolerance: settings.trajectory_tolerance,
            command_timeout_ns: settings.command_timeout_ns,
            feedback,
            passed: self.passed,
        };
        let number = self.world.number;
        let (position, velocity, command) = self.world.begin_step();
        let states = JointStates { time_ns, position, velocity };
        if !self.mailbox.advance(number, &states, &follow, command, &mut self.events) {
            return false;
        }
        self.reports.events(self.events.drain(..), &self.world, self.mailbox, time_ns, settings);
        let started = Instant::now();
        match self.world.step() {
            Ok(report) => {
                self.passed = true;
                self.statistics.add(started.elapsed(), &report);
                self.reports.step_succeeded();
                self.reports.convergence(&report, &self.world, self.time_ns());
            }
            Err(error) => {
                self.passed = false;
                self.statistics.add_failed(started.elapsed());
                let error = with_causes(&error);
                // Wrenches of other nodes go first: the commands may be possible without them.
                if !self.world.held_wrenches().is_empty() {
                    self.world.release_wrenches();
                    count(&self.mailbox.counters.rejected);
                    self.reports.wrenches_dropped(&error);
                    return false;
                }
                match self.mailbox.withdraw(number, self.world.spinning()) {
                    None | Some(Withdrawal::Newer) => return false,
                    Some(Withdrawal::Targets { targets, all }) => {
                        if self.reports.withdrawn(error, &targets, all, &self.world) {
                            count(&self.mailbox.counters.rejected);
                        }
                        return false;
                    }
                    Some(Withdrawal::Nothing) => {}
                }
                self.halted = true;
                self.reports.halted();
                self.mailbox.set_halted(Some(error.clone()));
                tracing::error!("{error}. The simulation is halted at its last good state; call ~/reset to start over");
            }
        }
        true
    }

    fn report_health(&mut self, may_step: bool) {
        let (now, time_ns) = (Instant::now(), self.time_ns());
        if !self.statistics.is_over(now, time_ns, HEALTH_PERIOD) {
            return;
        }
        let waiting = self.lockstep.as_ref().is_some_and(LockstepTurn::is_waiting);
        let activity = match (self.halted, may_step, waiting) {
            (true, ..) => Activity::Halted,
            (false, false, _) => Activity::Paused,
            (false, true, true) => Activity::Waiting,
            (false, true, false) => Activity::Running,
        };
        let health = self.world.health(self.statistics.finish(now, time_ns));
        self.mailbox.set_health(Health { activity, ..health });
    }
}
