//! Articulated bodies against an independent program and against the laws of mechanics.

mod errors;
mod golden;
mod laws;
mod random;
