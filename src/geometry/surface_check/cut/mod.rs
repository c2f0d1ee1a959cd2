//! Cuts surfaces at each other and keeps what bounds the inside.
//!
//! A hole may be drawn as a closed part that is inside out: its ends then lie on the faces of the body, or
//! stick out of it, and close the hole. Every triangle is cut along its meetings with the others (`meet`,
//! `plane`). A piece stays if the winding number is positive on one side of it and not on the other; of
//! pieces that lie on each other, one stays.

mod check;
mod divide;
mod meet;
mod plane;
mod push;
mod roles;

use super::work::Work;
use super::{orient, weld};
use crate::geometry::SurfaceMesh;
use crate::geometry::winding::Winding;
use divide::{Division, TOLERANCES};
pub(super) use roles::{Roles, roles};

/// Cuts the surface and leaves out what does not bound the inside. Returns whether that gave a simple closed
/// surface with the same inside; otherwise nothing is changed.
pub(super) fn cut(work: &mut Work) -> bool {
    let mesh = SurfaceMesh { vertices: work.vertices.clone(), triangles: work.triangles.clone() };
    let before = Winding::new(&mesh);
    let cut_at = |mesh: &SurfaceMesh, tolerance: f64| {
        let (mut result, lids) = bounding(Division::new(mesh, tolerance)?, &work.source, &Winding::new(mesh))?;
        weld::flatten(&mut result).ok()?;
        check::is_sound(&result, &before).then_some((result, lids))
    };
    let plainly = TOLERANCES.iter().find_map(|tolerance| cut_at(&mesh, *tolerance));
    let result = plainly.or_else(|| {
        let (part_of, volumes) = parts_of(work);
        let (moved, _) = push::pushed(&mesh, &part_of, &volumes, 1.0);
        TOLERANCES.iter().find_map(|tolerance| cut_at(&moved, *tolerance))
    });
    let Some((mut result, lids)) = result else { return false };
    result.report = super::SurfaceReport { lids, ..work.report };
    *work = result;
    true
}

/// The part of each triangle, and the signed volume of each part \[m³\].
fn parts_of(work: &Work) -> (Vec<usize>, Vec<f64>) {
    let parts: Vec<Vec<usize>> = orient::patches(work).into_iter().map(|patch| patch.triangles).collect();
    let part_of = orient::part_of(parts.iter(), work.triangles.len());
    let volumes = parts.iter().map(|part| orient::enclosed(work, part).unwrap_or(0.0)).collect();
    (part_of, volumes)
}

/// The pieces that bound the inside, and the number of triangles of which something is left out.
fn bounding(division: Division, source: &[u32], winding: &Winding) -> Option<(Work, usize)> {
    let mut kept = Work::new(&SurfaceMesh::default());
    let mut lost = vec![false; division.triangles.len()];
    let mut crossings = Vec::new();
    for (number, (piece, parent)) in division.pieces.triangles.iter().zip(&division.pieces.parents).enumerate() {
        let Some(sides) = division.sides(number) else { continue };
        let [front, behind] = sides.map(|point| winding.at(&point, &mut crossings) > 0);
        match (behind, front) {
            _ if division.is_doubled(number) => lost[*parent] |= behind == front,
            (true, false) => kept.push(*piece, source[*parent]),
            (false, true) => kept.push([piece[0], piece[2], piece[1]], source[*parent]),
            _ => lost[*parent] = true,
        }
    }
    kept.vertices = division.points.into_vertices();
    let lids = lost.iter().filter(|lost| **lost).count();
    (!kept.triangles.is_empty()).then_some((kept, lids))
}
