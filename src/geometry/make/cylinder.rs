//! Cylinders and capsules along z: sectors around the axis, each split so that neighbours share their walls.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::geometry::VolumeMesh;
use crate::math::Vector3;

/// The largest number of vertices on a rim; a capsule has about twice its square in tetrahedra.
const RIM_MAX: f64 = 700.0;
/// The smallest number of vertices on a rim.
const RIM_MIN: f64 = 3.0;
/// A radius and a half length that differ by less than this share count as equal. [-]
const EQUAL_SIZES: f64 = 1e-14;

/// Direction of vertex `i` of `count` on a rim; the first lies on +x.
fn rim(i: usize, count: usize) -> Vector3 {
    let angle = TAU / count as f64 * i as f64;
    Vector3::new(angle.cos(), angle.sin(), 0.0)
}

/// The three tetrahedra of the prism between the triangles (a, b, c) and (d, e, f), with walls split along
/// a-e, b-f and a-f.
fn prism([a, b, c]: [u32; 3], [d, e, f]: [u32; 3]) -> [[u32; 4]; 3] {
    [[d, e, a, f], [e, b, a, f], [b, c, a, f]]
}

/// Tessellation of a cylinder with rim vertices at most `resolution` \[m\] apart along the rim. Vertices with
/// indices at or above the returned count lie on the medial surface: a segment, a point or a disc, with 5 n,
/// 4 n or 9 n tetrahedra.
pub fn cylinder(radius: f64, length: f64, resolution: f64) -> (VolumeMesh, usize) {
    let n = (TAU * radius / resolution).ceil().clamp(RIM_MIN, RIM_MAX) as usize;
    let half = 0.5 * length;
    let difference = if (half - radius).abs() > EQUAL_SIZES * half.max(radius) { half - radius } else { 0.0 };
    let mut vertices = vec![Vector3::new(0.0, 0.0, -half), Vector3::new(0.0, 0.0, half)];
    for i in 0..n {
        let on_rim = rim(i, n) * radius;
        vertices.push(on_rim - Vector3::z() * half);
        vertices.push(on_rim + Vector3::z() * half);
    }
    let on_surface = vertices.len();
    let (bottom, top) = (|i: usize| (2 + 2 * i) as u32, |i: usize| (3 + 2 * i) as u32);
    let middle = on_surface as u32;
    let medial = |i: usize| middle + 1 + i as u32;
    if difference > 0.0 {
        vertices.push(Vector3::new(0.0, 0.0, -difference));
        vertices.push(Vector3::new(0.0, 0.0, difference));
    } else {
        vertices.push(Vector3::zeros());
    }
    if difference < 0.0 {
        let share = -difference / radius;
        vertices.extend((0..n).map(|i| rim(i, n) * radius * share));
    }
    let mut tets = Vec::with_capacity(9 * n);
    for j in 0..n {
        let i = if j == 0 { n - 1 } else { j - 1 };
        if difference < 0.0 {
            tets.extend(prism([0, bottom(i), bottom(j)], [middle, medial(i), medial(j)]));
            tets.extend(prism([middle, medial(i), medial(j)], [1, top(i), top(j)]));
            tets.extend(prism([bottom(i), medial(i), top(i)], [bottom(j), medial(j), top(j)]));
        } else if difference > 0.0 {
            let medial_top = middle + 1;
            tets.push([0, bottom(i), bottom(j), middle]);
            tets.push([1, top(j), top(i), medial_top]);
            tets.push([top(i), bottom(i), middle, top(j)]);
            tets.push([bottom(i), bottom(j), middle, top(j)]);
            tets.push([medial_top, top(i), middle, top(j)]);
        } else {
            // The side is split along the diagonal opposite to that of a long cylinder.
            tets.push([0, bottom(i), bottom(j), middle]);
            tets.push([1, top(j), top(i), middle]);
            tets.push([bottom(i), middle, top(i), bottom(j)]);
            tets.push([middle, top(j), top(i), bottom(j)]);
        }
    }
    (VolumeMesh { vertices, tets }, on_surface)
}

/// Tessellation of a capsule whose rims have edges of about `resolution` \[m\]. The caps have vertices on
/// circles of latitude. The two medial vertices come last, from the returned index on.
pub fn capsule(radius: f64, length: f64, resolution: f64) -> (VolumeMesh, usize) {
    let n = (TAU * radius / resolution).clamp(RIM_MIN, RIM_MAX) as usize;
    let circles = n / 2;
    let half = 0.5 * length;
    let mut vertices = vec![Vector3::new(0.0, 0.0, -half - radius), Vector3::new(0.0, 0.0, half + radius)];
    for circle in 0..circles {
        let polar = FRAC_PI_2 - FRAC_PI_2 / circles as f64 * circle as f64;
        let height = Vector3::z() * (half + radius * polar.cos());
        for i in 0..n {
            let outward = rim(i, n) * (radius * polar.sin());
            vertices.push(outward - height);
            vertices.push(outward + height);
        }
    }
    let on_surface = vertices.len();
    vertices.push(Vector3::new(0.0, 0.0, -half));
    vertices.push(Vector3::new(0.0, 0.0, half));
    let (medial_bottom, medial_top) = (on_surface as u32, on_surface as u32 + 1);
    let bottom = |circle: usize, i: usize| (2 + 2 * (circle * n + i % n)) as u32;
    let top = |circle: usize, i: usize| bottom(circle, i) + 1;
    let mut tets = Vec::new();
    for i in 0..n {
        let j = i + 1;
        for circle in 0..circles - 1 {
            let above = circle + 1;
            tets.push([top(circle, i), medial_top, top(above, i), top(circle, j)]);
            tets.push([medial_top, top(above, j), top(above, i), top(circle, j)]);
            tets.push([bottom(above, i), medial_bottom, bottom(circle, i), bottom(above, j)]);
            tets.push([medial_bottom, bottom(circle, j), bottom(circle, i), bottom(above, j)]);
        }
        tets.push([1, top(circles - 1, j), top(circles - 1, i), medial_top]);
        tets.push([0, bottom(circles - 1, i), bottom(circles - 1, j), medial_bottom]);
        tets.extend(prism([medial_bottom, bottom(0, i), bottom(0, j)], [medial_top, top(0, i), top(0, j)]));
    }
    (VolumeMesh { vertices, tets }, on_surface)
}
