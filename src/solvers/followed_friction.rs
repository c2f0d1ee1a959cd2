//! Friction that follows the normal force of the same velocity: the part of the derivative of a patch's
//! impulse that fixed bounds leave out.
//!
//! With the bound mu gamma_n(vn) of the face in place of mu n0, the impulse gamma_t = -mu gamma_n t and the
//! torque tau_n = -mu gamma_n z depend on vn, too. With k = -d gamma_n/d vn, a = (c x t + z n; t) and
//! b = (c x n; n), minus the derivative in V gains
//!   -mu k a b^T   [kg m2, kg m, kg],
//! which is not symmetric. Rolling friction gains -c k (wt/s; 0) b^T.

use super::patch_block::PatchBlock;
use crate::math::lanes::LANES;
use crate::math::{Matrix6, SpatialVelocity, Vector3, Vector6};

impl PatchBlock {
    /// Minus the derivative in V of the impulse by the bounds of friction, if these are mu times the normal
    /// impulses at V. [`PatchBlock::impulse_and_hessian`] has the derivative with fixed bounds.
    pub fn followed_hessian(&self, V: &SpatialVelocity) -> Matrix6 {
        let (mut sum, mut face) = (Matrix6::zeros(), 0);
        let mut divided = self.divided_faces().peekable();
        while face < self.len() {
            let response = self.normal_response(face, V);
            match divided.next_if(|(divided, _, _)| *divided == face) {
                Some((_, shares, _)) => {
                    for (number, share) in shares.iter().enumerate() {
                        add_product(
                            &mut sum,
                            self.law.friction * share,
                            self.slip_arm(face + 1 + number, V),
                            &response,
                        );
                    }
                    face += shares.len();
                }
                None => add_product(&mut sum, self.law.friction, self.slip_arm(face, V), &response),
            }
            face += 1;
        }
        self.rolling_arms(V).for_each(|(face, coefficient, arm)| {
            add_product(&mut sum, coefficient, arm, &self.normal_response(face, V));
        });
        sum
    }

    /// k b of a face: minus the derivative of its normal impulse in V.
    fn normal_response(&self, face: usize, V: &SpatialVelocity) -> Option<Vector6> {
        let (elastic, damping) = self.normal_force(face, V);
        if elastic <= 0.0 || damping <= 0.0 {
            return None;
        }
        let (block, lane) = (&self.lanes[face / LANES], face % LANES);
        let k = self.law.step * (block.force_rate.0[lane] * damping + self.hunt_crossley * elastic);
        let (p, n) = (block.p_CF.get(lane), block.normal.get(lane));
        Some(wrench(&p.cross(&n), &n) * k)
    }

    /// a of a face.
    fn slip_arm(&self, face: usize, V: &SpatialVelocity) -> Vector6 {
        let (block, lane) = (&self.lanes[face / LANES], face % LANES);
        let (p, n) = (block.p_CF.get(lane), block.normal.get(lane));
        let v = V.shift(&p).v + self.surface_velocity;
        let vt = v - n * v.dot(&n);
        let (wn, arm_squared) = (V.w.dot(&n), block.spin_arm_squared.0[lane]);
        let s = (vt.norm_squared() + block.slip_scale_squared.0[lane] + arm_squared * wn * wn).sqrt();
        let t = vt / s;
        wrench(&(p.cross(&t) + n * (arm_squared * wn / s)), &t)
    }
}

fn wrench(tau: &Vector3, f: &Vector3) -> Vector6 {
    Vector6::new(tau.x, tau.y, tau.z, f.x, f.y, f.z)
}

fn add_product(sum: &mut Matrix6, scale: f64, arm: Vector6, response: &Option<Vector6>) {
    if let Some(response) = response {
        sum.ger(-scale, &arm, response, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::DissipationLaw;
    use super::super::patch_block::FrictionPart;
    use super::super::samples::{push_uneven_faces, start_patch};
    use super::*;

    /// With the Hessian of fixed bounds, it is minus the derivative of the impulse with bounds that follow:
    /// central differences, of sliding, spinning and rolling faces, and of faces with friction at parts.
    #[test]
    fn the_whole_derivative_is_that_of_the_impulse_whose_bounds_follow() {
        let laws =
            [DissipationLaw::HuntCrossley { dissipation: 3.0 }, DissipationLaw::Linear { relaxation_time: 0.02 }];
        for (law, arm) in laws.into_iter().flat_map(|law| [0.0, 0.01].map(|arm| (law, arm))) {
            let mut block = start_patch(law, 0.0);
            push_uneven_faces(&mut block, arm);
            for (x, share) in [(0.1, 0.3), (-0.2, 0.7)] {
                let p_CF = Vector3::new(x, 0.1, 0.0);
                block.push_friction_part(&FrictionPart { p_CF, share, spin_arm_squared: arm });
            }
            block.lag_friction();
            let V = Vector6::new(0.3, -0.2, 0.4, 0.01, 0.02, -0.03);
            let mut follow = |V: &Vector6| {
                block.refresh_friction(&SpatialVelocity::from_vector(V));
                block.impulse(&SpatialVelocity::from_vector(V)).to_vector()
            };
            let h = 1e-6;
            let differences: Vec<Vector6> = (0..6)
                .map(|j| (follow(&(V - Vector6::ith(j, h))) - follow(&(V + Vector6::ith(j, h)))) / (2.0 * h))
                .collect();
            follow(&V);
            let V = SpatialVelocity::from_vector(&V);
            let (mut H, followed) = (Matrix6::zeros(), block.followed_hessian(&V));
            block.impulse_and_hessian(&V, &mut H);
            assert!(followed.norm() > 1e-2 * H.norm(), "{law:?}: {:e} of {:e}", followed.norm(), H.norm());
            for (j, column) in differences.iter().enumerate() {
                let error = (column - (H + followed).column(j)).norm();
                assert!(error < 1e-7 * H.norm(), "{law:?}, arm {arm} m, column {j}: {error:e} of {:e}", H.norm());
            }
        }
    }
}
