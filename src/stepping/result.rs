//! The result of a step, the same for all modes.

use super::contacts::{ActivePatch, Missed};
use super::error::{StepError, joint_of_dof};
use super::input::StepInput;
use super::quasistatic::InertialPart;
use super::snapshot::{StepReport, StepTimes};
use crate::math::{BodyIndex, ByteReader, ByteWriter, BytesError, IndexVec, ScalarJointIndex, SpatialForce};
use crate::multibody::{State, integrate};

/// A pair in contact over a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepContact {
    /// The pair, and its patch point.
    pub(super) patch: ActivePatch,
    /// Impulse on B about C over the step [N m s, N s].
    pub(super) impulse: SpatialForce,
}

/// A pair whose friction is not that of Coulomb's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairFriction {
    /// Index in `Scene::contact_pairs`.
    pub(super) pair: usize,
    /// Difference of friction from Coulomb's law \[N\].
    pub(super) force: f64,
    /// Limit of friction, mu times the normal force \[N\].
    pub(super) limit: f64,
}

/// The end of a step. Memory is reused from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct StepResult {
    /// Positions and velocities at the end of the step.
    pub(super) state: State,
    /// The pairs in contact, in the order of the step's patches; none after a step that failed.
    pub(super) contacts: Vec<StepContact>,
    /// Efforts of the actuators over the step [N m] or \[N\].
    pub(super) efforts: Vec<f64>,
    /// Mean net contact wrenches on the bodies over the step, about their origins, in world axes [N m, N];
    /// empty if they follow from the impulses of the contacts.
    pub(super) wrenches: IndexVec<BodyIndex, SpatialForce>,
    /// The joints that their velocity limits held back, with the impulses on them [N s] or [N m s].
    pub(super) speed_limits: Vec<(ScalarJointIndex, f64)>,
    /// A pair that met too fast for the step, or that its pressure did not stop.
    pub(super) missed: Option<Missed>,
    /// The pair whose friction is still wrong after all rounds.
    pub(super) wrong_friction: Option<PairFriction>,
    /// In a quasistatic step that settled with the loads of its start only, the velocity along which the
    /// load at
    /// the end differs most from the one that acted, and the difference [N m] or \[N\].
    pub(super) behind: Option<(usize, f64)>,
    /// The largest inertial part of a quasistatic step.
    pub(super) inertial: InertialPart,
    pub(super) report: StepReport,
    pub(super) times: StepTimes,
}

impl StepResult {
    /// A result to be filled by steps that start from states like `state`.
    pub(super) fn new(state: &State, joints: usize) -> Self {
        Self { state: state.clone(), efforts: vec![0.0; joints], ..Self::default() }
    }

    /// Discards the contacts of the last step and all findings about them.
    pub(super) fn forget_contacts(&mut self) {
        self.contacts.clear();
        self.wrenches.clear();
        self.missed = None;
        self.wrong_friction = None;
        self.speed_limits.clear();
        self.inertial = InertialPart::default();
        self.behind = None;
    }

    /// Writes the efforts and the report.
    pub(super) fn write(&self, writer: &mut ByteWriter) {
        writer.numbers(&self.efforts);
        let report = &self.report;
        writer.f64(report.solver_residual);
        writer.f64(report.friction_error);
        writer.f64(report.loads_behind);
        writer.f64(report.inertial_share);
        writer.flag(report.solver_converged);
        writer.flag(report.friction_at_centroids);
        for number in [
            report.solver_iterations,
            report.solver_fallbacks,
            report.friction_rounds,
            report.parts,
            report.solves,
            report.faces,
            report.faces_dropped,
        ] {
            writer.u32(number);
        }
    }

    /// Reads the output of [`StepResult::write`]. There are no contacts until the next step.
    pub(super) fn read(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.contacts.clear();
        self.efforts = reader.numbers_of(self.efforts.len())?;
        self.report = StepReport {
            scheme: None, // the caller's settings have it
            solver_residual: reader.f64()?,
            friction_error: reader.f64()?,
            loads_behind: reader.f64()?,
            inertial_share: reader.f64()?,
            solver_converged: reader.flag()?,
            friction_at_centroids: reader.flag()?,
            solver_iterations: reader.u32()?,
            solver_fallbacks: reader.u32()?,
            friction_rounds: reader.u32()?,
            parts: reader.u32()?,
            solves: reader.u32()?,
            faces: reader.u32()?,
            faces_dropped: reader.u32()?,
        };
        Ok(())
    }

    /// Integrates the coordinates with the velocities at the end of the step.
    ///
    /// # Errors
    /// A velocity that is not finite.
    pub(super) fn integrate(&mut self, input: &StepInput<'_>) -> Result<(), StepError> {
        self.check_velocities(input)?;
        let State { q, v } = &mut self.state;
        q.copy_from_slice(&input.start.state.q);
        integrate(input.scene.model(), q, v, input.settings.step());
        Ok(())
    }

    /// Integrates the coordinates from the end of free motion, with the difference of the velocities from
    /// those of free motion. This difference is written to `change`.
    ///
    /// # Errors
    /// A velocity that is not finite.
    pub(super) fn integrate_from(
        &mut self,
        base: &State,
        change: &mut Vec<f64>,
        input: &StepInput<'_>,
    ) -> Result<(), StepError> {
        self.check_velocities(input)?;
        let State { q, v } = &mut self.state;
        change.clear();
        change.extend(v.iter().zip(&base.v).map(|(v, free)| v - free));
        q.copy_from_slice(&base.q);
        integrate(input.scene.model(), q, change, input.settings.step());
        Ok(())
    }

    fn check_velocities(&self, input: &StepInput<'_>) -> Result<(), StepError> {
        let Some(dof) = self.state.v.iter().position(|v| !v.is_finite()) else { return Ok(()) };
        Err(StepError::NotFinite { time: input.time, joint: joint_of_dof(input.scene.model(), dof) })
    }

    /// Fills the list of contacts from patches and their impulses.
    pub(super) fn set_contacts(&mut self, patches: &[ActivePatch], impulses: &[SpatialForce]) {
        debug_assert_eq!(patches.len(), impulses.len(), "one impulse per patch");
        let contacts = patches.iter().zip(impulses);
        self.contacts.clear();
        self.contacts.extend(contacts.map(|(patch, impulse)| StepContact { patch: *patch, impulse: *impulse }));
    }
}
