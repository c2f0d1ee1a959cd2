//! A step of the simulation in the continuous model, in parts.

use super::super::contacts::{FaceLaw, Pairs};
use super::super::error::StepError;
use super::super::input::StepInput;
use super::super::part_control::{PartControl, Share, next_length};
use super::super::result::StepResult;
use super::super::settings::ContinuousStepping;
use super::super::snapshot::{StepReport, StepTimes};
use super::dense::DenseOutput;
use super::forces::{Forces, Loads, World};
use super::radau::{Accuracy, Advanced, Failure, Radau, weights};
use crate::math::{ByteReader, ByteWriter, BytesError, Vector3};
use crate::multibody::{JointKind, Model, State, kinematics};
use crate::scene::Scene;

/// The first part \[s\].
const FIRST: f64 = 1e-5;
/// The shortest part \[s\]. The rounding of forces exceeds their change in a shorter one.
const LEAST: f64 = 1e-12;
/// The error is that of an embedded formula of order 3.
const CONTROL: PartControl = PartControl { margin: 0.9, growth: (0.1, 4.0), order: 4.0 };
/// A part whose equations were not solved is tried again with this fraction of its length [-].
const SHORTER: f64 = 0.25;
/// A free body turns by at most this angle in a part \[rad\], within which the displacement describes its
/// rotation well.
const TURN_MAX: f64 = 1.0;
/// The largest number of trials in a step.
const TRIALS_MAX: u32 = 100_000;

/// The memory of continuous steps.
#[derive(Clone, Debug)]
pub(in crate::stepping) struct ContinuousStep {
    options: ContinuousStepping,
    forces: Forces,
    radau: Radau,
    /// The length of the next part \[s\].
    next: f64,
    state: State,
    end: State,
    /// The law of the last step.
    law: FaceLaw,
    /// The loads, integrated over the step.
    sums: Loads,
    dense: DenseOutput,
}

impl ContinuousStep {
    pub(in crate::stepping) fn new(options: ContinuousStepping, model: &Model) -> Self {
        Self {
            options,
            forces: Forces::new(model),
            radau: Radau::default(),
            next: FIRST,
            state: State::default(),
            end: State::default(),
            law: FaceLaw { dissipation: options.dissipation, stiction_tolerance: 1.0 },
            sums: Loads::default(),
            dense: DenseOutput::default(),
        }
    }

    pub(in crate::stepping) fn options(&self) -> &ContinuousStepping {
        &self.options
    }
    pub(in crate::stepping) fn pairs(&self) -> &Pairs {
        self.forces.contacts.pairs()
    }
    /// Writes the data that the next step takes from the last one.
    pub(in crate::stepping) fn write_memory(&self, writer: &mut ByteWriter) {
        writer.f64(self.next);
    }
    /// Reads the output of [`ContinuousStep::write_memory`].
    pub(in crate::stepping) fn read_memory(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        let next = reader.finite()?;
        if next <= 0.0 {
            return Err(BytesError::Invalid);
        }
        self.next = next;
        Ok(())
    }

    /// Integrates over the step of the simulation. If it fails, the memory of the last step stays.
    pub(in crate::stepping) fn step(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        let before = self.next;
        self.dense.clear();
        self.try_step(input, result).inspect_err(|_| {
            self.next = before;
            self.dense.clear();
        })
    }

    fn try_step(&mut self, input: &StepInput<'_>, result: &mut StepResult) -> Result<(), StepError> {
        let (scene, whole, tolerance) = (input.scene, input.settings.step(), self.options.tolerance);
        let model = scene.model();
        let began = input.now();
        let accuracy = Accuracy { tolerance, stiction_tolerance: input.settings.stiction_tolerance };
        self.law.stiction_tolerance = input.settings.stiction_tolerance;
        let mut report = StepReport { solver_converged: true, ..StepReport::default() };
        self.state.clone_from(input.start.state);
        self.sums.clear(scene.joints().len(), model.bodies().len());
        self.radau.begin();
        let mut done = 0.0;
        let (mut longest, mut turn) = self.longest(scene, whole);
        while done < whole {
            let time = input.time + done;
            if turn > f64::from(TRIALS_MAX) * TURN_MAX {
                return Err(StepError::Spin { time, turn });
            }
            let left = whole - done;
            let wanted = self.next.min(longest);
            if report.solves == TRIALS_MAX || self.next < LEAST || wanted < LEAST.min(left) {
                return Err(StepError::Continuous { time, part: wanted, tolerance });
            }
            report.solves += 1;
            let (length, ends) = match Share::of(wanted / left) {
                Share::All => (left, true),
                Share::Half => (0.5 * left, false),
                Share::Wanted => (wanted, false),
            };
            let mut world = World { forces: &mut self.forces, input, law: self.law, time };
            let advanced = self.radau.advance((model, &self.state), length, accuracy, &mut world, &mut self.end);
            let Advanced { error, iterations } = match advanced {
                Ok(advanced) => advanced,
                Err(Failure::Step(error)) => return Err(error),
                Err(Failure::NotConverged) => Advanced { error: f64::NAN, iterations: 0 },
            };
            report.solver_iterations += iterations;
            let growth = CONTROL.growth(tolerance, error);
            if error.is_nan() || error > tolerance {
                self.next = length * if error.is_finite() { growth } else { SHORTER };
                continue;
            }
            let until = if ends { whole } else { done + length };
            self.dense.push((done, until), &self.state, self.radau.stages(), &self.end);
            let mut world = World { forces: &mut self.forces, input, law: self.law, time };
            self.radau.accept((model, &self.state), length, &mut world).map_err(|failure| match failure {
                Failure::Step(error) => error,
                Failure::NotConverged => StepError::Continuous { time, part: length, tolerance },
            })?;
            for (loads, weight) in self.forces.stages.iter().zip(weights()) {
                self.sums.add(loads, weight * length);
            }
            std::mem::swap(&mut self.state, &mut self.end);
            done = until;
            self.next = next_length(self.next, length, length * growth);
            report.parts += 1;
            report.solver_residual = report.solver_residual.max(error / tolerance);
            (longest, turn) = self.longest(scene, whole - done);
            self.check_rigid(scene, input.time + done)?;
        }
        let solved = input.now();
        self.write_end(input, report, result)?;
        result.times = StepTimes { motion: 0.0, contact: input.now() - solved, solver: solved - began };
        Ok(())
    }

    /// The longest part from the present state, up to `left` \[s\], and the largest turn of a free body in
    /// this time \[rad\].
    fn longest(&mut self, scene: &Scene, left: f64) -> (f64, f64) {
        let Self { forces, state, .. } = self;
        kinematics(scene.model(), state, &mut forces.data);
        let free = scene.model().joints().iter().filter(|joint| joint.kind == JointKind::Floating);
        let spin = free.map(|joint| Vector3::from_column_slice(&state.v[joint.v_start..joint.v_start + 3]).norm());
        let spin = spin.fold(0.0, f64::max);
        let longest = forces.contacts.longest(scene, &forces.data, left);
        (if spin * longest > TURN_MAX { TURN_MAX / spin } else { longest }, spin * left)
    }

    /// Rigid geometries have no pressure field, and no force in this model.
    fn check_rigid(&mut self, scene: &Scene, time: f64) -> Result<(), StepError> {
        let Some(pair) = self.forces.contacts.rigid_overlap(scene, &self.forces.data) else { return Ok(()) };
        let pair = &scene.contact_pairs()[pair];
        let [a, b] = [pair.A, pair.B].map(|index| scene.geometries()[index].name.clone());
        Err(StepError::RigidContact { time, a, b })
    }

    /// Fills `result`: the end of the step, its forces there, and the means of the loads.
    fn write_end(
        &mut self,
        input: &StepInput<'_>,
        mut report: StepReport,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        let (whole, State { q, v }) = (input.settings.step(), &self.state);
        let forces = &mut self.forces;
        forces.set_positions(input, q, input.time + whole)?;
        self.end.v.resize(v.len(), 0.0);
        forces.accelerations(input, &self.law, (q, v), &mut self.end.v);
        report.faces = forces.contacts.faces();
        forces.patches.iter_mut().for_each(|force| *force = *force * whole);
        result.set_contacts(forces.contacts.active(), &forces.patches);
        result.efforts.clear();
        result.efforts.extend(self.sums.efforts.iter().map(|effort| effort / whole));
        result.wrenches.clone_from(&self.sums.wrenches);
        result.wrenches.iter_mut().for_each(|wrench| *wrench = *wrench * (1.0 / whole));
        result.state.clone_from(&self.state);
        result.report = report;
        Ok(())
    }

    /// The state `after` \[s\] the start of the last step; `None` outside of it.
    pub(in crate::stepping) fn state_within(&self, model: &Model, after: f64) -> Option<State> {
        self.dense.at(model, after)
    }

    /// The forces on B of the faces of contact `number` at the end of the last step \[N\].
    pub(in crate::stepping) fn face_forces(&self, scene: &Scene, number: usize, v: &[f64], forces: &mut Vec<Vector3>) {
        self.forces.face_forces(scene, &self.law, (number, v), forces);
    }
}
