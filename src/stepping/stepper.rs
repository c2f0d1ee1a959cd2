//! What takes the steps: the only place that knows the modes.

use super::dynamic::DynamicStep;
use super::joint_rows::StepStart;
use super::pairs::ActivePatch;
use super::quasistatic::QuasistaticStep;
use super::simulation::StepError;
use super::{StepReport, StepSettings, StepTimes, Stepping};
use crate::geometry::{ContactSurface, PointContacts};
use crate::math::{SpatialForce, Vector3};
use crate::multibody::{Data, State};
use crate::scene::Scene;

/// What a step starts from.
pub(super) struct StepInput<'a> {
    pub(super) scene: &'a Scene,
    pub(super) settings: &'a StepSettings,
    /// Positions, velocities and commands.
    pub(super) start: StepStart<'a>,
    /// Simulated time [s].
    pub(super) time: f64,
    /// Tells the time [s] where it is to be measured.
    pub(super) clock: Option<&'a dyn Fn() -> f64>,
}

impl StepInput<'_> {
    /// The present by the clock [s]; 0 without one.
    pub(super) fn now(&self) -> f64 {
        self.clock.map_or(0.0, |clock| clock())
    }
}

/// The memory of the steps of one mode.
#[derive(Debug)]
pub(super) enum Stepper {
    Dynamic(Box<DynamicStep>),
    Quasistatic(Box<QuasistaticStep>),
}

impl Stepper {
    pub(super) fn new(stepping: &Stepping, scene: &Scene, initial: &State) -> Self {
        match stepping {
            Stepping::Dynamic => Self::Dynamic(Box::default()),
            Stepping::Quasistatic(_) => Self::Quasistatic(Box::new(QuasistaticStep::new(scene, initial))),
        }
    }

    /// The memory of quasistatic steps.
    pub(super) fn quasistatic(&self) -> Option<&QuasistaticStep> {
        match self {
            Self::Dynamic(_) => None,
            Self::Quasistatic(step) => Some(step),
        }
    }

    /// Takes a step: writes the velocities of its end to `v`, which comes with those at the start of the step before, or where there was none
    /// with those of its own start.
    pub(super) fn step(
        &mut self,
        input: &StepInput<'_>,
        data: &mut Data,
        v: &mut [f64],
    ) -> Result<StepReport, StepError> {
        match (self, &input.settings.stepping) {
            (Self::Quasistatic(step), Stepping::Quasistatic(options)) => step.step(input, options, v),
            (Self::Dynamic(step), _) => step.step(input, data, v),
            (Self::Quasistatic(_), Stepping::Dynamic) => {
                debug_assert!(false, "a change of mode makes a new stepper");
                Ok(StepReport::default())
            }
        }
    }

    /// Where the time of the last step went.
    pub(super) fn times(&self) -> StepTimes {
        match self {
            Self::Dynamic(step) => step.times(),
            Self::Quasistatic(step) => step.times(),
        }
    }

    /// Efforts of the actuators over the step that ended with velocities `v` [N m] or [N].
    pub(super) fn efforts(&self, v: &[f64], dt: f64, efforts: &mut Vec<f64>) {
        match self {
            Self::Dynamic(step) => step.efforts(v, dt, efforts),
            Self::Quasistatic(step) => step.efforts(v, dt, efforts),
        }
    }
    /// The pairs in contact.
    pub(super) fn active(&self) -> &[ActivePatch] {
        match self {
            Self::Dynamic(step) => step.active(),
            Self::Quasistatic(step) => step.active(),
        }
    }
    /// Impulse on B about C of each of [`Stepper::active`] over the last step [N m s, N s].
    pub(super) fn impulses(&self) -> &[SpatialForce] {
        match self {
            Self::Dynamic(step) => step.impulses(),
            Self::Quasistatic(step) => step.impulses(),
        }
    }
    /// Forces on B of the faces or points of patch `number` [N, world], at the velocities `v` of the step's end.
    pub(super) fn face_forces(&self, number: usize, v: &[f64], forces: &mut Vec<Vector3>) {
        match self {
            Self::Dynamic(step) => step.face_forces(number, v, forces),
            Self::Quasistatic(step) => step.face_forces(number, v, forces),
        }
    }
    /// The contact points of a pair of rigid geometries.
    pub(super) fn points(&self, pair: usize) -> &PointContacts {
        match self {
            Self::Dynamic(step) => step.pairs().points(pair),
            Self::Quasistatic(step) => step.points(pair),
        }
    }
    /// The contact surface of a pair, and which of its faces the solver has.
    pub(super) fn surface(&self, pair: usize) -> (&ContactSurface, &[u32]) {
        match self {
            Self::Dynamic(step) => step.pairs().surface(pair),
            Self::Quasistatic(step) => step.surface(pair),
        }
    }
}
