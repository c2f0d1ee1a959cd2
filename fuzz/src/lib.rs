//! The functions of the fuzzing targets; tests/inputs runs them on mutations of shipped files.
#![allow(non_snake_case, clippy::panic)]

pub mod messages;
pub mod parsers;

// The checks of messages, which need no ROS, name these by the paths that they have in the library.
#[allow(dead_code)]
pub(crate) use isobar::{math, names, stepping};

#[allow(dead_code, unused_imports, unreachable_pub)]
pub(crate) mod ros;
