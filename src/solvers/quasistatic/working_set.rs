//! The contacts included in a solve. Most contacts of a problem stay open, and an open contact only costs
//! time, because it couples islands that do not touch.
//!
//! A contact is left out if the warm start keeps it open. A solution without it that satisfies its constraint
//! also solves the problem with it, with a multiplier of zero: the conditions of optimality are the same.
//! Violated contacts are added, and the problem is solved again from there.

use super::QuasistaticProblem;
use super::memory::Multipliers;

/// A contact is included unless the warm start keeps it open by at least this velocity [m/s]. It is about the
/// change of a contact's velocity from one solution to the next.
const MARGIN: f64 = 0.02;

/// The contacts of a problem by index: the included ones and the others, both ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkingSet {
    kept: Vec<u32>,
    left_out: Vec<u32>,
}

impl WorkingSet {
    /// The included contacts.
    pub(super) fn kept(&self) -> &[u32] {
        &self.kept
    }
    /// Whether all contacts are included.
    pub(super) fn is_full(&self) -> bool {
        self.left_out.is_empty()
    }

    /// Keeps all contacts.
    pub(super) fn take_all(&mut self, problem: &QuasistaticProblem) {
        self.left_out.clear();
        self.kept.clear();
        self.kept.extend(0..problem.contacts().len() as u32);
    }

    /// Keeps the contacts that push in the warm start, or are not clearly open at its velocities `v`.
    pub(super) fn predict(&mut self, problem: &QuasistaticProblem, v: &[f64], multipliers: &Multipliers) {
        self.kept.clear();
        self.left_out.clear();
        for index in 0..problem.contacts().len() {
            let pushes = multipliers.contact(index).iter().any(|gamma| *gamma != 0.0);
            let list = if pushes || !is_open(problem, index, v, MARGIN) { &mut self.kept } else { &mut self.left_out };
            list.push(index as u32);
        }
    }

    /// Adds the contacts whose constraints are violated at `v`; returns whether there are any.
    pub(super) fn take_violated(&mut self, problem: &QuasistaticProblem, v: &[f64]) -> bool {
        let before = self.kept.len();
        let Self { kept, left_out } = self;
        left_out.retain(|index| {
            let open = is_open(problem, *index as usize, v, 0.0);
            if !open {
                kept.push(*index);
            }
            open
        });
        kept.sort_unstable();
        kept.len() > before
    }
}

/// Whether phi/h + n . v_C >= mu |v_t| + margin: by the exact cone, within which the pyramid's rays are
/// satisfied, too.
#[inline]
fn is_open(problem: &QuasistaticProblem, index: usize, v: &[f64], margin: f64) -> bool {
    let contact = &problem.contacts()[index];
    let y = problem.contact_velocity(contact, v);
    let room = y.x - margin;
    room >= 0.0 && room * room >= contact.friction * contact.friction * y.yz().norm_squared()
}
