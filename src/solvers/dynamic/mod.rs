//! The problem of a dynamic step and its solvers, island by island: Newton's method for the convex problems,
//! TAMSI for friction that follows the normal force of the same velocity.

mod followed;
mod islands;
mod lagged_friction;
mod newton;
mod newton_matrix;
mod problem;
#[cfg(test)]
mod samples;
mod solver;
mod tamsi;

pub use newton::{NewtonSettings, SolveReport, SolveStatus};
pub use problem::{ContactProblem, FrictionError};
pub use solver::{NewtonSolver, SolvedFriction};
pub use tamsi::TamsiSolver;
