//! Patches whose forces are linear about poses that a solve has reached, or that are as deep as the load
//! needs ([`EndSurfaces`](super::end_surfaces)).

use super::dynamic::DynamicContacts;
use super::end_surfaces::{About, EndFriction, SolvedPatches};
use super::free_path::FreePath;
use super::input::ContactInput;
use super::missed::depth_max;
use super::pairs::{ActivePatch, origins, poses};
use crate::contact::{approach_speed, energy_max, patch_size, push_faces_at_end, resting_forces};
use crate::math::{RigidTransform, SpatialVelocity, Vector3};
use crate::scene::ContactPair;
use crate::solvers::dynamic::ContactProblem;

/// The largest number of surfaces among which a depth is chosen.
const DEPTHS_MAX: usize = 4;
/// A depth fits if its force is the wanted one within this factor [-].
const FIT: f64 = 1.5;

fn translation(along: Vector3) -> RigidTransform {
    RigidTransform::translation(along.x, along.y, along.z)
}

/// A surface, and the motion from the start of the step to its poses.
struct Found {
    /// The patch point [m, world].
    p_WC: Vector3,
    p_WBo: [Vector3; 2],
    /// The velocity that leads to the poses within the step, of B relative to A at the patch point.
    V: SpatialVelocity,
}

impl DynamicContacts {
    /// Whether the forces of a solve that ends with the velocities `v` differ from those of the surfaces at
    /// its end, so that the step is to be assembled and solved again about other surfaces. `islands` are the
    /// islands of the velocities.
    pub(in crate::stepping) fn differs_from_end(
        &mut self,
        input: &ContactInput<'_>,
        (problem, islands): (&ContactProblem, &[u32]),
        v: &[f64],
    ) -> bool {
        let Self { pairs, active, unresolved, ends, .. } = self;
        ends.compare(&mut SolvedPatches { pairs, active, unresolved, problem, islands }, input, v)
    }

    /// Returns to the surfaces of the best solutions, for good. Returns whether they are other ones.
    pub(in crate::stepping) fn return_to_best(&mut self) -> bool {
        self.ends.return_to_best()
    }

    /// Whether the step does not resolve a contact.
    pub(in crate::stepping) fn any_unresolved(&self) -> bool {
        self.unresolved.iter().any(Option::is_some)
    }

    /// The patches whose forces are not those of the start or of the free path, with the velocities of which
    /// they are the forces.
    pub(in crate::stepping) fn linear_about(&self) -> &[(u32, SpatialVelocity)] {
        &self.linear_about
    }

    /// The first pair with such a patch.
    pub(in crate::stepping) fn first_about(&self) -> Option<usize> {
        self.ends.first()
    }

    /// The pair that slides whose forces are farthest from those of the end of the step.
    pub(in crate::stepping) fn farthest_from_end(&self, input: &ContactInput<'_>) -> Option<EndFriction> {
        self.ends.worst(input)
    }

    /// Adds the patch of a pair with its forces about other poses than the usual ones. Returns whether the
    /// bodies touch there, with no more energy than the patch may have.
    pub(super) fn assemble_about(
        &mut self,
        input: &ContactInput<'_>,
        path: &FreePath<'_>,
        (index, pair, about, energy_before): (usize, &ContactPair, About, Option<f64>),
        problem: &mut ContactProblem,
    ) -> bool {
        let found = match about {
            About::Usual => None,
            About::Start => self.find_start(input, (index, pair)),
            About::Rest => self.find_rest(input, (index, pair)),
            About::Lifted => self.find_lifted(input, path, (index, pair), problem),
            About::End(solve) => self.find_end(input, path, (index, pair, solve)),
        };
        let Some(Found { p_WC, p_WBo, V }) = found else { return false };
        let geometries = input.scene.geometries();
        let (block, momentum_matrix) = problem.add_patch();
        input.start_patch(pair, momentum_matrix, &self.columns, block);
        let (surface, kept) = self.pairs.surface_mut(index);
        let size = patch_size(surface).within(depth_max(&geometries[pair.A], &geometries[pair.B]));
        let approached = path.step * approach_speed(surface, &p_WC, &V);
        let motion = (&V, path.step);
        let count = push_faces_at_end(surface, (&p_WC, &size), motion, input.settings.face_friction, block, kept);
        let energy = block.elastic_energy(&SpatialVelocity::ZERO);
        let (_, stiffness) = block.elastic_sums();
        let inverse_mass = self.columns.patch_inverse_mass(&size.along, momentum_matrix);
        let fall = path.step * path.model.gravity_W().norm();
        let most = energy_before
            .map(|before| energy_max(before, stiffness, inverse_mass, (path.step, fall)))
            .unwrap_or(f64::INFINITY);
        if energy > most {
            problem.pop_patch();
            self.pairs.surface_mut(index).1.clear();
            return false;
        }
        self.linear_about.push((problem.patches().len() as u32 - 1, V));
        self.add_active(ActivePatch { pair: index, p_WC, p_WBo }, count, (Some(approached), None));
        true
    }

    /// The surface of the start, at rest.
    fn find_rest(&mut self, input: &ContactInput<'_>, (index, pair): (usize, &ContactPair)) -> Option<Found> {
        let ContactInput { scene, settings, data, .. } = *input;
        let p_WC = self.pairs.find_surface(index, pair, scene, settings.faces)?;
        input.columns_on_path(pair, &p_WC, data, &mut self.columns);
        Some(Found { p_WC, p_WBo: origins(scene, pair, data), V: SpatialVelocity::ZERO })
    }

    /// The surface of the start, which moves with the slip on the free path.
    fn find_start(&mut self, input: &ContactInput<'_>, (index, pair): (usize, &ContactPair)) -> Option<Found> {
        let ContactInput { scene, settings, data, .. } = *input;
        let p_WC = self.pairs.find_surface(index, pair, scene, settings.faces)?;
        input.columns_on_path(pair, &p_WC, data, &mut self.columns);
        let V = self.ahead.velocity(self.columns.columns());
        let along = patch_size(self.pairs.surface(index).0).along;
        let V = SpatialVelocity::new(along * along.dot(&V.w), V.v - along * along.dot(&V.v));
        Some(Found { p_WC, p_WBo: origins(scene, pair, data), V })
    }

    /// The surface of the end of a solve.
    fn find_end(
        &mut self,
        input: &ContactInput<'_>,
        path: &FreePath<'_>,
        (index, pair, solve): (usize, &ContactPair, usize),
    ) -> Option<Found> {
        let ContactInput { scene, settings, .. } = *input;
        let motion = self.ends.motion(solve);
        let there = motion.at(path, 1.0);
        let p_WC = self.pairs.find_surface_at(index, pair, scene, settings.faces, &poses(scene, pair, there))?;
        input.columns_on_path(pair, &p_WC, there, &mut self.columns);
        let p_WBo = origins(scene, pair, there);
        Some(Found { p_WC, p_WBo, V: motion.velocity(self.columns.columns()) })
    }

    /// The surface on the free path, with body B moved out to the depth at which its force stops the bodies.
    fn find_lifted(
        &mut self,
        input: &ContactInput<'_>,
        path: &FreePath<'_>,
        (index, pair): (usize, &ContactPair),
        problem: &ContactProblem,
    ) -> Option<Found> {
        let ContactInput { scene, settings, .. } = *input;
        let geometries = scene.geometries();
        let most = depth_max(&geometries[pair.A], &geometries[pair.B]);
        let (p_WC, part) = self.find_on_free_path(input, path, index, pair, 0.0)?;
        let there = self.ahead.at(path, part);
        let (X_WG, p_WBo) = (poses(scene, pair, there), origins(scene, pair, there));
        input.columns_on_path(pair, &p_WC, there, &mut self.columns);
        let V = self.ahead.velocity(self.columns.columns());
        let size = patch_size(self.pairs.surface(index).0).within(most);
        let (deepest, along) = (size.depth, size.along);
        let inverse_mass = self.columns.patch_inverse_mass(&along, &problem.momentum_matrix);
        let wanted = -along.dot(&V.v) / (path.step * inverse_mass);
        let mut force = resting_forces(self.pairs.surface(index).0, &size).0;
        if !(wanted > 0.0 && wanted < force) {
            return None;
        }
        let (mut depth, mut found) = (deepest, None);
        for _ in 0..DEPTHS_MAX {
            depth = if force > 0.0 { (depth * wanted / force).min(deepest) } else { 4.0 * depth };
            let moved = translation(along * (deepest - depth));
            let X_WG = (X_WG.0, moved * X_WG.1);
            let lifted = self.pairs.find_surface_at(index, pair, scene, settings.faces, &X_WG);
            let surface = self.pairs.surface(index).0;
            force = lifted.map_or(0.0, |_| resting_forces(surface, &patch_size(surface).within(most)).0);
            found = lifted.map(|p_WC| (p_WC, depth));
            if force > wanted / FIT && force < wanted * FIT {
                break;
            }
        }
        let (p_WC, depth) = found?;
        input.columns_on_path(pair, &p_WC, self.ahead.at(path, part), &mut self.columns);
        let V = self.ahead.velocity(self.columns.columns());
        let v = V.v * part + along * ((deepest - depth) / path.step);
        Some(Found { p_WC, p_WBo, V: SpatialVelocity::new(V.w * part, v) })
    }
}
