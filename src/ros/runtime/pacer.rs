//! Keeps simulated time at a chosen multiple of real time.

use std::time::{Duration, Instant};

/// A simulation that is later than this \[s\] has stalled: it continues from there and does not catch up. The
/// limit is longer than the delays of a desktop scheduler, and shorter than a burst that would disturb a
/// controller.
const LAG_MAX: f64 = 0.02;
/// Upper limit of a wait \[s\], for very small factors.
const DELAY_MAX: f64 = 3600.0;

/// The instant and the simulated time from which pace is kept, and the real-time factor.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    anchor: Option<(Instant, u64, f64)>,
}

impl Pacer {
    /// Discards the reference, after a pause or a reset.
    pub(super) fn restart(&mut self) {
        self.anchor = None;
    }

    /// Time to wait at `now` until simulated time `time_ns` \[ns\] is due at `real_time_factor`; 0 never
    /// waits.
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
        let due = (time_ns - start_ns) as f64 * 1e-9 / factor;
        let early = due - now.saturating_duration_since(start).as_secs_f64();
        if early < -LAG_MAX {
            self.anchor = Some((now, time_ns, real_time_factor));
        }
        Duration::try_from_secs_f64(early.clamp(0.0, DELAY_MAX)).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Equal up to the rounding of seconds in a double.
    fn near(delay: Duration, ms: u64) -> bool {
        delay.abs_diff(Duration::from_millis(ms)) <= Duration::from_nanos(1)
    }

    #[test]
    fn waits_for_the_time_that_is_due() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        assert_eq!(pacer.delay(start, 0, 0.5), Duration::ZERO);
        assert!(near(pacer.delay(start, MS, 0.5), 2));
        assert_eq!(pacer.delay(start + Duration::from_millis(3), MS, 0.5), Duration::ZERO);
    }

    /// After a stall of a second the next step waits again: no burst makes up for the lost time.
    #[test]
    fn a_stall_is_not_made_up_for() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        pacer.delay(start, 0, 1.0);
        let late = start + Duration::from_secs(1);
        assert_eq!(pacer.delay(late, MS, 1.0), Duration::ZERO);
        assert!(near(pacer.delay(late, 2 * MS, 1.0), 1));
    }

    #[test]
    fn zero_is_as_fast_as_possible() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        assert_eq!(pacer.delay(start, 0, 0.0), Duration::ZERO);
        assert_eq!(pacer.delay(start, 1000 * MS, 0.0), Duration::ZERO);
    }

    /// Regression: the smallest positive factor ended the process, because the delay exceeded the range of a
    /// duration.
    #[test]
    fn the_smallest_factor_waits_and_does_not_overflow() {
        let (mut pacer, start) = (Pacer::default(), Instant::now());
        for factor in [f64::MIN_POSITIVE, 1e-300, f64::from_bits(1)] {
            pacer.restart();
            pacer.delay(start, 0, factor);
            assert_eq!(pacer.delay(start, MS, factor), Duration::from_secs_f64(DELAY_MAX));
            assert_eq!(pacer.delay(start, 2 * MS, 1.0), Duration::ZERO, "a new factor starts a new reference");
        }
    }
}
