//! Section V-C of [Masterjohn 2022]: a soft-bubble gripper holds a spatula by the handle; the force is a
//! square wave, and the spatula turns in the grip only while the force is low.

mod grids;
pub(super) mod slip;

pub use grids::study;
pub use slip::{DURATION, Sample, Slip, SlipError, Stretch, stretches, succeeded};
