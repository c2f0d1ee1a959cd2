//! Checkpoints of the node: what it adds to those of the simulation, their file, their services.

pub(crate) mod file;
pub(crate) mod node_state;
pub(crate) mod services;
