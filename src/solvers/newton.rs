//! Newton's method on the generalized velocities with a line search on the directional derivative.
//!
//! The linear algebra is independent of the number of faces: one 6x6 Hessian a patch.

use super::line_search::find_zero;
use super::{ContactProblem, PatchBlock};
use crate::math::dense::{NotPositiveDefinite, dot};
use crate::math::padded::PaddedSymmetric;
use crate::math::{Matrix6, SpatialForce, SpatialVelocity};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Largest |D g| relative to the largest of |D r| and |D J^T gamma|, with D = diag(A)^(-1/2) [-].
    pub tolerance: f64,
    /// Largest number of Newton iterations.
    pub iterations_max: u32,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self { tolerance: 1e-7, iterations_max: 100 }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolveStatus {
    /// The residual is within the tolerance.
    Converged,
    /// The iterations ran out.
    IterationLimit,
    /// No step along the Newton direction reduces the residual further: rounding.
    Stalled,
}

/// What a solve took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// How it ended.
    pub status: SolveStatus,
    /// Newton iterations.
    pub iterations: u32,
    /// Final relative residual [-].
    pub residual: f64,
}

/// A line search ends where the slope has fallen to this part of its start: an exact minimum is not worth a sweep.
const SLOPE_REDUCTION: f64 = 0.1;

/// A step with the factors of the one before is tried if it is foreseen to end within this part of the tolerance.
const FORESEEN_MAX: f64 = 0.1;

/// The solver's memory, reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct NewtonSolver {
    /// H with -g behind it; after a Newton step its factors.
    hessian: PaddedSymmetric,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    trial: Vec<f64>,
    /// D^2.
    weights: Vec<f64>,
    /// |D r|^2.
    momentum_size: f64,
    constraint_impulse: Vec<f64>,
    /// Minus the derivative of each row's impulse, at the last point that was evaluated.
    row_slopes: Vec<f64>,
    /// Impulse on B about C and Hessian of each patch, at the last point that was evaluated with a Hessian.
    patch_hessians: Vec<Matrix6>,
    patch_impulses: Vec<SpatialForce>,
}

impl NewtonSolver {
    /// Impulse on B about C of each patch at the solution [N m s, N s].
    pub fn patch_impulses(&self) -> &[SpatialForce] {
        &self.patch_impulses
    }

    /// Minimises `problem` from the warm start in `v`, which becomes the solution.
    ///
    /// # Errors
    /// A matrix that is not positive definite: a moving body without mass or inertia.
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        v: &mut [f64],
        settings: &NewtonSettings,
    ) -> Result<SolveReport, NotPositiveDefinite> {
        self.prepare(problem)?;
        self.evaluate(problem, v, true);
        let mut residual = self.relative_residual();
        let mut iterations = 0;
        loop {
            if residual <= settings.tolerance {
                return Ok(SolveReport { status: SolveStatus::Converged, iterations, residual });
            }
            if iterations >= settings.iterations_max {
                return Ok(SolveReport { status: SolveStatus::IterationLimit, iterations, residual });
            }
            // A step squares the residual, and one more with the same derivatives gains as many digits again: from here both reach
            // the tolerance, as a rule, and the derivatives at their ends are not needed.
            let nearly_there = residual <= settings.tolerance.cbrt();
            self.newton_direction(problem)?;
            let Some(with_hessian) = self.line_search(problem, v, !nearly_there) else {
                return Ok(SolveReport { status: SolveStatus::Stalled, iterations, residual });
            };
            iterations += 1;
            let before = std::mem::replace(&mut residual, self.relative_residual());
            if with_hessian || residual <= settings.tolerance {
                continue;
            }
            let foreseen = residual * (residual / before);
            if foreseen <= FORESEEN_MAX * settings.tolerance && iterations < settings.iterations_max {
                let last = self.step_with_same_factors(problem, v);
                if last <= settings.tolerance {
                    v.copy_from_slice(&self.trial);
                    (residual, iterations) = (last, iterations + 1);
                    continue;
                }
            }
            self.evaluate(problem, v, true);
        }
    }

    fn prepare(&mut self, problem: &ContactProblem) -> Result<(), NotPositiveDefinite> {
        let n = problem.size();
        for buffer in
            [&mut self.gradient, &mut self.direction, &mut self.trial, &mut self.weights, &mut self.constraint_impulse]
        {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        for (i, weight) in self.weights.iter_mut().enumerate() {
            let diagonal = problem.momentum_matrix[i * n + i];
            if !(diagonal > 0.0 && diagonal.is_finite()) {
                return Err(NotPositiveDefinite { pivot: i, size: n, value: diagonal });
            }
            *weight = 1.0 / diagonal;
        }
        self.momentum_size = weighted_square(&problem.momentum, &self.weights);
        Ok(())
    }

    /// g = A v - r - J^T gamma(v); with `with_hessian`, the patches' Hessians too.
    fn evaluate(&mut self, problem: &ContactProblem, v: &[f64], with_hessian: bool) {
        self.constraint_impulse.fill(0.0);
        if with_hessian {
            self.patch_hessians.clear();
        }
        self.patch_impulses.clear();
        for patch in problem.patches() {
            let V = patch.velocity(v);
            let impulse = self.patch_impulse(patch, &V, with_hessian);
            patch.jacobian.add_transposed(&impulse, &mut self.constraint_impulse);
            self.patch_impulses.push(impulse);
        }
        self.row_slopes.clear();
        for row in &problem.rows {
            let (impulse, slope) = row.impulse(row.speed(v));
            self.row_slopes.push(slope);
            self.constraint_impulse[row.dof as usize] += row.coefficient * impulse;
        }
        for ((g, r), impulse) in self.gradient.iter_mut().zip(&problem.momentum).zip(&self.constraint_impulse) {
            *g = -(r + impulse);
        }
        for (coupled, i, row) in problem.coupled_rows() {
            for (g, a) in self.gradient[coupled].iter_mut().zip(row) {
                *g += a * v[i];
            }
        }
    }

    fn patch_impulse(&mut self, patch: &PatchBlock, V: &SpatialVelocity, with_hessian: bool) -> SpatialForce {
        if with_hessian {
            let (impulse, hessian) = patch.impulse_and_hessian(V);
            self.patch_hessians.push(hessian);
            impulse
        } else {
            patch.impulse(V)
        }
    }

    fn relative_residual(&self) -> f64 {
        let gradient = weighted_square(&self.gradient, &self.weights);
        if gradient == 0.0 {
            return 0.0;
        }
        let impulse = weighted_square(&self.constraint_impulse, &self.weights);
        (gradient / self.momentum_size.max(impulse)).sqrt()
    }

    /// Solves H dv = -g with H = A + sum J^T H_patch J + rows; of H only the upper triangle is computed.
    fn newton_direction(&mut self, problem: &ContactProblem) -> Result<(), NotPositiveDefinite> {
        let n = problem.size();
        self.hessian.reset(n);
        for (coupled, i, row) in problem.coupled_rows() {
            for (h, a) in self.hessian.row_mut(i)[coupled].iter_mut().zip(row) {
                *h += a;
            }
        }
        for (patch, patch_hessian) in problem.patches().iter().zip(&self.patch_hessians) {
            patch.jacobian.add_hessian(patch_hessian, &mut self.hessian);
        }
        for (row, slope) in problem.rows.iter().zip(&self.row_slopes) {
            let i = row.dof as usize;
            self.hessian.row_mut(i)[i] += slope * row.coefficient * row.coefficient;
        }
        for (i, gradient) in self.gradient.iter().enumerate() {
            self.hessian.row_mut(i)[n] = -gradient;
        }
        self.hessian.solve_in_place(&mut self.direction)
    }

    /// Evaluates the gradient at the end of a Newton step from `v`, where the gradient was evaluated, with the derivatives of the step
    /// before; the residual there.
    fn step_with_same_factors(&mut self, problem: &ContactProblem, v: &[f64]) -> f64 {
        for (direction, gradient) in self.direction.iter_mut().zip(&self.gradient) {
            *direction = -gradient;
        }
        self.hessian.solve_again(&mut self.direction);
        self.evaluate_at(problem, v, 1.0, false);
        self.relative_residual()
    }

    /// Moves `v` along the direction to where the slope of the cost has nearly vanished and leaves the gradient evaluated there; whether
    /// the patches' Hessians are too, which they need not be after a whole step that was to be taken without. `None` when the slope at the
    /// start is not negative: nothing left to gain.
    fn line_search(&mut self, problem: &ContactProblem, v: &mut [f64], with_hessian: bool) -> Option<bool> {
        let slope_0 = dot(&self.gradient, &self.direction);
        if slope_0 >= 0.0 || slope_0.is_nan() {
            return None;
        }
        let slope_1 = self.evaluate_at(problem, v, 1.0, with_hessian);
        let small = SLOPE_REDUCTION * slope_0.abs();
        if slope_1 <= small {
            v.copy_from_slice(&self.trial);
            return Some(with_hessian);
        }
        find_zero(slope_0, slope_1, small, |alpha| self.evaluate_at(problem, v, alpha, false));
        v.copy_from_slice(&self.trial);
        self.evaluate(problem, v, true);
        Some(true)
    }

    /// Slope of the cost along the direction at v + alpha dv.
    fn evaluate_at(&mut self, problem: &ContactProblem, v: &[f64], alpha: f64, with_hessian: bool) -> f64 {
        let mut trial = std::mem::take(&mut self.trial);
        for ((trial, v), direction) in trial.iter_mut().zip(v).zip(&self.direction) {
            *trial = v + alpha * direction;
        }
        self.evaluate(problem, &trial, with_hessian);
        self.trial = trial;
        dot(&self.gradient, &self.direction)
    }
}

/// Sum of w_i x_i^2.
fn weighted_square(x: &[f64], weights: &[f64]) -> f64 {
    x.iter().zip(weights).map(|(x, w)| w * x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{DissipationLaw, FaceInput, PatchLaw};
    use super::*;
    use crate::math::{Vector3, Vector6};

    /// A block of 1 kg on a patch of faces that carries its weight, pushed sideways [N s] and turned.
    fn block(push: f64, v0: &[f64; 6]) -> ContactProblem {
        let mut problem = ContactProblem::default();
        problem.reset(&[0..3, 3..6]);
        for (i, v) in v0.iter().enumerate() {
            let mass = if i < 3 { 2e-3 } else { 1.0 };
            problem.momentum_matrix[i * 6 + i] = mass;
            problem.momentum[i] = mass * v;
        }
        problem.momentum[3] += push;
        problem.momentum[5] -= 9.81e-3;
        let (patch, _) = problem.add_patch();
        patch.reset(PatchLaw {
            step: 1e-3,
            dissipation: DissipationLaw::HuntCrossley { dissipation: 10.0 },
            friction: 0.5,
            stiction_tolerance: 1e-4,
            friction_compliance: 0.0,
        });
        for (dof, v) in v0.iter().enumerate() {
            patch.push_column(dof as u32, Vector6::ith(dof, 1.0), *v);
        }
        for i in 0..25 {
            let p_CF = Vector3::new(0.01 * f64::from(i % 5) - 0.02, 0.01 * f64::from(i / 5) - 0.02, 0.0);
            let face = FaceInput { p_CF, normal: Vector3::z(), stiffness: 400.0, elastic_force: 9.81 / 25.0 };
            patch.push_face(&face);
        }
        problem.lag_friction();
        problem
    }

    /// Oracle: the same solver at a tolerance that leaves no room for a last step with old factors. From rest over sticking to slipping, and
    /// from far away.
    #[test]
    fn ends_within_its_tolerance_of_the_minimum() {
        let far = [0.3, -0.2, 0.5, 0.4, -0.1, -0.05];
        for (push, scale) in [(0.0, 0.0), (1e-4, 0.0), (4e-3, 1e-3), (6e-3, 1e-2), (2e-2, 0.1), (0.1, 1.0)] {
            let v0 = far.map(|v| scale * v);
            let problem = block(push, &v0);
            let solve = |tolerance: f64| {
                let mut v = v0;
                let settings = NewtonSettings { tolerance, ..NewtonSettings::default() };
                let report = NewtonSolver::default().solve(&problem, &mut v, &settings).unwrap();
                assert!(report.status != SolveStatus::IterationLimit && report.residual < 1e-7, "{push}: {report:?}");
                v
            };
            let (v, exact) = (solve(1e-7), solve(1e-13));
            for (i, (v, exact)) in v.iter().zip(&exact).enumerate() {
                // the residual is in momentum, to which the largest one gives the measure
                let (mass, largest) = (problem.momentum_matrix[i * 7], 9.81e-3 + push + scale);
                assert!(mass.sqrt() * (v - exact).abs() < 1e-6 * largest, "{push}: v_{i} is {v} instead of {exact}");
            }
        }
    }
}
