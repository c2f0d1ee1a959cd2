//! Steps with error control: within one step of the simulation, as many dynamic steps as a tolerance needs.
//!
//! From x0, one step of length h ends at x1, and two of half that length end at x2. A dynamic step has a
//! local error of C h^2, so that of x2 is C h^2/2 = x2 - x1, and 2 x2 - x1 has none of this order. The step
//! is accepted if |x2 - x1| is within the tolerance. The next length is
//!   h sqrt(tolerance/|x2 - x1|), times a margin and within limits.
//! The simulation continues from x2 + P (x2 - x1), with P = H^-1 A of the last solve: x2 - x1 is no power of
//! h for motion against forces that are stiff at this length. Islands with a tree at
//! rest continue from x2.
//! Steps end exactly where the step of the simulation ends, because commands may change there. The length of
//! the next step is part of checkpoints.

use std::ops::Range;

use super::command::JointCommand;
use super::control_memory::{ControlMemory, SavedStep};
use super::error::StepError;
use super::part_control::{PartControl, Share, VELOCITY_TIME, next_length};
use super::settings::{ErrorControl, Stepping};
use super::simulation::Simulation;
use super::snapshot::{StepReport, StepTimes};
use crate::math::SpatialForce;
use crate::multibody::{Data, JointKind, Model, State, displacement, integrate, kinematics};

/// The shortest step \[ns\]. An impact of rigid bodies is an error at any length: it is accepted at this one.
const LEAST_NS: u64 = 2_000;
/// The error of a dynamic step is in proportion to the square of its length.
const CONTROL: PartControl = PartControl { margin: 0.8, growth: (0.2, 4.0), order: 2.0 };

/// A change resolves a motion if it is at most this part of it [-].
const RESOLVED: f64 = 0.5;

impl Simulation {
    /// Takes a step of the simulation in parts whose error is within the tolerance. If it fails, state,
    /// loads, efforts and report are those of the last good step.
    pub(super) fn advance_controlled(
        &mut self,
        command: &JointCommand,
        control: ErrorControl,
        clock: Option<&dyn Fn() -> f64>,
    ) -> Result<StepReport, StepError> {
        let mut memory = std::mem::take(&mut self.control);
        let before = (memory.next_ns, memory.last_ns);
        save(&mut memory.begin, self);
        memory.results.save(&self.result, &self.F_BBo_W);
        self.stepper.keep_loads(0);
        let advanced = self.take_parts(command, control, clock, &mut memory);
        if advanced.is_err() {
            restore(&memory.begin, self);
            memory.results.restore(&mut self.result, &mut self.F_BBo_W);
            self.stepper.recall_loads(0);
            (memory.next_ns, memory.last_ns) = before;
        }
        self.control = memory;
        advanced
    }

    fn take_parts(
        &mut self,
        command: &JointCommand,
        control: ErrorControl,
        clock: Option<&dyn Fn() -> f64>,
        memory: &mut ControlMemory,
    ) -> Result<StepReport, StepError> {
        let whole_ns = self.step_ns();
        memory.sums.efforts.clear();
        memory.sums.efforts.resize(self.result.efforts.len(), 0.0);
        memory.sums.wrenches.clone_from(&self.F_BBo_W);
        memory.sums.wrenches.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        memory.times = StepTimes::default();
        let mut report = StepReport { solver_converged: true, ..StepReport::default() };
        let (mut done_ns, mut missed, mut wrong) = (0, None, None);
        if memory.next_ns == 0 {
            memory.next_ns = whole_ns;
        }
        while done_ns < whole_ns {
            let (wanted_ns, left_ns) = (memory.next_ns, whole_ns - done_ns);
            let trial_ns = match Share::of(wanted_ns as f64 / left_ns as f64) {
                Share::All => left_ns,
                Share::Half => left_ns.div_ceil(2),
                Share::Wanted => wanted_ns,
            };
            save(&mut memory.start, self);
            self.stepper.keep_loads(1);
            memory.sums_before.efforts.clone_from(&memory.sums.efforts);
            memory.sums_before.wrenches.clone_from(&memory.sums.wrenches);
            let before = report;
            let tried = self.try_part(command, clock, (done_ns, trial_ns), memory, &mut report);
            let shortest = trial_ns <= LEAST_NS;
            let error = match tried {
                Ok(error) => error,
                Err(error) if shortest => return Err(error),
                Err(_) => f64::INFINITY,
            };
            let growth = CONTROL.growth(control.tolerance, error);
            let next_ns = ((trial_ns as f64 * growth) as u64).clamp(LEAST_NS.min(whole_ns), whole_ns);
            let accurate = error <= control.tolerance;
            if !accurate && !shortest {
                restore(&memory.start, self);
                self.stepper.recall_loads(1);
                std::mem::swap(&mut memory.sums, &mut memory.sums_before);
                let StepReport { solver_iterations, solves, .. } = report;
                report = StepReport { solver_iterations, solves, ..before };
                memory.next_ns = next_ns.min(trial_ns / 2).max(LEAST_NS);
                continue;
            }
            done_ns += trial_ns;
            if accurate {
                let time = (self.time_ns() + done_ns) as f64 * 1e-9;
                self.extrapolate(memory, time)?;
            }
            memory.next_ns = next_length(wanted_ns, trial_ns, next_ns);
            let [first, last] = memory.faults;
            missed = missed.or(first.0).or(last.0);
            wrong = wrong.or(first.1).or(last.1);
            report.parts += 1;
        }
        let model = self.scene.model();
        let solved = memory.solved.get_or_insert_with(|| Box::new(Data::new(model)));
        kinematics(model, &self.result.state, solved);
        let rate = 1.0 / whole_ns as f64;
        self.result.efforts.iter_mut().zip(&memory.sums.efforts).for_each(|(effort, sum)| *effort = sum * rate);
        self.F_BBo_W.iter_mut().zip(memory.sums.wrenches.iter()).for_each(|(wrench, sum)| *wrench = *sum * rate);
        (self.result.missed, self.result.wrong_friction) = (missed, wrong);
        self.v_before.copy_from_slice(&memory.begin.state.v);
        self.result.times = memory.times;
        self.result.report = report;
        Ok(report)
    }

    /// Adds the change from the long step to the two short ones to the end of the latter, as far as the
    /// forces of contacts and joints leave it to the motion. If the change does not resolve the motion of a
    /// tree, all bodies of its island stay there: a body that rests would move by the difference of what two
    /// lengths of a step make of its contact, and its neighbours would push it.
    fn extrapolate(&mut self, memory: &mut ControlMemory, time: f64) -> Result<(), StepError> {
        let (model, state) = (self.scene.model(), &mut self.state);
        let ControlMemory { start, long, change: [moved, dq, dv], resolved, .. } = memory;
        for buffer in [&mut *moved, &mut *dq, &mut *dv] {
            buffer.resize(state.v.len(), 0.0);
        }
        displacement(model, &start.state.q, &state.q, moved);
        displacement(model, &long.q, &state.q, dq);
        dv.iter_mut().zip(&state.v).zip(&long.v).for_each(|((dv, v), long)| *dv = v - long);
        for change in [&mut *dq, &mut *dv] {
            self.stepper.remove_stiff_motion((model, time), &self.result.state.v, change)?;
        }
        {
            let resolves = |tree: &Range<usize>, change: &[f64], of: &[f64]| {
                size(&change[tree.clone()]) <= RESOLVED * size(&of[tree.clone()])
            };
            resolved.clear();
            resolved.extend(model.trees().iter().map(|tree| resolves(tree, dq, moved) && resolves(tree, dv, &state.v)));
        }
        self.stepper.keep_resolved_islands(model, resolved, [dq, dv]);
        integrate(model, &mut state.q, dq, 1.0);
        state.v.iter_mut().zip(&*dv).for_each(|(v, change)| *v += change);
        kinematics(model, &self.state, &mut self.data);
        Ok(())
    }

    /// Takes one step of the length `trial_ns`, and from the same start, `done_ns` after that of the step,
    /// two of half the length. The simulation then is at the end of these two. Returns the error.
    fn try_part(
        &mut self,
        command: &JointCommand,
        clock: Option<&dyn Fn() -> f64>,
        (done_ns, trial_ns): (u64, u64),
        memory: &mut ControlMemory,
        report: &mut StepReport,
    ) -> Result<f64, StepError> {
        self.take_step(command, clock, done_ns, trial_ns)?;
        memory.times.add(&self.result.times);
        report.solver_iterations += self.result.report.solver_iterations;
        report.solves += 1;
        memory.long.clone_from(&self.state);
        restore(&memory.start, self);
        self.stepper.recall_loads(1);
        let first_ns = trial_ns / 2;
        let halves = [(done_ns, first_ns), (done_ns + first_ns, trial_ns - first_ns)];
        for (half, (at_ns, length_ns)) in halves.into_iter().enumerate() {
            self.take_step(command, clock, at_ns, length_ns)?;
            memory.times.add(&self.result.times);
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

fn save(kept: &mut SavedStep, simulation: &Simulation) {
    kept.state.clone_from(&simulation.state);
    kept.v_before.clone_from(&simulation.v_before);
}

fn restore(kept: &SavedStep, simulation: &mut Simulation) {
    simulation.state.clone_from(&kept.state);
    simulation.v_before.clone_from(&kept.v_before);
    kinematics(simulation.scene.model(), &simulation.state, &mut simulation.data);
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

/// The largest entry.
fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| nan_max(largest, x.abs()))
}

/// The larger number; NaN if one is NaN.
fn nan_max(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// -1 if two quaternions of similar rotations have opposite signs.
fn same_side(a: &[f64], b: &[f64]) -> f64 {
    if a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() < 0.0 { -1.0 } else { 1.0 }
}
