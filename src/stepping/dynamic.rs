//! A dynamic step: A = M + dt D + dt^2 K, r = M v_f + dt tau, the rows of joints and the patches of contacts.
//! D and K are the dampers and springs of the joints.
//!
//! v_f is the velocity at the end of free motion through the step, including weight and external wrenches,
//! and M is the mass matrix at that end ([`FreeMotion`]). For slow trees, and for all bodies with
//! [`Integrator::SemiImplicit`], M is that of the start: r = M v0 + dt (tau_g - c(q0, v0) + tau_ext + tau).

use std::ops::Range;

use super::contacts::{ContactInput, DynamicContacts, FreePath, Pairs};
use super::error::{StepError, joint_of_dof};
use super::input::{StepInput, StepStart};
use super::joint_rows::JointRows;
use super::result::StepResult;
use super::settings::{ContactScheme, DynamicStepping, FrictionBound, Integrator};
use super::snapshot::{FRICTION_ERROR_MAX, StepReport, StepTimes};
use crate::math::dense::{NotPositiveDefinite, cholesky_in_place, cholesky_solve_in_place, dot};
use crate::math::{ByteReader, ByteWriter, BytesError, Vector3};
use crate::multibody::{Data, FreeMotion, FreeMotionError, FreeStart, Model, State, bias, mass_matrix, positions};
use crate::scene::Scene;
use crate::solvers::dynamic::{
    ContactProblem, FrictionError, NewtonSolver, SolveReport, SolveStatus, SolvedFriction, TamsiSolver,
};

/// If rounding stops the solver before its tolerance, a residual below this value still counts as a
/// solution [-].
const STALLED_RESIDUAL_MAX: f64 = 1e-5;

/// The scheme `coupled` ends when the friction bounds change by at most this fraction of the largest bound of
/// their contact [-].
const COUPLED_TOLERANCE: f64 = 1e-6;
/// Bounds below this fraction of the largest one of all contacts have no influence [-].
const COUPLED_LEAST: f64 = 1e-6;
/// The largest number of solves of the scheme `coupled`.
const COUPLED_ROUNDS_MAX: u32 = 100;

/// Impacts slower than this multiple of g dt do not bounce. The height of their bounces would be below 2 g
/// dt^2. [-]
const SLOW_IMPACT: f64 = 2.0;

/// The largest number of solves with bounces. A contact may begin to gain energy when another one bounces
/// less.
const BOUNCE_ROUNDS_MAX: u32 = 8;

/// A solution of a step.
struct Solved {
    report: SolveReport,
    rounds: u32,
    wrong: FrictionError,
}

/// The purpose of the solves of a step.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Search {
    /// The usual solves, until their motion reaches no further contact.
    Usual,
    /// Those that are compared with their ends.
    Compare,
    /// Those about the surfaces that are kept.
    Kept,
}

/// The memory of dynamic steps.
#[derive(Clone, Debug)]
pub(super) struct DynamicStep {
    pub(super) options: DynamicStepping,
    pub(super) contacts: DynamicContacts,
    pub(super) joint_rows: JointRows,
    pub(super) problem: ContactProblem,
    pub(super) solver: NewtonSolver,
    pub(super) tamsi: TamsiSolver,
    /// The velocities that the solver starts from.
    warm_start: Vec<f64>,
    pub(super) free: FreeMotion,
    /// Generalized forces of weight and external wrenches [N m] or \[N\].
    forces: Vec<f64>,
    /// Positions and mass matrix at the end of free motion.
    pub(super) ahead: Data,
    /// The coordinates q0 for which joints end the step at q0 + dt v ([`FreeMotion::reference`]).
    reference: State,
    /// The difference of the velocities from those of free motion.
    pub(super) change: Vec<f64>,
    /// The velocities before the contacts act, if there may be impacts with restitution.
    before: Vec<f64>,
    /// The velocities that solve the problem of the last step.
    solution: Vec<f64>,
    /// Whether the solution was compared with the surfaces of its end in this step.
    pub(super) compared: bool,
    /// The island of each velocity.
    pub(super) islands: Vec<u32>,
    /// Scratch: M of one tree, factored.
    factor: Vec<f64>,
}

impl DynamicStep {
    pub(super) fn new(options: DynamicStepping, model: &Model) -> Self {
        Self {
            options,
            contacts: DynamicContacts::default(),
            joint_rows: JointRows::default(),
            problem: ContactProblem::default(),
            solver: NewtonSolver::default(),
            tamsi: TamsiSolver::default(),
            warm_start: Vec::new(),
            free: FreeMotion::default(),
            forces: Vec::new(),
            ahead: Data::new(model),
            reference: State::default(),
            change: Vec::new(),
            before: Vec::new(),
            solution: Vec::new(),
            compared: false,
            islands: Vec::new(),
            factor: Vec::new(),
        }
    }

    pub(super) fn options(&self) -> &DynamicStepping {
        &self.options
    }

    /// Writes the data that the next step takes from the last one, besides the velocities.
    pub(super) fn write_memory(&self, model: &Model, writer: &mut ByteWriter) {
        self.contacts.pairs.write_memory(writer);
        if self.options.sleep.is_some() {
            self.contacts.sleep.write(model, &self.solution, writer);
        }
    }
    /// Reads the output of [`DynamicStep::write_memory`].
    pub(super) fn read_memory(&mut self, scene: &Scene, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.contacts.pairs.read_memory(scene, reader)?;
        match self.options.sleep {
            Some(_) => self.contacts.sleep.read(scene, &mut self.solution, reader),
            None => Ok(()),
        }
    }

    /// Solves for the end of the step. If it fails, the memory of the last step stays.
    pub(super) fn step(
        &mut self,
        input: &StepInput<'_>,
        data: &mut Data,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        self.contacts.keep();
        self.try_step(input, data, result).inspect_err(|_| self.contacts.restore())
    }

    /// Assembles the problem and solves it, until its motion reaches no further contact. The initial guess
    /// repeats the change of velocity of the previous step.
    fn try_step(&mut self, input: &StepInput<'_>, data: &mut Data, result: &mut StepResult) -> Result<(), StepError> {
        let settings = input.settings;
        let start = input.now();
        let moved = self.assemble(input, data)?;
        let v0 = &input.start.state.v;
        self.warm_start.clear();
        self.warm_start.extend(v0.iter().zip(input.start.v_before).map(|(v0, before)| v0 + (v0 - before)));
        let v = &mut result.state.v;
        let mut times = StepTimes { motion: moved - start, contact: 0.0, solver: 0.0 };
        let (mut solves, mut solver_iterations, mut friction_rounds) = (0, 0, 0);
        let (mut searched, mut search) = (moved, Search::Usual);
        let Solved { report: solved, wrong, .. } = loop {
            let assembled = input.now();
            let solved = self.solve(input, v).and_then(|mut solved| {
                self.bounce(input, v, &mut solved)?;
                Ok(solved)
            });
            let is_solved = solved.as_ref().is_ok_and(|solved| solved.report.status != SolveStatus::IterationLimit);
            if search == Search::Compare && !is_solved && self.assemble_best(input, data) {
                v.copy_from_slice(&self.warm_start);
                continue;
            }
            let solved = solved?;
            solves += 1;
            let ended = input.now();
            solver_iterations += solved.report.iterations;
            friction_rounds += solved.rounds;
            times.contact += assembled - searched;
            times.solver += ended - assembled;
            if !self.assemble_again(input, data, v, &mut search) {
                times.contact += input.now() - ended;
                break solved;
            }
            searched = ended;
            self.warm_start.copy_from_slice(v);
        };
        result.integrate_from(&self.free.base, &mut self.change, input)?;
        self.contacts.note_loads(input.scene, &self.problem, &result.state.v, settings.step());
        self.joint_rows.efforts(&self.problem, &result.state.v, settings.step(), &mut result.efforts);
        self.joint_rows.speed_limit_impulses(&self.problem, &result.state.v, &mut result.speed_limits);
        // The patches of loop closures come after those of contacts
        let impulses = match self.options.scheme {
            ContactScheme::Tamsi => self.tamsi.patch_impulses(),
            _ => self.solver.patch_impulses(),
        };
        let impulses = &impulses[..self.contacts.active().len()];
        result.set_contacts(self.contacts.active(), impulses);
        result.times = times;
        self.carry_spin(input, &mut result.state);
        self.hold_sleepers(input, &mut result.state);
        result.missed = self.contacts.missed;
        let (friction_error, wrong) = self.wrong_friction(input, data, &wrong);
        result.wrong_friction = wrong;
        result.report = StepReport {
            scheme: Some(self.options.scheme),
            solver_iterations,
            solver_residual: solved.residual / self.options.solver.tolerance,
            solver_converged: match solved.status {
                SolveStatus::Converged => true,
                SolveStatus::Stalled => solved.residual < STALLED_RESIDUAL_MAX,
                SolveStatus::IterationLimit => false,
            },
            solver_fallbacks: 0,
            friction_rounds,
            friction_error,
            parts: 1,
            solves,
            loads_behind: 0.0,
            inertial_share: 0.0,
            friction_at_centroids: false,
            faces: self.contacts.faces,
            faces_dropped: self.contacts.faces_dropped,
        };
        Ok(())
    }

    /// Solves the assembled problem from `warm_start` for the velocities `v`, and again with friction bounds
    /// from its own normal impulses.
    fn solve(&mut self, input: &StepInput<'_>, v: &mut [f64]) -> Result<Solved, StepError> {
        self.problem.lag_friction();
        for (patch, V) in self.contacts.linear_about() {
            self.problem.refresh_friction_at(*patch, V);
        }
        match self.options.scheme {
            ContactScheme::Tamsi => self.solve_tamsi(input, v),
            _ => self.solve_with_bounds(input, v),
        }
    }

    /// Removes from `x` the motion against stiff contacts and joints of the last solve, at its velocities `v`
    /// ([`NewtonSolver::remove_stiff_motion`]). `x` becomes 0 where the matrix of the contact scheme is
    /// singular.
    pub(super) fn remove_stiff_motion(
        &mut self,
        (model, time): (&Model, f64),
        v: &[f64],
        x: &mut [f64],
    ) -> Result<(), StepError> {
        if self.options.scheme == ContactScheme::Tamsi {
            if !self.tamsi.remove_stiff_motion(&self.problem, v, x) {
                x.fill(0.0);
            }
            return Ok(());
        }
        self.solver.remove_stiff_motion(&self.problem, v, x).map_err(|error| self.unsolved(model, time, error))
    }

    /// Writes for each velocity how many times the friction bounds of its island were renewed in the last
    /// solve.
    pub(super) fn friction_rounds(&self, rounds: &mut [u32]) {
        self.solver.rounds(&self.problem, rounds);
    }

    /// Sets the `changes` of all velocities of an island to 0, unless those of all its trees are `resolved`.
    pub(super) fn keep_resolved_islands(&self, model: &Model, resolved: &[bool], changes: [&mut [f64]; 2]) {
        match self.options.scheme {
            ContactScheme::Tamsi => keep_resolved(self.tamsi.islands(&self.problem), model, resolved, changes),
            _ => keep_resolved(self.solver.islands(&self.problem), model, resolved, changes),
        }
    }

    /// The error of a solve whose matrix has no positive pivot: a wrong mass matrix, or speeds and forces so
    /// large that rounding removes it.
    fn unsolved(&self, model: &Model, time: f64, error: NotPositiveDefinite) -> StepError {
        let tree = model.tree_of_dof().get(error.pivot).and_then(|tree| model.trees().get(*tree));
        let has_mass = tree.is_some_and(|tree| {
            let mut masses: Vec<f64> =
                tree.clone().flat_map(|i| self.problem.momentum_matrix.row(i)).copied().collect();
            cholesky_in_place(&mut masses, tree.len()).is_ok()
        });
        if has_mass && error.value.is_finite() { StepError::Residual { time } } else { singular(model, time, error) }
    }

    fn solve_tamsi(&mut self, input: &StepInput<'_>, v: &mut [f64]) -> Result<Solved, StepError> {
        let report = self.tamsi.solve(&self.problem, &self.warm_start, &self.options.solver, v);
        let stalled = report.status == SolveStatus::Stalled && report.residual < STALLED_RESIDUAL_MAX;
        if report.status != SolveStatus::Converged && !stalled {
            let SolveReport { iterations, residual, .. } = report;
            let tolerance = self.options.solver.tolerance;
            let reason = format!("residual {residual:.1e} instead of {tolerance:.1e} after {iterations} iterations");
            return Err(StepError::Scheme { time: input.time, scheme: self.options.scheme.name(), reason });
        }
        Ok(Solved { report, rounds: 0, wrong: FrictionError::default() })
    }

    /// Renews the bounds from the solution `v` until they repeat.
    fn couple(&mut self, input: &StepInput<'_>, v: &mut [f64], solved: &mut Solved) -> Result<(), StepError> {
        loop {
            let (patch, change) = self.problem.refresh_friction_measured(v, COUPLED_LEAST);
            if change <= COUPLED_TOLERANCE {
                return Ok(());
            }
            if solved.rounds == COUPLED_ROUNDS_MAX || !change.is_finite() {
                let active = self.contacts.active().get(patch);
                let names = active.map(|active| pair_names(input.scene, active.pair)).unwrap_or_default();
                let reason = format!(
                    "the friction of {names} still changes by {:.1e} of its bound after {} solves",
                    change, solved.rounds
                );
                return Err(StepError::Scheme { time: input.time, scheme: self.options.scheme.name(), reason });
            }
            self.solve_again(input, v, solved)?;
        }
    }

    /// Solves again from `v` with the present bounds.
    fn solve_again(&mut self, input: &StepInput<'_>, v: &mut [f64], solved: &mut Solved) -> Result<(), StepError> {
        solved.rounds += 1;
        self.warm_start.copy_from_slice(v);
        let again = self.solver.solve(&self.problem, &self.warm_start, &self.options.solver, v);
        let again = again.map_err(|error| self.unsolved(input.scene.model(), input.time, error))?;
        solved.report = SolveReport { iterations: solved.report.iterations + again.iterations, ..again };
        Ok(())
    }

    /// Does the same as [`DynamicStep::solve`], beginning with the present bounds.
    fn solve_with_bounds(&mut self, input: &StepInput<'_>, v: &mut [f64]) -> Result<Solved, StepError> {
        self.solver.set_threads(input.settings.threads);
        let (scheme, settings) = (self.options.scheme, &self.options.solver);
        let mut solved = if scheme == ContactScheme::Lagged && self.options.friction_bound == FrictionBound::Solved {
            let accuracy = (settings, FRICTION_ERROR_MAX);
            let solved = self.solver.solve_with_friction(&mut self.problem, &self.warm_start, accuracy, v);
            solved.map(|SolvedFriction { report, rounds, wrong }| Solved { report, rounds, wrong })
        } else {
            let report = self.solver.solve(&self.problem, &self.warm_start, settings, v);
            report.map(|report| Solved { report, rounds: 0, wrong: FrictionError::default() })
        }
        .map_err(|error| self.unsolved(input.scene.model(), input.time, error))?;
        if scheme == ContactScheme::Coupled {
            self.couple(input, v, &mut solved)?;
        }
        if solved.report.residual.is_nan() {
            return Err(StepError::Residual { time: input.time });
        }
        Ok(solved)
    }

    /// If rigid points with restitution are in impact at the solution `v`, solves again with their bounces.
    /// If a contact would gain energy, which Newton's law with friction allows, its restitution in this step
    /// is halved, at most twice, and then set to 0.
    fn bounce(&mut self, input: &StepInput<'_>, v: &mut [f64], solved: &mut Solved) -> Result<(), StepError> {
        let (scene, settings) = (input.scene, input.settings);
        let weight = scene.model().gravity_W().norm();
        let least = settings.stiction_tolerance.max(SLOW_IMPACT * settings.step() * weight);
        if !self.contacts.restitution(scene).any(|e| e > 0.0) {
            return Ok(());
        }
        self.find_velocities_before(input)?;
        if !self.problem.find_impacts(v, &self.before, self.contacts.restitution(scene), least) {
            return Ok(());
        }
        let count = self.contacts.active().len();
        for _ in 0..BOUNCE_ROUNDS_MAX {
            self.problem.set_restitution(self.contacts.restitution(scene));
            self.warm_start.copy_from_slice(v);
            let again = self.solve_with_bounds(input, v)?;
            let iterations = solved.report.iterations + again.report.iterations;
            let (report, rounds) = (SolveReport { iterations, ..again.report }, solved.rounds + again.rounds);
            *solved = Solved { report, rounds, ..again };
            if !self.problem.reduce_restitutions(v, &self.before, count) {
                break;
            }
        }
        Ok(())
    }

    /// Computes the velocities before the contacts act, without weight and external wrenches: v_f - dt M^-1 f
    /// of trees that move freely, and those of the start of the others. Free motion has neither the dampers
    /// nor the springs of A.
    fn find_velocities_before(&mut self, input: &StepInput<'_>) -> Result<(), StepError> {
        let (model, v0, dt) = (input.scene.model(), &input.start.state.v, input.settings.step());
        let M = &self.ahead.M;
        self.before.clear();
        self.before.extend_from_slice(v0);
        let trees = model.trees().iter().enumerate();
        for (_, tree) in trees.filter(|(number, _)| self.free.moved(*number)) {
            self.factor.clear();
            self.factor.extend(tree.clone().flat_map(|i| M.row(i)));
            cholesky_in_place(&mut self.factor, tree.len()).map_err(|error| {
                let pivot = tree.start + error.pivot;
                singular(model, input.time, NotPositiveDefinite { pivot, ..error })
            })?;
            let change = &mut self.before[tree.clone()];
            change.copy_from_slice(&self.forces[tree.clone()]);
            cholesky_solve_in_place(&self.factor, tree.len(), change);
            for (v, free) in change.iter_mut().zip(&self.free.base.v[tree.clone()]) {
                *v = free - dt * *v;
            }
        }
        Ok(())
    }

    /// Assembles the problem of the step: A, r, the rows of the joints and the contacts. Returns the time at
    /// which the assembly of the contacts began.
    pub(super) fn assemble(&mut self, input: &StepInput<'_>, data: &mut Data) -> Result<f64, StepError> {
        self.assemble_motion(input, data)?;
        let moved = input.now();
        let world = world(input, &self.options, (&self.free, &self.ahead), data);
        self.contacts.begin(input.scene.contact_pairs().len());
        self.compared = false;
        self.contacts.assemble(&world, &mut self.problem);
        self.know_free(input.scene);
        Ok(moved)
    }

    /// Enters the velocities that are known without a solve: those of free motion of bodies that carry no
    /// links, whose joints may have dampers and springs, and those of the last solve of bodies that sleep.
    pub(super) fn know_free(&mut self, scene: &Scene) {
        let model = scene.model();
        self.solution.resize(self.problem.size(), 0.0);
        for joint in scene.free_bodies().iter().filter_map(|body| model.free_joint(*body)) {
            let tree = model.tree_of_dof()[joint.v_start];
            let dofs = model.trees()[tree].clone();
            let known = &mut self.problem.free[dofs.clone()];
            if self.contacts.sleep.is_asleep(tree) {
                known.copy_from_slice(&self.solution[dofs]);
            } else if dofs.len() == 6 && self.free.moved(tree) {
                known.copy_from_slice(&self.free.base.v[dofs]);
            } else {
                known.fill(f64::NAN);
            }
        }
    }

    /// The bodies that sleep stay where they are. Their velocities of the last solve, with which their
    /// contacts have their forces, are kept.
    fn hold_sleepers(&self, input: &StepInput<'_>, end: &mut State) {
        if !self.contacts.sleep.any() {
            return;
        }
        let (model, start) = (input.scene.model(), input.start.state);
        for joint in input.scene.free_bodies().iter().filter_map(|body| model.free_joint(*body)) {
            if self.contacts.sleep.is_asleep(model.tree_of_dof()[joint.v_start]) {
                let (q, v) = (joint.q_start..joint.q_start + 7, joint.v_start..joint.v_start + 6);
                end.q[q.clone()].copy_from_slice(&start.q[q]);
                end.v[v].fill(0.0);
            }
        }
    }

    /// Wakes all bodies.
    pub(super) fn wake(&mut self) {
        self.contacts.sleep.wake();
    }
    /// No body sleeps from now on.
    pub(super) fn forbid_sleep(&mut self) {
        self.options.sleep = None;
        self.wake();
    }
    /// Whether the tree of a velocity slept in the last step.
    pub(super) fn is_asleep(&self, model: &Model, dof: usize) -> bool {
        self.contacts.sleep.is_asleep(model.tree_of_dof()[dof])
    }

    /// Whether the motion of a solve that ends with the velocities `v` reaches contacts that the problem does
    /// not contain. The problem is then assembled with them.
    pub(super) fn assemble_farther(&mut self, input: &StepInput<'_>, data: &Data, v: &[f64]) -> bool {
        let world = world(input, &self.options, (&self.free, &self.ahead), data);
        let farther = self.contacts.reaches_farther(&world, v);
        if farther {
            self.assemble_contacts(input, data);
        }
        farther
    }

    /// Assembles A, r and the rows of the joints.
    fn assemble_motion(&mut self, input: &StepInput<'_>, data: &mut Data) -> Result<(), StepError> {
        let StepInput { scene, settings, start, time, .. } = input;
        let (problem, model, dt, state) = (&mut self.problem, scene.model(), settings.step(), start.state);
        bias(model, data);
        self.forces.clear();
        self.forces.extend(data.gravity.iter().zip(start.external).map(|(weight, external)| weight + external));
        let moved = match self.options.integrator {
            Integrator::SemiImplicit => {
                self.free.stay(model, state);
                false
            }
            Integrator::Implicit => {
                let from = FreeStart { state, forces: &self.forces, dt };
                self.free.find(model, &from, data, &mut self.ahead).map_err(|error| match error {
                    FreeMotionError::Spin { turn } => StepError::Spin { time: *time, turn },
                    FreeMotionError::Mass(error) => singular(model, *time, error),
                })?
            }
        };
        let M = if moved {
            positions(model, &self.free.base.q, &mut self.ahead);
            mass_matrix(model, &mut self.ahead);
            &self.ahead.M
        } else {
            mass_matrix(model, data);
            &data.M
        };
        problem.reset(model.trees());
        problem.momentum_matrix.copy_from(M);
        problem.start.copy_from_slice(&state.v);
        for (number, tree) in model.trees().iter().enumerate() {
            let free = self.free.moved(number);
            let from = if free { &self.free.base.v } else { &state.v };
            for i in tree.clone() {
                let momentum = dot(M.row(i), &from[tree.clone()]);
                let impulse = if free { 0.0 } else { dt * (self.forces[i] - data.coriolis[i]) };
                problem.momentum[i] = momentum + impulse;
            }
        }
        self.free.reference(model, state, dt, &mut self.reference);
        let joints = StepStart { state: &self.reference, ..*start };
        let limits = self.options.enforce_velocity_limit;
        self.joint_rows.assemble(scene, (settings, limits), &joints, &data.gravity, problem);
        Ok(())
    }

    /// Ends a step: keeps the solution, and turns the velocities of free bodies with their bodies.
    pub(super) fn carry_spin(&mut self, input: &StepInput<'_>, end: &mut State) {
        self.solution.clone_from(&end.v);
        self.free.carry_spin(input.scene.model(), input.settings.step(), end);
    }

    pub(super) fn face_forces(&self, number: usize, forces: &mut Vec<Vector3>) {
        let block = &self.problem.patches()[number];
        block.face_forces(&block.velocity(&self.solution), forces);
    }
    pub(super) fn pairs(&self) -> &Pairs {
        &self.contacts.pairs
    }
}

/// Sets the `changes` of all velocities of an island to 0, unless those of all its trees are `resolved`.
fn keep_resolved(
    islands: impl Iterator<Item = impl Iterator<Item = Range<usize>> + Clone>,
    model: &Model,
    resolved: &[bool],
    changes: [&mut [f64]; 2],
) {
    let tree = model.tree_of_dof();
    for island in islands {
        if !island.clone().flatten().all(|dof| resolved[tree[dof]]) {
            for dofs in island {
                changes[0][dofs.clone()].fill(0.0);
                changes[1][dofs].fill(0.0);
            }
        }
    }
}

/// The input of the contacts of a step, from the poses in `data` and the end of free motion, with the poses
/// there.
pub(super) fn world<'a>(
    input: &StepInput<'a>,
    options: &'a DynamicStepping,
    (free, ahead): (&'a FreeMotion, &'a Data),
    data: &'a Data,
) -> ContactInput<'a> {
    let (scene, settings, start) = (input.scene, input.settings, input.start);
    let motion = FreePath {
        model: scene.model(),
        start: start.state,
        free,
        step: settings.step(),
        pushed: start.external.iter().any(|force| *force != 0.0),
    };
    let later = if free.moved_any() { ahead } else { data };
    let (v, external) = (&start.state.v, start.external);
    ContactInput { scene, settings, options, data, later, v, external, motion: Some(motion) }
}

/// The names of the geometries of a pair.
fn pair_names(scene: &Scene, pair: usize) -> String {
    let pair = &scene.contact_pairs()[pair];
    let [a, b] = [pair.A, pair.B].map(|index| &scene.geometries()[index].name);
    format!("`{a}` and `{b}`")
}

pub(super) fn singular(model: &Model, time: f64, error: NotPositiveDefinite) -> StepError {
    let name = joint_of_dof(model, error.pivot);
    match error.value.is_finite() {
        true => StepError::SingularMass { time, dof: error.pivot, name },
        false => StepError::NotFinite { time, joint: name },
    }
}
