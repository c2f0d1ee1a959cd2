//! The interface to Clarabel: the step as a conic program, and small linear programs.

mod linear_program;
mod step;

pub(super) use linear_program::{LinearProgram, LinearResult};
pub(super) use step::{ClarabelResult, ray, solve};
