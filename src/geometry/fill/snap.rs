//! Moves boundary vertices of a filling onto the sharp edges and corners of the surface.
//!
//! Stuffing puts vertices on the surface but not on its edges: tetrahedra between two faces cut the edge off.
//! A vertex near a corner or an edge is moved onto it if all tetrahedra around the vertex keep good angles,
//! so that the angle bounds of the stuffing still hold for the whole mesh. Corners come first, then vertices
//! in the order of their distance to an edge. In a gap narrower than the lattice, a move can push one wall
//! through the other; such moves are taken back.

use super::quality::dihedral_range_of;
use crate::geometry::bvh::Bvh;
use crate::geometry::cells::find_defect;
use crate::geometry::intersections::find_intersections;
use crate::geometry::mesh_measure::boundary_faces;
use crate::geometry::{Aabb, CellDefect, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// An edge is sharp if the normals of its faces differ by more than 30 degrees. [-]
const SHARP_COSINE: f64 = 0.866;
/// A vertex moves at most this share of the lattice's spacing. [-]
const REACH: f64 = 0.5;
/// Dihedral angles [degrees] that a move must keep; slightly narrower than the bounds of the stuffing, 10.7
/// and 164.8.
const DIHEDRAL_MIN: f64 = 12.0;
const DIHEDRAL_MAX: f64 = 160.0;
/// Rounds over all vertices: a move, or a move taken back, may make another one possible.
const ROUNDS: usize = 3;

/// The sharp edges of a surface, as segments, and the points where they end, meet or turn.
struct Features {
    segments: Vec<[Vector3; 2]>,
    corners: Vec<Vector3>,
}

impl Features {
    fn of(surface: &SurfaceMesh) -> Self {
        let at = |vertex: u32| surface.vertices[vertex as usize];
        let normals: Vec<Vector3> = surface
            .triangles
            .iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(at);
                (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
            })
            .collect();
        let mut edges: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * surface.triangles.len());
        for (k, [a, b, c]) in surface.triangles.iter().enumerate() {
            edges.extend([(a, b), (b, c), (c, a)].map(|(a, b)| ([*a.min(b), *a.max(b)], k)));
        }
        edges.sort_unstable();
        let sharp: Vec<[u32; 2]> = edges
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|same| matches!(same, [a, b] if normals[a.1].dot(&normals[b.1]) < SHARP_COSINE))
            .map(|same| same[0].0)
            .collect();
        let mut ends: Vec<(u32, Vector3)> = Vec::with_capacity(2 * sharp.len());
        for [a, b] in &sharp {
            let along = (at(*b) - at(*a)).try_normalize(0.0).unwrap_or_default();
            ends.extend([(*a, along), (*b, -along)]);
        }
        ends.sort_by_key(|end| end.0);
        let corners = ends
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|same| !matches!(same, [a, b] if a.1.dot(&b.1) < -SHARP_COSINE))
            .map(|same| at(same[0].0))
            .collect();
        Self { segments: sharp.iter().map(|edge| edge.map(at)).collect(), corners }
    }
}

/// Makes the moves that the angles allow, and takes back those that push one wall through another. `depth` is
/// zero on the boundary.
///
/// # Errors
/// The tetrahedra already overlap before any move.
pub(super) fn snap(
    mesh: &mut VolumeMesh,
    depth: &[f64],
    surface: &SurfaceMesh,
    spacing: f64,
) -> Result<(), CellDefect> {
    let before = mesh.vertices.clone();
    move_to_features(mesh, depth, surface, spacing);
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
    if find_defect(mesh).is_none() {
        return Ok(());
    }
    mesh.vertices = before;
    find_defect(mesh).map_or(Ok(()), Err)
}

fn move_to_features(mesh: &mut VolumeMesh, depth: &[f64], surface: &SurfaceMesh, spacing: f64) {
    let features = Features::of(surface);
    let around = tets_around(mesh);
    let boundary: Vec<u32> = (0..depth.len() as u32).filter(|vertex| depth[*vertex as usize] == 0.0).collect();
    let tree = Bvh::new(boundary.iter().map(|vertex| (*vertex, Aabb::around([&mesh.vertices[*vertex as usize]]))));
    let reach = REACH * spacing;
    let mut fixed = vec![false; depth.len()];
    for corner in &features.corners {
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
    let segments = Bvh::new(features.segments.iter().enumerate().map(|(k, ends)| (k as u32, Aabb::around(ends))));
    let mut near: Vec<(f64, u32, Vector3)> = Vec::new();
    for vertex in boundary.into_iter().filter(|vertex| !fixed[*vertex as usize]) {
        if let Some((distance, at)) = nearest(&features, &segments, &mesh.vertices[vertex as usize], reach) {
            near.push((distance, vertex, at));
        }
    }
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for _ in 0..ROUNDS {
        near.retain(|(_, vertex, at)| !moved(mesh, &around, *vertex, at));
    }
}

/// The tetrahedra at each vertex.
fn tets_around(mesh: &VolumeMesh) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); mesh.vertices.len()];
    for (k, tet) in mesh.tets.iter().enumerate() {
        tet.iter().for_each(|vertex| around[*vertex as usize].push(k as u32));
    }
    around
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

/// The nearest point of the sharp edges within `reach` \[m\], and its distance \[m\].
fn nearest(features: &Features, tree: &Bvh, point: &Vector3, reach: f64) -> Option<(f64, Vector3)> {
    let limit = std::cell::Cell::new(reach);
    let mut best = None;
    tree.walk(
        |bounds| (bounds.min - point).sup(&(point - bounds.max)).sup(&Vector3::zeros()).norm() < limit.get(),
        |segment, _| {
            let [a, b] = features.segments[segment as usize];
            let along = b - a;
            let t = (along.dot(&(point - a)) / along.norm_squared()).clamp(0.0, 1.0);
            let at = a + along * t;
            let distance = (at - point).norm();
            if distance < limit.get() {
                limit.set(distance);
                best = Some((distance, at));
            }
        },
    );
    best
}
