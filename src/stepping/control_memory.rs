//! The memory of steps with error control.

use super::contacts::Missed;
use super::result::PairFriction;
use crate::math::{BodyIndex, IndexVec, SpatialForce};
use crate::multibody::State;

/// The memory of steps with error control.
#[derive(Clone, Debug, Default)]
pub(super) struct ControlMemory {
    /// The length of the next trial \[ns\]; 0 before the first.
    pub(super) next_ns: u64,
    /// The length of the last step that was taken \[ns\]; 0 without error control.
    pub(super) last_ns: u64,
    pub(super) begin: Kept,
    pub(super) start: Kept,
    /// The end of the long step.
    pub(super) long: State,
    /// Sums over the parts, times their lengths, and these sums at the start of the present part.
    pub(super) sums: Sums,
    pub(super) sums_before: Sums,
    /// Of the two halves of the present part: the contact that may have been missed, and the pair with wrong
    /// friction.
    pub(super) faults: [(Option<Missed>, Option<PairFriction>); 2],
}

/// Means over the parts of a step, before the division.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) efforts: Vec<f64>,
    pub(super) wrenches: IndexVec<BodyIndex, SpatialForce>,
}

impl ControlMemory {
    /// The memory of a checkpoint whose next trial has the length `next_ns` \[ns\].
    pub(super) fn resuming(next_ns: u64) -> Self {
        Self { next_ns, ..Self::default() }
    }
}

/// The data that a step changes, besides the memory of contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) state: State,
    pub(super) v_before: Vec<f64>,
}
