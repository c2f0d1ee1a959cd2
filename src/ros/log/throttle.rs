//! Reports at most once a second, with a count of the suppressed ones.

use std::time::{Duration, Instant};

/// The shortest time between two lines of a repeated report.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// One kind of report.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Option<Instant>,
    suppressed: u64,
}

impl Throttle {
    /// Returns `None` if no report is due at `now`, else the number of reports suppressed since the last one.
    pub(crate) fn due(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.duration_since(last) < REPORT_PERIOD) {
            self.suppressed += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.suppressed))
    }
}

/// " (and 3 more like it since the last report)", or nothing.
pub(crate) fn and_more(suppressed: u64) -> String {
    if suppressed == 0 { String::new() } else { format!(" (and {suppressed} more like it since the last report)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_reported_once_and_counted_in_the_next_report() {
        let mut throttle = Throttle::default();
        let start = Instant::now();
        assert_eq!(throttle.due(start), Some(0));
        for i in 1..6 {
            assert_eq!(throttle.due(start + Duration::from_millis(i * 100)), None);
        }
        assert_eq!(throttle.due(start + Duration::from_millis(1000)), Some(5));
        assert_eq!(throttle.due(start + Duration::from_millis(2000)), Some(0));
    }
}
