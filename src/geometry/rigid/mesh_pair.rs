//! A mesh against another shape with faces: every pair of near triangles that face each other.

use std::cell::Cell;

use super::clip::{Scratch, clip_features};
use super::deep::{DeepOverlap, drop_longer_ways, triangles_cross};
use super::near_triangles::NearTriangles;
use super::points::PointContact;
use super::reach::{FACING_COSINE, ReachLimits};
use super::shape::RigidShape;
use super::triangle::Triangle;
use super::workspace::RigidWorkspace;
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::{Aabb, RigidSurface};
use crate::math::{RigidTransform, Vector3};

/// A non-convex mesh finds no contact beyond this depth, as a share of the radius of the smaller shape. [-]
pub const MESH_DEPTH: f64 = 0.2;
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
/// Faces that are apart by less than this share of the smaller radius touch: they are flush but for rounding.
/// [-]
const FLUSH: f64 = 1e-9;
/// Normals with a larger cosine push the same way. [-]
const SAME_WAY: f64 = 0.7;

/// The axis from `a` into `b` along which they overlap least or are farthest apart, and that separation
/// \[m\]. `None` if it is not below `detection` \[m\].
fn axis(a: &Triangle, b: &Triangle, size: f64, detection: f64) -> Option<(f64, Vector3)> {
    let separation = |n: &Vector3| -b.reach(&-n) - a.reach(n);
    let mut best = (separation(&a.normal), a.normal);
    if best.0 >= detection {
        return None;
    }
    let against_b = separation(&-b.normal);
    if against_b >= detection {
        return None;
    }
    if against_b > best.0 {
        best = (against_b, -b.normal);
    }
    let edges = |triangle: &Triangle| [0, 1, 2].map(|edge| triangle.beyond[edge].is_some());
    let (convex_A, convex_B) = (edges(a), edges(b));
    for i in (0..3).filter(|i| convex_A[*i]) {
        for j in (0..3).filter(|j| convex_B[*j]) {
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
    (best.0 < detection).then_some(best)
}

/// Removes the points, from `first` on, that push the wrong way out of an overlap; see [`WRONG_WAY`]. They
/// are examined in their order, and those removed count no more. Points that are near enough to another one
/// are found by their first coordinate: fine meshes have thousands of points, most of them with a tiny depth.
fn drop_wrong_ways(found: &mut Vec<PointContact>, first: usize, flush: f64, scratch: &mut Scratch) {
    let Scratch { order, dropped, .. } = scratch;
    let points = &found[first..];
    order.clear();
    order.extend((0..points.len() as u32).filter(|i| points[*i as usize].phi <= flush));
    order.sort_unstable_by(|a, b| points[*a as usize].p.x.total_cmp(&points[*b as usize].p.x).then(a.cmp(b)));
    dropped.clear();
    dropped.resize(points.len(), false);
    for (i, point) in points.iter().enumerate().filter(|(_, point)| point.phi < 0.0) {
        let shorter = |other: &PointContact| {
            // Two faces of a corner are flush with both of those of another one: none is dropped
            (other.phi <= 0.0 || point.phi < -flush)
                && point.phi < WRONG_WAY * other.phi
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
    let overlap = deep_overlap(A, B, &X_BA, workspace);
    workspace.scratch.groups.clear();
    search(A, B, &X_BA, detection, overlap, workspace);
    let RigidWorkspace { found, scratch, .. } = workspace;
    match overlap {
        Some(_) => drop_longer_ways(found, first, SAME_WAY, scratch),
        None => drop_wrong_ways(found, first, FLUSH * A.radius.min(B.radius), scratch),
    }
    for point in &mut found[first..] {
        *point = PointContact {
            p: X_WB.rotation * point.p + X_WB.translation.vector,
            normal: X_WB.rotation * point.normal,
            phi: point.phi,
        };
    }
}

/// The numbers of the triangles of A that may touch the box of B grown by `reach` \[m\].
fn find_near(A: &RigidSurface, B: &RigidSurface, X_BA: &RigidTransform, reach: f64, near: &mut Vec<u32>) {
    let overlap = OrientedOverlap::new(&B.bounds().grown(reach), X_BA);
    near.clear();
    A.bvh().walk(|node| overlap.may_touch(node), |element, _| near.push(element));
}

/// Whether the surfaces cross deeply, or one is inside the other.
fn deep_overlap(
    A: &RigidShape,
    B: &RigidShape,
    X_BA: &RigidTransform,
    workspace: &mut RigidWorkspace,
) -> Option<DeepOverlap> {
    let ((surface_A, ..), (surface_B, ..)) = (A.faces()?, B.faces()?);
    let tolerance = CROSSING_DEPTH * A.radius.min(B.radius);
    let near = &mut workspace.scratch.near;
    find_near(surface_A, surface_B, X_BA, 0.0, near);
    let crosses = near.iter().any(|element| {
        let corners = surface_A.corners(*element).map(|p| X_BA.rotation * p + X_BA.translation.vector);
        let normal = X_BA.rotation * surface_A.normals()[*element as usize];
        let bounds = Aabb::around(&corners);
        let found = Cell::new(false);
        surface_B.bvh().walk(
            |node| !found.get() && node.overlaps(&bounds),
            |other, _| {
                let b = (surface_B.corners(other), surface_B.normals()[other as usize]);
                found.set(found.get() || triangles_cross((&corners, &normal), (&b.0, &b.1), tolerance));
            },
        );
        found.get()
    });
    if crosses { Some(DeepOverlap::Crossing) } else { DeepOverlap::inside(surface_A, surface_B, X_BA) }
}

/// Appends the points of all pairs of near triangles to the workspace, in the frame of B; for a deep overlap
/// also those of faces that lie behind each other with nothing else between them.
fn search(
    A: &RigidShape,
    B: &RigidShape,
    X_BA: &RigidTransform,
    detection: f64,
    deep: Option<DeepOverlap>,
    workspace: &mut RigidWorkspace,
) {
    let (Some(faces_A), Some(faces_B)) = (A.faces(), B.faces()) else { return };
    let ((surface_A, cones_A, reaches_A), (surface_B, cones_B, reaches_B)) = (faces_A, faces_B);
    let size = A.radius.min(B.radius);
    let limits = (MESH_DEPTH * size, detection);
    let depth = if deep.is_some() { MESH_DEPTH } else { SEARCH_DEPTH } * size;
    let RigidWorkspace { found, feature_A, feature_B, scratch, .. } = workspace;
    let mut stack = std::mem::take(&mut scratch.stack);
    let triangles = NearTriangles {
        surface_A,
        cones_A,
        reaches_A,
        surface_B,
        reaches_B,
        X_BA,
        apart: detection + depth,
        // Points of two triangles are as far apart as their faces, in either direction.
        limits: ReachLimits { distance: detection.max(depth), depth: limits.0 },
    };
    triangles.walk(&mut stack, &mut |a, reach, leaves| {
        let bounds = Aabb::around(&a.corners).grown(detection + depth);
        for leaf in leaves {
            let leaf = *leaf as usize;
            let Some(other) = surface_B.bvh().element(leaf) else { continue };
            let normal = surface_B.normals()[other as usize];
            if a.normal.dot(&normal) > FACING_COSINE || !surface_B.bvh().bounds_of(leaf).overlaps(&bounds) {
                continue;
            }
            let b = Triangle::of(surface_B, cones_B, other);
            let offset = reach.offset_to(&reaches_B[leaf], &triangles.limits);
            if reach.normals_miss(&reaches_B[leaf], &offset) && !b.edges_meet(&offset, -1.0) {
                continue;
            }
            let Some((separation, n)) = axis(a, &b, size, detection) else { continue };
            if separation < -limits.0 || offset.is_across(&n) {
                continue;
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
        }
    });
    scratch.stack = stack;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::samples;
    use super::*;
    use crate::geometry::Shape;
    use crate::math::Random;

    /// Each component uniform in [-size, size).
    fn any_vector(size: f64, random: &mut Random) -> Vector3 {
        Vector3::from_fn(|_, _| size * random.signed())
    }

    /// A ring of 60 mm with a square cross-section, whose corners are moved at random by up to `jitter`
    /// \[m\], scaled along each axis.
    fn ring(jitter: f64, scale: [f64; 3], random: &mut Random) -> RigidShape {
        let mut mesh = samples::ring(10, [0.04, 0.06]);
        for vertex in &mut mesh.vertices {
            *vertex = (*vertex + any_vector(jitter, random)).component_mul(&Vector3::from(scale));
        }
        RigidShape::new(&Shape::Mesh(Arc::new(mesh))).unwrap()
    }

    /// The points of all pairs of triangles that face each other, without any search.
    fn points_of_all_pairs(
        (A, B): (&RigidShape, &RigidShape),
        X_BA: &RigidTransform,
        detection: f64,
        deep: Option<DeepOverlap>,
    ) -> Vec<PointContact> {
        let ((surface_A, cones_A, _), (surface_B, cones_B, _)) = (A.faces().unwrap(), B.faces().unwrap());
        let size = A.radius.min(B.radius);
        let RigidWorkspace { mut found, mut feature_A, mut feature_B, mut scratch, .. } = RigidWorkspace::default();
        for one in 0..surface_A.mesh().triangles.len() as u32 {
            let a = Triangle::of(surface_A, cones_A, one).moved(X_BA);
            for other in 0..surface_B.mesh().triangles.len() as u32 {
                let b = Triangle::of(surface_B, cones_B, other);
                if a.normal.dot(&b.normal) > FACING_COSINE {
                    continue;
                }
                let Some((separation, n)) = axis(&a, &b, size, detection) else { continue };
                if separation < -MESH_DEPTH * size {
                    continue;
                }
                feature_A.set(&a.corners, a.normal);
                feature_B.set(&b.corners, b.normal);
                let (from, limits) = (found.len(), (MESH_DEPTH * size, detection));
                clip_features(&mut feature_A, &mut feature_B, (0.0, 0.0), &n, limits, &mut scratch, &mut found);
                let overlap = deep.unwrap_or(DeepOverlap::Crossing);
                if overlap.ends_between(&found[from..], (surface_A, X_BA), surface_B, SEARCH_DEPTH * size) {
                    found.truncate(from);
                }
            }
        }
        found
    }

    /// The search loses no contact that the pairs of triangles have, each examined by itself, and has no
    /// other: the same bits, for meshes that are flat, sharp and irregular, near, far and inside each other.
    /// Without a deep overlap, faces that lie behind each other by more than the depth of the search may be
    /// left out.
    #[test]
    fn the_search_loses_no_contact() {
        let random = &mut Random::new(1);
        let scales = [[1.0; 3], [1.0, 1.0, 0.1], [0.2, 1.0, 1.0], [3.0, 3.0, 3.0]];
        let shapes = scales.map(|scale| [0.0, 0.004, 0.009].map(|jitter| ring(jitter, scale, random)));
        let shapes: Vec<RigidShape> = shapes.into_iter().flatten().collect();
        let mut workspace = RigidWorkspace::default();
        let (mut counted, mut deep_points, mut lost) = (0, 0, 0);
        for k in 0..600 {
            let mut any = || &shapes[(random.next() * shapes.len() as f64) as usize];
            let (A, B) = (any(), any());
            let place = any_vector(0.06, random);
            let X_BA = RigidTransform::from_parts(place.into(), random.rotation());
            let detection = [0.0, 1e-3, 0.01, 0.05][k % 4];
            let deep = [None, Some(DeepOverlap::Crossing)][k / 4 % 2];
            workspace.found.clear();
            workspace.scratch.groups.clear();
            search(A, B, &X_BA, detection, deep, &mut workspace);
            let depth = if deep.is_some() { MESH_DEPTH } else { SEARCH_DEPTH } * A.radius.min(B.radius);
            let key = |point: &PointContact| {
                let PointContact { p, normal, phi } = point;
                [p.x, p.y, p.z, normal.x, normal.y, normal.z, *phi].map(f64::to_bits)
            };
            let mut found: Vec<[u64; 7]> = workspace.found.iter().map(key).collect();
            found.sort_unstable();
            let all = points_of_all_pairs((A, B), &X_BA, detection, deep);
            let mut expected: Vec<[u64; 7]> = all.iter().map(key).collect();
            expected.sort_unstable();
            assert!(found.iter().all(|point| expected.binary_search(point).is_ok()), "{k}: a point of no pair");
            let needed = all.iter().filter(|point| point.phi > -depth);
            let missing = needed.clone().filter(|point| found.binary_search(&key(point)).is_err()).count();
            lost += missing;
            counted += needed.count();
            deep_points += all.iter().filter(|point| point.phi < -2.0 * SEARCH_DEPTH * A.radius).count();
        }
        assert_eq!(lost, 0, "of {counted} points");
        assert!(counted > 10_000 && deep_points > 1_000, "{counted} points, {deep_points} of them deep");
    }
}
