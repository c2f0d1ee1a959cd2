//! Derivatives of a step as differences of steps: where its program has none, because contact changes within
//! the reach of a difference, the step is taken in parts, or pressure fields touch.

use super::handle::{Handle, move_command, restore_command};
use super::step::QuasistaticStep;
use super::wrenches::{WRENCH, step_wrenches};
use crate::math::SpatialForce;
use crate::multibody::{Data, State, displacement, integrate, positions};
use crate::stepping::command::{JointCommand, JointTarget};
use crate::stepping::error::StepError;
use crate::stepping::external::ExternalWrenches;
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::result::StepResult;
use crate::stepping::settings::QuasistaticStepping;

/// The reach of a difference \[rad\] or \[m\].
pub(super) const REACH: f64 = 1e-5;
/// Slopes on the two sides that differ by less than this, relative to 1 or the largest slope, are one [-].
const SAME_SLOPE: f64 = 1e-3;
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
}

impl StepDifferences {
    pub(super) fn new(
        options: QuasistaticStepping,
        input: &StepInput<'_>,
        (external, handles): (ExternalWrenches, &[Handle]),
        memory: &QuasistaticStep,
        sharp: bool,
    ) -> Self {
        let (scene, state) = (input.scene, input.start.state);
        let n = scene.model().nv();
        let make = || {
            let mut step = QuasistaticStep::new(options, scene, state);
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
        step_wrenches(&self.step, input.settings.step(), &self.pairs, &mut self.wrenches);
        let size = input.scene.model().nv() + WRENCH * self.pairs.len();
        for numbers in [&mut self.near, &mut self.far, &mut self.back] {
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
        let model = input.scene.model();
        let n = model.nv();
        for half in [true, false] {
            if self.take(input, column, sign * if half { 0.5 * REACH } else { REACH }).is_err() {
                return false;
            }
            let Self { step, result, pairs, wrenches, moved, here, near, far, .. } = self;
            let change = if half { near } else { far };
            displacement(model, here, &result.state.q, &mut change[..n]);
            step_wrenches(step, input.settings.step(), pairs, moved);
            let changes = moved.iter().zip(wrenches.iter()).map(|(moved, here)| (*moved - *here).to_vector());
            for (to, change) in change[n..].chunks_exact_mut(WRENCH).zip(changes) {
                to.copy_from_slice(change.as_slice());
            }
        }
        let mut jumps = false;
        for (index, ((slope, near), far)) in slope.iter_mut().zip(&self.near).zip(&self.far).enumerate() {
            // Beyond the distance by which points yield under their load.
            *slope = sign * (far - near) / (0.5 * REACH);
            let offset = (far - sign * *slope * REACH).abs();
            jumps |= index < n && offset > OFFSET * REACH * slope.abs().max(1.0);
        }
        !jumps
    }

    /// Writes the changes of the end and of the wrenches along `column` to `slope`.
    pub(super) fn slope(&mut self, input: &StepInput<'_>, column: usize, slope: &mut [f64]) -> Slope {
        let mut back = std::mem::take(&mut self.back);
        let forward = self.side(input, column, 1.0, slope);
        let backward = self.side(input, column, -1.0, &mut back);
        let n = input.scene.model().nv();
        // Forces of shallow fields bend too much within the reach to tell sides apart.
        let motion = slope[..n].iter().zip(&back);
        let scale = slope[..n].iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
        let same = motion.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) <= SAME_SLOPE * scale;
        let found = match (forward, backward) {
            (true, true) if same => {
                slope.iter_mut().zip(&back).for_each(|(a, b)| *a = 0.5 * (*a + b));
                Slope::Smooth
            }
            (true, _) => Slope::OneSided,
            (false, true) => {
                slope.copy_from_slice(&back);
                Slope::OneSided
            }
            (false, false) => Slope::None,
        };
        self.back = back;
        found
    }
}
