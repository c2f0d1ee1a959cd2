//! The convex problem of a dynamic step, with fixed friction bounds, and its solver: Newton's method, island
//! by island.

mod islands;
mod lagged_friction;
mod newton;
mod newton_matrix;
mod problem;
#[cfg(test)]
mod samples;

pub use newton::{NewtonSettings, NewtonSolver, SolveReport, SolveStatus};
pub use problem::{ContactProblem, FrictionError};
