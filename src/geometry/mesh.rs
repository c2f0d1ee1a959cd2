//! Triangle and tetrahedral meshes as plain arrays.

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
