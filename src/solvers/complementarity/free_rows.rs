//! The equations of the free rows: A_FF x = b for the rows whose impulse is between its bounds.

use super::problem::MixedProblem;
use crate::math::dense::{
    cholesky_in_envelope, cholesky_in_place, cholesky_solve_in_envelope, cholesky_solve_in_place, dot4,
};

/// A pivot below this part of its diagonal entry is rounding: the row depends on those before it [-].
const PIVOT_MIN: f64 = 1e-13;

/// A factorization of A_FF + `shift`: of the rows, or, with fewer velocities than rows and a regularization
/// in each, of M + G_F^T Sigma_F^-1 G_F.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeRows {
    free: Vec<u32>,
    by_velocities: bool,
    /// The Cholesky factor.
    factor: Vec<f64>,
    /// Sigma + shift of each free row.
    regularization: Vec<f64>,
    /// The envelope of the factor of velocities.
    first: Vec<u32>,
    column: Vec<f64>,
    right: Vec<f64>,
}

impl FreeRows {
    pub(super) fn rows(&self) -> &[u32] {
        &self.free
    }

    /// Selects the rows for which `is_free` and factorizes their matrix with `shift` added to its diagonal
    /// [1/kg]. Returns whether it is regular.
    pub(super) fn factorize(
        &mut self,
        problem: &MixedProblem,
        mass: &[f64],
        shift: f64,
        is_free: impl Fn(usize) -> bool,
    ) -> bool {
        self.free.clear();
        self.free.extend((0..problem.len()).filter(|i| is_free(*i)).map(|i| i as u32));
        self.regularization.clear();
        self.regularization.extend(self.free.iter().map(|i| problem.rows()[*i as usize].regularization + shift));
        self.by_velocities = self.free.len() > problem.size() && self.regularization.iter().all(|value| *value > 0.0);
        if self.by_velocities { self.factorize_velocities(problem, mass) } else { self.factorize_rows(problem, shift) }
    }

    fn factorize_rows(&mut self, problem: &MixedProblem, shift: f64) -> bool {
        let count = self.free.len();
        self.factor.clear();
        self.factor.resize(count * count, 0.0);
        self.column.clear();
        self.column.resize(problem.size(), 0.0);
        for (a, i) in self.free.iter().enumerate() {
            let response = problem.response(*i as usize);
            response.iter().for_each(|(dof, value)| self.column[*dof as usize] = *value);
            for (b, j) in self.free[a..].iter().enumerate() {
                self.factor[(a + b) * count + a] = problem.speed(*j as usize, &self.column);
            }
            self.factor[a * count + a] += self.regularization[a];
            response.iter().for_each(|(dof, _)| self.column[*dof as usize] = 0.0);
        }
        cholesky_in_place(&mut self.factor, count).is_ok()
            && self.free.iter().enumerate().all(|(a, i)| {
                // The factor's diagonal holds 1/L_ii
                let pivot = self.factor[a * count + a].powi(-2);
                pivot > PIVOT_MIN * (problem.diagonal(*i as usize) + shift)
            })
    }

    fn factorize_velocities(&mut self, problem: &MixedProblem, mass: &[f64]) -> bool {
        let n = problem.size();
        problem.find_envelope(&mut self.first);
        self.factor.clear();
        self.factor.extend_from_slice(mass);
        for (i, regularization) in self.free.iter().zip(&self.regularization) {
            let row = problem.jacobian(*i as usize);
            for (dof, value) in row {
                let weighted = value / regularization;
                for (other, value) in row.iter().filter(|(other, _)| other <= dof) {
                    self.factor[*dof as usize * n + *other as usize] += weighted * value;
                }
            }
        }
        cholesky_in_envelope(&mut self.factor, &self.first).is_ok()
    }

    /// Solves in place, nearly to rounding. The caller corrects the solution by another solve for the
    /// residual.
    pub(super) fn solve(&mut self, problem: &MixedProblem, x: &mut [f64]) {
        if !self.by_velocities {
            cholesky_solve_in_place(&self.factor, self.free.len(), x);
            return;
        }
        // (G M^-1 G^T + S)^-1 b = S^-1 (b - G (M + G^T S^-1 G)^-1 G^T S^-1 b)
        let n = problem.size();
        self.right.clear();
        self.right.resize(n, 0.0);
        for ((i, regularization), x) in self.free.iter().zip(&self.regularization).zip(x.iter()) {
            for (dof, value) in problem.jacobian(*i as usize) {
                self.right[*dof as usize] += value * x / regularization;
            }
        }
        cholesky_solve_in_envelope(&self.factor, &self.first, &mut self.right);
        for ((i, regularization), x) in self.free.iter().zip(&self.regularization).zip(x.iter_mut()) {
            *x = (*x - problem.speed(*i as usize, &self.right)) / regularization;
        }
    }
}

/// The largest entry by size.
pub(super) fn largest(x: &[f64]) -> f64 {
    let squares = dot4(x, x);
    if squares.is_nan() { f64::NAN } else { x.iter().map(|x| x.abs()).fold(0.0, f64::max) }
}
