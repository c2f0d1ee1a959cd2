//! Convex contact problems and their solvers. This module is independent of bodies, geometry and robots.
//!
//! A step is   min over v of  1/2 v^T A v - r^T v + sum of convex potentials of J v,
//! where each potential's negative gradient is an impulse: of a contact patch or loop closure
//! ([`PatchBlock`]), or of a scalar row ([`BoxRow`]: actuators, limits, dry friction).

mod box_row;
pub mod complementarity;
pub mod dynamic;
mod face_kernel;
mod jacobian;
mod line_search;
mod partition;
mod patch_block;
pub mod quasistatic;

pub use box_row::BoxRow;
pub use patch_block::{DissipationLaw, FaceInput, FrictionPart, PatchBlock, PatchLaw};
