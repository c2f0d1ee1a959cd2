//! Derivatives of a whole step: A = dq+/dq and B = dq+/dq_cmd, by implicit differentiation of its program.
//!
//! The program's data (Q, b, gaps, Jacobians, limits) are functions of the configuration and the commands.
//! Their derivatives are central differences of the assembly and of the geometry queries, at fixed solution v
//! and impulses gamma. If contact points change on one side, the difference is that of the other side. It
//! includes the curvature of surfaces, turning normals and lever arms. The change of the solution is then
//! exact, from one factorization: no step is solved again for a column. If the Jacobians are those of the
//! middle of the step, the middle depends on earlier solutions, and each of these is differentiated in turn.

use super::failure::names_of_pair;
use super::impedances::{Impedances, InertiaLaw};
use super::step::{MIDPOINTS_MAX, QuasistaticStep};
use crate::math::{Index, Matrix3, ScalarJointIndex, Vector3};
use crate::multibody::{Data, JointKind, Model, State, bias, integrate, mass_matrix, positions};
use crate::scene::{ContactKind, Scene};
use crate::solvers::quasistatic::{ProblemDirection, ProblemPart, QuasistaticError, QuasistaticProblem};
use crate::stepping::command::{JointCommand, JointTarget};
use crate::stepping::contacts::{QuasistaticContacts, frame_about, smallest_axis};
use crate::stepping::error::{StepError, joint_of_dof};
use crate::stepping::external::ExternalWrenches;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::result::StepResult;
use crate::stepping::settings::QuasistaticStepping;
use crate::stepping::simulation::Simulation;

/// The change of configuration and commands for differentiating the data \[rad\] or \[m\]. The truncation
/// error grows with its square (1e-10 times a third derivative), the rounding error with its inverse (1e-11
/// of a metre).
const INCREMENT: f64 = 1e-5;
/// A contact point that moves a hundred times farther than the increment is a different point \[m\].
const SAME_POINT: f64 = 100.0 * INCREMENT;
/// Smallest cosine between the normals of a point before and after [-]: 8 degrees. The angle between two
/// faces of a shape is larger.
const SAME_NORMAL: f64 = 0.99;
/// Below this angle \[rad\] the error of the quadratic series of the tangent map of a rotation is under
/// 1e-13.
const SMALL_ANGLE: f64 = 1e-4;

/// The reason why a step has no derivatives.
#[derive(Debug, thiserror::Error)]
pub enum DerivativeError {
    /// The simulation takes dynamic or complementarity steps.
    #[error("only quasistatic steps have derivatives: set stepping to quasistatic")]
    NotQuasistatic,
    /// A pair touches with a pressure field in this step.
    #[error(
        "'{A}' and '{B}' touch with a pressure field, and only rigid contact has derivatives: choose another configuration, or make both geometries rigid"
    )]
    PressureField {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
    },
    /// Contact points appear, disappear or jump on both sides of the configuration.
    #[error(
        "the contact points of '{A}' and '{B}' change within {INCREMENT} on both sides of this configuration, along {along}. Column {column} of the derivatives does not exist: choose another configuration"
    )]
    Features {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// The index of the generalized velocity, or the number of these plus the index of the joint whose
        /// command varies.
        column: usize,
        /// The name of the joint, and whether its motion or its command varies.
        along: String,
    },
    /// The step is taken in parts.
    #[error(
        "the step is taken in {parts} parts, and only a step that is taken at once has exact derivatives: send smaller changes of command, or take shorter steps"
    )]
    InParts {
        /// The number of parts.
        parts: u32,
    },
    /// The contact forces do not determine a derivative.
    #[error("{what}: {reason}, and the step has no derivatives: choose another configuration")]
    Undetermined {
        /// The pair of geometries, or the joint.
        what: String,
        /// The reason.
        reason: &'static str,
    },
    /// The command is malformed, or the step itself cannot be taken.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The step is taken, but its solution has no derivatives; or the smoothed step has no solution.
    #[error("the step has no derivatives")]
    Solver(#[from] QuasistaticError),
}

/// Data of a problem at fixed v and gamma.
#[derive(Clone, Debug, Default)]
struct Sample {
    /// b - Q v + sum J^T gamma [N s].
    linear: Vec<f64>,
    /// phi/h n + J v per contact [m/s].
    contacts: Vec<Vector3>,
    /// The active limits, and those that may become active [m/s] or [rad/s].
    bounds: Vec<f64>,
    targets: Vec<f64>,
}

/// The point at which data are sampled.
#[derive(Debug)]
struct Place {
    state: State,
    command: JointCommand,
    start: Data,
    middle: Data,
    impedances: Impedances,
    contacts: QuasistaticContacts,
    problem: QuasistaticProblem,
    external: ExternalWrenches,
    direction: Vec<f64>,
}

/// Derivatives of quasistatic steps, and their memory.
///
/// Tangent coordinates: a small change of a configuration has one number for each generalized velocity, dq =
/// v dt. A joint has its own; a free body has six, a rotation vector \[rad\] and a displacement of its origin
/// \[m\], in the axes of its velocities. `A` maps changes of q to changes of q+, and `B` maps changes of
/// commands to changes of q+, all in these coordinates.
///
/// ```no_run
/// use isobar::stepping::{DerivativeError, JointCommand, QuasistaticDerivatives, Simulation};
/// # fn run(simulation: &Simulation, command: &JointCommand) -> Result<(), DerivativeError> {
/// let mut derivatives = QuasistaticDerivatives::new(simulation)?;
/// derivatives.differentiate(simulation, command)?;
/// let first_joint_by_its_command = derivatives.B(0, 0);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct QuasistaticDerivatives {
    step: QuasistaticStep,
    place: Place,
    here: Sample,
    plus: Sample,
    minus: Sample,
    direction: ProblemDirection,
    /// Velocities of the step, and those from which the middle of the step was found.
    v: Vec<f64>,
    v_middle: Vec<f64>,
    /// dv by column: for the step, and for the velocities of the middle.
    dv: Vec<f64>,
    dv_middle: Vec<f64>,
    /// dq+ by column.
    ends: Vec<f64>,
    q_next: Vec<f64>,
    joints: usize,
}

impl QuasistaticDerivatives {
    /// Memory for the steps of `simulation`.
    ///
    /// # Errors
    /// A simulation that does not take quasistatic steps.
    pub fn new(simulation: &Simulation) -> Result<Self, DerivativeError> {
        let (scene, state) = (simulation.scene(), simulation.state());
        let model = scene.model();
        let Some(step) = simulation.quasistatic_step() else { return Err(DerivativeError::NotQuasistatic) };
        let (n, joints) = (model.nv(), scene.joints().len());
        Ok(Self {
            step: QuasistaticStep::new(*step.options(), scene, state),
            place: Place {
                state: state.clone(),
                command: JointCommand::default(),
                start: Data::new(model),
                middle: Data::new(model),
                impedances: Impedances::default(),
                contacts: QuasistaticContacts::default(),
                problem: QuasistaticProblem::default(),
                external: simulation.external().clone(),
                direction: vec![0.0; n],
            },
            here: Sample::default(),
            plus: Sample::default(),
            minus: Sample::default(),
            direction: ProblemDirection::default(),
            v: vec![0.0; n],
            v_middle: vec![0.0; n],
            dv: vec![0.0; n * (n + joints)],
            dv_middle: vec![0.0; n * (n + joints)],
            ends: vec![0.0; n * (n + joints)],
            q_next: state.q.clone(),
            joints,
        })
    }

    /// Derivatives of the step that [`Simulation::step`] would take now. The simulation does not change.
    ///
    /// At a border between open, sticking and sliding contact the derivatives do not exist; the result is
    /// then one-sided.
    ///
    /// # Errors
    /// A step that cannot be taken at once; a pressure field that touches; contact points that change on both
    /// sides of the configuration; contact forces that determine no derivative.
    pub fn differentiate(&mut self, simulation: &Simulation, command: &JointCommand) -> Result<(), DerivativeError> {
        self.compute(simulation, command, None)
    }

    /// Solves the step smoothed by a logarithmic barrier of weight `kappa` \[J\], and computes its
    /// derivatives. The simulation does not change.
    ///
    /// # Errors
    /// The errors of [`QuasistaticDerivatives::differentiate`]; no solution of the smoothed step.
    pub fn differentiate_smoothed(
        &mut self,
        simulation: &Simulation,
        command: &JointCommand,
        kappa: f64,
    ) -> Result<(), DerivativeError> {
        self.compute(simulation, command, Some(kappa))
    }

    /// dq+_row / dq_column in tangent coordinates, in the quotient of their units.
    pub fn A(&self, row: usize, column: usize) -> f64 {
        self.ends[column * self.v.len() + row]
    }
    /// dq+_row / dq_cmd of the joint, in the order of `Scene::joint_names`. Zero for joints without
    /// stiffness.
    pub fn B(&self, row: usize, joint: usize) -> f64 {
        self.A(row, self.v.len() + joint)
    }
    /// The number of generalized velocities: rows of A and B, and columns of A.
    pub fn size(&self) -> usize {
        self.v.len()
    }
    /// The number of columns of B.
    pub fn commands(&self) -> usize {
        self.joints
    }
    /// Velocities of the step, smoothed or exact [rad/s, m/s].
    pub fn v(&self) -> &[f64] {
        &self.v
    }
    /// The configuration where the step ends.
    pub fn q_next(&self) -> &[f64] {
        &self.q_next
    }

    fn compute(
        &mut self,
        simulation: &Simulation,
        command: &JointCommand,
        kappa: Option<f64>,
    ) -> Result<(), DerivativeError> {
        self.place.external.clone_from(simulation.external());
        let mut external = simulation.external().clone();
        external.project(simulation.scene().model(), simulation.data());
        let input = simulation.step_input(command, external.generalized())?;
        let Some(step) = simulation.quasistatic_step() else { return Err(DerivativeError::NotQuasistatic) };
        let options = step.options();
        let (scene, state) = (input.scene, input.start.state);
        self.refuse_touching_fields(&input, step, kappa.is_none())?;
        self.step.leave_out_fields();
        self.step.impedances.clone_from(&step.impedances);
        self.step.solver.clone_from(&step.solver);
        self.v.copy_from_slice(&state.v);
        self.step.assemble(&input, options, &self.v);
        let mut middles = 0;
        loop {
            let solved = self.step.solve(&input, options, &mut self.v);
            if kappa.is_none() {
                let settled = solved.as_ref().is_ok_and(|solved| self.step.has_settled(solved, options));
                if !settled {
                    return Err(self.whole_step(&input, step));
                }
            } else {
                solved?;
            }
            let QuasistaticStep { solver, problem, .. } = &mut self.step;
            match kappa {
                None => {
                    let linearized = solver.linearize(problem, &mut self.v, &options.solver);
                    linearized.map_err(|error| self.undetermined(scene, error))?;
                }
                Some(kappa) => {
                    solver.solve_smoothed(problem, &mut self.v, kappa, &options.solver)?;
                }
            }
            self.differentiate_solution(&input, options, middles > 0)?;
            if middles == MIDPOINTS_MAX || !self.step.move_middle(&input, &self.v) {
                break;
            }
            middles += 1;
            self.v_middle.copy_from_slice(&self.v);
            self.dv_middle.copy_from_slice(&self.dv);
        }
        let (model, h, n) = (scene.model(), input.settings.step(), self.v.len());
        for column in 0..n + self.joints {
            let range = column * n..(column + 1) * n;
            let moved = (column < n).then_some(column);
            move_end(model, h, &self.v, moved, &self.dv[range.clone()], &mut self.ends[range]);
        }
        self.q_next.copy_from_slice(&state.q);
        integrate(model, &mut self.q_next, &self.v, h);
        Ok(())
    }

    /// The reason why a step that does not settle at once has no derivatives: it is taken in parts, or not at
    /// all.
    fn whole_step(&self, input: &StepInput<'_>, step: &QuasistaticStep) -> DerivativeError {
        let mut whole = QuasistaticStep::new(*step.options(), input.scene, input.start.state);
        whole.impedances.clone_from(&step.impedances);
        whole.solver.clone_from(&step.solver);
        let mut result = StepResult::new(input.start.state, input.scene.joints().len());
        match whole.step(input, &mut result) {
            Ok(()) => DerivativeError::InParts { parts: result.report.parts },
            Err(error) => error.into(),
        }
    }

    /// An error of the solver, with the name of the part that it is about.
    fn undetermined(&self, scene: &Scene, error: QuasistaticError) -> DerivativeError {
        let QuasistaticError::NoDerivatives { part, reason } = error else { return error.into() };
        let what = match (part, self.step.pair_of(part)) {
            (_, Some(pair)) => {
                let (A, B) = names_of_pair(scene, pair);
                format!("'{A}' and '{B}'")
            }
            (ProblemPart::Velocity(dof), None) => format!("joint '{}'", joint_of_dof(scene.model(), dof)),
            (_, None) => "a contact".to_owned(),
        };
        DerivativeError::Undetermined { what, reason }
    }

    /// Takes the whole step with its pressure fields. Refuses it if one of them touches, or if the
    /// derivatives are to be `exact` and the step is taken in parts.
    fn refuse_touching_fields(
        &self,
        input: &StepInput<'_>,
        step: &QuasistaticStep,
        exact: bool,
    ) -> Result<(), DerivativeError> {
        let scene = input.scene;
        if scene.contact_pairs().iter().all(|pair| pair.kind == ContactKind::Points) {
            return Ok(());
        }
        let mut whole = QuasistaticStep::new(*step.options(), scene, input.start.state);
        whole.impedances.clone_from(&step.impedances);
        whole.solver.clone_from(&step.solver);
        let mut result = StepResult::new(input.start.state, scene.joints().len());
        whole.step(input, &mut result)?;
        if exact && result.report.parts > 1 {
            return Err(DerivativeError::InParts { parts: result.report.parts });
        }
        let touches = |pair: &usize| scene.contact_pairs()[*pair].kind == ContactKind::PressureField;
        match whole.contacts.active().iter().map(|active| active.pair).find(touches) {
            None => Ok(()),
            Some(pair) => {
                let (A, B) = names_of_pair(scene, pair);
                Err(DerivativeError::PressureField { A, B })
            }
        }
    }

    /// Computes dv for all columns at the solution about which the solver was linearized. `has_middle` states
    /// whether the Jacobians are those of the middle of the step.
    fn differentiate_solution(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        has_middle: bool,
    ) -> Result<(), DerivativeError> {
        let Self { step, place, here, plus, minus, direction, v, v_middle, dv, dv_middle, .. } = self;
        let n = v.len();
        place.prepare(input.start.command, &step.impedances);
        for column in 0..n + self.joints {
            let mut sample = |increment: f64, sample: &mut Sample| {
                let middle = has_middle.then(|| (v_middle.as_slice(), &dv_middle[column * n..(column + 1) * n]));
                place.go(input, options, &step.impedances, column, increment, middle);
                place.find_contacts(input.scene, &step.contacts);
                place.sample(step, v, sample)
            };
            let after = sample(INCREMENT, plus);
            let before = sample(-INCREMENT, minus);
            let (a, b, width) = match (after, before) {
                (Ok(()), Ok(())) => (&*plus, &*minus, 2.0 * INCREMENT),
                (Ok(()), Err(_)) => {
                    sample(0.0, here).map_err(|pair| features_change(input.scene, pair, column))?;
                    (&*plus, &*here, INCREMENT)
                }
                (Err(_), Ok(())) => {
                    sample(0.0, here).map_err(|pair| features_change(input.scene, pair, column))?;
                    (&*here, &*minus, INCREMENT)
                }
                (Err(pair), Err(_)) => return Err(features_change(input.scene, pair, column)),
            };
            difference(a, b, width, direction);
            let QuasistaticStep { solver, problem, .. } = step;
            solver.differentiate(problem, direction, &mut dv[column * n..(column + 1) * n])?;
        }
        Ok(())
    }
}

impl Place {
    /// Copies the command, with the held position for each joint without a position command.
    fn prepare(&mut self, command: &JointCommand, impedances: &Impedances) {
        let targets = impedances.targets().iter().enumerate().map(|(joint, held)| {
            let target = command.targets.as_slice().get(joint).copied().unwrap_or_default();
            JointTarget { position: Some(target.position.unwrap_or(*held)), ..target }
        });
        self.command.targets.clear();
        self.command.targets.extend(targets);
    }

    /// Moves by `increment` along a column, and assembles everything but contacts. `middle` holds the
    /// velocities with which the middle was found, and their change along the column.
    fn go(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        impedances: &Impedances,
        column: usize,
        increment: f64,
        middle: Option<(&[f64], &[f64])>,
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
        let commanded =
            column.checked_sub(n).and_then(|joint| self.command.targets.get_mut(ScalarJointIndex::from_usize(joint)));
        let standing = commanded.as_ref().and_then(|target| target.position);
        if let (Some(target), Some(position)) = (commanded, standing) {
            target.position = Some(position + increment);
        }
        self.external.project(model, &self.start);
        let external = self.external.generalized();
        let start = StepStart {
            initial: input.start.initial,
            state: &self.state,
            command: &self.command,
            external,
            ..input.start
        };
        let stiction = input.settings.stiction_tolerance;
        let inertia = InertiaLaw { kind: options.inertia, parts: 1 };
        self.impedances.assemble(scene, inertia, stiction, &start, &self.start, &mut self.problem);
        if let Some(target) =
            column.checked_sub(n).and_then(|joint| self.command.targets.get_mut(ScalarJointIndex::from_usize(joint)))
        {
            target.position = standing;
        }
        if let Some((v, dv)) = middle {
            for ((moved, v), dv) in self.direction.iter_mut().zip(v).zip(dv) {
                *moved = v + increment * dv;
            }
            integrate(model, &mut self.state.q, &self.direction, 0.5 * h);
        }
        positions(model, &self.state.q, &mut self.middle);
    }

    fn find_contacts(&mut self, scene: &Scene, like: &QuasistaticContacts) {
        self.contacts.find_as(like, scene, &self.start);
        self.contacts.add_points(scene, &self.start, &self.middle, &mut self.problem);
    }

    /// Samples the data of the problem here, at the solution v of `step`. Returns the pair whose contact
    /// points differ as an error.
    fn sample(&self, step: &QuasistaticStep, v: &[f64], sample: &mut Sample) -> Result<(), usize> {
        let (problem, gammas) = (&self.problem, step.solver.contact_impulses());
        let n = problem.size();
        sample.linear.clear();
        sample.linear.extend(
            problem
                .linear
                .iter()
                .zip(problem.quadratic.chunks_exact(n))
                .map(|(b, Q)| b - crate::math::dense::dot(Q, v)),
        );
        sample.contacts.clear();
        for (index, (contact, gamma)) in step.problem.contacts().iter().zip(gammas).enumerate() {
            let (pair, point) = (contact.key.pair as usize, contact.key.point as usize);
            let (here, there) = (step.contacts.points(pair), self.contacts.points(pair));
            let other = nearest(&here.p_WC[point], &here.normal[point], &there.p_WC, &there.normal);
            let moved = other.filter(|_| here.len() == there.len()).and_then(|other| {
                let contact = problem.contacts().get(index - point + other)?;
                (contact.key.pair as usize == pair).then_some((contact, other))
            });
            let Some((contact, other)) = moved else { return Err(pair) };
            // Axes that turn with the normal, without any further rotation.
            let n_there = &there.normal[other];
            let axis = smallest_axis(&here.normal[point]);
            let turn = frame_about(n_there, axis) * frame_about(n_there, smallest_axis(n_there)).transpose();
            sample.contacts.push(turn * problem.contact_velocity(contact, v));
            let gamma = turn.transpose() * gamma;
            for (dof, column) in problem.columns(contact) {
                sample.linear[*dof as usize] += column.dot(&gamma);
            }
        }
        sample.bounds.clear();
        sample.bounds.extend(problem.bounds.iter().zip(step.solver.bound_impulses()).map(|(bound, impulse)| {
            let upper = *impulse < 0.0 || !bound.lower.is_finite();
            if upper { bound.upper } else { bound.lower }
        }));
        sample.targets.clear();
        sample.targets.extend(problem.rows.iter().map(|row| row.target));
        Ok(())
    }
}

/// The nearest point to p with nearly the normal n.
fn nearest(p: &Vector3, n: &Vector3, points: &[Vector3], normals: &[Vector3]) -> Option<usize> {
    let distance = |index: usize| (points[index] - p).norm();
    let same =
        (0..points.len()).filter(|index| distance(*index) <= SAME_POINT && normals[*index].dot(n) >= SAME_NORMAL);
    same.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
}

fn difference(a: &Sample, b: &Sample, width: f64, direction: &mut ProblemDirection) {
    let numbers = |to: &mut Vec<f64>, a: &[f64], b: &[f64]| {
        to.clear();
        to.extend(a.iter().zip(b).map(|(a, b)| (a - b) / width));
    };
    numbers(&mut direction.linear, &a.linear, &b.linear);
    numbers(&mut direction.bounds, &a.bounds, &b.bounds);
    numbers(&mut direction.targets, &a.targets, &b.targets);
    direction.contacts.clear();
    direction.contacts.extend(a.contacts.iter().zip(&b.contacts).map(|(a, b)| (a - b) / width));
}

/// Computes the change of the end q+ = q (+) h v if v changes by `dv`, and q by one unit along `moved`. For a
/// free body
///   dr+ = exp(h w) dr + D(h w) h dw,   D(r) = 1 + (1 - cos |r|)/|r|^2 [r] + (|r| - sin |r|)/|r|^3 [r]^2.
fn move_end(model: &Model, h: f64, v: &[f64], moved: Option<usize>, dv: &[f64], end: &mut [f64]) {
    for (dof, (end, dv)) in end.iter_mut().zip(dv).enumerate() {
        *end = h * dv + if moved == Some(dof) { 1.0 } else { 0.0 };
    }
    for joint in model.joints().iter().filter(|joint| joint.kind == JointKind::Floating) {
        let i = joint.v_start;
        let r = Vector3::new(v[i], v[i + 1], v[i + 2]) * h;
        let angle = r.norm();
        let (first, second) = if angle < SMALL_ANGLE {
            (0.5, 1.0 / 6.0)
        } else {
            ((1.0 - angle.cos()) / (angle * angle), (angle - angle.sin()) / (angle * angle * angle))
        };
        let cross = r.cross_matrix();
        let D = Matrix3::identity() + cross * first + cross * cross * second;
        let mut turned = D * Vector3::new(dv[i], dv[i + 1], dv[i + 2]) * h;
        if let Some(axis) = moved.and_then(|dof| dof.checked_sub(i)).filter(|axis| *axis < 3) {
            turned += (Matrix3::identity() + cross * D).column(axis); // exp(r) = 1 + [r] D(r)
        }
        end[i..i + 3].copy_from_slice(turned.as_slice());
    }
}

fn features_change(scene: &Scene, pair: usize, column: usize) -> DerivativeError {
    let (A, B) = names_of_pair(scene, pair);
    let model = scene.model();
    let along = match column.checked_sub(model.nv()) {
        None => format!("the motion of joint '{}'", joint_of_dof(model, column)),
        Some(joint) => format!("the command of joint '{}'", scene.joint_names()[joint]),
    };
    DerivativeError::Features { A, B, column, along }
}
