//! Newton's method on Coulomb's law: friction bounds that follow the normal impulses of the same velocity.
//!
//! The residual F(v) = A v - r - J^T gamma(v) is the gradient g of the convex problem with its bounds renewed
//! at v. Its derivative is H + U: the Hessian H with these bounds, and the sum U of J^T U_patch J
//! ([`PatchBlock::followed_hessian`](crate::solvers::PatchBlock)), which is not symmetric. A step solves
//! (H + U) dv = -F by GMRES, with the factors of H as preconditioner on the right: with D = diag(A)^(-1/2),
//!   (1 + D U H^-1 D^-1) y = -D F,   dv = H^-1 D^-1 y.
//! No cost measures the progress. A step counts only if it reduces |D F|.

use super::islands::{Islands, Part};
use super::newton::{IslandSolver, NewtonSettings, SolveReport, SolveStatus};
use super::problem::ContactProblem;
use crate::math::dense::NotPositiveDefinite;
use crate::math::gmres::Gmres;
use crate::math::{Matrix6, SpatialForce};

/// Largest number of steps.
const STEPS_MAX: u32 = 12;
/// Largest number of products of a solve of GMRES.
const PRODUCTS_MAX: usize = 40;
/// GMRES ends at this residual [-].
const LINEAR_TOLERANCE: f64 = 1e-3;
/// The same for the columns of derivatives [-].
const COLUMN_TOLERANCE: f64 = 1e-11;
/// A direction with a larger residual of GMRES is not tried [-].
const LINEAR_RESIDUAL_MAX: f64 = 0.3;
/// A step is halved at most this number of times.
const HALVINGS_MAX: u32 = 4;
/// A step of the length alpha must reduce |D F| by the fraction alpha of this [-].
const DECREASE: f64 = 0.1;

/// The memory of the method.
#[derive(Clone, Debug, Default)]
pub(super) struct Follower {
    gmres: Gmres,
    /// U of each patch.
    followed: Vec<Matrix6>,
    /// D^-1 by index in the island, y, and H^-1 D^-1 y.
    scales: Vec<f64>,
    y: Vec<f64>,
    response: Vec<f64>,
    /// J^T U J H^-1 D^-1 y and H^-1 D^-1 y, by velocity.
    product: Vec<f64>,
    change: Vec<f64>,
}

impl Follower {
    /// Makes room for a problem.
    pub(super) fn prepare(&mut self, problem: &ContactProblem) {
        let n = problem.size();
        self.gmres.reserve(n, PRODUCTS_MAX);
        self.followed.resize(problem.patches().len(), Matrix6::zeros());
        for list in [&mut self.scales, &mut self.y, &mut self.response] {
            list.reserve(n.saturating_sub(list.len()));
        }
        self.product.resize(n, 0.0);
        self.change.resize(n, 0.0);
    }
}

impl IslandSolver {
    /// Solves an island with friction that follows its normal force, from the solution `v` with fixed bounds.
    /// Returns the report of the solution if it is found, with its bounds in `problem`. Otherwise `v` stays,
    /// with the bounds there.
    pub(super) fn follow_friction(
        &mut self,
        (problem, islands, number): (&mut ContactProblem, &Islands, usize),
        v: &mut [f64],
        settings: &NewtonSettings,
    ) -> Result<Option<SolveReport>, NotPositiveDefinite> {
        let patches = islands.patches_of(number);
        self.with_directions = false;
        self.note_before(islands.part(problem, number), v);
        problem.refresh_friction_of(patches, v);
        self.start_island(islands.part(problem, number));
        self.evaluate(islands.part(problem, number), v, true);
        let mut residual = self.relative_residual(islands.part(problem, number));
        for iterations in 0..=STEPS_MAX {
            let part = islands.part(problem, number);
            if residual <= settings.tolerance || self.resolved_residual(part, v) <= settings.tolerance {
                return Ok(Some(SolveReport { status: SolveStatus::Converged, iterations, residual }));
            }
            if iterations == STEPS_MAX || !self.followed_direction(part, v)? {
                break;
            }
            if !self.step_down((problem, islands, number), v) {
                break;
            }
            residual = self.relative_residual(islands.part(problem, number));
        }
        for span in islands.part(problem, number).spans() {
            v[span.dofs.clone()].copy_from_slice(&self.v_before[span.dofs.clone()]);
        }
        problem.refresh_friction_of(patches, v);
        Ok(None)
    }

    /// Replaces each of the `columns`, of `size` entries, by (H + U)^-1 times it. `v` is the last evaluated
    /// point. Returns the largest residual.
    pub(super) fn solve_followed_columns(
        &mut self,
        part: Part<'_>,
        v: &[f64],
        (size, columns): (usize, &mut [f64]),
    ) -> Result<f64, NotPositiveDefinite> {
        let (mut worst, mut has_factors) = (0.0_f64, false);
        for column in columns.chunks_exact_mut(size) {
            if part.spans().all(|span| column[span.dofs.clone()].iter().all(|x| *x == 0.0)) {
                continue;
            }
            for span in part.spans() {
                for (gradient, x) in self.gradient[span.dofs.clone()].iter_mut().zip(&column[span.dofs.clone()]) {
                    *gradient = -x;
                }
            }
            if !has_factors {
                self.newton_direction(part)?;
                self.find_followed(part, v);
                has_factors = true;
            }
            worst = worst.max(self.solve_followed(part, (COLUMN_TOLERANCE, part.size())));
            for span in part.spans() {
                column[span.dofs.clone()].copy_from_slice(&self.direction[span.dofs.clone()]);
            }
        }
        Ok(worst)
    }

    fn find_followed(&mut self, part: Part<'_>, v: &[f64]) {
        for (number, patch) in part.patches() {
            self.follower.followed[number] = patch.followed_hessian(&patch.velocity(v));
        }
    }

    /// Solves (H + U) dv = -F. Returns whether GMRES has found a direction.
    fn followed_direction(&mut self, part: Part<'_>, v: &[f64]) -> Result<bool, NotPositiveDefinite> {
        self.newton_direction(part)?;
        self.find_followed(part, v);
        Ok(self.solve_followed(part, (LINEAR_TOLERANCE, PRODUCTS_MAX)) <= LINEAR_RESIDUAL_MAX)
    }

    /// Sets the direction to -(H + U)^-1 times the gradient, with the factors of the last Newton direction
    /// and the matrices U of the patches. Returns the residual of GMRES.
    fn solve_followed(&mut self, part: Part<'_>, limits: (f64, usize)) -> f64 {
        let n = part.size();
        let Self { matrix, gradient, direction, weights, follower, .. } = self;
        let Follower { gmres, followed, scales, y, response, product, change } = follower;
        for list in [&mut *scales, &mut *y, &mut *response] {
            list.resize(n, 0.0);
        }
        for span in part.spans() {
            for (i, dof) in span.indices.clone().zip(span.dofs.clone()) {
                scales[i] = 1.0 / weights[dof].sqrt();
                y[i] = -gradient[dof] / scales[i];
            }
        }
        let report = gmres.solve(y, limits, |y, out| {
            response.iter_mut().zip(y).zip(&*scales).for_each(|((x, y), scale)| *x = y * scale);
            matrix.solve_again(response);
            for span in part.spans() {
                change[span.dofs.clone()].copy_from_slice(&response[span.indices.clone()]);
                product[span.dofs.clone()].fill(0.0);
            }
            for (number, patch) in part.patches() {
                let impulse = followed[number] * patch.velocity(change).to_vector();
                patch.jacobian.add_transposed(&SpatialForce::from_vector(&impulse), product);
            }
            for span in part.spans() {
                for (i, dof) in span.indices.clone().zip(span.dofs.clone()) {
                    out[i] = y[i] + product[dof] / scales[i];
                }
            }
        });
        response.iter_mut().zip(&*y).zip(&*scales).for_each(|((x, y), scale)| *x = y * scale);
        matrix.solve_again(response);
        for span in part.spans() {
            direction[span.dofs.clone()].copy_from_slice(&response[span.indices.clone()]);
        }
        report.residual
    }

    /// Moves `v` along the direction to the first point, of those at 1, 1/2, 1/4 ... of it, that reduces the
    /// residual, and evaluates it there. Returns false if there is none: `v` stays.
    fn step_down(&mut self, (problem, islands, number): (&mut ContactProblem, &Islands, usize), v: &mut [f64]) -> bool {
        let patches = islands.patches_of(number);
        let before = self.size_of(islands.part(problem, number), &self.gradient).sqrt();
        let mut alpha = 1.0;
        for _ in 0..=HALVINGS_MAX {
            self.set_trial(islands.part(problem, number), v, alpha);
            let trial = std::mem::take(&mut self.trial);
            problem.refresh_friction_of(patches, &trial);
            let part = islands.part(problem, number);
            self.evaluate(part, &trial, true);
            self.trial = trial;
            if self.size_of(part, &self.gradient).sqrt() <= (1.0 - DECREASE * alpha) * before {
                self.take_trial(part, v);
                return true;
            }
            alpha *= 0.5;
        }
        problem.refresh_friction_of(patches, v);
        false
    }
}
