//! A queue of states from the simulation thread to the publishing thread, in reused buffers.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use crate::math::SpatialForce;
use crate::recording::Due;
use crate::stepping::Snapshot;

/// Number of snapshots in flight: enough at 1 kHz for a publisher that is not scheduled for some tens of
/// milliseconds. A snapshot of a hundred faces takes 20 KB.
const BUFFERS: usize = 64;

/// A snapshot on its way to the topics.
#[derive(Debug, Default)]
pub(crate) struct PublishedState {
    pub(crate) due: Due,
    /// The number of its world.
    pub(crate) world: u64,
    /// Whether the same state was sent before; it is then not recorded again.
    pub(crate) repeat: bool,
    pub(crate) snapshot: Snapshot,
    /// The wrenches measured by the force-torque sensors, each in the axes of its joint's child.
    pub(crate) sensors: Vec<SpatialForce>,
}

/// The simulation's end of the queue.
#[derive(Debug)]
pub(crate) struct StateSender {
    spare: Receiver<Box<PublishedState>>,
    filled: SyncSender<Box<PublishedState>>,
}

impl StateSender {
    /// Fills a free buffer and sends it; `false` if the publisher still holds all of them.
    pub(crate) fn send(&self, fill: impl FnOnce(&mut PublishedState)) -> bool {
        match self.spare.try_recv() {
            Ok(mut state) => {
                fill(&mut state);
                self.filled.try_send(state).is_ok()
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => false,
        }
    }
}

/// The publisher's end of the queue.
#[derive(Debug)]
pub(crate) struct StateReceiver {
    pub(crate) filled: Receiver<Box<PublishedState>>,
    pub(crate) spare: SyncSender<Box<PublishedState>>,
}

/// A queue whose buffers circulate between the two ends.
pub(crate) fn state_queue() -> (StateSender, StateReceiver) {
    let (filled_sender, filled) = sync_channel(BUFFERS);
    let (spare_sender, spare) = sync_channel(BUFFERS);
    for _ in 0..BUFFERS {
        // The channel has room for all buffers.
        let _ = spare_sender.try_send(Box::default());
    }
    (StateSender { spare, filled: filled_sender }, StateReceiver { filled, spare: spare_sender })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A publisher that never reads loses snapshots and has no other effect.
    #[test]
    fn a_full_queue_refuses_and_does_not_wait() {
        let (sender, receiver) = state_queue();
        let sent = (0..2 * BUFFERS as u64).filter(|step| sender.send(|state| state.snapshot.step = *step)).count();
        assert_eq!(sent, BUFFERS);
        let state = receiver.filled.try_recv().unwrap();
        assert_eq!(state.snapshot.step, 0);
        receiver.spare.try_send(state).unwrap();
        assert!(sender.send(|state| state.snapshot.step = 200));
    }
}
