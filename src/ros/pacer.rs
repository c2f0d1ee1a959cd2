//! Holds simulated time at a chosen multiple of real time.

use std::time::{Duration, Instant};

/// A simulation that is later than this has stalled; it goes on from there instead of hurrying after the clock.
/// Longer than what a desktop scheduler takes away, shorter than what a controller would notice as a burst.
const LAG_MAX: Duration = Duration::from_millis(20);

/// The instant and simulated time from which pace is kept.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    anchor: Option<(Instant, u64, f64)>,
}

impl Pacer {
    /// Forgets the past, after a pause or a reset.
    pub(super) fn restart(&mut self) {
        self.anchor = None;
    }

    /// How long to wait at `now` until simulated time `time_ns` [ns] is due at `real_time_factor`; 0 never waits.
    pub(super) fn delay(&mut self, now: Instant, time_ns: u64, real_time_factor: f64) -> Duration {
        if real_time_factor <= 0.0 {
            self.anchor = None;
            return Duration::ZERO;
        }
        let (start, start_ns, factor) = *self.anchor.get_or_insert((now, time_ns, real_time_factor));
        if factor != real_time_factor || time_ns < start_ns {
            self.anchor = Some((now, time_ns, real_time_factor));
            return Duration::ZERO;
        }
        let due = start + Duration::from_secs_f64((time_ns - start_ns) as f64 * 1e-9 / factor);
        if now.saturating_duration_since(due) > LAG_MAX {
            self.anchor = Some((now, time_ns, real_time_factor));
        }
        due.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn waits_for_the_time_that_is_due() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        assert_eq!(pacer.delay(start, 0, 0.5), Duration::ZERO);
        assert_eq!(pacer.delay(start, MS, 0.5), Duration::from_millis(2));
        assert_eq!(pacer.delay(start + Duration::from_millis(3), MS, 0.5), Duration::ZERO);
    }

    /// After a stall of a second, the next step waits again: no burst makes up for the lost time.
    #[test]
    fn a_stall_is_not_made_up_for() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        pacer.delay(start, 0, 1.0);
        let late = start + Duration::from_secs(1);
        assert_eq!(pacer.delay(late, MS, 1.0), Duration::ZERO);
        assert_eq!(pacer.delay(late, 2 * MS, 1.0), Duration::from_millis(1));
    }

    #[test]
    fn zero_is_as_fast_as_possible() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        assert_eq!(pacer.delay(start, 0, 0.0), Duration::ZERO);
        assert_eq!(pacer.delay(start, 1000 * MS, 0.0), Duration::ZERO);
    }
}
