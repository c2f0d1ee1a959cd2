//! Recovery of contact points from overlaps that are not due to a load.

use super::patch_block::PatchBlock;
use crate::math::SpatialVelocity;
use crate::math::lanes::LANES;

/// A point that recovers as far as it may has its stiffness divided by this number, so that its force in a
/// jam is that many times smaller. The force of a free body still makes it part with 98 % of the speed.
/// [-]
const SOFTER: f64 = 64.0;

/// The loads of the contact points of a pair at the end of a step. The force with which points recover from
/// an overlap is no load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointLoads {
    /// The largest normal impulse of a point [N s].
    pub largest: f64,
    /// The sum of the squares of the normal impulses of the points [N2 s2].
    pub square: f64,
}

impl PointLoads {
    /// Adds the normal impulse of a point [N s].
    pub fn add(&mut self, impulse: f64) {
        self.largest = self.largest.max(impulse);
        self.square += impulse * impulse;
    }
}

impl PatchBlock {
    /// Adds the largest recovery of the next face \[m\], for [`PatchBlock::recover`]. Call it for all
    /// faces of a patch or for none.
    pub fn push_recovery(&mut self, most: f64) {
        self.recoveries.push(most);
    }

    /// Multiplies the elastic forces of the faces, which are those of the loads, by `share` if they push,
    /// and adds the force of their recoveries. The recovery r is the part of the `depths` \[m\] of the
    /// faces at the start that their loads do not explain, or the largest recovery R if that is less. The
    /// force is k r, but at most k R/64, with the stiffness that belongs to it.
    pub fn recover(&mut self, share: f64, depths: impl Iterator<Item = f64>) {
        for (face, (recovery, depth)) in self.recoveries.iter_mut().zip(depths).enumerate() {
            let (block, lane) = (&mut self.lanes[face / LANES], face % LANES);
            let (force, rate) = (&mut block.elastic_force.0[lane], &mut block.force_rate.0[lane]);
            let stiffness = *rate / self.damped_step;
            if *force > 0.0 {
                *force *= share;
            }
            let unexplained = if stiffness > 0.0 { (depth - *force / stiffness).max(0.0) } else { 0.0 };
            let most = std::mem::replace(recovery, recovery.min(unexplained));
            let softer = (most / (SOFTER * *recovery)).min(1.0);
            if *recovery > 0.0 {
                *rate *= softer;
                *force += softer * stiffness * *recovery;
            }
        }
    }

    /// The loads of the points at the end of a step that ends with the relative velocity V of C. The force
    /// of a recovery that did not take place, k (r - dt vn), is left out: in a jam it would add up over
    /// the steps.
    pub fn point_loads(&self, V: &SpatialVelocity) -> PointLoads {
        let mut loads = PointLoads::default();
        for face in 0..self.len() {
            let (block, lane) = (&self.lanes[face / LANES], face % LANES);
            let vn = V.shift(&block.p_CF.get(lane)).v.dot(&block.normal.get(lane));
            let speed = self.recoveries.get(face).map_or(0.0, |recovery| recovery / self.damped_step);
            let lacks = block.force_rate.0[lane] * (speed - vn).clamp(0.0, speed);
            loads.add((self.normal_impulse(face, V) - self.law.step * lacks).max(0.0));
        }
        loads
    }
}
