//! The parameters of a running simulation.

use crate::io::scene_file::LoadedScene;
use crate::math::{Index, ScalarJointIndex, Vector3};
use crate::recording::Rates;
use crate::ros::commands::mode_names::names_of;
use crate::ros::log::names::Number;
use crate::scene::{Scene, SceneChangeError};
use crate::stepping::{
    ContinuousStepping, DynamicStepping, QUASISTATIC_STEP_MAX, QuasistaticStepping, Simulation, SpookStepping,
    StepSettings, Stepping,
};

/// Settings that can change while the simulation runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunSettings {
    /// Simulated seconds per second; 0 runs as fast as possible.
    pub(crate) real_time_factor: f64,
    pub(crate) rates: Rates,
    /// Contact markers per second of real time; 0 disables them.
    pub(crate) marker_rate: f64,
    /// Pressure at the end of the colour scale \[Pa\]; 0 uses the largest pressure present.
    pub(crate) marker_pressure_max: f64,
    /// Simulated time without a command to a joint after which it is held \[ns\]; 0 disables this.
    pub(crate) command_timeout_ns: u64,
    /// Largest distance of a joint from its trajectory \[rad\] or \[m\]; 0 allows any.
    pub(crate) trajectory_tolerance: f64,
    /// The stepping mode from the next reset on.
    pub(crate) mode: Mode,
    /// Length of a step \[ns\]; 0 uses the scene's.
    pub(crate) step_ns: u64,
    /// Threads of a step; 0 uses the scene's number.
    pub(crate) threads: usize,
    /// Simulated time between checkpoints \[ns\]; 0 writes them on request only.
    pub(crate) checkpoint_period_ns: u64,
    /// Simulated time for which a wrench is held \[ns\].
    pub(crate) wrench_duration_ns: u64,
}

/// The stepping mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The mode that the scene states.
    Scene,
    Dynamic,
    Quasistatic,
    Spook,
    Continuous,
}

impl Mode {
    /// All modes with their names, as values of the parameter `stepping`.
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("", Self::Scene),
        ("dynamic", Self::Dynamic),
        ("quasistatic", Self::Quasistatic),
        ("spook", Self::Spook),
        ("continuous", Self::Continuous),
    ];
    /// The names.
    pub(crate) const NAMES: [&'static str; 5] = names_of(Self::ALL);

    /// The mode with the given name; of other names, that of the scene.
    pub(crate) fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map_or(Self::Scene, |(_, mode)| mode)
    }

    /// Its name; empty for that of the scene.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }

    /// The mode of steps that are taken.
    pub(crate) fn of(stepping: &Stepping) -> Self {
        match stepping {
            Stepping::Dynamic(_) => Self::Dynamic,
            Stepping::Quasistatic(_) => Self::Quasistatic,
            Stepping::Spook(_) => Self::Spook,
            Stepping::Continuous(_) => Self::Continuous,
        }
    }
}

/// Checks the length of the steps.
///
/// # Errors
/// Steps that are too long for their mode.
pub(crate) fn check_step(settings: &StepSettings) -> Result<(), String> {
    let mode = Mode::of(&settings.stepping);
    let longest = settings.stepping.step_max();
    if settings.step() <= longest {
        return Ok(());
    }
    Err(format!(
        "a step of {} s is too long for {} steps, which take at most {longest} s (quasistatic ones {QUASISTATIC_STEP_MAX} s): \
         choose a shorter 'step', or set 'step' and 'stepping' together (set_parameters_atomically)",
        Number(settings.step()),
        mode.name()
    ))
}

/// Logs the settings of a scene that steps of its own mode or of the parameter's do not use.
pub(crate) fn warn_of_unused(loaded: &LoadedScene, stepping: &Stepping) {
    for unused in loaded.unused_settings(stepping) {
        tracing::warn!("{unused}");
    }
}

/// The scene's own stepping mode, and its options for each mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SceneStepping {
    pub(crate) settings: StepSettings,
    pub(crate) dynamic: DynamicStepping,
    pub(crate) quasistatic: QuasistaticStepping,
    pub(crate) spook: SpookStepping,
    pub(crate) continuous: ContinuousStepping,
}

impl SceneStepping {
    /// Those of a scene.
    pub(crate) fn of(loaded: &LoadedScene) -> Self {
        Self {
            settings: loaded.settings,
            dynamic: loaded.dynamic,
            quasistatic: loaded.quasistatic,
            spook: loaded.spook,
            continuous: loaded.continuous,
        }
    }

    /// The time stepper that `settings` select.
    pub(crate) fn with_settings(&self, settings: &RunSettings) -> StepSettings {
        let threads = if settings.threads == 0 { self.settings.threads } else { settings.threads };
        StepSettings { threads, ..self.with(settings.mode, settings.step_ns) }
    }

    /// The time stepper with steps of that mode and length \[ns\]; a length of 0 is the scene's.
    pub(crate) fn with(&self, mode: Mode, step_ns: u64) -> StepSettings {
        StepSettings {
            step_ns: if step_ns == 0 { self.settings.step_ns } else { step_ns },
            stepping: match mode {
                Mode::Scene => self.settings.stepping,
                Mode::Dynamic => Stepping::Dynamic(self.dynamic),
                Mode::Quasistatic => Stepping::Quasistatic(self.quasistatic),
                Mode::Spook => Stepping::Spook(self.spook),
                Mode::Continuous => Stepping::Continuous(self.continuous),
            },
            ..self.settings
        }
    }
}

/// Parts of the scene that can change while the simulation runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Physics {
    /// Gravity [m/s2, world].
    pub(crate) gravity_W: Vector3,
    /// Stiffness and damping of each joint's actuator.
    pub(crate) gains: Vec<(f64, f64)>,
}

impl Physics {
    /// Gravity and gains of `scene`.
    pub(crate) fn of(scene: &Scene) -> Self {
        let gains = scene.actuators().iter().map(|actuator| (actuator.stiffness, actuator.damping)).collect();
        Self { gravity_W: *scene.model().gravity_W(), gains }
    }

    /// Sets gravity and gains of a simulation; the gains are those of its joints. Equal values are skipped,
    /// because a change copies the shared scene.
    ///
    /// # Errors
    /// The first value that the scene refuses; the values before it are set.
    pub(crate) fn apply(&self, simulation: &mut Simulation) -> Result<(), SceneChangeError> {
        let now = Self::of(simulation.scene());
        if self.gravity_W != now.gravity_W {
            simulation.set_gravity(self.gravity_W)?;
        }
        let mut gains = self.gains.iter().zip(&now.gains).enumerate().filter(|(_, (wanted, now))| wanted != now);
        gains.try_for_each(|(joint, ((stiffness, damping), _))| {
            simulation.set_gains(ScalarJointIndex::from_usize(joint), *stiffness, *damping)
        })
    }
}
