//! Commands of controllers: checks of joint commands and of wrenches, trajectories, and the standing command
//! of the joints. No threads and no ROS types here.

#[cfg_attr(not(isobar_control), allow(dead_code))]
pub(crate) mod goal;
mod interpolation;
pub(crate) mod joint_command;
pub(crate) mod mode_names;
pub(crate) mod standing_command;
pub(crate) mod tracking;
#[cfg_attr(not(isobar_control), allow(dead_code))]
pub(crate) mod trajectory;
pub(crate) mod trial;
pub(crate) mod wrench;
