//! The task of figures 1, 7 and 8 of [Pang & Tedrake 2021]: an arm takes a cube from the ground and puts it
//! on a stack.

pub(super) mod stacking;
mod time_steps;

pub use stacking::{GOAL, Script, StackingError, Trace, run};
pub use time_steps::{Runs, TimeStepStudy};
