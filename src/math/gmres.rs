//! GMRES [Saad 1986]: linear systems A x = b with a matrix that is not symmetric and is given by its products
//! only.

use super::dense::dot;

/// The result of [`Gmres::solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GmresReport {
    /// |b - A x| relative to |b|, as the recurrence predicts it [-].
    pub residual: f64,
    /// The number of products with A.
    pub products: usize,
}

/// The memory of the method, reused from system to system.
#[derive(Clone, Debug, Default)]
pub struct Gmres {
    /// The orthonormal vectors of the Krylov space, one after the other.
    basis: Vec<f64>,
    /// The columns of the triangular factor of the Hessenberg matrix, each of `most` + 1 entries.
    columns: Vec<f64>,
    /// Cosine and sine of the rotation of each column.
    rotations: Vec<[f64; 2]>,
    /// The right hand side of the triangular system.
    projected: Vec<f64>,
}

impl Gmres {
    /// Makes room for systems of `size` unknowns with at most `most` products.
    pub fn reserve(&mut self, size: usize, most: usize) {
        let grow = |list: &mut Vec<f64>, length: usize| list.reserve(length.saturating_sub(list.len()));
        grow(&mut self.basis, (most + 1) * size);
        grow(&mut self.columns, most * (most + 1));
        grow(&mut self.projected, most + 1);
        self.rotations.reserve(most.saturating_sub(self.rotations.len()));
    }

    /// Solves A x = b from x = 0 with at most `most` products, without restart. `x` is b on input. `multiply`
    /// writes A times its first argument to the second one. The method ends when the residual is at most
    /// `tolerance` |b|, or when the Krylov space is exhausted: the report tells.
    pub fn solve(
        &mut self,
        x: &mut [f64],
        (tolerance, most): (f64, usize),
        mut multiply: impl FnMut(&[f64], &mut [f64]),
    ) -> GmresReport {
        let (n, height) = (x.len(), most + 1);
        let size = dot(x, x).sqrt();
        self.basis.resize(height * n, 0.0);
        self.columns.resize(most * height, 0.0);
        self.rotations.resize(most, [1.0, 0.0]);
        self.projected.clear();
        self.projected.resize(height, 0.0);
        if size == 0.0 || !size.is_finite() {
            x.fill(0.0);
            return GmresReport { residual: if size == 0.0 { 0.0 } else { f64::NAN }, products: 0 };
        }
        self.basis[..n].iter_mut().zip(&*x).for_each(|(q, b)| *q = b / size);
        self.projected[0] = size;
        let mut count = 0;
        while count < most && self.projected[count].abs() > tolerance * size {
            let (known, next) = self.basis.split_at_mut((count + 1) * n);
            let next = &mut next[..n];
            multiply(&known[count * n..], next);
            let column = &mut self.columns[count * height..(count + 1) * height];
            let left = orthogonalise(known, next, column);
            let regular = rotate(column, &mut self.rotations, &mut self.projected, (count, left));
            if !regular {
                break;
            }
            count += 1;
            if left == 0.0 {
                break;
            }
        }
        let residual = self.projected[count].abs() / size;
        self.combine(x, count, height);
        GmresReport { residual, products: count }
    }

    /// Solves the triangular system of `count` columns, and writes the combination of the basis to `x`.
    fn combine(&mut self, x: &mut [f64], count: usize, height: usize) {
        let n = x.len();
        x.fill(0.0);
        for k in (0..count).rev() {
            let mut sum = self.projected[k];
            for j in k + 1..count {
                sum -= self.columns[j * height + k] * self.projected[j];
            }
            self.projected[k] = sum / self.columns[k * height + k];
        }
        for (y, q) in self.projected[..count].iter().zip(self.basis.chunks_exact(n)) {
            x.iter_mut().zip(q).for_each(|(x, q)| *x += y * q);
        }
    }
}

/// Removes the parts of `next` along the vectors of `known`, which become the head of `column`, and makes it
/// a unit vector. Returns its length before; 0 if nothing is left of it.
fn orthogonalise(known: &[f64], next: &mut [f64], column: &mut [f64]) -> f64 {
    let size = dot(next, next).sqrt();
    for (entry, q) in column.iter_mut().zip(known.chunks_exact(next.len())) {
        let along = dot(q, next);
        next.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
        *entry = along;
    }
    let left = dot(next, next).sqrt();
    if left <= f64::EPSILON * size {
        return 0.0;
    }
    next.iter_mut().for_each(|x| *x /= left);
    left
}

/// Rotates the column with the number `count` and the entry `left` below its diagonal to triangular form.
/// Returns false if it is singular.
fn rotate(column: &mut [f64], rotations: &mut [[f64; 2]], projected: &mut [f64], (count, left): (usize, f64)) -> bool {
    for (k, [c, s]) in rotations[..count].iter().enumerate() {
        let (a, b) = (column[k], column[k + 1]);
        (column[k], column[k + 1]) = (c * a + s * b, c * b - s * a);
    }
    let diagonal = column[count].hypot(left);
    if !(diagonal > 0.0 && diagonal.is_finite()) {
        return false;
    }
    let [c, s] = [column[count] / diagonal, left / diagonal];
    (column[count], rotations[count]) = (diagonal, [c, s]);
    (projected[count], projected[count + 1]) = (c * projected[count], -s * projected[count]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn product(a: &[f64], x: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(a.chunks_exact(x.len())).for_each(|(out, row)| *out = dot(row, x));
    }

    /// A matrix that is not symmetric, and a vector.
    fn system(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::new(seed);
        let mut next = || random.next() - 0.5;
        let a = (0..n * n).map(|i| next() + if i % (n + 1) == 0 { 2.0 } else { 0.0 }).collect();
        (a, (0..n).map(|_| next()).collect())
    }

    /// The predicted residual is the true one, with few products and with as many as there are unknowns.
    #[test]
    fn the_residual_is_the_one_reported() {
        let mut gmres = Gmres::default();
        for (n, seed) in [(1, 1), (5, 2), (30, 3), (12, 4)] {
            let (a, b) = system(n, seed);
            for (tolerance, most) in [(0.1, n), (1e-13, n), (1e-13, n.div_ceil(2))] {
                let mut x = b.clone();
                let report = gmres.solve(&mut x, (tolerance, most), |x, out| product(&a, x, out));
                let mut ax = vec![0.0; n];
                product(&a, &x, &mut ax);
                let error = ax.iter().zip(&b).map(|(ax, b)| (ax - b).powi(2)).sum::<f64>().sqrt() / dot(&b, &b).sqrt();
                assert!((error - report.residual).abs() < 1e-12, "{n}: {error:e} {report:?}");
                assert!(report.products <= most && (report.residual <= tolerance || report.products == most));
                assert!(most < n || report.residual <= tolerance, "{n} {tolerance}: {report:?}");
            }
        }
    }

    /// One plus a matrix of rank two needs three products at most.
    #[test]
    fn one_plus_a_matrix_of_low_rank_needs_few_products() {
        let (n, mut gmres) = (40, Gmres::default());
        let (vectors, b) = system(n, 7);
        let mut x = b.clone();
        let report = gmres.solve(&mut x, (1e-12, 10), |x, out| {
            out.copy_from_slice(x);
            for k in 0..2 {
                let (row, column) = (&vectors[k * n..(k + 1) * n], &vectors[(k + 2) * n..(k + 3) * n]);
                let along = dot(row, x);
                out.iter_mut().zip(column).for_each(|(out, c)| *out += along * c);
            }
        });
        assert!(report.products <= 3 && report.residual <= 1e-12, "{report:?}");
    }

    /// A system without a solution is not reported as solved, and a right hand side of zero gives zero.
    #[test]
    fn a_singular_system_is_not_solved() {
        let mut gmres = Gmres::default();
        let mut x = [1.0, 2.0, 3.0];
        let report = gmres.solve(&mut x, (1e-10, 3), |x, out| out.copy_from_slice(&[x[0], x[1], 0.0]));
        assert!(report.residual > 0.1 && x.iter().all(|x| x.is_finite()), "{report:?} {x:?}");
        let report = gmres.solve(&mut x, (1e-10, 3), |_, out| out.fill(0.0));
        assert!(report.residual > 0.99 && x == [0.0; 3], "{report:?} {x:?}");
        let mut x = [0.0; 3];
        assert_eq!(gmres.solve(&mut x, (1e-10, 3), |x, out| out.copy_from_slice(x)).residual, 0.0);
    }
}
