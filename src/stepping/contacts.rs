//! The geometric half of a step: which pairs touch, their contact surfaces, and the patches of the convex problem.

use super::{DissipationModel, StepSettings};
use crate::contact::{mean_point, patch_point, push_faces, push_points};
use crate::geometry::{
    Aabb, ContactSurface, HydroelasticWorkspace, PointContacts, RigidShape, RigidWorkspace, contact_points,
    contact_surface,
};
use crate::math::{BodyIndex, GeometryIndex, Index, IndexVec, RigidTransform, SpatialVelocity, Vector3, Vector6};
use crate::multibody::jacobian::write_columns;
use crate::multibody::{Data, Model, State};
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::{ContactProblem, DissipationLaw, PatchBlock, PatchLaw};

/// What no body of a scene is expected to exceed within a step [m/s2]: with the speeds it bounds how near rigid geometries
/// must be to touch before the step ends.
const ACCELERATION_BOUND: f64 = 100.0;

/// What is remembered of a pair from step to step.
#[derive(Debug, Default)]
struct PairMemory {
    workspace: HydroelasticWorkspace,
    surface: ContactSurface,
    /// Which faces of `surface` the solver has, in its order.
    kept: Vec<u32>,
    /// What takes the surface's place between rigid geometries.
    points: PointContacts,
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
    rigid_workspace: RigidWorkspace,
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

    /// The contact points of a pair of rigid geometries.
    pub(super) fn points(&self, pair: usize) -> &PointContacts {
        &self.memory[pair].points
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
        self.memory.resize_with(scene.contact_pairs().len(), PairMemory::default);
        self.X_WG.clear();
        self.boxes_W.clear();
        for geometry in scene.geometries().iter() {
            let X_WG = data.X_WB[geometry.body] * geometry.X_BG;
            self.X_WG.push(X_WG);
            let bounds = geometry.hydroelastic.world_aabb(&X_WG);
            // a tessellation lies inside a round shape
            self.boxes_W.push(geometry.rigid.as_ref().map_or(bounds, |rigid| bounds.union(&rigid.world_aabb(&X_WG))));
        }
        self.active.clear();
        (self.faces, self.faces_dropped) = (0, 0);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            match pair.kind {
                ContactKind::PressureField if self.boxes_W[pair.A].overlaps(&self.boxes_W[pair.B]) => {
                    self.assemble_pair(index, pair, scene, settings, data, state, problem);
                }
                ContactKind::PressureField => {}
                ContactKind::Points => self.assemble_points(index, pair, scene, settings, data, state, problem),
            }
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
        let PairMemory { workspace, surface, kept, .. } = &mut self.memory[index];
        workspace.representation = settings.faces;
        let computed = contact_surface(&a.hydroelastic, X_WA, &b.hydroelastic, X_WB, workspace, surface);
        debug_assert!(computed.is_ok(), "a scene's contact pairs have a pressure field");
        let Some(p_WC) = patch_point(surface) else {
            self.faces_dropped += surface.len() as u32;
            return;
        };
        let (block, momentum_matrix) = problem.add_patch();
        block.reset(patch_law(pair, settings));
        self.columns.merge(scene.model(), data, (a.body, b.body), &p_WC);
        self.columns.push(block, state, momentum_matrix);
        kept.clear();
        let count = push_faces(surface, &p_WC, block, kept);
        self.faces += count.kept;
        self.faces_dropped += count.dropped;
        self.active.push(ActivePatch { pair: index, p_WC });
    }
}

impl Contacts {
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
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let (X_WA, X_WB) = (&self.X_WG[pair.A], &self.X_WG[pair.B]);
        let (Some(rigid_A), Some(rigid_B)) = (&a.rigid, &b.rigid) else { return };
        let step = settings.step();
        let speed = approach_speed((a.body, rigid_A, X_WA), (b.body, rigid_B, X_WB), data);
        let detection = step * (speed + step * ACCELERATION_BOUND);
        let (box_A, box_B) = (&self.boxes_W[pair.A], &self.boxes_W[pair.B]);
        let grown = Aabb { min: box_A.min.add_scalar(-detection), max: box_A.max.add_scalar(detection) };
        if !grown.overlaps(box_B) {
            return;
        }
        let points = &mut self.memory[index].points;
        contact_points(rigid_A, X_WA, rigid_B, X_WB, detection, &mut self.rigid_workspace, points);
        let Some(p_WC) = mean_point(points) else { return };
        let (block, momentum_matrix) = problem.add_patch();
        block.reset(patch_law(pair, settings));
        self.columns.merge(scene.model(), data, (a.body, b.body), &p_WC);
        self.columns.push(block, state, momentum_matrix);
        let columns = &self.columns;
        let inverse_mass = |p_CF: &Vector3, n: &Vector3| columns.inverse_mass(p_CF, n, momentum_matrix);
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let translation = axes.iter().map(|axis| inverse_mass(&Vector3::zeros(), axis)).sum::<f64>() / 3.0;
        push_points(points, &p_WC, &pair.material, step, translation, inverse_mass, block);
        self.faces += points.len() as u32;
        self.active.push(ActivePatch { pair: index, p_WC });
    }
}

/// Bound on the speed at which points of the two geometries approach each other [m/s], over the smaller one.
fn approach_speed(
    (body_A, A, X_WA): (BodyIndex, &RigidShape, &RigidTransform),
    (body_B, B, X_WB): (BodyIndex, &RigidShape, &RigidTransform),
    data: &Data,
) -> f64 {
    let (sphere_A, sphere_B) = (A.bounding_sphere_W(X_WA), B.bounding_sphere_W(X_WB));
    let (center, radius) = if sphere_A.1 < sphere_B.1 { sphere_A } else { sphere_B };
    let velocity =
        |body: BodyIndex| -> SpatialVelocity { data.V_WB[body].shift(&(center - data.X_WB[body].translation.vector)) };
    let (V_A, V_B) = (velocity(body_A), velocity(body_B));
    let spin = (V_B.w - V_A.w).norm();
    (V_B.v - V_A.v).norm() + if spin > 0.0 { spin * radius } else { 0.0 }
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
    /// Gives the columns to an empty patch.
    fn push(&self, block: &mut PatchBlock, state: &State, momentum_matrix: &[f64]) {
        let size = state.v.len();
        for (dof, column) in &self.relative {
            block.push_column(*dof as u32, *column, state.v[*dof]);
        }
        block.weigh(momentum_matrix, size);
    }

    /// Inverse effective mass of the point F along `n`, from the diagonal of A: sum of (n . v_F)^2/A_ii [1/kg].
    fn inverse_mass(&self, p_CF: &Vector3, n: &Vector3, momentum_matrix: &[f64]) -> f64 {
        let size = momentum_matrix.len().isqrt();
        let share = |(dof, column): &(usize, Vector6)| {
            let along = SpatialVelocity::from_vector(column).shift(p_CF).v.dot(n);
            along * along / momentum_matrix[dof * size + dof]
        };
        self.relative.iter().map(share).sum()
    }

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
