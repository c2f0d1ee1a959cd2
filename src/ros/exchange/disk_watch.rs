//! Notices a disk that does not answer: a write that neither succeeds nor fails.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time after which a write has stalled. A disk that spins up takes less.
pub(crate) const STALLED_AFTER: Duration = Duration::from_secs(5);

/// The writes to one kind of file that have begun and not yet returned.
#[derive(Debug, Default)]
pub(crate) struct DiskWatch(Mutex<Writes>);

#[derive(Debug, Default)]
struct Writes {
    /// The number of the newest write.
    newest: u64,
    /// The number and the beginning of each write that has not returned, the oldest first.
    begun: Vec<(u64, Instant)>,
    /// Whether the present stall was logged.
    reported: bool,
}

impl DiskWatch {
    /// Calls `write` and watches it. If it had stalled, its return is logged with the name `what`. A write
    /// that panics has returned, too.
    pub(crate) fn during<T>(&self, what: &str, write: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let mut writes = self.lock();
        writes.newest += 1;
        let number = writes.newest;
        writes.begun.push((number, began));
        drop(writes);
        let _watched = Watched { watch: self, what, number, began };
        write()
    }

    /// The time since the oldest write began, if it has stalled.
    pub(crate) fn stalled(&self) -> Option<Duration> {
        stalled(&self.lock(), Instant::now())
    }

    /// As [`DiskWatch::stalled`]; logs a stall once, with the name `what` and the consequence `meanwhile`.
    pub(crate) fn report(&self, what: &str, meanwhile: &str) -> Option<Duration> {
        let mut writes = self.lock();
        let stalled = stalled(&writes, Instant::now())?;
        if !writes.reported {
            writes.reported = true;
            tracing::error!("{what}: the disk has not answered for {:.0} s; {meanwhile}", stalled.as_secs_f64());
        }
        Some(stalled)
    }

    fn lock(&self) -> MutexGuard<'_, Writes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write that has begun. It has returned when this is dropped.
struct Watched<'a> {
    watch: &'a DiskWatch,
    what: &'a str,
    number: u64,
    began: Instant,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let mut writes = self.watch.lock();
        writes.begun.retain(|(other, _)| *other != self.number);
        if writes.reported && stalled(&writes, Instant::now()).is_none() {
            writes.reported = false;
            let (what, seconds) = (self.what, self.began.elapsed().as_secs_f64());
            tracing::info!("{what}: the disk answers again, after {seconds:.0} s");
        }
    }
}

fn stalled(writes: &Writes, now: Instant) -> Option<Duration> {
    let since = writes.begun.first().map(|(_, began)| now.saturating_duration_since(*began))?;
    (since >= STALLED_AFTER).then_some(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_write_that_has_not_returned_stalls() {
        let (now, mut writes) = (Instant::now(), Writes::default());
        assert_eq!(stalled(&writes, now + STALLED_AFTER), None, "nothing is written");
        writes.begun = vec![(1, now), (2, now + STALLED_AFTER)];
        assert_eq!(stalled(&writes, now + STALLED_AFTER - Duration::from_nanos(1)), None);
        assert_eq!(stalled(&writes, now + 2 * STALLED_AFTER), Some(2 * STALLED_AFTER));
        writes.begun.remove(0);
        assert_eq!(stalled(&writes, now + 2 * STALLED_AFTER - Duration::from_nanos(1)), None);
    }

    #[test]
    fn a_write_is_watched_until_it_returns() {
        let watch = DiskWatch::default();
        watch.during("outer", || {
            assert_eq!(watch.lock().begun.len(), 1);
            assert_eq!(watch.during("inner", || watch.lock().begun.len()), 2);
        });
        assert!(watch.lock().begun.is_empty() && watch.stalled().is_none());
    }

    /// Otherwise the node would wait at its end for a thread that is gone.
    #[test]
    fn a_write_that_panics_does_not_stall() {
        let watch = DiskWatch::default();
        let write = std::panic::AssertUnwindSafe(|| watch.during("outer", || panic!("a defect of the writer")));
        assert!(std::panic::catch_unwind(write).is_err());
        assert!(watch.lock().begun.is_empty());
    }
}
