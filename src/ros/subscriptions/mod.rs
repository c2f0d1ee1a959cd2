//! Commands from controllers, through topics and through actions.

pub(crate) mod controllers;
#[cfg(isobar_control)]
pub(crate) mod follow_joint_trajectory;
pub(crate) mod wrenches;
