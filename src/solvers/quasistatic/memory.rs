//! What warms up the next step: the multipliers of contacts by their key, and of bounds by their velocity.

use super::islands::Islands;
use super::newton::IslandNewton;
use super::{ContactKey, QuasistaticProblem};

/// The multipliers of the last step.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Sorted by key; where the numbers of a contact begin.
    contacts: Vec<(ContactKey, u32)>,
    multipliers: Vec<f64>,
    stride: usize,
    /// Step h in which they were impulses [s].
    step: f64,
    /// Sorted by velocity.
    bounds: Vec<(u32, f64)>,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        self.contacts.clear();
        self.bounds.clear();
    }

    /// Keeps the multipliers of a solved step.
    pub(super) fn store(&mut self, problem: &QuasistaticProblem, islands: &Islands, newton: &IslandNewton) {
        self.clear();
        self.stride = newton.stride;
        self.step = problem.step;
        self.multipliers.clear();
        self.multipliers.extend_from_slice(&newton.multipliers);
        for (place, contact) in islands.contacts.iter().enumerate() {
            let key = problem.contacts()[contact.index as usize].key;
            self.contacts.push((key, (place * self.stride) as u32));
        }
        self.contacts.sort_unstable();
        for (place, bound) in islands.bounds.iter().enumerate() {
            self.bounds.push((problem.bounds[*bound as usize].dof, newton.bound_multipliers[place]));
        }
        self.bounds.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    }

    /// Fills in the multipliers of the contacts and bounds that were there before; the others stay zero.
    pub(super) fn recall(&self, problem: &QuasistaticProblem, islands: &Islands, newton: &mut IslandNewton) {
        if self.stride != newton.stride || self.step <= 0.0 {
            return;
        }
        // forces last, impulses scale with the step
        let scale = problem.step / self.step;
        for (place, contact) in islands.contacts.iter().enumerate() {
            let key = problem.contacts()[contact.index as usize].key;
            if let Ok(found) = self.contacts.binary_search_by_key(&key, |(key, _)| *key) {
                let from = &self.multipliers[self.contacts[found].1 as usize..][..self.stride];
                let to = &mut newton.multipliers[place * self.stride..][..self.stride];
                for (to, from) in to.iter_mut().zip(from) {
                    *to = scale * from;
                }
            }
        }
        for (place, bound) in islands.bounds.iter().enumerate() {
            let dof = problem.bounds[*bound as usize].dof;
            if let Ok(found) = self.bounds.binary_search_by_key(&dof, |(dof, _)| *dof) {
                newton.bound_multipliers[place] = scale * self.bounds[found].1;
            }
        }
    }
}
