//! The warm start of the next step: the multipliers of contacts by their key, and of bounds by their
//! velocity.

use super::{ContactKey, QuasistaticProblem};

/// Multipliers in the order of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Multipliers {
    /// Those of the contacts, `stride` numbers each [N s].
    pub(super) contacts: Vec<f64>,
    pub(super) stride: usize,
    /// Those of the bounds [N s] or [N m s].
    pub(super) bounds: Vec<f64>,
}

impl Multipliers {
    /// Those of a contact.
    pub(super) fn contact(&self, index: usize) -> &[f64] {
        &self.contacts[index * self.stride..][..self.stride]
    }
    /// Those of a contact.
    pub(super) fn contact_mut(&mut self, index: usize) -> &mut [f64] {
        &mut self.contacts[index * self.stride..][..self.stride]
    }
}

/// The multipliers of the last step.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Sorted by key, with the start of each contact's numbers.
    contacts: Vec<(ContactKey, u32)>,
    multipliers: Vec<f64>,
    stride: usize,
    /// The step h of these impulses \[s\].
    step: f64,
    /// Sorted by velocity.
    bounds: Vec<(u32, f64)>,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        self.contacts.clear();
        self.bounds.clear();
    }
    /// Whether no contact is stored.
    pub(super) fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }

    /// Stores the multipliers of a solved step.
    pub(super) fn store(&mut self, problem: &QuasistaticProblem, multipliers: &Multipliers) {
        self.clear();
        self.stride = multipliers.stride;
        self.step = problem.step;
        self.multipliers.clone_from(&multipliers.contacts);
        let starts = (0..).step_by(self.stride);
        self.contacts.extend(problem.contacts().iter().zip(starts).map(|(contact, start)| (contact.key, start)));
        if !self.contacts.is_sorted() {
            self.contacts.sort_unstable();
        }
        self.bounds.extend(problem.bounds.iter().zip(&multipliers.bounds).map(|(bound, gamma)| (bound.dof, *gamma)));
        if !self.bounds.is_sorted_by_key(|(dof, _)| *dof) {
            self.bounds.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        }
    }

    /// Fills in the multipliers, `stride` of them for each contact. Contacts and bounds of the last step get
    /// their old ones, others zero.
    pub(super) fn recall(&self, problem: &QuasistaticProblem, stride: usize, multipliers: &mut Multipliers) {
        multipliers.stride = stride;
        multipliers.contacts.clear();
        multipliers.contacts.resize(problem.contacts().len() * stride, 0.0);
        multipliers.bounds.clear();
        multipliers.bounds.resize(problem.bounds.len(), 0.0);
        if self.stride != stride || self.step <= 0.0 {
            return;
        }
        // forces stay the same, so impulses scale with the step
        let scale = problem.step / self.step;
        // contacts are usually in the same order as in the last step
        let mut next = 0;
        for (index, contact) in problem.contacts().iter().enumerate() {
            if self.contacts.get(next).is_none_or(|(key, _)| *key != contact.key) {
                let Ok(found) = self.contacts.binary_search_by_key(&contact.key, |(key, _)| *key) else { continue };
                next = found;
            }
            let from = &self.multipliers[self.contacts[next].1 as usize..][..stride];
            for (to, from) in multipliers.contact_mut(index).iter_mut().zip(from) {
                *to = scale * from;
            }
            next += 1;
        }
        for (bound, gamma) in problem.bounds.iter().zip(&mut multipliers.bounds) {
            if let Ok(found) = self.bounds.binary_search_by_key(&bound.dof, |(dof, _)| *dof) {
                *gamma = scale * self.bounds[found].1;
            }
        }
    }
}
