//! Derivatives of a step as differences of steps: where its program has none, because contact changes within
//! the reach of a difference, the step is taken in parts, or pressure fields touch.

use super::handle::{Handle, move_command, restore_command};
use super::slopes::{Holding, Side, compare, line};
use super::step::QuasistaticStep;
use super::wrenches::{WRENCH, step_wrenches};
use crate::math::SpatialForce;
use crate::multibody::{Data, Model, State, displacement, integrate, positions};
use crate::scene::ContactKind;
use crate::stepping::command::{JointCommand, JointTarget};
use crate::stepping::error::StepError;
use crate::stepping::external::ExternalWrenches;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::result::StepResult;

/// The reach of a difference \[rad\] or \[m\].
pub(super) const REACH: f64 = 1e-5;
/// Slopes on the two sides, less what a curve changes between them, that differ by less than this, relative
/// to 1 or the largest slope, are one [-].
const KINK: f64 = 1e-5;
/// The same where pressure fields touch, whose faces appear and disappear one by one [-].
const SAME_SLOPE: f64 = 1e-3;
/// The errors of steps that add up in the difference of two slopes, less what a curve changes between them:
/// (4 near - far)/reach on each side, where both changes are from the step itself. [-]
const ERRORS: f64 = 16.0;
/// The reach where steps jump within the usual one \[rad\] or \[m\].
const NEARBY: f64 = 0.01 * REACH;
/// The largest error that steps may leave in a slope within [`NEARBY`] [-]. Those of pressure fields and loop
/// closures leave 4e-3.
const NEARBY_ERROR: f64 = 2e-3;
/// The errors of steps that add up in a slope: (far - near)/(reach/2). [-]
const LINE_ERRORS: f64 = 4.0;
/// The largest part of [`REACH`] by which the slope of a side may miss the step itself [-]. Points that yield
/// by 10 nm, and friction that builds up over such a distance, are below.
const OFFSET: f64 = 0.05;

/// The derivative along a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slope {
    /// The same on both sides.
    Smooth,
    /// That of one side.
    OneSided,
    /// None, because steps jump.
    None,
}

/// Steps from nearby configurations and commands. Memory is reused.
#[derive(Debug)]
pub(super) struct StepDifferences {
    /// The step with the memory that all of them start from, and the step that is taken.
    memory: QuasistaticStep,
    step: QuasistaticStep,
    result: StepResult,
    state: State,
    /// Poses at `state`, for the generalized forces of `external`.
    data: Data,
    command: JointCommand,
    handles: Vec<Handle>,
    pub(super) external: ExternalWrenches,
    direction: Vec<f64>,
    /// The pairs whose wrenches count, the wrenches of the step itself, and those of the last step that was
    /// taken.
    pairs: Vec<usize>,
    wrenches: Vec<SpatialForce>,
    moved: Vec<SpatialForce>,
    /// The end of the step itself, and the changes of the end and of the wrenches at REACH/2 and REACH.
    here: Vec<f64>,
    near: Vec<f64>,
    far: Vec<f64>,
    back: Vec<f64>,
    /// The distances by which the lines of the last side, and of the backward one, miss the step itself.
    offset: Vec<f64>,
    offset_back: Vec<f64>,
    /// The reach of the differences \[rad\] or \[m\].
    reach: f64,
    /// Whether the step itself settles in rounds, as with pressure fields that touch, and loop closures.
    settles_by_rounds: bool,
    /// Whether a pressure field touches in the step itself.
    touches_field: bool,
}

impl StepDifferences {
    pub(super) fn new(
        input: &StepInput<'_>,
        (external, handles): (ExternalWrenches, &[Handle]),
        memory: &QuasistaticStep,
        (smoothing, sharp): (Option<f64>, bool),
    ) -> Self {
        let (scene, state) = (input.scene, input.start.state);
        let n = scene.model().nv();
        let make = || {
            let mut step = QuasistaticStep::new(*memory.options(), scene, state);
            step.smoothing = smoothing;
            step.impedances.clone_from(&memory.impedances);
            step.solver.clone_from(&memory.solver);
            if sharp {
                step.tighten_tolerance();
            }
            step
        };
        let targets = memory.impedances.targets().iter().enumerate().map(|(joint, held)| {
            let target = input.start.command.targets.as_slice().get(joint).copied().unwrap_or_default();
            JointTarget { position: Some(target.position.unwrap_or(*held)), ..target }
        });
        Self {
            command: targets.collect(),
            memory: make(),
            step: make(),
            result: StepResult::new(state, scene.joints().len()),
            state: state.clone(),
            data: Data::new(scene.model()),
            handles: handles.to_vec(),
            external,
            direction: vec![0.0; n],
            pairs: Vec::new(),
            wrenches: Vec::new(),
            moved: Vec::new(),
            here: vec![0.0; state.q.len()],
            near: Vec::new(),
            far: Vec::new(),
            back: Vec::new(),
            offset: Vec::new(),
            offset_back: Vec::new(),
            reach: REACH,
            settles_by_rounds: false,
            touches_field: false,
        }
    }

    /// Takes the step itself; its end is then in [`StepDifferences::end`]. The wrenches of `pairs` count, or
    /// those of all pairs in contact.
    pub(super) fn start(&mut self, input: &StepInput<'_>, pairs: Option<&[usize]>) -> Result<(), StepError> {
        self.take(input, 0, 0.0)?;
        self.pairs.clear();
        match pairs {
            Some(pairs) => self.pairs.extend_from_slice(pairs),
            None => self.pairs.extend(self.step.contacts.active().iter().map(|active| active.pair)),
        }
        let kind = |pair: usize| input.scene.contact_pairs()[pair].kind;
        self.touches_field =
            self.step.contacts.active().iter().any(|active| kind(active.pair) == ContactKind::PressureField);
        self.settles_by_rounds = self.touches_field || !input.scene.closures().is_empty();
        step_wrenches(&self.step, input.settings.step(), &self.pairs, &mut self.wrenches);
        let size = input.scene.model().nv() + WRENCH * self.pairs.len();
        for numbers in [&mut self.near, &mut self.far, &mut self.back, &mut self.offset] {
            numbers.clear();
            numbers.resize(size, 0.0);
        }
        if self.result.report.parts == 1 {
            // Of several distributions of friction, the steps nearby find that of the step itself.
            self.memory.solver.clone_from(&self.step.solver);
        }
        self.here.copy_from_slice(&self.result.state.q);
        Ok(())
    }

    /// The pairs whose wrenches count, and the wrenches of the step itself.
    pub(super) fn wrenches(&self) -> (&[usize], &[SpatialForce]) {
        (&self.pairs, &self.wrenches)
    }

    /// Positions and velocities at the end of the last step that was taken.
    pub(super) fn end(&self) -> &State {
        &self.result.state
    }

    /// Takes the step from the configuration or the command that is moved along `column`.
    fn take(&mut self, input: &StepInput<'_>, column: usize, increment: f64) -> Result<(), StepError> {
        let model = input.scene.model();
        let n = model.nv();
        let Self { memory, step, result, state, data, command, handles, external, direction, .. } = self;
        state.q.copy_from_slice(&input.start.state.q);
        let joint = column.checked_sub(n);
        let before = joint.and_then(|joint| move_command(command, joint, handles, increment));
        if column < n {
            direction.fill(0.0);
            direction[column] = 1.0;
            integrate(model, &mut state.q, direction, increment);
        }
        positions(model, &state.q, data);
        external.project(model, data);
        step.impedances.clone_from(&memory.impedances);
        step.solver.clone_from(&memory.solver);
        let start = StepStart { state, command, external: external.generalized(), ..input.start };
        let taken = step.step(&StepInput { start, ..*input }, result);
        restore_command(command, joint, before);
        taken
    }

    /// The size of a slope.
    pub(super) fn size(&self) -> usize {
        self.near.len()
    }

    /// Writes the slope of one side, in the direction of `sign`, to `slope`: of the end, and then of the
    /// wrenches. Returns whether there is one.
    fn side(&mut self, input: &StepInput<'_>, column: usize, sign: f64, slope: &mut [f64]) -> bool {
        let (model, reach) = (input.scene.model(), self.reach);
        let n = model.nv();
        for half in [true, false] {
            if self.take(input, column, sign * if half { 0.5 * reach } else { reach }).is_err() {
                return false;
            }
            let Self { step, result, pairs, wrenches, moved, here, near, far, .. } = self;
            let change = if half { near } else { far };
            changes_from((here, wrenches), (model, input.settings.step()), (step, result, pairs), moved, change);
        }
        let mut jumps = false;
        let changes = self.near.iter().zip(&self.far).zip(&mut self.offset);
        for (index, (slope, ((near, far), offset))) in slope.iter_mut().zip(changes).enumerate() {
            (*slope, *offset) = line((*near, *far), sign, reach);
            jumps |= index < n && offset.abs() > OFFSET * reach * slope.abs().max(1.0);
        }
        !jumps
    }

    /// The largest difference between slopes that counts as none, relative to 1 or the largest slope [-].
    /// Steps that settle to an error e leave up to 16 e/reach, and pressure fields that touch leave more.
    fn same_slope(&self, h: f64) -> f64 {
        let touches = if self.touches_field { SAME_SLOPE } else { KINK };
        touches.max(ERRORS * self.unsettled(h) / self.reach)
    }

    /// The error to which steps settle \[m\] or \[rad\].
    fn unsettled(&self, h: f64) -> f64 {
        let of_rounds = if self.settles_by_rounds { self.step.settled } else { 0.0 };
        of_rounds + h * self.step.options.solver.tolerance
    }

    /// Writes the changes of the end and of the wrenches along `column` to `slope`.
    pub(super) fn slope(&mut self, input: &StepInput<'_>, column: usize, slope: &mut [f64]) -> Slope {
        self.reach = REACH;
        self.slope_within(input, column, slope)
    }

    /// Does the same within a hundredth of [`REACH`], where steps jump within the reach: the slope counts as
    /// that of one side. Steps with pressure fields or loop closures do not settle so closely, nor do some
    /// that settle at the usual tolerances only: they have none.
    pub(super) fn slope_nearby(&mut self, input: &StepInput<'_>, column: usize, slope: &mut [f64]) -> Slope {
        self.reach = NEARBY;
        if LINE_ERRORS * self.unsettled(input.settings.step()) > NEARBY_ERROR * self.reach {
            return Slope::None;
        }
        match self.slope_within(input, column, slope) {
            Slope::None => Slope::None,
            _ => Slope::OneSided,
        }
    }

    fn slope_within(&mut self, input: &StepInput<'_>, column: usize, slope: &mut [f64]) -> Slope {
        let mut back = std::mem::take(&mut self.back);
        let backward = self.side(input, column, -1.0, &mut back);
        self.offset_back.clone_from(&self.offset);
        let forward = self.side(input, column, 1.0, slope);
        let (n, most) = (input.scene.model().nv(), self.same_slope(input.settings.step()));
        let holding = match (forward, backward) {
            (true, true) => {
                let after = Side { slopes: &slope[..n], offsets: &self.offset[..n] };
                let before = Side { slopes: &back[..n], offsets: &self.offset_back[..n] };
                Some(compare(after, before, self.reach, most))
            }
            (true, false) => Some(Holding::Forward),
            (false, true) => Some(Holding::Backward),
            (false, false) => None,
        };
        match holding {
            Some(Holding::Both) => slope.iter_mut().zip(&back).for_each(|(a, b)| *a = 0.5 * (*a + b)),
            Some(Holding::Backward) => slope.copy_from_slice(&back),
            Some(Holding::Forward) | None => {}
        }
        self.back = back;
        match holding {
            Some(Holding::Both) => Slope::Smooth,
            Some(_) => Slope::OneSided,
            None => Slope::None,
        }
    }
}

/// Writes the change of the end of a step, and of the wrenches of `pairs`, to `change`.
fn changes_from(
    (here, wrenches): (&[f64], &[SpatialForce]),
    (model, h): (&Model, f64),
    (step, result, pairs): (&QuasistaticStep, &StepResult, &[usize]),
    moved: &mut Vec<SpatialForce>,
    change: &mut [f64],
) {
    let n = model.nv();
    displacement(model, here, &result.state.q, &mut change[..n]);
    step_wrenches(step, h, pairs, moved);
    let changes = moved.iter().zip(wrenches).map(|(moved, here)| (*moved - *here).to_vector());
    for (to, change) in change[n..].chunks_exact_mut(WRENCH).zip(changes) {
        to.copy_from_slice(change.as_slice());
    }
}
