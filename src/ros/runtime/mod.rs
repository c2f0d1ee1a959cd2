//! The simulation thread.

mod lockstep_turn;
mod pacer;
mod running_world;
pub(crate) mod simulation_thread;
mod statistics;
mod step_reports;
