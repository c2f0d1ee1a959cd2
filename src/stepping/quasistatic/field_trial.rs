//! The state of the iteration on the pressure fields of a quasistatic step, and its acceleration.

use crate::math::dense::least_squares;

/// The number of earlier linearisations that Anderson's method uses.
const DEPTH: usize = 5;
/// Regularization of its normal equations, relative to their largest diagonal entry [-].
const REGULARIZATION: f64 = 1e-12;

/// The state of the iteration on the pressure fields.
pub(super) struct Trial {
    /// The fraction of a change between linearisations that is applied [-].
    pub(super) damping: f64,
    /// The fraction of [`FieldMotion::part`](contacts::FieldMotion) that is allowed: less after each reversal
    /// [-].
    pub(super) reach: f64,
    /// The factor by which a change is extrapolated while the hold between linearisations lets bodies drift
    /// [-].
    pub(super) stride: f64,
    /// The distance by which the last linearisation moved the fields \[m\].
    pub(super) change: f64,
    /// The pair that moved most, and the bound of its motion \[m\].
    pub(super) pair: usize,
    pub(super) moved: f64,
    /// The number of linearisations.
    pub(super) rounds: u32,
    /// The number of linearisations for small depths alone.
    pub(super) refinements: u32,
    /// The motion of the last one that was accelerated \[m\].
    pub(super) accelerated: f64,
}

impl Trial {
    /// The state before the first linearisation.
    pub(super) fn new() -> Self {
        Self {
            damping: 1.0,
            reach: 1.0,
            stride: 1.0,
            change: f64::INFINITY,
            moved: 0.0,
            pair: 0,
            rounds: 0,
            refinements: 0,
            accelerated: f64::INFINITY,
        }
    }
}

/// Anderson's method for the velocities about which the fields are linearised. It finds the end of a slow
/// drift, as of a body that the hold slows down, and of an alternation.
#[derive(Clone, Debug)]
pub(super) struct Acceleration {
    last_about: Vec<f64>,
    last_change: Vec<f64>,
    /// Differences of successive velocities and of their changes, oldest overwritten first.
    steps: [Vec<f64>; DEPTH],
    changes: [Vec<f64>; DEPTH],
    /// The number of linearisations since the start.
    pub(super) count: usize,
    /// The motion from the last velocities to the next.
    pub(super) motion: Vec<f64>,
}

impl Acceleration {
    pub(super) fn new(size: usize) -> Self {
        let zeros = || std::array::from_fn(|_| vec![0.0; size]);
        let (last_about, last_change, motion) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
        Self { last_about, last_change, steps: zeros(), changes: zeros(), count: 0, motion }
    }

    pub(super) fn start(&mut self) {
        self.count = 0;
    }

    pub(super) fn add(&mut self, about: &[f64], change: &[f64]) {
        if let Some(before) = self.count.checked_sub(1) {
            let write = |to: &mut Vec<f64>, now: &[f64], before: &[f64]| {
                to.clear();
                to.extend(now.iter().zip(before).map(|(now, before)| now - before));
            };
            write(&mut self.steps[before % DEPTH], about, &self.last_about);
            write(&mut self.changes[before % DEPTH], change, &self.last_change);
        }
        self.last_about.copy_from_slice(about);
        self.last_change.copy_from_slice(change);
        self.count += 1;
    }

    pub(super) fn move_by(&mut self, change: &[f64]) {
        let used = self.count.saturating_sub(1).min(DEPTH);
        let weights: [f64; DEPTH] = least_squares(&self.changes[..used], change, REGULARIZATION);
        self.motion.copy_from_slice(change);
        for (weight, (step, changed)) in weights.iter().zip(self.steps.iter().zip(&self.changes)).take(used) {
            for ((motion, step), changed) in self.motion.iter_mut().zip(step).zip(changed) {
                *motion -= weight * (step + changed);
            }
        }
    }
}
