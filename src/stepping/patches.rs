//! The contacts of the last step in a snapshot.

use super::contacts::{ActivePatch, surface_velocity};
use super::friction_errors::{SlidingForce, friction_errors, largest_of, relative_velocity};
use super::result::StepContact;
use super::simulation::Simulation;
use super::snapshot::{ContactPatch, PatchFaces, penetration};
use crate::math::{BodyIndex, Vector3};
use crate::scene::{ContactKind, ContactPair};

/// Slip below this multiple of the stiction tolerance has no direction [-].
const SLIP_MIN: f64 = 10.0;

impl Simulation {
    pub(super) fn write_patch(&self, number: usize, contact: &StepContact, patch: &mut ContactPatch) {
        let ActivePatch { pair: index, p_WC, .. } = contact.patch;
        let pair = &self.scene.contact_pairs()[index];
        let geometries = self.scene.geometries();
        patch.kind = pair.kind;
        (patch.geometry_A, patch.geometry_B) = (pair.A, pair.B);
        (patch.body_A, patch.body_B) = (geometries[pair.A].body, geometries[pair.B].body);
        patch.p_WC = p_WC;
        patch.F_BC_W = contact.impulse * (1.0 / self.last_length());
        let faces = &mut patch.faces;
        // With error control, the state goes on from the end of the last solve
        self.stepper.face_forces(&self.scene, number, &self.result.state.v, &mut faces.force_B_W);
        faces.clear();
        match pair.kind {
            ContactKind::PressureField => {
                add_parts(self.stepper.surface(index).1, &mut faces.force_B_W);
                self.write_surface(index, faces);
                let (surface, kept) = self.stepper.surface(index);
                patch.penetration = penetration(surface, kept);
            }
            ContactKind::Points => {
                let points = self.stepper.points(index);
                patch.penetration = points.phi.iter().fold(0.0, |depth, phi| depth.max(-phi));
                faces.centroid_W.extend_from_slice(&points.p_WC);
                faces.normal_W.extend_from_slice(&points.normal);
                faces.area.resize(points.len(), 0.0);
                faces.pressure.resize(points.len(), 0.0);
                faces.vertex_ends.resize(points.len(), 0);
            }
        }
        patch.area = faces.area.iter().sum();
        self.write_friction_errors(pair, patch);
    }

    /// Writes the errors of friction, at the poses and velocities at the end of the step, or of its last
    /// solve.
    fn write_friction_errors(&self, pair: &ContactPair, patch: &mut ContactPatch) {
        let data = self.control.solved.as_deref().unwrap_or(&self.data);
        let moving = surface_velocity(&self.scene, data, pair);
        let motion = |body: BodyIndex| (&data.V_WB[body], &data.X_WB[body].translation.vector);
        let (A, B) = (motion(patch.body_A), motion(patch.body_B));
        let PatchFaces { force_B_W, normal_W, centroid_W, friction: errors, .. } = &mut patch.faces;
        let each = force_B_W.iter().zip(&*normal_W).zip(&*centroid_W);
        let each = each.map(|((force, normal), p_WF)| SlidingForce {
            force: *force,
            normal: *normal,
            slip: relative_velocity(p_WF, A, B) + moving,
        });
        let along: Vector3 = each.clone().map(|face| face.normal * face.force.dot(&face.normal)).sum();
        let net = SlidingForce {
            force: patch.F_BC_W.f,
            normal: along.try_normalize(0.0).unwrap_or_default(),
            slip: relative_velocity(&patch.p_WC, A, B) + moving,
        };
        let slip_min = SLIP_MIN * self.settings.stiction_tolerance;
        // Grows with the other arrays, and not when a step has one face more than all before
        errors.clear();
        errors.reserve(normal_W.capacity());
        patch.net_friction = friction_errors(each, &net, pair.material.friction, slip_min, errors);
        patch.friction = largest_of(errors);
    }

    fn write_surface(&self, pair: usize, faces: &mut PatchFaces) {
        let (surface, kept) = self.stepper.surface(pair);
        for number in (0..kept.len()).filter(|number| !is_part(kept, *number)) {
            let i = kept[number] as usize;
            faces.centroid_W.push(surface.centroid[i]);
            faces.normal_W.push(surface.normal[i]);
            faces.area.push(surface.area[i]);
            faces.pressure.push(surface.pressure[i]);
            let (corners, pressures) = surface.polygon(i);
            faces.vertices_W.extend_from_slice(corners);
            faces.vertex_pressure.extend_from_slice(pressures);
            faces.vertex_ends.push(faces.vertices_W.len() as u32);
        }
    }
}

/// Whether entry `number` of the solver's faces is another part of the previous face.
fn is_part(kept: &[u32], number: usize) -> bool {
    number > 0 && kept[number] == kept[number - 1]
}

/// Adds the forces of the parts of divided faces to those of their faces.
fn add_parts(kept: &[u32], forces: &mut Vec<Vector3>) {
    let mut count = 0;
    for number in 0..kept.len().min(forces.len()) {
        let force = forces[number];
        if is_part(kept, number) {
            forces[count - 1] += force;
        } else {
            forces[count] = force;
            count += 1;
        }
    }
    forces.truncate(count);
}

impl PatchFaces {
    /// Empties all arrays but the forces, keeping their memory.
    fn clear(&mut self) {
        self.vertices_W.clear();
        self.vertex_ends.clear();
        self.vertex_pressure.clear();
        self.centroid_W.clear();
        self.normal_W.clear();
        self.area.clear();
        self.pressure.clear();
    }
}
