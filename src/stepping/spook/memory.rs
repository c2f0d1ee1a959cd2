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

/// The points of each pair in the last step, sorted by pair.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactMemory {
    /// (pair, end of its points).
    pairs: Vec<(u32, usize)>,
    points: Vec<KnownPoint>,
}

impl ContactMemory {
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.points.clear();
    }

    /// Adds a point of `pair`; pairs come in ascending order.
    pub(super) fn push(&mut self, pair: usize, point: KnownPoint) {
        self.points.push(point);
        match self.pairs.last_mut() {
            Some((last, end)) if *last == pair as u32 => *end = self.points.len(),
            _ => self.pairs.push((pair as u32, self.points.len())),
        }
    }

    /// The point of `pair` that was nearest to `p_WF`, if the pair had any.
    pub(super) fn nearest(&self, pair: usize, p_WF: &Vector3, X_WB: &RigidTransform) -> Option<&KnownPoint> {
        let index = self.pairs.binary_search_by_key(&(pair as u32), |(pair, _)| *pair).ok()?;
        let start = if index == 0 { 0 } else { self.pairs[index - 1].1 };
        let p_BoF_B = X_WB.inverse_transform_point(&(*p_WF).into()).coords;
        let distance = |point: &KnownPoint| (point.p_BoF_B - p_BoF_B).norm_squared();
        let points = self.points[start..self.pairs[index].1].iter();
        points.reduce(|best, point| if distance(point) < distance(best) { point } else { best })
    }

    pub(super) fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.pairs.len());
        for (pair, end) in &self.pairs {
            writer.u32(*pair);
            writer.len(*end);
        }
        writer.len(self.points.len());
        for KnownPoint { p_BoF_B, normal_impulse, friction } in &self.points {
            p_BoF_B.iter().chain(friction.iter()).for_each(|number| writer.f64(*number));
            writer.f64(*normal_impulse);
        }
    }

    /// Reads what [`ContactMemory::write`] wrote for a scene of `pairs` pairs.
    pub(super) fn read(&mut self, pairs: usize, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.clear();
        for _ in 0..reader.len(12)? {
            let (pair, end) = (reader.u32()?, reader.u64()? as usize);
            let (last, start) = self.pairs.last().map_or((None, 0), |(pair, end)| (Some(*pair), *end));
            if pair as usize >= pairs || last.is_some_and(|last| last >= pair) || end < start {
                return Err(BytesError::Invalid);
            }
            self.pairs.push((pair, end));
        }
        for _ in 0..reader.len(56)? {
            let mut vector = || Ok(Vector3::new(reader.finite()?, reader.finite()?, reader.finite()?));
            let (p_BoF_B, friction) = (vector()?, vector()?);
            self.points.push(KnownPoint { p_BoF_B, friction, normal_impulse: reader.finite()? });
        }
        if self.pairs.last().map_or(0, |(_, end)| *end) != self.points.len() {
            return Err(BytesError::Invalid);
        }
        Ok(())
    }
}
