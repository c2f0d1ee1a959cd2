//! The memory of steps with error control.

use super::contacts::Missed;
use super::result::{PairFriction, StepResult};
use super::snapshot::{StepReport, StepTimes};
use crate::math::{BodyIndex, IndexVec, SpatialForce};
use crate::multibody::{Data, State};

/// The memory of steps with error control.
#[derive(Clone, Debug, Default)]
pub(super) struct ControlMemory {
    /// The length of the next trial \[ns\]; 0 before the first.
    pub(super) next_ns: u64,
    /// The length of the last step that was taken \[ns\]; 0 without error control.
    pub(super) last_ns: u64,
    pub(super) begin: SavedStep,
    pub(super) start: SavedStep,
    /// The results of the last good step.
    pub(super) results: Results,
    /// The end of the long step.
    pub(super) long: State,
    /// The motion in the part, and the change of positions and velocities from the long step to the two short
    /// ones.
    pub(super) change: [Vec<f64>; 3],
    /// For each tree, whether the change resolves its motion.
    pub(super) resolved: Vec<bool>,
    /// Poses and velocities at the end of the last solve, to which its contact forces belong.
    pub(super) solved: Option<Box<Data>>,
    pub(super) times: StepTimes,
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

/// Results of a step, apart from its contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    efforts: Vec<f64>,
    wrenches: IndexVec<BodyIndex, SpatialForce>,
    report: StepReport,
    times: StepTimes,
}

impl Results {
    pub(super) fn save(&mut self, result: &StepResult, wrenches: &IndexVec<BodyIndex, SpatialForce>) {
        self.efforts.clone_from(&result.efforts);
        self.wrenches.clone_from(wrenches);
        (self.report, self.times) = (result.report, result.times);
    }

    /// Returns to the kept results; there are no contacts after a failed step.
    pub(super) fn restore(&self, result: &mut StepResult, wrenches: &mut IndexVec<BodyIndex, SpatialForce>) {
        result.forget_contacts();
        result.efforts.clone_from(&self.efforts);
        wrenches.clone_from(&self.wrenches);
        (result.report, result.times) = (self.report, self.times);
    }
}

/// The data that a step changes, besides the memory of contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedStep {
    pub(super) state: State,
    pub(super) v_before: Vec<f64>,
}
