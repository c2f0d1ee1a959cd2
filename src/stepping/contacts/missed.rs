//! Compliant bodies that meet so fast that a step finds their contact too late.

use super::ahead::{parts, thickness};
use super::pairs::Pairs;
use crate::contact::approach_speed;
use crate::geometry::FaceRepresentation;
use crate::math::{BodyIndex, RigidTransform, Rotation, SpatialVelocity, Vector3};
use crate::multibody::Data;
use crate::scene::{CollisionGeometry, Scene};

/// A pair that is apart at the start of a step and overlaps within it, too deeply for its pressure to
/// separate it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::stepping) struct Missed {
    /// Index in `Scene::contact_pairs`.
    pub(in crate::stepping) pair: usize,
    /// Motion of the two against each other after they have met in the step \[m\].
    pub(in crate::stepping) travel: f64,
    /// Half the thickness of the thinner compliant geometry: beyond it the pressure drives the other one out
    /// on the far side \[m\].
    pub(in crate::stepping) depth: f64,
}

impl Pairs {
    /// Checks whether the geometries of pair number `index`, which are apart at the start of the step, would
    /// pass through each other on straight paths, or overlap at the end of the step by more than half the
    /// thickness of a compliant one.
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
        let thinnest = [a, b]
            .into_iter()
            .filter(|geometry| geometry.hydroelastic.is_compliant())
            .map(|geometry| thickness(&geometry.hydroelastic.aabb().half_extents()))
            .fold(f64::INFINITY, f64::min);
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
            (travel > least).then_some(Missed { pair: index, travel, depth })
        });
        self.find_surface(index, pair, scene, faces);
        found
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
