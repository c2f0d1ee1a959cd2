//! The loads that joints carry at the end of a quasistatic step: weights and external wrenches. A step is
//! solved with the loads of its start first. If those of its end differ, it is solved again with a convex
//! model of the loads about the last solution (weight_model.rs), until the model is exact at the solution:
//! Newton's method.
//!
//! A balance is a stationary point of the energy of weights, springs and contact. The program with the model
//! has an energy of its own, which is the same at the centre and lower at the solution. A solution is taken
//! if the model misses the work of the loads by less than this gain, so that the energy falls from one centre
//! to the next, and the iteration cannot oscillate. Otherwise the model becomes stiffer about the old centre.
//!
//! Joints with a stiffness of their own, from an actuator or a spring, and those of scenes with loop closures
//! end the step in balance with the loads there. The steps of other passive joints towards their lowest point
//! need not settle: the stiffness of their weight acts about the start.

use super::failure::Failure;
use super::impedances::InertiaLaw;
use super::step::QuasistaticStep;
use super::weight_model::{Motion, NODES, WeightModel};
use crate::math::{SpatialForce, Vector3};
use crate::multibody::mass_matrix;
use crate::solvers::quasistatic::QuasistaticReport;
use crate::stepping::error::StepError;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::settings::QuasistaticStepping;

/// An error below this is rounding, in N or N m.
const ROUNDING: f64 = 1e-12;
/// The largest number of solutions with other models of the loads, in a row.
pub(super) const ROUNDS_MAX: u32 = 80;
/// The fraction of its load by which the load of a joint at the end may differ from the one that acted,
/// without a report [-].
const BEHIND: f64 = 4e-7;
/// The part of the gain of energy that errors of the model may take [-].
const ACCEPTED: f64 = 0.5;
/// The same without a look at the loads on the way to the solution.
const ACCEPTED_AT_END: f64 = 0.1;
/// The first shift after a solution that is not taken, relative to the largest stiffness of the loads [-].
const SHIFT: f64 = 0.25;
const SHIFT_GROWTH: f64 = 4.0;
/// A shift beyond this is more than any load needs: the solution is taken [-].
const SHIFT_MAX: f64 = 1e3;
/// The same holds for sums of turns up to this \[rad\].
const NEAR: f64 = 0.3;
/// The largest number of parts of a motion in which its work is integrated, of a radian each.
const PARTS_MAX: f64 = 64.0;

/// The motion of a step.
pub(super) fn motion<'a>(input: &StepInput<'a>) -> Motion<'a> {
    let StepInput { scene, settings, start, .. } = input;
    Motion { model: scene.model(), q: &start.state.q, wrenches: start.wrenches, h: settings.step() }
}

/// Whether gravity or an external wrench acts.
fn has_loads(input: &StepInput<'_>) -> bool {
    let loaded = input.start.wrenches.iter().any(|F| *F != SpatialForce::ZERO);
    loaded || *input.scene.model().gravity_W() != Vector3::zeros()
}

impl QuasistaticStep {
    /// Starts with the loads of the start of the step, and assembles the joints with them.
    pub(super) fn start_weights(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping) {
        let at_start = &mut self.weights.at_start;
        at_start.gravity.clone_from(&self.start.gravity);
        at_start.external.clear();
        at_start.external.extend_from_slice(input.start.external);
        let WeightModel { at_center, at_start, .. } = &mut self.weights;
        at_center.clone_from(at_start);
        self.unweighed = None;
        self.assemble_joints(input, options);
        let model = input.scene.model();
        self.weights.start((model, &self.start), &self.impedances, has_loads(input));
    }

    /// Assembles the joints with the loads of the model's centre.
    fn assemble_joints(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping) {
        let StepInput { scene, settings, start, .. } = input;
        let Self { impedances, problem, weights, start: data, .. } = self;
        data.gravity.copy_from_slice(&weights.at_center.gravity);
        problem.reset(scene.model().nv(), settings.step());
        let inertia = InertiaLaw { kind: options.inertia, parts: self.parts };
        let start = StepStart { external: &weights.at_center.external, ..*start };
        impedances.assemble(scene, inertia, settings.stiction_tolerance, &start, data, problem);
    }

    /// Solves as [`QuasistaticStep::solve`] does, with loads that are those at the end of the solution.
    pub(super) fn solve_weighed(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        v: &mut [f64],
    ) -> Result<QuasistaticReport, Failure> {
        let (mut rounds, mut unsupported) = (0, None);
        loop {
            match self.solve(input, options, v) {
                Ok(solved) if self.weigh(input, options, v) => return Ok(solved),
                Ok(_) => {}
                // Constant loads move joints without limit whose efforts are at theirs; they fall to a
                // balance.
                Err(error @ StepError::NoSupport { .. })
                    if self.weights.shift <= SHIFT && !self.weights.dofs.is_empty() =>
                {
                    unsupported = Some(error);
                    self.stiffen(input, options, v);
                }
                Err(error) => return Err(error.into()),
            }
            rounds += 1;
            self.spent.rounds += 1;
            if rounds == ROUNDS_MAX || self.spent.is_over() {
                return Err(match (self.unweighed, unsupported) {
                    (Some((dof, excess)), _) => Failure::Weights { dof, excess },
                    (None, Some(error)) => error.into(),
                    (None, None) => Failure::Weights { dof: 0, excess: 0.0 },
                });
            }
        }
    }

    /// Returns whether the loads of the program are those at the end of its solution `v`. Otherwise it makes
    /// the next program; if the solution is not taken, `v` becomes the centre of the model.
    pub(super) fn weigh(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping, v: &mut [f64]) -> bool {
        self.unweighed = None;
        if self.weights.dofs.is_empty() {
            return true;
        }
        self.find_errors(input, v);
        self.unweighed = self.weights.unsettled(self.weights_settled, ROUNDING);
        if self.unweighed.is_none() {
            return true;
        }
        if self.descends(input, v) {
            self.weights.shift = if self.weights.shift > SHIFT { self.weights.shift / SHIFT_GROWTH } else { 0.0 };
            self.weights.recentre(v);
            let (contacts, bounds) = (self.solver.contact_impulses(), self.solver.bound_impulses());
            self.weights.find_normals(&self.problem, contacts, bounds);
            mass_matrix(input.scene.model(), &mut self.closed);
            self.model_weights(input, options, true);
        } else {
            self.stiffen(input, options, v);
        }
        false
    }

    /// Makes a stiffer model about the old centre, and moves `v` there.
    fn stiffen(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping, v: &mut [f64]) {
        self.weights.shift = (SHIFT_GROWTH * self.weights.shift).max(SHIFT);
        v.copy_from_slice(&self.weights.center);
        // The first centre is the start of the step, whose model has no derivatives yet.
        let is_first = self.weights.is_constant;
        if is_first {
            self.find_errors(input, v);
            mass_matrix(input.scene.model(), &mut self.closed);
        }
        self.model_weights(input, options, is_first);
    }

    /// Assembles the joints with the loads of the model's centre and the model. With `moved`, the model is
    /// that of a new centre, whose poses are in `closed`.
    fn model_weights(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping, moved: bool) {
        let held = self.holds;
        self.assemble_joints(input, options);
        let Self { weights, impedances, problem, closed, q, scratch, .. } = self;
        if moved {
            weights.differentiate(motion(input), impedances, closed, (q, scratch));
        }
        weights.build(impedances, problem);
        weights.apply(impedances, problem);
        if self.has_fields {
            self.hold_between_linearizations(input.scene, options.inertia);
            self.hold(held);
        }
    }

    /// Finds the forces that the model misses at the end of the motion with the velocities `v`.
    fn find_errors(&mut self, input: &StepInput<'_>, v: &[f64]) {
        let Self { weights, impedances, closed, q, .. } = self;
        weights.find_errors(motion(input), impedances, v, (q, closed));
    }

    /// Whether the energy of the joints and their loads falls by a part of what the model says, from the
    /// centre to the solution `v`. The loads and poses of the end of `v` remain.
    fn descends(&mut self, input: &StepInput<'_>, v: &[f64]) -> bool {
        let h = self.problem.step;
        let gap = self.weights.gap(&self.problem, &self.impedances, v, h);
        // The turn of a link is at most the sum of those of the joints that carry it.
        let far: f64 = self.weights.dofs.iter().map(|dof| (h * (v[*dof] - self.weights.center[*dof])).abs()).sum();
        let slack = ROUNDING * far;
        let ends = self.work_of_errors(v, h).abs();
        if self.weights.shift > SHIFT_MAX || (far < NEAR && ends <= ACCEPTED_AT_END * gap + slack) {
            return true;
        }
        let mut way = std::mem::take(&mut self.way);
        let mut at = |step: &mut Self, part: f64| {
            way.clear();
            way.extend_from_slice(v);
            for dof in &step.weights.dofs {
                let center = step.weights.center[*dof];
                way[*dof] = center + part * (v[*dof] - center);
            }
            step.find_errors(input, &way);
            step.work_of_errors(v, h)
        };
        // Other joints move, too: their motion changes the loads along the whole way.
        let before = if self.weights.has_others { at(self, 0.0) } else { 0.0 };
        let parts = (far.ceil()).clamp(1.0, PARTS_MAX);
        let mut work = 0.0;
        for part in 0..parts as u32 {
            for (node, weight) in NODES {
                work += weight / parts * at(self, (f64::from(part) + node) / parts);
            }
        }
        at(self, 1.0);
        self.way = way;
        before - work <= ACCEPTED * gap + slack
    }

    /// The work of the errors along the motion from the centre to the end of `v`, if they were constant
    /// \[J\].
    fn work_of_errors(&self, v: &[f64], h: f64) -> f64 {
        let weights = &self.weights;
        let work = |dof: &usize| weights.errors[*dof] * h * (v[*dof] - weights.center[*dof]);
        weights.dofs.iter().map(work).sum()
    }

    /// The joint for which the loads of the start, with which the step was solved, are farthest behind those
    /// of the end of `v`, and the difference, if it is worth a report.
    pub(super) fn find_behind(&mut self, input: &StepInput<'_>, v: &[f64]) -> Option<(usize, f64)> {
        self.weights.is_behind = false;
        self.weights.start((input.scene.model(), &self.start), &self.impedances, has_loads(input));
        self.weights.is_behind = true;
        self.find_errors(input, v);
        let is_behind = self.weights.unsettled(BEHIND, ROUNDING).is_some();
        self.weights.largest_error().filter(|_| is_behind)
    }

    /// Gives the efforts that compensate gravity the weights of the end.
    pub(super) fn compensate_at_end(&mut self) {
        let Self { weights, impedances, scratch, .. } = self;
        let changes = weights.at_end.gravity.iter().zip(&weights.at_center.gravity).map(|(end, here)| end - here);
        if !weights.dofs.is_empty() {
            scratch.gravity.iter_mut().zip(changes).for_each(|(to, change)| *to = change);
            impedances.compensate(&scratch.gravity);
        }
    }
}
