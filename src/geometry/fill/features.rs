//! The edges and corners of a surface.

use crate::geometry::bvh::Bvh;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// Two sharp edges continue each other at a vertex if their directions differ by less than 30 degrees, or by
/// less than the limit for sharp edges if that is smaller. [-]
const STRAIGHT_COSINE: f64 = 0.866;

/// The sharp edges of a surface, as segments, and the points where they end, meet or turn.
pub(super) struct Features {
    segments: Vec<[Vector3; 2]>,
    /// The mean of the normals beside each segment.
    segment_normals: Vec<Vector3>,
    pub(super) corners: Vec<Vector3>,
    /// The mean of the normals of the segments at each corner.
    corner_normals: Vec<Vector3>,
    segment_tree: Bvh,
    corner_tree: Bvh,
}

impl Features {
    /// The sharp edges: the cosine between the normals of their two faces is below `sharp_cosine`. Corners
    /// are their ends at which they do not continue straight: two edges continue straight if the cosine
    /// between their directions is above the larger of `sharp_cosine` and [`STRAIGHT_COSINE`].
    pub(super) fn of(surface: &SurfaceMesh, sharp_cosine: f64) -> Self {
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
        let mean = |sum: Vector3| sum.try_normalize(0.0).unwrap_or_default();
        let (sharp, segment_normals): (Vec<[u32; 2]>, Vec<Vector3>) = edges
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|same| matches!(same, [a, b] if normals[a.1].dot(&normals[b.1]) < sharp_cosine))
            .map(|same| (same[0].0, mean(same.iter().map(|edge| normals[edge.1]).sum())))
            .unzip();
        let mut ends: Vec<(u32, Vector3, Vector3)> = Vec::with_capacity(2 * sharp.len());
        for ([a, b], normal) in sharp.iter().zip(&segment_normals) {
            let along = (at(*b) - at(*a)).try_normalize(0.0).unwrap_or_default();
            ends.extend([(*a, along, *normal), (*b, -along, *normal)]);
        }
        ends.sort_by_key(|end| end.0);
        let straight = sharp_cosine.max(STRAIGHT_COSINE);
        let (corners, corner_normals): (Vec<Vector3>, Vec<Vector3>) = ends
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|same| !matches!(same, [a, b] if a.1.dot(&b.1) < -straight))
            .map(|same| (at(same[0].0), mean(same.iter().map(|end| end.2).sum())))
            .unzip();
        let segments: Vec<[Vector3; 2]> = sharp.iter().map(|edge| edge.map(at)).collect();
        let segment_tree = Bvh::new(segments.iter().enumerate().map(|(k, ends)| (k as u32, Aabb::around(ends))));
        let corner_tree = Bvh::new(corners.iter().enumerate().map(|(k, corner)| (k as u32, Aabb::around([corner]))));
        Self { segments, segment_normals, corners, corner_normals, segment_tree, corner_tree }
    }

    /// The corner nearest to a point within `reach` \[m\], among those for which `counts` is true.
    pub(super) fn nearest_corner(&self, point: &Vector3, reach: f64, counts: impl Fn(u32) -> bool) -> Option<u32> {
        nearest(&self.corner_tree, point, reach, |corner| {
            if counts(corner) { (self.corners[corner as usize] - point).norm() } else { f64::INFINITY }
        })
    }

    /// The sharp edge nearest to a point, within `reach` \[m\].
    pub(super) fn nearest_segment(&self, point: &Vector3, reach: f64) -> Option<u32> {
        self.nearest_exposed(point, reach, &mut |_, _| true)
    }

    /// The same among those whose point nearest to `point`, with a normal there, is `exposed`.
    pub(super) fn nearest_exposed(
        &self,
        point: &Vector3,
        reach: f64,
        exposed: &mut dyn FnMut(&Vector3, &Vector3) -> bool,
    ) -> Option<u32> {
        nearest(&self.segment_tree, point, reach, |segment| {
            let at = self.nearest_on(segment, point);
            let distance = (at - point).norm();
            let counts = distance <= reach && exposed(&at, &self.segment_normals[segment as usize]);
            if counts { distance } else { f64::INFINITY }
        })
    }

    /// Each corner with a normal there.
    pub(super) fn corners_with_normals(&self) -> impl Iterator<Item = (&Vector3, &Vector3)> {
        self.corners.iter().zip(&self.corner_normals)
    }

    /// The point of a sharp edge that is nearest to a point.
    pub(super) fn nearest_on(&self, segment: u32, point: &Vector3) -> Vector3 {
        let [a, b] = self.segments[segment as usize];
        let along = b - a;
        a + along * (along.dot(&(point - a)) / along.norm_squared()).clamp(0.0, 1.0)
    }

    /// The point of a sharp edge that is nearest to the line through two points.
    pub(super) fn crossing(&self, segment: u32, [p, q]: [&Vector3; 2]) -> Vector3 {
        let [a, b] = self.segments[segment as usize];
        let (u, v, w) = (b - a, q - p, a - p);
        let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
        let determinant = uu * vv - uv * uv;
        if determinant <= 1e-6 * uu * vv {
            return self.nearest_on(segment, &((p + q) * 0.5));
        }
        let t = (uv * v.dot(&w) - vv * u.dot(&w)) / determinant;
        a + u * t.clamp(0.0, 1.0)
    }
}

/// The element nearest to a point within `reach` \[m\].
fn nearest(tree: &Bvh, point: &Vector3, reach: f64, mut distance: impl FnMut(u32) -> f64) -> Option<u32> {
    let limit = std::cell::Cell::new(reach);
    let mut best = None;
    tree.walk(
        |bounds| bounds.overlaps_ball(point, limit.get()),
        |element, _| {
            let distance = distance(element);
            if distance <= limit.get() && (distance < limit.get() || best.is_none()) {
                limit.set(distance);
                best = Some(element);
            }
        },
    );
    best
}
