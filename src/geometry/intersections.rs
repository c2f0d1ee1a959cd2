//! Finds triangles of a surface that intersect.

use super::Aabb;
use super::bvh::Bvh;
use crate::math::Vector3;

/// Triangles that penetrate by at most this fraction of the mesh's size do not count as intersecting, because
/// single-precision files round positions. [-]
const TOUCH_TOLERANCE: f64 = 1e-6;

/// The pairs of triangles without a common vertex that intersect or overlap in a plane.
pub(crate) struct Intersections {
    /// The number of pairs.
    pub(crate) count: usize,
    /// The first pair, and a point where they meet \[m\].
    pub(crate) first: Option<([u32; 2], Vector3)>,
    /// For each triangle whether it belongs to a pair.
    pub(crate) touched: Vec<bool>,
    /// For each triangle whether a corner of it lies on another triangle, or a corner of another one on it.
    /// Parts may go through each other with corners exactly on faces, and intersect nowhere else.
    pub(crate) rests: Vec<bool>,
}

impl Intersections {
    /// Adds a pair that meets at a point \[m\].
    fn add(&mut self, pair: [u32; 2], at: Vector3) {
        self.count += 1;
        pair.iter().for_each(|k| self.touched[*k as usize] = true);
        if self.first.is_none_or(|(first, _)| pair < first) {
            self.first = Some((pair, at));
        }
    }
}

/// Checks every pair of triangles whose boxes overlap. Indices are in range.
pub(crate) fn find_intersections(vertices: &[Vector3], triangles: &[[u32; 3]]) -> Intersections {
    let corners = |triangle: u32| triangles[triangle as usize].map(|vertex| vertices[vertex as usize]);
    let boxes: Vec<(u32, Aabb)> = (0..triangles.len() as u32).map(|k| (k, Aabb::around(&corners(k)))).collect();
    let tree = Bvh::new(boxes.iter().copied());
    let bounds = tree.bounds();
    let tolerance = TOUCH_TOLERANCE * (bounds.max - bounds.min).norm();
    let mut found = Intersections {
        count: 0,
        first: None,
        touched: vec![false; triangles.len()],
        rests: vec![false; triangles.len()],
    };
    for (k, bounds) in &boxes {
        let own = corners(*k);
        let ids = triangles[*k as usize];
        tree.walk(
            |node| node.overlaps(bounds),
            |other, _| {
                if other <= *k || triangles[other as usize].iter().any(|vertex| ids.contains(vertex)) {
                    return;
                }
                if corner_on(&own, &corners(other), tolerance) || corner_on(&corners(other), &own, tolerance) {
                    found.rests[*k as usize] = true;
                    found.rests[other as usize] = true;
                }
                if let Some(at) = meet(&own, &corners(other), tolerance) {
                    found.add([*k, other], at);
                }
            },
        );
    }
    found
}

/// Adds the pairs of triangles of different parts with one common vertex that intersect or overlap in a
/// plane. `part_of` has the part of each triangle. Parts that share a vertex are for example two cylinders
/// whose ends have the same centre.
pub(crate) fn add_at_common_vertices(
    found: &mut Intersections,
    vertices: &[Vector3],
    triangles: &[[u32; 3]],
    part_of: &[usize],
) {
    let mut first_part = vec![usize::MAX; vertices.len()];
    let mut is_common = vec![false; vertices.len()];
    for (triangle, part) in triangles.iter().zip(part_of) {
        for vertex in triangle.map(|vertex| vertex as usize) {
            is_common[vertex] |= first_part[vertex] != usize::MAX && first_part[vertex] != *part;
            first_part[vertex] = *part;
        }
    }
    if !is_common.contains(&true) {
        return;
    }
    let corners = |k: u32| triangles[k as usize].map(|vertex| vertices[vertex as usize]);
    let tolerance = TOUCH_TOLERANCE * {
        let bounds = Aabb::around(vertices);
        (bounds.max - bounds.min).norm()
    };
    let at_vertex = |k: &u32| triangles[*k as usize].iter().any(|vertex| is_common[*vertex as usize]);
    let near: Vec<u32> = (0..triangles.len() as u32).filter(at_vertex).collect();
    let tree = Bvh::new(near.iter().map(|k| (*k, Aabb::around(&corners(*k)))));
    for k in &near {
        let (own, ids, bounds) = (corners(*k), triangles[*k as usize], Aabb::around(&corners(*k)));
        tree.walk(
            |node| node.overlaps(&bounds),
            |other, _| {
                let common = triangles[other as usize].iter().filter(|vertex| ids.contains(vertex)).count();
                if other <= *k || common != 1 || part_of[other as usize] == part_of[*k as usize] {
                    return;
                }
                if let Some(at) = meet(&own, &corners(other), tolerance) {
                    found.add([*k, other], at);
                }
            },
        );
    }
}

/// A point where an edge of one triangle crosses the interior of the other by more than `tolerance` \[m\], or
/// where two triangles in one plane overlap.
fn meet(p: &[Vector3; 3], q: &[Vector3; 3], tolerance: f64) -> Option<Vector3> {
    edges_through(p, q, tolerance).or_else(|| edges_through(q, p, tolerance)).or_else(|| on_each_other(p, q, tolerance))
}

/// Whether a corner of one triangle lies on the interior of the other, within `tolerance` \[m\] of its plane.
fn corner_on(corners: &[Vector3; 3], [a, b, c]: &[Vector3; 3], tolerance: f64) -> bool {
    let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { return false };
    corners.iter().any(|corner| {
        normal.dot(&(corner - a)).abs() <= tolerance && is_within(corner, &[*a, *b, *c], &normal, tolerance)
    })
}

/// Whether an edge of one triangle goes through the interior of the other, beyond `tolerance` \[m\] on both
/// sides of its plane.
pub(crate) fn cross(p: &[Vector3; 3], q: &[Vector3; 3], tolerance: f64) -> bool {
    edges_through(p, q, tolerance).or_else(|| edges_through(q, p, tolerance)).is_some()
}

fn edges_through(edges: &[Vector3; 3], [a, b, c]: &[Vector3; 3], tolerance: f64) -> Option<Vector3> {
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    (0..3).find_map(|i| {
        let (s, t) = (edges[i], edges[(i + 1) % 3]);
        let (ds, dt) = (normal.dot(&(s - a)), normal.dot(&(t - a)));
        if !(ds > tolerance && dt < -tolerance || ds < -tolerance && dt > tolerance) {
            return None;
        }
        let at = s + (t - s) * (ds / (ds - dt));
        is_within(&at, &[*a, *b, *c], &normal, tolerance).then_some(at)
    })
}

/// Whether a point of the triangle's plane lies inside it by more than `tolerance` \[m\].
fn is_within(point: &Vector3, corners: &[Vector3; 3], normal: &Vector3, tolerance: f64) -> bool {
    (0..3).all(|i| {
        let (from, to) = (corners[i], corners[(i + 1) % 3]);
        let inward = normal.cross(&(to - from));
        inward.dot(&(point - from)) > tolerance * inward.norm()
    })
}

/// The mean of the corners of two triangles in one plane, if their interiors have a point in common.
fn on_each_other(p: &[Vector3; 3], q: &[Vector3; 3], tolerance: f64) -> Option<Vector3> {
    let normal = (p[1] - p[0]).cross(&(p[2] - p[0])).try_normalize(0.0)?;
    if q.iter().any(|corner| normal.dot(&(corner - p[0])).abs() > tolerance) {
        return None;
    }
    let separated = |one: &[Vector3; 3], other: &[Vector3; 3]| {
        (0..3).any(|i| {
            let (from, to) = (one[i], one[(i + 1) % 3]);
            let mut outward = (to - from).cross(&normal);
            if outward.dot(&(one[(i + 2) % 3] - from)) > 0.0 {
                outward = -outward;
            }
            other.iter().all(|corner| outward.dot(&(corner - from)) >= -tolerance * outward.norm())
        })
    };
    (!separated(p, q) && !separated(q, p)).then(|| (p[0] + p[1] + p[2] + q[0] + q[1] + q[2]) / 6.0)
}
