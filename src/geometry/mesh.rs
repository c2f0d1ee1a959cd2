//! Triangle and tetrahedral meshes as plain arrays.

use crate::math::Vector3;

/// A defect in the arrays of a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A vertex quantity that is not finite.
    #[error("the {what} of vertex {vertex} is not finite: repair the mesh file")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// Number of the vertex, counted from 0.
        vertex: usize,
    },
    /// An element names a vertex that does not exist.
    #[error("element {element} of the mesh names vertex {vertex}, but there are only {vertices}: repair the mesh file")]
    VertexIndex {
        /// Number of the element, counted from 0.
        element: usize,
        /// The vertex it names.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
}

/// A triangle mesh in its geometry's frame; outward normals follow the right-hand rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    /// Vertex positions \[m\].
    pub vertices: Vec<Vector3>,
    /// Vertex indices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A tetrahedral mesh in its geometry's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeMesh {
    /// Vertex positions \[m\].
    pub vertices: Vec<Vector3>,
    /// Vertex indices of each tetrahedron (a, b, c, d) with ((b-a) x (c-a)) . (d-a) > 0.
    pub tets: Vec<[u32; 4]>,
}

/// Refuses a position that is not finite.
pub(crate) fn check_vertices(vertices: &[Vector3]) -> Result<(), MeshError> {
    match vertices.iter().position(|position| !position.iter().all(|x| x.is_finite())) {
        Some(vertex) => Err(MeshError::NotFinite { what: "position", vertex }),
        None => Ok(()),
    }
}

/// Refuses an element that names a vertex which does not exist.
pub(crate) fn check_indices<'a>(elements: impl Iterator<Item = &'a [u32]>, vertices: usize) -> Result<(), MeshError> {
    for (element, corners) in elements.enumerate() {
        if let Some(&vertex) = corners.iter().find(|corner| **corner as usize >= vertices) {
            return Err(MeshError::VertexIndex { element, vertex, vertices });
        }
    }
    Ok(())
}
