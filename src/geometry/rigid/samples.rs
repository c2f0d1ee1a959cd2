//! Meshes for the tests of the search of triangles.

use std::f64::consts::TAU;

use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// A ring with a square cross-section about z, whose edges are sharp: so many sectors, the inner and outer
/// radius \[m\], and 20 mm high.
pub(super) fn ring(sectors: u32, [inner, outer]: [f64; 2]) -> SurfaceMesh {
    let corner = |k: u32| {
        let (angle, place) = (TAU * f64::from(k / 4) / f64::from(sectors), (k % 4) as usize);
        let (r, z) = ([inner, outer, outer, inner][place], [-0.01, -0.01, 0.01, 0.01][place]);
        Vector3::new(r * angle.cos(), r * angle.sin(), z)
    };
    let number = |sector: u32, place: u32| 4 * (sector % sectors) + place % 4;
    let triangles = (0..4 * sectors).flat_map(|k| {
        let (s, p) = (k / 4, k % 4);
        let [a, b, c, d] = [number(s, p), number(s + 1, p), number(s + 1, p + 1), number(s, p + 1)];
        [[a, b, c], [a, c, d]]
    });
    SurfaceMesh { vertices: (0..4 * sectors).map(corner).collect(), triangles: triangles.collect() }
}
