//! Small dense kernels on caller-owned slices: nothing here allocates.

/// The reason why a factorization stopped.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is not positive definite: pivot {pivot} of {size} is {value:e}")]
pub struct NotPositiveDefinite {
    /// The number of the pivot, counted from 0.
    pub pivot: usize,
    /// Rows of the matrix.
    pub size: usize,
    /// Its value.
    pub value: f64,
}

/// Cholesky factor L of a symmetric positive definite matrix, in place: `a` is `n` x `n`, row-major, and only
/// its lower triangle is read; on return the lower triangle holds L with A = L L^T.
///
/// # Errors
/// A pivot that is not positive (or not a number).
pub fn cholesky_in_place(a: &mut [f64], n: usize) -> Result<(), NotPositiveDefinite> {
    debug_assert_eq!(a.len(), n * n);
    for j in 0..n {
        let (above, rest) = a.split_at_mut(j * n);
        let row_j = &mut rest[..n];
        for k in 0..j {
            let row_k = &above[k * n..k * n + k + 1];
            let sum = dot(&row_j[..k], &row_k[..k]);
            row_j[k] = (row_j[k] - sum) / row_k[k];
        }
        let value = row_j[j] - dot(&row_j[..j], &row_j[..j]);
        if !(value > 0.0 && value.is_finite()) {
            return Err(NotPositiveDefinite { pivot: j, size: n, value });
        }
        row_j[j] = value.sqrt();
    }
    Ok(())
}

/// Solves L L^T x = b in place, with `l` from [`cholesky_in_place`].
pub fn cholesky_solve_in_place(l: &[f64], n: usize, b: &mut [f64]) {
    debug_assert_eq!(l.len(), n * n);
    debug_assert_eq!(b.len(), n);
    for i in 0..n {
        let row = &l[i * n..i * n + i + 1];
        b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
    }
    for i in (0..n).rev() {
        let row = &l[i * n..i * n + i + 1];
        let x = b[i] / row[i];
        b[i] = x;
        for (y, l_ik) in b[..i].iter_mut().zip(row) {
            *y -= l_ik * x;
        }
    }
}

/// Inner product of two equally long slices, in index order.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
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
        assert_eq!(l, vec![2.0, 1.0, 3.0, -1.0, 2.0, 1.0]);
        let mut b = [4.0 + 4.0 - 6.0, 2.0 + 20.0 + 15.0, -2.0 + 10.0 + 18.0]; // A (1, 2, 3)
        cholesky_solve_in_place(&a, 3, &mut b);
        for (x, expected) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn names_the_pivot_that_fails() {
        let mut a = [1.0, 0.0, 1.0, 1.0];
        assert_eq!(cholesky_in_place(&mut a, 2).unwrap_err().pivot, 1);
    }
}
