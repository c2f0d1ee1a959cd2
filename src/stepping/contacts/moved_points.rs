//! Contact points of rigid geometries after a motion of their bodies.

use nalgebra::UnitQuaternion;

use crate::geometry::{PointContacts, Shape};
use crate::math::{RigidTransform, Vector3};
use crate::multibody::Data;
use crate::scene::CollisionGeometry;

/// A contact point that moves farther than this between two nearby poses is a different point \[m\]: a
/// hundred times the change of a configuration for derivatives.
const SAME_POINT: f64 = 1e-3;
/// Smallest cosine between the normals of a point at two nearby poses [-]: 8 degrees. The angle between two
/// faces of a shape is larger.
const SAME_NORMAL: f64 = 0.99;

/// The place of the contact point p on a geometry after its body has moved from its pose in `start` to that
/// in `end`. It moves with the body. On a round surface it stays in the direction of the face of the `other`
/// geometry, which may turn too: a wheel rolls on the ground, and fingers turn with the ball that they hold.
pub(super) fn carried_along(
    [geometry, other]: [&CollisionGeometry; 2],
    (start, end): (&Data, &Data),
    p: &Vector3,
) -> Vector3 {
    let (X_WB, Y_WB) = (start.X_WB[geometry.body], end.X_WB[geometry.body]);
    let X_WG = X_WB * geometry.X_BG;
    let p_G = X_WG.inverse_transform_point(&(*p).into()).coords;
    let center_G = match geometry.shape {
        Shape::Sphere { .. } => Vector3::zeros(),
        Shape::Capsule { length, .. } => Vector3::z() * p_G.z.clamp(-0.5 * length, 0.5 * length),
        // Its flat faces do not roll.
        Shape::Cylinder { radius, length } if radius - p_G.xy().norm() <= 0.5 * length - p_G.z.abs() => {
            Vector3::z() * p_G.z
        }
        _ => p_G,
    };
    let Y_WG = Y_WB * geometry.X_BG;
    let round = matches!(other.shape, Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Cylinder { .. });
    let turned = end.X_WB[other.body].rotation * start.X_WB[other.body].rotation.inverse();
    let turned = UnitQuaternion::from_rotation_matrix(&turned);
    let mut p_GC = X_WG.rotation * (p_G - center_G);
    if matches!(geometry.shape, Shape::Cylinder { .. }) {
        // It rolls about its axis only. Turns of the axis carry the point along.
        let (axis, tipped) = (X_WG.rotation * Vector3::z(), Y_WG.rotation * Vector3::z());
        p_GC = UnitQuaternion::rotation_between(&axis, &tipped).map_or(p_GC, |swing| swing * p_GC);
        if !round {
            let along = UnitQuaternion::rotation_between(&axis, &(turned * axis));
            let about = along.map_or(turned, |swing| swing.inverse() * turned);
            let angle = 2.0 * about.imag().dot(&axis).atan2(about.w);
            p_GC = UnitQuaternion::from_scaled_axis(tipped * angle) * p_GC;
        }
    } else if !round {
        p_GC = turned * p_GC;
    }
    (Y_WG * nalgebra::Point3::from(center_G)).coords + p_GC
}

/// The nearest point to p with nearly the normal n.
pub(super) fn same_point(p: &Vector3, n: &Vector3, points: &PointContacts) -> Option<usize> {
    let distance = |index: usize| (points.p_WC[index] - p).norm();
    let same = |index: &usize| distance(*index) <= SAME_POINT && points.normal[*index].dot(n) >= SAME_NORMAL;
    (0..points.len()).filter(same).min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
}

/// The point p with normal n and distance phi after the motions of bodies A and B. Its two surface points
/// move with the bodies, and the normal with both of them in equal parts. The distance is exact to first
/// order for any normal between those of the bodies.
pub(super) fn carried(motions: [RigidTransform; 2], p: &Vector3, n: &Vector3, phi: f64) -> (Vector3, Vector3, f64) {
    let [p_A, p_B] = [-0.5, 0.5].map(|part| p + n * (part * phi));
    let moved = |X: &RigidTransform, p: &Vector3| X.rotation * p + X.translation.vector;
    let (p_A, p_B) = (moved(&motions[0], &p_A), moved(&motions[1], &p_B));
    let n = (motions[0].rotation * n + motions[1].rotation * n).normalize();
    ((p_A + p_B) * 0.5, n, n.dot(&(p_B - p_A)))
}
