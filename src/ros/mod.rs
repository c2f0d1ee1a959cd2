//! The ROS 2 node. The only module that knows ROS, threads and clocks; `r2r` types stay inside it.
//!
//! Three threads, so that nothing holds the simulation up:
//!
//! ```text
//! spin        joint_commands, ~/reset -> checked, merged into the standing command -> Mailbox
//! simulation  Mailbox -> step -> snapshot in a spare buffer -> queue; paced by the real-time factor
//! publish     queue -> messages -> topics; gives the buffer back
//! ```
//!
//! The main thread runs tokio for signals and parameters. A full queue costs a publication, never a step.

mod command;
mod exchange;
mod markers;
mod messages;
mod names;
mod node;
mod pacer;
mod parameters;
mod publish;
mod simulation_thread;
mod throttle;

pub use node::{NodeError, run};
