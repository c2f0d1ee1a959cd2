//! The warm start of the next step: the multipliers of contacts by their key, and of bounds by their
//! velocity.

use super::{ContactKey, QuasistaticProblem};
use crate::math::{ByteReader, ByteWriter, BytesError};

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
    /// The multipliers of a contact.
    pub(super) fn contact(&self, index: usize) -> &[f64] {
        &self.contacts[index * self.stride..][..self.stride]
    }
    /// The multipliers of a contact, to be changed.
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
    /// Copies `other` into the memory of this one.
    pub(super) fn copy(&mut self, other: &Self) {
        self.contacts.clone_from(&other.contacts);
        self.multipliers.clone_from(&other.multipliers);
        self.bounds.clone_from(&other.bounds);
        (self.stride, self.step) = (other.stride, other.step);
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
    /// their old multipliers, scaled to the new step length; the others get zero.
    pub(super) fn recall(&self, problem: &QuasistaticProblem, stride: usize, multipliers: &mut Multipliers) {
        multipliers.stride = stride;
        multipliers.contacts.clear();
        multipliers.contacts.resize(problem.contacts().len() * stride, 0.0);
        multipliers.bounds.clear();
        multipliers.bounds.resize(problem.bounds.len(), 0.0);
        if self.stride != stride || self.step <= 0.0 {
            return;
        }
        // Forces stay the same, so impulses scale with the step.
        let scale = problem.step / self.step;
        // Contacts are usually in the same order as in the last step.
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

    /// Writes the memory.
    pub(super) fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.stride);
        writer.f64(self.step);
        writer.numbers(&self.multipliers);
        writer.len(self.contacts.len());
        for (key, start) in &self.contacts {
            [key.pair, key.point, *start].into_iter().for_each(|number| writer.u32(number));
        }
        writer.len(self.bounds.len());
        for (dof, gamma) in &self.bounds {
            writer.u32(*dof);
            writer.f64(*gamma);
        }
    }

    /// Reads the output of [`Memory::write`].
    pub(super) fn read(reader: &mut ByteReader<'_>) -> Result<Self, BytesError> {
        let stride = usize::try_from(reader.u64()?).map_err(|_| BytesError::Invalid)?;
        let step = reader.finite()?;
        let multipliers = reader.numbers()?;
        let mut contacts = Vec::new();
        for _ in 0..reader.len(12)? {
            let (key, start) = (ContactKey { pair: reader.u32()?, point: reader.u32()? }, reader.u32()?);
            let end = (start as usize).checked_add(stride).ok_or(BytesError::Invalid)?;
            if end > multipliers.len() {
                return Err(BytesError::Invalid);
            }
            contacts.push((key, start));
        }
        let mut bounds = Vec::new();
        for _ in 0..reader.len(12)? {
            bounds.push((reader.u32()?, reader.finite()?));
        }
        if !contacts.is_sorted() || !bounds.is_sorted_by_key(|(dof, _)| *dof) {
            return Err(BytesError::Invalid);
        }
        Ok(Self { contacts, multipliers, stride, step, bounds })
    }
}
