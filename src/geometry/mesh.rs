//! Triangle and tetrahedral meshes as plain arrays.

use super::GeometryError;
use crate::math::Vector3;

/// A triangle mesh in its geometry's frame; outward normals follow the right-hand rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    /// Vertex positions [m].
    pub vertices: Vec<Vector3>,
    /// Vertex indices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A tetrahedral mesh in its geometry's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeMesh {
    /// Vertex positions [m].
    pub vertices: Vec<Vector3>,
    /// Vertex indices of each tetrahedron (a, b, c, d) with ((b-a) x (c-a)) . (d-a) > 0.
    pub tets: Vec<[u32; 4]>,
}

/// Refuses a position that is not finite.
pub(crate) fn check_vertices(vertices: &[Vector3]) -> Result<(), GeometryError> {
    match vertices.iter().position(|position| !position.iter().all(|x| x.is_finite())) {
        Some(vertex) => Err(GeometryError::NotFinite { what: "position", vertex }),
        None => Ok(()),
    }
}

/// Refuses an element that names a vertex which does not exist.
pub(crate) fn check_indices<'a>(
    elements: impl Iterator<Item = &'a [u32]>,
    vertices: usize,
) -> Result<(), GeometryError> {
    for (element, corners) in elements.enumerate() {
        if let Some(&vertex) = corners.iter().find(|corner| **corner as usize >= vertices) {
            return Err(GeometryError::VertexIndex { element, vertex, vertices });
        }
    }
    Ok(())
}
