//! The number of solutions that the loads of the end of a step may take.

/// The loads have settled when the model misses them by less than this fraction of each [-].
pub(super) const WEIGHTS_SETTLED: f64 = 3e-9;
/// The largest number of solutions with other models of the loads, in parts of a step that fail.
const LOST_ROUNDS_MAX: u32 = 300;

/// The solutions of a step with other models of the loads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// Those of the present part.
    pub(super) rounds: u32,
    /// Those of parts that failed.
    lost: u32,
    /// Whether a part had any.
    pub(super) any: bool,
}

impl Spent {
    pub(super) fn start_part(&mut self) {
        self.rounds = 0;
    }
    pub(super) fn end_part(&mut self, failed: bool) {
        self.any |= self.rounds > 0;
        if failed {
            self.lost += std::mem::take(&mut self.rounds);
        }
    }
    /// Whether the step needs more of them than its end with these loads is worth.
    pub(super) fn is_over(&self) -> bool {
        self.lost + self.rounds >= LOST_ROUNDS_MAX
    }
}
