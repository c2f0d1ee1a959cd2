//! The ROS client library: the only module that names r2r. Another library, such as rclrs, would replace it
//! here.

#[cfg(any(isobar_simulation, isobar_control))]
mod action_server;
mod arguments;
mod endpoints;
mod environment;
mod error;
pub(crate) mod interfaces;
pub(crate) mod messages;
mod node;
mod parameter_value;
mod remap;
mod service;

#[cfg(any(isobar_simulation, isobar_control))]
pub(crate) use action_server::{ActionServer, GoalId, GoalOutcome};
pub(crate) use arguments::check_command_line;
pub use error::ClientError;
pub(crate) use node::{NAME_UNKNOWN, Node, Publisher, Qos, RemotePublisher, SerializedPublisher, Subscription};
pub(crate) use parameter_value::ParameterValue;
#[cfg_attr(not(isobar_simulation), allow(unused_imports))]
pub(crate) use service::{Request, Service, retry_responses};
