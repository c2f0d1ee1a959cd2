//! Small symmetric systems, stored by rows of whole blocks, so that every loop over a row runs over full
//! vector registers. Memory is reused: nothing here allocates once the largest size has occurred.

use super::dense::NotPositiveDefinite;

/// The number of values that are processed together.
const BLOCK: usize = 4;
type Block = [f64; BLOCK];

/// A symmetric `size` x `size` matrix by rows; zeros fill the last block of each row, which always has room
/// for one more number, the right-hand side in [`PaddedSymmetric::solve_in_place`]. The Newton steps of the
/// dynamic solver use this matrix instead of [`cholesky_in_place`](super::dense::cholesky_in_place):
/// elimination by rows of the upper triangle is a loop over vector registers and carries the right-hand side
/// along, while Cholesky by rows consists of sums of products.
#[derive(Clone, Debug, Default)]
pub struct PaddedSymmetric {
    size: usize,
    /// Blocks of a row.
    stride: usize,
    blocks: Vec<Block>,
    /// 1/d of the rows that are eliminated.
    inverse_pivots: Vec<f64>,
}

impl PaddedSymmetric {
    /// Makes this a `size` x `size` matrix of zeros.
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.stride = size / BLOCK + 1;
        self.blocks.clear();
        self.blocks.resize(size * self.stride, [0.0; BLOCK]);
    }

    /// Row `i`; the right-hand side follows its last column.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        self.blocks[i * self.stride..(i + 1) * self.stride].as_flattened_mut()
    }

    /// Solves A x = b, where b_i follows the last column of row i. Only the upper triangle of A is read; it
    /// becomes the rows w_i of
    ///   A = sum of w_i^T w_i / d_i,   d_i = w_ii,
    /// where entries that are zero because two coordinates are uncoupled are skipped.
    ///
    /// # Errors
    /// A pivot d_i that is not positive and finite.
    pub fn solve_in_place(&mut self, x: &mut [f64]) -> Result<(), NotPositiveDefinite> {
        let (n, stride) = (self.size, self.stride);
        self.inverse_pivots.clear();
        for i in 0..n {
            let (above, rest) = self.blocks.split_at_mut(i * stride);
            let above = Eliminated { rows: above, stride, inverse_pivots: &self.inverse_pivots };
            let row = &mut rest[..stride];
            let mut from = i / BLOCK;
            while from < stride {
                from += match stride - from {
                    1 => above.eliminate::<1>(i, from, row),
                    2 => above.eliminate::<2>(i, from, row),
                    3 => above.eliminate::<3>(i, from, row),
                    _ => above.eliminate::<4>(i, from, row),
                };
            }
            let value = row[i / BLOCK][i % BLOCK];
            if !(value > 0.0 && value < f64::INFINITY) {
                return Err(NotPositiveDefinite { pivot: i, size: n, value });
            }
            self.inverse_pivots.push(1.0 / value);
        }
        for (i, x) in x.iter_mut().enumerate() {
            *x = self.blocks[i * stride + n / BLOCK][n % BLOCK];
        }
        self.substitute_back(x);
        Ok(())
    }

    /// Solves A x = b again with the rows w_i that [`PaddedSymmetric::solve_in_place`] left; `x` is b on
    /// input.
    pub fn solve_again(&self, x: &mut [f64]) {
        let (n, width) = (self.size, self.stride * BLOCK);
        let rows = self.blocks.as_flattened();
        for k in 0..n {
            let factor = x[k] * self.inverse_pivots[k];
            for (x, w) in x[k + 1..].iter_mut().zip(&rows[k * width + k + 1..]) {
                *x -= w * factor;
            }
        }
        self.substitute_back(x);
    }

    /// x_k = (b_k - sum over j > k of w_kj x_j) / d_k, from the last to the first.
    fn substitute_back(&self, x: &mut [f64]) {
        let (n, width) = (self.size, self.stride * BLOCK);
        let rows = self.blocks.as_flattened();
        for k in (0..n).rev() {
            let x_k = x[k] * self.inverse_pivots[k];
            x[k] = x_k;
            for (x, w) in x[..k].iter_mut().zip(rows[k..].iter().step_by(width)) {
                *x -= w * x_k;
            }
        }
    }
}

/// The rows that have been eliminated.
struct Eliminated<'a> {
    rows: &'a [Block],
    stride: usize,
    inverse_pivots: &'a [f64],
}

impl Eliminated<'_> {
    /// Subtracts the share of these rows from B blocks of row `i`, starting at block `from`: w_i -=
    /// (w_ki/d_k) w_k. Returns B.
    #[inline(always)]
    fn eliminate<const B: usize>(&self, i: usize, from: usize, row: &mut [Block]) -> usize {
        let Some(row) = row[from..].first_chunk_mut::<B>() else { return B };
        let mut sums = *row;
        for (other, inverse_pivot) in self.rows.chunks_exact(self.stride).zip(self.inverse_pivots) {
            let entry = other[i / BLOCK][i % BLOCK];
            if entry == 0.0 {
                continue;
            }
            let factor = entry * inverse_pivot;
            let Some(other) = other[from..].first_chunk::<B>() else { return B };
            for (sum, other) in sums.iter_mut().zip(other) {
                for lane in 0..BLOCK {
                    sum[lane] -= factor * other[lane];
                }
            }
        }
        *row = sums;
        B
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::dense::{cholesky_in_place, cholesky_solve_in_place};

    /// Diagonally dominant, with a zero where `coupled` is false for two coordinates.
    fn matrix(n: usize, coupled: impl Fn(usize, usize) -> bool) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = match i == j {
                    true => n as f64 + i as f64,
                    false if coupled(i, j) => ((i + 1) as f64 * (j + 1) as f64).sin(),
                    false => 0.0,
                };
            }
        }
        a
    }

    fn with_rows(dense: &[f64], n: usize) -> PaddedSymmetric {
        let mut padded = PaddedSymmetric::default();
        padded.reset(n);
        for i in 0..n {
            padded.row_mut(i)[..n].copy_from_slice(&dense[i * n..(i + 1) * n]);
        }
        padded
    }

    /// Oracle: the dense Cholesky factorization, at sizes that are multiples of the block and at others.
    #[test]
    fn has_the_solution_of_the_dense_factorization() {
        let islands = |i: usize, j: usize| i / 6 == j / 6 || (i.min(j) < 6 && i.max(j) >= 12);
        for (n, a) in (1..24).flat_map(|n| [(n, matrix(n, |_, _| true)), (n, matrix(n, islands))]) {
            let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let (mut factor, mut expected) = (a.clone(), b.clone());
            cholesky_in_place(&mut factor, n).unwrap();
            cholesky_solve_in_place(&factor, n, &mut expected);
            let mut padded = with_rows(&a, n);
            for (i, b) in b.iter().enumerate() {
                padded.row_mut(i)[n] = *b;
            }
            let mut x = vec![0.0; n];
            padded.solve_in_place(&mut x).unwrap();
            for (x, expected) in x.iter().zip(&expected) {
                assert!((x - expected).abs() < 1e-14, "{n}: {x} instead of {expected}");
            }
            let mut again = b.clone();
            padded.solve_again(&mut again);
            for (again, x) in again.iter().zip(&x) {
                assert!((again - x).abs() < 1e-14, "{n}: {again} instead of {x}");
            }
        }
    }

    #[test]
    fn names_the_pivot_that_fails() {
        let mut padded = with_rows(&[1.0; 4], 2);
        assert_eq!(padded.solve_in_place(&mut [0.0; 2]).unwrap_err().pivot, 1);
    }
}
