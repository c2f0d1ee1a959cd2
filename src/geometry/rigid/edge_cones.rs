//! The neighbouring faces at the edges of the triangles of a rigid surface.

use std::collections::BTreeMap;

use crate::geometry::RigidSurface;
use crate::math::Vector3;

/// An edge is flat and gives no axis if the sine of the angle between the normals of its faces is smaller
/// than this. [-]
const FLAT_EDGE: f64 = 1e-3;

/// For each edge of each triangle (a-b, b-c, c-a) the normal of the face on the other side, if the edge is
/// convex.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgeCones {
    pub(super) beyond: Vec<[Option<Vector3>; 3]>,
}

impl EdgeCones {
    pub(super) fn new(surface: &RigidSurface) -> Self {
        let mesh = surface.mesh();
        // Files that store separate triangles repeat their vertices; equal positions are merged.
        let mut numbers = BTreeMap::new();
        let vertex: Vec<usize> = mesh
            .vertices
            .iter()
            .map(|p| {
                let next = numbers.len();
                *numbers.entry([p.x, p.y, p.z].map(|x| (x + 0.0).to_bits())).or_insert(next)
            })
            .collect();
        let mut owner = BTreeMap::new();
        for (element, triangle) in mesh.triangles.iter().enumerate() {
            for edge in 0..3 {
                let ends = (vertex[triangle[edge] as usize], vertex[triangle[(edge + 1) % 3] as usize]);
                owner.insert(ends, element);
            }
        }
        let beyond = |element: usize, edge: usize| {
            let triangle = mesh.triangles[element];
            let (from, to) = (triangle[edge] as usize, triangle[(edge + 1) % 3] as usize);
            let normal = surface.normals()[element];
            let neighbour = surface.normals()[*owner.get(&(vertex[to], vertex[from]))?];
            let along = (mesh.vertices[to] - mesh.vertices[from]).try_normalize(0.0)?;
            (normal.cross(&neighbour).dot(&along) > FLAT_EDGE).then_some(neighbour)
        };
        let beyond = (0..mesh.triangles.len()).map(|element| [0, 1, 2].map(|edge| beyond(element, edge))).collect();
        Self { beyond }
    }
}
