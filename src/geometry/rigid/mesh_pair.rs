//! A mesh against another shape with faces: every pair of near triangles that face each other.

use super::clip::{Scratch, clip_features};
use super::deep::{DeepOverlap, drop_longer_ways, triangles_cross};
use super::edge_cones::EdgeCones;
use super::points::PointContact;
use super::shape::RigidShape;
use super::workspace::RigidWorkspace;
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::{Aabb, RigidSurface};
use crate::math::{RigidTransform, Vector3};

/// A non-convex mesh finds no contact beyond this depth, as a share of the radius of the smaller shape. [-]
pub const MESH_DEPTH: f64 = 0.2;
/// Triangles face each other if the cosine between their normals is below this; above it, another face of the
/// convex corner faces the other triangle. [-]
const FACING_COSINE: f64 = -0.01;
/// Faces that lie behind each other by more than this share of the smaller radius are searched only if the
/// surfaces cross by more than [`CROSSING_DEPTH`], or one is inside the other: in usual contact they are the
/// far sides of thin parts. [-]
const SEARCH_DEPTH: f64 = 1e-3;
/// See [`SEARCH_DEPTH`]. [-]
const CROSSING_DEPTH: f64 = 5e-4;
/// The separation along an edge axis must exceed that along the face axes by this share of the size. [-]
const FACE_PREFERENCE: f64 = 1e-6;
/// A point P is dropped as the wrong way out of an overlap if another point Q pushes in another direction, P
/// is more than this many times as deep as Q, and Q is nearer to P than the depth of P. Such points appear
/// past the edge of a face that another body barely covers. [-]
const WRONG_WAY: f64 = 10.0;
/// Normals with a larger cosine push the same way. [-]
const SAME_WAY: f64 = 0.7;

/// One triangle of a pair.
struct Triangle {
    corners: [Vector3; 3],
    normal: Vector3,
    beyond: [Option<Vector3>; 3],
}

impl Triangle {
    fn of(surface: &RigidSurface, cones: &EdgeCones, element: u32) -> Self {
        Self {
            corners: surface.corners(element),
            normal: surface.normals()[element as usize],
            beyond: cones.beyond[element as usize],
        }
    }

    fn moved(&self, X: &RigidTransform) -> Self {
        Self {
            corners: self.corners.map(|p| X.rotation * p + X.translation.vector),
            normal: X.rotation * self.normal,
            beyond: self.beyond.map(|normal| normal.map(|normal| X.rotation * normal)),
        }
    }

    fn reach(&self, n: &Vector3) -> f64 {
        self.corners.iter().map(|p| n.dot(p)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether `n` lies between the two faces of the edge.
    fn edge_looks_along(&self, edge: usize, n: &Vector3) -> bool {
        let Some(beyond) = self.beyond[edge] else { return false };
        let around = self.normal.cross(&beyond);
        self.normal.cross(n).dot(&around) >= 0.0 && n.cross(&beyond).dot(&around) >= 0.0
    }

    fn edge(&self, edge: usize) -> Vector3 {
        self.corners[(edge + 1) % 3] - self.corners[edge]
    }
}

/// A ball around a triangle, and the cone of its normal and those beyond its convex edges.
struct Reach {
    center: Vector3,
    radius: f64,
    normal: Vector3,
    /// Cosine and sine of the half angle of the cone [-].
    cone: (f64, f64),
}

impl Reach {
    fn of(corners: &[Vector3; 3], normal: Vector3) -> Self {
        let center = (corners[0] + corners[1] + corners[2]) / 3.0;
        let radius = corners.iter().map(|p| (p - center).norm_squared()).fold(0.0, f64::max).sqrt();
        Self { center, radius, normal, cone: (1.0, 0.0) }
    }

    fn with_cone(mut self, beyond: &[Option<Vector3>; 3]) -> Self {
        let least = beyond.iter().flatten().map(|normal| normal.dot(&self.normal)).fold(1.0, f64::min).max(-1.0);
        self.cone = (least, (1.0 - least * least).sqrt());
        self
    }

    /// Whether the two triangles are farther apart than `detection`, or do not overlap as seen along any
    /// direction in which they may touch: the normal of one of them, or one within the cone of the first.
    fn is_out_of(&self, other: &Self, detection: f64) -> bool {
        let between = other.center - self.center;
        let size = (self.radius + other.radius) * (1.0 + FACE_PREFERENCE);
        // The offset across the direction within the cone that is nearest to the offset
        let across = |normal: &Vector3, (cosine, sine): (f64, f64)| {
            between.cross(normal).norm() * cosine - between.dot(normal).abs() * sine
        };
        between.norm() - size >= detection
            || across(&self.normal, self.cone) > size && across(&other.normal, (1.0, 0.0)) > size
    }
}

/// The axis from `a` into `b` along which they overlap least or are farthest apart, and that separation
/// \[m\].
fn axis(a: &Triangle, b: &Triangle, size: f64) -> (f64, Vector3) {
    let separation = |n: &Vector3| -b.reach(&-n) - a.reach(n);
    let mut best = (separation(&a.normal), a.normal);
    let against_b = separation(&-b.normal);
    if against_b > best.0 {
        best = (against_b, -b.normal);
    }
    for i in 0..3 {
        for j in 0..3 {
            let Some(n) = a.edge(i).cross(&b.edge(j)).try_normalize(1e-6 * size * size) else { continue };
            let n = if n.dot(&a.normal) - n.dot(&b.normal) >= 0.0 { n } else { -n };
            if !(a.edge_looks_along(i, &n) && b.edge_looks_along(j, &-n)) {
                continue;
            }
            let s = separation(&n);
            if s > best.0 + FACE_PREFERENCE * size {
                best = (s, n);
            }
        }
    }
    best
}

/// Removes the points, from `first` on, that push the wrong way out of an overlap; see [`WRONG_WAY`]. They
/// are examined in their order, and those removed count no more. Points that are near enough to another one
/// are found by their first coordinate: fine meshes have thousands of points, most of them with a tiny depth.
fn drop_wrong_ways(found: &mut Vec<PointContact>, first: usize, scratch: &mut Scratch) {
    let Scratch { order, dropped, .. } = scratch;
    let points = &found[first..];
    order.clear();
    order.extend((0..points.len() as u32).filter(|i| points[*i as usize].phi <= 0.0));
    order.sort_unstable_by(|a, b| points[*a as usize].p.x.total_cmp(&points[*b as usize].p.x).then(a.cmp(b)));
    dropped.clear();
    dropped.resize(points.len(), false);
    for (i, point) in points.iter().enumerate().filter(|(_, point)| point.phi < 0.0) {
        let shorter = |other: &PointContact| {
            point.phi < WRONG_WAY * other.phi
                && (other.p - point.p).norm() < -point.phi
                && other.normal.dot(&point.normal) < SAME_WAY
        };
        let start = order.partition_point(|k| points[*k as usize].p.x < point.p.x + point.phi);
        dropped[i] = order[start..]
            .iter()
            .map(|k| *k as usize)
            .take_while(|k| points[*k].p.x <= point.p.x - point.phi)
            .any(|k| !dropped[k] && shorter(&points[k]));
    }
    let mut number = 0;
    found.retain(|_| {
        number += 1;
        number <= first || !dropped[number - 1 - first]
    });
}

/// Contact points of two shapes with faces, at least one of them a mesh.
pub(super) fn points(
    A: &RigidShape,
    X_WA: &RigidTransform,
    B: &RigidShape,
    X_WB: &RigidTransform,
    detection: f64,
    workspace: &mut RigidWorkspace,
) {
    let first = workspace.found.len();
    let X_BA = X_WB.inv_mul(X_WA);
    let overlap = search(A, B, &X_BA, detection, None, workspace);
    if overlap.is_some() {
        workspace.found.truncate(first);
        workspace.scratch.groups.clear();
        search(A, B, &X_BA, detection, overlap, workspace);
    }
    let RigidWorkspace { found, scratch, .. } = workspace;
    match overlap {
        Some(_) => drop_longer_ways(found, first, SAME_WAY, scratch),
        None => drop_wrong_ways(found, first, scratch),
    }
    for point in &mut found[first..] {
        *point = PointContact {
            p: X_WB.rotation * point.p + X_WB.translation.vector,
            normal: X_WB.rotation * point.normal,
            phi: point.phi,
        };
    }
}

/// Appends the points of all pairs of near triangles to the workspace, in the frame of B; for a deep overlap
/// also those of faces that lie behind each other with nothing else between them. Without `deep` returns the
/// deep overlap that it finds.
fn search(
    A: &RigidShape,
    B: &RigidShape,
    X_BA: &RigidTransform,
    detection: f64,
    deep: Option<DeepOverlap>,
    workspace: &mut RigidWorkspace,
) -> Option<DeepOverlap> {
    let (surface_A, cones_A) = A.faces()?;
    let (surface_B, cones_B) = B.faces()?;
    let size = A.radius.min(B.radius);
    let limits = (MESH_DEPTH * size, detection);
    let reach = Vector3::repeat(detection + if deep.is_some() { MESH_DEPTH } else { SEARCH_DEPTH } * size);
    let bounds_B = surface_B.bounds();
    let grown = Aabb { min: bounds_B.min - reach, max: bounds_B.max + reach };
    let overlap = OrientedOverlap::new(&grown, X_BA);
    let RigidWorkspace { found, feature_A, feature_B, scratch, .. } = workspace;
    let mut near = std::mem::take(&mut scratch.near);
    near.clear();
    surface_A.bvh().walk(|node| overlap.may_touch(node), |element, _| near.push(element));
    let mut crosses = false;
    for &element in &near {
        let a = Triangle::of(surface_A, cones_A, element).moved(X_BA);
        let bounds = Aabb::around(&a.corners);
        let bounds = Aabb { min: bounds.min - reach, max: bounds.max + reach };
        let reach_A = Reach::of(&a.corners, a.normal).with_cone(&a.beyond);
        surface_B.bvh().walk(
            |node| node.overlaps(&bounds),
            |element, _| {
                let normal = surface_B.normals()[element as usize];
                if deep.is_none() && !crosses {
                    let b = (surface_B.corners(element), normal);
                    crosses = triangles_cross((&a.corners, &a.normal), (&b.0, &b.1), CROSSING_DEPTH * size);
                }
                if a.normal.dot(&normal) > FACING_COSINE {
                    return;
                }
                if reach_A.is_out_of(&Reach::of(&surface_B.corners(element), normal), detection) {
                    return;
                }
                let b = Triangle::of(surface_B, cones_B, element);
                let (separation, n) = axis(&a, &b, size);
                if separation >= detection || separation < -limits.0 {
                    return;
                }
                feature_A.set(&a.corners, a.normal);
                feature_B.set(&b.corners, b.normal);
                let from = found.len();
                clip_features(feature_A, feature_B, (0.0, 0.0), &n, limits, scratch, found);
                // Also apart from each other, the far sides of two thin plates face each other.
                let overlap = deep.unwrap_or(DeepOverlap::Crossing);
                if overlap.ends_between(&found[from..], (surface_A, X_BA), surface_B, SEARCH_DEPTH * size) {
                    found.truncate(from);
                }
                if deep.is_some() && found.len() > from {
                    scratch.groups.push([from as u32, found.len() as u32]);
                }
            },
        );
    }
    scratch.near = near;
    if crosses {
        Some(DeepOverlap::Crossing)
    } else if deep.is_none() {
        DeepOverlap::inside(surface_A, surface_B, X_BA)
    } else {
        None
    }
}
