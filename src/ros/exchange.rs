//! What the threads hand each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) use super::run_settings::{Mode, Physics, RunSettings, SceneStepping};
use super::statistics::Health;
use super::trajectory::{GoalEnd, GoalFeedback, Trajectory};
use super::world::NewWorld;
use crate::math::{BodyIndex, IndexVec, RigidTransform, SpatialVelocity};
use crate::stepping::{JointCommand, JointTarget};

/// What a reset goes back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ResetScope {
    /// Poses, velocities and commands.
    pub(super) state: bool,
    /// Simulated time, to zero; otherwise it goes on.
    pub(super) time: bool,
}

/// A free body that is put somewhere, or set in motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    pub(super) body: BodyIndex,
    pub(super) X_WB: Option<RigidTransform>,
    pub(super) V_WB: Option<SpatialVelocity>,
}

/// Things that are asked of the simulation thread at the next step boundary.
#[derive(Debug, Default)]
pub(super) struct Errands {
    /// How many there were with these.
    pub(super) number: u64,
    pub(super) placements: Vec<Placement>,
}

/// The bodies at a step boundary.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) time_ns: u64,
    pub(super) X_WB: IndexVec<BodyIndex, RigidTransform>,
    pub(super) V_WB: IndexVec<BodyIndex, SpatialVelocity>,
    /// Mean acceleration of the free bodies over the last step; zero for the others [rad/s2, m/s2].
    pub(super) A_WB: IndexVec<BodyIndex, SpatialVelocity>,
}

/// Why steps are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StepRefusal {
    #[error("the simulation is running: pause it first")]
    NotPaused,
    #[error("nobody counts that many steps")]
    TooMany,
}

/// What happens when a command does not come in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnTimeout {
    /// Wait on, and say so.
    Hold,
    /// End the node with an error.
    Abort,
    /// Step under the last command, and count it.
    Continue,
}

/// Stepping in turns with the controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lockstep {
    /// Real time that a command may take; zero is for ever.
    pub(super) timeout: Duration,
    pub(super) on_timeout: OnTimeout,
    /// How many controllers are waited for.
    pub(super) controllers: usize,
}

/// How a wait for commands ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// All of them came.
    Commands,
    /// Not yet.
    Timeout,
    /// Something else wants attention: a reset, a pause, the end.
    Interrupted,
}

/// How a stamped command fits the state that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StampFit {
    /// It answers the state.
    Awaited,
    /// It answers an earlier state, or this one for the second time.
    Stale,
    /// It answers a state that is still to come.
    Early,
}

/// Things that went by or wrong, since the start.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Snapshots that found no spare buffer.
    pub(super) skipped: AtomicU64,
    /// Commands that were dropped as malformed.
    pub(super) rejected: AtomicU64,
    /// Values that were moved to their limits.
    pub(super) clamped: AtomicU64,
    /// Lockstep commands whose stamp is not that of the present state.
    pub(super) stale: AtomicU64,
    /// Lockstep commands that did not come in time.
    pub(super) late: AtomicU64,
    /// Times that joints were held because no command came.
    pub(super) timeouts: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// What the simulation thread reads at each step boundary.
#[derive(Debug)]
pub(super) struct Mailbox {
    inner: Mutex<Letters>,
    arrived: Condvar,
    stop: AtomicBool,
    pub(super) counters: Counters,
    health: Mutex<Option<Health>>,
    failure: Mutex<Option<String>>,
    /// Why no step can be taken until a reset.
    halted: Mutex<Option<String>>,
    view: Mutex<Arc<View>>,
    quit: AtomicBool,
    goals: Mutex<GoalNews>,
    /// The newest world whose topics are published.
    published: AtomicU64,
}

/// What became of goals since it was last read.
#[derive(Debug, Default)]
pub(super) struct GoalNews {
    pub(super) ended: Vec<(u64, GoalEnd)>,
    /// The newest of each goal.
    pub(super) feedback: Vec<GoalFeedback>,
}

#[derive(Debug)]
struct Letters {
    command: JointCommand,
    version: u64,
    reset: Option<ResetScope>,
    settings: RunSettings,
    physics: Option<Physics>,
    errands: Errands,
    errands_done: u64,
    /// A world that waits to be taken over, how many there were, and how many were taken over.
    world: Option<Box<NewWorld>>,
    worlds: u64,
    worlds_taken: u64,
    /// Newest trajectory of each controller; an empty one is a cancellation.
    trajectories: Vec<(usize, Trajectory)>,
    /// Controllers whose trajectory ended by a command.
    cancelled: Vec<usize>,
    paused: bool,
    /// Steps asked for while paused, and steps taken of them.
    steps_wanted: u64,
    steps_taken: u64,
    /// Time of the state that is waited for [ns], and who has answered it.
    awaited_ns: Option<u64>,
    answered: Vec<bool>,
}

/// What was collected.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) settings: RunSettings,
    pub(super) reset: Option<ResetScope>,
    pub(super) paused: bool,
    /// Steps still to take while paused.
    pub(super) steps: u64,
    pub(super) physics: Option<Physics>,
    pub(super) trajectories: Vec<(usize, Trajectory)>,
    pub(super) errands: Option<Errands>,
    /// The world to go on with; all the rest is about it already.
    pub(super) world: Option<Box<NewWorld>>,
}

impl Letters {
    /// Whether there is something that no wait for commands should hold up.
    fn is_urgent(&self) -> bool {
        self.reset.is_some() || self.world.is_some() || self.errands.number != self.errands_done
    }
}

impl Mailbox {
    pub(super) fn new(joints: usize, settings: RunSettings, paused: bool) -> Self {
        let command = JointCommand { targets: vec![JointTarget::default(); joints] };
        let inner = Mutex::new(Letters {
            command,
            version: 0,
            reset: None,
            settings,
            physics: None,
            errands: Errands::default(),
            errands_done: 0,
            world: None,
            worlds: 0,
            worlds_taken: 0,
            trajectories: Vec::new(),
            cancelled: Vec::new(),
            paused,
            steps_wanted: 0,
            steps_taken: 0,
            awaited_ns: None,
            answered: Vec::new(),
        });
        Self {
            inner,
            arrived: Condvar::new(),
            stop: AtomicBool::new(false),
            counters: Counters::default(),
            health: Mutex::new(None),
            failure: Mutex::new(None),
            halted: Mutex::new(None),
            view: Mutex::default(),
            quit: AtomicBool::new(false),
            goals: Mutex::default(),
            published: AtomicU64::new(0),
        }
    }

    /// The letters stay usable when another thread has died with the lock: every change is complete by then.
    fn lock(&self) -> MutexGuard<'_, Letters> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the standing command.
    pub(super) fn update_command<E>(&self, change: impl FnOnce(&mut JointCommand) -> Result<(), E>) -> Result<(), E> {
        let mut letters = self.lock();
        change(&mut letters.command)?;
        letters.version += 1;
        Ok(())
    }

    /// Replaces the standing command; returns its version. One of a world that is gone changes nothing.
    pub(super) fn replace_command(&self, command: &JointCommand) -> u64 {
        let mut letters = self.lock();
        if letters.world.is_some() {
            return letters.version;
        }
        letters.command.targets.clone_from(&command.targets);
        letters.version += 1;
        letters.version
    }

    /// How a command stamped `stamp_ns` of a controller fits the state that is waited for.
    pub(super) fn stamp_fit(&self, controller: usize, stamp_ns: u64) -> StampFit {
        let letters = self.lock();
        match letters.awaited_ns {
            Some(awaited) if stamp_ns == awaited && letters.answered.get(controller) == Some(&false) => {
                StampFit::Awaited
            }
            Some(awaited) if stamp_ns <= awaited => StampFit::Stale,
            None => StampFit::Stale,
            Some(_) => StampFit::Early,
        }
    }

    /// Notes that a controller has answered the state that is waited for.
    pub(super) fn answered(&self, controller: usize) {
        if let Some(answered) = self.lock().answered.get_mut(controller) {
            *answered = true;
        }
        self.arrived.notify_all();
    }

    /// From now on commands for the state at `time_ns` count.
    pub(super) fn expect(&self, time_ns: u64, controllers: usize) {
        let mut letters = self.lock();
        // Shown for the second time: who has answered need not do it again.
        if letters.awaited_ns == Some(time_ns) && letters.answered.len() == controllers {
            return;
        }
        letters.awaited_ns = Some(time_ns);
        letters.answered.clear();
        letters.answered.resize(controllers, false);
    }

    /// Waits until all controllers have answered, for `patience` at most.
    pub(super) fn wait(&self, patience: Duration) -> Awaited {
        let deadline = Instant::now() + patience;
        let mut letters = self.lock();
        loop {
            if letters.answered.iter().all(|answered| *answered) {
                return Awaited::Commands;
            }
            if self.stopped() || letters.is_urgent() {
                return Awaited::Interrupted;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Awaited::Timeout;
            }
            letters = self.arrived.wait_timeout(letters, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Starts, replaces or cancels a controller's trajectory.
    pub(super) fn set_trajectory(&self, controller: usize, trajectory: Trajectory) {
        let mut letters = self.lock();
        letters.cancelled.retain(|other| *other != controller);
        self.drop_trajectories(&mut letters, |other| other == controller);
        letters.trajectories.push((controller, trajectory));
    }

    /// Trajectories that the simulation thread has not seen; their goals hear of it.
    fn drop_trajectories(&self, letters: &mut Letters, drops: impl Fn(usize) -> bool) {
        letters.trajectories.retain(|(controller, trajectory)| {
            let drops = drops(*controller);
            if let Some(terms) = trajectory.terms.as_ref().filter(|_| drops) {
                self.end_goal(terms.number, GoalEnd::Interrupted);
            }
            !drops
        });
    }

    /// Notes how a goal ended.
    pub(super) fn end_goal(&self, goal: u64, end: GoalEnd) {
        self.goals.lock().unwrap_or_else(PoisonError::into_inner).ended.push((goal, end));
    }

    /// Notes how far a goal has come.
    pub(super) fn tell_goal(&self, feedback: GoalFeedback) {
        let mut news = self.goals.lock().unwrap_or_else(PoisonError::into_inner);
        news.feedback.retain(|other| other.number != feedback.number);
        news.feedback.push(feedback);
    }

    /// What became of goals since the last call.
    pub(super) fn goal_news(&self) -> GoalNews {
        std::mem::take(&mut *self.goals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A command of the controller came after its trajectory: the trajectory ends.
    pub(super) fn cancel_trajectory(&self, controller: usize) {
        let mut letters = self.lock();
        self.drop_trajectories(&mut letters, |other| other == controller);
        if !letters.cancelled.contains(&controller) {
            letters.cancelled.push(controller);
        }
    }

    /// Asks for a reset. One of the state also forgets the standing command; any forgets trajectories.
    pub(super) fn request_reset(&self, scope: ResetScope) {
        let mut letters = self.lock();
        if scope.state {
            letters.command.targets.fill(JointTarget::default());
            letters.version += 1;
        }
        self.drop_trajectories(&mut letters, |_| true);
        let before = letters.reset.unwrap_or_default();
        letters.reset = Some(ResetScope { state: before.state || scope.state, time: before.time || scope.time });
        self.arrived.notify_all();
    }

    /// Asks the simulation thread for a view of the bodies, after `placement` if there is one. Returns the number that
    /// [`Mailbox::errands_done`] reaches with it.
    pub(super) fn ask(&self, placement: Option<Placement>) -> u64 {
        let mut letters = self.lock();
        letters.errands.number += 1;
        letters.errands.placements.extend(placement);
        self.arrived.notify_all();
        letters.errands.number
    }

    /// Notes that the errands up to `number` are done, and how the bodies are since.
    pub(super) fn finish_errands(&self, number: u64, view: View) {
        *self.view.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        self.lock().errands_done = number;
    }

    pub(super) fn errands_done(&self) -> u64 {
        self.lock().errands_done
    }

    /// The bodies when the last errands were done.
    pub(super) fn view(&self) -> Arc<View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hands another world over. From now on commands are about its joints.
    pub(super) fn set_world(&self, world: NewWorld) {
        let mut letters = self.lock();
        let joints = world.simulation.scene().joint_names().len();
        letters.command = match &world.carried {
            Some(carried) => carried.command(&letters.command, joints),
            None => JointCommand { targets: vec![JointTarget::default(); joints] },
        };
        letters.version += 1;
        self.drop_trajectories(&mut letters, |_| true);
        letters.physics = None;
        letters.worlds = world.number;
        letters.world = Some(Box::new(world));
        self.arrived.notify_all();
    }

    /// Notes that the world of that number is the one that runs.
    pub(super) fn world_taken(&self, number: u64) {
        self.lock().worlds_taken = number;
    }

    /// Notes that the topics of the world of that number are the ones that are published.
    pub(super) fn world_published(&self, number: u64) {
        self.published.store(number, Ordering::Release);
    }

    /// Whether the newest world runs and is published.
    pub(super) fn worlds_settled(&self) -> bool {
        let letters = self.lock();
        letters.worlds == letters.worlds_taken && self.published.load(Ordering::Acquire) == letters.worlds
    }

    /// Pauses or goes on; steps asked for and not yet taken are forgotten.
    pub(super) fn set_paused(&self, paused: bool) {
        let mut letters = self.lock();
        letters.paused = paused;
        letters.steps_wanted = letters.steps_taken;
        self.arrived.notify_all();
    }

    pub(super) fn paused(&self) -> bool {
        self.lock().paused
    }

    /// Asks for `count` steps of a paused simulation. Returns what [`Mailbox::steps_taken`] is before the first and after
    /// the last of them.
    pub(super) fn request_steps(&self, count: u64) -> Result<(u64, u64), StepRefusal> {
        let mut letters = self.lock();
        if !letters.paused {
            return Err(StepRefusal::NotPaused);
        }
        let from = letters.steps_wanted;
        letters.steps_wanted = from.checked_add(count).ok_or(StepRefusal::TooMany)?;
        self.arrived.notify_all();
        Ok((from, letters.steps_wanted))
    }

    /// Takes back what is left of the steps from `from` to `to`, but for one that may be under way; returns what takes the
    /// place of `to`.
    pub(super) fn withdraw_steps(&self, from: u64, to: u64) -> u64 {
        let mut letters = self.lock();
        let taken = letters.steps_taken;
        let reached = if taken < from { from } else { to.min(taken + 1) };
        letters.steps_wanted -= to - reached;
        self.arrived.notify_all();
        reached
    }

    pub(super) fn steps_taken(&self) -> u64 {
        self.lock().steps_taken
    }

    /// Notes that a step asked for was taken.
    pub(super) fn step_taken(&self) {
        let mut letters = self.lock();
        letters.steps_taken += 1;
        // They were given up while it was under way.
        letters.steps_wanted = letters.steps_wanted.max(letters.steps_taken);
    }

    /// Notes why no step can be taken, or that they can be again.
    pub(super) fn set_halted(&self, reason: Option<String>) {
        *self.halted.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    pub(super) fn halted(&self) -> Option<String> {
        self.halted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_settings(&self, settings: RunSettings, physics: Physics) {
        let mut letters = self.lock();
        letters.settings = settings;
        letters.physics = Some(physics);
    }

    pub(super) fn settings(&self) -> RunSettings {
        self.lock().settings
    }

    /// Copies the standing command into `command` when it is newer than `version`.
    pub(super) fn collect(
        &self,
        command: &mut JointCommand,
        version: &mut u64,
        cancelled: &mut Vec<usize>,
    ) -> Collected {
        let mut letters = self.lock();
        cancelled.append(&mut letters.cancelled);
        if *version != letters.version {
            command.targets.clone_from(&letters.command.targets);
            *version = letters.version;
        }
        Collected {
            settings: letters.settings,
            reset: letters.reset.take(),
            paused: letters.paused,
            steps: letters.steps_wanted.saturating_sub(letters.steps_taken),
            physics: letters.physics.take(),
            // No allocation while there is none.
            trajectories: std::mem::take(&mut letters.trajectories),
            world: letters.world.take(),
            errands: (letters.errands.number != letters.errands_done).then(|| Errands {
                number: letters.errands.number,
                placements: std::mem::take(&mut letters.errands.placements),
            }),
        }
    }

    /// Sleeps while nothing is to do, until a letter comes or `patience` is over.
    pub(super) fn doze(&self, patience: Duration) {
        let letters = self.lock();
        drop(self.arrived.wait_timeout(letters, patience));
    }

    pub(super) fn set_health(&self, health: Health) {
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) = Some(health);
    }

    pub(super) fn health(&self) -> Option<Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why the simulation ends by itself.
    pub(super) fn fail(&self, reason: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks for the end of the node.
    pub(super) fn quit(&self) {
        self.quit.store(true, Ordering::Release);
        self.stop();
    }

    /// Whether the node ends because it was asked to.
    pub(super) fn quitting(&self) -> bool {
        self.quit.load(Ordering::Acquire)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.arrived.notify_all();
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}
