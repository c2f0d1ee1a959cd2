//! Commands of controllers to joints: checking, clamping, following over time, and the standing command. No
//! threads and no ROS types here.

#[cfg_attr(not(isobar_control), allow(dead_code))]
pub(crate) mod goal;
mod interpolation;
pub(crate) mod joint_command;
pub(crate) mod standing_command;
pub(crate) mod tracking;
#[cfg_attr(not(isobar_control), allow(dead_code))]
pub(crate) mod trajectory;
pub(crate) mod wrench;
