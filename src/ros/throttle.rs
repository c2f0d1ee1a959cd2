//! Reports that come at most once a second, with a count of what was left out.

use std::time::{Duration, Instant};

/// How often a repeated report is written at most.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// One kind of report.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: Option<Instant>,
    kept_back: u64,
}

impl Throttle {
    /// Whether a report is due at `now`; if so, how many were kept back since the last one.
    pub(super) fn due(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.duration_since(last) < REPORT_PERIOD) {
            self.kept_back += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.kept_back))
    }
}

/// " (and 3 more like it)", or nothing.
pub(super) fn and_more(kept_back: u64) -> String {
    if kept_back == 0 { String::new() } else { format!(" (and {kept_back} more like it in the last second)") }
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
