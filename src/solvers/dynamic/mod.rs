//! The convex problem of a dynamic step and its solver: friction is lagged, islands are solved by Newton's
//! method.

mod islands;
mod lagged_friction;
mod newton;
mod problem;
#[cfg(test)]
mod samples;

pub use newton::{NewtonSettings, NewtonSolver, SolveReport, SolveStatus};
pub use problem::{ContactProblem, FrictionError};
