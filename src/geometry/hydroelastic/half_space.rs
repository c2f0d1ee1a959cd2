//! Contact with a half space z <= 0, rigid or compliant.

use super::coherence::{Memory, Pair, PairIdentity, Plan, REACH_SLACK};
use super::contact_surface::FaceData;
use super::polygon::{ConvexPolygon, ZeroSet, differ, signs};
use super::slope::slope_into;
use super::volume_surface::{PLANE_SLACK, crosses_box};
use super::workspace::Lists;
use super::{ContactSurface, HydroelasticWorkspace};
use crate::geometry::bvh::Bvh;
use crate::geometry::mesh_extent::MeshExtent;
use crate::geometry::{Aabb, FacePlane, LinearPressure, PressureField, RigidSurface};
use crate::math::{RigidTransform, Vector3};

/// The surface of a half space H as a plane in the frame M of the other geometry.
fn boundary_M(X_WM: &RigidTransform, X_WH: &RigidTransform) -> FacePlane {
    let normal = X_WM.rotation.inverse_transform_vector(&(X_WH.rotation * Vector3::z()));
    let p_MH = X_WM.rotation.inverse_transform_vector(&(X_WH.translation.vector - X_WM.translation.vector));
    FacePlane { normal, offset: normal.dot(&p_MH) }
}

/// Orients the face between a geometry G (in its frame M) and a half space H, reversed if H is A. `into_G`
/// points from H into G.
fn face(element: u32, into_G: Vector3, pressure_M: LinearPressure, g_G: f64, g_H: f64, G_is_A: bool) -> FaceData {
    if G_is_A {
        FaceData { normal_M: -into_G, pressure_M, g_A: g_G, g_B: g_H, element_A: element, element_B: 0, against: true }
    } else {
        FaceData { normal_M: into_G, pressure_M, g_A: g_H, g_B: g_G, element_A: 0, element_B: element, against: false }
    }
}

/// The pose and the parameters of a half space, for coherent queries.
struct HalfSpace<'a> {
    X_WH: &'a RigidTransform,
    stiffness: f64,
    margin: f64,
}

/// Decides how to find the elements of the mesh at `X_WM` near a half space. `Some(reach)` means a search;
/// a reach for this pose alone covers only rounding.
fn search(
    (memory, coherence): (&mut Memory, bool),
    (extent, X_WM): (&MeshExtent, &RigidTransform),
    half_space: &HalfSpace,
    mesh_is_A: bool,
) -> Option<f64> {
    let (A, B) = if mesh_is_A { (extent.identity, 0) } else { (0, extent.identity) };
    let HalfSpace { X_WH, stiffness, margin } = *half_space;
    let pair = Pair { identity: PairIdentity { A, B, stiffness, margin }, inner: extent, outer: None };
    match memory.plan(coherence, &pair, &X_WM.inv_mul(X_WH)) {
        Plan::Reuse => None,
        Plan::Collect(reach) => Some(reach + REACH_SLACK),
        Plan::Full => Some(PLANE_SLACK),
    }
}

/// Lists the elements that `keeps` accepts, among those in boxes that `enters` accepts.
fn find_elements(bvh: &Bvh, enters: impl FnMut(&Aabb) -> bool, keeps: impl Fn(u32) -> bool, lists: &mut Lists) {
    lists.clear();
    let near = &mut lists.near;
    bvh.walk(enters, |element, _| {
        if keeps(element) {
            near.push(element);
        }
    });
    near.sort_unstable();
}

/// Whether some values lie at or above `-margin` and some at or below `margin`.
#[inline]
fn crosses(values: &[f64; 4], margin: f64) -> bool {
    values.iter().any(|value| *value >= -margin) && values.iter().any(|value| *value <= margin)
}

/// A compliant volume cut by the surface of a rigid half space: the whole section. No face is refused for a
/// falling pressure, because there is no far side of a thin part to leave out; a discrete step drops such a
/// face because it acts as no spring.
#[inline(always)]
pub(super) fn volume_rigid(
    (volume, X_WM): (&PressureField, &RigidTransform),
    X_WH: &RigidTransform,
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let plane = boundary_M(X_WM, X_WH);
    let HydroelasticWorkspace { memory, lists, representation, coherence, .. } = workspace;
    let half_space = HalfSpace { X_WH, stiffness: f64::INFINITY, margin: 0.0 };
    if let Some(reach) = search((memory, *coherence), (volume.extent(), X_WM), &half_space, volume_is_A) {
        let heights = |element| volume.tet_corners(element).values(&plane.normal, -plane.offset);
        let enters = |node: &Aabb| crosses_box(&plane, node, reach);
        find_elements(volume.bvh(), enters, |element| crosses(&heights(element), reach), lists);
    }
    let mut polygon = ConvexPolygon::EMPTY;
    for &element in &lists.near {
        let corners = volume.tet_corners(element);
        let heights = corners.values(&plane.normal, -plane.offset);
        let above = signs(&heights);
        if !differ(above) {
            continue;
        }
        let pressure_M = volume.linear()[element as usize];
        let slope = pressure_M.gradient.dot(&plane.normal);
        let face = face(element, plane.normal, pressure_M, slope, f64::INFINITY, volume_is_A);
        polygon.set(&ZeroSet::new(corners, &heights, above));
        surface.append(&polygon, &face, X_WM, *representation);
    }
}

/// The surface of equal pressure between a compliant volume and a compliant half space with the pressure
/// `stiffness` * depth. Above the half space that pressure continues below zero, as far as the margin of the
/// volume requires.
#[inline(always)]
pub(super) fn volume_compliant(
    (volume, X_WM): (&PressureField, &RigidTransform),
    (stiffness, X_WH): (f64, &RigidTransform),
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let plane = boundary_M(X_WM, X_WH);
    let (lowest, highest) = (-volume.pressure_max() / stiffness, -volume.pressure_min() / stiffness);
    let HydroelasticWorkspace { memory, lists, representation, coherence, .. } = workspace;
    // The margin of a half space has no effect on a volume.
    let half_space = HalfSpace { X_WH, stiffness, margin: 0.0 };
    let values = |element: u32| -> [f64; 4] {
        let corners = volume.tet_corners(element);
        let heights = corners.values(&plane.normal, -plane.offset);
        let pressures = corners.pressures();
        std::array::from_fn(|i| pressures[i] + stiffness * heights[i])
    };
    if let Some(reach) = search((memory, *coherence), (volume.extent(), X_WM), &half_space, volume_is_A) {
        let enters = |node: &Aabb| {
            let height = plane.distance(&node.center());
            let half = plane.normal.abs().dot(&node.half_extents()) + reach;
            height - half <= highest && height + half >= lowest
        };
        find_elements(volume.bvh(), enters, |element| crosses(&values(element), stiffness * reach), lists);
    }
    let mut polygon = ConvexPolygon::EMPTY;
    for &element in &lists.near {
        let corners = volume.tet_corners(element);
        let values = values(element);
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
        let (Some(slope), Some(half_space_slope)) = (
            slope_into(&pressure_M.gradient, volume.steepness()[element as usize], &into_volume),
            slope_into(&(plane.normal * -stiffness), stiffness, &-into_volume),
        ) else {
            continue;
        };
        let face = face(element, into_volume, pressure_M, slope, half_space_slope, volume_is_A);
        polygon.set(&ZeroSet::new(corners, &values, positive));
        surface.append(&polygon, &face, X_WM, *representation);
    }
}

/// The part of a rigid surface that lies in a compliant half space with the pressure `stiffness` * depth, or
/// at most `margin` above it.
#[inline(always)]
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
    let HydroelasticWorkspace { memory, lists, representation, coherence, .. } = workspace;
    let half_space = HalfSpace { X_WH, stiffness, margin };
    if let Some(reach) = search((memory, *coherence), (rigid.extent(), X_WM), &half_space, rigid_is_A) {
        let enters = |node: &Aabb| end.distance(&node.center()) <= plane.normal.abs().dot(&node.half_extents()) + reach;
        let keeps = |element| rigid.corners(element).iter().any(|corner| end.distance(corner) <= reach);
        find_elements(rigid.bvh(), enters, keeps, lists);
    }
    let mut polygon = ConvexPolygon::EMPTY;
    for &element in &lists.near {
        let normal = rigid.normals()[element as usize];
        let Some(slope) = slope_into(&pressure_M.gradient, stiffness, &normal) else { continue };
        polygon.set(&ZeroSet::triangle(&rigid.corners(element)));
        polygon.clip(&end);
        // The normal of the rigid triangle points into the half space, not into the geometry of the frame M.
        let face = face(element, -normal, pressure_M, f64::INFINITY, slope, rigid_is_A);
        let face = FaceData { against: !face.against, ..face };
        surface.append(&polygon, &face, X_WM, *representation);
    }
}
