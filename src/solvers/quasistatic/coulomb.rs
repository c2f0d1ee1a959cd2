//! Coulomb's law of rigid contact points from a sequence of convex solves: each bounds friction by mu times
//! the normal impulse of the previous solve, until the two agree. The bounds of sticking points do not affect
//! the solution. Steadily sliding points agree after one or two solves that start from the impulses of the
//! last step. Anderson's method accelerates the others.

use super::problem::BoundChange;
use super::{ConeContact, QuasistaticProblem};
use crate::math::Vector3;
use crate::math::dense::{dot, least_squares};

/// The number of earlier rounds that the acceleration uses.
const DEPTH: usize = 4;
/// Regularization of the acceleration's normal equations, relative to their largest diagonal entry [-].
const REGULARIZATION: f64 = 1e-10;
/// The fraction of a change that is applied when the error has grown since the previous round [-].
const DAMPING: f64 = 0.5;

/// Bounds that change by less than this force have settled: the weight of a tenth of a microgram is a
/// thousand times larger. \[N\]
pub(super) const ROUNDING: f64 = 1e-12;

/// The iteration on the bounds of friction. Memory is reused from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct CoulombRounds {
    bounds: Vec<f64>,
    error: Vec<f64>,
    last_bounds: Vec<f64>,
    last_error: Vec<f64>,
    /// Changes of the bounds and of the errors over earlier rounds, one row each, oldest overwritten first.
    steps: [Vec<f64>; DEPTH],
    changes: [Vec<f64>; DEPTH],
    rounds: usize,
    /// Whether a contact without a bound in this round pushes.
    first: bool,
    /// |error|^2 before the last round, if Newton's method set the bounds of that round.
    newton_error: Option<f64>,
}

impl CoulombRounds {
    /// Starts a solve from the normal impulses of the last step. A contact that did not push then obeys the
    /// convex constraint in the first round.
    pub(super) fn start(&mut self, problem: &mut QuasistaticProblem, normals: impl Fn(usize) -> f64) {
        for index in 0..problem.contacts().len() {
            let before = normals(index);
            let friction = problem.contacts()[index].friction;
            problem.bound_friction(index, (before > 0.0).then_some(friction * before));
        }
        self.rounds = 0;
        self.last_error.clear();
        self.newton_error = None;
    }

    /// Compares the bounds with the impulses of this round.
    pub(super) fn refresh(&mut self, problem: &QuasistaticProblem, impulses: &[Vector3]) {
        let bound = |(contact, gamma): (&ConeContact, &Vector3)| contact.friction * gamma.x.max(0.0);
        let Self { bounds, error, .. } = self;
        bounds.clear();
        error.clear();
        let mut first = false;
        for (contact, gamma) in problem.contacts().iter().zip(impulses) {
            let new = bound((contact, gamma));
            // The first bound of a contact is that of the convex constraint.
            let old = contact.friction_bound.unwrap_or(new);
            first |= contact.friction_bound.is_none() && new > ROUNDING * problem.step;
            bounds.push(old);
            error.push(new - old);
        }
        self.first = first;
    }

    /// The difference of mu gamma_n of a contact from its bound in this round.
    pub(super) fn change(&self, index: usize) -> BoundChange {
        let (bound, error) = (self.bounds[index], self.error[index]);
        BoundChange { impulse: error.abs(), largest: bound.max(bound + error) }
    }

    /// Whether a contact without a bound in this round pushes.
    pub(super) fn is_first(&self) -> bool {
        self.first
    }
    /// Whether Newton's method set the bounds of the last round, and the error has grown since.
    pub(super) fn has_gone_astray(&self) -> bool {
        self.newton_error.is_some_and(|before| dot(&self.error, &self.error) > before)
    }
    /// mu gamma_n - b of this round, by contact [N s].
    pub(super) fn errors(&self) -> &[f64] {
        &self.error
    }

    /// Sets the bounds of the next round by acceleration.
    pub(super) fn advance(&mut self, problem: &mut QuasistaticProblem) {
        self.newton_error = None;
        self.accelerate(self.first);
        self.set(problem);
    }

    /// Sets the bounds of the next round by the `changes` of Newton's method, by contact.
    pub(super) fn advance_by(&mut self, problem: &mut QuasistaticProblem, changes: &[f64]) {
        self.newton_error = Some(dot(&self.error, &self.error));
        self.bounds.iter_mut().zip(changes).for_each(|(bound, change)| *bound = (*bound + change).max(0.0));
        // Differences between rounds of Newton's method are soon mostly rounding, which would mislead the
        // acceleration.
        self.rounds = 0;
        self.last_error.clear();
        self.set(problem);
    }

    fn set(&self, problem: &mut QuasistaticProblem) {
        for (index, bound) in self.bounds.iter().enumerate() {
            problem.bound_friction(index, Some(*bound));
        }
    }

    /// Adds the last round to those that the acceleration uses. Returns whether the error has grown in it.
    fn note(&mut self, first: bool) -> bool {
        let Self { bounds, error, last_bounds, last_error, steps, changes, rounds, .. } = self;
        let known = !first && last_error.len() == error.len();
        let apart = known && dot(error, error) > dot(last_error, last_error);
        if known && !apart {
            let (step, change) = (&mut steps[*rounds % DEPTH], &mut changes[*rounds % DEPTH]);
            step.clear();
            step.extend(bounds.iter().zip(last_bounds.iter()).map(|(now, before)| now - before));
            change.clear();
            change.extend(error.iter().zip(last_error.iter()).map(|(now, before)| now - before));
            *rounds += 1;
        } else {
            *rounds = 0;
        }
        last_bounds.clone_from(bounds);
        last_error.clone_from(error);
        apart
    }

    /// Moves the bounds to those of the next round.
    fn accelerate(&mut self, first: bool) {
        let apart = self.note(first);
        let Self { bounds, error, steps, changes, rounds, .. } = self;
        let used = (*rounds).min(DEPTH);
        let weights: [f64; DEPTH] = least_squares(&changes[..used], error, REGULARIZATION);
        let part = if apart { DAMPING } else { 1.0 };
        for (index, bound) in bounds.iter_mut().enumerate() {
            let mut next = *bound + part * error[index];
            for (weight, (step, change)) in weights.iter().zip(steps.iter().zip(changes.iter()).take(used)) {
                next -= weight * (step[index] + change[index]);
            }
            *bound = next.max(0.0);
        }
    }
}
