//! Everything that can be chosen about stepping.

use crate::geometry::FaceRepresentation;
use crate::solvers::NewtonSettings;
use crate::solvers::quasistatic::QuasistaticSettings;

/// Which dissipation law the contacts follow; each contact's coefficient comes from its materials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DissipationModel {
    /// Hunt-Crossley, f = fe (1 - d vn)+.
    #[default]
    HuntCrossley,
    /// Linear with a relaxation time, [Masterjohn 2022, eqs. 1-3].
    Linear,
}

/// What takes a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stepping {
    /// Newton's law with implicit contact and impedances: momentum, gyroscopic forces, damping, dissipation.
    #[default]
    Dynamic,
    /// Equilibrium at the end of each step, without momentum from step to step [Pang & Tedrake 2021].
    Quasistatic(QuasistaticStepping),
}

/// What holds an unactuated joint or a free body where contact leaves it free to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnactuatedInertia {
    /// Nothing: purely quasistatic. What has weight needs a contact that supports it.
    None,
    /// Its mass matrix M_u, from rest in each step: quasi-dynamic. What nothing supports falls by g h^2 in a step h.
    Mass,
    /// Each body's mass matrix M_b times h^2 min(K_a)/(s max diag M_b), which makes it s times weaker than the weakest
    /// actuator: a regularization without a physical meaning, the same for light and heavy bodies.
    Scaled {
        /// s [-].
        divisor: f64,
    },
}

impl UnactuatedInertia {
    /// The scaled mass with the divisor that is used where none is stated.
    pub const SCALED: Self = Self::Scaled { divisor: 5.0 };
}

/// How a quasistatic step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasistaticStepping {
    /// Inertia of what no actuator drives.
    pub inertia: UnactuatedInertia,
    /// Rigid geometries that are nearer than this may touch within the step [m]. What moves farther is looked for farther.
    pub detection: f64,
    /// The solver, its friction model, tolerance and limits.
    pub solver: QuasistaticSettings,
}

impl Default for QuasistaticStepping {
    fn default() -> Self {
        Self { inertia: UnactuatedInertia::Mass, detection: 5e-3, solver: QuasistaticSettings::default() }
    }
}

/// How a step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings {
    /// Step dt [ns]: an integer, so that times compare equal.
    pub step_ns: u64,
    /// Slip speed below which friction is regularized, v_s [m/s]; for dry joint friction [rad/s].
    pub stiction_tolerance: f64,
    /// Friction compliance sigma [-]: the regularization speed of a face is at least mu sigma w n0, with w the
    /// inverse effective mass and n0 the normal impulse. 0 leaves v_s alone; 1e-3 is the convention of the
    /// semi-analytic primal solvers.
    pub friction_compliance: f64,
    /// Dissipation law.
    pub dissipation: DissipationModel,
    /// Whether a pair of elements makes one face or a fan of triangles.
    pub faces: FaceRepresentation,
    /// The dynamic solver's tolerance and limits.
    pub solver: NewtonSettings,
    /// Dynamic or quasistatic, with the options of that mode.
    pub stepping: Stepping,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            step_ns: 1_000_000,
            stiction_tolerance: 1e-6,
            friction_compliance: 0.0,
            dissipation: DissipationModel::default(),
            faces: FaceRepresentation::default(),
            solver: NewtonSettings::default(),
            stepping: Stepping::default(),
        }
    }
}

impl StepSettings {
    /// dt [s].
    pub fn step(&self) -> f64 {
        self.step_ns as f64 * 1e-9
    }
}
