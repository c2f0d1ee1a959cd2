//! The part of the node that needs no ROS: the checks of messages.

#[path = "../../src/ros/commands/mod.rs"]
pub(crate) mod commands;
#[path = "log.rs"]
pub(crate) mod log;
