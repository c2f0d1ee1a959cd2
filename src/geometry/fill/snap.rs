//! Moves boundary vertices of a filling onto the sharp edges and corners of the surface.
//!
//! Stuffing puts vertices on the surface but not on its edges: tetrahedra between two faces cut the edge off.
//! A vertex near a corner or an edge is moved onto it if all tetrahedra around the vertex keep good angles,
//! so that the angle bounds of the stuffing still hold for the whole mesh. Corners come first, then vertices
//! in the order of their distance to an edge. In a gap narrower than the lattice, a move can push one wall
//! through the other; such moves are taken back.

use super::features::Features;
use super::fit::tets_around;
use super::quality::dihedral_range_of;
use crate::geometry::bvh::Bvh;
use crate::geometry::intersections::find_intersections;
use crate::geometry::mesh_measure::boundary_faces;
use crate::geometry::{Aabb, VolumeMesh};
use crate::math::Vector3;

/// An edge is sharp if the normals of its faces differ by more than 30 degrees. [-]
pub(super) const SHARP_COSINE: f64 = 0.866;
/// A vertex moves by at most this share of the lattice's spacing. [-]
const REACH: f64 = 0.5;
/// Dihedral angles [degrees] that a move must keep; slightly narrower than the bounds of the stuffing, which
/// are 10.7 and 164.8.
const DIHEDRAL_MIN: f64 = 12.0;
const DIHEDRAL_MAX: f64 = 160.0;
/// Rounds over all vertices: a move, or a move taken back, may make another one possible.
const ROUNDS: usize = 3;

/// Makes the moves that the angles allow, and takes back those that push one wall through another. `depth` is
/// zero on the boundary. `exposed` returns whether a point of the surface, with a normal there, bounds the
/// inside: edges of united parts that lie inside another part attract no vertex.
pub(super) fn snap(
    mesh: &mut VolumeMesh,
    depth: &[f64],
    features: &Features,
    spacing: f64,
    exposed: &mut dyn FnMut(&Vector3, &Vector3) -> bool,
) {
    let before = mesh.vertices.clone();
    move_to_features(mesh, depth, features, spacing, exposed);
    for _ in 0..ROUNDS {
        let border = boundary_faces(mesh);
        let touched = find_intersections(&mesh.vertices, &border).touched;
        if !touched.contains(&true) {
            break;
        }
        for (triangle, _) in border.iter().zip(&touched).filter(|(_, touched)| **touched) {
            triangle.iter().for_each(|vertex| mesh.vertices[*vertex as usize] = before[*vertex as usize]);
        }
    }
}

fn move_to_features(
    mesh: &mut VolumeMesh,
    depth: &[f64],
    features: &Features,
    spacing: f64,
    exposed: &mut dyn FnMut(&Vector3, &Vector3) -> bool,
) {
    let around = tets_around(mesh);
    let boundary: Vec<u32> = (0..depth.len() as u32).filter(|vertex| depth[*vertex as usize] == 0.0).collect();
    let tree = Bvh::new(boundary.iter().map(|vertex| (*vertex, Aabb::around([&mesh.vertices[*vertex as usize]]))));
    let reach = REACH * spacing;
    let mut fixed = vec![false; depth.len()];
    for (corner, normal) in features.corners_with_normals() {
        if !exposed(corner, normal) {
            continue;
        }
        let mut near: Vec<(f64, u32)> = Vec::new();
        let size = Vector3::from_element(reach);
        let reachable = Aabb { min: corner - size, max: corner + size };
        tree.walk(
            |bounds| bounds.overlaps(&reachable),
            |vertex, _| near.push(((mesh.vertices[vertex as usize] - corner).norm(), vertex)),
        );
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (distance, vertex) in near {
            if distance <= reach && !fixed[vertex as usize] && moved(mesh, &around, vertex, corner) {
                fixed[vertex as usize] = true;
                break;
            }
        }
    }
    let mut near: Vec<(f64, u32, Vector3)> = Vec::new();
    for vertex in boundary.into_iter().filter(|vertex| !fixed[*vertex as usize]) {
        let from = mesh.vertices[vertex as usize];
        if let Some(segment) = features.nearest_exposed(&from, reach, exposed) {
            let at = features.nearest_on(segment, &from);
            near.push(((at - from).norm(), vertex, at));
        }
    }
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for _ in 0..ROUNDS {
        near.retain(|(_, vertex, at)| !moved(mesh, &around, *vertex, at));
    }
}

/// Moves a vertex if the angles of the tetrahedra around it allow it, and returns whether it was moved.
fn moved(mesh: &mut VolumeMesh, around: &[Vec<u32>], vertex: u32, to: &Vector3) -> bool {
    let from = std::mem::replace(&mut mesh.vertices[vertex as usize], *to);
    let good = around[vertex as usize].iter().all(|tet| {
        let corners = mesh.tets[*tet as usize].map(|vertex| mesh.vertices[vertex as usize]);
        let [a, b, c, d] = &corners;
        if (b - a).cross(&(c - a)).dot(&(d - a)) <= 0.0 {
            return false;
        }
        let (min, max) = dihedral_range_of(&corners);
        min.to_degrees() >= DIHEDRAL_MIN && max.to_degrees() <= DIHEDRAL_MAX
    });
    if !good {
        mesh.vertices[vertex as usize] = from;
    }
    good
}
