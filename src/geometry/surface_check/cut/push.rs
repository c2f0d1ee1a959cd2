//! Moves ends of holes that lie on faces a little outward.
//!
//! Rounding may prevent a division where two faces lie in nearly one plane. A hole whose end is outside the
//! body is the same hole, and no face of it lies on another one.

use std::collections::BTreeMap;

use super::divide::ASIDE;
use crate::geometry::SurfaceMesh;
use crate::geometry::winding::Winding;
use crate::math::Vector3;

/// The ends move by this share of the surface's size. [-]
const PUSH: f64 = 3e-5;
/// Normals whose dot product is larger belong to one face. [-]
const SAME_FACE: f64 = 0.99;

/// The mesh with such ends moved, and whether each part had one. `volumes` holds the signed volume of each
/// part \[m³\], and bodies have the sign `main`.
pub(super) fn pushed(mesh: &SurfaceMesh, part_of: &[usize], volumes: &[f64], main: f64) -> (SurfaceMesh, Vec<bool>) {
    let winding = Winding::new(mesh);
    let bounds = winding.bounds();
    let size = (bounds.max - bounds.min).norm();
    let mut crossings = Vec::new();
    let mut is_in = |point: &Vector3| {
        winding.line(point.y, point.z, &mut crossings);
        let before = crossings.iter().take_while(|crossing| crossing.x < point.x);
        let bodies = before.filter(|crossing| volumes[part_of[crossing.triangle as usize]] * main > 0.0);
        f64::from(bodies.map(|crossing| crossing.change).sum::<i32>()) * main > 0.0
    };
    // The outward normals of the faces at each vertex of each hole
    let mut moves: BTreeMap<(usize, u32), Vec<Vector3>> = BTreeMap::new();
    let mut has_end = vec![false; volumes.len()];
    for (triangle, part) in mesh.triangles.iter().zip(part_of) {
        if volumes[*part] * main >= 0.0 {
            continue;
        }
        let corners = triangle.map(|vertex| mesh.vertices[vertex as usize]);
        let [a, b, c] = corners;
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
        let (center, aside) = ((a + b + c) / 3.0, normal * (ASIDE * size));
        let points = [center, (center + a) * 0.5, (center + b) * 0.5, (center + c) * 0.5];
        if !points.iter().any(|point| is_in(&(point + aside)) != is_in(&(point - aside))) {
            continue;
        }
        has_end[*part] = true;
        let outward = normal * volumes[*part].signum();
        for vertex in triangle {
            let normals = moves.entry((*part, *vertex)).or_default();
            if normals.iter().all(|other| other.dot(&outward) < SAME_FACE) {
                normals.push(outward);
            }
        }
    }
    // Another part may use the same vertex.
    let mut result = mesh.clone();
    let mut copies = BTreeMap::new();
    for (key, normals) in moves {
        let moved = mesh.vertices[key.1 as usize] + normals.iter().sum::<Vector3>() * (PUSH * size);
        copies.insert(key, result.vertices.len() as u32);
        result.vertices.push(moved);
    }
    for (triangle, part) in result.triangles.iter_mut().zip(part_of) {
        triangle.iter_mut().for_each(|vertex| *vertex = copies.get(&(*part, *vertex)).copied().unwrap_or(*vertex));
    }
    (result, has_end)
}
