//! Articulated bodies against an independent program and against the laws of mechanics.
#![allow(non_snake_case, clippy::unwrap_used, clippy::panic)]

mod errors;
mod golden;
mod laws;
mod random;
