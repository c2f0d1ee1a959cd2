//! Memory that contact queries reuse.

use super::FaceRepresentation;
use crate::geometry::{FacePlane, LinearPressure};
use crate::math::Vector3;

/// The working memory of contact queries. One for all pairs is enough; one for each pair, kept from step to step, leaves
/// room to start from the last step's faces. Nothing in it changes a result.
#[derive(Clone, Debug, Default)]
pub struct HydroelasticWorkspace {
    /// How intersections become faces.
    pub representation: FaceRepresentation,
    /// Elements of the outer geometry that can touch the inner one, sorted.
    pub(super) near: Vec<u32>,
    /// The tetrahedra of a compliant outer geometry, in the inner one's frame.
    pub(super) tets: Vec<OuterTet>,
    /// The triangles of a rigid outer geometry, in the inner one's frame.
    pub(super) triangles: Vec<OuterTriangle>,
    /// Pairs that meet: the element of A in the upper half, that of B in the lower; an outer element is named by its
    /// position in `tets` or `triangles`, which follow the order of elements.
    pub(super) pairs: Vec<u64>,
}

impl HydroelasticWorkspace {
    /// A workspace without memory yet.
    pub fn new(representation: FaceRepresentation) -> Self {
        Self { representation, ..Self::default() }
    }

    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.tets.clear();
        self.triangles.clear();
        self.pairs.clear();
    }
}

/// A tetrahedron of the outer geometry in the frame M of the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterTet {
    pub(super) element: u32,
    pub(super) corners_M: [Vector3; 4],
    pub(super) corner_pressures: [f64; 4],
    pub(super) pressure_M: LinearPressure,
}

/// A triangle of the outer geometry in the frame M of the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterTriangle {
    pub(super) element: u32,
    pub(super) corners_M: [Vector3; 3],
    pub(super) plane_M: FacePlane,
}

/// Joins the elements of a pair so that sorting sorts by A first.
#[inline]
pub(super) fn pair_key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// The two halves of [`pair_key`].
#[inline]
pub(super) fn split_key(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}
