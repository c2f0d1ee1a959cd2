//! Deep overlaps of meshes: triangles that cross, a mesh inside another, and what lies between two faces.

use super::clip::Scratch;
use super::points::{FacePair, PointContact};
use crate::geometry::intersections::cross;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::{Aabb, RigidSurface};
use crate::math::{RigidTransform, Vector3};

/// The ends of the line between two faces belong to the faces, up to this share of its length. [-]
const OWN_END: f64 = 0.01;
/// A line that meets a triangle this near to its border, as a share of the triangle's area, meets it. [-]
const BORDER: f64 = 1e-9;
/// A direction that is parallel to no face of usual meshes. [-]
const ODD_DIRECTION: [f64; 3] = [0.5257, 0.3471, 0.7764];

/// Whether two triangles, each with its normal, cross by more than `tolerance` \[m\].
pub(super) fn triangles_cross(
    (a, normal_a): (&[Vector3; 3], &Vector3),
    (b, normal_b): (&[Vector3; 3], &Vector3),
    tolerance: f64,
) -> bool {
    // Most near triangles lie on one side of each other's plane.
    let straddles = |corners: &[Vector3; 3], normal: &Vector3, at: f64| {
        let heights = corners.map(|corner| normal.dot(&corner) - at);
        heights.iter().any(|height| *height > tolerance) && heights.iter().any(|height| *height < -tolerance)
    };
    straddles(b, normal_a, normal_a.dot(&a[0])) && straddles(a, normal_b, normal_b.dot(&b[0])) && cross(a, b, tolerance)
}

/// How two meshes overlap deeply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeepOverlap {
    /// Their surfaces cross.
    Crossing,
    /// The first is inside the second.
    InsideB,
    /// The second is inside the first.
    InsideA,
}

impl DeepOverlap {
    /// Whether one of two surfaces that do not cross is inside the other.
    pub(super) fn inside(A: &RigidSurface, B: &RigidSurface, X_BA: &RigidTransform) -> Option<Self> {
        if is_around(A, B, &X_BA.inverse()) {
            Some(Self::InsideA)
        } else {
            is_around(B, A, X_BA).then_some(Self::InsideB)
        }
    }

    /// Whether the overlap ends between the two faces of a contact deeper than `shallow` \[m\], because a
    /// surface lies there: then the faces are for example the far sides of two thin plates that touch. A body
    /// inside another is pushed out as a whole, so that its own surface does not count. The points belong to
    /// one pair of triangles and are given in the frame of B.
    pub(super) fn ends_between(
        self,
        points: &[PointContact],
        (surface_A, X_BA): (&RigidSurface, &RigidTransform),
        surface_B: &RigidSurface,
        shallow: f64,
    ) -> bool {
        let Some(first) = points.first() else { return false };
        let share = 1.0 / points.len() as f64;
        let depth = -points.iter().map(|point| point.phi).sum::<f64>() * share;
        if depth <= shallow {
            return false;
        }
        let middle = points.iter().map(|point| point.p).sum::<Vector3>() * share;
        let half = first.normal * (0.5 * depth * (1.0 - 2.0 * OWN_END));
        let (from, to) = (middle - half, middle + half);
        let X_AB = X_BA.inverse();
        let in_A = |p: &Vector3| X_AB.rotation * p + X_AB.translation.vector;
        (self != Self::InsideA && meets(surface_B, &from, &to) > 0)
            || (self != Self::InsideB && meets(surface_A, &in_A(&from), &in_A(&to)) > 0)
    }
}

/// Removes the points, from `first` on, of a deep overlap to which another pair of faces offers a shorter way
/// out: faces that push in another direction (a cosine below `same_way`), are less deep, and are nearer to
/// the point than its own depth.
pub(super) fn drop_longer_ways(found: &mut Vec<PointContact>, first: usize, same_way: f64, scratch: &mut Scratch) {
    let Scratch { groups, faces, dropped, .. } = scratch;
    let points = |[from, to]: &[u32; 2]| &found[*from as usize..*to as usize];
    faces.clear();
    faces.extend(groups.iter().filter_map(|group| FacePair::of(points(group), *group)).filter(|face| face.phi <= 0.0));
    faces.sort_unstable_by(|a, b| b.phi.total_cmp(&a.phi).then(a.range.cmp(&b.range)));
    let is_near = |p: &Vector3, outline: &[PointContact], reach: f64| {
        let corner = |i: usize| outline[i.min(outline.len() - 1)].p;
        (1..outline.len().max(2) - 1)
            .any(|i| SurfaceDistance::to_triangle(p, &[corner(0), corner(i), corner(i + 1)]) < reach)
            || SurfaceDistance::to_triangle(p, &[corner(0), corner(1), corner(1)]) < reach
    };
    dropped.clear();
    dropped.extend(found[first..].iter().map(|point| {
        faces.iter().take_while(|other| point.phi < other.phi).any(|other| {
            (point.p - other.center).norm() - other.radius < -point.phi
                && other.normal.dot(&point.normal) < same_way
                && is_near(&point.p, points(&other.range), -point.phi)
        })
    }));
    let mut number = 0;
    found.retain(|_| {
        number += 1;
        number <= first || !dropped[number - 1 - first]
    });
}

/// Whether the surface `inner` is inside `outer`, if the two do not cross. `X_OI` is the pose of `inner` in
/// the frame of `outer`.
fn is_around(outer: &RigidSurface, inner: &RigidSurface, X_OI: &RigidTransform) -> bool {
    let (bounds, part) = (outer.bounds(), inner.bounds().transformed(X_OI));
    // The box of the part in turned axes is larger than the part, so only its centre has to be inside.
    let center = part.center();
    if (0..3).any(|axis| center[axis] < bounds.min[axis] || center[axis] > bounds.max[axis]) {
        return false;
    }
    // A vertex alone may be inside by rounding, as that of a box that stands in a tray. The deep search would
    // find nothing more then, and takes far longer.
    let vertices = &inner.mesh().vertices;
    let number = vertices.len();
    !vertices.is_empty()
        && [0, number / 3, 2 * number / 3, number - 1].into_iter().all(|vertex| {
            let from = X_OI.rotation * vertices[vertex] + X_OI.translation.vector;
            let length = 2.0 * ((bounds.max - bounds.min).norm() + (from - bounds.center()).norm());
            meets(outer, &from, &(from + Vector3::from(ODD_DIRECTION) * length)) % 2 == 1
        })
}

/// The number of triangles of a surface that the line from `from` to `to` meets.
fn meets(surface: &RigidSurface, from: &Vector3, to: &Vector3) -> usize {
    let along = to - from;
    let mut count = 0;
    surface.bvh().walk(
        |node| touches(node, from, &along),
        |element, _| {
            let normal = surface.normals()[element as usize];
            let corners = surface.corners(element);
            let slope = normal.dot(&along);
            let share = normal.dot(&(corners[0] - from)) / slope;
            if slope != 0.0 && (0.0..=1.0).contains(&share) {
                let at = from + along * share;
                let area = normal.dot(&(corners[1] - corners[0]).cross(&(corners[2] - corners[0])));
                let is_within = (0..3).all(|edge| {
                    let (a, b) = (corners[edge], corners[(edge + 1) % 3]);
                    normal.dot(&(b - a).cross(&(at - a))) >= -BORDER * area
                });
                count += usize::from(is_within);
            }
        },
    );
    count
}

/// Whether the line from `from` along `along` meets a box.
fn touches(bounds: &Aabb, from: &Vector3, along: &Vector3) -> bool {
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for axis in 0..3 {
        let (low, high) = (bounds.min[axis] - from[axis], bounds.max[axis] - from[axis]);
        if along[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
            continue;
        }
        let (s, t) = (low / along[axis], high / along[axis]);
        enters = enters.max(s.min(t));
        leaves = leaves.min(s.max(t));
    }
    enters <= leaves
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::geometry::SurfaceMesh;
    use crate::math::Rotation;

    /// A cube of 20 mm in the hole of a ring, one vertex of which is inside the wall by 1 nm, is not inside
    /// the ring; in its wall it is.
    #[test]
    fn a_vertex_in_a_wall_is_not_a_body_inside() {
        let ring = RigidSurface::new(samples::ring(4, [0.05, 0.1])).unwrap();
        // The first vertex is the one towards the wall x + y = 50 mm.
        let sign = |k: u32, axis: u32| if k >> axis & 1 == 0 { 1.0 } else { -1.0 };
        let vertices = (0..8).map(|k| 0.01 * Vector3::new(sign(k, 0), sign(k, 1), 0.5 * sign(k, 2))).collect();
        let faces = [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]];
        let triangles = faces.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let cube = RigidSurface::new(SurfaceMesh { vertices, triangles }).unwrap();
        let at = |c: f64| RigidTransform::from_parts(Vector3::new(c, c, 0.0).into(), Rotation::identity());
        assert!(!is_around(&ring, &cube, &at(0.015 + 1e-9)));
        assert!(is_around(&ring, &cube, &at(0.0375)));
    }
}
