//! Compliant bodies that meet so fast that a step finds their contact too late, or that their pressure does
//! not stop.

use super::ahead::{parts, thickness};
use super::pairs::{ActivePatch, Pairs};
use crate::contact::{Compliance, approach_speed, patch_depth};
use crate::geometry::{FaceRepresentation, HydroelasticGeometry};
use crate::math::{BodyIndex, RigidTransform, Rotation, SpatialVelocity, Vector3};
use crate::multibody::Data;
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
    /// geometry out on the far side.
    pub(in crate::stepping) depth: f64,
}

impl Pairs {
    /// Checks whether the geometries of pair number `index` would pass through each other on straight paths,
    /// or end the step overlapping by more than half the thickness of a compliant one. The two have no
    /// contact surface at the start of the step.
    pub(super) fn find_missed(
        &mut self,
        scene: &Scene,
        data: &Data,
        step: f64,
        faces: FaceRepresentation,
        index: usize,
    ) -> Option<Missed> {
        let (pair, geometries) = (&scene.contact_pairs()[index], scene.geometries());
        let (a, b) = (&geometries[pair.A], &geometries[pair.B]);
        let thinnest = thinnest(a, b);
        let depth = 0.5 * thinnest;
        let bound = step * self.speed_bound(pair);
        if bound <= depth || !self.near(pair, bound) {
            return None;
        }
        let later = |part: f64| (moved(a, data, part * step), moved(b, data, part * step));
        if !self.ways_overlap(pair, scene, &later(1.0)) {
            return None;
        }
        let ends_apart = self.find_surface_at(index, pair, scene, faces, &later(1.0)).is_none();
        let least = if ends_apart { 0.1 * depth } else { depth };
        let count = 4 * parts(step * self.approach_speed(pair, scene, data), thinnest);
        let found = (1..=count).find_map(|number| {
            let part = f64::from(number) / f64::from(count);
            let p_WC = self.find_surface_at(index, pair, scene, faces, &later(part))?;
            let V = velocity_at(b.body, data, &p_WC) - velocity_at(a.body, data, &p_WC);
            let travel = (1.0 - part) * step * approach_speed(self.surface(index).0, &p_WC, &V);
            (travel > least).then_some(Missed { pair: index, travel, pressed: None, depth })
        });
        self.find_surface(index, pair, scene, faces);
        found
    }

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
        let pressure = surface.pressure.iter().copied().fold(0.0, f64::max);
        // The pressure is the modulus in the middle: with a gradient of modulus/depth the rest of the way
        // there is depth (1 - part)
        let part = pressure / modulus(a).min(modulus(b));
        let bound = step * (V.v.norm() + V.w.norm() * self.smaller_radius(pair, scene));
        if bound <= depth * (1.0 - part) {
            return None;
        }
        let pressed = patch_depth(surface);
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

/// The largest pressure of a compliant geometry \[Pa\]; infinite for others.
fn modulus(geometry: &CollisionGeometry) -> f64 {
    match (&geometry.hydroelastic, geometry.material.compliance) {
        (HydroelasticGeometry::CompliantVolume(_), Compliance::Compliant { modulus }) => modulus,
        _ => f64::INFINITY,
    }
}

/// The pose of a geometry after `time` \[s\] with the velocities in `data`.
fn moved(geometry: &CollisionGeometry, data: &Data, time: f64) -> RigidTransform {
    let (X_WB, V_WB) = (&data.X_WB[geometry.body], &data.V_WB[geometry.body]);
    let rotation = Rotation::new(V_WB.w * time) * X_WB.rotation;
    RigidTransform::from_parts((X_WB.translation.vector + V_WB.v * time).into(), rotation) * geometry.X_BG
}

/// The velocity of the point of a body that is at `p_WC` now.
fn velocity_at(body: BodyIndex, data: &Data, p_WC: &Vector3) -> SpatialVelocity {
    data.V_WB[body].shift(&(p_WC - data.X_WB[body].translation.vector))
}
