//! The forces of contact points in the last step.

use crate::math::{ByteReader, ByteWriter, BytesError, RigidTransform, Vector3};

/// A contact point of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KnownPoint {
    /// Position in the axes of the body B, or of A if B is the world \[m\].
    pub(super) p_BoF_B: Vector3,
    /// [N s].
    pub(super) normal_impulse: f64,
    /// The friction impulse on B [N s, world].
    pub(super) friction: Vector3,
}

/// A pair of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KnownPair {
    pair: u32,
    /// The end of its points.
    end: usize,
    /// The sum of its normal impulses [N s].
    normal_impulse: f64,
}

/// The points of each pair in the last step, sorted by pair, and the impulses of the rows of joints.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactMemory {
    pairs: Vec<KnownPair>,
    points: Vec<KnownPoint>,
    /// [N s, N m s].
    joints: Vec<f64>,
}

impl ContactMemory {
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.points.clear();
        self.joints.clear();
    }

    /// Adds the impulses of the rows of joints [N s, N m s].
    pub(super) fn set_joints(&mut self, impulses: &[f64]) {
        self.joints.clear();
        self.joints.extend_from_slice(impulses);
    }
    /// The impulses of the rows of joints [N s, N m s].
    pub(super) fn joints(&self) -> &[f64] {
        &self.joints
    }

    /// Adds a pair with the sum of its normal impulses [N s]; pairs come in ascending order.
    pub(super) fn push_pair(&mut self, pair: usize, normal_impulse: f64) {
        self.pairs.push(KnownPair { pair: pair as u32, end: self.points.len(), normal_impulse });
    }
    /// Adds a point of the last pair.
    pub(super) fn push(&mut self, point: KnownPoint) {
        self.points.push(point);
        if let Some(last) = self.pairs.last_mut() {
            last.end = self.points.len();
        }
    }

    fn find(&self, pair: usize) -> Option<usize> {
        self.pairs.binary_search_by_key(&(pair as u32), |known| known.pair).ok()
    }

    /// The sum of the normal impulses of `pair`; 0 if it was not in contact [N s].
    pub(super) fn normal_impulse(&self, pair: usize) -> f64 {
        self.find(pair).map_or(0.0, |index| self.pairs[index].normal_impulse)
    }

    /// The point of `pair` that was nearest to `p_WF`, if the pair had any.
    pub(super) fn nearest(&self, pair: usize, p_WF: &Vector3, X_WB: &RigidTransform) -> Option<&KnownPoint> {
        let index = self.find(pair)?;
        let start = if index == 0 { 0 } else { self.pairs[index - 1].end };
        let p_BoF_B = X_WB.inverse_transform_point(&(*p_WF).into()).coords;
        let distance = |point: &KnownPoint| (point.p_BoF_B - p_BoF_B).norm_squared();
        let points = self.points[start..self.pairs[index].end].iter();
        points.reduce(|best, point| if distance(point) < distance(best) { point } else { best })
    }

    pub(super) fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.pairs.len());
        for KnownPair { pair, end, normal_impulse } in &self.pairs {
            writer.u32(*pair);
            writer.len(*end);
            writer.f64(*normal_impulse);
        }
        writer.len(self.points.len());
        for KnownPoint { p_BoF_B, normal_impulse, friction } in &self.points {
            p_BoF_B.iter().chain(friction.iter()).for_each(|number| writer.f64(*number));
            writer.f64(*normal_impulse);
        }
        writer.len(self.joints.len());
        self.joints.iter().for_each(|impulse| writer.f64(*impulse));
    }

    /// Reads the output of [`ContactMemory::write`] for a scene of `pairs` pairs.
    pub(super) fn read(&mut self, pairs: usize, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.clear();
        for _ in 0..reader.len(20)? {
            let (pair, end, normal_impulse) = (reader.u32()?, reader.u64()? as usize, reader.finite()?);
            let (last, start) = self.pairs.last().map_or((None, 0), |known| (Some(known.pair), known.end));
            if pair as usize >= pairs || last.is_some_and(|last| last >= pair) || end < start {
                return Err(BytesError::Invalid);
            }
            self.pairs.push(KnownPair { pair, end, normal_impulse });
        }
        for _ in 0..reader.len(56)? {
            let mut vector = || Ok(Vector3::new(reader.finite()?, reader.finite()?, reader.finite()?));
            let (p_BoF_B, friction) = (vector()?, vector()?);
            self.points.push(KnownPoint { p_BoF_B, friction, normal_impulse: reader.finite()? });
        }
        if self.pairs.last().map_or(0, |known| known.end) != self.points.len() {
            return Err(BytesError::Invalid);
        }
        for _ in 0..reader.len(8)? {
            self.joints.push(reader.finite()?);
        }
        Ok(())
    }
}
