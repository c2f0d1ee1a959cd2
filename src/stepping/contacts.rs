//! The contacts of a dynamic step: surfaces and points as patches of the convex problem.

use super::columns::RelativeColumns;
use super::pairs::{ActivePatch, Pairs};
use super::{DissipationModel, StepSettings};
use crate::contact::{push_faces, push_points};
use crate::math::Vector3;
use crate::multibody::{Data, State};
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::{ContactProblem, DissipationLaw, PatchLaw};

/// What no body of a scene is expected to exceed within a step [m/s2]: with the speeds it bounds how near rigid geometries
/// must be to touch before the step ends.
const ACCELERATION_BOUND: f64 = 100.0;

/// The contacts of all pairs of a scene, and their memory.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    pub(super) pairs: Pairs,
    active: Vec<ActivePatch>,
    columns: RelativeColumns,
    pub(super) faces: u32,
    pub(super) faces_dropped: u32,
}

impl Contacts {
    /// The pairs in contact, one for each patch of the problem, in the same order.
    pub(super) fn active(&self) -> &[ActivePatch] {
        &self.active
    }

    /// Finds all contact surfaces and points at the poses in `data` and adds their patches to `problem`.
    pub(super) fn assemble(
        &mut self,
        scene: &Scene,
        settings: &StepSettings,
        data: &Data,
        state: &State,
        problem: &mut ContactProblem,
    ) {
        self.pairs.place(scene, data);
        self.pairs.bound_speeds(scene, data);
        self.active.clear();
        (self.faces, self.faces_dropped) = (0, 0);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            match pair.kind {
                ContactKind::PressureField if self.pairs.near(pair, 0.0) => {
                    self.assemble_surface(index, pair, scene, settings, data, state, problem);
                }
                ContactKind::PressureField => {}
                ContactKind::Points => self.assemble_points(index, pair, scene, settings, data, state, problem),
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one step's inputs, split so that borrows stay disjoint")]
    fn assemble_surface(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        settings: &StepSettings,
        data: &Data,
        state: &State,
        problem: &mut ContactProblem,
    ) {
        let found = self.pairs.find_surface(index, pair, scene, settings.faces);
        let (surface, kept) = self.pairs.surface_mut(index);
        let Some(p_WC) = found else {
            self.faces_dropped += surface.len() as u32;
            return;
        };
        let (block, momentum_matrix) = problem.add_patch();
        block.reset(patch_law(pair, settings));
        let geometries = scene.geometries();
        self.columns.merge(scene.model(), data, (geometries[pair.A].body, geometries[pair.B].body), &p_WC);
        self.columns.push(block, &state.v);
        block.weigh(momentum_matrix, state.v.len());
        let count = push_faces(surface, &p_WC, block, kept);
        self.faces += count.kept;
        self.faces_dropped += count.dropped;
        self.active.push(ActivePatch { pair: index, p_WC });
    }

    /// The points of a pair of rigid geometries that touch, or may touch before the step ends.
    #[allow(clippy::too_many_arguments, reason = "one step's inputs, split so that borrows stay disjoint")]
    fn assemble_points(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        settings: &StepSettings,
        data: &Data,
        state: &State,
        problem: &mut ContactProblem,
    ) {
        let step = settings.step();
        if self.pairs.is_far(index, pair, step * (self.pairs.speed_bound(pair) + step * ACCELERATION_BOUND)) {
            return;
        }
        let detection = step * (self.pairs.approach_speed(pair, scene, data) + step * ACCELERATION_BOUND);
        let Some(p_WC) = self.pairs.find_points(index, pair, scene, detection) else { return };
        let points = self.pairs.points(index);
        let (block, momentum_matrix) = problem.add_patch();
        block.reset(patch_law(pair, settings));
        let geometries = scene.geometries();
        self.columns.merge(scene.model(), data, (geometries[pair.A].body, geometries[pair.B].body), &p_WC);
        self.columns.push(block, &state.v);
        block.weigh(momentum_matrix, state.v.len());
        let columns = &self.columns;
        let inverse_mass = |p_CF: &Vector3, n: &Vector3| columns.inverse_mass(p_CF, n, momentum_matrix);
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let translation = axes.iter().map(|axis| inverse_mass(&Vector3::zeros(), axis)).sum::<f64>() / 3.0;
        push_points(points, &p_WC, &pair.material, step, translation, inverse_mass, block);
        self.faces += points.len() as u32;
        self.active.push(ActivePatch { pair: index, p_WC });
    }
}

fn patch_law(pair: &ContactPair, settings: &StepSettings) -> PatchLaw {
    PatchLaw {
        step: settings.step(),
        dissipation: match settings.dissipation {
            DissipationModel::HuntCrossley => DissipationLaw::HuntCrossley { dissipation: pair.material.dissipation },
            DissipationModel::Linear => DissipationLaw::Linear { relaxation_time: pair.material.relaxation_time },
        },
        friction: pair.material.friction,
        stiction_tolerance: settings.stiction_tolerance,
        friction_compliance: settings.friction_compliance,
    }
}
