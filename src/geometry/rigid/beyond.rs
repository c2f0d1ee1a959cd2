//! Overlaps with a mesh that are too deep for contact points.

use super::shape::{Kind, RigidShape};
use super::{MESH_DEPTH, spheres_meet};
use crate::geometry::Aabb;
use crate::geometry::intersections::cross;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::math::{RigidTransform, Vector3};

/// The depth of the deepest corner of one shape inside the other \[m\], if one of them is a mesh that is not
/// convex and the depth exceeds the limit of [`contact_points`](super::contact_points); otherwise `None`.
/// Meshes that are not closed have no inside and are skipped. The function examines all corners and is not
/// meant for every step.
pub fn depth_beyond_reach(A: &RigidShape, X_WA: &RigidTransform, B: &RigidShape, X_WB: &RigidTransform) -> Option<f64> {
    let kinds = [&A.kind, &B.kind];
    let meets = kinds.iter().any(|kind| matches!(kind, Kind::Mesh))
        && !kinds.iter().any(|kind| matches!(kind, Kind::HalfSpace))
        && A.is_sound
        && B.is_sound
        && spheres_meet(A, X_WA, B, X_WB, 0.0);
    if !meets {
        return None;
    }
    let depth = deepest_corner(A, X_WA, B, X_WB).max(deepest_corner(B, X_WB, A, X_WA));
    // The only corner of a ball is its centre, and contact is found while the ball reaches a face.
    let limit = match (&A.kind, &B.kind) {
        (Kind::Sphere { radius }, _) | (_, Kind::Sphere { radius }) => *radius,
        _ => MESH_DEPTH * A.radius.min(B.radius),
    };
    (depth > limit).then_some(depth)
}

/// Whether the triangles of two shapes cross by more than `tolerance` \[m\], at any depth and in meshes of
/// any quality. False without a mesh that is not convex: other shapes have contact points at any depth. Like
/// [`depth_beyond_reach`] it is not meant for every step.
pub fn surfaces_cross(
    A: &RigidShape,
    X_WA: &RigidTransform,
    B: &RigidShape,
    X_WB: &RigidTransform,
    tolerance: f64,
) -> bool {
    let has_mesh = [&A.kind, &B.kind].iter().any(|kind| matches!(kind, Kind::Mesh));
    let (Some(a), Some(b)) = (&A.surface, &B.surface) else { return false };
    if !has_mesh || !spheres_meet(A, X_WA, B, X_WB, 0.0) {
        return false;
    }
    let (X_AB, bounds_A) = (X_WA.inv_mul(X_WB), a.bounds());
    (0..b.mesh().triangles.len() as u32).any(|triangle| {
        let corners = b.corners(triangle).map(|p| X_AB.rotation * p + X_AB.translation.vector);
        let bounds = Aabb::around(&corners);
        let mut found = false;
        if bounds.overlaps(&bounds_A) {
            let visit = |other: u32, _: &Aabb| found |= cross(&a.corners(other), &corners, tolerance);
            a.bvh().walk(|node| node.overlaps(&bounds), visit);
        }
        found
    })
}

/// The depth of the deepest corner of `inner` in `outer` \[m\]; 0 if no corner is inside, or if `outer` is a
/// ball.
fn deepest_corner(outer: &RigidShape, X_WO: &RigidTransform, inner: &RigidShape, X_WI: &RigidTransform) -> f64 {
    let Some(surface) = &outer.surface else { return 0.0 };
    let center = [inner.center];
    let corners: &[Vector3] = inner.surface.as_ref().map_or(&center, |surface| &surface.mesh().vertices);
    let (X_OI, bounds) = (X_WO.inv_mul(X_WI), surface.bounds());
    let inside: Vec<Vector3> = corners
        .iter()
        .map(|corner| X_OI.rotation * corner + X_OI.translation.vector)
        .filter(|p| (0..3).all(|axis| p[axis] > bounds.min[axis] && p[axis] < bounds.max[axis]))
        .collect();
    if inside.is_empty() {
        return 0.0;
    }
    let distance = SurfaceDistance::new(surface.mesh());
    let mut guess = 0;
    inside.iter().map(|p| -distance.signed(p, &mut guess)).fold(0.0, f64::max)
}
