//! Derivatives of a dynamic step: of its end q', v' by positions, velocities and commands at its start.
//!
//! v' is the minimum of a convex cost with the gradient g(v'; p) = A v' - r - J^T gamma(v') = 0, whose data
//! depend on a parameter p. The implicit function theorem gives
//!   H dv' = -dg/dp,   H = A + J^T G J,
//! with the factors of H at the solution. dg/dp at fixed v' is a difference of assemblies: of mass matrices,
//! free motion, contact surfaces with their areas and pressures, normals, lever arms and lagged friction.
//! Friction bounds that a step takes from its own solution are differentiated round by round. Commands act as
//! efforts, and their columns are exact.

use super::dynamic::{DynamicStep, singular};
use super::error::StepError;
use super::external::ExternalWrenches;
use super::input::{StepInput, StepStart};
use super::joint_rows::standing_target;
use super::result::StepResult;
use super::settings::{ContactScheme, DENSE_DOFS_MAX};
use super::simulation::Simulation;
use crate::multibody::{Data, FreeMotion, State, displacement, integrate, kinematics};
use crate::scene::{ContactKind, Scene};
use crate::solvers::dynamic::{ContactProblem, NewtonSettings, NewtonSolver};

/// The change of positions for differences \[rad\] or \[m\]: a hundred million times the rounding of a
/// position.
const MOTION: f64 = 1e-8;
/// The same for scenes with rigid points in contact, which are some 1e-9 m deep under their weight \[rad\] or
/// \[m\].
const MOTION_OF_POINTS: f64 = 1e-9;
/// The change of the end of a step in the differences of its coordinates by its velocities \[rad\] or \[m\].
const ALONG: f64 = 1e-4;
/// The change of velocities [rad/s] or [m/s].
const SPEED: f64 = 1e-6;
/// Slopes on the two sides are equal if they differ by less than this fraction of the larger one [-].
const SAME_SLOPE: f64 = 1e-3;
/// A difference of slopes below this fraction of the momentum is rounding [1/m], [1/rad] or [s/m].
const ROUNDING: f64 = 1e-6;
/// The tolerance of the solves, and the largest residual of a solve that rounding stops [-].
const TOLERANCE: f64 = 1e-12;
const SOLVED: f64 = 1e-6;

/// The reason why a dynamic step has no derivatives.
#[derive(Debug, thiserror::Error)]
pub enum DynamicDerivativeError {
    /// The simulation does not take dynamic steps.
    #[error("these are the derivatives of dynamic steps: set stepping to dynamic")]
    NotDynamic,
    /// The simulation controls the error of its steps, so the lengths of their parts change with the state.
    #[error("steps with error control have no derivatives: remove error_control")]
    ErrorControl,
    /// More degrees of freedom than the matrices of the derivatives may have.
    #[error("the scene has {dofs} degrees of freedom; derivatives are of at most {most}: remove models")]
    Size {
        /// Those of the scene.
        dofs: usize,
        /// The largest number.
        most: usize,
    },
    /// The contact scheme does not end with the minimum of a convex cost.
    #[error("steps of the contact scheme {scheme} have no derivatives: use lagged, similar or sap")]
    Scheme {
        /// Its name.
        scheme: &'static str,
    },
    /// Two geometries that touch may bounce.
    #[error("'{A}' and '{B}' touch with restitution, whose impacts have no derivatives: set their restitution to 0")]
    Restitution {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
    },
    /// Two geometries meet within the step, where a first solve has found them.
    #[error("'{A}' and '{B}' meet only in the motion of the step, which has no derivatives: take shorter steps")]
    Reached {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
    },
    /// The forces of two geometries are those of the poses at the end of the step.
    #[error(
        "the step is long compared with the contact of '{A}' and '{B}', and has no derivatives: take shorter steps"
    )]
    AboutEnd {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
    },
    /// The step is not solved well enough.
    #[error("the step is solved to a residual of {residual:.1e} only, too little for derivatives")]
    NotSolved {
        /// Relative to the change of momentum [-].
        residual: f64,
    },
    /// The command is malformed, or the step itself cannot be taken.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Derivatives of dynamic steps, and their memory.
///
/// Changes of a configuration are in the coordinates of velocities, as in
/// [`QuasistaticDerivatives`](super::QuasistaticDerivatives). With n generalized velocities, rows 0 to n - 1
/// are those of the configuration q' at the end of the step, and rows n to 2n - 1 those of the velocities v'
/// there. Columns 0 to n - 1 of A are changes of the configuration q at fixed numbers v, and columns n to
/// 2n - 1 those of the velocities.
///
/// ```no_run
/// use isobar::stepping::{DynamicDerivativeError, DynamicDerivatives, JointCommand, Simulation};
/// # fn run(simulation: &Simulation, command: &JointCommand) -> Result<(), DynamicDerivativeError> {
/// let mut derivatives = DynamicDerivatives::new(simulation)?;
/// derivatives.differentiate(simulation, command)?;
/// let n = derivatives.size();
/// let position_by_velocity = derivatives.A(0, n);
/// let velocity_by_effort = derivatives.B_effort(n, 0);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct DynamicDerivatives {
    step: DynamicStep,
    state: State,
    data: Data,
    external: ExternalWrenches,
    solver: NewtonSolver,
    /// The problem of the step, and that of a nearby point.
    problem: ContactProblem,
    nearby: ContactProblem,
    /// Velocities at the end, and those of the round before.
    v: Vec<f64>,
    v_before: Vec<f64>,
    /// dv' by column, and that of the round before.
    dv: Vec<f64>,
    dv_before: Vec<f64>,
    /// For each velocity, the number of rounds of its island in the step.
    rounds: Vec<u32>,
    /// dq' by column at a fixed solution, and then dq'.
    dq: Vec<f64>,
    /// dv' by column at a fixed solution, because velocities turn with their bodies.
    dv_turned: Vec<f64>,
    /// The free motion of the step itself.
    free: FreeMotion,
    one_sided: Vec<bool>,
    /// Efforts per unit of a commanded position and velocity, by joint.
    per_position: Vec<f64>,
    per_velocity: Vec<f64>,
    scratch: Scratch,
}

/// Memory for one column.
#[derive(Clone, Debug, Default)]
struct Scratch {
    direction: Vec<f64>,
    moved_v: Vec<f64>,
    here: Vec<f64>,
    gradients: [Vec<f64>; 2],
    ends: [State; 2],
    end: State,
    displacement: Vec<f64>,
}

impl DynamicDerivatives {
    /// Memory for the steps of `simulation`.
    ///
    /// # Errors
    /// A simulation that does not take dynamic steps.
    pub fn new(simulation: &Simulation) -> Result<Self, DynamicDerivativeError> {
        let step = simulation.dynamic_step().ok_or(DynamicDerivativeError::NotDynamic)?;
        let (n, joints) = (simulation.scene().model().nv(), simulation.scene().joints().len());
        if n > DENSE_DOFS_MAX {
            return Err(DynamicDerivativeError::Size { dofs: n, most: DENSE_DOFS_MAX });
        }
        let columns = 2 * n + joints;
        Ok(Self {
            step: step.clone(),
            state: simulation.state().clone(),
            data: simulation.data().clone(),
            external: simulation.external().clone(),
            solver: NewtonSolver::default(),
            problem: ContactProblem::default(),
            nearby: ContactProblem::default(),
            v: vec![0.0; n],
            v_before: vec![0.0; n],
            dv: vec![0.0; n * columns],
            dv_before: vec![0.0; n * columns],
            rounds: vec![0; n],
            dq: vec![0.0; n * columns],
            dv_turned: vec![0.0; n * columns],
            free: FreeMotion::default(),
            one_sided: vec![false; columns],
            per_position: vec![0.0; joints],
            per_velocity: vec![0.0; joints],
            scratch: Scratch::default(),
        })
    }

    /// Derivatives of the step that [`Simulation::step`] would take now. The simulation does not change.
    ///
    /// Where a face begins or ceases to push, or an actuator or joint reaches a limit, the step has a kink,
    /// and the derivative is that of one side ([`DynamicDerivatives::is_one_sided`]). The number of solves
    /// with [`FrictionBound::Solved`](super::FrictionBound::Solved) is taken as fixed: a nearby step that
    /// needs one more differs by up to 1 % of its friction. With
    /// [`FrictionBound::Lagged`](super::FrictionBound::Lagged) and with the schemes similar and sap, a step
    /// has one solve. Bodies that sleep count as awake: their derivatives are those of a step that solves for
    /// them.
    ///
    /// # Errors
    /// A simulation that does not take dynamic steps, or that controls their error; a scheme without a convex
    /// cost; contact with restitution; geometries that meet only in the motion of the step; a step that
    /// cannot be taken or is not solved well enough.
    pub fn differentiate(
        &mut self,
        simulation: &Simulation,
        command: &super::JointCommand,
    ) -> Result<(), DynamicDerivativeError> {
        let step = simulation.dynamic_step().ok_or(DynamicDerivativeError::NotDynamic)?;
        let mut external = simulation.external().clone();
        external.project(simulation.scene().model(), simulation.data());
        let input = simulation.step_input(command, external.generalized())?;
        self.external.clone_from(simulation.external());
        let rounds = self.take(&input, step, simulation.data())?;
        self.commands_of(&input);
        self.step.clone_from(step);
        self.step.forbid_sleep();
        self.step.contacts.pairs.keep_loads();
        self.data.clone_from(simulation.data());
        self.step.assemble(&input, &mut self.data)?;
        self.problem.clone_from(&self.step.problem);
        self.free.clone_from(&self.step.free);
        self.one_sided.fill(false);
        for round in 0..=rounds {
            match round {
                0 => self.problem.lag_friction(),
                _ => self.problem.refresh_friction(&self.v_before),
            }
            self.solve(&input)?;
            self.differentiate_round(&input, round > 0)?;
            self.keep_ended_islands(round);
            self.v_before.copy_from_slice(&self.v);
            self.dv_before.copy_from_slice(&self.dv);
        }
        self.move_ends(&input);
        Ok(())
    }

    /// The derivative of a row of (q', v') by a column of (q, v), in the quotient of their units.
    pub fn A(&self, row: usize, column: usize) -> f64 {
        let n = self.v.len();
        if row < n { self.dq[column * n + row] } else { self.dv[column * n + row - n] }
    }
    /// The derivative of a row of (q', v') by the commanded effort of a joint, in the order of
    /// `Scene::joint_names`.
    pub fn B_effort(&self, row: usize, joint: usize) -> f64 {
        self.A(row, 2 * self.v.len() + joint)
    }
    /// The derivative of a row of (q', v') by the commanded position of a joint. Zero for joints without
    /// stiffness, and for joints whose command has no position.
    pub fn B(&self, row: usize, joint: usize) -> f64 {
        self.B_effort(row, joint) * self.per_position[joint]
    }
    /// The derivative of a row of (q', v') by the commanded velocity of a joint. Zero for joints without
    /// damping, and for joints with a command of effort only.
    pub fn B_velocity(&self, row: usize, joint: usize) -> f64 {
        self.B_effort(row, joint) * self.per_velocity[joint]
    }
    /// The number n of generalized velocities.
    pub fn size(&self) -> usize {
        self.v.len()
    }
    /// The number of joints with commands.
    pub fn commands(&self) -> usize {
        self.per_position.len()
    }
    /// Whether the step has a kink along this column of A, or along the commands of a joint if 2n is added to
    /// its index: the derivative is then that of one side.
    pub fn is_one_sided(&self, column: usize) -> bool {
        self.one_sided[column]
    }
    /// Velocities at the end of the step [rad/s, m/s].
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// Takes the step and returns its number of rounds of friction, or the reason why it has no derivatives.
    /// Its end velocities become the first guess `v`.
    fn take(&mut self, input: &StepInput<'_>, step: &DynamicStep, data: &Data) -> Result<u32, DynamicDerivativeError> {
        let options = step.options();
        if options.error_control.is_some() {
            return Err(DynamicDerivativeError::ErrorControl);
        }
        if matches!(options.scheme, ContactScheme::Coupled | ContactScheme::Tamsi) {
            return Err(DynamicDerivativeError::Scheme { scheme: options.scheme.name() });
        }
        let scene = input.scene;
        self.step.clone_from(step);
        self.step.forbid_sleep();
        self.data.clone_from(data);
        let mut result = StepResult::new(input.start.state, scene.joints().len());
        self.step.step(input, &mut self.data, &mut result)?;
        let contacts = &self.step.contacts;
        let bounces = contacts.restitution(scene).position(|e| e > 0.0);
        if let Some(pair) = bounces.and_then(|number| contacts.active().get(number)) {
            let [A, B] = names(scene, pair.pair);
            return Err(DynamicDerivativeError::Restitution { A, B });
        }
        if let Some(pair) = contacts.searched_pair() {
            let [A, B] = names(scene, pair);
            return Err(DynamicDerivativeError::Reached { A, B });
        }
        if let Some(pair) = contacts.first_about() {
            let [A, B] = names(scene, pair);
            return Err(DynamicDerivativeError::AboutEnd { A, B });
        }
        self.v.copy_from_slice(&result.state.v);
        self.rounds.fill(0);
        self.step.friction_rounds(&mut self.rounds);
        Ok(result.report.friction_rounds)
    }

    /// Returns the velocities of islands that had fewer rounds, and their derivatives, to those of the round
    /// before.
    fn keep_ended_islands(&mut self, round: u32) {
        let n = self.rounds.len();
        for i in (0..n).filter(|i| self.rounds[*i] < round) {
            self.v[i] = self.v_before[i];
            for row in (i..self.dv.len()).step_by(n) {
                self.dv[row] = self.dv_before[row];
            }
        }
    }

    /// Finds the efforts per unit of a commanded position and velocity.
    fn commands_of(&mut self, input: &StepInput<'_>) {
        let (scene, start) = (input.scene, input.start);
        let model = scene.model();
        for (joint, actuator) in scene.actuators().iter().enumerate() {
            let initial = model.joints()[scene.joints()[joint]].position(&start.initial.q).unwrap_or(0.0);
            let target = standing_target(start.command.targets.as_slice().get(joint), actuator, initial);
            let tracks = target.position.is_some() || target.velocity.is_some();
            self.per_position[joint] = if target.position.is_some() { actuator.stiffness } else { 0.0 };
            self.per_velocity[joint] = if tracks { actuator.damping } else { 0.0 };
        }
    }

    /// Solves the problem of the step to [`TOLERANCE`], from the guess `v`.
    fn solve(&mut self, input: &StepInput<'_>) -> Result<(), DynamicDerivativeError> {
        let settings = NewtonSettings { tolerance: TOLERANCE, ..self.step.options().solver };
        let Self { solver, problem, v, scratch, .. } = self;
        scratch.here.clone_from(v);
        let solved = solver.solve(problem, &scratch.here, &settings, v);
        let solved = solved.map_err(|error| singular(input.scene.model(), input.time, error))?;
        if solved.residual.is_nan() || solved.residual > SOLVED {
            return Err(DynamicDerivativeError::NotSolved { residual: solved.residual });
        }
        Ok(())
    }

    /// Computes dv' for all columns at the solution of this round. `has_bounds` states whether friction
    /// bounds are those of the round before.
    fn differentiate_round(&mut self, input: &StepInput<'_>, has_bounds: bool) -> Result<(), DynamicDerivativeError> {
        let n = self.v.len();
        self.problem.gradient(&self.v, &mut self.scratch.here);
        let pairs = input.scene.contact_pairs();
        let has_points =
            self.step.contacts.active().iter().any(|active| pairs[active.pair].kind == ContactKind::Points);
        let motion = if has_points { MOTION_OF_POINTS } else { MOTION };
        let momentum = self.problem.momentum.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        for column in 0..2 * n {
            let increment = if column < n { motion } else { SPEED };
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                self.sample(input, column, sign * increment, has_bounds)?;
                self.nearby.gradient(&self.v, &mut self.scratch.gradients[side]);
                let Scratch { ends, moved_v, .. } = &mut self.scratch;
                end_of(input, &self.step.free, &self.v, moved_v, &mut ends[side]);
            }
            self.set_slopes(input, column, increment, momentum);
        }
        for joint in 0..self.per_position.len() {
            self.differentiate_effort(input, joint, has_bounds);
        }
        let solved = self.solver.solve_columns(&self.problem, &self.v, &mut self.dv);
        solved.map_err(|error| singular(input.scene.model(), input.time, error))?;
        Ok(())
    }

    /// Sets -dg/dp of a column in `dv`, and dq' at fixed v', from the two sides.
    fn set_slopes(&mut self, input: &StepInput<'_>, column: usize, increment: f64, momentum: f64) {
        let n = self.v.len();
        let Scratch { here, gradients: [after, before], ends: [end_after, end_before], end, moved_v, .. } =
            &mut self.scratch;
        let largest = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs())) / increment
        };
        let (forward, backward) = (largest(after, here), largest(here, before));
        let bend = after.iter().zip(before.iter()).zip(here.iter());
        let bend = bend.fold(0.0_f64, |largest, ((a, b), here)| largest.max((a - here - (here - b)).abs())) / increment;
        let smooth = bend <= SAME_SLOPE * forward.max(backward) + ROUNDING * momentum;
        self.one_sided[column] |= !smooth;
        end_of(input, &self.free, &self.v, moved_v, end);
        let (a, b, width, from, to) = if smooth {
            (&*after, &*before, 2.0 * increment, &*end_before, &*end_after)
        } else if forward <= backward {
            // At a jump, the side without it.
            (&*after, &*here, increment, &*end, &*end_after)
        } else {
            (&*here, &*before, increment, &*end_before, &*end)
        };
        let range = column * n..(column + 1) * n;
        for ((dv, a), b) in self.dv[range.clone()].iter_mut().zip(a).zip(b) {
            *dv = (b - a) / width;
        }
        let dq = &mut self.dq[range.clone()];
        displacement(input.scene.model(), &from.q, &to.q, dq);
        dq.iter_mut().for_each(|dq| *dq /= width);
        for ((dv, from), to) in self.dv_turned[range].iter_mut().zip(&from.v).zip(&to.v) {
            *dv = (to - from) / width;
        }
    }

    /// Sets -dg/dp for the effort of a joint in `dv`: the impulse of one unit of it, and the effect of the
    /// friction bounds from the round before.
    fn differentiate_effort(&mut self, input: &StepInput<'_>, joint: usize, has_bounds: bool) {
        let n = self.v.len();
        let column = 2 * n + joint;
        let range = column * n..(column + 1) * n;
        let takes = self.step.joint_rows.takes_effort(&self.problem, &self.v, joint);
        self.one_sided[column] |= takes[0] != takes[1];
        self.dv[range.clone()].fill(0.0);
        let before = &self.dv_before[range.clone()];
        let size = before.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        if has_bounds && size > 0.0 {
            let increment = SPEED / size;
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                self.nearby.clone_from(&self.problem);
                let Scratch { moved_v, gradients, .. } = &mut self.scratch;
                moved_v.clear();
                moved_v.extend(self.v_before.iter().zip(before).map(|(v, dv)| v + sign * increment * dv));
                self.nearby.refresh_friction(moved_v);
                self.nearby.gradient(&self.v, &mut gradients[side]);
            }
            let [after, before] = &self.scratch.gradients;
            for ((dv, a), b) in self.dv[range.clone()].iter_mut().zip(after).zip(before) {
                *dv = (b - a) / (2.0 * increment);
            }
        }
        if takes[0] {
            let joint = &input.scene.model().joints()[input.scene.joints()[joint]];
            let ratio = joint.mimic.map_or(1.0, |mimic| mimic.multiplier);
            self.dv[range][joint.v_start] += input.settings.step() * ratio;
        }
    }

    /// Assembles the problem of the step from a point that is moved by `increment` along a column.
    fn sample(
        &mut self,
        input: &StepInput<'_>,
        column: usize,
        increment: f64,
        has_bounds: bool,
    ) -> Result<(), DynamicDerivativeError> {
        let model = input.scene.model();
        let n = self.v.len();
        let Self { step, state, data, external, nearby, scratch, .. } = self;
        state.clone_from(input.start.state);
        if column < n {
            scratch.direction.clear();
            scratch.direction.resize(n, 0.0);
            scratch.direction[column] = 1.0;
            integrate(model, &mut state.q, &scratch.direction, increment);
        } else {
            state.v[column - n] += increment;
        }
        kinematics(model, state, data);
        external.project(model, data);
        let start = StepStart { state, external: external.generalized(), ..input.start };
        step.contacts.pairs.restore_loads();
        step.assemble(&StepInput { start, ..*input }, data)?;
        nearby.clone_from(&step.problem);
        nearby.lag_friction();
        if has_bounds {
            let moved = &self.dv_before[column * n..(column + 1) * n];
            scratch.moved_v.clear();
            scratch.moved_v.extend(self.v_before.iter().zip(moved).map(|(v, dv)| v + increment * dv));
            nearby.refresh_friction(&scratch.moved_v);
        }
        Ok(())
    }

    /// Adds the effects of the change dv of the solution to dq' and dv' of the end.
    fn move_ends(&mut self, input: &StepInput<'_>) {
        let model = input.scene.model();
        let n = self.v.len();
        let columns = self.one_sided.len();
        let Scratch { ends: [after, before], end, moved_v, here, displacement: moved, .. } = &mut self.scratch;
        for column in 0..columns {
            let range = column * n..(column + 1) * n;
            let dv = &mut self.dv[range.clone()];
            let size = dv.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
            let (dq, turned) = (&mut self.dq[range.clone()], &mut self.dv_turned[range]);
            if column >= 2 * n {
                dq.fill(0.0);
                turned.fill(0.0);
            }
            if size > 0.0 {
                let increment = ALONG / (size * input.settings.step());
                for (end, sign) in [(&mut *after, 1.0), (&mut *before, -1.0)] {
                    here.clear();
                    here.extend(self.v.iter().zip(&*dv).map(|(v, dv)| v + sign * increment * dv));
                    end_of(input, &self.free, here, moved_v, end);
                }
                moved.clear();
                moved.resize(n, 0.0);
                displacement(model, &before.q, &after.q, moved);
                dq.iter_mut().zip(&*moved).for_each(|(dq, change)| *dq += change / (2.0 * increment));
                for ((turned, after), before) in turned.iter_mut().zip(&after.v).zip(&before.v) {
                    *turned += (after - before) / (2.0 * increment);
                }
            }
            dv.copy_from_slice(turned);
        }
        end_of(input, &self.free, &self.v, moved_v, end);
        self.v.copy_from_slice(&end.v);
    }
}

/// Computes the end of a step from the end of its free motion and its solution, the velocities `v`.
fn end_of(input: &StepInput<'_>, free: &FreeMotion, v: &[f64], change: &mut Vec<f64>, end: &mut State) {
    change.clear();
    change.extend(v.iter().zip(&free.base.v).map(|(v, free)| v - free));
    end.q.clone_from(&free.base.q);
    end.v.clear();
    end.v.extend_from_slice(v);
    let step = input.settings.step();
    integrate(input.scene.model(), &mut end.q, change, step);
    free.carry_spin(input.scene.model(), step, end);
}

fn names(scene: &Scene, pair: usize) -> [String; 2] {
    let pair = &scene.contact_pairs()[pair];
    [pair.A, pair.B].map(|geometry| scene.geometries()[geometry].name.clone())
}
