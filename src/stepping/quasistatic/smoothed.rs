//! Smoothed steps with pressure fields or loop closures: the rounds of a step, each with the barrier in place
//! of the constraints of rigid contacts and limits. Fields and closures act as in exact steps: their forces
//! change with the motion without a barrier.

use super::failure::explain;
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
        self.solver.keep();
        self.parts = 1;
        let taken = self.solve_smoothed_part(input, result);
        let solved = self.or_behind(taken, |step| step.solve_smoothed_part(input, result))?;
        result.integrate(input)?;
        self.stop_times(input.now() - began);
        self.finish(input, (1, false), &solved, result);
        Ok(())
    }

    fn solve_smoothed_part(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<QuasistaticReport, StepError> {
        self.spent.start_part();
        let solved = self.solve_part(input, &mut result.state.v);
        self.spent.end_part(solved.is_err());
        solved.map_err(|failure| {
            self.solver.forget();
            explain(failure, input, 1)
        })
    }
}
