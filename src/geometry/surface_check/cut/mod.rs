//! Cuts surfaces at each other and keeps what bounds the inside.
//!
//! A hole may be drawn as a closed part that is inside out: its ends then lie on the faces of the body, or
//! stick out of it, and close the hole. Every triangle is cut along its meetings with the others (`meet`,
//! `plane`). A piece stays if the winding number is positive on one side of it and not on the other; of pieces
//! that lie on each other, one stays.

mod check;
mod meet;
mod plane;
mod push;
mod roles;

use std::collections::{BTreeMap, BTreeSet};

use super::work::Work;
use super::{orient, weld};
use crate::geometry::bvh::Bvh;
use crate::geometry::winding::Winding;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;
use meet::{Meetings, Points};
pub(super) use roles::{Roles, roles};

/// Points closer than this share of the surface's size are one. If a triangle cannot be cut with the first,
/// or the result does not pass its checks, the next is tried. [-]
const TOLERANCES: [f64; 4] = [1e-6, 2e-7, 4e-6, 3e-8];
/// The two sides of a piece are examined this far from it, as a share of the surface's size. [-]
const ASIDE: f64 = 1e-5;

/// Pieces of triangles, with the triangle that each comes from.
struct Pieces {
    triangles: Vec<[u32; 3]>,
    parents: Vec<usize>,
}

/// A surface of which every triangle is cut along its meetings with the others.
struct Division {
    points: Points,
    triangles: Vec<[u32; 3]>,
    meetings: Meetings,
    pieces: Pieces,
    /// The distance at which the sides of a piece are examined \[m\].
    aside: f64,
}

impl Division {
    /// `None` if rounding prevents the division at this tolerance, a share of the size.
    fn new(mesh: &SurfaceMesh, tolerance: f64) -> Option<Self> {
        let bounds = Aabb::around(&mesh.vertices);
        let size = (bounds.max - bounds.min).norm();
        let mut points = Points::new(tolerance * size);
        let ids: Vec<u32> = mesh.vertices.iter().map(|vertex| points.id(vertex)).collect();
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|vertex| ids[vertex as usize])).collect();
        let meetings = meetings(&triangles, &mut points);
        let pieces = pieces(&triangles, &meetings, &points)?;
        Some(Self { points, triangles, meetings, pieces, aside: ASIDE * size })
    }

    /// Points in front of and behind a piece; `None` if the triangle that it comes from has no area.
    fn sides(&self, piece: usize) -> Option<[Vector3; 2]> {
        let corners = self.pieces.triangles[piece].map(|vertex| self.points.at(vertex));
        let normal = self.points.normal(&self.triangles[self.pieces.parents[piece]])?;
        let center = corners.iter().sum::<Vector3>() / 3.0;
        Some([center + normal * self.aside, center - normal * self.aside])
    }

    /// Whether a piece lies on a triangle that comes before its own.
    fn is_doubled(&self, piece: usize) -> bool {
        let parent = self.pieces.parents[piece];
        let center = self.pieces.triangles[piece].iter().map(|vertex| self.points.at(*vertex)).sum::<Vector3>() / 3.0;
        let before = self.meetings.flat[parent].iter().filter(|other| **other < parent);
        before.into_iter().any(|other| self.points.holds(&self.triangles[*other], &center))
    }
}

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
    let part_of = orient::part_of(&parts, work.triangles.len());
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

/// Where the triangles meet.
fn meetings(triangles: &[[u32; 3]], points: &mut Points) -> Meetings {
    let boxes: Vec<Aabb> =
        triangles.iter().map(|t| Aabb::around(&t.map(|vertex| points.at(vertex))).grown(points.tolerance())).collect();
    let tree = Bvh::new(boxes.iter().enumerate().map(|(k, bounds)| (k as u32, *bounds)));
    let mut meetings = Meetings::new(triangles.len());
    for (k, bounds) in boxes.iter().enumerate() {
        let mut near = Vec::new();
        tree.walk(|node| node.overlaps(bounds), |other, _| near.extend((other as usize > k).then_some(other as usize)));
        near.sort_unstable();
        near.iter().for_each(|other| meetings.add([k, *other], triangles, points));
    }
    meetings.cross(triangles, points);
    meetings
}

/// Every triangle cut along its meetings; `None` if one cannot be cut.
fn pieces(triangles: &[[u32; 3]], meetings: &Meetings, points: &Points) -> Option<Pieces> {
    let sorted = |a: u32, b: u32| [a.min(b), a.max(b)];
    // Points on an edge cut all triangles at it.
    let mut on_edge: BTreeMap<[u32; 2], BTreeSet<u32>> = BTreeMap::new();
    for (k, corners) in triangles.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            let on = meetings.points[k].iter().filter(|point| points.is_between(**point, a, b));
            let on: Vec<u32> = on.copied().collect();
            if !on.is_empty() {
                on_edge.entry(sorted(a, b)).or_default().extend(on);
            }
        }
    }
    let mut pieces = Pieces { triangles: Vec::new(), parents: Vec::new() };
    for (k, corners) in triangles.iter().enumerate() {
        let Some(_) = points.normal(corners) else { continue };
        let mut inner = meetings.points[k].clone();
        for i in 0..3 {
            inner.extend(on_edge.get(&sorted(corners[i], corners[(i + 1) % 3])).into_iter().flatten());
        }
        corners.iter().for_each(|corner| _ = inner.remove(corner));
        if inner.is_empty() && meetings.segments[k].is_empty() {
            pieces.triangles.push(*corners);
            pieces.parents.push(k);
            continue;
        }
        let parts = plane::triangulate(corners, &inner, &meetings.segments[k], points)?;
        pieces.parents.extend(std::iter::repeat_n(k, parts.len()));
        pieces.triangles.extend(parts);
    }
    Some(pieces)
}

impl Points {
    /// The unit normal of a triangle, unless it has no area.
    fn normal(&self, corners: &[u32; 3]) -> Option<Vector3> {
        let [a, b, c] = corners.map(|corner| self.at(corner));
        (b - a).cross(&(c - a)).try_normalize(self.tolerance() * self.tolerance())
    }
}
