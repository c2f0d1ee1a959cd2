//! Spheres and ellipsoids: a refined octahedron with one vertex in the middle.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use crate::geometry::{SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// The largest number of refinements of the octahedron: 8 * 4^7 = 131072 triangles.
const LEVEL_MAX: u32 = 7;

/// The number of times to halve the edges of an octahedron in a sphere of radius `radius` \[m\] for edges of
/// `resolution` \[m\]: a great circle has 4 * 2^L edges, and each spans at most the angle 2 asin(resolution /
/// 2 radius).
fn level(radius: f64, resolution: f64) -> u32 {
    let half_angle = (resolution / (2.0 * radius)).min(1.0).asin();
    let halvings = (PI / half_angle).log2().ceil() - 2.0;
    // A float cast saturates.
    (halvings.max(0.0) as u32).min(LEVEL_MAX)
}

/// The surface of the unit sphere as an octahedron whose edges are halved `level` times, with the new
/// vertices on the sphere.
fn unit_sphere(level: u32) -> SurfaceMesh {
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let mut vertices = vec![x, y, -x, -y, z, -z];
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]];
    for _ in 0..level {
        let mut middles = BTreeMap::new();
        let mut middle = |a: u32, b: u32| -> u32 {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                vertices.push((vertices[a as usize] + vertices[b as usize]).normalize());
                vertices.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    SurfaceMesh { vertices, triangles }
}

/// An ellipsoid with semi-axes `semi_axes` \[m\]: 8 * 4^L tetrahedra from the surface to the centre, which is
/// the last vertex. The edges of a sphere whose radius is the longest semi-axis are at most `resolution`
/// \[m\] long.
pub fn ellipsoid(semi_axes: &Vector3, resolution: f64) -> VolumeMesh {
    let mut surface = unit_sphere(level(semi_axes.max(), resolution));
    for vertex in &mut surface.vertices {
        vertex.component_mul_assign(semi_axes);
    }
    super::star::star(&surface, Vector3::zeros())
}

/// A sphere of radius `radius` \[m\], as [`ellipsoid`].
pub fn sphere(radius: f64, resolution: f64) -> VolumeMesh {
    ellipsoid(&Vector3::repeat(radius), resolution)
}
