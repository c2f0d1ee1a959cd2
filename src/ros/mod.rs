//! The ROS 2 node: the only module of the library that uses ROS, threads and clocks. `r2r` types stay in
//! `client`.
//!
//! Separate threads keep other work from delaying the simulation:
//!
//! ```text
//! spin        commands, services, parameters -> checked -> Mailbox
//! simulation  Mailbox -> step -> spare snapshot -> queue; paced by the real-time factor, or in lockstep
//! publish     queue -> messages -> topics; gives the buffer back; diagnostics and log lines
//! record      messages -> file, if requested
//! checkpoint  checkpoint -> file, if requested
//! log         log lines -> stderr
//! ```
//!
//! Worlds are built and files listed in further threads. The main thread waits for signals. A full queue
//! drops a publication and never delays a step.

mod checkpoints;
mod client;
mod commands;
mod exchange;
mod log;
mod node;
mod node_error;
mod publish;
mod recording;
mod runtime;
mod scheduling;
mod services;
mod subscriptions;

pub use client::ClientError;
pub use log::causes::with_causes;
pub use log::rosout::init_log;
pub use log::stderr::finish_log;
pub use node::{NODE_NAME, run, usage};
pub use node_error::NodeError;
pub use scheduling::SchedulingError;
