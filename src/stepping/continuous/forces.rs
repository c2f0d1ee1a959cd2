//! The accelerations of a scene as a function of its positions and velocities, and the loads that go with
//! them:  M(q) v' = tau_g(q) - c(q, v) + tau_external + tau_joints(q, v) + sum of J^T F(q, v).

use super::super::contacts::{ContinuousContacts, FaceLaw};
use super::super::dynamic::singular;
use super::super::error::StepError;
use super::super::external::project;
use super::super::input::StepInput;
use super::joints::add_efforts;
use super::radau::{Failure, Rates, STAGES};
use crate::math::dense::{NotPositiveDefinite, cholesky_in_place, cholesky_solve_in_place};
use crate::math::{BodyIndex, IndexVec, SpatialForce, Vector3, Vector6};
use crate::multibody::{Data, Model, bias, mass_matrix, positions, velocities};

/// The loads of a scene at one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// Efforts of the actuators [N m] or \[N\].
    pub(super) efforts: Vec<f64>,
    /// Net contact wrenches on the bodies about their origins, in world axes [N m, N].
    pub(super) wrenches: IndexVec<BodyIndex, SpatialForce>,
}

impl Loads {
    /// Sets all loads to zero.
    pub(super) fn clear(&mut self, joints: usize, bodies: usize) {
        self.efforts.clear();
        self.efforts.resize(joints, 0.0);
        self.wrenches.clear();
        (0..bodies).for_each(|_| {
            self.wrenches.push(SpatialForce::ZERO);
        });
    }

    /// Copies the loads of `other`, reusing the memory.
    fn copy_from(&mut self, other: &Self) {
        self.efforts.clone_from(&other.efforts);
        self.wrenches.clone_from(&other.wrenches);
    }

    /// Adds `other`, times `weight`.
    pub(super) fn add(&mut self, other: &Self, weight: f64) {
        self.efforts.iter_mut().zip(&other.efforts).for_each(|(sum, effort)| *sum += weight * effort);
        self.wrenches.iter_mut().zip(other.wrenches.iter()).for_each(|(sum, wrench)| *sum += *wrench * weight);
    }
}

/// The poses, velocities and contacts of the last state that was evaluated, and its loads.
#[derive(Clone, Debug)]
pub(super) struct Forces {
    pub(super) contacts: ContinuousContacts,
    pub(super) data: Data,
    /// The factors of the mass matrix, tree by tree.
    factors: Vec<f64>,
    /// Memory for the Jacobian of one body.
    columns: Vec<Vector6>,
    external: Vec<f64>,
    generalized: Vec<f64>,
    pub(super) now: Loads,
    /// The loads at the stages of the part.
    pub(super) stages: [Loads; STAGES],
    /// The net force on B about C of each pair in contact [N m, N].
    pub(super) patches: Vec<SpatialForce>,
}

impl Forces {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            contacts: ContinuousContacts::default(),
            data: Data::new(model),
            factors: Vec::new(),
            columns: vec![Vector6::zeros(); model.nv()],
            external: vec![0.0; model.nv()],
            generalized: vec![0.0; model.nv()],
            now: Loads::default(),
            stages: Default::default(),
            patches: Vec::new(),
        }
    }

    /// Moves all bodies to the coordinates `q`: mass matrix and contact surfaces.
    pub(super) fn set_positions(&mut self, input: &StepInput<'_>, q: &[f64], time: f64) -> Result<(), StepError> {
        let model = input.scene.model();
        let data = &mut self.data;
        positions(model, q, data);
        mass_matrix(model, data);
        self.factors.clear();
        for tree in model.trees() {
            let from = self.factors.len();
            self.factors.extend(tree.clone().flat_map(|i| data.M.row(i)));
            cholesky_in_place(&mut self.factors[from..], tree.len()).map_err(|error| {
                singular(model, time, NotPositiveDefinite { pivot: tree.start + error.pivot, ..error })
            })?;
        }
        project(model, data, input.start.wrenches, &mut self.columns, &mut self.external);
        self.contacts.find_surfaces(input.scene, data);
        Ok(())
    }

    /// Computes the accelerations at the velocities `v` and the coordinates `q` of the last
    /// [`Forces::set_positions`], and the loads.
    pub(super) fn accelerations(
        &mut self,
        input: &StepInput<'_>,
        law: &FaceLaw,
        (q, v): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        let StepInput { scene, start, .. } = input;
        let model = scene.model();
        let Self { contacts, data, factors, external, generalized, now, patches, .. } = self;
        velocities(model, v, data);
        bias(model, data);
        for (i, force) in generalized.iter_mut().enumerate() {
            *force = data.gravity[i] - data.coriolis[i] + external[i];
        }
        now.clear(scene.joints().len(), model.bodies().len());
        add_efforts(scene, start, law.stiction_tolerance, (q, v, data), generalized, &mut now.efforts);
        patches.clear();
        contacts.add_forces((scene, data, v), law, generalized, |active, F_BC| {
            let pair = &scene.contact_pairs()[active.pair];
            let [p_WAo, p_WBo] = active.p_WBo;
            for (geometry, F_C, p_WBo) in [(pair.A, -*F_BC, p_WAo), (pair.B, *F_BC, p_WBo)] {
                let body = scene.geometries()[geometry].body;
                now.wrenches[body] += F_C.shift(&(p_WBo - active.p_WC));
            }
            patches.push(*F_BC);
        });
        let mut from = 0;
        for tree in model.trees() {
            let size = tree.len();
            let out = &mut out[tree.clone()];
            out.copy_from_slice(&generalized[tree.clone()]);
            cholesky_solve_in_place(&factors[from..from + size * size], size, out);
            from += size * size;
        }
    }

    /// The forces on B of the faces of the active pair `number` \[N\], at the velocities `v`.
    pub(super) fn face_forces(
        &self,
        scene: &crate::scene::Scene,
        law: &FaceLaw,
        (number, v): (usize, &[f64]),
        forces: &mut Vec<Vector3>,
    ) {
        self.contacts.face_forces((scene, &self.data, v), law, number, forces);
    }
}

/// The accelerations of a scene under the inputs of a step.
pub(super) struct World<'a, 'b> {
    pub(super) forces: &'a mut Forces,
    pub(super) input: &'a StepInput<'b>,
    pub(super) law: FaceLaw,
    /// Simulated time at the start of the part \[s\].
    pub(super) time: f64,
}

impl Rates for World<'_, '_> {
    fn set_positions(&mut self, q: &[f64]) -> Result<(), Failure> {
        self.forces.set_positions(self.input, q, self.time).map_err(Failure::Step)
    }
    fn accelerations(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.forces.accelerations(self.input, &self.law, (q, v), out);
    }
    fn keep(&mut self, stage: usize) {
        let Forces { now, stages, .. } = &mut *self.forces;
        stages[stage].copy_from(now);
    }
}
