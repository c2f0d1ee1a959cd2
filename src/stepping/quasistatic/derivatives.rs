//! Derivatives of a whole step: A = dq+/dq, B = dq+/dq_cmd and those of the contact wrenches, by implicit
//! differentiation of its program.
//!
//! The program's data (Q, b, gaps, Jacobians, limits) are functions of the configuration and the commands.
//! Their derivatives are central differences of the assembly and of the geometry queries, at fixed solution v
//! and impulses gamma. If contact points change on one side, the difference is that of the other side. It
//! includes the curvature of surfaces, turning normals and lever arms. The change of the solution is then
//! exact, from one factorization. Columns along which the state of a contact changes on both sides are
//! differences of steps (differences.rs), and no other step is solved again for a column. If the Jacobians
//! are those of the middle of the step, the middle depends on earlier solutions, and each of these is
//! differentiated in turn.

use super::derivative_error::DerivativeError;
use super::differences::{REACH, Slope, StepDifferences};
use super::handle::Handle;
use super::impedances::Impedances;
use super::sample_point::{Sample, SamplePoint, difference};
use super::step::{MIDPOINTS_MAX, QuasistaticStep};
use super::weight_model::Loads;
use super::weight_slopes::WeightSlopes;
use super::weights::ROUNDS_MAX;
use super::wrenches::{WrenchDerivatives, pair_impulses};
use crate::math::{Matrix3, SpatialForce, Vector3};
use crate::multibody::{Data, JointKind, Model, integrate};
use crate::scene::{ContactKind, Scene};
use crate::solvers::quasistatic::{ProblemDirection, QuasistaticError, QuasistaticProblem};
use crate::stepping::command::JointCommand;
use crate::stepping::contacts::QuasistaticContacts;
use crate::stepping::error::joint_of_dof;
use crate::stepping::input::StepInput;
use crate::stepping::result::StepResult;
use crate::stepping::settings::QuasistaticStepping;
use crate::stepping::simulation::Simulation;

/// The change of configuration and commands for differentiating the data \[rad\] or \[m\]. The truncation
/// error grows with its square (1e-10 times a third derivative), the rounding error with its inverse (1e-11
/// of a metre).
const INCREMENT: f64 = REACH;
/// Below this angle \[rad\] the error of the quadratic series of the tangent map of a rotation is under
/// 1e-13.
const SMALL_ANGLE: f64 = 1e-4;
/// The largest number of rounds in which the derivatives of weights settle, and the change that may remain
/// [-].
const SLOPE_ROUNDS_MAX: u32 = 60;
const SETTLED_SLOPE: f64 = 1e-12;

/// Derivatives of quasistatic steps, and their memory.
///
/// Tangent coordinates: a small change of a configuration has one number for each generalized velocity, dq =
/// v dt. A joint has its own; a free body has six, a rotation vector \[rad\] and a displacement of its origin
/// \[m\], in the axes of its velocities. `A` maps changes of q to changes of q+, and `B`, `B_effort` and
/// `B_velocity` map changes of commands to changes of q+, all in these coordinates. The contact wrenches of
/// pairs of geometries have the same columns.
///
/// ```no_run
/// use isobar::stepping::{DerivativeError, JointCommand, QuasistaticDerivatives, Simulation};
/// # fn run(simulation: &Simulation, command: &JointCommand) -> Result<(), DerivativeError> {
/// let mut derivatives = QuasistaticDerivatives::new(simulation)?;
/// derivatives.differentiate(simulation, command)?;
/// let first_joint_by_its_command = derivatives.B(0, 0);
/// let first_joint_by_its_effort = derivatives.B_effort(0, 0);
/// for (number, pair) in derivatives.pairs().iter().enumerate() {
///     let force_by_command = derivatives.wrench_by_position(number, 0).f;
///     println!("pair {pair}: {:?} N, {force_by_command:?} N/rad", derivatives.wrenches()[number].f);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct QuasistaticDerivatives {
    step: QuasistaticStep,
    sample_point: SamplePoint,
    here: Sample,
    plus: Sample,
    minus: Sample,
    direction: ProblemDirection,
    /// The changes of the program by those of the weights at the end, and the direction without them.
    weight_slopes: WeightSlopes,
    fixed_weights: ProblemDirection,
    before_weights: Vec<f64>,
    /// Velocities of the step, and those from which the middle of the step was found.
    v: Vec<f64>,
    v_middle: Vec<f64>,
    /// dv by column: for the step, and for the velocities of the middle.
    dv: Vec<f64>,
    dv_middle: Vec<f64>,
    /// dq+ by column.
    ends: Vec<f64>,
    q_next: Vec<f64>,
    /// The command of each joint that its column varies.
    handles: Vec<Handle>,
    wrenches: WrenchDerivatives,
    joints: usize,
    /// The kind of derivative, by column; for a column that needs differences of steps, [`Slope::None`] until
    /// it has them.
    slopes: Vec<Slope>,
    /// The number of columns that are differences of steps.
    by_steps: usize,
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
            sample_point: SamplePoint {
                state: state.clone(),
                command: JointCommand::default(),
                start: Data::new(model),
                middle: Data::new(model),
                impedances: Impedances::default(),
                contacts: QuasistaticContacts::default(),
                problem: QuasistaticProblem::default(),
                external: simulation.external().clone(),
                direction: vec![0.0; n],
                loads: Loads::default(),
                loads_at_start: Loads::default(),
                columns: Vec::new(),
                q_end: Vec::new(),
                end: Data::new(model),
            },
            weight_slopes: WeightSlopes::default(),
            fixed_weights: ProblemDirection::default(),
            before_weights: vec![0.0; n],
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
            handles: Vec::new(),
            wrenches: WrenchDerivatives::default(),
            joints,
            slopes: vec![Slope::Smooth; n + joints],
            by_steps: 0,
        })
    }

    /// Derivatives of the step that [`Simulation::step`] would take now. The simulation does not change.
    ///
    /// At a border between open, sticking and sliding contact the derivatives do not exist; the result is
    /// then one-sided.
    ///
    /// # Errors
    /// A simulation that does not take quasistatic steps; a step that cannot be taken; a column along which
    /// steps jump on both sides of this one, if the step has no derivatives of its own.
    pub fn differentiate(&mut self, simulation: &Simulation, command: &JointCommand) -> Result<(), DerivativeError> {
        self.compute(simulation, command, None)
    }

    /// Solves the step smoothed by a logarithmic barrier of weight `kappa` \[J\], and computes its
    /// derivatives. The simulation does not change.
    ///
    /// # Errors
    /// A simulation that does not take quasistatic steps; a step that cannot be taken; a smoothed step
    /// without a solution or without derivatives; with pressure fields that touch or loop closures, a column
    /// along which smoothed steps jump on both sides of this one.
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
    /// dq+_row / dq_cmd of the joint, in the order of `Scene::joint_names`, in the quotient of their units.
    /// Zero for joints without stiffness.
    pub fn B(&self, row: usize, joint: usize) -> f64 {
        self.by_command(row, joint) * self.handles[joint].per_position()
    }
    /// dq+_row by the commanded effort of the joint, in the quotient of their units.
    pub fn B_effort(&self, row: usize, joint: usize) -> f64 {
        self.by_command(row, joint) * self.handles[joint].per_effort()
    }
    /// dq+_row by the commanded velocity of the joint, in the quotient of their units. Zero for joints with
    /// stiffness or without damping.
    pub fn B_velocity(&self, row: usize, joint: usize) -> f64 {
        self.by_command(row, joint) * self.handles[joint].per_velocity()
    }
    fn by_command(&self, row: usize, joint: usize) -> f64 {
        self.A(row, self.v.len() + joint)
    }
    /// The pairs that are in contact or within detection, as indices in `Scene::contact_pairs`: the order of
    /// the wrenches.
    pub fn pairs(&self) -> &[usize] {
        &self.wrenches.pairs
    }
    /// The contact wrench of each pair on the body of geometry B about its origin, in world axes [N m, N],
    /// with the lever arms of [`Snapshot::F_BBo_W`](crate::stepping::Snapshot::F_BBo_W).
    pub fn wrenches(&self) -> &[SpatialForce] {
        &self.wrenches.wrenches
    }
    /// The derivative of the wrench of a pair, by its number in [`QuasistaticDerivatives::pairs`], by the
    /// configuration along a column of A.
    pub fn wrench_by_motion(&self, pair: usize, column: usize) -> SpatialForce {
        self.wrenches.changes[column * self.wrenches.pairs.len() + pair]
    }
    /// The derivative of the wrench of a pair by the commanded position of a joint.
    pub fn wrench_by_position(&self, pair: usize, joint: usize) -> SpatialForce {
        self.wrench_by_motion(pair, self.v.len() + joint) * self.handles[joint].per_position()
    }
    /// The derivative of the wrench of a pair by the commanded effort of a joint.
    pub fn wrench_by_effort(&self, pair: usize, joint: usize) -> SpatialForce {
        self.wrench_by_motion(pair, self.v.len() + joint) * self.handles[joint].per_effort()
    }
    /// The derivative of the wrench of a pair by the commanded velocity of a joint.
    pub fn wrench_by_velocity(&self, pair: usize, joint: usize) -> SpatialForce {
        self.wrench_by_motion(pair, self.v.len() + joint) * self.handles[joint].per_velocity()
    }
    /// The number of generalized velocities: rows of A and B, and columns of A.
    pub fn size(&self) -> usize {
        self.v.len()
    }
    /// The number of columns of B.
    pub fn commands(&self) -> usize {
        self.joints
    }
    /// Whether the step has a kink along this column of A, or along the commands of a joint if the number of
    /// generalized velocities is added to its index: the derivative is then that of one side, or, if steps
    /// jump within 1e-5 on both sides, that of smaller changes.
    pub fn is_one_sided(&self, column: usize) -> bool {
        self.slopes[column] != Slope::Smooth
    }
    /// The number of columns that are differences of steps, because the step has no derivatives of its own.
    pub fn columns_by_steps(&self) -> usize {
        self.by_steps
    }
    /// Velocities of the step, smoothed or exact [rad/s, m/s].
    pub fn v(&self) -> &[f64] {
        &self.v
    }
    /// The coordinates q where the step ends \[rad\], \[m\], or unit quaternions [-].
    pub fn q_next(&self) -> &[f64] {
        &self.q_next
    }

    fn compute(
        &mut self,
        simulation: &Simulation,
        command: &JointCommand,
        kappa: Option<f64>,
    ) -> Result<(), DerivativeError> {
        self.sample_point.external.clone_from(simulation.external());
        let mut external = simulation.external().clone();
        external.project(simulation.scene().model(), simulation.data());
        let input = simulation.step_input(command, external.generalized())?;
        let Some(step) = simulation.quasistatic_step() else { return Err(DerivativeError::NotQuasistatic) };
        let scene = input.scene;
        let h = input.settings.step();
        self.handles.clear();
        self.handles.extend(scene.actuators().iter().map(|actuator| Handle::of(actuator, h)));
        self.slopes.fill(Slope::Smooth);
        self.by_steps = 0;
        // Pressure fields and closures take rounds of solutions, each corrected by the one before.
        let has_rounds = !scene.closures().is_empty() || self.touches_field(&input, step, kappa)?;
        let has_program = !has_rounds
            && match self.differentiate_program(&input, step, kappa) {
                Ok(settled) => settled,
                // The step is solved, but its impulses are not known well enough, or determine no derivative.
                Err(DerivativeError::Solver(
                    QuasistaticError::NoDerivatives { .. } | QuasistaticError::NotConverged { .. },
                )) if kappa.is_none() => false,
                Err(error) => return Err(error),
            };
        if !has_program {
            self.slopes.fill(Slope::None);
        }
        self.differentiate_steps(&input, step, has_program, kappa)
    }

    /// Replaces the columns that the program does not give by differences of steps. Without `has_program`
    /// they also give the end of the step.
    fn differentiate_steps(
        &mut self,
        input: &StepInput<'_>,
        step: &QuasistaticStep,
        has_program: bool,
        kappa: Option<f64>,
    ) -> Result<(), DerivativeError> {
        if has_program && !self.slopes.contains(&Slope::None) {
            return Ok(());
        }
        let pairs = has_program.then_some(self.wrenches.pairs.as_slice());
        let loads = || (self.sample_point.external.clone(), self.handles.as_slice());
        let mut steps = StepDifferences::new(input, loads(), step, (kappa, true));
        if steps.start(input, pairs).is_err() {
            // Some steps settle at the usual tolerances only.
            steps = StepDifferences::new(input, loads(), step, (kappa, false));
            steps.start(input, pairs)?;
        }
        let n = self.v.len();
        if !has_program {
            self.v.copy_from_slice(&steps.end().v);
            self.q_next.copy_from_slice(&steps.end().q);
            let (pairs, wrenches) = steps.wrenches();
            self.wrenches.start(pairs.iter().copied(), n + self.joints);
            self.wrenches.wrenches.clear();
            self.wrenches.wrenches.extend_from_slice(wrenches);
        }
        let mut slope = vec![0.0; steps.size()];
        for (column, kind) in self.slopes.iter_mut().enumerate().filter(|(_, kind)| **kind == Slope::None) {
            let mut found = steps.slope(input, column, &mut slope);
            if found == Slope::None && !has_program {
                found = steps.slope_nearby(input, column, &mut slope);
            }
            if found != Slope::None {
                self.ends[column * n..(column + 1) * n].copy_from_slice(&slope[..n]);
                self.wrenches.set_column(column, &slope[n..]);
                self.by_steps += 1;
            } else if !has_program {
                let along = along(input.scene, column);
                return Err(DerivativeError::Jump { reach: REACH, column, along });
            }
            // Where steps jump on both sides, the program's derivative holds for smaller changes.
            *kind = if found == Slope::None { Slope::OneSided } else { found };
        }
        Ok(())
    }

    /// Differentiates the program of the step. Returns whether the step, if it is the exact one, settles at
    /// once; otherwise it has no program of its own.
    fn differentiate_program(
        &mut self,
        input: &StepInput<'_>,
        step: &QuasistaticStep,
        kappa: Option<f64>,
    ) -> Result<bool, DerivativeError> {
        let options = step.options();
        let state = input.start.state;
        self.step.leave_out_fields();
        self.step.impedances.clone_from(&step.impedances);
        self.step.solver.clone_from(&step.solver);
        self.v.copy_from_slice(&state.v);
        self.step.assemble(input, options, &self.v);
        let mut middles = 0;
        loop {
            if !self.solve_program(input, options, kappa)? {
                return Ok(false);
            }
            if !self.differentiate_solution(input, options, middles > 0, kappa.is_none())? {
                return Ok(false);
            }
            if middles == MIDPOINTS_MAX || !self.step.move_middle(input, &self.v) {
                break;
            }
            middles += 1;
            self.v_middle.copy_from_slice(&self.v);
            self.dv_middle.copy_from_slice(&self.dv);
        }
        if kappa.is_none() && self.step.check_path(input, &self.v).is_err() {
            return Ok(false);
        }
        let (model, h, n) = (input.scene.model(), input.settings.step(), self.v.len());
        for column in 0..n + self.joints {
            let range = column * n..(column + 1) * n;
            let moved = (column < n).then_some(column);
            move_end(model, h, &self.v, moved, &self.dv[range.clone()], &mut self.ends[range]);
        }
        self.q_next.copy_from_slice(&state.q);
        integrate(model, &mut self.q_next, &self.v, h);
        Ok(true)
    }

    /// Solves the program until its loads are those of its end. Returns whether an exact one settles.
    fn solve_program(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        kappa: Option<f64>,
    ) -> Result<bool, DerivativeError> {
        let mut rounds = 0;
        self.weight_slopes.clear();
        loop {
            let solved = self.step.solve(input, options, &mut self.v);
            if kappa.is_none() {
                if !solved.is_ok_and(|solved| self.step.has_settled(&solved, options)) {
                    return Ok(false);
                }
            } else if let Err(error) = solved {
                // Differences of steps take the loads of the start, as the step does.
                return if rounds > 0 { Ok(false) } else { Err(error.into()) };
            }
            let QuasistaticStep { solver, problem, .. } = &mut self.step;
            match kappa {
                None => solver.linearize(problem, &mut self.v, &options.solver)?,
                Some(kappa) => {
                    solver.solve_smoothed(problem, &mut self.v, kappa, &options.solver)?;
                }
            }
            if self.step.weigh(input, options, &mut self.v) {
                break;
            }
            rounds += 1;
            if rounds == ROUNDS_MAX {
                return Ok(false);
            }
        }
        if !self.step.weights.dofs.is_empty() {
            let Self { weight_slopes, step, v, sample_point, .. } = self;
            let SamplePoint { problem, impedances, .. } = sample_point;
            weight_slopes.find((input, options), step, v, (problem, impedances));
        }
        Ok(true)
    }

    /// Takes the whole step, if there are pressure fields, and returns whether a pair touches with one.
    fn touches_field(
        &self,
        input: &StepInput<'_>,
        step: &QuasistaticStep,
        kappa: Option<f64>,
    ) -> Result<bool, DerivativeError> {
        let scene = input.scene;
        if scene.contact_pairs().iter().all(|pair| pair.kind == ContactKind::Points) {
            return Ok(false);
        }
        let mut whole = QuasistaticStep::new(*step.options(), scene, input.start.state);
        whole.impedances.clone_from(&step.impedances);
        whole.solver.clone_from(&step.solver);
        whole.smoothing = kappa;
        let mut result = StepResult::new(input.start.state, scene.joints().len());
        whole.step(input, &mut result)?;
        let touches = |pair: usize| scene.contact_pairs()[pair].kind == ContactKind::PressureField;
        Ok(whole.contacts.active().iter().any(|active| touches(active.pair)))
    }

    /// Computes dv for all columns at the solution about which the solver was linearized. `has_middle` states
    /// whether the Jacobians are those of the middle of the step.
    fn differentiate_solution(
        &mut self,
        input: &StepInput<'_>,
        options: &QuasistaticStepping,
        has_middle: bool,
        exact: bool,
    ) -> Result<bool, DerivativeError> {
        let Self { step, sample_point, here, plus, minus, direction, v, v_middle, dv, dv_middle, slopes, .. } = self;
        let Self { weight_slopes, fixed_weights, before_weights, .. } = self;
        let (handles, wrenches) = (&self.handles, &mut self.wrenches);
        let (n, per_step) = (v.len(), 1.0 / input.settings.step());
        sample_point.prepare(input.start.command, &step.impedances);
        wrenches.start(step.contacts.active().iter().map(|active| active.pair), n + self.joints);
        pair_impulses(&step.contacts, &step.contacts, step.solver.contact_impulses(), &mut wrenches.wrenches);
        wrenches.wrenches.iter_mut().for_each(|wrench| *wrench = *wrench * per_step);
        for column in 0..n + self.joints {
            let mut sample = |increment: f64, sample: &mut Sample| {
                let middle = has_middle.then(|| (v_middle.as_slice(), &dv_middle[column * n..(column + 1) * n]));
                let end = (!weight_slopes.is_empty()).then_some(v.as_slice());
                let at = (column, increment);
                sample_point.move_along(input, options, &step.impedances, at, handles, (middle, end));
                let lost = sample_point.find_contacts(input, step, exact);
                sample_point.sample(input.scene.model(), step, v, sample);
                lost.is_none() && sample_point.impedances.has_limits_of(&step.impedances)
            };
            let (after, before) = (sample(INCREMENT, plus), sample(-INCREMENT, minus));
            let (a, b, width) = if after == before {
                (&*plus, &*minus, 2.0 * INCREMENT)
            } else {
                sample(0.0, here);
                if after { (&*plus, &*here, INCREMENT) } else { (&*here, &*minus, INCREMENT) }
            };
            difference(a, b, width, direction);
            let QuasistaticStep { solver, problem, .. } = step;
            let dv = &mut dv[column * n..(column + 1) * n];
            solver.differentiate(problem, direction, dv)?;
            if !weight_slopes.is_empty() {
                fixed_weights.clone_from(direction);
                let mut rounds = 0;
                loop {
                    before_weights.copy_from_slice(dv);
                    weight_slopes.add(fixed_weights, before_weights, direction);
                    solver.differentiate(problem, direction, dv)?;
                    let changes = dv.iter().zip(&*before_weights).map(|(a, b)| (a - b).abs());
                    let change = changes.fold(0.0, f64::max);
                    if change <= SETTLED_SLOPE * dv.iter().fold(per_step, |most, dv| most.max(dv.abs())) {
                        break;
                    }
                    rounds += 1;
                    if rounds > SLOPE_ROUNDS_MAX {
                        return Ok(false);
                    }
                }
            }
            let [forward, backward] = solver.holds(problem, direction, INCREMENT);
            solver.impulse_changes(problem, &mut wrenches.gammas)?;
            let WrenchDerivatives { gammas, moved, .. } = wrenches;
            pair_impulses(&step.contacts, &step.contacts, gammas, moved);
            let moved = std::mem::take(moved);
            for (index, change) in wrenches.column(column).iter_mut().enumerate() {
                *change = (moved[index] + (a.pairs[index] - b.pairs[index]) * (1.0 / width)) * per_step;
            }
            wrenches.moved = moved;
            slopes[column] = match (after && forward, before && backward) {
                (true, true) => Slope::Smooth,
                (false, false) => Slope::None,
                _ => Slope::OneSided,
            };
        }
        Ok(true)
    }
}

/// The name of a column.
fn along(scene: &Scene, column: usize) -> String {
    let model = scene.model();
    match column.checked_sub(model.nv()) {
        None => format!("the motion of joint '{}'", joint_of_dof(model, column)),
        Some(joint) => format!("the command of joint '{}'", scene.joint_names()[joint]),
    }
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
