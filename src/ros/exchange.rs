//! What the threads hand each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::statistics::Health;
use super::trajectory::Trajectory;
use crate::io::rates::{Due, Rates};
use crate::math::{SpatialForce, Vector3};
use crate::stepping::{JointCommand, JointTarget, QuasistaticStepping, Snapshot, StepSettings, Stepping};

/// Snapshots in flight: enough for a publisher that is away for some milliseconds at 1 kHz, little memory.
const BUFFERS: usize = 8;

/// What can be changed while the simulation runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunSettings {
    /// Simulated seconds a second; 0 is as fast as possible.
    pub(super) real_time_factor: f64,
    pub(super) rates: Rates,
    /// Contact markers a second of real time; 0 is never.
    pub(super) marker_rate: f64,
    /// Pressure of the last colour of the scale [Pa]; 0 takes the largest pressure at hand.
    pub(super) marker_pressure_max: f64,
    /// Simulated time without a command after which the joints are held [ns]; 0 is never.
    pub(super) command_timeout_ns: u64,
    /// Largest distance of a joint from its trajectory [rad] or [m]; 0 is any.
    pub(super) trajectory_tolerance: f64,
    /// How steps are taken from the next reset on.
    pub(super) mode: Mode,
    /// Their length [ns]; 0 is the scene's.
    pub(super) step_ns: u64,
}

/// What takes the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// What the scene asks for.
    Scene,
    Dynamic,
    Quasistatic,
}

/// The scene's own way of stepping, and its options for quasistatic steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SceneStepping {
    pub(super) settings: StepSettings,
    pub(super) quasistatic: QuasistaticStepping,
}

impl SceneStepping {
    /// How steps are taken under `settings`.
    pub(super) fn under(&self, settings: &RunSettings) -> StepSettings {
        StepSettings {
            step_ns: if settings.step_ns == 0 { self.settings.step_ns } else { settings.step_ns },
            stepping: match settings.mode {
                Mode::Scene => self.settings.stepping,
                Mode::Dynamic => Stepping::Dynamic,
                Mode::Quasistatic => Stepping::Quasistatic(self.quasistatic),
            },
            ..self.settings
        }
    }
}

/// What of the scene can be changed while the simulation runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Physics {
    /// Gravity [m/s2, world].
    pub(super) gravity_W: Vector3,
    /// Stiffness and damping of each joint's actuator.
    pub(super) gains: Vec<(f64, f64)>,
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
}

#[derive(Debug)]
struct Letters {
    command: JointCommand,
    version: u64,
    resets: u64,
    settings: RunSettings,
    physics: Option<Physics>,
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
    pub(super) resets: u64,
    pub(super) paused: bool,
    /// Steps still to take while paused.
    pub(super) steps: u64,
    pub(super) physics: Option<Physics>,
    pub(super) trajectories: Vec<(usize, Trajectory)>,
}

impl Mailbox {
    pub(super) fn new(joints: usize, settings: RunSettings, paused: bool) -> Self {
        let command = JointCommand { targets: vec![JointTarget::default(); joints] };
        let inner = Mutex::new(Letters {
            command,
            version: 0,
            resets: 0,
            settings,
            physics: None,
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

    /// Replaces the standing command; returns its version.
    pub(super) fn replace_command(&self, command: &JointCommand) -> u64 {
        let mut letters = self.lock();
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
        letters.awaited_ns = Some(time_ns);
        letters.answered.clear();
        letters.answered.resize(controllers, false);
    }

    /// Waits until all controllers have answered, for `patience` at most.
    pub(super) fn wait(&self, patience: Duration, resets: u64) -> Awaited {
        let deadline = Instant::now() + patience;
        let mut letters = self.lock();
        loop {
            if letters.answered.iter().all(|answered| *answered) {
                return Awaited::Commands;
            }
            if self.stopped() || letters.resets != resets {
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
        letters.trajectories.retain(|(other, _)| *other != controller);
        letters.trajectories.push((controller, trajectory));
    }

    /// A command of the controller came after its trajectory: the trajectory ends.
    pub(super) fn cancel_trajectory(&self, controller: usize) {
        let mut letters = self.lock();
        letters.trajectories.retain(|(other, _)| *other != controller);
        if !letters.cancelled.contains(&controller) {
            letters.cancelled.push(controller);
        }
    }

    /// Asks for a reset, which also forgets the standing command and trajectories.
    pub(super) fn request_reset(&self) {
        let mut letters = self.lock();
        letters.command.targets.fill(JointTarget::default());
        letters.trajectories.clear();
        letters.version += 1;
        letters.resets += 1;
        self.arrived.notify_all();
    }

    /// Pauses or goes on; steps asked for and not yet taken are forgotten.
    pub(super) fn set_paused(&self, paused: bool) {
        let mut letters = self.lock();
        letters.paused = paused;
        letters.steps_wanted = letters.steps_taken;
        self.arrived.notify_all();
    }

    /// Asks for a step of a paused simulation. Returns the number that [`Mailbox::steps_taken`] reaches with it, or
    /// `None` when it is not paused.
    pub(super) fn request_step(&self) -> Option<u64> {
        let mut letters = self.lock();
        letters.paused.then(|| {
            letters.steps_wanted += 1;
            self.arrived.notify_all();
            letters.steps_wanted
        })
    }

    pub(super) fn steps_taken(&self) -> u64 {
        self.lock().steps_taken
    }

    /// Notes that a step asked for was taken, or cannot be.
    pub(super) fn step_taken(&self) {
        self.lock().steps_taken += 1;
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
            resets: letters.resets,
            paused: letters.paused,
            steps: letters.steps_wanted.saturating_sub(letters.steps_taken),
            physics: letters.physics.take(),
            // No allocation while there is none.
            trajectories: std::mem::take(&mut letters.trajectories),
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

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.arrived.notify_all();
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// A snapshot on its way to the topics.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    pub(super) due: Due,
    /// Whether the same state was sent before: it is not recorded again.
    pub(super) repeat: bool,
    pub(super) snapshot: Snapshot,
    /// What the force-torque sensors measure, each in the axes of its joint's child.
    pub(super) sensors: Vec<SpatialForce>,
}

/// The simulation's end of the queue.
#[derive(Debug)]
pub(super) struct ParcelSender {
    spare: Receiver<Box<Parcel>>,
    filled: SyncSender<Box<Parcel>>,
}

impl ParcelSender {
    /// Fills a spare parcel and sends it; `false` when the publisher still holds all of them.
    pub(super) fn send(&self, fill: impl FnOnce(&mut Parcel)) -> bool {
        match self.spare.try_recv() {
            Ok(mut parcel) => {
                fill(&mut parcel);
                self.filled.try_send(parcel).is_ok()
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => false,
        }
    }
}

/// The publisher's end of the queue.
#[derive(Debug)]
pub(super) struct ParcelReceiver {
    pub(super) filled: Receiver<Box<Parcel>>,
    pub(super) spare: SyncSender<Box<Parcel>>,
}

/// A queue of parcels that go round and round.
pub(super) fn parcel_queue() -> (ParcelSender, ParcelReceiver) {
    let (filled_sender, filled) = sync_channel(BUFFERS);
    let (spare_sender, spare) = sync_channel(BUFFERS);
    for _ in 0..BUFFERS {
        // A channel with room for all of them takes all of them.
        let _ = spare_sender.try_send(Box::default());
    }
    (ParcelSender { spare, filled: filled_sender }, ParcelReceiver { filled, spare: spare_sender })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A publisher that never reads costs snapshots and nothing else.
    #[test]
    fn a_full_queue_refuses_and_does_not_wait() {
        let (sender, receiver) = parcel_queue();
        let sent = (0..20).filter(|step| sender.send(|parcel| parcel.snapshot.step = *step)).count();
        assert_eq!(sent, BUFFERS);
        let parcel = receiver.filled.try_recv().unwrap();
        assert_eq!(parcel.snapshot.step, 0);
        receiver.spare.try_send(parcel).unwrap();
        assert!(sender.send(|parcel| parcel.snapshot.step = 20));
    }
}
