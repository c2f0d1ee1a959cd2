//! A quasistatic step [Pang & Tedrake 2021]: the program of impedances, friction cones and pressure fields.
//!
//! Rigid contact uses the distances and normals of the configuration at the start of the step, as in the
//! paper. Deviation: if bodies turn, the Jacobians are those of the middle of the step. The motion of a point
//! is then correct to second order, and long steps of an arm do not shear the held object. Pressure fields
//! are linearised at the configuration at the end of the step, which is found by iteration, so that the step
//! ends in equilibrium with the fields. If the solution moves a pair farther than its search distance, the
//! search is repeated.

use super::failure::{Failure, PartStart, explain_solver, name_of_tree};
use super::field_trial::{Acceleration, Trial};
use super::impedances::Impedances;
use super::inertia::InertialForces;
use super::spent::{Spent, WEIGHTS_SETTLED};
use super::support::{Support, concerns};
use super::weight_model::WeightModel;
use crate::geometry::{ContactSurface, PointContacts};
use crate::math::dense::dot;
use crate::math::{ByteReader, ByteWriter, BytesError, Vector3};
use crate::multibody::{Data, State, bias, mass_matrix, positions, velocities};
use crate::scene::{ContactKind, Scene};
use crate::solvers::quasistatic::{
    ProblemPart, QuasistaticError, QuasistaticProblem, QuasistaticReport, QuasistaticSolver,
};
use crate::stepping::contacts::QuasistaticContacts;
use crate::stepping::error::StepError;
use crate::stepping::input::StepInput;
use crate::stepping::result::StepResult;
use crate::stepping::settings::{QuasistaticStepping, UnactuatedInertia};
use crate::stepping::snapshot::{StepReport, StepTimes};

/// The largest number of extensions of the contact search within a step. Each extends a search distance by a
/// quarter at least.
const SEARCHES_MAX: u32 = 12;
/// The largest number of linearisations of the pressure fields within a step.
const LINEARIZATIONS_MAX: u32 = 100;
/// The largest number of rounds in which loop closures are closed, apart from those of pressure fields.
const CLOSING_ROUNDS_MAX: u32 = 40;
/// Rigid contact uses the Jacobians of the middle of the step if the rotation matrix of a body or link
/// changes by more than this over half the step, in the Frobenius norm, which is sqrt(2) times the turn
/// \[rad\]. The fingertips of an arm leave the straight line by turn^2 times half a metre: by 1 um here, and
/// by a centimetre at a turn of 0.15 rad.
pub(super) const TURN_MIN: f64 = 2e-3;
/// The same with loop closures, whose forces have the directions of the middle.
const TURN_MIN_CLOSED: f64 = 1e-5;
/// The largest number of times that the Jacobians move to the middle in a step.
pub(super) const MIDPOINTS_MAX: u32 = 2;
/// The fields have converged when a new linearisation moves them by less than this \[m\]: a thousandth of a
/// newton on 1e5 N/m.
const SETTLED: f64 = 1e-8;
/// The fraction of the usual tolerances with which steps are solved for differences [-].
const SHARPER: f64 = 1e-2;
/// Solves do not reach smaller tolerances than this [m/s] or [-], because of rounding.
const SHARPEST: f64 = 1e-12;
/// Changes of friction below this are rounding, relative to the largest [-]: contact points of 1e8 N/m turn a
/// rounding of 1e-16 m/s in steps of 0.1 s into 1e-9 N.
const FRICTION_ROUNDING: f64 = 1e-9;
/// The fraction of the largest force by which the forces of a step may miss their balance [-].
const BALANCE: f64 = 4e-7;
/// A difference from balance below this is rounding, in N or N m.
const ROUNDING: f64 = 1e-9;

/// The memory of quasistatic steps.
#[derive(Clone, Debug)]
pub(in crate::stepping) struct QuasistaticStep {
    pub(super) options: QuasistaticStepping,
    pub(in crate::stepping) impedances: Impedances,
    pub(super) contacts: QuasistaticContacts,
    support: Support,
    pub(super) problem: QuasistaticProblem,
    pub(super) solver: QuasistaticSolver,
    /// The poses at the start of the step, with the velocities of a trial.
    pub(super) start: Data,
    /// The poses at which rigid contacts have their Jacobians: first those of the start, then those halfway
    /// through the step.
    pub(super) middle: Data,
    /// The poses and velocities at the trial end of the step.
    pub(super) end: Data,
    /// Velocities about which the pressure fields are linearised.
    pub(super) about: Vec<f64>,
    /// A difference of velocities.
    pub(super) change: Vec<f64>,
    pub(super) last_change: Vec<f64>,
    pub(super) q: Vec<f64>,
    /// The matrix that holds bodies between linearisations [kg, kg m, kg m2], and the linear term without it.
    /// The matrix is empty if Q contains the mass itself.
    pub(super) proximal: Vec<f64>,
    pub(super) linear: Vec<f64>,
    /// The acceleration of the linearisations.
    pub(super) acceleration: Acceleration,
    /// Whether `proximal` is part of the problem.
    pub(super) holds: bool,
    /// Whether there is a pair with a pressure field.
    pub(super) has_fields: bool,
    iterations: u32,
    solves: u32,
    fallbacks: u32,
    times: StepTimes,
    /// The start of a part of a step.
    pub(super) part: PartStart,
    inertial: InertialForces,
    /// The fields have converged when a new linearisation moves them by less than this \[m\].
    pub(super) settled: f64,
    /// [`TURN_MIN`] or [`TURN_MIN_CLOSED`].
    pub(super) turn_min: f64,
    /// The change that the last [`QuasistaticStep::move_middle`] found.
    pub(super) turned: f64,
    /// The end of the step, where loop closures must be closed and weights act.
    pub(super) closed: Data,
    /// The loads of joints with a stiffness at the end of the step.
    pub(super) weights: WeightModel,
    /// Memory for the poses and the motion on the way there.
    pub(super) scratch: Data,
    pub(super) way: Vec<f64>,
    /// The velocity whose load the last model missed most, and the error, if loads have not settled.
    pub(super) unweighed: Option<(usize, f64)>,
    pub(super) weights_settled: f64,
    pub(super) spent: Spent,
    /// The velocity along which the load at the end differs most from the one that acted, and the difference,
    /// in a step that settled with the loads of its start only.
    pub(super) behind: Option<(usize, f64)>,
    /// The weight of the barrier of smoothed steps \[J\]; `None` in exact ones.
    pub(super) smoothing: Option<f64>,
    /// The number of parts in which the step is taken. It multiplies [`PROXIMAL_RATE`], so that parts hold
    /// bodies more firmly.
    pub(super) parts: u32,
}

impl QuasistaticStep {
    pub(in crate::stepping) fn new(options: QuasistaticStepping, scene: &Scene, initial: &State) -> Self {
        let model = scene.model();
        Self {
            options,
            impedances: Impedances::new(scene, initial),
            contacts: QuasistaticContacts::default(),
            support: Support::default(),
            problem: QuasistaticProblem::default(),
            solver: QuasistaticSolver::default(),
            start: Data::new(model),
            middle: Data::new(model),
            end: Data::new(model),
            about: vec![0.0; model.nv()],
            change: vec![0.0; model.nv()],
            last_change: vec![0.0; model.nv()],
            q: initial.q.clone(),
            proximal: Vec::new(),
            linear: Vec::new(),
            acceleration: Acceleration::new(model.nv()),
            holds: false,
            has_fields: scene.contact_pairs().iter().any(|pair| pair.kind == ContactKind::PressureField),
            iterations: 0,
            solves: 0,
            fallbacks: 0,
            times: StepTimes::default(),
            part: PartStart::default(),
            inertial: InertialForces::default(),
            settled: SETTLED,
            turn_min: if scene.closures().is_empty() { TURN_MIN } else { TURN_MIN_CLOSED },
            turned: 0.0,
            closed: Data::new(model),
            weights: WeightModel::default(),
            scratch: Data::new(model),
            way: vec![0.0; model.nv()],
            unweighed: None,
            weights_settled: WEIGHTS_SETTLED,
            spent: Spent::default(),
            behind: None,
            smoothing: None,
            parts: 1,
        }
    }

    /// Finds the end of steps to a hundredth of the usual accuracy, for differences between steps.
    pub(super) fn tighten_tolerance(&mut self) {
        let solver = &mut self.options.solver;
        let sharper = |tolerance: f64| tolerance.min((SHARPER * tolerance).max(SHARPEST));
        solver.tolerance = sharper(solver.tolerance);
        solver.friction_tolerance = sharper(solver.friction_tolerance);
        self.settled = SHARPER * SETTLED;
        self.weights_settled = SHARPER * WEIGHTS_SETTLED;
    }

    /// Leaves out pressure fields from now on: for steps in which none touches.
    pub(super) fn leave_out_fields(&mut self) {
        self.has_fields = false;
    }
    pub(in crate::stepping) fn options(&self) -> &QuasistaticStepping {
        &self.options
    }
    pub(in crate::stepping) fn face_forces(&self, number: usize, v: &[f64], forces: &mut Vec<Vector3>) {
        self.contacts.face_forces(number, self.solver.contact_impulses(), v, &self.problem, forces);
    }
    pub(in crate::stepping) fn points(&self, pair: usize) -> &PointContacts {
        self.contacts.points(pair)
    }
    pub(in crate::stepping) fn surface(&self, pair: usize) -> (&ContactSurface, &[u32]) {
        self.contacts.surface(pair)
    }
    /// The positions that hold until new ones are commanded [rad or m].
    pub(in crate::stepping) fn held_positions(&self) -> &[f64] {
        self.impedances.targets()
    }

    /// Sets one of them.
    pub(in crate::stepping) fn hold_position(&mut self, joint: usize, position: f64) {
        self.impedances.hold_position(joint, position);
    }

    /// Writes the data that the next step takes from the last one.
    pub(in crate::stepping) fn write_memory(&self, writer: &mut ByteWriter) {
        self.impedances.write_memory(writer);
        self.solver.write_memory(writer);
    }
    /// Reads the output of [`QuasistaticStep::write_memory`].
    pub(in crate::stepping) fn read_memory(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.impedances.read_memory(reader)?;
        self.solver.read_memory(reader)
    }
    /// Solves for the end of the step in one part, and moves the coordinates of `result` there.
    pub(super) fn attempt(
        &mut self,
        input: &StepInput<'_>,
        result: &mut StepResult,
    ) -> Result<QuasistaticReport, Failure> {
        self.spent.start_part();
        let attempted = self.attempt_part(input, result);
        self.spent.end_part(attempted.is_err());
        attempted
    }

    fn attempt_part(&mut self, input: &StepInput<'_>, result: &mut StepResult) -> Result<QuasistaticReport, Failure> {
        let solved = self.solve_part(input, &mut result.state.v)?;
        self.check_balance(&solved)?;
        self.check_support(input)?;
        self.check_path(input, &result.state.v)?;
        result.integrate(input)?;
        Ok(solved)
    }

    /// Solves for the velocities of the step in one part. Friction, pressure fields and loop closures have
    /// then settled.
    pub(super) fn solve_part(&mut self, input: &StepInput<'_>, v: &mut [f64]) -> Result<QuasistaticReport, Failure> {
        let options = &{ self.options };
        let start = input.now();
        v.copy_from_slice(&input.start.state.v);
        self.assemble(input, options, v);
        self.times.motion += input.now() - start;
        let mut trial = Trial::new();
        let solved = self.settle(input, options, v, &mut trial)?;
        if self.has_fields && (trial.change > self.settled || self.held(v).is_some()) {
            self.check_fields(input, v, &trial)?;
        }
        self.check_closures()?;
        let behind = if self.weights.is_behind { self.find_behind(input, v) } else { None };
        self.compensate_at_end();
        self.check_friction(&solved, options)?;
        // The part in which the loads were farthest behind
        if behind.is_some_and(|(_, miss)| self.behind.is_none_or(|(_, most)| miss > most)) {
            self.behind = behind;
        }
        Ok(solved)
    }

    /// Solves the assembled step, until the middle of rigid contact, the pressure fields and the loop
    /// closures have settled, or the largest number of rounds is reached.
    pub(super) fn settle(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        v: &mut [f64],
        trial: &mut Trial,
    ) -> Result<QuasistaticReport, Failure> {
        let mut solved = self.solve_weighed(input, options, v)?;
        for _ in 0..MIDPOINTS_MAX {
            let moved = self.move_middle(input, v);
            if self.has_fields {
                self.move_end_to_trial(input); // its memory was used for trials of the middle
            }
            if !moved {
                break;
            }
            solved = self.solve_weighed(input, options, v)?;
        }
        for round in 0..LINEARIZATIONS_MAX {
            let closed = self.close(input, v, round);
            let settled = !self.has_fields || self.linearize_again(input, v, trial);
            if settled && (closed || round >= CLOSING_ROUNDS_MAX) {
                break;
            }
            solved = self.solve_weighed(input, options, v)?;
        }
        Ok(solved)
    }

    /// Fills in the report, the efforts and the contacts of a step. `solved` is the report of the last of its
    /// `parts`. With `at_centroids`, friction acts at centroids although it should be spread.
    pub(super) fn finish(
        &mut self,
        input: &StepInput<'_>,
        (parts, at_centroids): (u32, bool),
        solved: &QuasistaticReport,
        result: &mut StepResult,
    ) {
        // Impulses of the last part are forces over the whole step.
        let share = input.settings.step() / self.problem.step;
        let StepResult { state, efforts, inertial: largest, behind, times, .. } = result;
        self.contacts.gather(self.solver.contact_impulses(), self.solver.patch_impulses(), share);
        self.impedances.keep(input.start.command.targets.as_slice());
        self.impedances.efforts(&state.v, efforts);
        *behind = self.behind;
        let Self { impedances, inertial, problem, solver, start, .. } = self;
        let scaled = (impedances.actuated(), impedances.inertia_scales());
        *largest = inertial.largest(input.scene.model(), start, scaled, problem, solver, &state.v);
        *times = self.times;
        result.set_contacts(self.contacts.active(), self.contacts.impulses());
        result.report = StepReport {
            scheme: None,
            solver_iterations: self.iterations,
            solver_residual: solved.residuals.primal / self.options.solver.tolerance,
            solver_converged: true,
            solver_fallbacks: self.fallbacks,
            friction_rounds: 0,
            friction_error: 0.0,
            friction_at_centroids: at_centroids && self.has_fields,
            parts,
            solves: self.solves,
            loads_behind: self.behind.map_or(0.0, |(_, miss)| miss),
            inertial_share: result.inertial.share,
            faces: self.contacts.faces,
            faces_dropped: self.contacts.faces_dropped,
        };
    }

    /// Checks that friction bounds are mu times the normal forces of the step itself.
    pub(super) fn check_friction(
        &self,
        solved: &QuasistaticReport,
        options: &QuasistaticStepping,
    ) -> Result<(), Failure> {
        if solved.friction_change <= options.solver.friction_tolerance.max(FRICTION_ROUNDING) {
            return Ok(());
        }
        let (part, impulse) = self.solver.unsettled_friction().unwrap_or((ProblemPart::Velocity(0), 0.0));
        let pair = self.pair_of(part);
        Err(Failure::Friction { pair, excess: impulse / self.problem.step })
    }

    /// The impulse by which the forces may miss their balance: a fraction of the largest impulse of contacts,
    /// weights and loads.
    pub(super) fn balance_tolerance(&self) -> f64 {
        let Self { solver, problem, impedances, start, .. } = self;
        let contacts = solver.contact_impulses().iter().map(Vector3::norm);
        let patches = solver.patch_impulses().iter().map(|impulse| impulse.f.norm());
        let free = problem.linear.iter().zip(impedances.actuated()).filter(|(_, actuated)| !**actuated);
        let loads = free.map(|(b, _)| b.abs());
        let weights = start.gravity.iter().map(|weight| problem.step * weight.abs());
        let scale = contacts.chain(patches).chain(loads).chain(weights).fold(0.0, f64::max);
        let scalars = solver.row_impulses().iter().chain(solver.bound_impulses());
        let all = problem.linear.iter().chain(scalars).fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let scale = if scale > 0.0 { scale } else { all };
        BALANCE * scale + ROUNDING * problem.step
    }

    /// The same for a patch: a fraction of its own impulse and of the weights of the bodies that it touches.
    pub(super) fn patch_tolerance(&self, patch: usize) -> f64 {
        let Self { solver, problem, start, .. } = self;
        let impulse = solver.patch_impulses().get(patch).map_or(0.0, |impulse| impulse.f.norm());
        let dofs = problem.patches()[patch].dofs().iter();
        let weights = dofs.map(|dof| problem.step * start.gravity[*dof as usize].abs());
        BALANCE * weights.fold(impulse, f64::max) + ROUNDING * problem.step
    }

    fn check_balance(&self, solved: &QuasistaticReport) -> Result<(), Failure> {
        if solved.residuals.stationarity <= self.balance_tolerance() {
            return Ok(());
        }
        match self.imbalance() {
            Some((dof, impulse)) => Err(Failure::Balance { dof, excess: impulse / self.problem.step }),
            None => Ok(()),
        }
    }

    /// The velocity along which forces miss their balance most, and the impulse, if it is too large.
    pub(super) fn imbalance(&self) -> Option<(usize, f64)> {
        let (step, tolerance) = (self.problem.step, self.balance_tolerance());
        // The velocity is known to the tolerance of the solver, and with it the effort of an impedance.
        let unknown = |dof: usize| self.options.solver.tolerance * step * self.impedances.rate(dof);
        let excesses = self.solver.balance().iter().enumerate().map(|(dof, impulse)| (dof, impulse.abs()));
        let unbalanced = excesses.filter(|(dof, excess)| *excess > tolerance + unknown(*dof));
        unbalanced.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Whether friction and forces of a solution agree with the law.
    pub(super) fn has_settled(&self, solved: &QuasistaticReport, options: &QuasistaticStepping) -> bool {
        self.check_friction(solved, options).is_ok() && self.check_balance(solved).is_ok()
    }

    /// The pair of geometries of a contact or patch.
    pub(super) fn pair_of(&self, part: ProblemPart) -> Option<usize> {
        match part {
            ProblemPart::Contact(index) => self.problem.contacts().get(index).map(|contact| contact.key.pair as usize),
            ProblemPart::Patch(index) => self.contacts.pair_of_patch(index),
            ProblemPart::Velocity(_) => None,
        }
    }

    /// Starts the counts and times of a step.
    pub(super) fn start_counts(&mut self) {
        self.times = StepTimes::default();
        (self.iterations, self.solves, self.fallbacks) = (0, 0, 0);
        (self.spent, self.behind) = (Spent::default(), None);
    }
    /// Attributes the rest of the time `took` \[s\] to the contact searches, which alternate with solves.
    pub(super) fn stop_times(&mut self, took: f64) {
        self.times.contact = took - self.times.motion - self.times.solver;
    }

    /// Assembles everything but the contacts, and starts the contact search from the expected velocities. For
    /// actuated joints these follow from the commands. For all others they are the velocities `last` of the
    /// previous step.
    pub(super) fn assemble(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping, last: &[f64]) {
        let StepInput { scene, settings, start, .. } = input;
        let (model, h) = (scene.model(), settings.step());
        positions(model, &start.state.q, &mut self.start);
        velocities(model, last, &mut self.start);
        positions(model, &start.state.q, &mut self.middle);
        mass_matrix(model, &mut self.start);
        bias(model, &mut self.start);
        self.start_weights(input, options);
        self.support.start(model, self.impedances.actuated(), &self.problem);
        if self.has_fields {
            self.hold_between_linearizations(scene, options.inertia);
            self.about.fill(0.0);
            self.last_change.fill(0.0);
            self.acceleration.start();
            self.move_end_to_trial(input);
        }
        self.change.copy_from_slice(last);
        self.impedances.expect(&mut self.change);
        velocities(model, &self.change, &mut self.start);
        self.contacts.start(scene, &self.start, h, options.detection);
    }

    /// Solves with the present linearisation of the fields, and extends the search for rigid contact until it
    /// finds no new points.
    pub(super) fn solve(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        v: &mut [f64],
    ) -> Result<QuasistaticReport, StepError> {
        let (scene, h) = (input.scene, self.problem.step);
        let model = scene.model();
        let mut searches = 0;
        loop {
            self.add_contacts(input);
            searches += 1;
            if options.inertia == UnactuatedInertia::None && searches <= SEARCHES_MAX {
                self.support.find(model, &self.problem);
                if let Some(tree) = self.support.unsupported(model, &self.problem)
                    && self.contacts.find_support(scene, |pair| concerns(scene, pair, tree))
                {
                    continue;
                }
            }
            let began = input.now();
            self.solves += 1;
            let solved = match self.smoothing {
                None => self.solver.solve(&mut self.problem, v, &options.solver),
                Some(kappa) => self.solver.step_smoothed(&mut self.problem, v, kappa, &options.solver),
            };
            self.times.solver += input.now() - began;
            let solved = match solved {
                Ok(solved) => solved,
                Err(QuasistaticError::Unbounded { dof, .. }) => {
                    let tree = model.tree_of_dof()[dof];
                    if searches <= SEARCHES_MAX && self.contacts.find_support(scene, |pair| concerns(scene, pair, tree))
                    {
                        continue;
                    }
                    return Err(StepError::NoSupport { time: input.time, name: name_of_tree(model, tree) });
                }
                Err(source) => {
                    let worst = self.solver.worst();
                    let depth = |pair: usize| {
                        self.contacts.points(pair).phi.iter().fold(0.0, |depth: f64, phi| depth.max(-phi))
                    };
                    return Err(explain_solver(input, source, worst, (|part| self.pair_of(part), depth)));
                }
            };
            self.iterations += solved.iterations;
            self.fallbacks += u32::from(solved.fallback);
            velocities(model, v, &mut self.start);
            if searches > SEARCHES_MAX || !self.contacts.extend_search(scene, &self.start, h) {
                return Ok(solved);
            }
        }
    }

    pub(super) fn add_contacts(&mut self, input: &StepInput<'_>) {
        let Self { contacts, problem, start, middle, end, about, proximal, holds, .. } = self;
        problem.clear_contacts();
        contacts.add_points(input.scene, (start, middle), input.settings.stiction_tolerance, problem);
        if self.has_fields {
            contacts.add_surfaces(input.scene, input.settings, (start, end), about, problem);
            if *holds {
                let n = problem.size();
                for (i, linear) in problem.linear.iter_mut().enumerate() {
                    *linear = self.linear[i] + dot(&proximal[i * n..(i + 1) * n], about);
                }
            }
        }
        contacts.add_closures(input.scene, start, middle, problem);
    }

    /// Without inertia, checks that contacts connect every loaded tree to the world or to a tree that is
    /// held.
    fn check_support(&mut self, input: &StepInput<'_>) -> Result<(), StepError> {
        if self.options.inertia != UnactuatedInertia::None {
            return Ok(());
        }
        let model = input.scene.model();
        self.support.find(model, &self.problem);
        match self.support.unsupported(model, &self.problem) {
            None => Ok(()),
            Some(tree) => {
                let name = name_of_tree(model, tree);
                Err(StepError::NoSupport { time: input.time, name })
            }
        }
    }
}
