//! Closed surfaces with known volumes.

use std::f64::consts::TAU;

use isobar::geometry::SurfaceMesh;
use isobar::geometry::make::{boundary, sphere};
use isobar::math::{Rotation, Vector3};

pub(crate) fn ball(radius: f64, hint: f64) -> SurfaceMesh {
    boundary(&sphere(radius, hint)).unwrap()
}

/// A box with half edges `half` [m].
pub(crate) fn cuboid(half: Vector3) -> SurfaceMesh {
    prism(
        &[[-half.x, -half.y], [half.x, -half.y], [half.x, half.y], [-half.x, half.y]],
        half.z,
        &[[0, 1, 2], [0, 2, 3]],
    )
}

/// An L of two arms, 4 cm wide, 10 cm long, 3 cm thick, with its corner at the origin.
pub(crate) fn ell() -> SurfaceMesh {
    let outline = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.04], [0.04, 0.04], [0.04, 0.1], [0.0, 0.1]];
    prism(&outline, 0.015, &[[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]])
}

/// A bridge that stands on z = 0 with soles of 20 mm by 30 mm, 30 mm from the middle at their inner edges.
pub(super) fn bridge() -> SurfaceMesh {
    let outline = [
        [-0.05, 0.0],
        [-0.03, 0.0],
        [-0.03, 0.04],
        [0.03, 0.04],
        [0.03, 0.0],
        [0.05, 0.0],
        [0.05, 0.06],
        [-0.05, 0.06],
    ];
    let caps = [[0, 1, 2], [0, 2, 7], [2, 6, 7], [2, 3, 6], [3, 4, 5], [3, 5, 6]];
    let flat = prism(&outline, 0.015, &caps);
    let upright = |x: &Vector3| Vector3::new(x.x, -x.z, x.y);
    SurfaceMesh { vertices: flat.vertices.iter().map(upright).collect(), triangles: flat.triangles }
}

/// The prism of an outline (counter-clockwise) from z = -half to half.
pub(crate) fn prism(outline: &[[f64; 2]], half: f64, caps: &[[u32; 3]]) -> SurfaceMesh {
    let count = outline.len() as u32;
    let at = |z: f64| outline.iter().map(move |[x, y]| Vector3::new(*x, *y, z));
    let mut triangles: Vec<[u32; 3]> = caps.iter().map(|&[a, b, c]| [a, c, b]).collect();
    triangles.extend(caps.iter().map(|cap| cap.map(|vertex| vertex + count)));
    for i in 0..count {
        let j = (i + 1) % count;
        triangles.extend([[i, j, j + count], [i, j + count, i + count]]);
    }
    SurfaceMesh { vertices: at(-half).chain(at(half)).collect(), triangles }
}

/// A cube of 10 cm around a cubic hole of 4 cm.
pub(super) fn box_with_cavity() -> SurfaceMesh {
    let mut surface = cuboid(Vector3::new(0.05, 0.05, 0.05));
    let hole = cuboid(Vector3::new(0.02, 0.02, 0.02));
    let first = surface.vertices.len() as u32;
    surface.vertices.extend(hole.vertices);
    surface.triangles.extend(hole.triangles.iter().map(|[a, b, c]| [a + first, c + first, b + first]));
    surface
}

/// A torus with radii 5 cm and 2 cm.
pub(super) fn torus() -> SurfaceMesh {
    ring(0.05, 0.02, 72, 36)
}

/// A torus about z of `radius` to the middle of its tube and `tube` of the tube [m], with so many corners
/// around each.
pub(crate) fn ring(radius: f64, tube: f64, corners: u32, tube_corners: u32) -> SurfaceMesh {
    let mut surface = SurfaceMesh::default();
    for i in 0..corners {
        let u = TAU * f64::from(i) / f64::from(corners);
        for j in 0..tube_corners {
            let v = TAU * f64::from(j) / f64::from(tube_corners);
            let out = radius + tube * v.cos();
            surface.vertices.push(Vector3::new(out * u.cos(), out * u.sin(), tube * v.sin()));
            let at = |i: u32, j: u32| (i % corners) * tube_corners + j % tube_corners;
            surface.triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            surface.triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    surface
}

pub(super) fn rotated(surface: &SurfaceMesh, by: Vector3) -> SurfaceMesh {
    let rotation = Rotation::new(by);
    SurfaceMesh {
        vertices: surface.vertices.iter().map(|vertex| rotation * vertex).collect(),
        triangles: surface.triangles.clone(),
    }
}
