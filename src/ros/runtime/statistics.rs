//! Step times and solver figures over a window of real time.

use std::time::{Duration, Instant};

use crate::ros::exchange::health::Health;
use crate::stepping::StepReport;

/// Buckets of step times: each is 2^(1/4) times as wide as the one before, from 100 ns to over a minute.
const BUCKETS: usize = 120;
const BUCKETS_PER_OCTAVE: f64 = 4.0;
const SHORTEST: f64 = 1e-7;

/// The number of durations in each bucket.
#[derive(Clone, Debug)]
struct Histogram {
    buckets: [u32; BUCKETS],
    count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [0; BUCKETS], count: 0 }
    }
}

impl Histogram {
    fn add(&mut self, took: Duration) {
        let bucket = ((took.as_secs_f64() / SHORTEST).max(1.0).log2() * BUCKETS_PER_OCTAVE) as usize;
        self.buckets[bucket.min(BUCKETS - 1)] += 1;
        self.count += 1;
    }

    /// The upper end of the bucket that contains the percentile \[s\]; at most 19 % above it.
    fn percentile(&self, fraction: f64) -> f64 {
        let wanted = (fraction * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted && seen > 0 {
                return SHORTEST * ((bucket + 1) as f64 / BUCKETS_PER_OCTAVE).exp2();
            }
        }
        0.0
    }
}

/// Sums over a window of real time.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    step_times: Histogram,
    /// The time of a turn outside the step.
    node_times: Histogram,
    /// The time of the step in the present turn; zero if none was tried.
    tried: Duration,
    iterations: u64,
    iterations_max: u32,
    unconverged: u64,
    wrong_friction: u64,
    friction_error_max: f64,
    fallbacks: u64,
    began: Option<Instant>,
    /// The real and the simulated time \[ns\] from which the pace is measured.
    paced_since: Option<(Instant, u64)>,
    /// Whether the simulation did not keep its pace for a part of the window.
    unpaced: bool,
}

impl Statistics {
    /// Adds a step that was taken.
    pub(super) fn add(&mut self, took: Duration, report: &StepReport) {
        self.step_times.add(took);
        self.tried = took;
        self.iterations += u64::from(report.solver_iterations);
        self.iterations_max = self.iterations_max.max(report.solver_iterations);
        self.unconverged += u64::from(!report.solver_converged);
        self.wrong_friction += u64::from(!report.friction_converged());
        self.friction_error_max = self.friction_error_max.max(report.friction_error);
        self.fallbacks += u64::from(report.solver_fallbacks);
    }

    /// Adds a step that failed: its time is not the node's own.
    pub(super) fn add_failed(&mut self, took: Duration) {
        self.tried = took;
    }

    /// Adds the time of a whole turn, less that of its step: commands are taken over before the step, and the
    /// state is sent after it.
    pub(super) fn add_turn(&mut self, took: Duration) {
        self.node_times.add(took.saturating_sub(std::mem::take(&mut self.tried)));
    }

    /// The simulation takes steps on request, without a pace.
    pub(super) fn unpaced(&mut self) {
        self.unpaced = true;
    }

    /// The simulation is paused, or its time jumps: the pace is measured anew.
    pub(super) fn restart_pace(&mut self) {
        (self.paced_since, self.unpaced) = (None, true);
    }

    /// Whether the window has lasted `period` at `now`.
    pub(super) fn is_over(&mut self, now: Instant, time_ns: u64, period: Duration) -> bool {
        self.paced_since.get_or_insert((now, time_ns));
        now.duration_since(*self.began.get_or_insert(now)) >= period
    }

    /// Returns the results of the window and starts the next one.
    pub(super) fn finish(&mut self, now: Instant, time_ns: u64) -> Health {
        let (since, since_ns) = self.paced_since.unwrap_or((now, time_ns));
        let wall = now.duration_since(since).as_secs_f64().max(f64::MIN_POSITIVE);
        let health = Health {
            paced: !self.unpaced,
            real_time_factor: time_ns.saturating_sub(since_ns) as f64 * 1e-9 / wall,
            steps: self.step_times.count,
            step_p50: self.step_times.percentile(0.5),
            step_p99: self.step_times.percentile(0.99),
            node_p50: self.node_times.percentile(0.5),
            node_p99: self.node_times.percentile(0.99),
            iterations_mean: self.iterations as f64 / self.step_times.count.max(1) as f64,
            iterations_max: self.iterations_max,
            unconverged: self.unconverged,
            wrong_friction: self.wrong_friction,
            friction_error_max: self.friction_error_max,
            fallbacks: self.fallbacks,
            ..Health::default()
        };
        *self = Self { began: Some(now), paced_since: Some((now, time_ns)), ..Self::default() };
        health
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 98 steps of 100 us and two of 10 ms, the median is 100 us and the 99th percentile 10 ms, within a
    /// bucket.
    #[test]
    fn percentiles_are_those_of_the_window() {
        let (mut statistics, start) = (Statistics::default(), Instant::now());
        assert!(!statistics.is_over(start, 0, Duration::from_secs(1)));
        let report =
            StepReport { solver_iterations: 3, solver_converged: true, solver_fallbacks: 1, ..StepReport::default() };
        for step in 0..100 {
            let micros = if step < 98 { 100 } else { 10_000 };
            statistics.add(Duration::from_micros(micros), &report);
        }
        let later = start + Duration::from_secs(2);
        assert!(statistics.is_over(later, 100_000_000, Duration::from_secs(1)));
        let health = statistics.finish(later, 100_000_000);
        assert!((100e-6..119e-6).contains(&health.step_p50), "{}", health.step_p50);
        assert!((10e-3..11.9e-3).contains(&health.step_p99), "{}", health.step_p99);
        assert!((health.real_time_factor - 0.05).abs() < 1e-12);
        assert_eq!((health.steps, health.iterations_mean, health.unconverged, health.fallbacks), (100, 3.0, 0, 100));
        assert_eq!(statistics.finish(later, 100_000_000).steps, 0);
    }

    /// A pause of 0.9 s, or a return to time zero, in a window of 1 s: the pace is that of the time since,
    /// and it is not judged. The next window is.
    #[test]
    fn a_pause_or_a_jump_of_time_is_no_slow_pace() {
        let (mut statistics, start, second) = (Statistics::default(), Instant::now(), Duration::from_secs(1));
        assert!(!statistics.is_over(start, 5_000_000_000, second));
        statistics.restart_pace();
        assert!(!statistics.is_over(start + second * 9 / 10, 0, second));
        assert!(statistics.is_over(start + second, 100_000_000, second));
        let health = statistics.finish(start + second, 100_000_000);
        assert!(!health.paced && (health.real_time_factor - 1.0).abs() < 1e-6, "{health:?}");
        let health = statistics.finish(start + 2 * second, 1_100_000_000);
        assert!(health.paced && (health.real_time_factor - 1.0).abs() < 1e-6, "{health:?}");
        statistics.unpaced();
        assert!(!statistics.finish(start + 3 * second, 1_200_000_000).paced, "steps on request");
    }

    /// A turn of 10.1 ms whose step took 10 ms and failed: 0.1 ms are the node's own, also after a step of 1
    /// us.
    #[test]
    fn the_time_of_a_failed_step_is_not_the_node_s_own() {
        let mut statistics = Statistics::default();
        statistics.add(Duration::from_micros(1), &StepReport::default());
        statistics.add_turn(Duration::from_micros(101));
        statistics.add_failed(Duration::from_millis(10));
        statistics.add_turn(Duration::from_micros(10_100));
        let health = statistics.finish(Instant::now(), 0);
        assert!((100e-6..119e-6).contains(&health.node_p99), "{}", health.node_p99);
        assert_eq!(health.steps, 1);
    }
}
