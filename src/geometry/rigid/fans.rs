//! The triangles around each vertex of a mesh, and the edges and corners of the mesh that are nearest to a
//! point outside.

use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// Part of a triangle that is nearest to a point: edge i goes from corner i to corner i + 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Face,
    Edge(usize),
    Corner(usize),
}

/// For each vertex the triangles that use it, in one list.
#[derive(Clone, Debug, Default)]
pub(super) struct Fans {
    first: Vec<u32>,
    triangles: Vec<u32>,
}

impl Fans {
    pub(super) fn new(mesh: &SurfaceMesh) -> Self {
        let mut first = vec![0; mesh.vertices.len() + 1];
        mesh.triangles.iter().flatten().for_each(|vertex| first[*vertex as usize + 1] += 1);
        for vertex in 1..first.len() {
            first[vertex] += first[vertex - 1];
        }
        let mut next = first.clone();
        let mut triangles = vec![0; 3 * mesh.triangles.len()];
        for (number, vertex) in mesh.triangles.iter().zip(0..).flat_map(|(t, number)| t.map(|vertex| (number, vertex)))
        {
            triangles[next[vertex as usize] as usize] = number;
            next[vertex as usize] += 1;
        }
        Self { first, triangles }
    }

    fn around(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.triangles[self.first[vertex] as usize..self.first[vertex + 1] as usize]
    }

    /// Whether `part` of a triangle, an edge or a corner with its point `nearest` to `p`, is nearest to `p`
    /// of all triangles that meet there, and `p` lies outside \[m\]. `slack` \[m²\] is the rounding of
    /// products of lengths. The side is that of the sum of the normals, at corners weighted by the angles
    /// [Bærentzen & Aanæs 2005].
    pub(super) fn faces(
        &self,
        mesh: &SurfaceMesh,
        normals: &[Vector3],
        (element, part): (u32, Part),
        (p, nearest): (&Vector3, &Vector3),
        slack: f64,
    ) -> bool {
        let corners = mesh.triangles[element as usize];
        let at = |vertex: u32| mesh.vertices[vertex as usize];
        let to = p - nearest;
        let mut normal = Vector3::zeros();
        match part {
            Part::Face => return true,
            Part::Edge(edge) => {
                let (from, end) = (corners[edge], corners[(edge + 1) % 3]);
                let along = at(end) - at(from);
                for triangle in self.around(from) {
                    let others = mesh.triangles[*triangle as usize];
                    let Some(third) = others.into_iter().find(|v| *v != from && *v != end) else { continue };
                    if !others.contains(&end) {
                        continue;
                    }
                    let across = at(third) - at(from);
                    let inward = across - along * (across.dot(&along) / along.norm_squared());
                    if to.dot(&inward) > slack {
                        return false;
                    }
                    normal += normals[*triangle as usize];
                }
            }
            Part::Corner(corner) => {
                let vertex = corners[corner];
                for triangle in self.around(vertex) {
                    let [a, b, c] = mesh.triangles[*triangle as usize];
                    let (b, c) = if a == vertex {
                        (b, c)
                    } else if b == vertex {
                        (c, a)
                    } else {
                        (a, b)
                    };
                    let (along, across) = (at(b) - at(vertex), at(c) - at(vertex));
                    if to.dot(&along) > slack || to.dot(&across) > slack {
                        return false;
                    }
                    normal += normals[*triangle as usize] * along.angle(&across);
                }
            }
        }
        normal.dot(&to) > 0.0
    }
}
