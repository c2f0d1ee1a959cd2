//! Counts of dropped, clamped and late commands and snapshots, for /diagnostics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start of the node.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Snapshots dropped because no buffer was free.
    pub(crate) skipped: AtomicU64,
    /// Commands that were dropped as malformed.
    pub(crate) rejected: AtomicU64,
    /// Values that were moved to their limits.
    pub(crate) clamped: AtomicU64,
    /// Lockstep commands whose stamp differs from that of the present state.
    pub(crate) stale: AtomicU64,
    /// Lockstep commands that did not come in time.
    pub(crate) late: AtomicU64,
    /// The number of times that joints were held because no command came.
    pub(crate) timeouts: AtomicU64,
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
