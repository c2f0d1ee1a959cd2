//! Cholesky factors of the islands, within the envelope of each matrix.

/// A pivot that is not positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NotPositive;

/// The inner product of two equally long slices in four sums, in an order that does not depend on the
/// machine.
#[inline]
pub(super) fn dot4(a: &[f64], b: &[f64]) -> f64 {
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

/// Replaces the lower triangle of `a` (n x n, row-major) by L with A = L L^T and 1/L_ii on its diagonal:
/// multiplications are faster than divisions. Row i of A is zero before `first[i]`.
pub(super) fn factorize(a: &mut [f64], first: &[u32]) -> Result<(), NotPositive> {
    let n = first.len();
    for i in 0..n {
        let (above, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..=i];
        let start = first[i] as usize;
        for k in start..i {
            let other = &above[k * n..=k * n + k];
            let common = start.max(first[k] as usize);
            let sum = dot4(&row[common..k], &other[common..k]);
            row[k] = (row[k] - sum) * other[k];
        }
        let pivot = row[i] - dot4(&row[start..i], &row[start..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(NotPositive);
        }
        row[i] = 1.0 / pivot.sqrt();
    }
    Ok(())
}

/// Solves L L^T x = b in place, with L as [`factorize`] leaves it.
pub(super) fn substitute(l: &[f64], first: &[u32], b: &mut [f64]) {
    let n = first.len();
    for i in 0..n {
        let start = first[i] as usize;
        let row = &l[i * n..=i * n + i];
        b[i] = (b[i] - dot4(&row[start..i], &b[start..i])) * row[i];
    }
    for i in (0..n).rev() {
        let start = first[i] as usize;
        let row = &l[i * n..=i * n + i];
        let x = b[i] * row[i];
        b[i] = x;
        for (y, l) in b[start..i].iter_mut().zip(&row[start..i]) {
            *y -= l * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_within_the_envelope() {
        // an arrow: rows 0 to 3 are diagonal, and row 4 is full
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
        factorize(&mut a, &first).unwrap();
        substitute(&a, &first, &mut b);
        for (found, expected) in b.iter().zip(&x) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn refuses_what_is_not_positive() {
        assert_eq!(factorize(&mut [1.0, 0.0, 2.0, 1.0], &[0, 0]), Err(NotPositive));
    }
}
