//! Small dense kernels on caller-owned slices: nothing here allocates.

/// The reason why a factorization stopped.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is not positive definite: pivot {pivot} of {size} is {value:e}")]
pub struct NotPositiveDefinite {
    /// The number of the pivot, counted from 0.
    pub pivot: usize,
    /// Rows of the matrix.
    pub size: usize,
    /// The value of the pivot.
    pub value: f64,
}

/// Cholesky factorization A = L L^T of a symmetric positive definite matrix, in place. `a` is `n` x `n`,
/// row-major, and only its lower triangle is read. On return this triangle holds L, with 1/L_ii on its
/// diagonal, because multiplications are faster than divisions.
///
/// # Errors
/// A pivot that is not positive and finite.
pub fn cholesky_in_place(a: &mut [f64], n: usize) -> Result<(), NotPositiveDefinite> {
    factorize(a, n, |_| 0)
}

/// Does the same as [`cholesky_in_place`] within an envelope: row i of A is zero before its entry `first[i]`,
/// and so is row i of L.
///
/// # Errors
/// A pivot that is not positive and finite.
pub fn cholesky_in_envelope(a: &mut [f64], first: &[u32]) -> Result<(), NotPositiveDefinite> {
    factorize(a, first.len(), |i| first[i] as usize)
}

/// Solves L L^T x = b in place, with `l` from [`cholesky_in_place`].
pub fn cholesky_solve_in_place(l: &[f64], n: usize, b: &mut [f64]) {
    substitute(l, n, |_| 0, b);
}

/// Solves L L^T x = b in place, with `l` from [`cholesky_in_envelope`].
pub fn cholesky_solve_in_envelope(l: &[f64], first: &[u32], b: &mut [f64]) {
    substitute(l, first.len(), |i| first[i] as usize, b);
}

/// Solves L y = b in place, with `l` from [`cholesky_in_place`]: |y|^2 = b . A^-1 b.
pub fn cholesky_forward_in_place(l: &[f64], n: usize, b: &mut [f64]) {
    debug_assert_eq!(l.len(), n * n);
    debug_assert_eq!(b.len(), n);
    for i in 0..n {
        let row = &l[i * n..=i * n + i];
        b[i] = (b[i] - dot4(&row[..i], &b[..i])) * row[i];
    }
}

#[inline]
fn factorize(a: &mut [f64], n: usize, first: impl Fn(usize) -> usize) -> Result<(), NotPositiveDefinite> {
    debug_assert_eq!(a.len(), n * n);
    for i in 0..n {
        let (above, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..=i];
        let start = first(i);
        for k in start..i {
            let other = &above[k * n..=k * n + k];
            let common = start.max(first(k));
            let sum = dot4(&row[common..k], &other[common..k]);
            row[k] = (row[k] - sum) * other[k];
        }
        let value = row[i] - dot4(&row[start..i], &row[start..i]);
        if !(value > 0.0 && value.is_finite()) {
            return Err(NotPositiveDefinite { pivot: i, size: n, value });
        }
        row[i] = 1.0 / value.sqrt();
    }
    Ok(())
}

#[inline]
fn substitute(l: &[f64], n: usize, first: impl Fn(usize) -> usize, b: &mut [f64]) {
    debug_assert_eq!(l.len(), n * n);
    debug_assert_eq!(b.len(), n);
    for i in 0..n {
        let start = first(i);
        let row = &l[i * n..=i * n + i];
        b[i] = (b[i] - dot4(&row[start..i], &b[start..i])) * row[i];
    }
    for i in (0..n).rev() {
        let start = first(i);
        let row = &l[i * n..=i * n + i];
        let x = b[i] * row[i];
        b[i] = x;
        for (y, l) in b[start..i].iter_mut().zip(&row[start..i]) {
            *y -= l * x;
        }
    }
}

/// The inner product of two equally long slices in four sums, in an order that does not depend on the
/// machine.
#[inline]
pub fn dot4(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    for (x, y) in a4.iter().zip(b4) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (x, y) in a_rest.iter().zip(b_rest) {
        sum += x * y;
    }
    sum
}

/// Inner product of two equally long slices, in index order.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The weights w that minimise |target - sum w_j vectors_j|, by normal equations; `regularization` is
/// relative to their largest diagonal entry. Weights are 0 for vectors that are not given, and if nothing
/// determines them.
pub fn least_squares<const N: usize>(vectors: &[Vec<f64>], target: &[f64], regularization: f64) -> [f64; N] {
    let (mut matrix, mut weights) = ([[0.0; N]; N], [0.0; N]);
    let n = vectors.len();
    debug_assert!(n <= N, "at most one vector for each weight");
    let matrix = &mut matrix.as_flattened_mut()[..n * n];
    for (i, (vector, weight)) in vectors.iter().zip(&mut weights).enumerate() {
        for (j, other) in vectors[..=i].iter().enumerate() {
            matrix[i * n + j] = dot(vector, other);
        }
        *weight = dot(vector, target);
    }
    let largest = (0..n).map(|i| matrix[i * (n + 1)]).fold(0.0, f64::max);
    (0..n).for_each(|i| matrix[i * (n + 1)] += regularization * largest);
    let first = &[0; N][..n];
    if cholesky_in_envelope(matrix, first).is_err() {
        return [0.0; N];
    }
    cholesky_solve_in_envelope(matrix, first, &mut weights[..n]);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_written_out_system() {
        // A = L L^T with L = [2 0 0; 1 3 0; -1 2 1]
        let mut a = [4.0, 0.0, 0.0, 2.0, 10.0, 0.0, -2.0, 5.0, 6.0];
        cholesky_in_place(&mut a, 3).unwrap();
        let l: Vec<f64> = vec![a[0], a[3], a[4], a[6], a[7], a[8]];
        assert_eq!(l, vec![1.0 / 2.0, 1.0, 1.0 / 3.0, -1.0, 2.0, 1.0]);
        let mut b = [4.0 + 4.0 - 6.0, 2.0 + 20.0 + 15.0, -2.0 + 10.0 + 18.0]; // A (1, 2, 3)
        cholesky_solve_in_place(&a, 3, &mut b);
        for (x, expected) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn solves_within_the_envelope() {
        // An arrow: rows 0 to 3 are diagonal, and row 4 is full.
        let n = 5;
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            a[i * n + i] = 4.0 + i as f64;
            a[(n - 1) * n + i] += 0.5 * (i + 1) as f64;
        }
        let x: Vec<f64> = (0..n).map(|i| 1.0 - 0.3 * i as f64).collect();
        let entry = |i: usize, j: usize| a[i.max(j) * n + i.min(j)];
        let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum()).collect();
        let first = [0, 1, 2, 3, 0];
        cholesky_in_envelope(&mut a, &first).unwrap();
        cholesky_solve_in_envelope(&a, &first, &mut b);
        for (found, expected) in b.iter().zip(&x) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn names_the_pivot_that_fails() {
        let mut a = [1.0, 0.0, 1.0, 1.0];
        assert_eq!(cholesky_in_place(&mut a, 2).unwrap_err().pivot, 1);
        assert_eq!(cholesky_in_envelope(&mut [1.0, 0.0, 2.0, 1.0], &[0, 0]).unwrap_err().pivot, 1);
    }
}
