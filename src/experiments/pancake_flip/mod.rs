//! Section V-B of [Masterjohn 2022]: an arm with soft bubbles takes a spatula from its stand, scoops a
//! pancake off the stove and lays it down on its other side.

pub(super) mod flip;
mod grids;

pub use flip::{Flip, FlipError, Outcome, Run, Sample};
pub use grids::study;
