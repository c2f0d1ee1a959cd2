//! Newton's method on the generalized velocities of an island with a line search on the directional
//! derivative.
//!
//! The linear algebra is independent of the number of faces: one 6x6 Hessian per patch. An island is solved
//! to a tolerance relative to its own momentum.

use super::followed::Follower;
use super::islands::Part;
use super::newton_matrix::{Curvature, NewtonMatrix};
use super::problem::ContactProblem;
use crate::math::dense::{NotPositiveDefinite, dot};
use crate::math::{Matrix6, SpatialForce, SpatialVelocity};
use crate::solvers::line_search::find_zero;
use crate::solvers::{PatchBlock, SlipDirections};

/// Stopping criteria, applied to each island.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Largest |D g| relative to the larger of |D (r - A v0)| and |D J^T gamma|, with D = diag(A)^(-1/2) [-].
    /// The reference is the change of momentum in the step.
    pub tolerance: f64,
    /// Largest number of Newton iterations.
    pub iterations_max: u32,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self { tolerance: 1e-7, iterations_max: 100 }
    }
}

/// The status of a solve, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SolveStatus {
    /// The residual is within the tolerance.
    Converged,
    /// The Newton direction is not a direction of descent, or steps along it hardly change the residual: a
    /// kink or rounding stops the method near the solution, or the residual is NaN.
    Stalled,
    /// The iteration limit was reached.
    IterationLimit,
}

/// The report of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// Its status.
    pub status: SolveStatus,
    /// Largest number of Newton iterations of an island.
    pub iterations: u32,
    /// Largest final relative residual of an island [-].
    pub residual: f64,
}

impl SolveReport {
    /// The report of a solve of nothing.
    pub(super) const CONVERGED: Self = Self { status: SolveStatus::Converged, iterations: 0, residual: 0.0 };

    /// The report of two islands together: the worse of each value; a NaN residual is the worst.
    pub(super) fn and(self, other: Self) -> Self {
        let other_is_worse = other.residual > self.residual || other.residual.is_nan();
        Self {
            status: self.status.max(other.status),
            iterations: self.iterations.max(other.iterations),
            residual: if other_is_worse { other.residual } else { self.residual },
        }
    }
}

/// A line search ends when the slope has fallen to this fraction of its initial value: an exact minimum costs
/// more sweeps over the faces than it saves.
const SLOPE_REDUCTION: f64 = 0.1;

/// A step with the factors of the previous one is tried if its predicted residual is below this fraction of
/// the tolerance.
const FORESEEN_MAX: f64 = 0.1;

/// A change below this fraction of the island's momentum is not resolved. Multiplied by the tolerance it is
/// the rounding of a sum of some tens of terms.
const MOMENTUM_PART_MIN: f64 = 1e-7;
/// A Newton step that leaves more than this fraction of the residual does not converge, because rounding or a
/// kink stops it.
const STAGNANT: f64 = 0.5;

/// After this number of Newton steps the directions of slip become unknowns of their own
/// ([`SlipDirections`]). Most solves need fewer steps.
const DIRECTIONS_FROM: u32 = 3;
/// Directions of slip are given up after this number of steps in a row, each of which leaves more than the
/// fraction [`IDLE`] of the residual: a contact that hardly slips can hold them.
const IDLE_STEPS_MAX: u32 = 5;
const IDLE: f64 = 0.9;
/// They are also given up after this number of steps in a row without a smaller residual than the smallest so
/// far: with them, the slip of a contact that turns from sticking to sliding may go to and fro.
const BETWEEN_BEST_MAX: u32 = 15;
/// After twice as many such steps, a kink or rounding stops the method at a residual below this multiple of
/// the tolerance [-].
const STOPPED: f64 = 100.0;

/// The memory of a solver of islands, reused from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct IslandSolver {
    /// H of an island; after a Newton step, its factors.
    pub(super) matrix: NewtonMatrix,
    pub(super) gradient: Vec<f64>,
    pub(super) direction: Vec<f64>,
    /// The direction, by index in the island.
    solution: Vec<f64>,
    pub(super) trial: Vec<f64>,
    /// The diagonal of D^2.
    pub(super) weights: Vec<f64>,
    /// r - A v0.
    change: Vec<f64>,
    /// |D (r - A v0)|^2 of the island, or the smallest value that counts.
    change_size: f64,
    constraint_impulse: Vec<f64>,
    /// Sum of |J^T gamma| over the rows and patches, and J^T gamma of one patch.
    single_impulses: [Vec<f64>; 2],
    /// Minus the derivative of each row's impulse, at the last evaluated point.
    row_slopes: Vec<f64>,
    /// Hessian of each patch, at the last point that was evaluated with Hessians.
    patch_hessians: Vec<Matrix6>,
    /// Impulse on B about C of each patch, at the last evaluated point.
    patch_impulses: Vec<SpatialForce>,
    /// The directions of slip of each patch's faces, and where those of each patch begin.
    directions: Vec<SlipDirections>,
    direction_starts: Vec<usize>,
    /// Whether the present solve uses them.
    pub(super) with_directions: bool,
    /// The velocities before the last step of a solve with directions of slip.
    pub(super) v_before: Vec<f64>,
    pub(super) follower: Follower,
}

impl IslandSolver {
    /// Impulse on B about C of each patch at the solution [N m s, N s].
    pub(super) fn patch_impulses(&self) -> &[SpatialForce] {
        &self.patch_impulses
    }

    /// Whether the last island had a sparse matrix.
    #[cfg(test)]
    pub(super) fn has_sparse_matrix(&self) -> bool {
        self.matrix.is_sparse()
    }

    /// Takes the impulses of an island that another solver has solved.
    pub(super) fn take_impulses(&mut self, part: Part<'_>, other: &Self) {
        for (number, _) in part.patches() {
            self.patch_impulses[number] = other.patch_impulses[number];
        }
    }

    /// Minimises an island from `v`, which becomes the solution, after [`IslandSolver::prepare`].
    pub(super) fn solve_island(
        &mut self,
        part: Part<'_>,
        v: &mut [f64],
        settings: &NewtonSettings,
    ) -> Result<SolveReport, NotPositiveDefinite> {
        if part.is_held() || part.is_free() {
            part.take_free(v);
            for (number, patch) in part.patches() {
                self.patch_impulses[number] = patch.impulse(&patch.velocity(v));
            }
            return Ok(SolveReport::CONVERGED);
        }
        self.start_island(part);
        self.solve_part(part, v, settings)
    }

    /// Computes the reference of the residuals of an island.
    pub(super) fn start_island(&mut self, part: Part<'_>) {
        let resolved = MOMENTUM_PART_MIN.powi(2) * self.size_of(part, part.momentum());
        self.change_size = resolved.max(self.size_of(part, &self.change));
    }

    fn solve_part(
        &mut self,
        part: Part<'_>,
        v: &mut [f64],
        settings: &NewtonSettings,
    ) -> Result<SolveReport, NotPositiveDefinite> {
        self.with_directions = false;
        self.evaluate(part, v, true);
        let mut residual = self.relative_residual(part);
        let mut iterations = 0;
        let mut before = f64::INFINITY;
        let (mut idle_steps, mut best, mut between_best) = (0, residual, 0);
        loop {
            // Without contact the problem is linear, and one step solves it to rounding, so that bodies that
            // fly or swing freely conserve their momentum.
            let exact = iterations > 0 || self.size_of(part, &self.constraint_impulse) > 0.0 || residual == 0.0;
            if residual <= settings.tolerance && exact {
                return Ok(SolveReport { status: SolveStatus::Converged, iterations, residual });
            }
            if residual >= STAGNANT * before {
                let resolved = self.resolved_residual(part, v);
                if resolved <= settings.tolerance {
                    return Ok(SolveReport { status: SolveStatus::Converged, iterations, residual: resolved });
                }
            }
            // The line search has found no better point, and would find none again, or steps at a kink go to
            // and fro.
            let idles = idle_steps >= 2 * IDLE_STEPS_MAX || between_best >= 2 * BETWEEN_BEST_MAX;
            let stops = idles && residual <= STOPPED * settings.tolerance;
            if iterations > 0 && residual == before || stops {
                return Ok(SolveReport { status: SolveStatus::Stalled, iterations, residual });
            }
            if iterations >= settings.iterations_max {
                return Ok(SolveReport { status: SolveStatus::IterationLimit, iterations, residual });
            }
            // A Newton step squares the residual, and a second step with the same factors gains as many
            // digits again. Below the cube root of the tolerance the two steps usually suffice, and no new
            // Hessians are needed.
            let nearly_there = residual <= settings.tolerance.cbrt();
            if iterations == DIRECTIONS_FROM {
                self.start_directions(part, v);
            }
            self.newton_direction(part)?;
            let Some(with_hessian) = self.line_search(part, v, !nearly_there && !self.with_directions) else {
                let residual = residual.min(self.resolved_residual(part, v));
                let status = if residual <= settings.tolerance { SolveStatus::Converged } else { SolveStatus::Stalled };
                return Ok(SolveReport { status, iterations, residual });
            };
            iterations += 1;
            before = std::mem::replace(&mut residual, self.relative_residual(part));
            idle_steps = if residual > IDLE * before { idle_steps + 1 } else { 0 };
            between_best = if residual > IDLE * best { between_best + 1 } else { 0 };
            best = best.min(residual);
            if with_hessian || residual <= settings.tolerance {
                continue;
            }
            self.follow_directions(part, v);
            self.with_directions &= idle_steps < IDLE_STEPS_MAX && between_best < BETWEEN_BEST_MAX;
            let foreseen = residual * (residual / before);
            if foreseen <= FORESEEN_MAX * settings.tolerance && iterations < settings.iterations_max {
                let last = self.step_with_same_factors(part, v);
                if last <= settings.tolerance {
                    self.take_trial(part, v);
                    (residual, iterations) = (last, iterations + 1);
                    continue;
                }
            }
            self.evaluate(part, v, true);
        }
    }

    /// Makes room for a problem.
    ///
    /// # Errors
    /// A diagonal entry of A that is not positive.
    pub(super) fn prepare(&mut self, problem: &ContactProblem) -> Result<(), NotPositiveDefinite> {
        let n = problem.size();
        for buffer in [
            &mut self.gradient,
            &mut self.direction,
            &mut self.trial,
            &mut self.weights,
            &mut self.constraint_impulse,
            &mut self.v_before,
        ] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.single_impulses.iter_mut().for_each(|buffer| buffer.resize(n, 0.0));
        self.change.clear();
        self.change.extend_from_slice(&problem.momentum);
        for block in problem.blocks() {
            for row in block.clone() {
                self.change[row] -= dot(problem.momentum_matrix.row(row), &problem.start[block.clone()]);
            }
        }
        for (i, weight) in self.weights.iter_mut().enumerate() {
            let diagonal = problem.momentum_matrix.diagonal(i);
            if !(diagonal > 0.0 && diagonal < f64::INFINITY) {
                return Err(NotPositiveDefinite { pivot: i, size: n, value: diagonal });
            }
            *weight = 1.0 / diagonal;
        }
        self.follower.prepare(problem);
        self.row_slopes.resize(problem.rows.len(), 0.0);
        self.patch_hessians.resize(problem.patches().len(), Matrix6::zeros());
        // A solve that needs directions of slip later allocates nothing. Until then it has none.
        self.with_directions = false;
        self.direction_starts.resize(problem.patches().len(), 0);
        self.directions.clear();
        self.directions.reserve(problem.patches().iter().map(PatchBlock::slip_direction_count).sum());
        // A patch of two immovable bodies belongs to no island.
        self.patch_impulses.clear();
        self.patch_impulses.extend(problem.patches().iter().map(|patch| match patch.dofs() {
            [] => patch.impulse(&SpatialVelocity::ZERO),
            _ => SpatialForce::ZERO,
        }));
        Ok(())
    }

    /// Computes g = A v - r - J^T gamma(v), and with `with_hessian` also the patches' Hessians.
    pub(super) fn evaluate(&mut self, part: Part<'_>, v: &[f64], with_hessian: bool) {
        for span in part.spans() {
            self.constraint_impulse[span.dofs.clone()].fill(0.0);
        }
        for (number, patch) in part.patches() {
            let V = patch.velocity(v);
            let impulse = if with_hessian && self.with_directions {
                let directions = &self.directions[self.direction_starts[number]..];
                patch.impulse_and_hessian_with(&V, directions, &mut self.patch_hessians[number])
            } else if with_hessian {
                patch.impulse_and_hessian(&V, &mut self.patch_hessians[number])
            } else {
                patch.impulse(&V)
            };
            patch.jacobian.add_transposed(&impulse, &mut self.constraint_impulse);
            self.patch_impulses[number] = impulse;
        }
        for (number, row) in part.rows() {
            let (impulse, slope) = row.impulse(row.speed(v));
            self.row_slopes[number] = slope;
            self.constraint_impulse[row.dof as usize] += row.coefficient * impulse;
        }
        for block in part.blocks() {
            let dofs = block.dofs.clone();
            let (momentum, impulses) = (&part.momentum()[dofs.clone()], &self.constraint_impulse[dofs.clone()]);
            let gradient = &mut self.gradient[dofs.clone()];
            for ((g, r), impulse) in gradient.iter_mut().zip(momentum).zip(impulses) {
                *g = -(r + impulse);
            }
            for (row, v) in part.momentum_rows(block).zip(&v[dofs]) {
                for (g, a) in gradient.iter_mut().zip(row) {
                    *g += a * v;
                }
            }
        }
    }

    pub(super) fn relative_residual(&self, part: Part<'_>) -> f64 {
        let gradient = self.size_of(part, &self.gradient);
        if gradient == 0.0 {
            return 0.0;
        }
        (gradient / self.change_size.max(self.size_of(part, &self.constraint_impulse))).sqrt()
    }

    /// The residual relative to the smallest change that the single impulses resolve. They may cancel: two
    /// springs that pull on one joint leave a net impulse, and with it a reference of the relative residual,
    /// far below the rounding of each of them. The last evaluated point is `v`.
    pub(super) fn resolved_residual(&mut self, part: Part<'_>, v: &[f64]) -> f64 {
        let [mut sums, mut one] = std::mem::take(&mut self.single_impulses);
        for list in [&mut sums, &mut one] {
            part.spans().for_each(|span| list[span.dofs.clone()].fill(0.0));
        }
        for (number, patch) in part.patches() {
            patch.jacobian.add_transposed(&self.patch_impulses[number], &mut one);
            let rounded = patch.jacobian.rounded_impulse(&self.patch_hessians[number], v);
            for (dof, column) in patch.dofs().iter().zip(&patch.jacobian.columns) {
                let impulse = std::mem::take(&mut one[*dof as usize]).abs();
                sums[*dof as usize] += impulse.max(column.abs().dot(&rounded));
            }
        }
        for (_, row) in part.rows() {
            // The impulse of a stiff row is the small difference of two terms, and each of them is rounded
            let speed = row.speed(v);
            let (impulse, slope) = row.impulse(speed);
            sums[row.dof as usize] += row.coefficient.abs() * impulse.abs().max((slope * speed).abs());
        }
        let resolved = MOMENTUM_PART_MIN.powi(2) * self.size_of(part, &sums);
        self.single_impulses = [sums, one];
        let gradient = self.size_of(part, &self.gradient);
        if gradient == 0.0 { 0.0 } else { (gradient / resolved).sqrt() }
    }

    /// |D x|^2 of an island.
    pub(super) fn size_of(&self, part: Part<'_>, x: &[f64]) -> f64 {
        part.spans().map(|span| weighted_square(&x[span.dofs.clone()], &self.weights[span.dofs.clone()])).sum()
    }

    /// Slope of the cost along the direction.
    fn slope(&self, part: Part<'_>) -> f64 {
        part.spans().map(|span| dot(&self.gradient[span.dofs.clone()], &self.direction[span.dofs.clone()])).sum()
    }

    /// Solves H dv = -g with H = A + sum J^T H_patch J + rows.
    pub(super) fn newton_direction(&mut self, part: Part<'_>) -> Result<(), NotPositiveDefinite> {
        self.solution.resize(part.size(), 0.0);
        for span in part.spans() {
            for (x, gradient) in self.solution[span.indices.clone()].iter_mut().zip(&self.gradient[span.dofs.clone()]) {
                *x = -gradient;
            }
        }
        let curvature = Curvature { patch_hessians: &self.patch_hessians, row_slopes: &self.row_slopes };
        self.matrix
            .solve(part, &curvature, &mut self.solution)
            .map_err(|error| NotPositiveDefinite { pivot: part.dof(error.pivot).unwrap_or(error.pivot), ..error })?;
        self.take_solution(part);
        Ok(())
    }

    /// Does the same as [`IslandSolver::newton_direction`] with the factors of the last one.
    pub(super) fn direction_with_same_factors(&mut self, part: Part<'_>) {
        for span in part.spans() {
            for (x, gradient) in self.solution[span.indices.clone()].iter_mut().zip(&self.gradient[span.dofs.clone()]) {
                *x = -gradient;
            }
        }
        self.matrix.solve_again(&mut self.solution);
        self.take_solution(part);
    }

    fn take_solution(&mut self, part: Part<'_>) {
        for span in part.spans() {
            self.direction[span.dofs.clone()].copy_from_slice(&self.solution[span.indices.clone()]);
        }
    }

    /// Evaluates the gradient at the end of a Newton step from `v`, the last evaluated point, with the
    /// factors of the previous step. Returns the residual there.
    fn step_with_same_factors(&mut self, part: Part<'_>, v: &[f64]) -> f64 {
        self.direction_with_same_factors(part);
        self.evaluate_at(part, v, 1.0, false);
        self.relative_residual(part)
    }

    /// Moves `v` along the direction until the slope of the cost has nearly vanished, and evaluates the
    /// gradient there. Returns whether the patches' Hessians were evaluated too; they may be missing after a
    /// full step without Hessians. `None` if the slope at the start is not negative: no descent is possible.
    fn line_search(&mut self, part: Part<'_>, v: &mut [f64], with_hessian: bool) -> Option<bool> {
        let slope_0 = self.slope(part);
        if slope_0 >= 0.0 || slope_0.is_nan() {
            return None;
        }
        let slope_1 = self.evaluate_at(part, v, 1.0, with_hessian);
        let small = SLOPE_REDUCTION * slope_0.abs();
        if slope_1 <= small {
            self.take_trial(part, v);
            return Some(with_hessian);
        }
        find_zero(slope_0, slope_1, small, |alpha| self.evaluate_at(part, v, alpha, false));
        self.take_trial(part, v);
        if self.with_directions {
            return Some(false);
        }
        self.evaluate(part, v, true);
        Some(true)
    }

    /// Begins to solve for directions of slip, too: at `v`, the last evaluated point, no face has one.
    fn start_directions(&mut self, part: Part<'_>, v: &[f64]) {
        self.with_directions = true;
        self.directions.clear();
        for (number, patch) in part.patches() {
            self.direction_starts[number] = self.directions.len();
            patch.push_slip_directions(&mut self.directions);
        }
        self.note_before(part, v);
        self.evaluate(part, v, true);
    }

    pub(super) fn note_before(&mut self, part: Part<'_>, v: &[f64]) {
        part.spans().for_each(|span| self.v_before[span.dofs.clone()].copy_from_slice(&v[span.dofs.clone()]));
    }

    /// Takes the directions of slip along to `v`.
    fn follow_directions(&mut self, part: Part<'_>, v: &[f64]) {
        if !self.with_directions {
            return;
        }
        for (number, patch) in part.patches() {
            let (V, V_next) = (patch.velocity(&self.v_before), patch.velocity(v));
            patch.follow_slip_directions(&V, &V_next, &mut self.directions[self.direction_starts[number]..]);
        }
        self.note_before(part, v);
    }

    pub(super) fn take_trial(&self, part: Part<'_>, v: &mut [f64]) {
        for span in part.spans() {
            v[span.dofs.clone()].copy_from_slice(&self.trial[span.dofs.clone()]);
        }
    }

    /// Evaluates the gradient at v + alpha dv, and returns the slope of the cost along the direction there.
    fn evaluate_at(&mut self, part: Part<'_>, v: &[f64], alpha: f64, with_hessian: bool) -> f64 {
        self.set_trial(part, v, alpha);
        let trial = std::mem::take(&mut self.trial);
        self.evaluate(part, &trial, with_hessian);
        self.trial = trial;
        self.slope(part)
    }

    /// Sets the trial to v + alpha dv.
    pub(super) fn set_trial(&mut self, part: Part<'_>, v: &[f64], alpha: f64) {
        for span in part.spans() {
            let (v, direction) = (&v[span.dofs.clone()], &self.direction[span.dofs.clone()]);
            for ((trial, v), direction) in self.trial[span.dofs.clone()].iter_mut().zip(v).zip(direction) {
                *trial = v + alpha * direction;
            }
        }
    }
}

/// Sum of w_i x_i^2.
fn weighted_square(x: &[f64], weights: &[f64]) -> f64 {
    let ((xs, x_rest), (ws, w_rest)) = (x.as_chunks::<4>(), weights.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (x, w) in xs.iter().zip(ws) {
        for lane in 0..4 {
            sums[lane] += w[lane] * x[lane] * x[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(w_rest).map(|(x, w)| w * x * x).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}
