//! The mixed linear complementarity problem of a step.

use std::ops::Range;

use crate::math::dense::{NotPositiveDefinite, cholesky_in_place, cholesky_solve_in_place};

/// A slack is known up to this many units in the last place of its terms [-].
const SLACK_ROUNDING: f64 = 32.0;

/// A row of the problem without its Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Sigma >= 0: regularization [1/kg] or [1/(kg m2)].
    pub regularization: f64,
    /// c: the slack at rest without impulse [m/s] or [rad/s].
    pub constant: f64,
    /// Smallest impulse, or minus infinity [N s] or [N m s].
    pub lower: f64,
    /// Largest impulse, or infinity [N s] or [N m s].
    pub upper: f64,
}

/// A mixed linear complementarity problem with bounds [Andersson 2021, eqs. 3.7 and 3.8]:
///   M v - G^T lambda = r,   w = G v + Sigma lambda + c = w_l - w_u,
///   0 <= lambda - l  perp  w_l >= 0,   0 <= u - lambda  perp  w_u >= 0.
/// With v = M^-1 (r + G^T lambda) it is a problem in the impulses alone, of the symmetric matrix
/// A = G M^-1 G^T + Sigma. All memory is reused.
#[derive(Clone, Debug, Default)]
pub struct MixedProblem {
    size: usize,
    blocks: Vec<Range<usize>>,
    /// The Cholesky factors of the blocks of M, one after the other.
    factors: Vec<f64>,
    factor_starts: Vec<usize>,
    /// The block of each velocity.
    block_of: Vec<u32>,
    momentum: Vec<f64>,
    rows: Vec<Row>,
    /// The end of each row in `entries`.
    ends: Vec<usize>,
    /// (velocity, coefficient) of G.
    entries: Vec<(u32, f64)>,
    /// The end of each row in `responses`.
    response_ends: Vec<usize>,
    /// (velocity, value) of M^-1 G^T.
    responses: Vec<(u32, f64)>,
    diagonal: Vec<f64>,
    scratch: Vec<f64>,
    touched: Vec<u32>,
}

impl MixedProblem {
    /// Empties the problem. `matrix` is M, row-major [kg, kg m, kg m2], without entries between two of the
    /// `blocks`, which are consecutive ranges of the velocities; `momentum` is r [N s, N m s].
    ///
    /// # Errors
    /// A block of M that is not positive definite; the pivot is counted over all velocities.
    pub fn reset(
        &mut self,
        blocks: &[Range<usize>],
        matrix: &[f64],
        momentum: &[f64],
    ) -> Result<(), NotPositiveDefinite> {
        let n = momentum.len();
        debug_assert_eq!(matrix.len(), n * n, "M is square");
        self.size = n;
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        self.factors.clear();
        self.factor_starts.clear();
        self.block_of.clear();
        for (number, block) in blocks.iter().enumerate() {
            let (start, len) = (self.factors.len(), block.len());
            self.factor_starts.push(start);
            for i in block.clone() {
                self.factors.extend_from_slice(&matrix[i * n + block.start..i * n + block.end]);
                self.block_of.push(number as u32);
            }
            cholesky_in_place(&mut self.factors[start..], len).map_err(|error| NotPositiveDefinite {
                pivot: error.pivot + block.start,
                size: n,
                value: error.value,
            })?;
        }
        self.momentum.clear();
        self.momentum.extend_from_slice(momentum);
        self.rows.clear();
        self.ends.clear();
        self.entries.clear();
        self.response_ends.clear();
        self.responses.clear();
        self.diagonal.clear();
        Ok(())
    }

    /// G M^-1 r of row `i`: its speed without any impulse [m/s] or [rad/s].
    pub(super) fn free_speed(&self, i: usize) -> f64 {
        let start = if i == 0 { 0 } else { self.response_ends[i - 1] };
        let responses = &self.responses[start..self.response_ends[i]];
        responses.iter().map(|(dof, value)| value * self.momentum[*dof as usize]).sum()
    }

    /// Adds a row with the non-zero (velocity, coefficient) of its Jacobian; returns its number.
    pub fn add_row(&mut self, row: Row, jacobian: impl Iterator<Item = (u32, f64)>) -> usize {
        debug_assert!(row.regularization >= 0.0 && row.lower <= row.upper, "a row has bounds in order");
        let start = self.entries.len();
        self.entries.extend(jacobian);
        self.ends.push(self.entries.len());
        self.touched.clear();
        for (dof, _) in &self.entries[start..] {
            let block = self.block_of[*dof as usize];
            if !self.touched.contains(&block) {
                self.touched.push(block);
            }
        }
        self.scratch.clear();
        self.scratch.resize(self.size, 0.0);
        for (dof, value) in &self.entries[start..] {
            self.scratch[*dof as usize] += value;
        }
        let first = self.responses.len();
        for block in &self.touched {
            let range = self.blocks[*block as usize].clone();
            let (from, len) = (self.factor_starts[*block as usize], range.len());
            let part = &mut self.scratch[range.clone()];
            cholesky_solve_in_place(&self.factors[from..from + len * len], len, part);
            self.responses.extend(range.map(|dof| dof as u32).zip(part.iter().copied()));
        }
        self.response_ends.push(self.responses.len());
        for (dof, value) in &self.responses[first..] {
            self.scratch[*dof as usize] = *value;
        }
        let own: f64 = self.entries[start..].iter().map(|(dof, value)| value * self.scratch[*dof as usize]).sum();
        self.diagonal.push(own + row.regularization);
        self.rows.push(row);
        self.rows.len() - 1
    }

    /// G M^-1 G^T of a row that is not added [1/kg] or [1/(kg m2)].
    pub(super) fn mobility(&mut self, jacobian: impl Iterator<Item = (u32, f64)>) -> f64 {
        let row = Row { regularization: 0.0, constant: 0.0, lower: 0.0, upper: 0.0 };
        let number = self.add_row(row, jacobian);
        self.rows.truncate(number);
        let starts = |ends: &mut Vec<usize>| {
            ends.truncate(number);
            ends.last().copied().unwrap_or(0)
        };
        let (entries, responses) = (starts(&mut self.ends), starts(&mut self.response_ends));
        self.entries.truncate(entries);
        self.responses.truncate(responses);
        self.diagonal.pop().unwrap_or(0.0)
    }

    /// The block of M that holds the velocity `dof`.
    pub(super) fn block(&self, dof: usize) -> Range<usize> {
        self.blocks[self.block_of[dof] as usize].clone()
    }

    /// The first velocity that each one meets in a block of M or in a row: M + G^T D G is zero before it, for
    /// any diagonal D.
    pub(super) fn find_envelope(&self, first: &mut Vec<u32>) {
        first.clear();
        first.extend((0..self.size).map(|dof| self.block(dof).start as u32));
        for i in 0..self.len() {
            let row = self.jacobian(i);
            let least = row.iter().map(|(dof, _)| *dof).min().unwrap_or(0);
            for (dof, _) in row {
                first[*dof as usize] = first[*dof as usize].min(least);
            }
        }
    }

    /// Number of velocities.
    pub fn size(&self) -> usize {
        self.size
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether the problem has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
    /// Sets the bounds of row `i`.
    pub fn set_bounds(&mut self, i: usize, lower: f64, upper: f64) {
        debug_assert!(lower <= upper, "bounds in order");
        (self.rows[i].lower, self.rows[i].upper) = (lower, upper);
    }
    /// A_ii [1/kg] or [1/(kg m2)].
    pub fn diagonal(&self, i: usize) -> f64 {
        self.diagonal[i]
    }
    /// The non-zero entries of row `i` of G.
    pub(super) fn jacobian(&self, i: usize) -> &[(u32, f64)] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.entries[start..self.ends[i]]
    }
    /// The entries of column `i` of M^-1 G^T.
    pub(super) fn response(&self, i: usize) -> &[(u32, f64)] {
        let start = if i == 0 { 0 } else { self.response_ends[i - 1] };
        &self.responses[start..self.response_ends[i]]
    }
    /// G_i v.
    pub(super) fn speed(&self, i: usize, v: &[f64]) -> f64 {
        self.jacobian(i).iter().map(|(dof, value)| value * v[*dof as usize]).sum()
    }
    /// w_i = G_i v + Sigma_i lambda_i + c_i [m/s] or [rad/s].
    pub fn slack(&self, i: usize, v: &[f64], impulse: f64) -> f64 {
        self.speed(i, v) + self.rows[i].regularization * impulse + self.rows[i].constant
    }
    /// Adds M^-1 G_i^T `impulse` to `v`.
    pub(super) fn apply(&self, i: usize, impulse: f64, v: &mut [f64]) {
        for (dof, value) in self.response(i) {
            v[*dof as usize] += value * impulse;
        }
    }
    /// M^-1 x in place.
    pub(super) fn divide_by_mass(&self, x: &mut [f64]) {
        for (block, start) in self.blocks.iter().zip(&self.factor_starts) {
            let len = block.len();
            cholesky_solve_in_place(&self.factors[*start..start + len * len], len, &mut x[block.clone()]);
        }
    }
    /// v = M^-1 (r + G^T lambda).
    pub fn velocities(&self, impulses: &[f64], v: &mut Vec<f64>) {
        v.clone_from(&self.momentum);
        for (i, impulse) in impulses.iter().enumerate().filter(|(_, impulse)| **impulse != 0.0) {
            for (dof, value) in self.jacobian(i) {
                v[*dof as usize] += value * impulse;
            }
        }
        self.divide_by_mass(v);
    }

    /// The impulse by which row `i` alone misses its complementarity, |lambda - clamp(lambda - w/A_ii)|,
    /// times its [`MixedProblem::unit`].
    pub(super) fn violation(&self, i: usize, slack: f64, impulse: f64) -> f64 {
        let Row { lower, upper, .. } = self.rows[i];
        let scale = self.diagonal[i];
        let step = if scale > 0.0 { slack / scale } else { slack };
        (impulse - (impulse - step).clamp(lower, upper)).abs() * self.unit(i)
    }

    /// The square root of A_ii: it gives impulses in N s and in N m s the same unit. 1 for a row that nothing
    /// moves.
    pub(super) fn unit(&self, i: usize) -> f64 {
        let scale = self.diagonal[i];
        if scale > 0.0 { scale.sqrt() } else { 1.0 }
    }

    /// w_i without the part that is rounding: a slack up to that size is zero.
    pub(super) fn slack_above_rounding(&self, i: usize, v: &[f64], impulse: f64) -> f64 {
        let slack = self.slack(i, v, impulse);
        let speeds: f64 = self.jacobian(i).iter().map(|(dof, value)| (value * v[*dof as usize]).abs()).sum();
        let size = speeds + (self.rows[i].regularization * impulse).abs() + self.rows[i].constant.abs();
        let rounding = SLACK_ROUNDING * f64::EPSILON * size;
        if slack.abs() <= rounding { 0.0 } else { slack - rounding.copysign(slack) }
    }

    /// The largest violation of a row as a part of the largest impulse, both times the square root of the
    /// row's A_ii, so that N s and N m s compare [-]. `v` are the velocities under `impulses`.
    pub fn residual(&self, impulses: &[f64], v: &[f64]) -> f64 {
        let violations =
            (0..self.len()).map(|i| self.violation(i, self.slack_above_rounding(i, v, impulses[i]), impulses[i]));
        self.relative(violations.fold(0.0, worse), impulses)
    }

    /// A violation as a part of the largest impulse; 1 if no row has an impulse [-].
    pub(super) fn relative(&self, violation: f64, impulses: &[f64]) -> f64 {
        let sizes = impulses.iter().enumerate().map(|(i, impulse)| impulse.abs() * self.unit(i));
        let largest = sizes.fold(0.0, f64::max);
        match violation == 0.0 {
            true => 0.0,
            false => violation / if largest > 0.0 { largest } else { violation },
        }
    }
}

/// The larger of two residuals; a residual that is not a number is larger than all others.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
