//! The services and the action of simulation_interfaces.

mod build_world;
mod change_request;
mod codes;
mod entities;
mod file_lists;
mod server;
mod steps;
mod world_changes;

pub(crate) use server::SimulationInterfaces;
