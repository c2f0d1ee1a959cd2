//! The motion of bodies through a step: its middle, where rigid contact has its Jacobians, and the check that
//! the gaps along it are those that the solution predicts.

use super::failure::Failure;
use super::step::QuasistaticStep;
use crate::multibody::{Data, integrate, positions};
use crate::stepping::input::StepInput;
use crate::stepping::settings::UnactuatedInertia;

impl QuasistaticStep {
    /// Moves the Jacobians of rigid contact to the middle of the step with the velocities `v`, if bodies turn
    /// by more than `turn_min`. Returns whether it did.
    pub(super) fn move_middle(&mut self, input: &StepInput<'_>, v: &[f64]) -> bool {
        let model = input.scene.model();
        let h = input.settings.step();
        // The largest change of a body's rotation matrix over half the step, or since the last move.
        let turned = |a: &Data, b: &Data| {
            let turns = a.X_WB.iter().zip(b.X_WB.iter());
            turns.map(|(a, b)| (a.rotation.matrix() - b.rotation.matrix()).norm()).fold(0.0, f64::max)
        };
        self.q.copy_from_slice(&input.start.state.q);
        integrate(model, &mut self.q, v, 0.5 * h);
        positions(model, &self.q, &mut self.end);
        self.turned = turned(&self.middle, &self.end);
        if self.turned <= self.turn_min {
            return false;
        }
        positions(model, &self.q, &mut self.middle);
        true
    }

    /// Checks that rigid bodies that move with the velocities `v` of a solution do not end deeper in each
    /// other than it predicts and do not pass through each other, and that bodies hardly turn against one
    /// that they press on.
    pub(super) fn check_path(&mut self, input: &StepInput<'_>, v: &[f64]) -> Result<(), Failure> {
        let Self { contacts, problem, solver, start, q, .. } = self;
        let (scene, h) = (input.scene, input.settings.step());
        let place = |part: f64, data: &mut Data| {
            q.copy_from_slice(&input.start.state.q);
            integrate(scene.model(), q, v, part * h);
            positions(scene.model(), q, data);
        };
        // Without inertia, parts of any length end where contacts hold the bodies.
        let patches = match self.options.inertia {
            UnactuatedInertia::None => None,
            _ => Some(solver.patch_impulses()),
        };
        match contacts.check_path(scene, start, problem, (v, solver.contact_impulses(), patches), place) {
            Some(misjudged) => Err(Failure::Path(misjudged)),
            None => Ok(()),
        }
    }
}
