//! The inputs of a step.

use super::command::JointCommand;
use super::settings::CommonSettings;
use crate::math::{BodyIndex, IndexVec, SpatialForce};
use crate::multibody::State;
use crate::scene::Scene;

/// State and commands at the start of a step.
#[derive(Clone, Copy)]
pub(super) struct StepStart<'a> {
    /// Joints with stiffness and without a command are held at these positions in dynamic steps.
    pub(super) initial: &'a State,
    /// Positions and velocities now.
    pub(super) state: &'a State,
    /// Velocities at the start of the previous step, or those of `state` if there was none. The warm start
    /// uses them.
    pub(super) v_before: &'a [f64],
    /// The standing command.
    pub(super) command: &'a JointCommand,
    /// Generalized forces of the external wrenches [N m] or \[N\].
    pub(super) external: &'a [f64],
    /// The external wrenches on the bodies about their origins, in world axes [N m, N].
    pub(super) wrenches: &'a IndexVec<BodyIndex, SpatialForce>,
}

/// Everything that a step reads and does not change.
pub(super) struct StepInput<'a> {
    pub(super) scene: &'a Scene,
    pub(super) settings: &'a CommonSettings,
    /// Positions, velocities and commands.
    pub(super) start: StepStart<'a>,
    /// Simulated time \[s\].
    pub(super) time: f64,
    /// Reads the wall clock \[s\]; `None` if times are not measured.
    pub(super) clock: Option<&'a dyn Fn() -> f64>,
}

impl StepInput<'_> {
    /// The present time of the clock \[s\]; 0 without one.
    pub(super) fn now(&self) -> f64 {
        self.clock.map_or(0.0, |clock| clock())
    }
}
