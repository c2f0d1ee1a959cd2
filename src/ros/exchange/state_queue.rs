//! A queue of states from the simulation thread to the publishing thread, in reused buffers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::math::SpatialForce;
use crate::recording::Due;
use crate::stepping::Snapshot;

/// Number of snapshots in flight: half a second at 1 kHz. Shared memory of Fast DDS stops a publisher for a
/// third of a second when another process joins.
const BUFFERS: usize = 512;
/// With more contact faces in flight than this, a snapshot is sent only while few wait. A face takes some 200
/// bytes.
const FACES_MAX: usize = 200_000;
/// The snapshots that may wait with any number of faces.
const ALWAYS: usize = 16;

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

/// Buffers that are not in use. The last one given back is taken first, so that only a publisher that is
/// behind makes more of them grow.
#[derive(Debug, Default)]
struct BufferPool {
    #[allow(clippy::vec_box, reason = "the boxes themselves travel, and a state is not moved")]
    buffers: Mutex<Vec<Box<PublishedState>>>,
    /// Contact faces of the snapshots in flight.
    faces: AtomicUsize,
}

/// The contact faces of a snapshot.
fn faces(state: &PublishedState) -> usize {
    state.snapshot.report.faces as usize
}

/// The simulation's end of the queue.
#[derive(Debug)]
pub(crate) struct StateSender {
    pool: Arc<BufferPool>,
    filled: SyncSender<Box<PublishedState>>,
}

impl StateSender {
    /// Fills a free buffer and sends it; `false` if the publisher still holds all of them, or too many faces.
    pub(crate) fn send(&self, fill: impl FnOnce(&mut PublishedState)) -> bool {
        let mut buffers = self.pool.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = self.pool.faces.load(Ordering::Relaxed) > FACES_MAX && buffers.len() + ALWAYS <= BUFFERS;
        let free = if is_full { None } else { buffers.pop() };
        drop(buffers);
        let Some(mut state) = free else { return false };
        fill(&mut state);
        self.pool.faces.fetch_add(faces(&state), Ordering::Relaxed);
        self.filled.try_send(state).is_ok()
    }
}

/// The publisher's end of the queue.
#[derive(Debug)]
pub(crate) struct StateReceiver {
    pub(crate) filled: Receiver<Box<PublishedState>>,
    pool: Arc<BufferPool>,
}

impl StateReceiver {
    /// Gives back a state that was published.
    pub(crate) fn give_back(&self, state: Box<PublishedState>) {
        self.pool.faces.fetch_sub(faces(&state), Ordering::Relaxed);
        self.pool.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(state);
    }
}

/// A queue whose buffers circulate between the two ends.
pub(crate) fn state_queue() -> (StateSender, StateReceiver) {
    let (filled_sender, filled) = sync_channel(BUFFERS);
    let buffers = Mutex::new(std::iter::repeat_with(Box::default).take(BUFFERS).collect());
    let pool = Arc::new(BufferPool { buffers, faces: AtomicUsize::new(0) });
    (StateSender { pool: pool.clone(), filled: filled_sender }, StateReceiver { filled, pool })
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
        receiver.give_back(state);
        assert!(sender.send(|state| state.snapshot.step = 200));
    }

    /// At 1 kHz nothing is lost while the publisher is stopped for a third of a second.
    #[test]
    fn half_a_second_of_states_waits() {
        let (sender, receiver) = state_queue();
        assert!((0..500).all(|step| sender.send(|state| state.snapshot.step = step)));
        for step in 0..500 {
            let state = receiver.filled.try_recv().unwrap();
            assert_eq!(state.snapshot.step, step);
            receiver.give_back(state);
        }
    }

    /// A publisher that keeps up uses one buffer again and again, so that the others stay empty.
    #[test]
    fn the_last_buffer_given_back_is_the_next_one() {
        let (sender, receiver) = state_queue();
        for step in 0..10 {
            assert!(sender.send(|state| {
                assert_eq!(state.snapshot.time_ns, u64::from(step > 0));
                state.snapshot.time_ns = 1;
            }));
            receiver.give_back(receiver.filled.try_recv().unwrap());
        }
    }

    /// Large patches fill the memory before the queue is full; some snapshots always wait.
    #[test]
    fn large_snapshots_wait_in_small_numbers() {
        let (sender, receiver) = state_queue();
        let large = |state: &mut PublishedState| state.snapshot.report.faces = FACES_MAX as u32;
        assert_eq!((0..BUFFERS).filter(|_| sender.send(large)).count(), ALWAYS);
        receiver.give_back(receiver.filled.try_recv().unwrap());
        assert!(sender.send(large) && !sender.send(large));
        while let Ok(state) = receiver.filled.try_recv() {
            receiver.give_back(state);
        }
        let small = |state: &mut PublishedState| state.snapshot.report.faces = 10;
        assert_eq!((0..BUFFERS).filter(|_| sender.send(small)).count(), BUFFERS);
    }
}
