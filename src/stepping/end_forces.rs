//! Steps that are solved again about the surfaces of their end, and the report of friction.

use std::ops::Range;

use super::dynamic::{DynamicStep, Search, world};
use super::input::StepInput;
use super::result::PairFriction;
use super::settings::ContactScheme;
use super::snapshot::FRICTION_ERROR_MAX;
use crate::multibody::Data;
use crate::solvers::dynamic::FrictionError;

impl DynamicStep {
    /// Whether the step is to be solved again after a solve that ends with the velocities `v`. The problem is
    /// then assembled. Motion that may not be that of the step is not searched.
    pub(super) fn assemble_again(
        &mut self,
        input: &StepInput<'_>,
        data: &Data,
        v: &[f64],
        search: &mut Search,
    ) -> bool {
        if *search != Search::Compare && self.assemble_farther(input, data, v) {
            return true;
        }
        if *search != Search::Kept && self.assemble_about_end(input, data, v) {
            *search = Search::Compare;
            return true;
        }
        let compared = std::mem::replace(search, Search::Kept) == Search::Compare;
        compared && self.assemble_farther(input, data, v)
    }

    /// Whether the forces of a solve that ends with the velocities `v` are not those of its end. The problem
    /// is then assembled about other surfaces.
    pub(super) fn assemble_about_end(&mut self, input: &StepInput<'_>, data: &Data, v: &[f64]) -> bool {
        if !self.contacts.any_unresolved() && !self.compared {
            return false;
        }
        self.compared = true;
        self.islands.clear();
        self.islands.resize(self.problem.size(), 0);
        match self.options.scheme {
            ContactScheme::Tamsi => label(self.tamsi.islands(&self.problem), &mut self.islands),
            _ => label(self.solver.islands(&self.problem), &mut self.islands),
        }
        let world = world(input, &self.options, (&self.free, &self.ahead), data);
        let again = self.contacts.differs_from_end(&world, (&self.problem, &self.islands), v);
        if again {
            self.assemble_contacts(input, data);
        }
        again
    }

    /// Assembles the problem of the best solution so far, after a solve about other surfaces has failed.
    /// Returns false if it was that problem which failed.
    pub(super) fn assemble_best(&mut self, input: &StepInput<'_>, data: &Data) -> bool {
        let again = self.contacts.return_to_best();
        if again {
            self.assemble_contacts(input, data);
        }
        again
    }

    pub(super) fn assemble_contacts(&mut self, input: &StepInput<'_>, data: &Data) {
        let world = world(input, &self.options, (&self.free, &self.ahead), data);
        self.contacts.pairs.restore_loads();
        self.problem.clear_patches();
        self.contacts.assemble(&world, &mut self.problem);
        // Bodies that slept may be awake now
        self.know_free(input.scene);
    }

    /// The largest error of friction as a fraction of its limit [-], and the pair whose friction is farthest
    /// from Coulomb's law, if its error exceeds the tolerance.
    pub(super) fn wrong_friction(
        &self,
        input: &StepInput<'_>,
        data: &Data,
        wrong: &FrictionError,
    ) -> (f64, Option<PairFriction>) {
        let step = input.settings.step();
        let world = world(input, &self.options, (&self.free, &self.ahead), data);
        if let Some(end) = self.contacts.farthest_from_end(&world).filter(|end| end.force > wrong.part() * end.limit) {
            return (end.force / end.limit, Some(PairFriction { pair: end.pair, force: end.force, limit: end.limit }));
        }
        let active = self.contacts.active().get(wrong.patch);
        let found = active.map(|active| PairFriction {
            pair: active.pair,
            force: wrong.impulse / step,
            limit: wrong.limit / step,
        });
        (wrong.part(), found.filter(|_| wrong.part() > FRICTION_ERROR_MAX))
    }
}

/// Writes the number of its island for each velocity.
fn label(islands: impl Iterator<Item = impl Iterator<Item = Range<usize>>>, labels: &mut [u32]) {
    for (number, island) in islands.enumerate() {
        island.for_each(|dofs| labels[dofs].fill(number as u32));
    }
}
