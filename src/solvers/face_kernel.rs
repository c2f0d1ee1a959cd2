//! The sum over a patch's faces: the only part of a Newton iteration that grows with the number of faces.
//!
//! v = v_F is the velocity of B relative to A at the face. u is the velocity of B's surface relative to
//! body B, minus that of A's surface relative to body A; if it has a spin, n.w below contains it too. With
//! vn = n.v, vt = (v + u) - n n.(v + u), the spin wn = n.w about the normal, and
//! s^2 = |vt|^2 + rho^2 wn^2 + eps^2:
//!   gamma_n = dt (fe0 - (dt + tau) k vn)+ (1 - d vn)+      [N s]     normal [Masterjohn 2022, eqs. 13-16]
//!   gamma_t = -mu n0 vt / s                                [N s]     lagged regularized Coulomb friction
//!   tau_n = -mu n0 rho^2 wn / s                            [N m s]   its torque about the face's own normal
//! All fall monotonically with the velocity, so they are the negative gradient of a convex potential. Its
//! Hessian in v is  G = (mu n0 / s)(1 - n n^T - t t^T) - gamma_n' n n^T  with t = vt / s. Spin adds, with
//! z = rho^2 wn / s,
//!   (mu n0 / s)(rho^2 - z^2) in (wn, wn)  and  -(mu n0 / s) z t in (wn, v).

use super::face_scheme::FaceScheme;
use super::patch_block::{ClosureRow, FaceLanes, PatchBlock};
use crate::math::lanes::{LANES, LaneSum, LaneSum3, Lanes, Lanes3};
use crate::math::{Matrix6, SpatialForce, SpatialVelocity, Vector3, Vector6};

/// Velocity and impulse of [`LANES`] faces.
pub(super) struct FaceImpulse {
    /// Impulse on B [N s].
    pub(super) gamma: Lanes3,
    /// Tangential velocity over its regularized norm [-].
    pub(super) t: Lanes3,
    /// 1/s \[s/m\].
    pub(super) inverse_s: Lanes,
    /// mu n0 / s \[kg\].
    pub(super) kt: Lanes,
    /// rho^2 wn / s \[m\].
    pub(super) z: Lanes,
    /// -d gamma_n / d vn \[kg\].
    pub(super) kn: Lanes,
}

/// `EXTRAS` states whether some face has a spin arm, or the surface moves at `u`.
#[inline(always)]
pub(super) fn face_impulse<const EXTRAS: bool>(
    faces: &FaceLanes,
    (w, v_C, [u_w, u]): (Lanes3, Lanes3, [Lanes3; 2]),
    step: Lanes,
    hunt_crossley: Lanes,
) -> FaceImpulse {
    let n = faces.normal;
    let v = v_C + w.cross(faces.p_CF);
    let vn = v.dot(n);
    let mut vt = v - n.scale(vn);
    if EXTRAS {
        let u = u + u_w.cross(faces.p_CF);
        vt = vt + u - n.scale(u.dot(n));
    }
    let mut s_squared = vt.dot(vt) + faces.slip_scale_squared;
    let mut z = Lanes::ZERO;
    if EXTRAS {
        let wn = (w + u_w).dot(n);
        z = faces.spin_arm_squared * wn;
        s_squared = s_squared + z * wn;
    }
    let inverse_s = s_squared.inverse_sqrt();
    z = z * inverse_s;
    let fe = (faces.elastic_force - faces.force_rate * vn).positive_part();
    let damping = (Lanes::splat(1.0) - hunt_crossley * vn).positive_part();
    let pushes = fe.is_positive() * damping.is_positive();
    let kt = faces.friction_bound * inverse_s;
    FaceImpulse {
        gamma: n.scale(step * fe * damping) - vt.scale(kt),
        t: vt.scale(inverse_s),
        inverse_s,
        kt,
        z,
        kn: pushes * step * (faces.force_rate * damping + hunt_crossley * fe),
    }
}

impl PatchBlock {
    /// Net contact impulse on B about C [N m s, N s] at the relative velocity V of C.
    pub fn impulse(&self, V: &SpatialVelocity) -> SpatialForce {
        let faces = match self.scheme {
            FaceScheme::Lagged => self.faces_impulse(V),
            _ => self.scheme_impulse(V),
        };
        let faces = if self.closure.is_empty() { faces } else { faces + self.closure_impulse(V) };
        if self.rolling.is_empty() { faces } else { faces + self.rolling_impulse(V) }
    }

    /// Impulse on B of the rows of a closure.
    fn closure_impulse(&self, V: &SpatialVelocity) -> SpatialForce {
        let V = V.to_vector();
        let of = |row: &ClosureRow| row.row * (row.weight * (row.target - row.row.dot(&V)));
        let sum: Vector6 = self.closure.iter().map(of).sum();
        SpatialForce::from_vector(&sum)
    }

    /// The velocities, the step and the dissipation of [`face_impulse`] at the relative velocity V of C.
    #[inline(always)]
    pub(super) fn kernel_arguments(&self, V: &SpatialVelocity) -> ((Lanes3, Lanes3, [Lanes3; 2]), Lanes, Lanes) {
        let surface = [&self.surface_spin, &self.surface_velocity].map(Lanes3::splat);
        let velocities = (Lanes3::splat(&V.w), Lanes3::splat(&V.v), surface);
        (velocities, Lanes::splat(self.law.step), Lanes::splat(self.hunt_crossley))
    }

    /// The impulse of the faces alone, with fixed bounds of friction.
    pub(super) fn faces_impulse(&self, V: &SpatialVelocity) -> SpatialForce {
        if self.spins { self.sum_impulse::<true>(V) } else { self.sum_impulse::<false>(V) }
    }

    fn sum_impulse<const EXTRAS: bool>(&self, V: &SpatialVelocity) -> SpatialForce {
        let (at, step, d) = self.kernel_arguments(V);
        let (mut tau, mut f) = (LaneSum3::ZERO, LaneSum3::ZERO);
        for faces in &self.lanes {
            let FaceImpulse { gamma, z, .. } = face_impulse::<EXTRAS>(faces, at, step, d);
            f.add(gamma);
            tau.add(faces.p_CF.cross(gamma));
            if EXTRAS {
                tau.add(faces.normal.scale(-(faces.friction_bound * z)));
            }
        }
        SpatialForce::new(tau.total(), f.total())
    }

    /// Net contact impulse on B about C [N m s, N s]. `hessian` becomes the 6x6 Hessian of the patch's
    /// potential in V [kg m2, kg m, kg].
    pub fn impulse_and_hessian(&self, V: &SpatialVelocity, hessian: &mut Matrix6) -> SpatialForce {
        let faces = match (self.scheme, self.spins) {
            (FaceScheme::Lagged, false) => self.sum_hessian::<false>(V, hessian),
            (FaceScheme::Lagged, true) => self.sum_hessian::<true>(V, hessian),
            _ => self.scheme_hessian(V, hessian),
        };
        self.with_other_terms(V, faces, hessian)
    }

    /// Adds the terms of rolling and of loop closures.
    pub(super) fn with_other_terms(
        &self,
        V: &SpatialVelocity,
        faces: SpatialForce,
        hessian: &mut Matrix6,
    ) -> SpatialForce {
        if !self.rolling.is_empty() {
            self.add_rolling_hessian(V, hessian);
            return faces + self.rolling_impulse(V);
        }
        if self.closure.is_empty() {
            return faces;
        }
        for ClosureRow { row, weight, .. } in &self.closure {
            *hessian += row * (row * *weight).transpose();
        }
        faces + self.closure_impulse(V)
    }

    fn sum_hessian<const EXTRAS: bool>(&self, V: &SpatialVelocity, hessian: &mut Matrix6) -> SpatialForce {
        let (at, step, d) = self.kernel_arguments(V);
        let (mut tau, mut f) = (LaneSum3::ZERO, LaneSum3::ZERO);
        let mut sums = HessianSums::ZERO;
        for faces in &self.lanes {
            let impulse = face_impulse::<EXTRAS>(faces, at, step, d);
            f.add(impulse.gamma);
            tau.add(faces.p_CF.cross(impulse.gamma));
            sums.add(faces, &impulse);
            if EXTRAS {
                tau.add(faces.normal.scale(-(faces.friction_bound * impulse.z)));
                sums.add_spin(faces, &impulse);
            }
        }
        *hessian = sums.to_matrix();
        SpatialForce::new(tau.total(), f.total())
    }

    /// The potential of the patch at V \[J\], without Hunt-Crossley dissipation; its negative gradient is the
    /// impulse.
    ///   sum of (dt/(2 r)) (fe0 - r vn)+^2 + mu n0 s   with r = -d fe / d vn, the force rate.
    pub fn potential(&self, V: &SpatialVelocity) -> f64 {
        debug_assert_eq!(self.hunt_crossley, 0.0, "this is not the potential of Hunt-Crossley dissipation");
        let ((w, v, [u_w, u]), ..) = self.kernel_arguments(V);
        let mut total = self.rolling_potential(V);
        for ClosureRow { row, weight, target } in &self.closure {
            total += 0.5 * weight * (target - row.dot(&V.to_vector())).powi(2);
        }
        for faces in &self.lanes {
            let v = v + w.cross(faces.p_CF);
            let vn = v.dot(faces.normal);
            let u = u + u_w.cross(faces.p_CF);
            let vt = v + u - faces.normal.scale(vn + u.dot(faces.normal));
            let fe = (faces.elastic_force - faces.force_rate * vn).positive_part();
            let wn = (w + u_w).dot(faces.normal);
            let slip_squared = vt.dot(vt) + faces.slip_scale_squared + faces.spin_arm_squared * wn * wn;
            for lane in 0..LANES {
                let rate = faces.force_rate.0[lane];
                if rate > 0.0 {
                    total += 0.5 * self.law.step * fe.0[lane] * fe.0[lane] / rate;
                }
                total += faces.friction_bound.0[lane] * slip_squared.0[lane].sqrt();
            }
        }
        total
    }

    /// Computes the contact force on B of each face [N, world], in the order in which the faces were pushed.
    /// The torque of a face about its own normal is only in the patch's impulse.
    pub fn face_forces(&self, V: &SpatialVelocity, forces: &mut Vec<Vector3>) {
        let (at, step, d) = self.kernel_arguments(V);
        forces.clear();
        if self.scheme != FaceScheme::Lagged {
            forces.extend((0..self.len()).map(|face| self.scheme_face_impulse(face, V).0 / self.law.step));
            return;
        }
        for faces in &self.lanes {
            let gamma = face_impulse::<true>(faces, at, step, d).gamma;
            for lane in 0..LANES.min(self.len() - forces.len()) {
                forces.push(gamma.get(lane) / self.law.step);
            }
        }
    }
}

/// Sums of the 21 different entries of the 6x6 Hessian: with c = p_CF and
/// v = v_C + w x c = [1, -[c]] (v_C; w),
///   H_vv = sum G,   H_wv = sum [c] G,   H_ww = -sum [c] G [c].
pub(super) struct HessianSums {
    ww: [LaneSum; 6],
    wv: [LaneSum; 9],
    vv: [LaneSum; 6],
}

impl HessianSums {
    pub(super) const ZERO: Self = Self { ww: [LaneSum::ZERO; 6], wv: [LaneSum::ZERO; 9], vv: [LaneSum::ZERO; 6] };

    #[inline(always)]
    fn add(&mut self, faces: &FaceLanes, impulse: &FaceImpulse) {
        let FaceImpulse { t, kt, kn, .. } = *impulse;
        let (n, c) = (faces.normal, faces.p_CF);
        let a = kn - kt; // weight of n n^T
        let (an, at) = (n.scale(a), t.scale(kt));
        // Rows of the symmetric G.
        let xx = kt + an.x * n.x - at.x * t.x;
        let xy = an.x * n.y - at.x * t.y;
        let xz = an.x * n.z - at.x * t.z;
        let yy = kt + an.y * n.y - at.y * t.y;
        let yz = an.y * n.z - at.y * t.z;
        let zz = kt + an.z * n.z - at.z * t.z;
        self.add_at(c, [xx, xy, xz, yy, yz, zz]);
    }

    /// Adds a face at `c` with the upper triangle of its G.
    #[inline(always)]
    pub(super) fn add_at(&mut self, c: Lanes3, [xx, xy, xz, yy, yz, zz]: [Lanes; 6]) {
        // Columns of B = [c] G; its rows times [c]^T give the rotational block.
        let bx = c.cross(Lanes3 { x: xx, y: xy, z: xz });
        let by = c.cross(Lanes3 { x: xy, y: yy, z: yz });
        let bz = c.cross(Lanes3 { x: xz, y: yz, z: zz });
        let row_x = c.cross(Lanes3 { x: bx.x, y: by.x, z: bz.x });
        let row_y = c.cross(Lanes3 { x: bx.y, y: by.y, z: bz.y });
        let row_z_z = c.x * by.z - c.y * bx.z;
        add_all(&mut self.ww, [row_x.x, row_x.y, row_x.z, row_y.y, row_y.z, row_z_z]);
        add_all(&mut self.wv, [bx.x, by.x, bz.x, bx.y, by.y, bz.y, bx.z, by.z, bz.z]);
        add_all(&mut self.vv, [xx, xy, xz, yy, yz, zz]);
    }

    /// Adds the terms of spin about the normals: vt.t depends on w by c x t, and wn by n.
    #[inline(always)]
    fn add_spin(&mut self, faces: &FaceLanes, impulse: &FaceImpulse) {
        let FaceImpulse { t, kt, z, .. } = *impulse;
        let n = faces.normal;
        let nz = n.scale(-(kt * z));
        let nr = n.scale(kt * (faces.spin_arm_squared - z * z));
        self.add_spin_terms(faces, nr, nz, t);
    }

    /// Adds nr n^T in (w, w) and nz t^T in (w, vt).
    #[inline(always)]
    pub(super) fn add_spin_terms(&mut self, faces: &FaceLanes, nr: Lanes3, nz: Lanes3, t: Lanes3) {
        let n = faces.normal;
        let ct = faces.p_CF.cross(t);
        add_all(
            &mut self.ww,
            [
                nr.x * n.x + nz.x * ct.x + ct.x * nz.x,
                nr.x * n.y + nz.x * ct.y + ct.x * nz.y,
                nr.x * n.z + nz.x * ct.z + ct.x * nz.z,
                nr.y * n.y + nz.y * ct.y + ct.y * nz.y,
                nr.y * n.z + nz.y * ct.z + ct.y * nz.z,
                nr.z * n.z + nz.z * ct.z + ct.z * nz.z,
            ],
        );
        let rows = [nz.x, nz.y, nz.z].map(|nz| [nz * t.x, nz * t.y, nz * t.z]);
        let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = rows;
        add_all(&mut self.wv, [xx, xy, xz, yx, yy, yz, zx, zy, zz]);
    }

    #[inline(always)]
    pub(super) fn to_matrix(&self) -> Matrix6 {
        // Each row of wv is a row of the upper right block.
        let [xx, xy, xz, yy, yz, zz] = self.ww.map(LaneSum::total);
        let [x_vx, x_vy, x_vz, y_vx, y_vy, y_vz, z_vx, z_vy, z_vz] = self.wv.map(LaneSum::total);
        let [vxx, vxy, vxz, vyy, vyz, vzz] = self.vv.map(LaneSum::total);
        Matrix6::from([
            [xx, xy, xz, x_vx, x_vy, x_vz],
            [xy, yy, yz, y_vx, y_vy, y_vz],
            [xz, yz, zz, z_vx, z_vy, z_vz],
            [x_vx, y_vx, z_vx, vxx, vxy, vxz],
            [x_vy, y_vy, z_vy, vxy, vyy, vyz],
            [x_vz, y_vz, z_vz, vxz, vyz, vzz],
        ])
    }
}

#[inline(always)]
fn add_all<const N: usize>(sums: &mut [LaneSum; N], terms: [Lanes; N]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        sum.add(term);
    }
}

#[cfg(test)]
mod tests {
    use super::super::DissipationLaw;
    use super::super::samples::{push_uneven_faces, start_patch};
    use super::*;

    fn patch(dissipation: DissipationLaw, arm: f64) -> PatchBlock {
        let mut block = start_patch(dissipation, 0.0);
        push_uneven_faces(&mut block, arm);
        block.lag_friction();
        block
    }

    /// The Hessian is minus the derivative of the impulse: central differences, whose error is of the order
    /// h^2.
    #[test]
    fn hessian_is_the_derivative_of_the_impulse() {
        let laws =
            [DissipationLaw::HuntCrossley { dissipation: 3.0 }, DissipationLaw::Linear { relaxation_time: 0.02 }];
        for (law, arm) in laws.into_iter().flat_map(|law| [0.0, 0.01].map(|arm| (law, arm))) {
            let block = patch(law, arm);
            let V = Vector6::new(0.3, -0.2, 0.4, 0.01, 0.02, -0.03);
            let mut H = Matrix6::zeros();
            let impulse = block.impulse_and_hessian(&SpatialVelocity::from_vector(&V), &mut H);
            assert_eq!(impulse, block.impulse(&SpatialVelocity::from_vector(&V)));
            let h = 1e-6;
            for j in 0..6 {
                let at = |sign: f64| {
                    let mut shifted = V;
                    shifted[j] += sign * h;
                    block.impulse(&SpatialVelocity::from_vector(&shifted)).to_vector()
                };
                let column = (at(-1.0) - at(1.0)) / (2.0 * h);
                let error = (column - H.column(j)).norm();
                assert!(error < 1e-7 * H.norm(), "{law:?}, arm {arm} m, column {j}: {error:e}");
            }
        }
    }

    /// The sum of the face forces is the force of the patch's wrench.
    #[test]
    fn face_forces_sum_to_the_wrench() {
        let block = patch(DissipationLaw::HuntCrossley { dissipation: 1.0 }, 0.01);
        let V = SpatialVelocity::new(Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.1, 0.0, -0.02));
        let mut forces = Vec::new();
        block.face_forces(&V, &mut forces);
        assert_eq!(forces.len(), 11);
        let total: Vector3 = forces.iter().sum();
        assert!((total * 1e-2 - block.impulse(&V).f).norm() < 1e-14);
    }
}
