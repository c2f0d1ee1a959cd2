//! Newton's method for rows between bounds, and for friction in a cone or a polygon whose size is given.
//!
//! Every row has a regularization, so that its impulse is a function of its speed, and the step is the
//! minimum of a convex function of the velocities: 1/2 v^T M v - r^T v and a potential for each row and each
//! friction pair. Its gradient is M v - r - G^T lambda(v), with
//!   lambda = clamp(-(G v + c)/Sigma, l, u)   and   lambda_t = P(-(G_t v + c_t)/Gamma),
//! P the nearest point of the pair's set.

use super::contact_problem::{ComplementarityProblem, FrictionPair};
use super::problem::Row;
use super::tangent_set::TangentSet;
use crate::math::dense::{cholesky_in_envelope, cholesky_solve_in_envelope, dot};
use crate::solvers::line_search::find_zero;

/// The largest number of iterations of one solve.
const ITERATIONS_MAX: u32 = 100;
/// Iterations with each of the softer rows.
const SOFT_ITERATIONS_MAX: u32 = 40;
/// The factors of the regularizations of rows with two bounds, if the first iterations fail. With hundredths
/// from one to the next, the solution with one is no start for the next.
const SOFTER: [f64; 12] = [1e6, 3e5, 1e5, 3e4, 1e4, 3e3, 1e3, 3e2, 1e2, 3e1, 1e1, 3.0];
/// The gradient counts as zero at this part of the impulses in it [-].
const GRADIENT: f64 = 1e-14;
/// The full step is taken if it leaves at most this part of the slope [-].
const SLOPE: f64 = 0.1;

/// The memory of solves.
#[derive(Clone, Debug, Default)]
pub(super) struct ConeSolver {
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// The slack of each row without its impulse, and its change along the direction [m/s or rad/s].
    slacks: Vec<(f64, f64)>,
    /// The lower triangle of the Hessian, and then its factor.
    hessian: Vec<f64>,
    /// The first velocity that each one meets in a body or a row.
    first: Vec<u32>,
    /// The inverse regularization of each row.
    stiffness: Vec<f64>,
    impulses: Vec<f64>,
}

/// Friction pairs, the set of their impulses, and the bound of each \[N s\].
#[derive(Clone, Copy)]
pub(super) struct Friction<'a> {
    pub(super) pairs: &'a [FrictionPair],
    pub(super) set: TangentSet,
    pub(super) bounds: &'a [f64],
}

impl Friction<'_> {
    /// No pairs: every row has its own bounds.
    pub(super) const NONE: Friction<'static> = Friction { pairs: &[], set: TangentSet::Box, bounds: &[] };
}

impl ConeSolver {
    /// Minimizes from `v` on. The rows of each pair of `friction` have its set and bound, and all others
    /// their own bounds. On return `impulses` are those of `v`. Returns the number of iterations.
    pub(super) fn solve(
        &mut self,
        problem: &ComplementarityProblem,
        friction: Friction<'_>,
        r: &[f64],
        impulses: &mut Vec<f64>,
        v: &mut [f64],
    ) -> u32 {
        problem.rows.find_envelope(&mut self.first);
        let (mut sum, solved) = self.minimize(problem, friction, (1.0, SOFT_ITERATIONS_MAX), r, impulses, v);
        if solved {
            return sum;
        }
        // Stiff rows with two bounds are nearly kinks, of which each iteration passes a few. Softer ones
        // first find the side of most.
        for softer in SOFTER {
            sum += self.minimize(problem, friction, (softer, SOFT_ITERATIONS_MAX), r, impulses, v).0;
        }
        sum + self.minimize(problem, friction, (1.0, ITERATIONS_MAX), r, impulses, v).0
    }

    /// Minimizes with at most `limit` iterations, with the regularization of rows with two bounds multiplied
    /// by `softer`. Returns their number, and whether the minimum is reached.
    fn minimize(
        &mut self,
        problem: &ComplementarityProblem,
        friction: Friction<'_>,
        (softer, limit): (f64, u32),
        r: &[f64],
        impulses: &mut Vec<f64>,
        v: &mut [f64],
    ) -> (u32, bool) {
        self.set_stiffness(problem, friction.pairs, softer);
        let mut least = f64::INFINITY;
        for iteration in 0..limit {
            let size = self.evaluate(problem, friction, r, v, true);
            impulses.clone_from(&self.impulses);
            let norm = self.gradient.iter().map(|g| g.abs()).fold(0.0, f64::max);
            if norm.is_nan() || norm <= GRADIENT * size {
                return (iteration, true);
            }
            // Rounding ends the descent
            if iteration > 8 && norm >= least && norm <= 1e4 * GRADIENT * size {
                return (iteration, true);
            }
            least = least.min(norm);
            if cholesky_in_envelope(&mut self.hessian, &self.first).is_err() {
                return (iteration, false);
            }
            self.direction.clear();
            self.direction.extend(self.gradient.iter().map(|g| -g));
            cholesky_solve_in_envelope(&self.hessian, &self.first, &mut self.direction);
            let start = dot(&self.gradient, &self.direction);
            let line = self.line(problem, r, v);
            let slope = |alpha: f64| self.slope(problem, friction, line, alpha);
            let end = slope(1.0);
            let small = SLOPE * start.abs();
            let alpha = if end > small { find_zero(start, end, small, slope) } else { 1.0 };
            v.iter_mut().zip(&self.direction).for_each(|(v, d)| *v += alpha * d);
        }
        self.evaluate(problem, friction, r, v, false);
        impulses.clone_from(&self.impulses);
        (limit, false)
    }

    fn set_stiffness(&mut self, problem: &ComplementarityProblem, pairs: &[FrictionPair], softer: f64) {
        self.stiffness.clear();
        self.stiffness.extend(problem.rows.rows().iter().map(|row| {
            let factor = if row.lower.is_finite() && row.upper.is_finite() { softer } else { 1.0 };
            1.0 / (factor * row.regularization).max(f64::MIN_POSITIVE)
        }));
        // The bounds of a pair are not those of its rows
        for pair in pairs {
            for stiffness in &mut self.stiffness[pair.tangent..pair.tangent + 2] {
                let regularization = problem.rows.rows()[pair.tangent].regularization;
                *stiffness = 1.0 / (softer * regularization).max(f64::MIN_POSITIVE);
            }
        }
    }

    /// The line from `v` along the direction: the slacks without impulses and their change along it, and the
    /// derivative of the momentum's part of the potential, at its start and its change.
    fn line(&mut self, problem: &ComplementarityProblem, r: &[f64], v: &[f64]) -> (f64, f64) {
        let Self { direction, slacks, .. } = self;
        let (rows, n) = (&problem.rows, v.len());
        slacks.clear();
        let of_row = |(i, row): (usize, &Row)| (rows.speed(i, v) + row.constant, rows.speed(i, direction));
        slacks.extend(rows.rows().iter().enumerate().map(of_row));
        let (mut first, mut change) = (0.0, 0.0);
        for (i, (d, r)) in direction.iter().zip(r).enumerate() {
            let block = rows.block(i);
            let row = &problem.mass[i * n + block.start..i * n + block.end];
            first += d * (dot(row, &v[block.clone()]) - r);
            change += d * dot(row, &direction[block]);
        }
        (first, change)
    }

    /// The derivative of the potential along the line at `alpha`.
    fn slope(
        &self,
        problem: &ComplementarityProblem,
        Friction { pairs, set, bounds }: Friction<'_>,
        (first, change): (f64, f64),
        alpha: f64,
    ) -> f64 {
        let mut slope = first + alpha * change;
        let rows = problem.rows.rows();
        let free = |i: usize| {
            let (slack, rate) = self.slacks[i];
            -(slack + alpha * rate) * self.stiffness[i]
        };
        let mut pairs = pairs.iter().zip(bounds).peekable();
        let mut i = 0;
        while i < rows.len() {
            if let Some((_, bound)) = pairs.next_if(|(pair, _)| pair.tangent == i) {
                let (impulse, _) = set.project([free(i), free(i + 1)], *bound);
                slope -= impulse[0] * self.slacks[i].1 + impulse[1] * self.slacks[i + 1].1;
                i += 2;
            } else {
                slope -= free(i).clamp(rows[i].lower, rows[i].upper) * self.slacks[i].1;
                i += 1;
            }
        }
        slope
    }

    /// The gradient and the impulses at `v`, and the lower triangle of the Hessian. Returns the size of the
    /// terms of the gradient.
    fn evaluate(
        &mut self,
        problem: &ComplementarityProblem,
        Friction { pairs, set, bounds }: Friction<'_>,
        r: &[f64],
        v: &[f64],
        with_hessian: bool,
    ) -> f64 {
        let Self { gradient, hessian, impulses, stiffness: stiffnesses, .. } = self;
        let (rows, n) = (&problem.rows, v.len());
        gradient.clear();
        let mut size = 0.0_f64;
        for (i, r) in r.iter().enumerate() {
            let block = rows.block(i);
            let momentum = dot(&problem.mass[i * n + block.start..i * n + block.end], &v[block]);
            size = size.max(momentum.abs()).max(r.abs());
            gradient.push(momentum - r);
        }
        if with_hessian {
            hessian.clone_from(&problem.mass);
        }
        impulses.clear();
        impulses.resize(rows.len(), 0.0);
        let mut pairs = pairs.iter().zip(bounds).peekable();
        let mut i = 0;
        while i < rows.len() {
            let stiffness = stiffnesses[i];
            if let Some((pair, bound)) = pairs.next_if(|(pair, _)| pair.tangent == i) {
                debug_assert_eq!(pair.tangent, i, "pairs are in the order of their rows");
                let free = [0, 1].map(|k| -stiffness * (rows.speed(i + k, v) + rows.rows()[i + k].constant));
                let (impulse, rate) = set.project(free, *bound);
                for k in 0..2 {
                    impulses[i + k] = impulse[k];
                    size = size.max(impulse[k].abs());
                    for (dof, value) in rows.jacobian(i + k) {
                        gradient[*dof as usize] -= value * impulse[k];
                        if !with_hessian {
                            continue;
                        }
                        for (l, rate) in rate[k].iter().enumerate() {
                            let weighted = stiffness * rate * value;
                            for (other, value) in rows.jacobian(i + l).iter().filter(|(other, _)| other <= dof) {
                                hessian[*dof as usize * n + *other as usize] += weighted * value;
                            }
                        }
                    }
                }
                i += 2;
                continue;
            }
            let row = rows.rows()[i];
            let free = -stiffness * (rows.speed(i, v) + row.constant);
            impulses[i] = free.clamp(row.lower, row.upper);
            size = size.max(impulses[i].abs());
            let acts = free > row.lower && free < row.upper;
            for (dof, value) in rows.jacobian(i) {
                gradient[*dof as usize] -= value * impulses[i];
                if acts && with_hessian {
                    for (other, factor) in rows.jacobian(i).iter().filter(|(other, _)| other <= dof) {
                        hessian[*dof as usize * n + *other as usize] += stiffness * value * factor;
                    }
                }
            }
            i += 1;
        }
        size
    }
}
