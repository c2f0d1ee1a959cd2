//! The reasons why a step has no derivatives.

use crate::solvers::quasistatic::QuasistaticError;
use crate::stepping::error::{SimulationError, StepError};

/// The reason why a step has no derivatives.
#[derive(Debug, thiserror::Error)]
pub enum DerivativeError {
    /// The simulation does not take quasistatic steps.
    #[error("only quasistatic steps have derivatives: set stepping to quasistatic")]
    NotQuasistatic,
    /// The steps on both sides of this one jump, so that a column of the derivatives does not exist.
    #[error(
        "steps jump within {reach} on both sides of this one, along {along}. Column {column} of the derivatives does not exist: choose another configuration"
    )]
    Jump {
        /// The distance on both sides \[m\] or \[rad\].
        reach: f64,
        /// The index of the generalized velocity, or the number of these plus the index of the joint whose
        /// command varies.
        column: usize,
        /// The name of the joint, and whether its motion or its command varies.
        along: String,
    },
    /// The command is malformed, or the step itself cannot be taken.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The end of a smoothed step that no state can have.
    #[error("the smoothed step ends in no valid state")]
    State(#[from] SimulationError),
    /// The step is taken, but its solution has no derivatives; or the smoothed step has no solution.
    #[error("the step has no derivatives")]
    Solver(#[from] QuasistaticError),
}
