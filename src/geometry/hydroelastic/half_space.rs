//! Contact with a half space z <= 0, rigid or compliant.

use super::contact_surface::FaceData;
use super::polygon::{ConvexPolygon, differ, signs};
use super::volume_surface::crosses_box;
use super::{ContactSurface, HydroelasticWorkspace, slope_into};
use crate::geometry::{FacePlane, LinearPressure, PressureField, RigidSurface};
use crate::math::{RigidTransform, Vector3};

/// The surface of a half space H as a plane in the frame M of the other geometry.
fn boundary_M(X_WM: &RigidTransform, X_WH: &RigidTransform) -> FacePlane {
    let normal = X_WM.rotation.inverse_transform_vector(&(X_WH.rotation * Vector3::z()));
    let p_MH = X_WM.rotation.inverse_transform_vector(&(X_WH.translation.vector - X_WM.translation.vector));
    FacePlane { normal, offset: normal.dot(&p_MH) }
}

/// Turns the face of a geometry G (in its frame M) and a half space H round where H is A. `into_G` points from H into G.
fn face(element: u32, into_G: Vector3, pressure_M: LinearPressure, g_G: f64, g_H: f64, G_is_A: bool) -> FaceData {
    if G_is_A {
        FaceData { normal_M: -into_G, pressure_M, g_A: g_G, g_B: g_H, element_A: element, element_B: 0 }
    } else {
        FaceData { normal_M: into_G, pressure_M, g_A: g_H, g_B: g_G, element_A: 0, element_B: element }
    }
}

/// A compliant volume cut by the surface of a rigid half space: the whole section. There is no far side of a thin part that
/// could be left out, so no face is refused for a falling pressure; a discrete step drops it as one that makes no spring.
pub(super) fn volume_rigid(
    (volume, X_WM): (&PressureField, &RigidTransform),
    X_WH: &RigidTransform,
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let plane = boundary_M(X_WM, X_WH);
    let HydroelasticWorkspace { near, representation, .. } = workspace;
    volume.bvh().walk(|node| crosses_box(&plane, node), |element, _| near.push(element));
    near.sort_unstable();
    let mut polygon = ConvexPolygon::EMPTY;
    for &element in near.iter() {
        let corners = volume.corners(element);
        let heights = corners.map(|corner| plane.distance(&corner));
        let above = signs(&heights);
        if !differ(above) {
            continue;
        }
        let pressure_M = volume.linear()[element as usize];
        let slope = pressure_M.gradient.dot(&plane.normal);
        let face = face(element, plane.normal, pressure_M, slope, f64::INFINITY, volume_is_A);
        polygon.set_zero_set(&corners, &heights, above);
        surface.append(&mut polygon, &face, X_WM, *representation);
    }
}

/// The surface of equal pressure between a compliant volume and a compliant half space with the pressure
/// `stiffness` * depth. Above the half space that pressure goes on below zero, as far as the volume's margin asks for.
pub(super) fn volume_compliant(
    (volume, X_WM): (&PressureField, &RigidTransform),
    (stiffness, X_WH): (f64, &RigidTransform),
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let plane = boundary_M(X_WM, X_WH);
    let (lowest, highest) = (-volume.pressure_max() / stiffness, -volume.pressure_min() / stiffness);
    let HydroelasticWorkspace { near, representation, .. } = workspace;
    volume.bvh().walk(
        |node| {
            let (height, reach) = (plane.distance(&node.center()), plane.normal.abs().dot(&node.half_extents()));
            height - reach <= highest && height + reach >= lowest
        },
        |element, _| near.push(element),
    );
    near.sort_unstable();
    let mut polygon = ConvexPolygon::EMPTY;
    for &element in near.iter() {
        let corners = volume.corners(element);
        let pressures = volume.corner_pressures(element);
        let values = std::array::from_fn(|i| pressures[i] + stiffness * plane.distance(&corners[i]));
        let positive = signs(&values);
        if !differ(positive) {
            continue;
        }
        let pressure_M = volume.linear()[element as usize];
        let difference = pressure_M.gradient + plane.normal * stiffness;
        let steepness = difference.norm();
        if steepness == 0.0 {
            continue;
        }
        let into_volume = difference / steepness;
        let (Some(slope), Some(half_space_slope)) =
            (slope_into(&pressure_M.gradient, &into_volume), slope_into(&(plane.normal * -stiffness), &-into_volume))
        else {
            continue;
        };
        let face = face(element, into_volume, pressure_M, slope, half_space_slope, volume_is_A);
        polygon.set_zero_set(&corners, &values, positive);
        surface.append(&mut polygon, &face, X_WM, *representation);
    }
}

/// The part of a rigid surface that lies in a compliant half space with the pressure `stiffness` * depth, or at most
/// `margin` above it.
pub(super) fn surface_compliant(
    (rigid, X_WM): (&RigidSurface, &RigidTransform),
    (stiffness, margin, X_WH): (f64, f64, &RigidTransform),
    rigid_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let plane = boundary_M(X_WM, X_WH);
    let pressure_M = LinearPressure { gradient: plane.normal * -stiffness, at_origin: stiffness * plane.offset };
    let end = FacePlane { normal: plane.normal, offset: plane.offset + margin };
    let HydroelasticWorkspace { near, representation, .. } = workspace;
    rigid.bvh().walk(
        |node| end.distance(&node.center()) <= plane.normal.abs().dot(&node.half_extents()),
        |element, _| near.push(element),
    );
    near.sort_unstable();
    let mut polygon = ConvexPolygon::EMPTY;
    for &element in near.iter() {
        let normal = rigid.normals()[element as usize];
        let Some(slope) = slope_into(&pressure_M.gradient, &normal) else { continue };
        polygon.set_triangle(&rigid.corners(element));
        polygon.clip(&end);
        // the rigid normal points into the half space, which is not the geometry of the frame M here
        let face = face(element, -normal, pressure_M, f64::INFINITY, slope, rigid_is_A);
        surface.append(&mut polygon, &face, X_WM, *representation);
    }
}
