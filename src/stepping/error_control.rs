//! Steps with error control: within one step of the simulation, as many dynamic steps as a tolerance needs.
//!
//! From x0, one step of length h ends at x1, and two of half that length end at x2. A dynamic step has a
//! local error of C h^2, so that of x2 is C h^2/2 = x2 - x1, and 2 x2 - x1 has none of this order. The step
//! is accepted if |x2 - x1| is within the tolerance, and the simulation continues from 2 x2 - x1. The next
//! length is
//!   h sqrt(tolerance/|x2 - x1|), times a margin and within limits.
//! Steps end exactly where the step of the simulation ends, because commands may change there. The length of
//! the next step is part of checkpoints.

use super::command::JointCommand;
use super::control_memory::{ControlMemory, Kept};
use super::error::StepError;
use super::settings::{ErrorControl, Stepping};
use super::simulation::Simulation;
use super::snapshot::StepReport;
use crate::math::SpatialForce;
use crate::multibody::{JointKind, Model, State, kinematics};

/// Velocities count as the displacement in this time \[s\]. An error of the velocity lasts, while that of a
/// position in one step does not grow.
const VELOCITY_TIME: f64 = 0.1;
/// The shortest step \[ns\]. An impact of rigid bodies is an error at any length: it is accepted at this one.
const LEAST_NS: u64 = 2_000;
/// The part of the predicted length that is tried [-].
const MARGIN: f64 = 0.8;
/// The smallest and the largest ratio of a length to the one before [-].
const GROWTH: (f64, f64) = (0.2, 4.0);

impl Simulation {
    /// Takes a step of the simulation in parts whose error is within the tolerance.
    pub(super) fn advance_controlled(
        &mut self,
        command: &JointCommand,
        control: ErrorControl,
    ) -> Result<StepReport, StepError> {
        let mut memory = std::mem::take(&mut self.control);
        let before = memory.next_ns;
        keep(&mut memory.begin, self);
        self.stepper.keep_loads(0);
        let advanced = self.take_parts(command, control, &mut memory);
        if advanced.is_err() {
            put_back(&memory.begin, self);
            self.stepper.recall_loads(0);
            (memory.next_ns, memory.last_ns) = (before, 0);
        }
        self.control = memory;
        advanced
    }

    fn take_parts(
        &mut self,
        command: &JointCommand,
        control: ErrorControl,
        memory: &mut ControlMemory,
    ) -> Result<StepReport, StepError> {
        let whole_ns = self.step_ns();
        memory.sums.efforts.clear();
        memory.sums.efforts.resize(self.result.efforts.len(), 0.0);
        memory.sums.wrenches.clone_from(&self.F_BBo_W);
        memory.sums.wrenches.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        let mut report = StepReport { solver_converged: true, ..StepReport::default() };
        let (mut done_ns, mut missed, mut wrong) = (0, None, None);
        if memory.next_ns == 0 {
            memory.next_ns = whole_ns;
        }
        while done_ns < whole_ns {
            let trial_ns = length(memory.next_ns, whole_ns - done_ns);
            keep(&mut memory.start, self);
            self.stepper.keep_loads(1);
            memory.sums_before.efforts.clone_from(&memory.sums.efforts);
            memory.sums_before.wrenches.clone_from(&memory.sums.wrenches);
            let before = report;
            let tried = self.try_part(command, (done_ns, trial_ns), memory, &mut report);
            let shortest = trial_ns <= LEAST_NS;
            let error = match tried {
                Ok(error) => error,
                Err(error) if shortest => return Err(error),
                Err(_) => f64::INFINITY,
            };
            let ratio = (control.tolerance / error).sqrt();
            let growth = (MARGIN * ratio).clamp(GROWTH.0, GROWTH.1);
            let next_ns = ((trial_ns as f64 * growth) as u64).clamp(LEAST_NS.min(whole_ns), whole_ns);
            let accurate = error <= control.tolerance;
            if !accurate && !shortest {
                put_back(&memory.start, self);
                self.stepper.recall_loads(1);
                std::mem::swap(&mut memory.sums, &mut memory.sums_before);
                let StepReport { solver_iterations, solves, .. } = report;
                report = StepReport { solver_iterations, solves, ..before };
                memory.next_ns = next_ns.min(trial_ns / 2).max(LEAST_NS);
                continue;
            }
            if accurate {
                extrapolate(self.scene.model(), &memory.long, &mut self.state);
                kinematics(self.scene.model(), &self.state, &mut self.data);
            }
            // A part that ends early because the step ends does not shorten the next one
            memory.next_ns = if trial_ns < memory.next_ns { next_ns.max(memory.next_ns) } else { next_ns };
            let [first, last] = memory.faults;
            missed = missed.or(first.0).or(last.0);
            wrong = wrong.or(first.1).or(last.1);
            report.parts += 1;
            done_ns += trial_ns;
        }
        let rate = 1.0 / whole_ns as f64;
        self.result.efforts.iter_mut().zip(&memory.sums.efforts).for_each(|(effort, sum)| *effort = sum * rate);
        self.F_BBo_W.iter_mut().zip(memory.sums.wrenches.iter()).for_each(|(wrench, sum)| *wrench = *sum * rate);
        (self.result.missed, self.result.wrong_friction) = (missed, wrong);
        self.v_before.copy_from_slice(&memory.begin.state.v);
        self.result.report = report;
        Ok(report)
    }

    /// Takes one step of the length `trial_ns`, and from the same start, `done_ns` after that of the step,
    /// two of half the length. The simulation then is at the end of these two. Returns the error.
    fn try_part(
        &mut self,
        command: &JointCommand,
        (done_ns, trial_ns): (u64, u64),
        memory: &mut ControlMemory,
        report: &mut StepReport,
    ) -> Result<f64, StepError> {
        self.take_step(command, None, done_ns, trial_ns)?;
        report.solver_iterations += self.result.report.solver_iterations;
        report.solves += 1;
        memory.long.clone_from(&self.state);
        put_back(&memory.start, self);
        self.stepper.recall_loads(1);
        let first_ns = trial_ns / 2;
        let halves = [(done_ns, first_ns), (done_ns + first_ns, trial_ns - first_ns)];
        for (half, (at_ns, length_ns)) in halves.into_iter().enumerate() {
            self.take_step(command, None, at_ns, length_ns)?;
            self.add_part(length_ns, memory, report);
            memory.faults[half] = (self.result.missed, self.result.wrong_friction);
        }
        Ok(distance(self.scene.model(), &memory.long, &self.state))
    }

    /// Adds the results of a step to the sums.
    fn add_part(&self, length_ns: u64, memory: &mut ControlMemory, report: &mut StepReport) {
        let (of, length) = (&self.result.report, length_ns as f64);
        memory.last_ns = length_ns;
        memory.sums.efforts.iter_mut().zip(&self.result.efforts).for_each(|(sum, effort)| *sum += effort * length);
        memory.sums.wrenches.iter_mut().zip(self.F_BBo_W.iter()).for_each(|(sum, wrench)| *sum += *wrench * length);
        *report = StepReport {
            scheme: of.scheme,
            solver_iterations: report.solver_iterations + of.solver_iterations,
            solver_residual: report.solver_residual.max(of.solver_residual),
            solver_converged: report.solver_converged && of.solver_converged,
            friction_rounds: report.friction_rounds + of.friction_rounds,
            friction_error: report.friction_error.max(of.friction_error),
            faces: of.faces,
            faces_dropped: of.faces_dropped,
            solves: report.solves + 1,
            ..*report
        };
    }

    /// The error control of the steps.
    pub(super) fn error_control(&self) -> Option<ErrorControl> {
        match self.stepper.stepping() {
            Stepping::Dynamic(options) => options.error_control,
            Stepping::Quasistatic(_) | Stepping::Spook(_) | Stepping::Continuous(_) => None,
        }
    }

    /// The length of the last dynamic step \[s\]: its contact forces are its impulses over this time.
    pub(super) fn last_length(&self) -> f64 {
        if self.control.last_ns > 0 { self.control.last_ns as f64 * 1e-9 } else { self.settings.step() }
    }
}

fn keep(kept: &mut Kept, simulation: &Simulation) {
    kept.state.clone_from(&simulation.state);
    kept.v_before.clone_from(&simulation.v_before);
}

fn put_back(kept: &Kept, simulation: &mut Simulation) {
    simulation.state.clone_from(&kept.state);
    simulation.v_before.clone_from(&kept.v_before);
    kinematics(simulation.scene.model(), &simulation.state, &mut simulation.data);
}

/// The length of a part if `left_ns` remain: no part is left that is much shorter than its neighbours.
fn length(next_ns: u64, left_ns: u64) -> u64 {
    if next_ns >= left_ns {
        left_ns
    } else if 2 * next_ns > left_ns {
        left_ns.div_ceil(2)
    } else {
        next_ns
    }
}

/// The largest difference of two states in a coordinate: positions [m, rad], or velocities times
/// [`VELOCITY_TIME`].
pub(super) fn distance(model: &Model, a: &State, b: &State) -> f64 {
    let velocities = a.v.iter().zip(&b.v).map(|(a, b)| VELOCITY_TIME * (a - b).abs());
    let mut largest = velocities.fold(0.0, nan_max);
    for joint in model.joints().iter() {
        let range = joint.q_start..joint.q_start + joint.nq;
        let (a, b) = (&a.q[range.clone()], &b.q[range]);
        let turned = if joint.kind == JointKind::Floating { 4 } else { 0 };
        // The angle between unit quaternions is twice their distance
        let sign = same_side(&a[..turned], &b[..turned]);
        let squares = a[..turned].iter().zip(&b[..turned]).map(|(a, b)| (sign * a - b).powi(2));
        largest = nan_max(largest, 2.0 * squares.sum::<f64>().sqrt());
        largest = a[turned..].iter().zip(&b[turned..]).map(|(a, b)| (a - b).abs()).fold(largest, nan_max);
    }
    largest
}

/// The larger number; NaN if one is NaN.
fn nan_max(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// -1 if two quaternions of similar rotations have opposite signs.
fn same_side(a: &[f64], b: &[f64]) -> f64 {
    if a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() < 0.0 { -1.0 } else { 1.0 }
}

/// Replaces the end `state` of two short steps by 2 `state` - `long`.
fn extrapolate(model: &Model, long: &State, state: &mut State) {
    state.v.iter_mut().zip(&long.v).for_each(|(v, long)| *v += *v - long);
    for joint in model.joints().iter() {
        let range = joint.q_start..joint.q_start + joint.nq;
        let (q, long) = (&mut state.q[range.clone()], &long.q[range]);
        let turned = if joint.kind == JointKind::Floating { 4 } else { 0 };
        let (quaternion, rest) = q.split_at_mut(turned);
        let sign = same_side(&long[..turned], quaternion);
        quaternion.iter_mut().zip(&long[..turned]).for_each(|(q, long)| *q += *q - sign * long);
        let norm = quaternion.iter().map(|q| q * q).sum::<f64>().sqrt();
        quaternion.iter_mut().for_each(|q| *q /= norm);
        rest.iter_mut().zip(&long[turned..]).for_each(|(q, long)| *q += *q - long);
    }
}
