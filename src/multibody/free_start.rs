//! The start of a free motion, and its errors.

use super::state::State;
use crate::math::dense::NotPositiveDefinite;

/// The reason why a free motion cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FreeMotionError {
    /// A body or link spins too fast for the step.
    #[error("a body or link turns by {turn:.0} rad within a step")]
    Spin {
        /// The turn \[rad\].
        turn: f64,
    },
    /// A mass matrix that is not positive definite.
    #[error(transparent)]
    Mass(#[from] NotPositiveDefinite),
}

/// The start of a step.
#[derive(Clone, Copy, Debug)]
pub struct FreeStart<'a> {
    /// Coordinates and velocities.
    pub state: &'a State,
    /// Generalized forces that act through the step, including gravity [N m] or \[N\].
    pub forces: &'a [f64],
    /// The step \[s\].
    pub dt: f64,
}
