//! The surface of equal pressure between two compliant geometries.
//!
//! One geometry is the inner one. The elements of the other, outer one are moved to the inner frame M one by
//! one, and the inner tree is searched for partners of each. Only a part of an outer element can touch: the
//! part within the bounds of the inner geometry, at pressures up to the largest inner one. The search is for
//! the box around that part. The stiffer geometry is the outer one: only a thousandth of a tetrahedron that
//! is a thousand times stiffer than its partner lies at pressures that the partner can reach.

use super::coherence::{Pair, PairIdentity, Plan, REACH_SLACK};
use super::contact_surface::FaceData;
use super::polygon::{ConvexPolygon, ZeroSet, differ, signs};
use super::reach::Slab;
use super::slope::slope_into;
use super::volume_surface::PLANE_SLACK;
use super::workspace::{Lists, OuterTet, pair_key, split_key};
use super::{ContactSurface, HydroelasticWorkspace};
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::layers::{Layer, levels};
use crate::geometry::pressure_field::range;
use crate::geometry::{Aabb, FacePlane, LinearPressure, PressureField};
use crate::math::{RigidTransform, Vector3};

/// Rounding of a pressure, as a share of the pressures it was computed from: within this share, the cull by
/// pressure leaves the decision to the exact cut. [-]
const PRESSURE_ROUNDING: f64 = 1e-10;

/// Two gradients that differ by less than this share of their size differ by rounding only. Such fields are
/// equal everywhere or nowhere (as in equal boxes under coplanar faces), and their difference has no
/// direction. [-]
const GRADIENT_ROUNDING: f64 = 1e-11;

/// The roles of the geometries in a query.
struct Roles<'a> {
    inner: &'a PressureField,
    outer: &'a PressureField,
    X_WM: &'a RigidTransform,
    X_WN: &'a RigidTransform,
    inner_is_A: bool,
}

/// Computes the contact surface of A and B.
#[inline(always)]
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
    let X_MN = roles.X_WM.inv_mul(roles.X_WN);
    let pair = Pair {
        identity: PairIdentity { A: A.extent().identity, B: B.extent().identity, ..PairIdentity::default() },
        inner: roles.inner.extent(),
        outer: Some(roles.outer.extent()),
    };
    let HydroelasticWorkspace { memory, lists, representation, coherence, .. } = workspace;
    let reach = match memory.plan(*coherence, &pair, &X_MN) {
        Plan::Reuse => None,
        Plan::Collect(reach) => Some(Some(reach + REACH_SLACK)),
        Plan::Full => Some(None),
    };
    if let Some(reach) = reach {
        find_pairs(&roles, &X_MN, reach, lists);
    } else {
        for tet in &mut lists.tets {
            *tet = outer_tet(roles.outer, tet.element, &X_MN);
        }
    }
    let mut polygon = ConvexPolygon::EMPTY;
    for &key in &lists.pairs {
        let (a, b) = split_key(key);
        let (element, slot) = if roles.inner_is_A { (a, b) } else { (b, a) };
        if let Some(face) = intersect(&roles, element, &lists.tets[slot as usize], &mut polygon) {
            surface.append(&polygon, &face, roles.X_WM, *representation);
        }
    }
}

/// Fills `lists.pairs` with the pairs whose plane of equal pressure crosses both tetrahedra or, given a
/// `reach` \[m\], with those that can have a face after a motion of that size.
fn find_pairs(roles: &Roles, X_MN: &RigidTransform, reach: Option<f64>, lists: &mut Lists) {
    let Roles { inner, outer, .. } = roles;
    let margin = reach.unwrap_or(0.0) + PLANE_SLACK;
    let bounds_M = inner.bounds().grown(margin);
    let overlap = OrientedOverlap::new(&bounds_M, X_MN);
    lists.clear();
    let Lists { near, tets, pairs, seen, .. } = lists;
    seen.start(inner.mesh().tets.len());
    let rounding = PRESSURE_ROUNDING * (inner.pressure_max() - inner.pressure_min());
    let pressure_bound = inner.cores().pressure_bound(outer.cores(), X_MN, margin) + rounding;
    let pressure_bound = pressure_bound.min(inner.pressure_max());
    let ball = (X_MN.inverse_transform_point(&inner.extent().center.into()).coords, inner.extent().radius + margin);
    outer.layers().walk(
        |part| {
            part.lowest <= pressure_bound
                && part.bounds.overlaps_ball(&ball.0, ball.1)
                && overlap.may_touch(&part.bounds)
        },
        |element, _| near.push(element),
    );
    near.sort_unstable();
    near.dedup();
    for &element in near.iter() {
        let tet = outer_tet(outer, element, X_MN);
        let (lowest, highest) = range(&tet.corners_M.pressures());
        let highest = highest.min(pressure_bound);
        if lowest > highest {
            continue;
        }
        let (slot, count) = (tets.len() as u32, pairs.len());
        let planes_M = outer.planes(element).map(|plane| plane_in_M(&plane, X_MN));
        let corners_M = tet.corners_M.positions();
        seen.next();
        for (lowest, highest) in levels(lowest, highest, tet.steepness, outer.extent().element_size) {
            let part = Layer::new(&corners_M, &tet.corners_M.pressures(), lowest, highest);
            let near_M = Layer {
                bounds: part.bounds.grown(margin).intersection(&bounds_M),
                lowest: lowest - rounding,
                highest: highest + rounding,
            };
            if near_M.bounds.is_empty() {
                continue;
            }
            inner.layers().walk(
                |node| node.overlaps(&near_M),
                |element, layer| {
                    // The part of the outer tetrahedron within the margin of the inner one, as in `can_meet`.
                    let bounds = layer.bounds.grown(margin).intersection(&part.bounds);
                    let pressure_margin = margin * inner.steepness()[element as usize];
                    if !equal_pressure_in_box(roles, element, &tet, &bounds, pressure_margin) || !seen.mark(element) {
                        return;
                    }
                    let listed = match reach {
                        Some(reach) => can_meet(inner, element, (&tet, &planes_M), reach),
                        None => equal_pressure_in_both(inner, element, &tet),
                    };
                    if listed {
                        pairs.push(if roles.inner_is_A { pair_key(element, slot) } else { pair_key(slot, element) });
                    }
                },
            );
        }
        if pairs.len() > count {
            tets.push(tet);
        }
    }
    pairs.sort_unstable();
}

fn plane_in_M(plane: &FacePlane, X_MN: &RigidTransform) -> FacePlane {
    let normal = X_MN.rotation * plane.normal;
    FacePlane { normal, offset: plane.offset + normal.dot(&X_MN.translation.vector) }
}

/// Whether the two tetrahedra can have a face after a motion of at most `reach`: see [`super::reach`].
fn can_meet(inner: &PressureField, element: u32, (tet, planes_M): (&OuterTet, &[FacePlane; 4]), reach: f64) -> bool {
    let at_outer = differences_at_outer(inner, element, tet);
    let outer_width = inner.steepness()[element as usize] * reach;
    let at_inner = differences_at_inner(inner, element, tet);
    let inner_width = tet.steepness * reach;
    let all_large = |values: &[f64; 4], width: f64| {
        values.iter().all(|value| *value > width) || values.iter().all(|value| *value < -width)
    };
    !all_large(&at_outer, outer_width)
        && !all_large(&at_inner, inner_width)
        && !Slab::new(&tet.corners_M.positions(), &at_outer, outer_width)
            .is_beyond_one_of(&inner.planes(element), reach)
        && !Slab::new(&inner.corners(element), &at_inner, inner_width).is_beyond_one_of(planes_M, reach)
}

#[inline(always)]
fn outer_tet(outer: &PressureField, element: u32, X_MN: &RigidTransform) -> OuterTet {
    let (R_MN, p_MN) = (&X_MN.rotation, &X_MN.translation.vector);
    let linear_N = outer.linear()[element as usize];
    let gradient = R_MN * linear_N.gradient;
    OuterTet {
        element,
        corners_M: outer.tet_corners(element).in_frame(R_MN, p_MN),
        pressure_M: LinearPressure { gradient, at_origin: linear_N.at_origin - gradient.dot(p_MN) },
        steepness: outer.steepness()[element as usize],
    }
}

/// Whether the plane of equal pressure crosses a box that contains every common point of the tetrahedra, and
/// both pressures reach the lowest pressure of their fields in that box. `margin` \[Pa\] is the uncertainty
/// of the inner pressure. The function may wrongly return true, but never wrongly false.
#[inline]
fn equal_pressure_in_box(roles: &Roles, element: u32, tet: &OuterTet, bounds: &Aabb, margin: f64) -> bool {
    let inner = &roles.inner.linear()[element as usize];
    let outer = &tet.pressure_M;
    let (center, half) = (bounds.center(), bounds.half_extents());
    let slack = margin + PRESSURE_ROUNDING * (inner.at_origin.abs() + outer.at_origin.abs());
    let (inner_value, outer_value) = (inner.at(&center), outer.at(&center));
    (outer_value - inner_value).abs() <= (outer.gradient - inner.gradient).abs().dot(&half) + slack
        && inner_value + inner.gradient.abs().dot(&half) + slack >= roles.inner.pressure_min()
        && outer_value + outer.gradient.abs().dot(&half) + slack >= roles.outer.pressure_min()
}

/// Whether the plane of equal pressure crosses both tetrahedra. The difference of pressures at a vertex uses
/// the vertex's own pressure, so that all tetrahedra around it agree on its sign.
#[inline(always)]
fn equal_pressure_in_both(inner: &PressureField, element: u32, tet: &OuterTet) -> bool {
    differ(signs(&differences_at_inner(inner, element, tet)))
        && differ(signs(&differences_at_outer(inner, element, tet)))
}

/// Outer minus inner pressure at the corners of the inner tetrahedron \[Pa\].
#[inline(always)]
fn differences_at_inner(inner: &PressureField, element: u32, tet: &OuterTet) -> [f64; 4] {
    let corners = inner.tet_corners(element);
    let (values, pressures) = (corners.values(&tet.pressure_M.gradient, tet.pressure_M.at_origin), corners.pressures());
    [values[0] - pressures[0], values[1] - pressures[1], values[2] - pressures[2], values[3] - pressures[3]]
}

/// Outer minus inner pressure at the corners of the outer tetrahedron \[Pa\].
#[inline(always)]
fn differences_at_outer(inner: &PressureField, element: u32, tet: &OuterTet) -> [f64; 4] {
    let linear = &inner.linear()[element as usize];
    let (values, pressures) = (tet.corners_M.values(&linear.gradient, linear.at_origin), tet.corners_M.pressures());
    [pressures[0] - values[0], pressures[1] - values[1], pressures[2] - values[2], pressures[3] - values[3]]
}

/// The unit normal of the plane of equal pressure, into the outer geometry, and the slopes of the two
/// pressures into their geometries along it; `None` if there is no such plane or a pressure falls steeply.
#[inline(always)]
fn slopes(
    (inner, inner_steepness): (&LinearPressure, f64),
    (outer, outer_steepness): (&LinearPressure, f64),
) -> Option<(Vector3, f64, f64)> {
    let difference = outer.gradient - inner.gradient;
    let steepness = difference.norm();
    if steepness <= GRADIENT_ROUNDING * (inner_steepness + outer_steepness) {
        return None;
    }
    let into_outer = difference * (1.0 / steepness);
    let g_inner = slope_into(&inner.gradient, inner_steepness, &-into_outer)?;
    Some((into_outer, g_inner, slope_into(&outer.gradient, outer_steepness, &into_outer)?))
}

/// Writes the part of the plane of equal pressure in both tetrahedra to `polygon`; `None` if the tetrahedra
/// are only near each other, or if a pressure falls steeply along the normal along which it should rise.
#[inline(always)]
fn intersect(roles: &Roles, element: u32, tet: &OuterTet, polygon: &mut ConvexPolygon) -> Option<FaceData> {
    let fields = roles.inner.linear();
    let (inner, outer) = (&fields[element as usize], &tet.pressure_M);
    let values = differences_at_outer(roles.inner, element, tet);
    let positive = signs(&values);
    if !differ(positive) || !differ(signs(&differences_at_inner(roles.inner, element, tet))) {
        return None;
    }
    let zero_set = ZeroSet::new(&tet.corners_M, &values, positive);
    let sides = polygon.set_with_sides(&zero_set, roles.inner.tet_planes(element))?;
    let slopes = |element: u32| {
        let index = element as usize;
        slopes((&fields[index], roles.inner.steepness()[index]), (outer, tet.steepness))
    };
    let (into_outer, g_inner, g_outer) = slopes(element)?;
    let refuses = |other: u32| slopes(other).is_none() || !equal_pressure_in_both(roles.inner, other, tet);
    if !polygon.clip_by_tet(&sides, element, &roles.inner.neighbours()[element as usize], refuses) {
        return None;
    }
    // The pressure is taken from the softer field, where rounding of a position matters less.
    let softer = if roles.inner.steepness()[element as usize] <= tet.steepness { inner } else { outer };
    let inner_is_A = roles.inner_is_A;
    Some(FaceData {
        normal_M: into_outer * if inner_is_A { 1.0 } else { -1.0 },
        pressure_M: *softer,
        g_A: if inner_is_A { g_inner } else { g_outer },
        g_B: if inner_is_A { g_outer } else { g_inner },
        element_A: if inner_is_A { element } else { tet.element },
        element_B: if inner_is_A { tet.element } else { element },
        against: !inner_is_A,
    })
}
