//! Reports at most once a second for each reason, with a count of the suppressed ones.

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

    /// Whether a report made at `now` would be suppressed.
    fn is_closed(&self, now: Instant) -> bool {
        self.last.is_some_and(|last| now.duration_since(last) < REPORT_PERIOD)
    }
}

/// Reports of several reasons, each with its own [`Throttle`]. A suppressed report is logged with its count
/// when the second is over, also if none follows. `K` names a reason.
#[derive(Debug)]
pub(crate) struct Reports<K> {
    /// The reason, and the text of the last report that was suppressed.
    reasons: Vec<(K, Throttle, String)>,
}

impl<K> Default for Reports<K> {
    fn default() -> Self {
        Self { reasons: Vec::new() }
    }
}

impl<K: PartialEq> Reports<K> {
    /// Reports `text` for `reason`. Returns the line to log, if one is due at `now`.
    pub(crate) fn due(&mut self, reason: K, text: String, now: Instant) -> Option<String> {
        let index = self.reasons.iter().position(|(known, ..)| *known == reason);
        let index = index.unwrap_or_else(|| {
            self.reasons.push((reason, Throttle::default(), String::new()));
            self.reasons.len() - 1
        });
        let (_, throttle, last) = &mut self.reasons[index];
        let suppressed = throttle.due(now);
        if suppressed.is_none() {
            last.clone_from(&text);
        }
        suppressed.map(|suppressed| format!("{text}{}", suppressed_suffix(suppressed)))
    }

    /// The lines to log at `now` for suppressed reports that no other report has followed. Call it often.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<String> {
        let mut lines = Vec::new();
        self.reasons.retain_mut(|(_, throttle, last)| {
            if throttle.is_closed(now) {
                return true;
            }
            let suppressed = std::mem::take(&mut throttle.suppressed);
            if suppressed > 0 {
                throttle.last = Some(now);
                lines.push(format!("{last}{}", suppressed_suffix(suppressed - 1)));
            }
            suppressed > 0
        });
        lines
    }
}

/// " (and 3 more like it since the last report)", or nothing.
pub(crate) fn suppressed_suffix(suppressed: u64) -> String {
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

    /// Two messages that are dropped within a second for different reasons are two lines, and so are two for
    /// one reason, the second when the second is over.
    #[test]
    fn every_dropped_message_is_in_some_line() {
        let mut reports = Reports::default();
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        assert_eq!(reports.due("length", "a".to_owned(), at(0)).as_deref(), Some("a"));
        assert_eq!(reports.due("name", "b".to_owned(), at(1)).as_deref(), Some("b"));
        assert_eq!(reports.due("length", "c".to_owned(), at(2)), None);
        assert_eq!(reports.due("length", "d".to_owned(), at(3)), None);
        assert!(reports.overdue(at(999)).is_empty());
        assert_eq!(reports.overdue(at(1000)), ["d (and 1 more like it since the last report)"]);
        assert!(reports.overdue(at(1001)).is_empty(), "once");
        assert_eq!(reports.due("name", "e".to_owned(), at(1002)).as_deref(), Some("e"));
        assert_eq!(reports.due("name", "f".to_owned(), at(1003)), None);
        let next = reports.due("name", "g".to_owned(), at(2003));
        assert_eq!(next.as_deref(), Some("g (and 1 more like it since the last report)"));
        assert!(reports.overdue(at(2500)).is_empty());
        assert!(reports.overdue(at(9000)).is_empty() && reports.reasons.is_empty(), "forgotten");
    }
}
