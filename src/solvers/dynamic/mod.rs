//! The problem of a dynamic step and its solvers, island by island: Newton's method for the convex problems,
//! TAMSI for friction that follows the normal force of the same velocity.

mod islands;
mod lagged_friction;
mod newton;
mod newton_matrix;
mod problem;
#[cfg(test)]
mod samples;
mod tamsi;

pub use newton::{NewtonSettings, NewtonSolver, SolveReport, SolveStatus};
pub use problem::{ContactProblem, FrictionError};
pub use tamsi::TamsiSolver;
