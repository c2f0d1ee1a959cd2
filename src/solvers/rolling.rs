//! Rolling friction of contact points.
//!
//! With wt the part of the angular velocity of B relative to A that is tangential to the point's plane, the
//! coefficient c \[m\], the normal impulse n0 and s^2 = |wt|^2 + ws^2:
//!   tau = -c n0 wt / s   [N m s].
//! n0 is fixed in each solve, like the bounds of sliding friction. The torque is then the negative gradient
//! of the convex potential c n0 s. It does not depend on sliding, and its bound does not depend on mu.

use super::patch_block::{PatchBlock, RollingPoint, SLIDING};
use crate::math::lanes::LANES;
use crate::math::{Matrix6, SpatialForce, SpatialVelocity, Vector3, Vector6};

/// ws is the stiction tolerance over this lever \[m\]. At it, wrong torques count as forces.
const LEVER: f64 = 0.1;

impl PatchBlock {
    /// Makes the last face resist rolling, with the coefficient `coefficient` \[m\].
    pub fn push_rolling_friction(&mut self, coefficient: f64) {
        if let Some(face) = self.len().checked_sub(1) {
            self.rolling.push(RollingPoint { face, coefficient, bound: 0.0 });
        }
    }

    fn normal(&self, face: usize) -> Vector3 {
        self.lanes[face / LANES].normal.get(face % LANES)
    }

    /// ws [rad/s].
    fn slow_rolling(&self) -> f64 {
        self.law.stiction_tolerance / LEVER
    }

    /// The bound, n, wt and s of each point.
    fn rolling_points(&self, V: &SpatialVelocity) -> impl Iterator<Item = (&RollingPoint, Vector3, Vector3, f64)> {
        let (w, slow) = (V.w, self.slow_rolling());
        self.rolling.iter().map(move |point| {
            let n = self.normal(point.face);
            let wt = w - n * n.dot(&w);
            (point, n, wt, wt.norm().hypot(slow))
        })
    }

    /// Impulse on B of rolling friction.
    pub(super) fn rolling_impulse(&self, V: &SpatialVelocity) -> SpatialForce {
        let torque = self.rolling_points(V).map(|(point, _, wt, s)| wt * (-point.bound / s)).sum();
        SpatialForce::new(torque, Vector3::zeros())
    }

    /// Adds (c n0/s)(1 - n n^T - t t^T) with t = wt/s to the block of w.
    pub(super) fn add_rolling_hessian(&self, V: &SpatialVelocity, hessian: &mut Matrix6) {
        for (point, n, wt, s) in self.rolling_points(V) {
            let (t, k) = (wt / s, point.bound / s);
            for i in 0..3 {
                for j in 0..3 {
                    let one = if i == j { 1.0 } else { 0.0 };
                    hessian[(i, j)] += k * (one - n[i] * n[j] - t[i] * t[j]);
                }
            }
        }
    }

    /// The face of each point, its coefficient \[m\], and (wt/s; 0).
    pub(super) fn rolling_arms(&self, V: &SpatialVelocity) -> impl Iterator<Item = (usize, f64, Vector6)> {
        self.rolling_points(V).map(|(point, _, wt, s)| {
            let arm = wt / s;
            (point.face, point.coefficient, Vector6::new(arm.x, arm.y, arm.z, 0.0, 0.0, 0.0))
        })
    }

    /// The sum of c n0 s \[J\].
    pub(super) fn rolling_potential(&self, V: &SpatialVelocity) -> f64 {
        self.rolling_points(V).map(|(point, _, _, s)| point.bound * s).sum()
    }

    /// Fixes the bounds at the velocities at the start of the step.
    pub(super) fn lag_rolling(&mut self) {
        let (law, V0) = (self.law, self.V0);
        for number in 0..self.rolling.len() {
            let RollingPoint { face, coefficient, .. } = self.rolling[number];
            let (block, lane) = (&self.lanes[face / LANES], face % LANES);
            let vn0 = V0.shift(&block.p_CF.get(lane)).v.dot(&block.normal.get(lane));
            let viscous = (self.damped_step - law.step) / self.damped_step * block.force_rate.0[lane];
            let elastic = (block.elastic_force.0[lane].max(0.0) - viscous * vn0).max(0.0);
            let n0 = law.step * elastic * (1.0 - self.hunt_crossley * vn0).max(0.0);
            self.rolling[number].bound = coefficient * n0;
        }
    }

    /// Fixes the bounds at the normal impulses at V.
    pub(super) fn refresh_rolling(&mut self, V: &SpatialVelocity) {
        for number in 0..self.rolling.len() {
            let RollingPoint { face, coefficient, .. } = self.rolling[number];
            self.rolling[number].bound = coefficient * self.normal_impulse(face, V);
        }
    }

    /// The deviation of rolling friction from its law at V, and its limit, as forces at [`LEVER`] [N s]. A
    /// point that rolls contributes the difference of its bound from c n. A point that does not roll
    /// contributes only the torque above c n.
    pub(super) fn rolling_error(&self, V: &SpatialVelocity) -> (f64, f64) {
        let (mut wrong, mut limit) = (0.0, 0.0);
        for (point, _, wt, s) in self.rolling_points(V) {
            let now = point.coefficient * self.normal_impulse(point.face, V);
            let rolls = wt.norm() > SLIDING * self.slow_rolling();
            let torque = point.bound * wt.norm() / s;
            wrong += if rolls { (point.bound - now).abs() } else { (torque - now).max(0.0) };
            limit += now;
        }
        (wrong / LEVER, limit / LEVER)
    }
}
