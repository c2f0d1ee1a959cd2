//! Impacts of rigid points with restitution.
//!
//! A first solution of the step is without restitution. The points that push in it and whose bodies
//! approach each other before the contact are in impact. In a second solution they end the step with Newton's
//! law,
//!   vn = -e vn0,
//! where vn0 is the velocity before the contact, without the weight of the step.
//! The springs of the points reach this velocity with f = (fe0 - (dt + tau) k vn)+ and fe0 = (dt + tau) k e
//! |vn0|: the problem remains convex, and the error of vn is that of near-rigid springs, below 1/3000.

use super::patch_block::{Impact, PatchBlock};
use crate::math::SpatialVelocity;
use crate::math::lanes::LANES;

/// If the factor of the restitution is at most this, the next reduction sets it to 0 [-].
const BOUNCE_MIN: f64 = 0.3;

impl PatchBlock {
    /// Finds the faces in impact: those that push at the relative velocity V of C, and approach at more than
    /// `least` [m/s] at the velocity `before` the contact. Returns whether there are any.
    pub fn find_impacts(&mut self, V: &SpatialVelocity, before: &SpatialVelocity, least: f64) -> bool {
        self.impacts.clear();
        self.bounce = 1.0;
        self.work_most = self.work(V, before).max(0.0);
        for face in 0..self.len() {
            let (block, lane) = (&self.lanes[face / LANES], face % LANES);
            let speed = -before.shift(&block.p_CF.get(lane)).v.dot(&block.normal.get(lane));
            if speed > least && self.normal_impulse(face, V) > 0.0 {
                self.impacts.push(Impact { face, speed, elastic_force: block.elastic_force.0[lane] });
            }
        }
        !self.impacts.is_empty()
    }

    /// Sets the restitution of the faces in impact: e [-] times the factor that
    /// [`PatchBlock::reduce_restitution`] has found.
    pub fn set_restitution(&mut self, e: f64) {
        let restitution = self.bounce * e;
        for Impact { face, speed, elastic_force } in &self.impacts {
            let (block, lane) = (&mut self.lanes[face / LANES], face % LANES);
            let bounce = block.force_rate.0[lane] * restitution * speed;
            block.elastic_force.0[lane] = if restitution > 0.0 { elastic_force.max(bounce) } else { *elastic_force };
        }
    }

    /// The work \[J\] of the patch's impulse on its bodies and on moving surfaces, if the step ends with the
    /// relative velocity V of C. It is the impulse times the mean of V and of the velocity `before` the
    /// contact, which is without the weight of the step. The energy that steps conserve without contact,
    /// T + U - dt/2 times the power of the weight, changes by this work. The drives of moving surfaces add to
    /// it.
    fn work(&self, V: &SpatialVelocity, before: &SpatialVelocity) -> f64 {
        let impulse = self.impulse(V);
        let moved = 0.5 * (V.v + before.v) + self.surface_velocity;
        0.5 * impulse.tau.dot(&(V.w + before.w)) + impulse.f.dot(&moved)
    }

    /// If the contact gains energy in a step that ends with V, reduces the restitution of the patch to a
    /// half, then to a quarter, then to 0. Returns whether it gains energy.
    pub fn reduce_restitution(&mut self, V: &SpatialVelocity, before: &SpatialVelocity) -> bool {
        let gains = !self.impacts.is_empty() && self.bounce > 0.0 && self.work(V, before) > self.work_most;
        if gains {
            self.bounce = if self.bounce > BOUNCE_MIN { 0.5 * self.bounce } else { 0.0 };
        }
        gains
    }
}
