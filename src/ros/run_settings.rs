//! What parameters say of how the simulation runs.

use crate::io::rates::Rates;
use crate::math::Vector3;
use crate::stepping::{QuasistaticStepping, StepSettings, Stepping};

/// What can be changed while the simulation runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunSettings {
    /// Simulated seconds a second; 0 is as fast as possible.
    pub(super) real_time_factor: f64,
    pub(super) rates: Rates,
    /// Contact markers a second of real time; 0 is never.
    pub(super) marker_rate: f64,
    /// Pressure of the last colour of the scale [Pa]; 0 takes the largest pressure at hand.
    pub(super) marker_pressure_max: f64,
    /// Simulated time without a command after which the joints are held [ns]; 0 is never.
    pub(super) command_timeout_ns: u64,
    /// Largest distance of a joint from its trajectory [rad] or [m]; 0 is any.
    pub(super) trajectory_tolerance: f64,
    /// How steps are taken from the next reset on.
    pub(super) mode: Mode,
    /// Their length [ns]; 0 is the scene's.
    pub(super) step_ns: u64,
}

/// What takes the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// What the scene asks for.
    Scene,
    Dynamic,
    Quasistatic,
}

/// The scene's own way of stepping, and its options for quasistatic steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SceneStepping {
    pub(super) settings: StepSettings,
    pub(super) quasistatic: QuasistaticStepping,
}

impl SceneStepping {
    /// How steps are taken under `settings`.
    pub(super) fn under(&self, settings: &RunSettings) -> StepSettings {
        StepSettings {
            step_ns: if settings.step_ns == 0 { self.settings.step_ns } else { settings.step_ns },
            stepping: match settings.mode {
                Mode::Scene => self.settings.stepping,
                Mode::Dynamic => Stepping::Dynamic,
                Mode::Quasistatic => Stepping::Quasistatic(self.quasistatic),
            },
            ..self.settings
        }
    }
}

/// What of the scene can be changed while the simulation runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Physics {
    /// Gravity [m/s2, world].
    pub(super) gravity_W: Vector3,
    /// Stiffness and damping of each joint's actuator.
    pub(super) gains: Vec<(f64, f64)>,
}
