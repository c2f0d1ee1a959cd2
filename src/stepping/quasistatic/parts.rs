//! A quasistatic step that does not settle is taken in parts, with equal changes of the command. If it does
//! not settle in small parts either, it fails with the reason.

use super::failure::{Failure, PartStart, explain};
use super::step::QuasistaticStep;
use crate::contact::FaceFriction;
use crate::solvers::quasistatic::QuasistaticReport;
use crate::stepping::error::StepError;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::result::StepResult;
use crate::stepping::settings::CommonSettings;

/// The largest number of parts of a step.
const PARTS_MAX: u32 = 32;

impl QuasistaticStep {
    /// Solves for the end of the step: at once, or else in 2, 4, 8 ... parts. Each part is a shorter step,
    /// and the command goes in equal changes from the last command to the new one. The forces are those of
    /// the last part. If the step does not settle with friction that is spread over the faces, as under a
    /// tool that is pressed and turned, friction acts at their centroids in this step.
    pub(in crate::stepping) fn step(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        let began = input.now();
        let at_centroids = CommonSettings { face_friction: FaceFriction::Centroid, ..*input.settings };
        let at_centroids = StepInput { settings: &at_centroids, ..*input };
        let mut input = input;
        self.start_counts();
        let mut parts = 1;
        let solved = loop {
            self.parts = parts;
            let attempt = if parts == 1 { self.attempt(input, result) } else { self.take(parts, input, result) };
            match attempt {
                Ok(solved) => break solved,
                Err(failure) => {
                    self.solver.forget();
                    if input.settings.face_friction == FaceFriction::Spread && !matches!(failure, Failure::Final(_)) {
                        input = &at_centroids;
                        continue;
                    }
                    let next = 2 * parts;
                    let last = next > PARTS_MAX || u64::from(next) > input.settings.step_ns;
                    if last || matches!(failure, Failure::Final(_)) {
                        return Err(explain(failure, input, parts));
                    }
                    parts = next;
                }
            }
        };
        self.stop_times(input.now() - began);
        self.finish(input, parts, &solved, result);
        Ok(())
    }

    /// Takes the step in `parts` parts.
    fn take(
        &mut self,
        parts: u32,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<QuasistaticReport, Failure> {
        let mut part = std::mem::take(&mut self.part);
        let taken = self.take_from(parts, input, &mut part, result);
        self.part = part;
        taken
    }

    fn take_from(
        &mut self,
        parts: u32,
        input: &StepInput<'_>,
        part: &mut PartStart,
        result: &mut StepResult,
    ) -> Result<QuasistaticReport, Failure> {
        part.state.clone_from(input.start.state);
        part.command.targets.clone_from(&input.start.command.targets);
        let mut number = 0;
        loop {
            let end = |number: u32| input.settings.step_ns * u64::from(number) / u64::from(parts);
            let settings = CommonSettings { step_ns: end(number + 1) - end(number), ..*input.settings };
            let share = f64::from(number + 1) / f64::from(parts);
            let held = self.impedances.targets();
            for ((target, goal), held) in part.command.targets.iter_mut().zip(&input.start.command.targets).zip(held) {
                target.position = goal.position.map(|goal| held + share * (goal - held));
            }
            let start = StepStart { state: &part.state, command: &part.command, ..input.start };
            let time = input.time + end(number) as f64 * 1e-9;
            let solved = self.attempt(&StepInput { settings: &settings, start, time, ..*input }, result)?;
            number += 1;
            if number == parts {
                return Ok(solved);
            }
            part.state.clone_from(&result.state);
        }
    }
}
