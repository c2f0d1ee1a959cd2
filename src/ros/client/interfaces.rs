//! The message packages and their common parts.

#[cfg(isobar_control)]
pub(crate) use r2r::control_msgs;
#[cfg(isobar_gazebo)]
pub(crate) use r2r::ros_gz_interfaces;
#[cfg(isobar_simulation)]
pub(crate) use r2r::simulation_interfaces;
#[cfg(isobar_tf2)]
pub(crate) use r2r::tf2_msgs;
#[cfg(any(isobar_simulation, isobar_control))]
pub(crate) use r2r::{WrappedActionTypeSupport as ActionType, action_msgs, unique_identifier_msgs};
pub(crate) use r2r::{
    WrappedServiceTypeSupport as ServiceType, WrappedTypesupport as Message, builtin_interfaces, diagnostic_msgs,
    geometry_msgs, rcl_interfaces, rosgraph_msgs, sensor_msgs, std_msgs, std_srvs, trajectory_msgs, visualization_msgs,
};
