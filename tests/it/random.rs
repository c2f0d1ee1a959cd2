//! Numbers that look random and are the same in every run.

use isobar::math::{RigidTransform, Rotation, Vector3};

/// The linear congruential generator of MMIX [Knuth, The Art of Computer Programming, volume 2, 3.3.4];
/// of its 64 bits the upper 53 are used.
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of that seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [-1, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// One of 0, 1, ..., `count` - 1.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((0.5 + 0.5 * self.next()) * count as f64) as usize % count
    }

    /// Each component uniform in [-1, 1).
    pub(crate) fn vector(&mut self) -> Vector3 {
        Vector3::new(self.next(), self.next(), self.next())
    }

    /// A position within `reach` of the origin along each axis, and a rotation vector within 3 rad along
    /// each.
    pub(crate) fn pose(&mut self, reach: f64) -> RigidTransform {
        RigidTransform::from_parts((self.vector() * reach).into(), Rotation::new(self.vector() * 3.0))
    }
}
