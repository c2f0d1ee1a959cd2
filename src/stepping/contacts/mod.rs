//! From geometry to the contacts of a step: near pairs, their contact surfaces or points, and the input of
//! the solvers.
//!
//! [`Pairs`] does the geometric half for all modes. [`DynamicContacts`] turns surfaces and points into
//! patches of the dynamic problem, whose faces complementarity steps use too. [`QuasistaticContacts`] turns
//! points into friction cones and surfaces into patches of the quasistatic problem. [`ContinuousContacts`]
//! sums the forces of all faces of the surfaces at one instant.

mod about;
mod ahead;
mod barrier;
mod beyond;
mod carried_slip;
mod closures;
mod columns;
mod continuous;
mod dynamic;
mod dynamic_points;
mod end_surfaces;
mod expected;
mod first_overlap;
mod free_path;
mod input;
mod missed;
mod motion_search;
mod moved_points;
mod near_pairs;
mod pair_memory;
mod pairs;
mod path;
mod quasistatic;
mod sleep;
mod way;

pub(super) use continuous::{ContinuousContacts, FaceLaw};
pub(super) use dynamic::DynamicContacts;
pub(super) use free_path::FreePath;
pub(super) use input::ContactInput;
pub(super) use missed::{Missed, smallest_extent};
pub(super) use pairs::{ActivePatch, Pairs, surface_velocity};
pub(super) use path::{Misjudged, PathMistake};
pub(super) use quasistatic::{QuasistaticContacts, frame_about, smallest_axis};
