//! Everything that can be chosen about stepping.

use crate::geometry::FaceRepresentation;
use crate::solvers::NewtonSettings;

/// Which dissipation law the contacts follow; each contact's coefficient comes from its materials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DissipationModel {
    /// Hunt-Crossley, f = fe (1 - d vn)+.
    #[default]
    HuntCrossley,
    /// Linear with a relaxation time, [Masterjohn 2022, eqs. 1-3].
    Linear,
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
    /// The solver's tolerance and limits.
    pub solver: NewtonSettings,
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
        }
    }
}

impl StepSettings {
    /// dt [s].
    pub fn step(&self) -> f64 {
        self.step_ns as f64 * 1e-9
    }
}
