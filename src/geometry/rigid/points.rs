//! Contact points.

use crate::math::Vector3;

/// Contact points, sorted by position; each has one entry in every array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointContacts {
    /// Positions, halfway between the two surfaces [m, world].
    pub p_WC: Vec<Vector3>,
    /// Unit normals from A into B [-, world].
    pub normal: Vec<Vector3>,
    /// Signed distances \[m\]: negative where the shapes overlap.
    pub phi: Vec<f64>,
}

impl PointContacts {
    /// The number of points.
    pub fn len(&self) -> usize {
        self.phi.len()
    }
    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.phi.is_empty()
    }
    /// Removes all points and keeps the memory.
    pub fn clear(&mut self) {
        self.p_WC.clear();
        self.normal.clear();
        self.phi.clear();
    }
}

/// A candidate for a contact point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointContact {
    pub(super) p: Vector3,
    pub(super) normal: Vector3,
    pub(super) phi: f64,
}
