//! One triangle of a rigid mesh.

use super::edge_cones::EdgeCones;
use super::offset::Offset;
use crate::geometry::RigidSurface;
use crate::math::{RigidTransform, Vector3};

/// One triangle of a pair.
pub(super) struct Triangle {
    pub(super) corners: [Vector3; 3],
    pub(super) normal: Vector3,
    /// The normals beyond its convex edges.
    pub(super) beyond: [Option<Vector3>; 3],
}

impl Triangle {
    pub(super) fn of(surface: &RigidSurface, cones: &EdgeCones, element: u32) -> Self {
        Self {
            corners: surface.corners(element),
            normal: surface.normals()[element as usize],
            beyond: cones.beyond[element as usize],
        }
    }

    pub(super) fn moved(&self, X: &RigidTransform) -> Self {
        Self {
            corners: self.corners.map(|p| X.rotation * p + X.translation.vector),
            normal: X.rotation * self.normal,
            beyond: self.beyond.map(|normal| normal.map(|normal| X.rotation * normal)),
        }
    }

    pub(super) fn reach(&self, n: &Vector3) -> f64 {
        self.corners.iter().map(|p| n.dot(p)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether `n` lies between the two faces of the edge.
    pub(super) fn edge_looks_along(&self, edge: usize, n: &Vector3) -> bool {
        let Some(beyond) = self.beyond[edge] else { return false };
        let around = self.normal.cross(&beyond);
        self.normal.cross(n).dot(&around) >= 0.0 && n.cross(&beyond).dot(&around) >= 0.0
    }

    /// Whether a direction between the faces of an edge may lead to the other triangle; `sign` is 1 for the
    /// first triangle and -1 for the second.
    pub(super) fn edges_meet(&self, offset: &Offset, sign: f64) -> bool {
        (0..3).any(|edge| {
            self.beyond[edge].is_some_and(|beyond| offset.is_between(&self.normal, &beyond, &self.edge(edge), sign))
        })
    }

    pub(super) fn edge(&self, edge: usize) -> Vector3 {
        self.corners[(edge + 1) % 3] - self.corners[edge]
    }
}
