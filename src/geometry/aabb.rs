//! Axis-aligned boxes.

use crate::math::{Matrix3, RigidTransform, Vector3};

/// An axis-aligned box in some frame; empty if `min > max` on an axis, unbounded on an axis with infinite
/// bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest coordinates \[m\].
    pub min: Vector3,
    /// Largest coordinates \[m\].
    pub max: Vector3,
}

impl Aabb {
    /// An empty box, which grows with [`Aabb::include`].
    pub const EMPTY: Self = Self {
        min: Vector3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        max: Vector3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };
    /// The unbounded box: the bound of a half space.
    pub const EVERYTHING: Self = Self { min: Self::EMPTY.max, max: Self::EMPTY.min };

    /// The smallest box around `points`.
    pub fn around<'a>(points: impl IntoIterator<Item = &'a Vector3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |mut bounds, point| {
            bounds.include(point);
            bounds
        })
    }
    /// Grows the box to hold `point`.
    #[inline]
    pub fn include(&mut self, point: &Vector3) {
        self.min = self.min.inf(point);
        self.max = self.max.sup(point);
    }
    /// The smallest box around both.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }
    /// The intersection; empty if they are apart.
    #[inline]
    pub fn intersection(&self, other: &Self) -> Self {
        Self { min: self.min.sup(&other.min), max: self.max.inf(&other.max) }
    }
    /// The box with every side moved out by `distance` \[m\].
    #[inline]
    pub fn grown(&self, distance: f64) -> Self {
        Self { min: self.min.add_scalar(-distance), max: self.max.add_scalar(distance) }
    }
    /// Whether the boxes share a point.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && self.max.x >= other.min.x
            && self.min.y <= other.max.y
            && self.max.y >= other.min.y
            && self.min.z <= other.max.z
            && self.max.z >= other.min.z
    }
    /// Whether the box and a ball share a point.
    #[inline]
    pub(crate) fn overlaps_ball(&self, center: &Vector3, radius: f64) -> bool {
        (center - center.sup(&self.min).inf(&self.max)).norm_squared() <= radius * radius
    }
    /// Whether the box is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x || self.min.y > self.max.y || self.min.z > self.max.z
    }
    /// The middle of a bounded box \[m\].
    #[inline]
    pub fn center(&self) -> Vector3 {
        (self.min + self.max) * 0.5
    }
    /// Half the edge lengths of a bounded box \[m\].
    #[inline]
    pub fn half_extents(&self) -> Vector3 {
        (self.max - self.min) * 0.5
    }
    /// The box in A around this box, which is given in B. Infinite bounds stay infinite.
    pub fn transformed(&self, X_AB: &RigidTransform) -> Self {
        if self.is_empty() || !self.half_extents().iter().all(|extent| extent.is_finite()) {
            return *self;
        }
        let center = X_AB * nalgebra::Point3::from(self.center());
        let half = absolute(X_AB.rotation.matrix()) * self.half_extents();
        Self { min: center.coords - half, max: center.coords + half }
    }
}

/// The matrix of absolute values, which maps half extents under a rotation.
pub(crate) fn absolute(matrix: &Matrix3) -> Matrix3 {
    matrix.map(f64::abs)
}
