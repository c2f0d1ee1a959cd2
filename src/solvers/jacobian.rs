//! The Jacobian of a patch, and its products in a Newton step.

use crate::math::padded::PaddedSymmetric;
use crate::math::{Matrix6, SpatialForce, SpatialVelocity, Vector3, Vector6};

type Array6 = [f64; 6];

/// 1e-14 times this part is four roundings: a residual of 1e-14 of all single impulses counts as solved.
/// [-]
const ROUNDED_PART: f64 = 0.09;

/// J of V = J v, the spatial velocity of B relative to A at the patch point C in world axes, stored by its
/// non-zero columns. The columns of free bodies are detected when they are added: products with them cost
/// little more than a cross product.
#[derive(Clone, Debug, Default)]
pub(super) struct PatchJacobian {
    /// The generalized velocities that move the patch, ascending.
    pub(super) dofs: Vec<u32>,
    /// The column (w; v) of J for each of `dofs`.
    pub(super) columns: Vec<Vector6>,
    /// The columns that belong to no free body, each with its velocity.
    jointed: Vec<(usize, Array6)>,
    free: Vec<FreeBody>,
}

impl PatchJacobian {
    pub(super) fn clear(&mut self) {
        self.dofs.clear();
        self.columns.clear();
        self.jointed.clear();
        self.free.clear();
    }

    /// Adds a column; call in ascending order of `dof`.
    pub(super) fn push(&mut self, dof: u32, column: Vector6) {
        debug_assert!(self.dofs.last().is_none_or(|last| *last < dof), "columns come in ascending order");
        self.dofs.push(dof);
        self.columns.push(column);
        let column: Array6 = column.into();
        self.jointed.push((dof as usize, column));
        if column[5].abs() == 1.0
            && let Some(start) = self.jointed.len().checked_sub(6)
            && let Some(body) = self.jointed[start..].first_chunk().and_then(FreeBody::find)
        {
            self.jointed.truncate(start);
            self.free.push(body);
        }
    }

    /// V = J v.
    pub(super) fn velocity(&self, v: &[f64]) -> SpatialVelocity {
        let mut V = [0.0; 6];
        for (dof, column) in &self.jointed {
            add(&mut V, v[*dof], column);
        }
        for body in &self.free {
            body.add_velocity(v, &mut V);
        }
        let [wx, wy, wz, vx, vy, vz] = V;
        SpatialVelocity::new(Vector3::new(wx, wy, wz), Vector3::new(vx, vy, vz))
    }

    /// A part of |H| (|J| |v|), the size of the impulse of a patch with the Hessian H if the velocities of
    /// its two bodies did not cancel. The relative velocity is their small difference, and each is
    /// rounded.
    pub(super) fn rounded_impulse(&self, H: &Matrix6, v: &[f64]) -> Vector6 {
        let size: Vector6 =
            self.dofs.iter().zip(&self.columns).map(|(dof, column)| column.abs() * v[*dof as usize].abs()).sum();
        ROUNDED_PART * (H.abs() * size)
    }

    /// Adds J^T F to `out`.
    pub(super) fn add_transposed(&self, F: &SpatialForce, out: &mut [f64]) {
        let F = [F.tau.x, F.tau.y, F.tau.z, F.f.x, F.f.y, F.f.z];
        for (dof, column) in &self.jointed {
            out[*dof] += inner(column, &F);
        }
        for body in &self.free {
            body.add_transposed(&F, body.dof, out);
        }
    }

    /// Adds the upper triangle of J^T H J with a symmetric H. `indices` holds the row of each velocity and
    /// keeps their order; the rows of a free body are consecutive.
    pub(super) fn add_hessian(&self, H: &Matrix6, indices: &[u32], out: &mut PaddedSymmetric) {
        let H: &[Array6; 6] = &H.data.0;
        for (a, (dof, column)) in self.jointed.iter().enumerate() {
            let mut weighted = [0.0; 6];
            for (x, H) in column.iter().zip(H) {
                add(&mut weighted, *x, H);
            }
            self.add_row(*dof, &weighted, a, indices, out.row_mut(indices[*dof] as usize));
        }
        for body in &self.free {
            let behind = self.jointed.partition_point(|(dof, _)| *dof < body.dof);
            for (i, weighted) in body.weighted(H).iter().enumerate() {
                let row = out.row_mut(indices[body.dof + i] as usize);
                self.add_row(body.dof + i, weighted, behind, indices, row);
            }
        }
    }

    /// Adds the entries of J^T F from `dof` on to a row. `behind` is the index of the first jointed column
    /// to use.
    #[inline(always)]
    fn add_row(&self, dof: usize, F: &Array6, behind: usize, indices: &[u32], row: &mut [f64]) {
        for (other, column) in &self.jointed[behind..] {
            row[indices[*other] as usize] += inner(column, F);
        }
        for body in &self.free {
            // A row of the body itself also gets entries below the diagonal, which are never read.
            if body.dof + 6 > dof {
                body.add_transposed(F, indices[body.dof] as usize, row);
            }
        }
    }
}

/// Six consecutive velocities (w; v) of a body at its origin, in world axes. They move C with
///   V_C = sign (w; v + w x p).
#[derive(Clone, Copy, Debug, PartialEq)]
struct FreeBody {
    /// The first of the six generalized velocities.
    dof: usize,
    /// 1 for the body B, -1 for the body A.
    sign: f64,
    /// From the body's origin to C \[m\].
    p: [f64; 3],
}

impl FreeBody {
    /// The free body with exactly these columns, bit for bit.
    fn find(columns: &[(usize, Array6); 6]) -> Option<Self> {
        let (dof, sign) = (columns[0].0, columns[5].1[5]);
        let p = [sign * columns[2].1[4], sign * columns[0].1[5], sign * columns[1].1[3]];
        let body = Self { dof, sign, p };
        let same = |(i, (other, column)): (usize, &(usize, Array6))| *other == dof + i && *column == body.column(i);
        columns.iter().enumerate().all(same).then_some(body)
    }

    /// Column `i`: (sign e; sign e x p) for rotation about an axis e, (0; sign e) for translation along it.
    fn column(&self, i: usize) -> Array6 {
        let [x, y, z] = self.p.map(|p| self.sign * p);
        let s = self.sign;
        match i {
            0 => [s, 0.0, 0.0, 0.0, -z, y],
            1 => [0.0, s, 0.0, z, 0.0, -x],
            2 => [0.0, 0.0, s, -y, x, 0.0],
            3 => [0.0, 0.0, 0.0, s, 0.0, 0.0],
            4 => [0.0, 0.0, 0.0, 0.0, s, 0.0],
            _ => [0.0, 0.0, 0.0, 0.0, 0.0, s],
        }
    }

    #[inline(always)]
    fn add_velocity(&self, v: &[f64], V: &mut Array6) {
        let Some([wx, wy, wz, vx, vy, vz]) = v[self.dof..].first_chunk() else { return };
        let [x, y, z] = self.p;
        let V_C = [*wx, *wy, *wz, vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x];
        add(V, self.sign, &V_C);
    }

    /// H times the six columns.
    #[inline(always)]
    fn weighted(&self, H: &[Array6; 6]) -> [Array6; 6] {
        let [x, y, z] = self.p;
        let sum = |i: usize, a: f64, j: usize, b: f64, k: usize| {
            std::array::from_fn(|r| self.sign * (H[i][r] + a * H[j][r] + b * H[k][r]))
        };
        let [vx, vy, vz] = [3, 4, 5].map(|i: usize| H[i].map(|h| self.sign * h));
        [sum(0, -z, 4, y, 5), sum(1, z, 3, -x, 5), sum(2, -y, 3, x, 4), vx, vy, vz]
    }

    /// Adds the products of the columns and F = (tau; f), sign (tau + p x f; f), to six numbers from
    /// `index` on.
    #[inline(always)]
    fn add_transposed(&self, F: &Array6, index: usize, out: &mut [f64]) {
        let Some(out) = out[index..].first_chunk_mut() else { return };
        let ([x, y, z], [tx, ty, tz, fx, fy, fz]) = (self.p, *F);
        let product = [tx + y * fz - z * fy, ty + z * fx - x * fz, tz + x * fy - y * fx, fx, fy, fz];
        add(out, self.sign, &product);
    }
}

/// y += a x.
#[inline(always)]
fn add(y: &mut Array6, a: f64, x: &Array6) {
    for k in 0..6 {
        y[k] += a * x[k];
    }
}

/// a . b, written so that it compiles to vector instructions.
#[inline(always)]
fn inner(a: &Array6, b: &Array6) -> f64 {
    let mut sums = [0.0; 2];
    for k in 0..3 {
        sums[0] += a[2 * k] * b[2 * k];
        sums[1] += a[2 * k + 1] * b[2 * k + 1];
    }
    sums[0] + sums[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 22;

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 7 + j * 3 + 1) as f64).sin()
    }

    /// The columns of bodies and joints in the order of their velocities: free bodies at 0 and 14 (A and
    /// B), joints at 6 to 8 and 20, and at 9 to 12 only four columns of a free body.
    fn jacobian() -> PatchJacobian {
        let mut jacobian = PatchJacobian::default();
        let bodies = [(0, -1.0), (14, 1.0)].map(|(dof, sign)| FreeBody { dof, sign, p: [0.3, -0.2 - sign, 0.7] });
        let mut push = |dof: usize, column: Array6| jacobian.push(dof as u32, column.into());
        (0..6).for_each(|i| push(i, bodies[0].column(i)));
        (6..9).for_each(|dof| push(dof, std::array::from_fn(|k| wave(dof, k))));
        (9..13).for_each(|dof| push(dof, bodies[1].column(dof - 7)));
        (14..20).for_each(|dof| push(dof, bodies[1].column(dof - 14)));
        push(20, std::array::from_fn(|k| wave(20, k)));
        jacobian
    }

    /// Oracle: the same products without the special case of free bodies.
    #[test]
    fn products_are_those_of_all_columns_alike() {
        let jacobian = jacobian();
        assert_eq!((jacobian.free.len(), jacobian.jointed.len(), jacobian.columns.len()), (2, 8, 20));
        let mut J = nalgebra::SMatrix::<f64, 6, SIZE>::zeros();
        for (dof, column) in jacobian.dofs.iter().zip(&jacobian.columns) {
            J.set_column(*dof as usize, column);
        }
        let v: [f64; SIZE] = std::array::from_fn(|i| wave(i, 9));
        let V = J * nalgebra::SVector::<f64, SIZE>::from(v);
        assert!((SpatialVelocity::from_vector(&V) - jacobian.velocity(&v)).to_vector().norm() < 1e-14);
        let F = Vector6::from_fn(|i, _| wave(i, 11));
        let mut out = [0.0; SIZE];
        jacobian.add_transposed(&SpatialForce::from_vector(&F), &mut out);
        assert!((J.transpose() * F - nalgebra::SVector::from(out)).norm() < 1e-14);
        let half = Matrix6::from_fn(wave);
        let H = half + half.transpose();
        let mut sum = PaddedSymmetric::default();
        sum.reset(SIZE);
        jacobian.add_hessian(&H, &std::array::from_fn::<u32, SIZE, _>(|i| i as u32), &mut sum);
        let expected = J.transpose() * H * J;
        for i in 0..SIZE {
            for j in i..SIZE {
                let entry = sum.row_mut(i)[j];
                assert!((entry - expected[(i, j)]).abs() < 1e-13, "{i} {j}: {entry} for {}", expected[(i, j)]);
            }
        }
    }

    /// Six consecutive columns are not detected as a free body if one of them differs or a velocity is left
    /// out.
    #[test]
    fn takes_no_other_columns_for_those_of_a_free_body() {
        let body = FreeBody { dof: 3, sign: 1.0, p: [0.1, 0.2, 0.3] };
        let columns: [(usize, Array6); 6] = std::array::from_fn(|i| (3 + i, body.column(i)));
        assert_eq!(FreeBody::find(&columns), Some(body));
        for i in 0..6 {
            for k in 0..6 {
                let mut other = columns;
                other[i].1[k] += 1e-15;
                assert_ne!(FreeBody::find(&other).is_some(), other != columns, "{i} {k}");
            }
            let mut other = columns;
            other[i].0 += 1;
            assert_eq!(FreeBody::find(&other), None);
        }
    }
}
