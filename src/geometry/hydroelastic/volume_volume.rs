//! The surface of equal pressure between two compliant geometries.
//!
//! One geometry is the inner one: its tree is walked, in its frame M. The elements of the other, outer one come into M one
//! by one, each with the box of the part of it that can matter: no more pressure than the inner one ever has, and
//! within the inner one's bounds. The stiffer geometry is the outer one, since of a tetrahedron that is a thousand times
//! stiffer than its partner only a thousandth lies at pressures that the partner can reach.

use super::contact_surface::FaceData;
use super::polygon::{ConvexPolygon, differ, signs};
use super::workspace::{OuterTet, pair_key, split_key};
use super::{ContactSurface, HydroelasticWorkspace, slope_into};
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::{Aabb, LinearPressure, PressureField};
use crate::math::{RigidTransform, Vector3};

/// Rounding of a pressure, as a share of the pressures it was computed from: a cull by pressure that is nearer than this
/// leaves the decision to the exact cut. [-]
const PRESSURE_ROUNDING: f64 = 1e-10;

/// Two gradients that differ by less than this share of their size are the same but for rounding: such fields are equal
/// everywhere or nowhere (as beside coplanar sides of equal boxes), and their difference has no direction. [-]
const GRADIENT_ROUNDING: f64 = 1e-11;

/// Which geometry is which in a query.
struct Roles<'a> {
    inner: &'a PressureField,
    outer: &'a PressureField,
    X_WM: &'a RigidTransform,
    X_WN: &'a RigidTransform,
    inner_is_A: bool,
}

/// Computes the contact surface of A and B.
pub(super) fn contact_surface(
    A: &PressureField,
    X_WA: &RigidTransform,
    B: &PressureField,
    X_WB: &RigidTransform,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) {
    let rank = |field: &PressureField| (field.pressure_max(), field.mesh().tets.len());
    let roles = if rank(A) <= rank(B) {
        Roles { inner: A, outer: B, X_WM: X_WA, X_WN: X_WB, inner_is_A: true }
    } else {
        Roles { inner: B, outer: A, X_WM: X_WB, X_WN: X_WA, inner_is_A: false }
    };
    find_pairs(&roles, workspace);
    workspace.pairs.sort_unstable();
    let mut polygon = ConvexPolygon::EMPTY;
    for &key in &workspace.pairs {
        let (a, b) = split_key(key);
        let (element, slot) = if roles.inner_is_A { (a, b) } else { (b, a) };
        if let Some(face) = intersect(&roles, element, &workspace.tets[slot as usize], &mut polygon) {
            surface.append(&mut polygon, &face, roles.X_WM, workspace.representation);
        }
    }
}

/// Fills `workspace.pairs` with the pairs whose plane of equal pressure crosses both tetrahedra.
fn find_pairs(roles: &Roles, workspace: &mut HydroelasticWorkspace) {
    let Roles { inner, outer, .. } = roles;
    let X_MN = roles.X_WM.inv_mul(roles.X_WN);
    let bounds_M = inner.bounds();
    let overlap = OrientedOverlap::new(&bounds_M, &X_MN);
    let HydroelasticWorkspace { near, tets, pairs, .. } = workspace;
    outer.bvh().walk(|node| overlap.may_touch(node), |element, _| near.push(element));
    near.sort_unstable();
    for &element in near.iter() {
        let tet = outer_tet(outer, element, &X_MN);
        let box_M = reach(&tet, inner.pressure_max()).intersection(&bounds_M);
        if box_M.is_empty() {
            continue;
        }
        let slot = tets.len() as u32;
        inner.bvh().walk(
            |node| node.overlaps(&box_M),
            |element, bounds| {
                if equal_pressure_in_box(roles, element, &tet, &bounds.intersection(&box_M))
                    && equal_pressure_in_both(inner, element, &tet)
                {
                    pairs.push(if roles.inner_is_A { pair_key(element, slot) } else { pair_key(slot, element) });
                }
            },
        );
        tets.push(tet);
    }
}

fn outer_tet(outer: &PressureField, element: u32, X_MN: &RigidTransform) -> OuterTet {
    let (R_MN, p_MN) = (&X_MN.rotation, &X_MN.translation.vector);
    let linear_N = outer.linear()[element as usize];
    let gradient = R_MN * linear_N.gradient;
    OuterTet {
        element,
        corners_M: outer.corners(element).map(|corner| R_MN * corner + p_MN),
        corner_pressures: outer.corner_pressures(element),
        pressure_M: LinearPressure { gradient, at_origin: linear_N.at_origin - gradient.dot(p_MN) },
    }
}

/// The box around the part of a tetrahedron where the pressure is at most `pressure_max`.
fn reach(tet: &OuterTet, pressure_max: f64) -> Aabb {
    let mut bounds = Aabb::EMPTY;
    for (corner, pressure) in tet.corners_M.iter().zip(&tet.corner_pressures) {
        if *pressure <= pressure_max {
            bounds.include(corner);
            continue;
        }
        for (other, other_pressure) in tet.corners_M.iter().zip(&tet.corner_pressures) {
            if *other_pressure <= pressure_max {
                let t = (pressure_max - other_pressure) / (pressure - other_pressure);
                bounds.include(&(other + (corner - other) * t));
            }
        }
    }
    bounds
}

/// Whether the plane of equal pressure crosses a box within which both tetrahedra must meet, and both pressures can be
/// as large there as pressures inside are. Errs on the side of "yes".
#[inline]
fn equal_pressure_in_box(roles: &Roles, element: u32, tet: &OuterTet, bounds: &Aabb) -> bool {
    let inner = &roles.inner.linear()[element as usize];
    let outer = &tet.pressure_M;
    let (center, half) = (bounds.center(), bounds.half_extents());
    let slack = PRESSURE_ROUNDING * (inner.at_origin.abs() + outer.at_origin.abs());
    let (inner_value, outer_value) = (inner.at(&center), outer.at(&center));
    (outer_value - inner_value).abs() <= (outer.gradient - inner.gradient).abs().dot(&half) + slack
        && inner_value + inner.gradient.abs().dot(&half) + slack >= roles.inner.pressure_min()
        && outer_value + outer.gradient.abs().dot(&half) + slack >= roles.outer.pressure_min()
}

/// Whether the plane of equal pressure crosses both tetrahedra. The difference of pressures at a vertex uses the vertex's
/// own pressure, so that all tetrahedra around it agree about its sign.
#[inline]
fn equal_pressure_in_both(inner: &PressureField, element: u32, tet: &OuterTet) -> bool {
    let corners = inner.corners(element);
    let pressures = inner.corner_pressures(element);
    differ(signs(&std::array::from_fn(|i| tet.pressure_M.at(&corners[i]) - pressures[i])))
        && differ(signs(&differences_at_outer(inner, element, tet)))
}

/// Outer minus inner pressure at the corners of the outer tetrahedron [Pa].
#[inline]
fn differences_at_outer(inner: &PressureField, element: u32, tet: &OuterTet) -> [f64; 4] {
    let linear = &inner.linear()[element as usize];
    std::array::from_fn(|i| tet.corner_pressures[i] - linear.at(&tet.corners_M[i]))
}

/// The unit normal of the plane of equal pressure, into the outer geometry, and the slopes of the two pressures into their
/// geometries along it; `None` where there is no such plane or a pressure falls steeply.
#[inline]
fn slopes(inner: &LinearPressure, outer: &LinearPressure) -> Option<(Vector3, f64, f64)> {
    let rounding = GRADIENT_ROUNDING * (inner.gradient.norm() + outer.gradient.norm());
    let into_outer = (outer.gradient - inner.gradient).try_normalize(rounding)?;
    Some((into_outer, slope_into(&inner.gradient, &-into_outer)?, slope_into(&outer.gradient, &into_outer)?))
}

/// Writes the part of the plane of equal pressure in both tetrahedra to `polygon`; `None` where they only come near
/// each other, or a pressure falls steeply along the normal that should see it rise.
fn intersect(roles: &Roles, element: u32, tet: &OuterTet, polygon: &mut ConvexPolygon) -> Option<FaceData> {
    let fields = roles.inner.linear();
    let (inner, outer) = (&fields[element as usize], &tet.pressure_M);
    let values = differences_at_outer(roles.inner, element, tet);
    polygon.set_zero_set(&tet.corners_M, &values, signs(&values));
    let planes = &roles.inner.planes()[element as usize];
    if polygon.is_outside_one_of(planes) {
        return None;
    }
    let (into_outer, g_inner, g_outer) = slopes(inner, outer)?;
    let refuses = |other: u32| {
        slopes(&fields[other as usize], outer).is_none() || !equal_pressure_in_both(roles.inner, other, tet)
    };
    if !polygon.clip_by_tet(planes, element, &roles.inner.neighbours()[element as usize], refuses) {
        return None;
    }
    // the softer field carries the pressure: a position's rounding matters less there
    let softer = if inner.gradient.norm_squared() <= outer.gradient.norm_squared() { *inner } else { *outer };
    let face = if roles.inner_is_A {
        FaceData {
            normal_M: into_outer,
            pressure_M: softer,
            g_A: g_inner,
            g_B: g_outer,
            element_A: element,
            element_B: tet.element,
        }
    } else {
        FaceData {
            normal_M: -into_outer,
            pressure_M: softer,
            g_A: g_outer,
            g_B: g_inner,
            element_A: tet.element,
            element_B: element,
        }
    };
    Some(face)
}
