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

/// The points of two faces: the deepest, and a ball around all.
#[derive(Clone, Copy, Debug)]
pub(super) struct FacePair {
    pub(super) phi: f64,
    pub(super) normal: Vector3,
    pub(super) center: Vector3,
    pub(super) radius: f64,
    /// Their numbers.
    pub(super) range: [u32; 2],
}

impl FacePair {
    pub(super) fn of(points: &[PointContact], range: [u32; 2]) -> Option<Self> {
        let deepest = points.iter().min_by(|a, b| a.phi.total_cmp(&b.phi))?;
        let center = points.iter().map(|point| point.p).sum::<Vector3>() / points.len() as f64;
        let radius = points.iter().map(|point| (point.p - center).norm()).fold(0.0, f64::max);
        Some(Self { phi: deepest.phi, normal: deepest.normal, center, radius, range })
    }
}
