//! Snapshots on their way from the simulation thread to the publishing thread, in buffers that go round and round.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use crate::io::rates::Due;
use crate::math::SpatialForce;
use crate::stepping::Snapshot;

/// Snapshots in flight: enough for a publisher that a busy machine keeps away for some tens of milliseconds at 1 kHz. A
/// snapshot of a hundred faces takes 20 KB.
const BUFFERS: usize = 64;

/// A snapshot on its way to the topics.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    pub(super) due: Due,
    /// Which world it is of.
    pub(super) world: u64,
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
        let sent = (0..2 * BUFFERS as u64).filter(|step| sender.send(|parcel| parcel.snapshot.step = *step)).count();
        assert_eq!(sent, BUFFERS);
        let parcel = receiver.filled.try_recv().unwrap();
        assert_eq!(parcel.snapshot.step, 0);
        receiver.spare.try_send(parcel).unwrap();
        assert!(sender.send(|parcel| parcel.snapshot.step = 200));
    }
}
