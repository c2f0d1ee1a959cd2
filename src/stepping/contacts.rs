//! The geometric half of a step: which pairs touch, their contact surfaces, and the patches of the convex problem.

use super::{DissipationModel, StepSettings};
use crate::contact::{patch_point, push_faces};
use crate::geometry::{Aabb, ContactSurface, HydroelasticWorkspace, contact_surface};
use crate::math::{BodyIndex, GeometryIndex, Index, IndexVec, RigidTransform, Vector3, Vector6};
use crate::multibody::jacobian::write_columns;
use crate::multibody::{Data, Model, State};
use crate::scene::{ContactPair, Scene};
use crate::solvers::{ContactProblem, DissipationLaw, PatchLaw};

/// What is remembered of a pair from step to step.
#[derive(Debug, Default)]
struct PairMemory {
    workspace: HydroelasticWorkspace,
    surface: ContactSurface,
    /// Which faces of `surface` the solver has, in its order.
    kept: Vec<u32>,
}

/// A pair in contact, and its patch in the problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActivePatch {
    /// Position in `Scene::contact_pairs`.
    pub(super) pair: usize,
    /// The patch point C [m, world].
    pub(super) p_WC: Vector3,
}

/// The contact surfaces of all pairs of a scene, and their memory.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    X_WG: IndexVec<GeometryIndex, RigidTransform>,
    boxes_W: IndexVec<GeometryIndex, Aabb>,
    memory: Vec<PairMemory>,
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
    /// The contact surface of a pair, and which of its faces the solver has.
    pub(super) fn surface(&self, pair: usize) -> (&ContactSurface, &[u32]) {
        (&self.memory[pair].surface, &self.memory[pair].kept)
    }

    /// Finds all contact surfaces at the poses in `data` and adds their patches to `problem`.
    pub(super) fn assemble(
        &mut self,
        scene: &Scene,
        settings: &StepSettings,
        data: &Data,
        state: &State,
        problem: &mut ContactProblem,
    ) {
        self.memory.resize_with(scene.contact_pairs().len(), PairMemory::default);
        self.X_WG.clear();
        self.boxes_W.clear();
        for geometry in scene.geometries().iter() {
            let X_WG = data.X_WB[geometry.body] * geometry.X_BG;
            self.X_WG.push(X_WG);
            self.boxes_W.push(geometry.hydroelastic.world_aabb(&X_WG));
        }
        self.active.clear();
        (self.faces, self.faces_dropped) = (0, 0);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            if !self.boxes_W[pair.A].overlaps(&self.boxes_W[pair.B]) {
                continue;
            }
            self.assemble_pair(index, pair, scene, settings, data, state, problem);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one step's inputs, split so that borrows stay disjoint")]
    fn assemble_pair(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        settings: &StepSettings,
        data: &Data,
        state: &State,
        problem: &mut ContactProblem,
    ) {
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let (X_WA, X_WB) = (&self.X_WG[pair.A], &self.X_WG[pair.B]);
        let PairMemory { workspace, surface, kept } = &mut self.memory[index];
        let computed = contact_surface(&a.hydroelastic, X_WA, &b.hydroelastic, X_WB, workspace, surface);
        debug_assert!(computed.is_ok(), "a scene's contact pairs have a pressure field");
        let Some(p_WC) = patch_point(surface) else {
            self.faces_dropped += surface.len() as u32;
            return;
        };
        let (block, momentum_matrix) = problem.add_patch();
        block.reset(patch_law(pair, settings));
        let model = scene.model();
        let size = model.nv();
        self.columns.merge(model, data, (a.body, b.body), &p_WC);
        for (dof, column) in &self.columns.relative {
            block.push_column(*dof as u32, *column, state.v[*dof]);
        }
        block.weigh(momentum_matrix, size);
        kept.clear();
        let count = push_faces(surface, &p_WC, block, kept);
        self.faces += count.kept;
        self.faces_dropped += count.dropped;
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

/// Scratch memory for the columns of J with V = J v the velocity of B relative to A at C, in world axes.
#[derive(Debug, Default)]
struct RelativeColumns {
    columns_A: Vec<Vector6>,
    columns_B: Vec<Vector6>,
    /// (degree of freedom, column), ascending.
    relative: Vec<(usize, Vector6)>,
}

impl RelativeColumns {
    fn merge(&mut self, model: &Model, data: &Data, (body_A, body_B): (BodyIndex, BodyIndex), p_WC: &Vector3) {
        let (dofs_A, dofs_B) = (model.body_dofs(body_A), model.body_dofs(body_B));
        self.columns_A.resize(dofs_A.len(), Vector6::zeros());
        self.columns_B.resize(dofs_B.len(), Vector6::zeros());
        write_columns(model, data, body_A, p_WC, &mut self.columns_A);
        write_columns(model, data, body_B, p_WC, &mut self.columns_B);
        self.relative.clear();
        let mut of_A = dofs_A.iter().zip(&self.columns_A).peekable();
        for (dof, column) in dofs_B.iter().zip(&self.columns_B) {
            while let Some((before, column_A)) = of_A.next_if(|(dof_A, _)| *dof_A < dof) {
                self.relative.push((before.to_usize(), -column_A));
            }
            let shared = of_A.next_if(|(dof_A, _)| *dof_A == dof);
            self.relative.push((dof.to_usize(), shared.map_or(*column, |(_, column_A)| column - column_A)));
        }
        self.relative.extend(of_A.map(|(dof, column_A)| (dof.to_usize(), -column_A)));
    }
}
