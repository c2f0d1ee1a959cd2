//! The start of free motion, and why there may be no end of it.

use super::state::State;
use crate::math::dense::NotPositiveDefinite;

/// Why there is no free motion.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FreeMotionError {
    /// A body or link spins too fast for the step.
    #[error("something turns by {turn:.0} rad within a step")]
    Spin {
        /// The turn \[rad\].
        turn: f64,
    },
    /// A mass matrix without a factor.
    #[error(transparent)]
    Mass(#[from] NotPositiveDefinite),
}

/// What a step starts from.
#[derive(Clone, Copy, Debug)]
pub struct FreeStart<'a> {
    /// Coordinates and velocities.
    pub state: &'a State,
    /// Generalized forces that act through the step, those of gravity among them [N m] or \[N\].
    pub forces: &'a [f64],
    /// The step \[s\].
    pub dt: f64,
}
