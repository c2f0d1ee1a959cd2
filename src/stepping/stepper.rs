//! The modes of stepping. Outside this file the mode only matters for the checks of settings and scenes, for
//! error control, for accelerations, for force-torque sensors and for derivatives.

use super::continuous::ContinuousStep;
use super::dynamic::DynamicStep;
use super::error::StepError;
use super::input::StepInput;
use super::quasistatic::QuasistaticStep;
use super::result::StepResult;
use super::settings::{ContactScheme, Stepping};
use super::spook::SpookStep;
use crate::geometry::{ContactSurface, PointContacts};
use crate::math::{ByteReader, ByteWriter, BytesError, Vector3};
use crate::multibody::{Data, Model, State};
use crate::scene::Scene;

/// A mode with its options, and the memory of its steps.
#[derive(Clone, Debug)]
pub(super) enum Stepper {
    Dynamic(Box<DynamicStep>),
    Quasistatic(Box<QuasistaticStep>),
    Spook(Box<SpookStep>),
    Continuous(Box<ContinuousStep>),
}

impl Stepper {
    pub(super) fn new(stepping: Stepping, scene: &Scene, initial: &State) -> Self {
        match stepping {
            Stepping::Dynamic(options) => Self::Dynamic(Box::new(DynamicStep::new(options, scene.model()))),
            Stepping::Quasistatic(options) => {
                Self::Quasistatic(Box::new(QuasistaticStep::new(options, scene, initial)))
            }
            Stepping::Spook(options) => Self::Spook(Box::new(SpookStep::new(options, scene.model()))),
            Stepping::Continuous(options) => Self::Continuous(Box::new(ContinuousStep::new(options, scene.model()))),
        }
    }

    /// The mode and its options.
    pub(super) fn stepping(&self) -> Stepping {
        match self {
            Self::Dynamic(step) => Stepping::Dynamic(*step.options()),
            Self::Quasistatic(step) => Stepping::Quasistatic(*step.options()),
            Self::Spook(step) => Stepping::Spook(*step.options()),
            Self::Continuous(step) => Stepping::Continuous(*step.options()),
        }
    }

    /// The contact scheme of dynamic steps.
    pub(super) fn scheme(&self) -> Option<ContactScheme> {
        match self {
            Self::Dynamic(step) => Some(step.options().scheme),
            Self::Quasistatic(_) | Self::Spook(_) | Self::Continuous(_) => None,
        }
    }

    /// Wakes all bodies that sleep.
    pub(super) fn wake(&mut self) {
        if let Self::Dynamic(step) = self {
            step.wake();
        }
    }

    /// Keeps the loads of contacts of dynamic steps as number 0 or 1.
    pub(super) fn keep_loads(&mut self, number: usize) {
        if let Self::Dynamic(step) = self {
            step.contacts.pairs.save_loads(number);
        }
    }
    /// Returns to the loads of [`Stepper::keep_loads`].
    pub(super) fn recall_loads(&mut self, number: usize) {
        if let Self::Dynamic(step) = self {
            step.contacts.pairs.recall_loads(number);
        }
    }

    /// Removes from `x` the motion against stiff contacts and joints of the last dynamic step, at its
    /// velocities `v`.
    pub(super) fn remove_stiff_motion(&mut self, at: (&Model, f64), v: &[f64], x: &mut [f64]) -> Result<(), StepError> {
        match self {
            Self::Dynamic(step) => step.remove_stiff_motion(at, v, x),
            Self::Quasistatic(_) | Self::Spook(_) | Self::Continuous(_) => Ok(()),
        }
    }

    /// Sets the `changes` of all velocities of an island of the last dynamic step to 0, unless those of all
    /// its trees are `resolved`.
    pub(super) fn keep_resolved_islands(&self, model: &Model, resolved: &[bool], changes: [&mut [f64]; 2]) {
        match self {
            Self::Dynamic(step) => step.keep_resolved_islands(model, resolved, changes),
            Self::Quasistatic(_) | Self::Spook(_) | Self::Continuous(_) => {}
        }
    }

    /// The state `after` \[s\] the start of the last continuous step.
    pub(super) fn state_within(&self, model: &Model, after: f64) -> Option<State> {
        match self {
            Self::Continuous(step) => step.state_within(model, after),
            Self::Dynamic(_) | Self::Quasistatic(_) | Self::Spook(_) => None,
        }
    }

    /// The memory of dynamic steps.
    pub(super) fn dynamic(&self) -> Option<&DynamicStep> {
        match self {
            Self::Quasistatic(_) | Self::Spook(_) | Self::Continuous(_) => None,
            Self::Dynamic(step) => Some(step),
        }
    }

    /// The memory of quasistatic steps.
    pub(super) fn quasistatic(&self) -> Option<&QuasistaticStep> {
        match self {
            Self::Dynamic(_) | Self::Spook(_) | Self::Continuous(_) => None,
            Self::Quasistatic(step) => Some(step),
        }
    }

    /// Holds joints without a new command at the last commands of `other`, if both are quasistatic.
    pub(super) fn hold_as(&mut self, other: &Self) {
        if let (Self::Quasistatic(step), Self::Quasistatic(other)) = (self, other) {
            step.impedances.hold(other.impedances.targets());
        }
    }

    /// Sets the position at which quasistatic steps hold a joint without a command [rad or m].
    pub(super) fn hold_position(&mut self, joint: usize, position: f64) {
        if let Self::Quasistatic(step) = self {
            step.hold_position(joint, position);
        }
    }

    /// Writes the data that the next step takes from the last one.
    pub(super) fn write_memory(&self, model: &Model, writer: &mut ByteWriter) {
        match self {
            Self::Dynamic(step) => step.write_memory(model, writer),
            Self::Quasistatic(step) => step.write_memory(writer),
            Self::Spook(step) => step.write_memory(model, writer),
            Self::Continuous(step) => step.write_memory(writer),
        }
    }
    /// Reads the output of [`Stepper::write_memory`] for the same mode.
    pub(super) fn read_memory(&mut self, scene: &Scene, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        match self {
            Self::Dynamic(step) => step.read_memory(scene, reader),
            Self::Quasistatic(step) => step.read_memory(reader),
            Self::Spook(step) => step.read_memory(scene, reader),
            Self::Continuous(step) => step.read_memory(reader),
        }
    }

    /// Takes a step. `data` holds the poses and velocities of its start. After an error only the efforts, the
    /// report and the times in `result` are valid, and they are those of the last successful step.
    pub(super) fn step(
        &mut self,
        input: &StepInput<'_>,
        data: &mut Data,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        result.forget_contacts();
        match self {
            Self::Dynamic(step) => step.step(input, data, result),
            Self::Quasistatic(step) => step.step(input, result),
            Self::Spook(step) => step.step(input, data, result),
            Self::Continuous(step) => step.step(input, result),
        }
    }

    /// Computes the forces on B of the faces or points of contact `number` of the last step [N, world]. `v`
    /// are the velocities at its end.
    pub(super) fn face_forces(&self, scene: &Scene, number: usize, v: &[f64], forces: &mut Vec<Vector3>) {
        match self {
            Self::Dynamic(step) => step.face_forces(number, forces),
            Self::Quasistatic(step) => step.face_forces(number, v, forces),
            Self::Spook(step) => step.face_forces(number, forces),
            Self::Continuous(step) => step.face_forces(scene, number, v, forces),
        }
    }
    /// The contact points of a pair of rigid geometries.
    pub(super) fn points(&self, pair: usize) -> &PointContacts {
        match self {
            Self::Dynamic(step) => step.pairs().points(pair),
            Self::Quasistatic(step) => step.points(pair),
            Self::Spook(step) => step.pairs().points(pair),
            Self::Continuous(step) => step.pairs().points(pair),
        }
    }
    /// The contact surface of a pair, and the indices of the faces that the solver uses.
    pub(super) fn surface(&self, pair: usize) -> (&ContactSurface, &[u32]) {
        match self {
            Self::Dynamic(step) => step.pairs().surface(pair),
            Self::Quasistatic(step) => step.surface(pair),
            Self::Spook(step) => step.pairs().surface(pair),
            Self::Continuous(step) => step.pairs().surface(pair),
        }
    }
}
