//! A half space against other shapes: their points closest to the plane or below it.

use super::points::PointContact;
use super::shape::{Kind, RigidShape};
use super::workspace::RigidWorkspace;
use crate::math::{RigidTransform, Vector3};

/// Points on the rim of a cylinder that stands on its end.
const RIM_POINTS: usize = 8;

/// Contact points of the half space z <= 0 of H and `other`; the normals point out of the half space.
pub(super) fn points(
    X_WH: &RigidTransform,
    other: &RigidShape,
    X_WO: &RigidTransform,
    detection: f64,
    workspace: &mut RigidWorkspace,
) {
    let normal = X_WH.rotation * Vector3::z();
    let n = X_WO.rotation.inverse() * normal;
    let level = normal.dot(&(X_WO.translation.vector - X_WH.translation.vector));
    let found = &mut workspace.found;
    let mut push = |p_O: &Vector3, radius: f64| {
        let phi = level + n.dot(p_O) - radius;
        if phi < detection {
            let p = X_WO.rotation * p_O + X_WO.translation.vector - normal * (radius + 0.5 * phi);
            found.push(PointContact { p, normal, phi });
        }
    };
    match &other.kind {
        Kind::HalfSpace => {}
        Kind::Sphere { radius } => push(&Vector3::zeros(), *radius),
        Kind::Capsule { radius, half, .. } => {
            push(&Vector3::new(0.0, 0.0, -half), *radius);
            push(&Vector3::new(0.0, 0.0, *half), *radius);
        }
        Kind::Cylinder { radius, half, .. } => {
            let lateral = Vector3::new(-n.x, -n.y, 0.0).try_normalize(1e-12).unwrap_or_else(Vector3::x);
            let end = -half.copysign(n.z);
            let beside = Vector3::z().cross(&lateral);
            for i in 0..RIM_POINTS {
                let (sin, cos) = (std::f64::consts::TAU * i as f64 / RIM_POINTS as f64).sin_cos();
                push(&((lateral * cos + beside * sin) * *radius + Vector3::new(0.0, 0.0, end)), 0.0);
            }
            push(&(lateral * *radius - Vector3::new(0.0, 0.0, end)), 0.0);
        }
        Kind::Polytope { semi_axes: Some(axes), .. } => {
            let stretched = n.component_mul(axes);
            push(&(-stretched.component_mul(axes) / stretched.norm().max(f64::MIN_POSITIVE)), 0.0);
        }
        Kind::Polytope { polytope, .. } => {
            polytope.vertices.iter().for_each(|vertex| push(vertex, 0.0));
        }
        Kind::Mesh => {
            let Some(surface) = &other.surface else { return };
            let lowest = |bounds: &crate::geometry::Aabb| {
                level + n.dot(&bounds.center()) - n.abs().dot(&bounds.half_extents()) < detection
            };
            surface.bvh().walk(lowest, |triangle, _| surface.corners(triangle).iter().for_each(|p| push(p, 0.0)));
        }
    }
}
