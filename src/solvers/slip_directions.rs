//! Directions of slip as unknowns of their own, for solves in which many faces change between sticking and
//! slipping.
//!
//! The friction impulse -mu n0 u / s of a face, with u = (vt, rho wn) and s^2 = |u|^2 + eps^2, turns within
//! |u| ~ eps, so its linearization at one point is poor at the next one. As in total-variation denoising
//! [Chan, Golub & Mulet 1999], the direction y = u / s is an unknown instead: Newton's method on s y = u is
//! smooth where that on y = u / s is not. Elimination of y leaves the same gradient, and in place of the
//! Hessian (mu n0 / s) (1 - t t^T) with t = u / s
//!   (mu n0 / s) (1 - (y t^T + t y^T) / 2),
//! which has no negative eigenvalue for |y| <= 1. Near the solution y approaches t, and the solver converges
//! as Newton's method does.

use super::face_kernel::{FaceImpulse, HessianSums, face_impulse};
use super::face_scheme::FaceScheme;
use super::patch_block::PatchBlock;
use crate::math::lanes::{Lanes, Lanes3};
use crate::math::{Matrix6, SpatialForce, SpatialVelocity};

/// The directions y of [`LANES`](crate::math::lanes::LANES) faces.
#[derive(Clone, Copy, Debug)]
pub struct SlipDirections {
    /// The tangential part [-].
    t: Lanes3,
    /// rho times the part of spin \[m\].
    z: Lanes,
}

impl SlipDirections {
    const NONE: Self = Self { t: Lanes3::ZERO, z: Lanes::ZERO };
}

/// Keeps the spin part finite for faces without a spin arm \[m2\].
const ARM_SQUARED_MIN: f64 = 1e-200;

impl PatchBlock {
    /// Whether the patch has directions of slip: only patches of the lagged scheme do.
    fn has_slip_directions(&self) -> bool {
        self.scheme == FaceScheme::Lagged
    }

    /// The number of items that [`PatchBlock::push_slip_directions`] adds.
    pub fn slip_direction_count(&self) -> usize {
        if self.has_slip_directions() { self.lanes.len() } else { 0 }
    }

    /// Adds the directions of all faces to `out`, as if none of them slipped.
    pub fn push_slip_directions(&self, out: &mut Vec<SlipDirections>) {
        out.resize(out.len() + self.slip_direction_count(), SlipDirections::NONE);
    }

    /// The same as [`PatchBlock::impulse_and_hessian`] with the Hessian of the `directions`.
    pub fn impulse_and_hessian_with(
        &self,
        V: &SpatialVelocity,
        directions: &[SlipDirections],
        hessian: &mut Matrix6,
    ) -> SpatialForce {
        if !self.has_slip_directions() {
            return self.impulse_and_hessian(V, hessian);
        }
        let faces = match self.spins {
            false => self.sum_hessian_with::<false>(V, directions, hessian),
            true => self.sum_hessian_with::<true>(V, directions, hessian),
        };
        self.with_other_terms(V, faces, hessian)
    }

    fn sum_hessian_with<const EXTRAS: bool>(
        &self,
        V: &SpatialVelocity,
        directions: &[SlipDirections],
        hessian: &mut Matrix6,
    ) -> SpatialForce {
        let (at, step, d) = self.kernel_arguments(V);
        let half = Lanes::splat(0.5);
        let mut sums = HessianSums::ZERO;
        for (faces, y) in self.lanes.iter().zip(directions) {
            let FaceImpulse { t, kt, z, kn, .. } = face_impulse::<EXTRAS>(faces, at, step, d);
            let n = faces.normal;
            let (an, at, ay) = (n.scale(kn - kt), t.scale(half * kt), y.t.scale(half * kt));
            let xx = kt + an.x * n.x - at.x * y.t.x - ay.x * t.x;
            let xy = an.x * n.y - at.x * y.t.y - ay.x * t.y;
            let xz = an.x * n.z - at.x * y.t.z - ay.x * t.z;
            let yy = kt + an.y * n.y - at.y * y.t.y - ay.y * t.y;
            let yz = an.y * n.z - at.y * y.t.z - ay.y * t.z;
            let zz = kt + an.z * n.z - at.z * y.t.z - ay.z * t.z;
            sums.add_at(faces.p_CF, [xx, xy, xz, yy, yz, zz]);
            if EXTRAS {
                let nr = n.scale(kt * (faces.spin_arm_squared - z * y.z));
                let q = y.t.scale(z) + t.scale(y.z);
                sums.add_spin_terms(faces, nr, n.scale(-(half * kt)), q);
            }
        }
        *hessian = sums.to_matrix();
        self.faces_impulse(V)
    }

    /// Updates the directions from the relative velocity V of C to V_next, by the Newton step in y.
    pub fn follow_slip_directions(
        &self,
        V: &SpatialVelocity,
        V_next: &SpatialVelocity,
        directions: &mut [SlipDirections],
    ) {
        if !self.has_slip_directions() {
            return;
        }
        let (at, step, d) = self.kernel_arguments(V);
        let (w, v) = (Lanes3::splat(&(V_next.w - V.w)), Lanes3::splat(&(V_next.v - V.v)));
        for (faces, y) in self.lanes.iter().zip(directions) {
            let FaceImpulse { t, z, inverse_s, .. } = face_impulse::<true>(faces, at, step, d);
            let n = faces.normal;
            let change = v + w.cross(faces.p_CF);
            let change = change - n.scale(change.dot(n));
            let spin = w.dot(n);
            let along = t.dot(change) + z * spin;
            let next = t + (change - y.t.scale(along)).scale(inverse_s);
            let next_z = z + (faces.spin_arm_squared * spin - y.z * along) * inverse_s;
            let arm = (faces.spin_arm_squared + Lanes::splat(ARM_SQUARED_MIN)).inverse_sqrt();
            let scaled = next_z * arm;
            let size = next.dot(next) + scaled * scaled;
            let shrink = size.max(Lanes::splat(1.0)).inverse_sqrt();
            *y = SlipDirections { t: next.scale(shrink), z: next_z * shrink };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vector6;
    use crate::solvers::DissipationLaw;
    use crate::solvers::samples::{push_uneven_faces, start_patch};

    fn patch(arm: f64) -> PatchBlock {
        let mut block = start_patch(DissipationLaw::HuntCrossley { dissipation: 3.0 }, 0.0);
        push_uneven_faces(&mut block, arm);
        block.lag_friction();
        block
    }

    fn velocity(scale: f64, number: usize) -> SpatialVelocity {
        SpatialVelocity::from_vector(&Vector6::from_fn(|i, _| scale * ((7 * number + 3 * i) as f64).sin()))
    }

    /// Oracle: the Hessian of the potential, whose directions are u/s. A second Newton step in y from a point
    /// to itself gives these directions.
    #[test]
    fn directions_of_the_velocity_give_the_hessian() {
        for arm in [0.0, 0.01] {
            let (block, V) = (patch(arm), velocity(0.05, 1));
            let mut directions = Vec::new();
            block.push_slip_directions(&mut directions);
            block.follow_slip_directions(&V, &V, &mut directions);
            let (mut with, mut without) = (Matrix6::zeros(), Matrix6::zeros());
            let impulses = [
                block.impulse_and_hessian_with(&V, &directions, &mut with),
                block.impulse_and_hessian(&V, &mut without),
            ];
            assert_eq!(impulses[0], impulses[1]);
            assert!((with - without).norm() < 1e-12 * without.norm(), "{arm}: {with} {without}");
        }
    }

    /// The directions stay within the unit ball for steps of any length. The Hessian therefore has no
    /// negative eigenvalues except by rounding, and no step is a direction of ascent.
    #[test]
    fn no_step_makes_the_hessian_indefinite() {
        for arm in [0.0, 0.01] {
            let block = patch(arm);
            let mut directions = Vec::new();
            block.push_slip_directions(&mut directions);
            let mut V = velocity(1e-3, 0);
            for number in 1..200 {
                let next = velocity([1e-3, 0.1, 3.0][number % 3], number);
                block.follow_slip_directions(&V, &next, &mut directions);
                V = next;
                let mut hessian = Matrix6::zeros();
                block.impulse_and_hessian_with(&V, &directions, &mut hessian);
                assert!((hessian - hessian.transpose()).norm() <= 1e-12 * hessian.norm());
                let least = hessian.symmetric_eigenvalues().min();
                assert!(least > -1e-12 * hessian.norm(), "{arm}, {number}: {least}");
            }
        }
    }
}
