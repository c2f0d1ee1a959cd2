//! Contact problems and their solvers, independent of bodies, geometry and robots.
//!
//! The problem of a dynamic step is   min over v of  1/2 v^T A v - r^T v + sum of convex potentials of J v.
//! The negative gradient of each potential is an impulse: of a contact patch or loop closure
//! ([`PatchBlock`]), or of a scalar row ([`BoxRow`]: actuators, limits, dry friction). Quasistatic problems
//! add friction cones and bounds on velocities, and [`complementarity`] has a mixed problem of its own.

mod box_row;
pub mod complementarity;
pub mod dynamic;
mod face_kernel;
mod face_scheme;
mod followed_friction;
mod impact;
mod jacobian;
mod line_search;
mod partition;
mod patch_block;
pub mod quasistatic;
mod rolling;
#[cfg(test)]
mod samples;
mod schemes;
mod slip_directions;

pub use box_row::BoxRow;
pub use face_scheme::FaceScheme;
pub use patch_block::{DissipationLaw, FaceInput, FrictionPart, PatchBlock, PatchLaw};
pub use slip_directions::SlipDirections;
