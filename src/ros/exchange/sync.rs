//! The locks of the threads. Tests replace them with those of a model checker, which tries interleavings
//! (`interleavings.rs`).

#[cfg(test)]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(test))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
