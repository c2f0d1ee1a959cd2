//! Names in messages.

#[path = "../../src/ros/log/names.rs"]
pub(crate) mod names;
