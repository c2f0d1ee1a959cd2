//! The ROS 2 node. The only module that knows ROS, threads and clocks; `r2r` types stay inside it.
//!
//! Four threads, so that nothing holds the simulation up:
//!
//! ```text
//! spin        commands, services, parameters -> checked -> Mailbox
//! simulation  Mailbox -> step -> snapshot in a spare buffer -> queue; paced by the real-time factor, or in lockstep
//! publish     queue -> messages -> topics; gives the buffer back; diagnostics and log lines
//! record      messages -> file, when asked for
//! ```
//!
//! The main thread waits for signals. A full queue costs a publication, never a step.

#[cfg(any(isobar_simulation, isobar_control))]
mod action;
mod answers;
mod command;
mod controllers;
mod desk;
mod diagnostics;
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
mod exchange;
#[cfg(isobar_control)]
mod follow;
#[cfg(isobar_gazebo)]
mod gazebo;
mod log;
mod markers;
mod messages;
mod names;
mod node;
mod pacer;
mod parameter_services;
mod parameters;
mod parcels;
mod publish;
mod recorder;
mod run_settings;
mod simulation_thread;
#[cfg(isobar_simulation)]
mod standard;
mod statistics;
mod steps;
mod throttle;
mod topics;
#[cfg_attr(not(isobar_control), allow(dead_code))]
mod trajectory;
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
mod world;

pub use log::init_log;
pub use node::{NodeError, run};
