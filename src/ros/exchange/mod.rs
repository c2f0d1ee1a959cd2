//! State shared between the threads.

pub(crate) mod counters;
pub(crate) mod disk_watch;
pub(crate) mod health;
#[cfg(test)]
mod interleavings;
pub(crate) mod lockstep;
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(crate) mod mailbox;
mod mailbox_status;
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(crate) mod requests;
pub(crate) mod settings;
pub(crate) mod state_queue;
pub(crate) mod step_requests;
pub(crate) mod step_watch;
mod sync;
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(crate) mod world;
