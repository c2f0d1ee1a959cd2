//! Dense output: states within the last step of the simulation.
//!
//! In each part, r and v are the polynomials of degree 3 through the start and the stages, with an error of
//! order 4 in the length of the part. The states at the ends of parts are the integrated ones, bit by bit.

use super::radau::{STAGES, basis};
use crate::multibody::{Model, State, integrate};

/// An accepted part.
#[derive(Clone, Debug, Default)]
struct Part {
    /// The start and the end, as times from the start of the step \[s\].
    start: f64,
    end: f64,
    state: State,
    stages: Vec<f64>,
}

/// The parts of the last step and its end; their memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseOutput {
    parts: Vec<Part>,
    used: usize,
    end: State,
}

impl DenseOutput {
    /// Forgets all parts.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Adds a part from `state` to `end`; both times are from the start of the step \[s\].
    pub(super) fn push(&mut self, times: (f64, f64), state: &State, stages: &[f64], end: &State) {
        if self.used == self.parts.len() {
            self.parts.push(Part::default());
        }
        let part = &mut self.parts[self.used];
        (part.start, part.end) = times;
        part.state.clone_from(state);
        part.stages.clear();
        part.stages.extend_from_slice(stages);
        self.end.clone_from(end);
        self.used += 1;
    }

    /// The state `after` \[s\] the start of the step; `None` outside of it.
    pub(super) fn at(&self, model: &Model, after: f64) -> Option<State> {
        let parts = &self.parts[..self.used];
        let end = parts.last()?.end;
        if !(0.0..=end).contains(&after) {
            return None;
        }
        if after == end {
            return Some(self.end.clone());
        }
        let part = &parts[parts.partition_point(|part| part.start <= after).saturating_sub(1)];
        let weights = basis((after - part.start) / (part.end - part.start));
        if after == part.start {
            return Some(part.state.clone());
        }
        let (n, size) = (part.state.v.len(), 2 * part.state.v.len());
        let y = |i: usize| -> f64 { (0..STAGES).map(|k| weights[k] * part.stages[k * size + i]).sum() };
        let displacement: Vec<f64> = (0..n).map(y).collect();
        let mut state = part.state.clone();
        integrate(model, &mut state.q, &displacement, 1.0);
        state.v.iter_mut().enumerate().for_each(|(i, v)| *v += y(n + i));
        Some(state)
    }
}
