//! Newton's method on the balance of momentum with friction that follows the normal force of the same
//! velocity: the transition-aware modified semi-implicit method TAMSI [Castro 2019].
//!
//! The equation A v = r + J^T gamma(v) is not the condition of a minimum. No cost measures the progress, and
//! convergence is not certain. The change of each iteration is shortened so that the slip of no face passes
//! its stiction region or turns by more than 60 degrees
//! ([`PatchBlock::slip_limit`](crate::solvers::PatchBlock)).

use std::ops::Range;

use super::islands::{Islands, Part};
use super::newton::{NewtonSettings, SolveReport, SolveStatus};
use super::problem::ContactProblem;
use crate::math::dense::dot;
use crate::math::dense_lu::{lu_in_place, lu_solve};
use crate::math::{Matrix6, SpatialForce, SpatialVelocity, Vector6};

/// The residual no longer falls if this many iterations have not reduced it.
const STALLED_AFTER: u32 = 20;

/// The solver's memory, reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct TamsiSolver {
    islands: Islands,
    /// A - J^T dgamma/dv of an island, then its factors.
    matrix: Vec<f64>,
    order: Vec<usize>,
    /// r + J^T gamma - A v, by index in the island.
    balance: Vec<f64>,
    /// Scratch: J^T gamma, by velocity of the problem.
    impulse: Vec<f64>,
    change: Vec<f64>,
    /// The change by velocity of the problem.
    direction: Vec<f64>,
    patch_impulses: Vec<SpatialForce>,
}

impl TamsiSolver {
    /// Impulse on B about C of each patch at the solution [N m s, N s].
    pub fn patch_impulses(&self) -> &[SpatialForce] {
        &self.patch_impulses
    }

    /// Solves `problem` from `warm_start`, island by island; `v` becomes the solution. The settings have the
    /// meaning of those of [`NewtonSolver`](super::NewtonSolver). A report with another status than
    /// `Converged` belongs to a `v` that is no solution.
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        warm_start: &[f64],
        settings: &NewtonSettings,
        v: &mut [f64],
    ) -> SolveReport {
        v.copy_from_slice(warm_start);
        self.patch_impulses.clear();
        let at_rest = problem.patches().iter().map(|patch| patch.impulse(&SpatialVelocity::ZERO));
        self.patch_impulses.extend(at_rest);
        let mut islands = std::mem::take(&mut self.islands);
        islands.build(problem);
        let mut whole = SolveReport::CONVERGED;
        for part in islands.parts(problem) {
            if part.is_free() {
                part.take_free(v);
                continue;
            }
            whole = whole.and(self.solve_part(part, problem, v, settings));
        }
        self.islands = islands;
        whole
    }

    /// Does the same as [`NewtonSolver::remove_stiff_motion`](super::NewtonSolver::remove_stiff_motion) with
    /// the matrix of this method, which is not symmetric. Returns false if it is singular.
    pub fn remove_stiff_motion(&mut self, problem: &ContactProblem, v: &[f64], x: &mut [f64]) -> bool {
        let mut islands = std::mem::take(&mut self.islands);
        islands.build(problem);
        self.patch_impulses.resize(problem.patches().len(), SpatialForce::ZERO);
        let mut regular = true;
        for part in islands.parts(problem).filter(|part| !part.is_free()) {
            self.linearize(part, problem, v);
            for block in part.blocks() {
                for (row, i) in part.momentum_rows(block).zip(block.indices.clone()) {
                    self.balance[i] = dot(row, &x[block.dofs.clone()]);
                }
            }
            regular = lu_in_place(&mut self.matrix, part.size(), &mut self.order);
            if !regular {
                break;
            }
            lu_solve(&self.matrix, part.size(), &self.order, &self.balance, &mut self.change);
            for span in part.spans() {
                x[span.dofs.clone()].copy_from_slice(&self.change[span.indices.clone()]);
            }
        }
        self.islands = islands;
        regular
    }

    /// The velocities of each island of `problem`, which was solved or softened last, as ranges.
    pub fn islands<'a>(
        &'a self,
        problem: &'a ContactProblem,
    ) -> impl Iterator<Item = impl Iterator<Item = Range<usize>> + Clone + 'a> {
        self.islands.velocities(problem)
    }

    fn solve_part(
        &mut self,
        part: Part<'_>,
        problem: &ContactProblem,
        v: &mut [f64],
        settings: &NewtonSettings,
    ) -> SolveReport {
        let (mut iterations, mut least, mut idle) = (0, f64::INFINITY, 0);
        loop {
            let residual = self.linearize(part, problem, v);
            let report = |status| SolveReport { status, iterations, residual };
            if residual <= settings.tolerance && (iterations > 0 || residual == 0.0) {
                return report(SolveStatus::Converged);
            }
            idle = if residual < least { 0 } else { idle + 1 };
            least = least.min(residual);
            if residual.is_nan() || idle >= STALLED_AFTER {
                return report(SolveStatus::Stalled);
            }
            if iterations >= settings.iterations_max {
                return report(SolveStatus::IterationLimit);
            }
            if !lu_in_place(&mut self.matrix, part.size(), &mut self.order) {
                return report(SolveStatus::Stalled);
            }
            lu_solve(&self.matrix, part.size(), &self.order, &self.balance, &mut self.change);
            self.direction.resize(problem.size(), 0.0);
            for span in part.spans() {
                self.direction[span.dofs.clone()].copy_from_slice(&self.change[span.indices.clone()]);
            }
            let share = part.patches().fold(1.0_f64, |share, (_, patch)| {
                share.min(patch.slip_limit(&patch.velocity(v), &patch.velocity(&self.direction)))
            });
            for span in part.spans() {
                for (v, change) in v[span.dofs.clone()].iter_mut().zip(&self.direction[span.dofs.clone()]) {
                    *v += share * change;
                }
            }
            iterations += 1;
        }
    }

    /// Computes the balance and its matrix at `v`. Returns |D (r + J^T gamma - A v)| relative to the larger
    /// of |D (r - A v0)| and |D J^T gamma|, with D = diag(A)^(-1/2).
    fn linearize(&mut self, part: Part<'_>, problem: &ContactProblem, v: &[f64]) -> f64 {
        let n = part.size();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.balance.clear();
        self.balance.resize(n, 0.0);
        self.impulse.clear();
        self.impulse.resize(problem.size(), 0.0);
        let indices = part.indices();
        for (number, patch) in part.patches() {
            let mut H = Matrix6::zeros();
            let impulse = patch.impulse_and_hessian(&patch.velocity(v), &mut H);
            self.patch_impulses[number] = impulse;
            let (dofs, columns) = (&patch.jacobian.dofs, &patch.jacobian.columns);
            patch.jacobian.add_transposed(&impulse, &mut self.impulse);
            for (j, column) in dofs.iter().zip(columns) {
                let response: Vector6 = H * column;
                let j = indices[*j as usize] as usize;
                for (i, row) in dofs.iter().zip(columns) {
                    self.matrix[indices[*i as usize] as usize * n + j] += row.dot(&response);
                }
            }
        }
        for (_, row) in part.rows() {
            let (impulse, slope) = row.impulse(row.speed(v));
            let index = indices[row.dof as usize] as usize;
            self.impulse[row.dof as usize] += row.coefficient * impulse;
            self.matrix[index * n + index] += row.coefficient * row.coefficient * slope;
        }
        let (mut wrong, mut contact, mut change) = (0.0, 0.0, 0.0);
        for block in part.blocks() {
            let dofs = block.dofs.clone();
            for ((dof, index), masses) in dofs.clone().zip(block.indices.clone()).zip(part.momentum_rows(block)) {
                let impulse = self.impulse[dof];
                let balance = part.momentum()[dof] + impulse - dot(masses, &v[dofs.clone()]);
                let changed = part.momentum()[dof] - dot(masses, &problem.start[dofs.clone()]);
                let row = &mut self.matrix[index * n + block.indices.start..index * n + block.indices.end];
                row.iter_mut().zip(masses).for_each(|(x, mass)| *x += mass);
                self.balance[index] = balance;
                let weight = 1.0 / masses[dof - dofs.start];
                wrong += weight * balance * balance;
                contact += weight * impulse * impulse;
                change += weight * changed * changed;
            }
        }
        if wrong == 0.0 { 0.0 } else { (wrong / f64::max(change, contact)).sqrt() }
    }
}
