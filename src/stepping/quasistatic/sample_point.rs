//! The data of a step's program near its configuration: everything that a derivative varies.

use super::handle::{Handle, move_command, restore_command};
use super::impedances::{Impedances, InertiaLaw};
use super::step::QuasistaticStep;
use super::weight_model::{Loads, Motion};
use super::wrenches::pair_impulses;
use crate::math::dense::dot;
use crate::math::{SpatialForce, Vector3, Vector6};
use crate::multibody::{Data, Model, State, bias, integrate, mass_matrix, positions};
use crate::solvers::quasistatic::{ProblemDirection, QuasistaticProblem};
use crate::stepping::command::{JointCommand, JointTarget};
use crate::stepping::contacts::{QuasistaticContacts, frame_about, smallest_axis};
use crate::stepping::external::ExternalWrenches;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::settings::QuasistaticStepping;

/// Data of a problem at fixed v and gamma.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// b - Q v + sum J^T gamma [N s].
    linear: Vec<f64>,
    /// phi/h n + J v per contact [m/s].
    contacts: Vec<Vector3>,
    /// The active limits, and those that may become active [m/s] or [rad/s].
    bounds: Vec<f64>,
    targets: Vec<f64>,
    /// The weights of the contacts' barriers [-].
    weights: Vec<f64>,
    /// The impulses of the pairs on B about its origin, in world axes, at fixed gamma [N m s, N s].
    pub(super) pairs: Vec<SpatialForce>,
}

/// The point at which data are sampled.
#[derive(Clone, Debug)]
pub(super) struct SamplePoint {
    pub(super) state: State,
    pub(super) command: JointCommand,
    pub(super) start: Data,
    pub(super) middle: Data,
    pub(super) impedances: Impedances,
    pub(super) contacts: QuasistaticContacts,
    pub(super) problem: QuasistaticProblem,
    pub(super) external: ExternalWrenches,
    pub(super) direction: Vec<f64>,
    /// Loads at the end of the step and at its start, and memory for them.
    pub(super) loads: Loads,
    pub(super) loads_at_start: Loads,
    pub(super) columns: Vec<Vector6>,
    pub(super) q_end: Vec<f64>,
    pub(super) end: Data,
}

/// The velocities with which the middle of a step was found and their change along a column, and those with
/// which the weights of its end were found.
pub(super) type FoundWith<'a> = (Option<(&'a [f64], &'a [f64])>, Option<&'a [f64]>);

impl SamplePoint {
    /// Copies the command, with the held position for each joint without a position command.
    pub(super) fn prepare(&mut self, command: &JointCommand, impedances: &Impedances) {
        let targets = impedances.targets().iter().enumerate().map(|(joint, held)| {
            let target = command.targets.as_slice().get(joint).copied().unwrap_or_default();
            JointTarget { position: Some(target.position.unwrap_or(*held)), ..target }
        });
        self.command.targets.clear();
        self.command.targets.extend(targets);
    }

    /// Moves by `increment` along a column, and assembles everything but contacts. `middle` holds the
    /// velocities with which the middle was found, and their change along the column, and `end` those with
    /// which the weights of the end were found.
    pub(super) fn move_along(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        impedances: &Impedances,
        (column, increment): (usize, f64),
        handles: &[Handle],
        (middle, end): FoundWith<'_>,
    ) {
        let (scene, h) = (input.scene, input.settings.step());
        let model = scene.model();
        let n = model.nv();
        self.state.q.copy_from_slice(&input.start.state.q);
        if column < n {
            self.direction.fill(0.0);
            self.direction[column] = 1.0;
            integrate(model, &mut self.state.q, &self.direction, increment);
        }
        positions(model, &self.state.q, &mut self.start);
        mass_matrix(model, &mut self.start);
        bias(model, &mut self.start);
        self.problem.reset(n, h);
        self.impedances.clone_from(impedances);
        let joint = column.checked_sub(n);
        let before = joint.and_then(|joint| move_command(&mut self.command, joint, handles, increment));
        self.external.project(model, &self.start);
        let external = self.external.generalized();
        let start = StepStart { external, ..start_of(input, &self.state, &self.command) };
        let stiction = input.settings.stiction_tolerance;
        let inertia = InertiaLaw { kind: options.inertia, parts: 1 };
        self.impedances.assemble(scene, inertia, stiction, &start, &self.start, &mut self.problem);
        if let Some(v) = end {
            self.take_loads_of_end(input, v);
            let start = StepStart { external: &self.loads.external, ..start_of(input, &self.state, &self.command) };
            self.problem.reset(n, h);
            self.impedances.clone_from(impedances);
            self.impedances.assemble(scene, inertia, stiction, &start, &self.start, &mut self.problem);
            // The stiffness of weights in Q has no effect on these joints.
            let stiffness = self.impedances.follows().iter().zip(self.impedances.weights());
            let each = self.problem.linear.iter_mut().zip(v).zip(stiffness);
            each.filter(|(_, (follows, _))| **follows).for_each(|((b, v), (_, k))| *b += h * h * k * v);
        }
        restore_command(&mut self.command, joint, before);
        if let Some((v, dv)) = middle {
            for ((moved, v), dv) in self.direction.iter_mut().zip(v).zip(dv) {
                *moved = v + increment * dv;
            }
            integrate(model, &mut self.state.q, &self.direction, 0.5 * h);
        }
        positions(model, &self.state.q, &mut self.middle);
    }

    /// Replaces the loads of joints with a stiffness by those at the end of the velocities `v`.
    fn take_loads_of_end(&mut self, input: &StepInput<'_>, v: &[f64]) {
        let (model, h) = (input.scene.model(), input.settings.step());
        let Self { loads, loads_at_start, columns, q_end, end, state, start, impedances, external, .. } = self;
        loads_at_start.gravity.clone_from(&start.gravity);
        loads_at_start.external.clear();
        loads_at_start.external.extend_from_slice(external.generalized());
        q_end.clone_from(&state.q);
        let motion = Motion { model, q: &state.q, wrenches: input.start.wrenches, h };
        loads.at_end(motion, (v, impedances.follows()), loads_at_start, (q_end, end, columns));
        start.gravity.copy_from_slice(&loads.gravity);
    }

    /// Finds the contact points that correspond to those of `step`, where they are now. With `exact`, returns
    /// the first pair that has lost a point with a force; smoothed steps take such a point along with its
    /// bodies.
    pub(super) fn find_contacts(
        &mut self,
        input: &StepInput<'_>,
        step: &QuasistaticStep,
        exact: bool,
    ) -> Option<usize> {
        let (scene, stiction) = (input.scene, input.settings.stiction_tolerance);
        let gammas = step.solver.contact_impulses();
        let loaded = |contact: usize| exact && gammas.get(contact).is_none_or(|gamma| *gamma != Vector3::zeros());
        let lost = self.contacts.follow(&step.contacts, scene, (&step.start, &self.start), loaded);
        self.contacts.add_points(scene, (&self.start, &self.middle), stiction, &mut self.problem);
        lost
    }

    /// Samples the data of the problem here, at the solution v of `step`.
    pub(super) fn sample(&self, model: &Model, step: &QuasistaticStep, v: &[f64], sample: &mut Sample) {
        let (problem, gammas) = (&self.problem, step.solver.contact_impulses());
        let n = problem.size();
        sample.linear.clear();
        sample.linear.extend_from_slice(&problem.linear);
        // Q couples the velocities of a tree only.
        for tree in model.trees() {
            for i in tree.clone() {
                let row = &problem.quadratic[i * n..(i + 1) * n];
                sample.linear[i] -= dot(&row[tree.clone()], &v[tree.clone()]);
            }
        }
        sample.contacts.clear();
        for ((there, contact), gamma) in step.problem.contacts().iter().zip(problem.contacts()).zip(gammas) {
            let (pair, point) = (there.key.pair as usize, there.key.point as usize);
            let (n_here, n_there) =
                (&step.contacts.points(pair).normal[point], &self.contacts.points(pair).normal[point]);
            // Axes that turn with the normal, without any further rotation.
            let axis = smallest_axis(n_here);
            let turn = frame_about(n_there, axis) * frame_about(n_there, smallest_axis(n_there)).transpose();
            let mut y = problem.contact_velocity(contact, v);
            if there.friction_bound.is_some() {
                // The compliance of a point falls with its depth, as 1/d; here along its tangent, because
                // increments are as large as depths.
                y.x += there.compliance * gamma.x * (2.0 - there.compliance / contact.compliance);
            }
            sample.contacts.push(turn * y);
            let gamma = turn.transpose() * gamma;
            for (dof, column) in problem.columns(contact) {
                sample.linear[*dof as usize] += column.dot(&gamma);
            }
        }
        pair_impulses(&self.contacts, &step.contacts, gammas, &mut sample.pairs);
        sample.bounds.clear();
        sample.bounds.extend(problem.bounds.iter().zip(step.solver.bound_impulses()).map(|(bound, impulse)| {
            let upper = *impulse < 0.0 || !bound.lower.is_finite();
            if upper { bound.upper } else { bound.lower }
        }));
        sample.weights.clear();
        // The weights themselves bend too much for differences.
        let contacts = step.problem.contacts().iter().zip(problem.contacts());
        sample.weights.extend(contacts.map(|(there, contact)| there.barrier_slope * contact.gap_rate));
        sample.targets.clear();
        sample.targets.extend(problem.rows.iter().map(|row| row.target));
    }
}

/// The start of a step from another state with another command.
fn start_of<'a>(input: &StepInput<'a>, state: &'a State, command: &'a JointCommand) -> StepStart<'a> {
    StepStart { state, command, ..input.start }
}

/// The direction from sample `b` to sample `a`, which are `width` apart.
pub(super) fn difference(a: &Sample, b: &Sample, width: f64, direction: &mut ProblemDirection) {
    let numbers = |to: &mut Vec<f64>, a: &[f64], b: &[f64]| {
        to.clear();
        to.extend(a.iter().zip(b).map(|(a, b)| (a - b) / width));
    };
    numbers(&mut direction.linear, &a.linear, &b.linear);
    numbers(&mut direction.bounds, &a.bounds, &b.bounds);
    numbers(&mut direction.targets, &a.targets, &b.targets);
    numbers(&mut direction.weights, &a.weights, &b.weights);
    direction.contacts.clear();
    direction.contacts.extend(a.contacts.iter().zip(&b.contacts).map(|(a, b)| (a - b) / width));
}
