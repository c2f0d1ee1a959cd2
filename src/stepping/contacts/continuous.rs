//! The contacts of the continuous model: the surfaces of all pairs at one pose, and the forces of their
//! faces.
//!
//! Each triangle of a surface pushes with its whole pressure at its centroid [Elandt 2019; Masterjohn 2022,
//! section II]. With fe = A p, the normal speed vn of B relative to A and the slip vt:
//!   fn = fe (1 - d vn)+   or   (fe - tau k vn)+        \[N\]     along the normal, on B
//!   ft = -mu fn vt/sqrt(|vt|^2 + v_s^2)                \[N\]     friction
//! No face is left out: one whose pressure would not rise when the bodies approach has k = 0.

use super::columns::RelativeColumns;
use super::missed::{smallest_extent, thickness_of_pair};
use super::motion_search::ACCELERATION_BOUND;
use super::pairs::{ActivePatch, Pairs, origins, surface_velocity};
use crate::geometry::{ContactSurface, FaceRepresentation};
use crate::math::{SpatialForce, SpatialVelocity, Vector3, Vector6};
use crate::multibody::Data;
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::stepping::settings::DissipationModel;

/// A part may take two bodies this share of the thickness of the thinner one beyond their first touch [-].
/// The three instants of a part at which the forces are evaluated then meet the contact.
const THROUGH: f64 = 0.5;

/// The law of a face, but for its material.
#[derive(Clone, Copy, Debug)]
pub(in crate::stepping) struct FaceLaw {
    pub(in crate::stepping) dissipation: DissipationModel,
    /// v_s [m/s].
    pub(in crate::stepping) stiction_tolerance: f64,
}

/// The contacts of all pairs of a scene at one pose.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct ContinuousContacts {
    pairs: Pairs,
    active: Vec<ActivePatch>,
    /// The Jacobian of each active pair; entries beyond them are spare memory.
    columns: Vec<RelativeColumns>,
    faces: u32,
}

impl ContinuousContacts {
    pub(in crate::stepping) fn pairs(&self) -> &Pairs {
        &self.pairs
    }
    /// The pairs in contact.
    pub(in crate::stepping) fn active(&self) -> &[ActivePatch] {
        &self.active
    }
    /// The number of faces of all surfaces.
    pub(in crate::stepping) fn faces(&self) -> u32 {
        self.faces
    }

    /// Finds the surfaces of all pairs at the poses in `data`.
    pub(in crate::stepping) fn find_surfaces(&mut self, scene: &Scene, data: &Data) {
        self.active.clear();
        self.faces = 0;
        let near = self.near(scene, data, 0.0);
        for index in &near {
            let index = *index as usize;
            let pair = &scene.contact_pairs()[index];
            if pair.kind != ContactKind::PressureField || !self.pairs.near(pair, 0.0) {
                continue;
            }
            self.pairs.find_surface(index, pair, scene, FaceRepresentation::TriangleFan);
            let (surface, kept) = self.pairs.surface_mut(index);
            let Some(p_WC) = centroid(surface) else { continue };
            kept.extend(0..surface.len() as u32);
            self.faces += surface.len() as u32;
            let number = self.active.len();
            if number == self.columns.len() {
                self.columns.push(RelativeColumns::default());
            }
            let bodies = (scene.geometries()[pair.A].body, scene.geometries()[pair.B].body);
            self.columns[number].merge(scene.model(), data, bodies, &p_WC);
            self.active.push(ActivePatch { pair: index, p_WC, p_WBo: origins(scene, pair, data) });
        }
        self.pairs.give_back(near);
    }

    /// The pairs that may touch within `time` \[s\] after the poses in `data`; the caller gives the list
    /// back.
    fn near(&mut self, scene: &Scene, data: &Data, time: f64) -> Vec<u32> {
        self.pairs.update_poses(scene, data);
        self.pairs.bound_speeds(scene, data);
        self.pairs.select(scene, (time, ACCELERATION_BOUND), false, std::iter::empty())
    }

    /// The longest part, up to `left` \[s\], in which no two bodies pass through each other unseen, compliant
    /// or not.
    pub(in crate::stepping) fn longest(&mut self, scene: &Scene, data: &Data, left: f64) -> f64 {
        let near = self.near(scene, data, left);
        let geometries = scene.geometries();
        let mut longest = left;
        for index in &near {
            let pair = &scene.contact_pairs()[*index as usize];
            let speed = self.pairs.speed_bound(pair) + left * ACCELERATION_BOUND;
            // A half space that moves has no largest speed
            if speed.is_finite() {
                let [a, b] = [&geometries[pair.A], &geometries[pair.B]];
                let thickness = match pair.kind {
                    ContactKind::PressureField => thickness_of_pair(a, b),
                    // Rigid bodies overlap until the second has left the first
                    ContactKind::Points => smallest_extent(a) + smallest_extent(b),
                };
                // Two flat meshes have no inside
                if thickness > 0.0 {
                    let way = self.pairs.gap(pair, scene).max(0.0) + THROUGH * thickness;
                    longest = longest.min(way / speed);
                }
            }
        }
        self.pairs.give_back(near);
        longest
    }

    /// The first pair of rigid geometries that overlaps at the poses in `data`.
    pub(in crate::stepping) fn rigid_overlap(&mut self, scene: &Scene, data: &Data) -> Option<usize> {
        let near = self.near(scene, data, 0.0);
        let overlaps = |index: &u32| {
            let index = *index as usize;
            let pair = &scene.contact_pairs()[index];
            pair.kind == ContactKind::Points
                && self.pairs.find_points(index, pair, scene, 0.0).is_some()
                && self.pairs.points(index).phi.iter().any(|phi| *phi < 0.0)
        };
        let found = near.iter().copied().find(overlaps);
        self.pairs.give_back(near);
        found.map(|index| index as usize)
    }

    /// Adds the generalized forces of all contacts at the velocities `v` to `forces` [N m] or \[N\].
    /// `on_patch` receives each pair in contact and the force on B about C [N m, N].
    pub(in crate::stepping) fn add_forces(
        &self,
        (scene, data, v): (&Scene, &Data, &[f64]),
        law: &FaceLaw,
        forces: &mut [f64],
        mut on_patch: impl FnMut(&ActivePatch, &SpatialForce),
    ) {
        for (active, columns) in self.active.iter().zip(&self.columns) {
            let mut F_C = SpatialForce::ZERO;
            self.each_face((scene, data, v), law, (active, columns), |p_CF, force| {
                F_C += SpatialForce::new(p_CF.cross(&force), force);
            });
            let F = F_C.to_vector();
            for (dof, column) in columns.columns() {
                forces[*dof] += column.dot(&F);
            }
            on_patch(active, &F_C);
        }
    }

    /// The forces on B of the faces of the active pair `number` \[N\].
    pub(in crate::stepping) fn face_forces(
        &self,
        (scene, data, v): (&Scene, &Data, &[f64]),
        law: &FaceLaw,
        number: usize,
        forces: &mut Vec<Vector3>,
    ) {
        forces.clear();
        let (active, columns) = (&self.active[number], &self.columns[number]);
        self.each_face((scene, data, v), law, (active, columns), |_, force| forces.push(force));
    }

    fn each_face(
        &self,
        (scene, data, v): (&Scene, &Data, &[f64]),
        law: &FaceLaw,
        (active, columns): (&ActivePatch, &RelativeColumns),
        mut on_face: impl FnMut(Vector3, Vector3),
    ) {
        let pair = &scene.contact_pairs()[active.pair];
        let V: Vector6 = columns.columns().iter().map(|(dof, column)| column * v[*dof]).sum();
        let V = SpatialVelocity::from_vector(&V);
        let moving = surface_velocity(scene, data, pair);
        let (surface, _) = self.pairs.surface(active.pair);
        for i in 0..surface.len() {
            let p_CF = surface.centroid[i] - active.p_WC;
            on_face(p_CF, face_force(surface, i, &V.shift(&p_CF).v, &moving, (pair, law)));
        }
    }
}

/// The force on B of face `i` \[N\], at the velocity `v_F` of B relative to A and the velocity `moving` of
/// their surfaces [m/s].
fn face_force(
    surface: &ContactSurface,
    i: usize,
    v_F: &Vector3,
    moving: &Vector3,
    (pair, law): (&ContactPair, &FaceLaw),
) -> Vector3 {
    let (n, fe) = (&surface.normal[i], surface.area[i] * surface.pressure[i]);
    let vn = v_F.dot(n);
    let fn_ = match law.dissipation {
        DissipationModel::HuntCrossley => fe * (1.0 - pair.material.dissipation * vn).max(0.0),
        DissipationModel::Linear => {
            let rises = surface.g_A[i] > 0.0 && surface.g_B[i] > 0.0;
            let k = if rises { surface.area[i] * surface.gradient(i) } else { 0.0 };
            (fe - pair.material.relaxation_time * k * vn).max(0.0)
        }
    };
    let slip = v_F + moving;
    let vt = slip - n * slip.dot(n);
    let regularized = (vt.norm_squared() + law.stiction_tolerance * law.stiction_tolerance).sqrt();
    n * fn_ - vt * (pair.material.friction * fn_ / regularized)
}

/// The centroid of a surface, weighted by area [m, world]; `None` without faces.
fn centroid(surface: &ContactSurface) -> Option<Vector3> {
    let area: f64 = surface.area.iter().sum();
    let moment: Vector3 = surface.centroid.iter().zip(&surface.area).map(|(p_WF, area)| p_WF * *area).sum();
    (area > 0.0).then(|| moment / area)
}
