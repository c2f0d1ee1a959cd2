//! The contacts of a dynamic step: surfaces and points as patches of the convex problem.

use super::closures::fill_closure;
use super::columns::RelativeColumns;
use super::pairs::{ActivePatch, Pairs, surface_velocity};
use crate::contact::{PointLoad, push_faces, push_points};
use crate::math::Vector3;
use crate::multibody::Data;
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::dynamic::ContactProblem;
use crate::solvers::{DissipationLaw, PatchBlock, PatchLaw};
use crate::stepping::settings::{CommonSettings, DissipationModel, DynamicStepping};

/// Upper bound on the accelerations of bodies within a step [m/s2]. With the speeds it gives the distance
/// within which rigid geometries may touch before the step ends.
const ACCELERATION_BOUND: f64 = 100.0;

/// The contacts of all pairs of a scene, and their memory.
#[derive(Debug, Default)]
pub(in crate::stepping) struct DynamicContacts {
    pub(in crate::stepping) pairs: Pairs,
    active: Vec<ActivePatch>,
    columns: RelativeColumns,
    pub(in crate::stepping) faces: u32,
    pub(in crate::stepping) faces_dropped: u32,
}

impl DynamicContacts {
    /// The pairs in contact, one for each patch of the problem, in the same order.
    pub(in crate::stepping) fn active(&self) -> &[ActivePatch] {
        &self.active
    }

    /// Stores the impulses of the rigid pairs of the solved `problem` at the velocities `v`, for the next
    /// step.
    pub(in crate::stepping) fn note_loads(&mut self, scene: &Scene, problem: &ContactProblem, v: &[f64]) {
        for (active, patch) in self.active.iter().zip(problem.patches()) {
            if scene.contact_pairs()[active.pair].kind == ContactKind::Points {
                self.pairs.note_point_impulse(active.pair, patch.largest_normal_impulse(&patch.velocity(v)));
            }
        }
    }

    /// Finds all contact surfaces and points and adds their patches to `problem`.
    pub(in crate::stepping) fn assemble(&mut self, input: &ContactInput<'_>, problem: &mut ContactProblem) {
        let ContactInput { scene, data, .. } = *input;
        self.pairs.place(scene, data);
        self.pairs.bound_speeds(scene, data);
        self.active.clear();
        (self.faces, self.faces_dropped) = (0, 0);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            match pair.kind {
                ContactKind::PressureField if self.pairs.near(pair, 0.0) => {
                    self.assemble_surface(input, index, pair, problem);
                }
                ContactKind::PressureField => {}
                ContactKind::Points => self.assemble_points(input, index, pair, problem),
            }
        }
        let (model, step, n) = (scene.model(), input.settings.step(), input.v.len());
        for closure in scene.closures() {
            let (block, A) = problem.add_patch();
            fill_closure(closure, model, (data, data), step, |dof| A[dof * n + dof], &mut self.columns, block);
        }
    }

    fn assemble_surface(
        &mut self,
        input: &ContactInput<'_>,
        index: usize,
        pair: &ContactPair,
        problem: &mut ContactProblem,
    ) {
        let found = self.pairs.find_surface(index, pair, input.scene, input.settings.faces);
        let (surface, kept) = self.pairs.surface_mut(index);
        let Some(p_WC) = found else {
            self.faces_dropped += surface.len() as u32;
            return;
        };
        let (block, momentum_matrix) = problem.add_patch();
        input.start_patch(pair, &p_WC, momentum_matrix, &mut self.columns, block);
        let count = push_faces(surface, &p_WC, input.settings.face_friction, block, kept);
        self.faces += count.kept;
        self.faces_dropped += count.dropped;
        self.active.push(ActivePatch { pair: index, p_WC });
    }

    /// The points of a pair of rigid geometries that touch, or may touch before the step ends.
    fn assemble_points(
        &mut self,
        input: &ContactInput<'_>,
        index: usize,
        pair: &ContactPair,
        problem: &mut ContactProblem,
    ) {
        let ContactInput { scene, settings, data, .. } = *input;
        let step = settings.step();
        let impulse_before = self.pairs.take_point_impulse(index);
        if self.pairs.is_far(index, pair, step * (self.pairs.speed_bound(pair) + step * ACCELERATION_BOUND)) {
            return;
        }
        let detection = step * (self.pairs.approach_speed(pair, scene, data) + step * ACCELERATION_BOUND);
        let Some(p_WC) = self.pairs.find_points(index, pair, scene, detection) else { return };
        let points = self.pairs.points(index);
        let (block, momentum_matrix) = problem.add_patch();
        input.start_patch(pair, &p_WC, momentum_matrix, &mut self.columns, block);
        let columns = &self.columns;
        let inverse_mass = |p_CF: &Vector3, n: &Vector3| columns.inverse_mass(p_CF, n, momentum_matrix);
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let translation = axes.iter().map(|axis| inverse_mass(&Vector3::zeros(), axis)).sum::<f64>() / 3.0;
        let load = PointLoad { step, inverse_mass: translation, impulse_before };
        push_points(points, &p_WC, &pair.material, &load, inverse_mass, block);
        self.faces += points.len() as u32;
        self.active.push(ActivePatch { pair: index, p_WC });
    }
}

/// The inputs of the contacts of a dynamic step.
#[derive(Clone, Copy)]
pub(in crate::stepping) struct ContactInput<'a> {
    pub(in crate::stepping) scene: &'a Scene,
    pub(in crate::stepping) settings: &'a CommonSettings,
    pub(in crate::stepping) options: &'a DynamicStepping,
    /// Poses and velocities of the bodies at the start of the step.
    pub(in crate::stepping) data: &'a Data,
    /// The generalized velocities at the start of the step [rad/s, m/s].
    pub(in crate::stepping) v: &'a [f64],
}

impl ContactInput<'_> {
    /// Starts the patch of a pair at the patch point: its law and the columns of its Jacobian, which remain
    /// in `columns`.
    fn start_patch(
        &self,
        pair: &ContactPair,
        p_WC: &Vector3,
        momentum_matrix: &[f64],
        columns: &mut RelativeColumns,
        block: &mut PatchBlock,
    ) {
        block.reset(self.patch_law(pair));
        block.set_surface_velocity(surface_velocity(self.scene, self.data, pair));
        let geometries = self.scene.geometries();
        let bodies = (geometries[pair.A].body, geometries[pair.B].body);
        columns.merge(self.scene.model(), self.data, bodies, p_WC);
        columns.push(block, self.v);
        block.weigh(momentum_matrix, self.v.len());
    }

    fn patch_law(&self, pair: &ContactPair) -> PatchLaw {
        let ContactPair { material, .. } = pair;
        PatchLaw {
            step: self.settings.step(),
            dissipation: match self.options.dissipation {
                DissipationModel::HuntCrossley => DissipationLaw::HuntCrossley { dissipation: material.dissipation },
                DissipationModel::Linear => DissipationLaw::Linear { relaxation_time: material.relaxation_time },
            },
            friction: material.friction,
            stiction_tolerance: self.settings.stiction_tolerance,
            friction_compliance: self.options.friction_compliance,
        }
    }
}
