//! Divides triangles along their meetings.

use std::collections::{BTreeMap, BTreeSet};

use super::meet::{Meetings, Points};
use super::plane;
use crate::geometry::bvh::Bvh;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// Points closer than this share of the surface's size are one. If a triangle cannot be cut with the first,
/// or the result does not pass its checks, the next is tried. [-]
pub(super) const TOLERANCES: [f64; 4] = [1e-6, 2e-7, 4e-6, 3e-8];
/// The two sides of a piece are examined this far from it, as a share of the surface's size. [-]
pub(super) const ASIDE: f64 = 1e-5;

/// Pieces of triangles, with the triangle that each comes from.
pub(super) struct Pieces {
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) parents: Vec<usize>,
}

/// A surface of which every triangle is cut along its meetings with the others.
pub(super) struct Division {
    pub(super) points: Points,
    pub(super) triangles: Vec<[u32; 3]>,
    meetings: Meetings,
    pub(super) pieces: Pieces,
    /// The distance at which the sides of a piece are examined \[m\].
    aside: f64,
}

impl Division {
    /// `None` if rounding prevents the division at this tolerance, a share of the size.
    pub(super) fn new(mesh: &SurfaceMesh, tolerance: f64) -> Option<Self> {
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
    pub(super) fn sides(&self, piece: usize) -> Option<[Vector3; 2]> {
        let corners = self.pieces.triangles[piece].map(|vertex| self.points.at(vertex));
        let normal = self.points.normal(&self.triangles[self.pieces.parents[piece]])?;
        let center = corners.iter().sum::<Vector3>() / 3.0;
        Some([center + normal * self.aside, center - normal * self.aside])
    }

    /// Whether a piece lies on a triangle that comes before its own.
    pub(super) fn is_doubled(&self, piece: usize) -> bool {
        let parent = self.pieces.parents[piece];
        let center = self.pieces.triangles[piece].iter().map(|vertex| self.points.at(*vertex)).sum::<Vector3>() / 3.0;
        let before = self.meetings.flat[parent].iter().filter(|other| **other < parent);
        before.into_iter().any(|other| self.points.holds(&self.triangles[*other], &center))
    }
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
