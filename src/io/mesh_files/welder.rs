//! One vertex for all corners at the same position.

use std::collections::BTreeMap;

use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// Collects triangles by their corners' positions; equal positions become one vertex, in order of first
/// appearance.
#[derive(Default)]
pub(super) struct Welder {
    mesh: SurfaceMesh,
    index: BTreeMap<[u64; 3], u32>,
}

impl Welder {
    fn vertex(&mut self, position: Vector3) -> u32 {
        // Adding zero makes -0 and 0 the same bits.
        let key = [position.x, position.y, position.z].map(|x| (x + 0.0).to_bits());
        let next = self.mesh.vertices.len() as u32;
        let index = *self.index.entry(key).or_insert(next);
        if index == next {
            self.mesh.vertices.push(position);
        }
        index
    }

    pub(super) fn triangle(&mut self, corners: [Vector3; 3]) {
        let [a, b, c] = corners.map(|corner| self.vertex(corner));
        if a != b && b != c && c != a {
            self.mesh.triangles.push([a, b, c]);
        }
    }

    pub(super) fn finish(self) -> SurfaceMesh {
        self.mesh
    }
}
