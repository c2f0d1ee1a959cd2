//! Numbers that look random and are the same in every run.

use super::Rotation;
#[cfg(any(test, feature = "experiments"))]
use super::Vector3;

/// The number of integers of 53 bits, all of which a float holds exactly. [-]
const STEPS: f64 = (1_u64 << 53) as f64;

/// The generator SplitMix64 [Steele, Lea and Flood 2014].
pub(crate) struct Random(u64);

impl Random {
    /// The increment of the state: 2^64 over the golden ratio.
    const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The sequence of `seed` without its first `count` numbers.
    pub(crate) fn after(seed: u64, count: u64) -> Self {
        Self(seed.wrapping_add(count.wrapping_mul(Self::INCREMENT)))
    }

    /// Uniform in [0, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(Self::INCREMENT);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / STEPS
    }

    /// Uniform in [-1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }

    /// A uniform rotation: the direction of a uniform point of the ball in four dimensions.
    pub(crate) fn rotation(&mut self) -> Rotation {
        /// Points nearer to the centre have no exact direction.
        const LENGTH_MIN: f64 = 1e-3;
        loop {
            let q = [0; 4].map(|_| self.signed());
            let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (LENGTH_MIN..=1.0).contains(&length) {
                let q = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
                return nalgebra::UnitQuaternion::from_quaternion(q).to_rotation_matrix();
            }
        }
    }
}

#[cfg(any(test, feature = "experiments"))]
impl Random {
    /// Each component uniform in [-1, 1).
    pub(crate) fn vector(&mut self) -> Vector3 {
        Vector3::new(self.signed(), self.signed(), self.signed())
    }

    /// Log-uniform between two positive numbers.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }

    /// One of 0, 1, ..., `count` - 1.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize % count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the definition of the generator, whose state after `count` numbers is seed + count increments.
    #[test]
    fn a_sequence_continues_after_its_first_numbers() {
        for (seed, count) in [(0, 0), (7, 3), (u64::MAX, 100)] {
            let mut random = Random::new(seed);
            (0..count).for_each(|_| assert!((0.0..1.0).contains(&random.next())));
            assert_eq!(Random::after(seed, count).next().to_bits(), random.next().to_bits());
        }
    }
}
