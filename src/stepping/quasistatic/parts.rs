//! A quasistatic step that does not settle is taken in parts, with equal changes of the command. If it does
//! not settle in small parts either, it fails with the reason.
//!
//! A step whose motion misjudges the gaps of rigid bodies, because they turn too far in it, is divided where
//! that happens: the part that failed is halved, and later parts grow again. The error of the gaps falls with
//! the square of a part's turn.

use super::failure::{Failure, PartStart, explain, name_of_tree};
use super::spent::Spent;
use super::step::QuasistaticStep;
use crate::contact::FaceFriction;
use crate::math::Index;
use crate::multibody::{Joint, JointKind};
use crate::solvers::quasistatic::{ProblemPart, QuasistaticReport};
use crate::stepping::error::StepError;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::result::StepResult;
use crate::stepping::settings::{CommonSettings, UnactuatedInertia};

/// The largest number of equal parts of a step.
pub(super) const PARTS_MAX: u32 = 32;
/// The smallest part is this fraction of a step, as its inverse.
const UNITS: u32 = 4096;
/// The largest number of parts that may fail in a step with parts of different lengths.
const FAILURES_MAX: u32 = 300;
/// Parts double after this number of successes in a row.
const SUCCESSES: u32 = 2;

impl QuasistaticStep {
    /// Solves for the end of the step: at once, or else in 2, 4, 8 ... parts; the last of these are halved
    /// further where they do not settle. Each part is a shorter step, and the command goes in equal changes
    /// from the last command to the new one. The forces are those of the last part. If the step does not
    /// settle with friction that is spread over the faces, as under a tool that is pressed and turned,
    /// friction acts at their centroids in this step. If it does not settle with the loads of joints at its
    /// end, those of its start act.
    pub(in crate::stepping) fn step(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        if self.smoothing.is_some() {
            return self.step_smoothed(input, result);
        }
        let began = input.now();
        self.start_counts();
        self.solver.keep();
        let taken = self.take_any_turn(input, result);
        let (solved, parts, centroids) = self.or_behind(taken, |step| step.take_any_turn(input, result))?;
        self.stop_times(input.now() - began);
        self.finish(input, (parts, centroids), &solved, result);
        Ok(())
    }

    /// Takes a step, and if it fails because a body carries another one along a large turn, again without a
    /// bound on turns: an arm that sags in one step turns as far in each of its parts.
    fn take_any_turn(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<(QuasistaticReport, u32, bool), StepError> {
        self.contacts.beyond.turned = false;
        let taken = self.take_step(input, result);
        if taken.is_ok() || !self.contacts.beyond.turned {
            return taken;
        }
        self.solver.restore();
        self.contacts.beyond.any_turn = true;
        let taken = self.take_step(input, result);
        self.contacts.beyond.any_turn = false;
        taken
    }

    /// Takes a step that failed with the loads of its end again with those of its start, if the two differ.
    pub(super) fn or_behind<T, E>(
        &mut self,
        taken: Result<T, E>,
        again: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if taken.is_ok() || !(self.spent.any || self.solver.was_softened()) {
            return taken;
        }
        self.spent = Spent::default();
        self.solver.restore();
        self.weights.is_behind = true;
        let taken = again(self);
        self.weights.is_behind = false;
        self.solver.keep();
        taken
    }

    /// Returns the report of the last part, the number of parts, and whether friction acts at centroids
    /// although it should be spread.
    fn take_step(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<(QuasistaticReport, u32, bool), StepError> {
        let face_friction = input.settings.face_friction;
        let at_centroids = CommonSettings { face_friction: FaceFriction::Centroid, ..*input.settings };
        let at_centroids = StepInput { settings: &at_centroids, ..*input };
        let mut input = input;
        let mut parts = 1;
        let (solved, taken) = loop {
            self.parts = parts;
            let whole = if parts == 1 { Some(self.attempt(input, result)) } else { None };
            let attempt = match whole {
                Some(Ok(solved)) => Ok((solved, 1)),
                Some(Err(Failure::Path(mistake))) if input.settings.step_ns > 1 => {
                    self.solver.forget();
                    self.take(UNITS, Some(Failure::Path(mistake)), input, result)
                }
                Some(Err(failure)) => Err(failure),
                None => self.take(UNITS / parts, None, input, result),
            };
            match attempt {
                Ok(solved) => break solved,
                Err(failure) => {
                    self.solver.forget();
                    let is_final = matches!(failure, Failure::Final(_) | Failure::Path(_));
                    if input.settings.face_friction == FaceFriction::Spread && !is_final {
                        input = &at_centroids;
                        continue;
                    }
                    let next = 2 * parts;
                    let last = next > PARTS_MAX || u64::from(next) > input.settings.step_ns || self.spent.is_over();
                    if last || is_final {
                        let free = self.free_body(input, &failure);
                        let error = explain(failure, input, self.parts.max(parts));
                        return Err(match free {
                            Some(body) => error.of_free_body(body),
                            None => error,
                        });
                    }
                    parts = next;
                }
            }
        };
        Ok((solved, taken, input.settings.face_friction != face_friction))
    }

    /// In steps without inertia, the body without an actuator that `failure` concerns: it moves until
    /// contacts hold it, however short the parts.
    fn free_body(&self, input: &StepInput<'_>, failure: &Failure) -> Option<String> {
        if self.options.inertia != UnactuatedInertia::None {
            return None;
        }
        let model = input.scene.model();
        let free = |tree: &usize| {
            let dofs = model.trees()[*tree].clone();
            let floats = |joint: &Joint| joint.kind == JointKind::Floating && joint.damping == 0.0;
            let mut bases = model.joints().iter().filter(|joint| dofs.contains(&joint.v_start) && floats(joint));
            bases.next().is_some() && dofs.clone().all(|dof| !self.impedances.actuated()[dof])
        };
        let (pair, dof) = match failure {
            Failure::Path(mistake) => (Some(mistake.pair), None),
            Failure::Friction { pair, .. } => (*pair, None),
            Failure::Surface { pair, .. } => (Some(*pair), None),
            Failure::Balance { dof, .. } | Failure::Weights { dof, .. } => (None, Some(*dof)),
            Failure::Solver(_) => match self.solver.worst()? {
                ProblemPart::Velocity(dof) => (None, Some(dof)),
                part => (self.pair_of(part), None),
            },
            Failure::Closure { .. } | Failure::Final(_) => (None, None),
        };
        let of_dof = dof.map(|dof| model.tree_of_dof()[dof]).filter(free);
        let of_pair = || {
            let pair = &input.scene.contact_pairs()[pair?];
            let bodies = [pair.B, pair.A].map(|geometry| input.scene.geometries()[geometry].body);
            let dofs = bodies.map(|body| model.body_dofs(body).first().map(|dof| dof.to_usize()));
            dofs.into_iter().flatten().map(|dof| model.tree_of_dof()[dof]).find(free)
        };
        of_dof.or_else(of_pair).map(|tree| name_of_tree(model, tree))
    }

    /// Takes the step in parts of `largest` units and smaller ones. `failed` is the failure of the first
    /// part, if it was tried. Returns the number of parts.
    fn take(
        &mut self,
        largest: u32,
        failed: Option<Failure>,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<(QuasistaticReport, u32), Failure> {
        let mut part = std::mem::take(&mut self.part);
        let taken = self.take_from(largest, failed, input, &mut part, result);
        self.part = part;
        taken
    }

    fn take_from(
        &mut self,
        largest: u32,
        mut failed: Option<Failure>,
        input: &StepInput<'_>,
        part: &mut PartStart,
        result: &mut StepResult,
    ) -> Result<(QuasistaticReport, u32), Failure> {
        part.state.clone_from(input.start.state);
        part.command.targets.clone_from(&input.start.command.targets);
        let end = |units: u32| input.settings.step_ns * u64::from(units) / u64::from(UNITS);
        let (mut at, mut size) = (0, largest);
        let (mut taken, mut successes, mut failures) = (0, 0, 0);
        loop {
            if let Some(failure) = failed.take() {
                let half = size / 2;
                let is_local = size < largest || largest <= UNITS / PARTS_MAX || failure.is_of_path();
                // Arms sag by their weights, not by the command: shorter parts do not help.
                let is_local = is_local && !matches!(failure, Failure::Final(_) | Failure::Weights { .. });
                let divides = is_local && failures < FAILURES_MAX && !self.spent.is_over();
                if !divides || half == 0 || end(at + half) == end(at) {
                    return Err(failure);
                }
                failures += 1;
                self.solver.forget();
                (size, successes) = (half, 0);
            }
            self.parts = UNITS / size;
            let settings = CommonSettings { step_ns: end(at + size) - end(at), ..*input.settings };
            let share = f64::from(at + size) / f64::from(UNITS);
            let held = self.impedances.targets();
            for ((target, goal), held) in part.command.targets.iter_mut().zip(&input.start.command.targets).zip(held) {
                target.position = goal.position.map(|goal| held + share * (goal - held));
            }
            let start = StepStart { state: &part.state, command: &part.command, ..input.start };
            let time = input.time + end(at) as f64 * 1e-9;
            match self.attempt(&StepInput { settings: &settings, start, time, ..*input }, result) {
                Err(failure) => failed = Some(failure),
                Ok(solved) => {
                    (at, taken, successes) = (at + size, taken + 1, successes + 1);
                    if at == UNITS {
                        return Ok((solved, taken));
                    }
                    part.state.clone_from(&result.state);
                    if size < largest && successes >= SUCCESSES && at % (2 * size) == 0 {
                        (size, successes) = (2 * size, 0);
                    }
                }
            }
        }
    }
}
