//! The dependence of Coulomb friction on its own bounds. At a solution with the bounds b of sliding points, a
//! change db changes mu gamma_n by D db. The law b = mu gamma_n then gives
//!   (1 - D) db = r
//! for an error or a change r of mu gamma_n at fixed bounds. This is the step of Newton's method on the
//! bounds, and the implicit function theorem for Coulomb's law.

use super::cone_engine::ConeEngine;
use super::derivative::{Linearization, ProblemDirection};
use super::{ProblemPart, QuasistaticError, QuasistaticProblem};

/// A pivot below this fraction of the largest entry makes the system singular [-].
const SINGULAR: f64 = 1e-12;

/// The factors of 1 - D. Memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundSystem {
    /// The sliding contacts, ascending.
    sliding: Vec<usize>,
    /// 1 - D by rows, or its factors.
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    right: Vec<f64>,
    /// By contact: changes of bounds, and of normal impulses [N s].
    changes: Vec<f64>,
    normals: Vec<f64>,
    nothing: ProblemDirection,
    dv: Vec<f64>,
}

impl BoundSystem {
    /// Factorizes 1 - D at the solution of `engine`, whose Hessian `linearization` has factorized.
    ///
    /// # Errors
    /// A system without a unique solution, as when a body jams.
    pub(super) fn prepare(
        &mut self,
        linearization: &mut Linearization,
        engine: &ConeEngine,
        problem: &QuasistaticProblem,
    ) -> Result<(), QuasistaticError> {
        engine.sliding(problem, &mut self.sliding);
        let m = self.sliding.len();
        self.changes.clear();
        self.changes.resize(problem.contacts().len(), 0.0);
        self.matrix.clear();
        self.matrix.resize(m * m, 0.0);
        self.nothing.reset(problem);
        self.dv.clear();
        self.dv.resize(problem.size(), 0.0);
        for column in 0..m {
            self.changes[self.sliding[column]] = 1.0;
            linearization.apply(engine, problem, &self.nothing, &self.changes, &mut self.dv);
            self.changes[self.sliding[column]] = 0.0;
            linearization.normal_changes(engine, problem, &mut self.normals);
            for (row, contact) in self.sliding.iter().enumerate() {
                let own = if row == column { 1.0 } else { 0.0 };
                self.matrix[row * m + column] = own - problem.contacts()[*contact].friction * self.normals[*contact];
            }
        }
        match factorize(&mut self.matrix, m, &mut self.pivots) {
            Ok(()) => Ok(()),
            Err(row) => Err(QuasistaticError::NoDerivatives {
                part: ProblemPart::Contact(self.sliding[row]),
                reason: "its friction depends on itself without a unique solution, as when a body jams",
            }),
        }
    }

    /// Whether no point slides.
    pub(super) fn is_empty(&self) -> bool {
        self.sliding.is_empty()
    }

    /// The changes of all bounds in the last [`BoundSystem::solve`], by contact.
    pub(super) fn changes(&self) -> &[f64] {
        &self.changes
    }

    /// The changes of all bounds, by contact, for the change `r` of mu gamma_n at fixed bounds.
    pub(super) fn solve(&mut self, r: impl Fn(usize) -> f64) -> &[f64] {
        let m = self.sliding.len();
        self.right.clear();
        self.right.extend(self.sliding.iter().map(|contact| r(*contact)));
        substitute(&self.matrix, m, &self.pivots, &mut self.right);
        self.changes.fill(0.0);
        for (contact, change) in self.sliding.iter().zip(&self.right) {
            self.changes[*contact] = *change;
        }
        &self.changes
    }

    /// The step of Newton's method on the bounds, from their `errors` mu gamma_n - b, by contact.
    pub(super) fn newton_step(
        &mut self,
        linearization: &mut Linearization,
        engine: &ConeEngine,
        problem: &QuasistaticProblem,
        errors: &[f64],
    ) -> &[f64] {
        self.solve(|contact| errors[contact]);
        linearization.apply(engine, problem, &self.nothing, &self.changes, &mut self.dv);
        linearization.normal_changes(engine, problem, &mut self.normals);
        for (index, contact) in problem.contacts().iter().enumerate() {
            // For sliding points this is the change above; the bounds of the others follow.
            self.changes[index] = errors[index] + contact.friction * self.normals[index];
        }
        &self.changes
    }
}

/// Factors of the m x m matrix with row exchanges, or the column of the pivot that makes it singular.
fn factorize(a: &mut [f64], m: usize, pivots: &mut Vec<usize>) -> Result<(), usize> {
    let largest = a.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    pivots.clear();
    for k in 0..m {
        let size = |i: &usize| a[i * m + k].abs();
        let pivot = (k..m).fold(k, |best, i| if size(&i) > size(&best) { i } else { best });
        let entry = a[pivot * m + k].abs();
        if entry.is_nan() || entry <= SINGULAR * largest {
            return Err(k);
        }
        pivots.push(pivot);
        if pivot != k {
            (0..m).for_each(|j| a.swap(k * m + j, pivot * m + j));
        }
        for i in k + 1..m {
            let factor = a[i * m + k] / a[k * m + k];
            a[i * m + k] = factor;
            for j in k + 1..m {
                a[i * m + j] -= factor * a[k * m + j];
            }
        }
    }
    Ok(())
}

/// Solves with the factors.
fn substitute(a: &[f64], m: usize, pivots: &[usize], b: &mut [f64]) {
    for (k, pivot) in pivots.iter().enumerate() {
        b.swap(k, *pivot);
    }
    for i in 0..m {
        for j in 0..i {
            b[i] -= a[i * m + j] * b[j];
        }
    }
    for i in (0..m).rev() {
        for j in i + 1..m {
            b[i] -= a[i * m + j] * b[j];
        }
        b[i] /= a[i * m + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A x = b by elimination with a zero on the diagonal.
    #[test]
    fn the_system_is_solved() {
        let a = [0.0, 2.0, 1.0, 1.0, -1.0, 3.0, 4.0, 0.5, -2.0];
        let x = [0.7, -1.3, 2.1];
        let mut b: Vec<f64> = (0..3).map(|i| (0..3).map(|j| a[3 * i + j] * x[j]).sum()).collect();
        let (mut factors, mut pivots) = (a, Vec::new());
        factorize(&mut factors, 3, &mut pivots).expect("a regular matrix");
        substitute(&factors, 3, &pivots, &mut b);
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-14), "{b:?}");
        assert_eq!(factorize(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut pivots), Err(1), "a singular one");
    }
}
