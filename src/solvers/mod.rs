//! Convex contact problems and what solves them. Knows no body, no geometry and no robot.
//!
//! A step is   min over v of  1/2 v^T A v - r^T v + sum of convex potentials of J v,
//! where each potential's negative gradient is an impulse: of a contact patch ([`PatchBlock`]) or of a scalar
//! row ([`BoxRow`]: actuators, limits, dry friction, couplings).

mod face_kernel;
mod islands;
mod jacobian;
mod lagged_friction;
mod line_search;
mod newton;
mod partition;
mod patch_block;
mod problem;
pub mod quasistatic;
#[cfg(test)]
mod samples;

pub use newton::{NewtonSettings, NewtonSolver, SolveReport, SolveStatus};
pub use patch_block::{DissipationLaw, FaceInput, PatchBlock, PatchLaw};
pub use problem::{BoxRow, ContactProblem};
