//! A rigid surface in a pressure field: its triangles, clipped by the tetrahedra.

use super::contact_surface::FaceData;
use super::polygon::ConvexPolygon;
use super::workspace::{OuterTriangle, pair_key, split_key};
use super::{ContactSurface, HydroelasticWorkspace, slope_into};
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::{Aabb, FacePlane, PressureField, RigidSurface};
use crate::math::RigidTransform;

/// How far a plane may pass a box or a tetrahedron by and still be handed to the exact cut [m]: above the rounding of
/// coordinates of metres.
const PLANE_SLACK: f64 = 1e-13;

/// Computes the contact surface of a compliant volume and a rigid surface. `volume_is_A` tells their order.
pub(super) fn contact_surface(
    (volume, X_WM): (&PressureField, &RigidTransform),
    (rigid, X_WN): (&RigidSurface, &RigidTransform),
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    find_pairs(volume, rigid, &X_WM.inv_mul(X_WN), volume_is_A, workspace);
    workspace.pairs.sort_unstable();
    let mut polygon = ConvexPolygon::EMPTY;
    for &key in &workspace.pairs {
        let (a, b) = split_key(key);
        let (tet, slot) = if volume_is_A { (a, b) } else { (b, a) };
        let triangle = &workspace.triangles[slot as usize];
        if let Some(face) = intersect(volume, tet, triangle, volume_is_A, &mut polygon) {
            surface.append(&mut polygon, &face, X_WM, workspace.representation);
        }
    }
}

/// Fills `workspace.pairs` with the pairs of a tetrahedron and a triangle that come near each other.
fn find_pairs(
    volume: &PressureField,
    rigid: &RigidSurface,
    X_MN: &RigidTransform,
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
) {
    let bounds_M = volume.bounds();
    let overlap = OrientedOverlap::new(&bounds_M, X_MN);
    let HydroelasticWorkspace { near, triangles, pairs, .. } = workspace;
    rigid.bvh().walk(|node| overlap.may_touch(node), |element, _| near.push(element));
    near.sort_unstable();
    for &element in near.iter() {
        let triangle = outer_triangle(rigid, element, X_MN);
        let box_M = Aabb::around(&triangle.corners_M).intersection(&bounds_M);
        if box_M.is_empty() {
            continue;
        }
        let slot = triangles.len() as u32;
        volume.bvh().walk(
            |node| node.overlaps(&box_M) && crosses_box(&triangle.plane_M, &node.intersection(&box_M)),
            |tet, _| {
                if crosses_tet(&triangle.plane_M, volume, tet) {
                    pairs.push(if volume_is_A { pair_key(tet, slot) } else { pair_key(slot, tet) });
                }
            },
        );
        triangles.push(triangle);
    }
}

fn outer_triangle(rigid: &RigidSurface, element: u32, X_MN: &RigidTransform) -> OuterTriangle {
    let (R_MN, p_MN) = (&X_MN.rotation, &X_MN.translation.vector);
    let corners_M = rigid.corners(element).map(|corner| R_MN * corner + p_MN);
    let normal = R_MN * rigid.normals()[element as usize];
    let center = (corners_M[0] + corners_M[1] + corners_M[2]) / 3.0;
    OuterTriangle { element, corners_M, plane_M: FacePlane { normal, offset: normal.dot(&center) } }
}

/// Whether a plane can cross a box.
#[inline]
pub(super) fn crosses_box(plane: &FacePlane, bounds: &Aabb) -> bool {
    plane.distance(&bounds.center()).abs() <= plane.normal.abs().dot(&bounds.half_extents()) + PLANE_SLACK
}

/// Whether a plane can cross or touch a tetrahedron.
#[inline]
fn crosses_tet(plane: &FacePlane, volume: &PressureField, tet: u32) -> bool {
    let distances = volume.corners(tet).map(|corner| plane.distance(&corner));
    let lowest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lowest <= PLANE_SLACK && highest >= -PLANE_SLACK
}

/// Writes the part of the triangle in the tetrahedron to `polygon`; `None` where nothing is left of it, or where the
/// pressure falls steeply along the rigid normal.
fn intersect(
    volume: &PressureField,
    tet: u32,
    triangle: &OuterTriangle,
    volume_is_A: bool,
    polygon: &mut ConvexPolygon,
) -> Option<FaceData> {
    let pressure_M = volume.linear()[tet as usize];
    let normal = triangle.plane_M.normal;
    polygon.set_triangle(&triangle.corners_M);
    if polygon.is_outside_one_of(&volume.planes()[tet as usize]) {
        return None;
    }
    let slope = slope_into(&pressure_M.gradient, &normal)?;
    let refuses = |other: u32| slope_into(&volume.linear()[other as usize].gradient, &normal).is_none();
    let planes = &volume.planes()[tet as usize];
    if !polygon.clip_by_tet(planes, tet, &volume.neighbours()[tet as usize], refuses) {
        return None;
    }
    let face = if volume_is_A {
        FaceData {
            normal_M: -normal,
            pressure_M,
            g_A: slope,
            g_B: f64::INFINITY,
            element_A: tet,
            element_B: triangle.element,
        }
    } else {
        FaceData {
            normal_M: normal,
            pressure_M,
            g_A: f64::INFINITY,
            g_B: slope,
            element_A: triangle.element,
            element_B: tet,
        }
    };
    Some(face)
}
