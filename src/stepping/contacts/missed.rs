//! Compliant bodies that meet so fast that a step finds their contact too late, or that their pressure does
//! not stop.

use super::free_path::thickness;
use super::pairs::{ActivePatch, Pairs};
use crate::contact::{Compliance, approach_speed, patch_depth};
use crate::geometry::{HydroelasticGeometry, Shape};
use crate::math::SpatialVelocity;
use crate::scene::{CollisionGeometry, Scene};

/// A pair that overlaps too deeply within a step for its pressure to separate it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::stepping) struct Missed {
    /// Index in `Scene::contact_pairs`.
    pub(in crate::stepping) pair: usize,
    /// The distance by which the two approach each other after they have met in the step \[m\].
    pub(in crate::stepping) travel: f64,
    /// Depth of their contact if the step found it and did not stop them \[m\]; `None` if it was found too
    /// late.
    pub(in crate::stepping) pressed: Option<f64>,
    /// Half the thickness of the thinner compliant geometry \[m\]. Beyond it the pressure drives the other
    /// geometry out on the far side. For a compliant half space it is nearly the radius of the other
    /// geometry, which is nearly inside if it is pressed in by twice that.
    pub(in crate::stepping) depth: f64,
}

/// A geometry that a half space covers to this part of its height is named: a moment later nothing holds it.
/// [-]
const NEARLY_INSIDE: f64 = 0.9;

impl Pairs {
    /// Checks whether the bodies of an active pair press each other in beyond the middle of a compliant one,
    /// with their relative velocity `V` at the end of the step. The pressure has then not stopped them, and
    /// drives them out on the far side. `approached` is the distance by which they approached each other
    /// before the poses of the surface \[m\].
    pub(super) fn find_not_stopped(
        &self,
        scene: &Scene,
        active: &ActivePatch,
        V: &SpatialVelocity,
        step: f64,
        approached: f64,
    ) -> Option<Missed> {
        let pair = &scene.contact_pairs()[active.pair];
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let (surface, _) = self.surface(active.pair);
        let depth = 0.5 * thinnest(a, b);
        if depth == f64::INFINITY {
            // A half space has no middle. Its force on a body wholly inside it does not grow further
            let round = [a, b].into_iter().find_map(|geometry| match geometry.shape {
                Shape::Sphere { radius } => Some(radius),
                _ => None,
            });
            let radius = round.unwrap_or_else(|| self.smaller_radius(pair, scene));
            let pressed = patch_depth(surface);
            let travel = step * approach_speed(surface, &active.p_WC, V);
            let depth = NEARLY_INSIDE * radius;
            return (pressed > 2.0 * depth).then_some(Missed {
                pair: active.pair,
                travel,
                pressed: Some(pressed),
                depth,
            });
        }
        let pressure = surface.pressure.iter().copied().fold(0.0, f64::max);
        // The pressure is the modulus in the middle: with a gradient of modulus/depth the rest of the way
        // there is depth (1 - part)
        let part = pressure / modulus(a).min(modulus(b));
        let bound = step * (V.v.norm() + V.w.norm() * self.smaller_radius(pair, scene));
        if bound <= depth * (1.0 - part) {
            return None;
        }
        let pressed = patch_depth(surface).min(depth_max(a, b));
        let travel = step * approach_speed(surface, &active.p_WC, V) - approached;
        (travel > 0.0 && travel > pressed * (1.0 / part - 1.0)).then_some(Missed {
            pair: active.pair,
            travel,
            pressed: Some(pressed),
            depth,
        })
    }
}

/// The thickness of the thinner compliant geometry of the two \[m\].
pub(super) fn thinnest(a: &CollisionGeometry, b: &CollisionGeometry) -> f64 {
    let soft = [a, b].into_iter().filter(|geometry| geometry.hydroelastic.is_compliant());
    soft.map(|geometry| thickness(&geometry.hydroelastic.aabb().half_extents())).fold(f64::INFINITY, f64::min)
}

/// The largest depth of a contact of the two geometries \[m\]: the thickness of both, as far as they are
/// compliant; a field has its largest pressure in the middle, and may be met obliquely.
pub(super) fn depth_max(a: &CollisionGeometry, b: &CollisionGeometry) -> f64 {
    let soft = [a, b].into_iter().filter(|geometry| geometry.hydroelastic.is_compliant());
    soft.map(smallest_extent).sum()
}

/// The length by which the motion of two geometries is judged \[m\]: the thickness of the thinner compliant
/// one, or that of the other one if the compliant one is a half space.
pub(super) fn thickness_of_pair(a: &CollisionGeometry, b: &CollisionGeometry) -> f64 {
    let thinnest = thinnest(a, b);
    if thinnest < f64::INFINITY {
        return thinnest;
    }
    [a, b].map(smallest_extent).into_iter().fold(thinnest, f64::min)
}

/// The smallest extent of a geometry along an axis of its frame \[m\].
pub(in crate::stepping) fn smallest_extent(geometry: &CollisionGeometry) -> f64 {
    thickness(&geometry.hydroelastic.aabb().half_extents())
}

/// The largest pressure of a compliant geometry \[Pa\]; infinite for others.
fn modulus(geometry: &CollisionGeometry) -> f64 {
    match (&geometry.hydroelastic, geometry.material.compliance) {
        (HydroelasticGeometry::CompliantVolume(_), Compliance::Compliant { modulus }) => modulus,
        _ => f64::INFINITY,
    }
}
