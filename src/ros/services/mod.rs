//! Services: parameters; pause, step and reset; and the standard simulation interfaces.

pub(crate) mod context;
mod graph_watch;
pub(crate) mod parameters;
mod pause_step_reset;
pub(crate) mod server;
#[cfg(isobar_simulation)]
mod simulation_interfaces;
