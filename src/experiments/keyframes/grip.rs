//! Two fingers by position or by force, and what their pads feel.

use super::task::{Fingers, GripState};
use crate::math::{SpatialForce, Vector3};

/// The integral is at most this part of the wanted force, so that it can neither let go nor crush [-].
const INTEGRAL_LIMIT: f64 = 0.3;
/// The integral counts only when the force has risen to this part of the wanted one [-].
const SETTLED: f64 = 0.7;
/// Damping of the centering and opening spring, a time [s]: damping = this times the stiffness.
const DAMPING_TIME: f64 = 0.02;

/// Force control of the fingers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grip {
    /// The force of the ramp [N].
    force: f64,
    /// The integral of the measured error [N].
    integral: f64,
}

/// What the fingers' sensors tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct FingerMeasurement {
    /// Position of the finger [m].
    pub position: f64,
    /// Its speed [m/s].
    pub velocity: f64,
    /// Contact wrench on its pad, about the pad's origin [N m, N], in the pad's axes.
    pub F_P: SpatialForce,
}

/// How hard the pads are pressed: the mean of both [N].
pub(super) fn pad_force(fingers: &Fingers, measured: &[FingerMeasurement; 2]) -> f64 {
    let axis = Vector3::from(fingers.axis);
    0.5 * (measured[1].F_P.f.dot(&axis) - measured[0].F_P.f.dot(&axis))
}

impl Grip {
    /// Efforts of the two fingers [N] for the next `dt` [s].
    pub(super) fn efforts(
        &mut self,
        fingers: &Fingers,
        state: GripState,
        measured: &[FingerMeasurement; 2],
        dt: f64,
    ) -> [f64; 2] {
        let spring = |stiffness: f64, error: f64, velocity: f64| stiffness * (error - DAMPING_TIME * velocity);
        if state == GripState::Open {
            *self = Self::default();
            let target = [-fingers.open, fingers.open];
            return std::array::from_fn(|i| {
                spring(fingers.stiffness, target[i] - measured[i].position, measured[i].velocity)
            });
        }
        self.force = (self.force + fingers.ramp * dt).min(fingers.force);
        let felt = pad_force(fingers, measured);
        if felt > SETTLED * fingers.force {
            let limit = INTEGRAL_LIMIT * fingers.force;
            self.integral = (self.integral + fingers.integral * (self.force - felt) * dt).clamp(-limit, limit);
        }
        let middle = 0.5 * (measured[0].position + measured[1].position);
        let drift = 0.5 * (measured[0].velocity + measured[1].velocity);
        let back = spring(fingers.centering, -middle, drift);
        let close = self.force + self.integral;
        [close + back, -close + back]
    }
}
