//! Loop closures of a quasistatic step: closed at its end, with forces that have the directions of its
//! middle.

use super::failure::Failure;
use super::step::{QuasistaticStep, TURN_MIN};
use crate::multibody::{integrate, positions};
use crate::stepping::input::StepInput;

/// The largest error of a closure at the end of a step \[m\] or \[rad\].
const ACCEPTED_OPENING: f64 = 1e-6;
/// The same for an error that was there at the start and that no motion closes, as across the plane of a
/// linkage: what a scene file may leave open.
const ASSEMBLY: f64 = 1e-3;

impl QuasistaticStep {
    /// Moves the Jacobians to the middle of the step with the velocities `v`, and corrects the closures by
    /// their errors at its end. Without closures, it does the first in scenes with pressure fields only.
    /// Returns whether nothing had to change.
    pub(super) fn close(&mut self, input: &StepInput<'_>, v: &[f64], round: u32) -> bool {
        let (scene, model) = (input.scene, input.scene.model());
        if scene.closures().is_empty() {
            // The linearisations of the fields change the motion, and with it the middle of rigid contact.
            if !self.has_fields || self.problem.contacts().is_empty() {
                return true;
            }
            let moved = self.move_middle(input, v);
            self.move_end_to_trial(input); // its memory was used for trials of the middle
            return !moved;
        }
        let moved = self.move_middle(input, v);
        if self.has_fields {
            self.move_end_to_trial(input); // its memory was used for trials of the middle
        }
        self.q.copy_from_slice(&input.start.state.q);
        integrate(model, &mut self.q, v, input.settings.step());
        positions(model, &self.q, &mut self.closed);
        let corrected = self.contacts.correct_closures(scene, &self.closed, round, self.settled);
        !moved && !corrected
    }

    /// The failure of a step whose closures are not closed at its end, or whose forces still turn.
    pub(super) fn check_closures(&self) -> Result<(), Failure> {
        if let Some((closure, open)) = self.contacts.open_closure(ACCEPTED_OPENING, ASSEMBLY) {
            return Err(Failure::Closure { closure, open });
        }
        match self.contacts.open_closure(0.0, 0.0) {
            Some((closure, open)) if self.turned > TURN_MIN => Err(Failure::Closure { closure, open }),
            _ => Ok(()),
        }
    }
}
