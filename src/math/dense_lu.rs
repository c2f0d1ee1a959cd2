//! Dense LU factors of a square matrix without symmetry, with partial pivoting.

/// Factors a row-major `n` x `n` matrix in place, P a = L U with ones on the diagonal of L. `order` becomes
/// the rows of P. Returns whether the matrix is regular: no pivot is 0 or not finite.
pub fn lu_in_place(a: &mut [f64], n: usize, order: &mut Vec<usize>) -> bool {
    debug_assert_eq!(a.len(), n * n, "a square matrix");
    order.clear();
    order.extend(0..n);
    for k in 0..n {
        let largest = (k..n).max_by(|i, j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        if largest != k {
            order.swap(k, largest);
            let (upper, lower) = a.split_at_mut(largest * n);
            upper[k * n..k * n + n].swap_with_slice(&mut lower[..n]);
        }
        let pivot = a[k * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let row = &upper[k * n + k + 1..k * n + n];
        for below in lower.chunks_exact_mut(n) {
            let factor = below[k] / pivot;
            below[k] = factor;
            if factor != 0.0 {
                below[k + 1..].iter_mut().zip(row).for_each(|(x, u)| *x -= factor * u);
            }
        }
    }
    true
}

/// Solves a x = b with the factors of [`lu_in_place`].
pub fn lu_solve(lu: &[f64], n: usize, order: &[usize], b: &[f64], x: &mut Vec<f64>) {
    x.clear();
    x.extend(order.iter().map(|row| b[*row]));
    for i in 0..n {
        let sum: f64 = lu[i * n..i * n + i].iter().zip(&*x).map(|(l, x)| l * x).sum();
        x[i] -= sum;
    }
    for i in (0..n).rev() {
        let sum: f64 = lu[i * n + i + 1..i * n + n].iter().zip(&x[i + 1..]).map(|(u, x)| u * x).sum();
        x[i] = (x[i] - sum) / lu[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix whose first pivot is 0, times the solution, is the right-hand side to rounding.
    #[test]
    fn the_factors_solve_the_system() {
        let n = 7;
        let entry = |i: usize, j: usize| if i == 0 && j == 0 { 0.0 } else { ((i * 7 + 3 * j) as f64).sin() + 0.1 };
        let a: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).map(|x| x + x * x * x).collect();
        let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let (mut lu, mut order, mut x) = (a.clone(), Vec::new(), Vec::new());
        assert!(lu_in_place(&mut lu, n, &mut order));
        lu_solve(&lu, n, &order, &b, &mut x);
        for i in 0..n {
            let row: f64 = a[i * n..i * n + n].iter().zip(&x).map(|(a, x)| a * x).sum();
            let size: f64 = a[i * n..i * n + n].iter().zip(&x).map(|(a, x)| (a * x).abs()).sum();
            assert!((row - b[i]).abs() < 1e-12 * size, "row {i}: {row} instead of {}", b[i]);
        }
        assert!(!lu_in_place(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut order));
    }
}
