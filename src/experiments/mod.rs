//! Experiments of the papers that the program repeats: scripts, runs and plots.

pub mod cube_stacking;
pub mod keyframes;
pub mod pancake_flip;
pub mod planar_gripper;
mod plot;
mod reach;
pub mod spatula_slip;
pub mod study;

pub use plot::{Chart, PlotError, Scale, Series, draw};
pub use reach::{ReachError, reach};
