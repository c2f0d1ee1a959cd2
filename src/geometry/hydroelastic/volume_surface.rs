//! A rigid surface in a pressure field: its triangles, clipped by the tetrahedra.

use super::coherence::{Pair, PairIdentity, Plan, REACH_SLACK};
use super::contact_surface::FaceData;
use super::polygon::{ConvexPolygon, ZeroSet};
use super::reach::Slab;
use super::slope::slope_into;
use super::workspace::{Lists, OuterTriangle, pair_key, split_key};
use super::{ContactSurface, HydroelasticWorkspace};
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::{Aabb, FacePlane, PressureField, RigidSurface};
use crate::math::RigidTransform;

/// A plane that misses a box or a tetrahedron by less than this is still passed to the exact cut \[m\]: above
/// the rounding of coordinates of metres.
pub(super) const PLANE_SLACK: f64 = 1e-13;

/// Computes the contact surface of a compliant volume and a rigid surface. `volume_is_A` gives their order.
#[inline(always)]
pub(super) fn contact_surface(
    (volume, X_WM): (&PressureField, &RigidTransform),
    (rigid, X_WN): (&RigidSurface, &RigidTransform),
    volume_is_A: bool,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let X_MN = X_WM.inv_mul(X_WN);
    let (volume_identity, rigid_identity) = (volume.extent().identity, rigid.extent().identity);
    let (A, B) = if volume_is_A { (volume_identity, rigid_identity) } else { (rigid_identity, volume_identity) };
    let pair = Pair {
        identity: PairIdentity { A, B, ..PairIdentity::default() },
        inner: volume.extent(),
        outer: Some(rigid.extent()),
    };
    let HydroelasticWorkspace { memory, lists, representation, coherence, .. } = workspace;
    match memory.plan(*coherence, &pair, &X_MN) {
        Plan::Reuse => {
            for triangle in &mut lists.triangles {
                *triangle = outer_triangle(rigid, triangle.element, &X_MN);
            }
        }
        Plan::Collect(reach) => find_pairs(volume, rigid, &X_MN, volume_is_A, reach + REACH_SLACK, lists),
        Plan::Full => find_pairs(volume, rigid, &X_MN, volume_is_A, 0.0, lists),
    }
    let mut polygon = ConvexPolygon::EMPTY;
    for &key in &lists.pairs {
        let (a, b) = split_key(key);
        let (tet, slot) = if volume_is_A { (a, b) } else { (b, a) };
        let triangle = &lists.triangles[slot as usize];
        if let Some(face) = intersect(volume, tet, triangle, volume_is_A, &mut polygon) {
            surface.append(&polygon, &face, X_WM, *representation);
        }
    }
}

/// Fills `lists.pairs` with the pairs of a tetrahedron and a triangle that come near each other or, given a
/// `reach` above zero \[m\], with those that can have a face after a motion of that size.
fn find_pairs(
    volume: &PressureField,
    rigid: &RigidSurface,
    X_MN: &RigidTransform,
    volume_is_A: bool,
    reach: f64,
    lists: &mut Lists,
) {
    let margin = reach + PLANE_SLACK;
    let bounds_M = volume.bounds().grown(margin);
    let overlap = OrientedOverlap::new(&bounds_M, X_MN);
    lists.clear();
    let Lists { near, triangles, pairs, .. } = lists;
    rigid.bvh().walk(|node| overlap.may_touch(node), |element, _| near.push(element));
    near.sort_unstable();
    for &element in near.iter() {
        let triangle = outer_triangle(rigid, element, X_MN);
        let box_M = Aabb::around(&triangle.corners_M).grown(margin).intersection(&bounds_M);
        if box_M.is_empty() {
            continue;
        }
        let (slot, count) = (triangles.len() as u32, pairs.len());
        let edges_M = edge_planes(&triangle);
        volume.bvh().walk(
            |node| node.overlaps(&box_M) && crosses_box(&triangle.plane_M, &node.intersection(&box_M), margin),
            |tet, _| {
                let listed = if reach > 0.0 {
                    can_meet(volume, tet, &triangle, &edges_M, reach)
                } else {
                    crosses_tet(&triangle.plane_M, volume, tet)
                };
                if listed {
                    pairs.push(if volume_is_A { pair_key(tet, slot) } else { pair_key(slot, tet) });
                }
            },
        );
        if pairs.len() > count {
            triangles.push(triangle);
        }
    }
    pairs.sort_unstable();
}

/// The planes through the edges of a triangle along its normal, which point away from it.
fn edge_planes(triangle: &OuterTriangle) -> [FacePlane; 3] {
    let [a, b, c] = triangle.corners_M;
    [(a, b), (b, c), (c, a)].map(|(from, to)| {
        let normal = (to - from).cross(&triangle.plane_M.normal).normalize();
        FacePlane { normal, offset: normal.dot(&from) }
    })
}

/// Whether a tetrahedron and a triangle can have a face after a motion of at most `reach`: as in
/// [`super::reach`], with the distance from the triangle's plane instead of the difference of pressures.
fn can_meet(volume: &PressureField, tet: u32, triangle: &OuterTriangle, edges_M: &[FacePlane; 3], reach: f64) -> bool {
    let outside = |plane: &FacePlane| triangle.corners_M.iter().all(|corner| plane.distance(corner) > reach);
    if volume.planes(tet).iter().any(outside) {
        return false;
    }
    let corners = volume.corners(tet);
    let distances = corners.map(|corner| triangle.plane_M.distance(&corner));
    !Slab::new(&corners, &distances, reach).is_beyond_one_of(edges_M, reach)
}

fn outer_triangle(rigid: &RigidSurface, element: u32, X_MN: &RigidTransform) -> OuterTriangle {
    let (R_MN, p_MN) = (&X_MN.rotation, &X_MN.translation.vector);
    let corners_M = rigid.corners(element).map(|corner| R_MN * corner + p_MN);
    let normal = R_MN * rigid.normals()[element as usize];
    let center = (corners_M[0] + corners_M[1] + corners_M[2]) / 3.0;
    OuterTriangle { element, corners_M, plane_M: FacePlane { normal, offset: normal.dot(&center) } }
}

/// Whether a plane can come within `margin` of a box \[m\].
#[inline]
pub(super) fn crosses_box(plane: &FacePlane, bounds: &Aabb, margin: f64) -> bool {
    plane.distance(&bounds.center()).abs() <= plane.normal.abs().dot(&bounds.half_extents()) + margin
}

/// Whether a plane can cross or touch a tetrahedron.
#[inline]
fn crosses_tet(plane: &FacePlane, volume: &PressureField, tet: u32) -> bool {
    let distances = volume.corners(tet).map(|corner| plane.distance(&corner));
    let lowest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lowest <= PLANE_SLACK && highest >= -PLANE_SLACK
}

/// Writes the part of the triangle in the tetrahedron to `polygon`; `None` if there is no such part, or if
/// the pressure falls steeply along the rigid normal.
#[inline(always)]
fn intersect(
    volume: &PressureField,
    tet: u32,
    triangle: &OuterTriangle,
    volume_is_A: bool,
    polygon: &mut ConvexPolygon,
) -> Option<FaceData> {
    let pressure_M = volume.linear()[tet as usize];
    let normal = triangle.plane_M.normal;
    let sides = polygon.set_with_sides(&ZeroSet::triangle(&triangle.corners_M), volume.tet_planes(tet))?;
    let slope_in =
        |tet: u32| slope_into(&volume.linear()[tet as usize].gradient, volume.steepness()[tet as usize], &normal);
    let slope = slope_in(tet)?;
    let refuses = |other: u32| slope_in(other).is_none();
    if !polygon.clip_by_tet(&sides, tet, &volume.neighbours()[tet as usize], refuses) {
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
            against: true,
        }
    } else {
        FaceData {
            normal_M: normal,
            pressure_M,
            g_A: f64::INFINITY,
            g_B: slope,
            element_A: triangle.element,
            element_B: tet,
            against: false,
        }
    };
    Some(face)
}
