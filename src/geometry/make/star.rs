//! Tessellations around one inner vertex, and medial tessellations in general.

use crate::geometry::{SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// Tetrahedra from each triangle of a closed surface to `center`, which becomes the last vertex.
pub fn star(surface: &SurfaceMesh, center: Vector3) -> VolumeMesh {
    let mut vertices = surface.vertices.clone();
    let last = vertices.len() as u32;
    vertices.push(center);
    // A triangle is counter-clockwise from outside, so from inside it turns the other way.
    VolumeMesh { vertices, tets: surface.triangles.iter().map(|&[a, b, c]| [a, c, b, last]).collect() }
}

/// A tessellation whose vertices from index `on_surface` on lie on the medial axis, and the distance of these
/// to the surface \[m\].
pub(super) struct MedialMesh {
    pub(super) mesh: VolumeMesh,
    pub(super) on_surface: usize,
    pub(super) depth: f64,
}

impl MedialMesh {
    pub(super) fn star(mesh: VolumeMesh, depth: f64) -> Self {
        Self { on_surface: mesh.vertices.len() - 1, mesh, depth }
    }
}
