//! The iteration on the pressure fields of a quasistatic step: linearised where the last solution ended,
//! until they hardly move or, if they do not come to rest, until the forces balance at the fields where they
//! are.

use super::failure::Failure;
use super::field_trial::Trial;
use super::parts::PARTS_MAX;
use super::step::QuasistaticStep;
use crate::math::dense::dot;
use crate::multibody::{integrate, positions, velocities};
use crate::scene::Scene;
use crate::stepping::input::StepInput;
use crate::stepping::settings::UnactuatedInertia;

/// If a linearisation reduces the change by less than this fraction times the damping factor, it has
/// overshot, and the damping factor is halved.
const CONTRACTION: f64 = 0.4;
/// If the fields reverse their motion, as from too deep to out of contact, their allowed motion is multiplied
/// by this factor.
const REACH_REDUCTION: f64 = 0.3;
/// Two successive changes of the velocities are a drift if the square of the cosine between them exceeds this
/// [-].
const DRIFT: f64 = 0.81;
/// If the fields do not reverse, their allowed motion grows by this factor: so slowly that each reversal
/// narrows the search.
const REACH_GROWTH: f64 = 1.15;
/// The growth of the extrapolation from one linearisation to the next while bodies drift in one direction.
const STRIDE_GROWTH: f64 = 1.5;
/// The smallest damping factor of the steps between linearisations.
const DAMPING_MIN: f64 = 0.05;
/// Without its mass, a body is free until it reaches a pressure field. Between linearisations it is held by
/// (rate h)^2 times its mass, with a force that vanishes as the iteration converges. Gravity moves it by 10
/// cm at a time. [rad/s]
const PROXIMAL_RATE: f64 = 10.0;
/// In parts of less than a 32nd of a step, a body that drag alone resists is held by at most this multiple of
/// its drag, so that it moves by a quarter of its way between two linearisations at least [-].
const HOLD_BY_DRAG: f64 = 3.0;
/// The number of linearisations after which Anderson's method accelerates the others.
const ACCELERATE_AFTER: u32 = 75;
/// The fraction of the depth of a field that carries a load by which it may still move [-]. The force of a
/// solution is then exact to the square of it.
const SETTLED_DEPTH: f64 = 1e-3;
/// The largest number of linearisations for the sake of [`SETTLED_DEPTH`] alone.
const REFINEMENTS_MAX: u32 = 5;
/// If the fields move by more than this multiple of their motion one linearisation before, the acceleration
/// starts again [-].
const DIVERGED: f64 = 2.0;

impl QuasistaticStep {
    /// If Q does not contain the mass itself, adds a mass that holds unactuated bodies at the last
    /// linearisation. Its force vanishes as the iteration converges.
    pub(super) fn hold_between_linearizations(&mut self, scene: &Scene, inertia: UnactuatedInertia) {
        self.proximal.clear();
        self.holds = false;
        if !matches!(inertia, UnactuatedInertia::None | UnactuatedInertia::Drag { .. }) {
            return;
        }
        let h = self.problem.step;
        let firm = (PROXIMAL_RATE * f64::from(self.parts) * h).powi(2);
        let scale = match inertia {
            UnactuatedInertia::Drag { time_constant } if self.parts > PARTS_MAX => {
                firm.min(HOLD_BY_DRAG * h / time_constant)
            }
            _ => firm,
        };
        let Self { impedances, problem, start, proximal, .. } = self;
        proximal.extend(problem.quadratic.iter().map(|q| -q));
        impedances.add_mass(scene.model(), scale, start, problem);
        proximal.iter_mut().zip(&problem.quadratic).for_each(|(p, q)| *p += q);
        self.linear.clone_from(&self.problem.linear);
        self.holds = true;
    }

    /// The velocity on which the hold between linearisations has the largest force, and its impulse, if the
    /// step would not balance without it. Bodies that touch no field, or move with one, never reach the
    /// velocities at which they are held.
    pub(super) fn held(&self, v: &[f64]) -> Option<(usize, f64)> {
        if !self.holds {
            return None;
        }
        let impulses = self.proximal.chunks_exact(v.len()).map(|row| (dot(row, v) - dot(row, &self.about)).abs());
        let largest = impulses.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        largest.filter(|(_, impulse)| *impulse > self.balance_tolerance())
    }

    /// Removes the hold between linearisations, or restores it.
    pub(super) fn hold(&mut self, holds: bool) {
        if self.holds == holds || self.proximal.is_empty() {
            return;
        }
        let sign = if holds { 1.0 } else { -1.0 };
        self.problem.quadratic.iter_mut().zip(&self.proximal).for_each(|(q, p)| *q += sign * p);
        self.problem.linear.clone_from(&self.linear);
        self.holds = holds;
    }

    /// Moves the linearisation of the fields towards the solution `v`. Returns whether they had converged.
    pub(super) fn linearize_again(&mut self, input: &StepInput<'_>, v: &[f64], trial: &mut Trial) -> bool {
        let (scene, h) = (input.scene, self.problem.step);
        for ((change, v), about) in self.change.iter_mut().zip(v).zip(&self.about) {
            *change = v - about;
        }
        velocities(scene.model(), &self.change, &mut self.end);
        let motion = self.contacts.motion_of_fields(scene, (&self.start, &self.end, h));
        (trial.pair, trial.moved) = (motion.pair, motion.bound);
        trial.rounds += 1;
        let accelerates = trial.rounds > ACCELERATE_AFTER;
        let settled = motion.bound.max(motion.curve) <= self.settled;
        let refines = settled && trial.refinements < REFINEMENTS_MAX && {
            let least = |patch: usize| self.patch_tolerance(patch) / h;
            !self.contacts.keeps_depths(scene, (&self.end, h), (&self.problem, &self.about), SETTLED_DEPTH, least)
        };
        trial.refinements += u32::from(refines);
        if settled && !refines {
            trial.change = motion.bound;
            let held = self.held(v).is_some();
            if !held {
                return true;
            }
            if !accelerates {
                self.hold(false);
                return false;
            }
        }
        if accelerates && self.accelerate(scene, trial, (motion.bound, motion.part)) {
            self.move_end_to_trial(input);
            return false;
        }
        let along = dot(&self.change, &self.last_change);
        let sizes = dot(&self.change, &self.change) * dot(&self.last_change, &self.last_change);
        // A steady drift, as of a body that the hold between linearisations slows down, needs no damping.
        let drifts = along > 0.0 && along * along > DRIFT * sizes;
        if along < 0.0 {
            trial.reach *= REACH_REDUCTION;
        } else {
            trial.reach = (REACH_GROWTH * trial.reach).min(1.0);
        }
        self.last_change.copy_from_slice(&self.change);
        let within = (motion.part * trial.reach).min(1.0);
        if motion.part < 1.0 {
            // Without the hold, a field that is reached at such a speed would throw the body far away.
            self.hold(true);
        }
        let near = within == 1.0 && !self.problem.patches().is_empty();
        if near && !drifts && motion.bound > (1.0 - CONTRACTION * trial.damping) * trial.change {
            trial.damping = (0.5 * trial.damping).max(DAMPING_MIN);
        } else {
            trial.damping = (1.5 * trial.damping).min(1.0);
        }
        trial.change = if near { motion.bound } else { f64::INFINITY };
        // The hold lets a body that drifts move by a small part of its way each time.
        let falls = matches!(self.options.inertia, UnactuatedInertia::Drag { .. }) && self.holds;
        trial.stride = if drifts && falls && trial.damping == 1.0 { STRIDE_GROWTH * trial.stride } else { 1.0 };
        let part = within.min(trial.damping).max(trial.stride.min(motion.farthest * trial.reach));
        self.about.iter_mut().zip(&self.change).for_each(|(about, change)| *about += part * change);
        self.move_end_to_trial(input);
        false
    }

    /// Moves the linearisation by Anderson's method, if the fields may move so far at once, and if they have
    /// not moved farther than in the linearisation before. `motion` is the bound of the plain motion \[m\],
    /// and the fraction that is allowed.
    fn accelerate(&mut self, scene: &Scene, trial: &mut Trial, (bound, part): (f64, f64)) -> bool {
        let Self { acceleration, about, change, .. } = self;
        if part < 1.0 || self.problem.patches().is_empty() || bound > DIVERGED * trial.accelerated {
            trial.accelerated = f64::INFINITY;
            acceleration.start();
            return false;
        }
        trial.accelerated = bound;
        trial.change = bound;
        acceleration.add(about, change);
        acceleration.move_by(change);
        velocities(scene.model(), &acceleration.motion, &mut self.end);
        let motion = self.contacts.motion_of_fields(scene, (&self.start, &self.end, self.problem.step));
        if !(motion.part >= 1.0 && motion.bound.is_finite()) {
            self.acceleration.start();
            return false;
        }
        let Self { acceleration, about, .. } = self;
        about.iter_mut().zip(&acceleration.motion).for_each(|(about, motion)| *about += motion);
        true
    }

    /// Whether the forces of the solution `v` balance with the fields where they are then. The fields of the
    /// solution itself may still move from one linearisation to the next, as where they alternate between
    /// two sets of faces.
    pub(super) fn check_fields(&mut self, input: &StepInput<'_>, v: &[f64], trial: &Trial) -> Result<(), Failure> {
        self.hold(false);
        self.about.copy_from_slice(v);
        self.move_end_to_trial(input);
        self.add_contacts(input);
        self.solver.rebalance(&self.problem, v);
        match self.imbalance() {
            Some((_, impulse)) => {
                let excess = impulse / self.problem.step;
                Err(Failure::Surface { pair: trial.pair, moved: trial.moved, excess })
            }
            None => Ok(()),
        }
    }

    /// Moves the trial end and the fields to the poses to which the velocities `about` lead.
    pub(super) fn move_end_to_trial(&mut self, input: &StepInput<'_>) {
        let model = input.scene.model();
        self.q.copy_from_slice(&input.start.state.q);
        integrate(model, &mut self.q, &self.about, input.settings.step());
        positions(model, &self.q, &mut self.end);
        self.contacts.update_field_poses(input.scene, &self.end);
    }
}
