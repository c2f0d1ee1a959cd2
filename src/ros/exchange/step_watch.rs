//! Notices a step that takes long. Meanwhile all requests that act between two steps wait.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The real time after which a step is reported, and after which the end of the node no longer waits for it.
pub(crate) const LONG: Duration = Duration::from_secs(5);

/// The boundary of a simulation thread that takes no more steps.
const ENDED: u64 = u64::MAX;

/// The last step boundary of the simulation thread.
#[derive(Debug)]
pub(crate) struct StepWatch {
    since: Instant,
    /// The time of the last boundary after `since` \[ms\].
    boundary_ms: AtomicU64,
    reported: AtomicBool,
    abandoned: AtomicBool,
}

impl Default for StepWatch {
    fn default() -> Self {
        let (reported, abandoned) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { since: Instant::now(), boundary_ms: AtomicU64::new(0), reported, abandoned }
    }
}

impl StepWatch {
    /// The simulation thread is between two steps. Logs the end of a step that was reported.
    pub(crate) fn boundary(&self, now: Instant) {
        let now_ms = self.milliseconds(now);
        let before_ms = self.boundary_ms.swap(now_ms, Ordering::Relaxed);
        if self.reported.load(Ordering::Relaxed) && self.reported.swap(false, Ordering::Relaxed) {
            let seconds = now_ms.saturating_sub(before_ms) as f64 * 1e-3;
            tracing::info!("the long step has ended after {seconds:.0} s");
        }
    }

    /// The simulation thread takes no more steps.
    pub(crate) fn ended(&self) {
        self.boundary_ms.store(ENDED, Ordering::Relaxed);
    }

    /// The time since the last boundary, if it is longer than [`LONG`].
    pub(crate) fn late(&self, now: Instant) -> Option<Duration> {
        let since =
            Duration::from_millis(self.milliseconds(now).checked_sub(self.boundary_ms.load(Ordering::Relaxed))?);
        Some(since).filter(|since| *since >= LONG)
    }

    /// As [`StepWatch::late`]; logs it once for each step.
    pub(crate) fn report(&self, now: Instant) -> Option<Duration> {
        let since = self.late(now)?;
        if !self.reported.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the present step has taken {:.0} s so far: resets, checkpoints, changes of the world and of entities wait for \
                 its end. Take shorter steps or another stepping mode, or remove bodies that overlap",
                since.as_secs_f64()
            );
        }
        Some(since)
    }

    /// The node ends without waiting for the present step.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    fn milliseconds(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.since).as_millis()).unwrap_or(ENDED - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_late_until_the_next_boundary_or_the_end() {
        let watch = StepWatch::default();
        let start = Instant::now();
        watch.boundary(start);
        assert_eq!(watch.late(start + LONG / 2), None);
        let late = start + LONG + Duration::from_millis(1);
        assert!(watch.late(late).is_some_and(|since| since >= LONG));
        assert!(watch.report(late).is_some() && watch.reported.load(Ordering::Relaxed));
        watch.boundary(late);
        assert!(watch.report(late).is_none() && !watch.reported.load(Ordering::Relaxed));
        watch.ended();
        assert_eq!(watch.late(late + 2 * LONG), None);
    }
}
