//! What the threads hand each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::stepping::{JointCommand, JointTarget, Snapshot};

/// Snapshots in flight: enough for a publisher that is away for some milliseconds at 1 kHz, little memory.
const BUFFERS: usize = 8;

/// Rates in simulated time [Hz]; 0 is never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    pub(super) clock: f64,
    pub(super) joint_states: f64,
    pub(super) wrenches: f64,
    pub(super) poses: f64,
    pub(super) outputs: f64,
}

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
}

/// What the simulation thread reads at each step boundary.
#[derive(Debug)]
pub(super) struct Mailbox {
    inner: Mutex<Letters>,
    stop: AtomicBool,
    /// Snapshots that found no spare buffer.
    pub(super) skipped: AtomicU64,
}

#[derive(Debug)]
struct Letters {
    command: JointCommand,
    version: u64,
    resets: u64,
    settings: RunSettings,
}

impl Mailbox {
    pub(super) fn new(joints: usize, settings: RunSettings) -> Self {
        let command = JointCommand { targets: vec![JointTarget::default(); joints] };
        let inner = Mutex::new(Letters { command, version: 0, resets: 0, settings });
        Self { inner, stop: AtomicBool::new(false), skipped: AtomicU64::new(0) }
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

    /// Asks for a reset, which also forgets the standing command.
    pub(super) fn request_reset(&self) {
        let mut letters = self.lock();
        letters.command.targets.fill(JointTarget::default());
        letters.version += 1;
        letters.resets += 1;
    }

    pub(super) fn set_settings(&self, settings: RunSettings) {
        self.lock().settings = settings;
    }

    pub(super) fn settings(&self) -> RunSettings {
        self.lock().settings
    }

    /// Copies the standing command into `command` when it is newer than `version`. Returns the settings and how many
    /// resets have been asked for.
    pub(super) fn collect(&self, command: &mut JointCommand, version: &mut u64) -> (RunSettings, u64) {
        let letters = self.lock();
        if *version != letters.version {
            command.targets.clone_from(&letters.command.targets);
            *version = letters.version;
        }
        (letters.settings, letters.resets)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// What of a snapshot is due for publication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) clock: bool,
    pub(super) joint_states: bool,
    pub(super) wrenches: bool,
    pub(super) poses: bool,
    pub(super) outputs: bool,
}

impl Due {
    /// Everything, for the first instant and after a reset.
    pub(super) const ALL: Self = Self { clock: true, joint_states: true, wrenches: true, poses: true, outputs: true };

    pub(super) fn any(self) -> bool {
        self.clock || self.joint_states || self.wrenches || self.poses || self.outputs
    }

    /// What the step from `before_ns` to `now_ns` made due: whatever passed a multiple of its period.
    pub(super) fn between(before_ns: u64, now_ns: u64, rates: &Rates) -> Self {
        let due = |rate: f64| {
            if rate <= 0.0 {
                return false;
            }
            let period_ns = ((1e9 / rate).round() as u64).max(1);
            now_ns / period_ns != before_ns / period_ns
        };
        Self {
            clock: due(rates.clock),
            joint_states: due(rates.joint_states),
            wrenches: due(rates.wrenches),
            poses: due(rates.poses),
            outputs: due(rates.outputs),
        }
    }
}

/// A snapshot on its way to the topics.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    pub(super) due: Due,
    pub(super) snapshot: Snapshot,
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

    #[test]
    fn a_rate_is_met_on_a_grid_of_its_period() {
        let rates = Rates { clock: 1000.0, joint_states: 250.0, wrenches: 0.0, poses: 30.0, outputs: 5000.0 };
        let mut counts = [0; 5];
        for step in 1..=1000 {
            let due = Due::between((step - 1) * 1_000_000, step * 1_000_000, &rates);
            let flags = [due.clock, due.joint_states, due.wrenches, due.poses, due.outputs];
            flags.iter().zip(&mut counts).for_each(|(flag, count)| *count += usize::from(*flag));
        }
        assert_eq!(counts, [1000, 250, 0, 30, 1000]);
    }

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
