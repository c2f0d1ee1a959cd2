//! Conditions on tetrahedra that carry a pressure field: each has volume, and no two overlap.
//!
//! If all tetrahedra have volume and at most two share a face, from its two sides, they cover each point as
//! often as their boundary winds around it. They then do not overlap if the boundary does not intersect
//! itself and winds once around each connected part of the mesh.

use super::intersections::find_intersections;
use super::mesh::{MeshError, check_indices};
use super::mesh_measure::boundary_faces;
use super::surface_check::Position;
use super::tetrahedra::{TET_FACES, is_flat, neighbours};
use super::winding::Winding;
use super::{SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// A defect of tetrahedra, which are counted from 0 as in the given mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CellDefect {
    /// Indices are out of range.
    #[error(transparent)]
    Array(#[from] MeshError),
    /// A tetrahedron without volume.
    #[error("tetrahedron {tet} at {at} has no volume: leave it out, or mesh the body again")]
    Flat {
        /// The tetrahedron.
        tet: u32,
        /// Its centre.
        at: Position,
    },
    /// Two tetrahedra lie on the same side of a common face.
    #[error("tetrahedra {tets:?} overlap at {at}: mesh the body again")]
    Overlap {
        /// The two tetrahedra.
        tets: [u32; 2],
        /// The centre of their common face.
        at: Position,
    },
    /// The boundary intersects itself, or winds around a point more than once.
    #[error(
        "the boundary of the tetrahedra intersects itself or lies inside itself at {at}, so tetrahedra overlap there: mesh the \
         body again"
    )]
    Boundary {
        /// The position.
        at: Position,
    },
}

/// Checks that the tetrahedra have volume and do not overlap. Their handedness does not matter.
///
/// # Errors
/// An index out of range, or the first defect.
pub fn check_cells(mesh: &VolumeMesh) -> Result<(), CellDefect> {
    check_indices(mesh.tets.iter().map(|tet| tet.as_slice()), mesh.vertices.len())?;
    find_defect(mesh).map_or(Ok(()), Err)
}

/// Does the same as [`check_cells`] for a mesh with indices in range.
pub(super) fn find_defect(mesh: &VolumeMesh) -> Option<CellDefect> {
    let corners = |tet: u32| mesh.tets[tet as usize].map(|vertex| mesh.vertices[vertex as usize]);
    let center = |tet: u32| corners(tet).iter().sum::<Vector3>() / 4.0;
    let count = mesh.tets.len() as u32;
    if let Some(tet) = (0..count).find(|tet| is_flat(&turned(corners(*tet)))) {
        return Some(CellDefect::Flat { tet, at: Position(center(tet)) });
    }
    if let Some(defect) = faces_overlap(mesh) {
        return Some(defect);
    }
    let border = SurfaceMesh { vertices: mesh.vertices.clone(), triangles: boundary_faces(mesh) };
    if let Some((_, at)) = find_intersections(&border.vertices, &border.triangles).first {
        return Some(CellDefect::Boundary { at: Position(at) });
    }
    let winding = Winding::new(&border);
    let mut crossings = Vec::new();
    let mut centers = one_of_each_part(mesh).into_iter().map(center);
    centers.find(|at| winding.at(at, &mut crossings) > 1).map(|at| CellDefect::Boundary { at: Position(at) })
}

/// The corners in the order of a positive volume.
fn turned([a, b, c, d]: [Vector3; 4]) -> [Vector3; 4] {
    if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 { [a, b, d, c] } else { [a, b, c, d] }
}

/// Two tetrahedra on the same side of a face.
fn faces_overlap(mesh: &VolumeMesh) -> Option<CellDefect> {
    let at = |vertex: u32| mesh.vertices[vertex as usize];
    let mut faces: Vec<([u32; 3], u32, bool)> = Vec::with_capacity(4 * mesh.tets.len());
    for (tet, corners) in mesh.tets.iter().enumerate() {
        for (opposite, face) in TET_FACES.iter().enumerate() {
            let mut key = face.map(|corner| corners[corner]);
            key.sort_unstable();
            let [a, b, c] = key.map(at);
            let above = (b - a).cross(&(c - a)).dot(&(at(corners[opposite]) - a)) > 0.0;
            faces.push((key, tet as u32, above));
        }
    }
    faces.sort_unstable();
    for same in faces.chunk_by(|x, y| x.0 == y.0) {
        let overlapping = match same {
            [_] => continue,
            [first, second] if first.2 != second.2 => continue,
            [first, second, third, ..] if first.2 != second.2 => {
                if third.2 == first.2 {
                    [first.1, third.1]
                } else {
                    [second.1, third.1]
                }
            }
            [first, second, ..] => [first.1, second.1],
            [] => continue,
        };
        let center = same[0].0.map(at).iter().sum::<Vector3>() / 3.0;
        return Some(CellDefect::Overlap { tets: overlapping, at: Position(center) });
    }
    None
}

/// The first tetrahedron of each connected part; two parts share no face.
fn one_of_each_part(mesh: &VolumeMesh) -> Vec<u32> {
    let neighbours = neighbours(&mesh.tets);
    let mut seen = vec![false; mesh.tets.len()];
    let mut first = Vec::new();
    for tet in 0..mesh.tets.len() as u32 {
        if std::mem::replace(&mut seen[tet as usize], true) {
            continue;
        }
        first.push(tet);
        let mut open = vec![tet];
        while let Some(tet) = open.pop() {
            for other in neighbours[tet as usize] {
                if let Some(seen) = seen.get_mut(other as usize)
                    && !std::mem::replace(seen, true)
                {
                    open.push(other);
                }
            }
        }
    }
    first
}
