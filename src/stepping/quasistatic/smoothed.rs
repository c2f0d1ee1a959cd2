//! Smoothed steps with pressure fields or loop closures: the rounds of a step, each with the barrier in place
//! of the constraints of rigid contacts and limits. Fields and closures act as in exact steps: their forces
//! change with the motion without a barrier.

use super::failure::{Failure, explain};
use super::field_trial::Trial;
use super::step::QuasistaticStep;
use crate::solvers::quasistatic::QuasistaticReport;
use crate::stepping::error::StepError;
use crate::stepping::input::StepInput;
use crate::stepping::result::StepResult;

impl QuasistaticStep {
    /// Takes the step in one part, with the barrier of [`QuasistaticStep::smoothing`].
    pub(super) fn step_smoothed(&mut self, input: &StepInput<'_>, result: &mut StepResult) -> Result<(), StepError> {
        let began = input.now();
        self.start_counts();
        self.parts = 1;
        let solved = self.attempt_smoothed(input, result).map_err(|failure| {
            self.solver.forget();
            explain(failure, input, 1)
        })?;
        result.integrate(input)?;
        self.stop_times(input.now() - began);
        self.finish(input, (1, false), &solved, result);
        Ok(())
    }

    fn attempt_smoothed(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<QuasistaticReport, Failure> {
        let options = &{ self.options };
        let v = &mut result.state.v;
        v.copy_from_slice(&input.start.state.v);
        self.assemble(input, options, v);
        let mut trial = Trial::new();
        let solved = self.settle(input, options, v, &mut trial)?;
        if self.has_fields && (trial.change > self.settled || self.held(v).is_some()) {
            self.check_fields(input, v, &trial)?;
        }
        self.check_closures()?;
        self.check_friction(&solved, options)?;
        Ok(solved)
    }
}
