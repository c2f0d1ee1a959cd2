//! Contact of two flat features that face each other. Their outlines, seen along the contact normal, are
//! clipped against each other, and the distance between the two planes is computed at the corners of the
//! clipped outline.

use super::points::{FacePair, PointContact};
use super::polytope::basis;
use crate::math::Vector3;

/// A plane whose angle to the normal has a smaller sine than this has no height along the normal. [-]
const EDGE_ON: f64 = 1e-2;
/// Segments whose angle has a smaller sine than this overlap along a line, not at a point. [-]
const PARALLEL_SINE: f64 = 1e-3;

/// Buffers of the clipping.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) outline: Vec<[f64; 2]>,
    pub(super) polygon: Vec<[f64; 2]>,
    pub(super) clipped: Vec<[f64; 2]>,
    pub(super) near: Vec<u32>,
    /// Nodes of a tree.
    pub(super) stack: Vec<u32>,
    /// The ranges of points that belong to one pair of triangles.
    pub(super) groups: Vec<[u32; 2]>,
    pub(super) faces: Vec<FacePair>,
    pub(super) dropped: Vec<bool>,
    /// Points by their first coordinate.
    pub(super) order: Vec<u32>,
}

/// The part of a surface that may touch: one or more points. With a normal, they are the outline of a flat
/// polygon.
#[derive(Clone, Debug, Default)]
pub(super) struct Feature {
    pub(super) points: Vec<Vector3>,
    pub(super) normal: Option<Vector3>,
}

impl Feature {
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.normal = None;
    }

    /// A flat polygon.
    pub(super) fn set(&mut self, corners: &[Vector3], normal: Vector3) {
        self.points.clear();
        self.points.extend_from_slice(corners);
        self.normal = Some(normal);
    }

    /// A height function along n: z(p) with p + z n on the feature's plane, or on the line of a segment.
    fn height(&self, n: &Vector3, p: &Vector3) -> f64 {
        let origin = self.points[0];
        match self.normal {
            Some(normal) => normal.dot(&(origin - p)) / normal.dot(n),
            None if self.points.len() >= 2 => {
                let along = self.points[1] - origin;
                let flat = along - n * n.dot(&along);
                let share = flat.dot(&(p - origin)) / flat.norm_squared().max(f64::MIN_POSITIVE);
                n.dot(&(origin + along * share.clamp(0.0, 1.0) - p))
            }
            None => n.dot(&(origin - p)),
        }
    }

    /// A polygon seen edge-on becomes its edge that is farthest along `out`.
    pub(super) fn flatten(&mut self, n: &Vector3, out: f64) {
        let Some(normal) = self.normal else { return };
        if normal.dot(n).abs() > EDGE_ON {
            return;
        }
        let reach = |a: &Vector3, b: &Vector3| out * n.dot(&(a + b));
        let count = self.points.len();
        let mut best = (f64::NEG_INFINITY, 0);
        for i in 0..count {
            let r = reach(&self.points[i], &self.points[(i + 1) % count]);
            if r > best.0 {
                best = (r, i);
            }
        }
        let (a, b) = (self.points[best.1], self.points[(best.1 + 1) % count]);
        self.points.clear();
        self.points.extend([a, b]);
        self.normal = None;
    }
}

/// Appends to `found` the points where `a`, of A, and `b`, of B, face each other along `n`, which points from
/// A into B, if they are nearer than `detection` \[m\] and not deeper than `depth_max` \[m\]. The radii are
/// those of rounded features.
pub(super) fn clip_features(
    a: &mut Feature,
    b: &mut Feature,
    radii: (f64, f64),
    n: &Vector3,
    (depth_max, detection): (f64, f64),
    scratch: &mut Scratch,
    found: &mut Vec<PointContact>,
) {
    a.flatten(n, 1.0);
    b.flatten(n, -1.0);
    let (u, v) = basis(n);
    let flat = |p: &Vector3| [u.dot(p), v.dot(p)];
    let Scratch { outline, polygon, clipped, .. } = scratch;
    outline.clear();
    polygon.clear();
    let (subject, window) = if a.normal.is_some() { (&*b, &*a) } else { (&*a, &*b) };
    polygon.extend(subject.points.iter().map(flat));
    outline.extend(window.points.iter().map(flat));
    if window.normal.is_some() {
        clip(polygon, outline, clipped);
    } else if !clip_segments(polygon, outline) {
        return;
    }
    let n_height = n.dot(&subject.points[0]);
    for [x, y] in polygon.iter() {
        let p = u * *x + v * *y + n * n_height;
        let (z_A, z_B) = (a.height(n, &p) + radii.0, b.height(n, &p) - radii.1);
        let phi = z_B - z_A;
        if phi < detection && phi > -depth_max {
            found.push(PointContact { p: p + n * (0.5 * (z_A + z_B)), normal: *n, phi });
        }
    }
}

/// Clips `polygon` (one, two or more points) by the convex `window` [Sutherland and Hodgman 1974].
fn clip(polygon: &mut Vec<[f64; 2]>, window: &[[f64; 2]], clipped: &mut Vec<[f64; 2]>) {
    let side = |a: &[f64; 2], b: &[f64; 2], p: &[f64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    let count = window.len();
    let area: f64 = (1..count - 1).map(|i| side(&window[0], &window[i], &window[i + 1])).sum();
    let sign = 1.0_f64.copysign(area);
    for i in 0..count {
        let (from, to) = (window[i], window[(i + 1) % count]);
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        if length <= f64::MIN_POSITIVE {
            continue;
        }
        let inside = |p: &[f64; 2]| sign * side(&from, &to, p) / length;
        clipped.clear();
        let points = polygon.len();
        for j in 0..points {
            let (p, q) = (polygon[j], polygon[(j + 1) % points]);
            let (at_p, at_q) = (inside(&p), inside(&q));
            if at_p >= 0.0 {
                clipped.push(p);
            }
            // A segment has one edge, not two.
            let edge = points > 2 || (points == 2 && j == 0);
            if edge && (at_p < 0.0) != (at_q < 0.0) && at_p != 0.0 && at_q != 0.0 {
                let share = at_p / (at_p - at_q);
                clipped.push([p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]);
            }
        }
        std::mem::swap(polygon, clipped);
        if polygon.is_empty() {
            return;
        }
    }
}

/// Replaces `segment` by the part that it shares with a parallel segment `other` in the plane: two points.
/// Returns false for crossing segments, whose common point is the known deepest point of the pair.
fn clip_segments(segment: &mut [[f64; 2]], other: &[[f64; 2]]) -> bool {
    let ([a, b], [c, d]) = (&mut *segment, other) else { return false };
    let (e, f) = ([b[0] - a[0], b[1] - a[1]], [d[0] - c[0], d[1] - c[1]]);
    let (length_e, length_f) = (e[0].hypot(e[1]), f[0].hypot(f[1]));
    let cross = e[0] * f[1] - e[1] * f[0];
    if length_e == 0.0 || length_f == 0.0 || cross.abs() > PARALLEL_SINE * length_e * length_f {
        return false;
    }
    let share = |p: &[f64; 2]| (e[0] * (p[0] - a[0]) + e[1] * (p[1] - a[1])) / (length_e * length_e);
    let (s, t) = (share(c), share(d));
    let (low, high) = (s.min(t).max(0.0), s.max(t).min(1.0));
    if low > high {
        return false;
    }
    let at = |share: f64| [a[0] + share * e[0], a[1] + share * e[1]];
    let ends = (at(low), at(high));
    (*a, *b) = ends;
    true
}
