//! Lagged friction: the velocities at the start of a step fix the friction bound of each face and its
//! regularization speed.

use crate::math::lanes::{LANES, LaneSum, Lanes, Lanes3};
use crate::math::{Matrix6, SpatialVelocity, Vector3};
use crate::solvers::face_scheme::FaceScheme;
use crate::solvers::patch_block::{FaceLanes, PatchBlock, SLIDING};

impl PatchBlock {
    /// Fixes the friction of the faces that [`PatchBlock::push_face`] added, at the velocities v0 that were
    /// given with the columns. With vn0 = n . v_F(v0) and w the inverse effective mass of the face:
    ///   n0 = dt (fe0+ - tau k vn0)+ (1 - d vn0)+   [N s],
    ///   friction bound mu n0,   slip speed max(v_s, mu sigma w n0)   [m/s].
    pub fn lag_friction(&mut self) {
        let law = self.law;
        let (w, v) = (Lanes3::splat(&self.V0.w), Lanes3::splat(&self.V0.v));
        let (step, d) = (Lanes::splat(law.step), Lanes::splat(self.hunt_crossley));
        let (mu, slip_scale) = (Lanes::splat(law.friction), Lanes::splat(law.stiction_tolerance));
        // The part tau k of the force rate (dt + tau) k.
        let viscous = Lanes::splat((self.damped_step - law.step) / self.damped_step);
        let compliance = Lanes::splat(law.friction * law.friction_compliance);
        let inverse_mass = (law.friction_compliance > 0.0).then(|| InverseMass::new(&self.inverse_mass));
        for faces in &mut self.lanes {
            let vn0 = (v + w.cross(faces.p_CF)).dot(faces.normal);
            let elastic = faces.elastic_force.positive_part() - viscous * faces.force_rate * vn0;
            let n0 = step * elastic.positive_part() * (Lanes::splat(1.0) - d * vn0).positive_part();
            let slip_scale = match &inverse_mass {
                Some(inverse_mass) => slip_scale.max(compliance * inverse_mass.at(faces) * n0),
                None => slip_scale,
            };
            faces.friction_bound = mu * n0;
            faces.slip_scale_squared = slip_scale * slip_scale;
        }
        self.lag_rolling();
        self.divide_bounds();
        self.set_inverse_masses();
    }

    /// The deviation of friction from Coulomb's law at the relative velocity V of C, and the limit of the
    /// patch's friction [N s]. With the normal impulses n at V, the limit is the sum of mu n. A sliding face
    /// contributes the difference between its bound and mu n, and a sticking face only the impulse by which
    /// its friction exceeds mu n. The deviation is 0 if the bounds are right to 1 % of the limit. If rolling
    /// friction deviates by a larger part of its limit, both values are those of rolling friction, as
    /// impulses at a lever arm of 0.1 m. Without lagged bounds, friction is mu times the normal impulse of
    /// the same scheme, and both values are 0.
    pub fn friction_error(&self, V: &SpatialVelocity) -> (f64, f64) {
        if self.scheme != FaceScheme::Lagged {
            return (0.0, 0.0);
        }
        let (change, limit) = self.change_of_bounds(V);
        let sliding = (if change <= ERROR_UNSEEN * limit { 0.0 } else { self.wrong_friction(V) }, limit);
        let rolling = self.rolling_error(V);
        let part = |(impulse, limit): (f64, f64)| if impulse > 0.0 { impulse / limit } else { 0.0 };
        if part(rolling) > part(sliding) { rolling } else { sliding }
    }

    /// The sums over the faces of |mu n - bound| and of mu n [N s].
    fn change_of_bounds(&self, V: &SpatialVelocity) -> (f64, f64) {
        let (w, v) = (Lanes3::splat(&V.w), Lanes3::splat(&V.v));
        let (scale, d) = (Lanes::splat(self.law.friction * self.law.step), Lanes::splat(self.hunt_crossley));
        let (mut change, mut limit) = (LaneSum::ZERO, LaneSum::ZERO);
        for faces in &self.lanes {
            let vn = (v + w.cross(faces.p_CF)).dot(faces.normal);
            let elastic = (faces.elastic_force - faces.force_rate * vn).positive_part();
            let bound = scale * elastic * (Lanes::splat(1.0) - d * vn).positive_part();
            let more = bound - faces.friction_bound;
            change.add(more.max(-more));
            limit.add(bound);
        }
        let (mut change, limit) = (change.total(), limit.total());
        for (face, _, bound) in self.divided_faces() {
            // The sum contains mu n of the face and the old bounds of its parts instead of their difference.
            let now = self.coulomb_bound(face, V);
            change += (now - bound).abs() - now - bound;
        }
        (change, limit)
    }

    /// mu n of a face at V [N s].
    fn coulomb_bound(&self, face: usize, V: &SpatialVelocity) -> f64 {
        let (elastic, damping) = self.normal_force(face, V);
        self.law.friction * self.law.step * elastic * damping
    }

    /// The sum of the errors of [`PatchBlock::friction_error`] [N s].
    fn wrong_friction(&self, V: &SpatialVelocity) -> f64 {
        let mut divided = self.divided_faces().peekable();
        let (mut sum, mut face) = (0.0, 0);
        while face < self.len() {
            let bound = self.coulomb_bound(face, V);
            match divided.next_if(|(divided, _, _)| *divided == face) {
                Some((_, shares, _)) => {
                    for (number, share) in shares.iter().enumerate() {
                        sum += self.wrong_friction_at(face + 1 + number, share * bound, V);
                    }
                    face += shares.len();
                }
                None => sum += self.wrong_friction_at(face, bound, V),
            }
            face += 1;
        }
        sum
    }

    /// The error of the friction of one lane whose bound should be `bound` [N s].
    fn wrong_friction_at(&self, face: usize, bound: f64, V: &SpatialVelocity) -> f64 {
        let (block, lane) = (&self.lanes[face / LANES], face % LANES);
        let n = block.normal.get(lane);
        let v = V.shift(&block.p_CF.get(lane)).v + self.surface_velocity;
        let slip_squared = (v - n * v.dot(&n)).norm_squared() + block.spin_arm_squared.0[lane] * V.w.dot(&n).powi(2);
        let least_squared = block.slip_scale_squared.0[lane];
        let before = block.friction_bound.0[lane];
        if slip_squared > SLIDING * SLIDING * least_squared {
            return (before - bound).abs();
        }
        (before * (slip_squared / (slip_squared + least_squared)).sqrt() - bound).max(0.0)
    }
}

/// Errors of the bounds whose sum is below this fraction of the patch's limit count as none [-].
const ERROR_UNSEEN: f64 = 0.01;

/// Columns of J A^-1 J^T at the patch point C, the same in all lanes.
struct InverseMass {
    ww: [Lanes3; 3],
    wv: [Lanes3; 3],
    vv: [Lanes3; 3],
}

impl InverseMass {
    fn new(at_C: &Matrix6) -> Self {
        let columns = |i, j| {
            let block = at_C.fixed_view::<3, 3>(i, j);
            [0, 1, 2].map(|k| Lanes3::splat(&Vector3::from(block.column(k))))
        };
        Self { ww: columns(0, 0), wv: columns(0, 3), vv: columns(3, 3) }
    }

    /// Size |W| / 3 (Frobenius) of the inverse mass W = J_F A^-1 J_F^T of each face [1/kg],
    /// with v_F = v - [p_CF] w:
    ///   W = W_vv - [p] W_wv - ([p] W_wv)^T - [p] W_ww [p].
    #[inline(always)]
    fn at(&self, faces: &FaceLanes) -> Lanes {
        let p = faces.p_CF;
        let coupling = self.wv.map(|column| p.cross(column));
        let [x, y, z] = self.ww.map(|column| p.cross(column));
        // Rows of -[p] W_ww [p].
        let row_x = p.cross(Lanes3 { x: x.x, y: y.x, z: z.x });
        let row_y = p.cross(Lanes3 { x: x.y, y: y.y, z: z.y });
        let z_z = p.x * y.z - p.y * x.z;
        let xx = self.vv[0].x - (coupling[0].x + coupling[0].x) + row_x.x;
        let yy = self.vv[1].y - (coupling[1].y + coupling[1].y) + row_y.y;
        let zz = self.vv[2].z - (coupling[2].z + coupling[2].z) + z_z;
        let xy = self.vv[1].x - (coupling[1].x + coupling[0].y) + row_x.y;
        let xz = self.vv[2].x - (coupling[2].x + coupling[0].z) + row_x.z;
        let yz = self.vv[2].y - (coupling[2].y + coupling[1].z) + row_y.z;
        let beside = xy * xy + xz * xz + yz * yz;
        (xx * xx + yy * yy + zz * zz + beside + beside).sqrt() * Lanes::splat(1.0 / 3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{BlockDiagonal, Matrix3, SpatialVelocity, Vector6};
    use crate::solvers::{DissipationLaw, FaceInput, PatchLaw};

    const SIZE: usize = 7;

    /// A patch of eleven faces whose bodies move by seven velocities, its momentum matrix, and its faces.
    fn patch(law: PatchLaw) -> (PatchBlock, [f64; SIZE * SIZE], Vec<FaceInput>) {
        let wave = |i: usize, j: usize| ((i * 7 + j * 3) as f64).sin();
        let mut momentum_matrix = [0.0; SIZE * SIZE];
        for i in 0..SIZE {
            for j in 0..SIZE {
                momentum_matrix[i * SIZE + j] = 0.05 * (wave(i, j) + wave(j, i)) + if i == j { 0.8 } else { 0.0 };
            }
        }
        let mut block = PatchBlock::new();
        block.reset(law);
        for dof in 0..SIZE {
            block.push_column(dof as u32, Vector6::from_fn(|i, _| wave(dof + 2, i)), 0.02 * wave(dof, 5));
        }
        block.compute_weights(&BlockDiagonal::from_dense(SIZE, &momentum_matrix));
        let face = |i: usize| FaceInput {
            p_CF: Vector3::new(wave(i, 1), wave(i, 2), wave(i, 3)) * 0.3,
            normal: Vector3::new(wave(i, 4), wave(i, 5), 2.0).normalize(),
            stiffness: 200.0 + 30.0 * wave(i, 6),
            elastic_force: 3.0 * wave(i, 8),
            spin_arm_squared: 0.0,
        };
        let faces: Vec<_> = (0..11).map(face).collect();
        faces.iter().for_each(|face| block.push_face(face));
        block.lag_friction();
        (block, momentum_matrix, faces)
    }

    /// Oracle: the formulas of the law, face by face, with the whole inverse of the momentum matrix.
    #[test]
    fn bounds_and_slip_speeds_are_those_of_the_law() {
        for (dissipation, tau, d) in [
            (DissipationLaw::HuntCrossley { dissipation: 4.0 }, 0.0, 4.0),
            (DissipationLaw::Linear { relaxation_time: 0.02 }, 0.02, 0.0),
        ] {
            let law = PatchLaw {
                step: 2e-3,
                dissipation,
                friction: 0.7,
                stiction_tolerance: 1e-6,
                friction_compliance: 1e-3,
            };
            let (block, momentum_matrix, faces) = patch(law);
            let inverse =
                nalgebra::SMatrix::<f64, SIZE, SIZE>::from_row_slice(&momentum_matrix).try_inverse().expect("regular");
            let J = nalgebra::SMatrix::<f64, 6, SIZE>::from_columns(&block.jacobian.columns);
            let V0 = SpatialVelocity::from_vector(
                &(J * nalgebra::SVector::<f64, SIZE>::from_fn(|dof, _| 0.02 * ((dof * 7 + 15) as f64).sin())),
            );
            let (mut pushing, mut compliant) = (0, 0);
            for (i, face) in faces.iter().enumerate() {
                let mut J_F = nalgebra::SMatrix::<f64, 3, 6>::zeros();
                J_F.fixed_view_mut::<3, 3>(0, 0).copy_from(&-face.p_CF.cross_matrix());
                J_F.fixed_view_mut::<3, 3>(0, 3).copy_from(&Matrix3::identity());
                let w = (J_F * J * inverse * J.transpose() * J_F.transpose()).norm() / 3.0;
                let vn0 = V0.shift(&face.p_CF).v.dot(&face.normal);
                let elastic = (face.elastic_force.max(0.0) - tau * face.stiffness * vn0).max(0.0);
                let n0 = law.step * elastic * (1.0 - d * vn0).max(0.0);
                let slip = law.stiction_tolerance.max(law.friction * law.friction_compliance * w * n0);
                let (lanes, lane) = (&block.lanes[i / 4], i % 4);
                assert!((lanes.friction_bound.0[lane] - law.friction * n0).abs() < 1e-15, "{i}");
                assert!((lanes.slip_scale_squared.0[lane].sqrt() / slip - 1.0).abs() < 1e-12, "{i}");
                pushing += usize::from(n0 > 0.0);
                compliant += usize::from(slip > law.stiction_tolerance);
            }
            assert!(pushing >= 4 && pushing < faces.len() && compliant >= 4, "{pushing} {compliant}");
        }
    }
}
