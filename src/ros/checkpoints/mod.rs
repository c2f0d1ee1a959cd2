//! Checkpoints of the node: its additions to those of the simulation, their file, their services.

pub(crate) mod file;
pub(crate) mod lock;
pub(crate) mod node_state;
pub(crate) mod services;
