//! Dense output: states within the last step of the simulation.
//!
//! In each part, r and v are the polynomials of degree 3 through the start and the stages, with an error of
//! order 4 in the length of the part.

use super::radau::{STAGES, basis};
use crate::multibody::{Model, State, integrate};

/// An accepted part.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Time from the start of the step \[s\].
    start: f64,
    /// \[s\]
    length: f64,
    state: State,
    stages: Vec<f64>,
}

/// The parts of the last step; their memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseOutput {
    parts: Vec<Part>,
    used: usize,
}

impl DenseOutput {
    /// Forgets all parts.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Adds a part from `state`, which begins `start` \[s\] after the step.
    pub(super) fn push(&mut self, (start, length): (f64, f64), state: &State, stages: &[f64]) {
        if self.used == self.parts.len() {
            self.parts.push(Part::default());
        }
        let part = &mut self.parts[self.used];
        (part.start, part.length) = (start, length);
        part.state.clone_from(state);
        part.stages.clear();
        part.stages.extend_from_slice(stages);
        self.used += 1;
    }

    /// The state `after` \[s\] the start of the step; `None` outside of it.
    pub(super) fn at(&self, model: &Model, after: f64) -> Option<State> {
        let parts = &self.parts[..self.used];
        let end = parts.last().map(|part| part.start + part.length)?;
        if !(0.0..=end).contains(&after) {
            return None;
        }
        let part = &parts[parts.partition_point(|part| part.start <= after).saturating_sub(1)];
        let weights = basis(((after - part.start) / part.length).min(1.0));
        let (n, size) = (part.state.v.len(), 2 * part.state.v.len());
        let y = |i: usize| -> f64 { (0..STAGES).map(|k| weights[k] * part.stages[k * size + i]).sum() };
        let displacement: Vec<f64> = (0..n).map(y).collect();
        let mut state = part.state.clone();
        integrate(model, &mut state.q, &displacement, 1.0);
        state.v.iter_mut().enumerate().for_each(|(i, v)| *v += y(n + i));
        Some(state)
    }
}
