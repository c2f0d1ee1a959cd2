//! Cuts surfaces at each other and keeps what bounds the inside.
//!
//! A hole may be drawn as a closed part that is inside out: its ends then lie on the faces of the body, or
//! stick out of it, and close the hole. Every triangle is cut along its meetings with the others (`meet`,
//! `plane`). A piece stays if the winding number is positive on one side of it and not on the other; of pieces
//! that lie on each other, one stays.

mod meet;
mod plane;

use std::collections::{BTreeMap, BTreeSet};

use super::weld;
use super::work::Work;
use crate::geometry::bvh::Bvh;
use crate::geometry::mesh_measure::centroid;
use crate::geometry::winding::Winding;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;
use meet::{Meetings, Points};

/// Points closer than this share of the surface's size are one. [-]
const TOLERANCE: f64 = 1e-6;
/// The two sides of a piece are examined this far from it, as a share of the surface's size. [-]
const ASIDE: f64 = 1e-5;
/// A result whose volume differs by more than this share from that of the uncut surface, which is measured
/// with lines, is not taken. [-]
const VOLUME_SLACK: f64 = 0.03;

/// Pieces of triangles, with the triangle that each comes from.
struct Pieces {
    triangles: Vec<[u32; 3]>,
    parents: Vec<usize>,
}

/// Cuts the surface and leaves out what does not bound the inside. Returns whether that gave a closed surface
/// with the same volume; otherwise nothing is changed.
pub(super) fn cut(work: &mut Work) -> bool {
    let mesh = SurfaceMesh { vertices: work.vertices.clone(), triangles: work.triangles.clone() };
    let Some((result, lids)) = resolved(work, &mesh) else { return false };
    let mut result = result;
    result.report = work.report;
    if weld::flatten(&mut result).is_err() || result.open_edges() > 0 {
        return false;
    }
    let closed = SurfaceMesh { vertices: result.vertices.clone(), triangles: result.triangles.clone() };
    let (volume, expected) = (centroid(&closed).0, Winding::new(&mesh).volume());
    if (volume - expected).abs() > VOLUME_SLACK * expected {
        return false;
    }
    result.report = work.report;
    result.report.lids = lids;
    *work = result;
    true
}

/// The pieces that bound the inside, and the number of triangles of which something is left out.
fn resolved(work: &Work, mesh: &SurfaceMesh) -> Option<(Work, usize)> {
    let bounds = Aabb::around(&mesh.vertices);
    let size = (bounds.max - bounds.min).norm();
    let mut points = Points::new(TOLERANCE * size);
    let ids: Vec<u32> = mesh.vertices.iter().map(|vertex| points.id(vertex)).collect();
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|vertex| ids[vertex as usize])).collect();
    let meetings = meetings(&triangles, &mut points);
    let pieces = pieces(&triangles, &meetings, &points)?;
    let winding = Winding::new(mesh);
    let mut kept = Work::new(&SurfaceMesh::default());
    let mut lost = vec![false; triangles.len()];
    let mut crossings = Vec::new();
    for (piece, parent) in pieces.triangles.iter().zip(&pieces.parents) {
        let corners = piece.map(|vertex| points.at(vertex));
        let [a, b, c] = corners;
        let Some(normal) = points.normal(&triangles[*parent]) else { continue };
        let center = (a + b + c) / 3.0;
        let aside = normal * (ASIDE * size);
        let front = winding.at(&(center + aside), &mut crossings) > 0;
        let behind = winding.at(&(center - aside), &mut crossings) > 0;
        let doubled =
            meetings.flat[*parent].iter().any(|other| other < parent && points.holds(&triangles[*other], &center));
        match (behind, front) {
            _ if doubled => lost[*parent] |= behind == front,
            (true, false) => kept.push(*piece, work.source[*parent]),
            (false, true) => kept.push([piece[0], piece[2], piece[1]], work.source[*parent]),
            _ => lost[*parent] = true,
        }
    }
    kept.vertices = points.into_vertices();
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
