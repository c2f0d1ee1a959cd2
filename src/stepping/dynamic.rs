//! A dynamic step: A = M + dt D,  r = M v0 + dt (tau_g - C v0 + tau + tau_ext), and the rows and patches.

use super::contacts::Contacts;
use super::joint_rows::JointRows;
use super::pairs::{ActivePatch, Pairs};
use super::simulation::{StepError, joint_of_dof};
use super::stepper::StepInput;
use super::{StepReport, StepTimes};
use crate::math::dense::dot;
use crate::math::{SpatialForce, Vector3};
use crate::multibody::{Data, bias, mass_matrix};
use crate::solvers::{ContactProblem, NewtonSolver, SolveStatus};

/// A residual that the solver reaches although rounding stops it before its tolerance is still a solution [-].
const STALLED_RESIDUAL_MAX: f64 = 1e-5;

/// The memory of dynamic steps.
#[derive(Debug, Default)]
pub(super) struct DynamicStep {
    contacts: Contacts,
    joint_rows: JointRows,
    problem: ContactProblem,
    solver: NewtonSolver,
    times: StepTimes,
}

impl DynamicStep {
    /// Solves for the velocities `v` at the end of the step; `v` comes with those at the start of the step before. That they change once
    /// more as they have is what the solver starts from.
    pub(super) fn step(
        &mut self,
        input: &StepInput<'_>,
        data: &mut Data,
        v: &mut [f64],
    ) -> Result<StepReport, StepError> {
        let (settings, model) = (input.settings, input.scene.model());
        let start = input.now();
        self.assemble_motion(input, data);
        let moved = input.now();
        self.contacts.assemble(input.scene, settings, data, input.start.state, &mut self.problem);
        let touched = input.now();
        self.problem.lag_friction();
        for (v, v0) in v.iter_mut().zip(&input.start.state.v) {
            *v = v0 + (v0 - *v);
        }
        let solved = self.solver.solve(&self.problem, v, &settings.solver).map_err(|error| {
            let (time, name) = (input.time, joint_of_dof(model, error.pivot));
            match error.value.is_finite() {
                true => StepError::SingularMass { time, dof: error.pivot, name },
                false => StepError::NotFinite { time, joint: name },
            }
        })?;
        self.times = StepTimes { motion: moved - start, contact: touched - moved, solver: input.now() - touched };
        Ok(StepReport {
            solver_iterations: solved.iterations,
            solver_residual: solved.residual,
            solver_converged: solved.status == SolveStatus::Converged || solved.residual < STALLED_RESIDUAL_MAX,
            solver_fallbacks: 0,
            faces: self.contacts.faces,
            faces_dropped: self.contacts.faces_dropped,
        })
    }

    fn assemble_motion(&mut self, input: &StepInput<'_>, data: &mut Data) {
        let StepInput { scene, settings, start, .. } = input;
        let problem = &mut self.problem;
        let model = scene.model();
        let n = model.nv();
        mass_matrix(model, data);
        bias(model, data);
        problem.reset(model.trees());
        problem.momentum_matrix.copy_from_slice(&data.M);
        let dt = settings.step();
        for i in 0..n {
            let momentum = dot(&data.M[i * n..(i + 1) * n], &start.state.v);
            problem.momentum[i] = momentum + dt * (data.gravity[i] - data.coriolis[i] + start.external[i]);
        }
        self.joint_rows.assemble(scene, settings, start, &data.gravity, problem);
    }

    pub(super) fn times(&self) -> StepTimes {
        self.times
    }
    pub(super) fn efforts(&self, v: &[f64], dt: f64, efforts: &mut Vec<f64>) {
        self.joint_rows.efforts(&self.problem, v, dt, efforts);
    }
    pub(super) fn active(&self) -> &[ActivePatch] {
        self.contacts.active()
    }
    pub(super) fn impulses(&self) -> &[SpatialForce] {
        self.solver.patch_impulses()
    }
    pub(super) fn face_forces(&self, number: usize, v: &[f64], forces: &mut Vec<Vector3>) {
        let block = &self.problem.patches()[number];
        block.face_forces(&block.velocity(v), forces);
    }
    pub(super) fn pairs(&self) -> &Pairs {
        &self.contacts.pairs
    }
}
