//! Two fingers that open by position and close by force.

use super::task::{Finger, ForceControl};
use crate::math::Vector3;

/// The integral is at most this part of the wanted force, so that it can neither open the grip nor crush the
/// object [-].
const INTEGRAL_LIMIT: f64 = 0.3;
/// The integral starts when the force has risen to this part of the wanted one [-].
const SETTLED: f64 = 0.7;
/// Damping of the centering and opening spring, a time \[s\]: damping = this times the stiffness.
const DAMPING_TIME: f64 = 0.02;

/// The target of the gripper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GripCommand {
    /// Move to this opening \[m\] or \[rad\].
    Open(f64),
    /// Close with this force \[N\].
    Close(f64),
}

/// A finger's joint as measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JointMeasurement {
    /// Position \[m\] or \[rad\].
    pub(super) position: f64,
    /// Velocity [m/s] or [rad/s].
    pub(super) velocity: f64,
}

/// Force control of two fingers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grip {
    /// The force of the ramp \[N\].
    force: f64,
    /// The integral of the measured error \[N\].
    integral: f64,
}

/// The mean force that presses the pads of two fingers \[N\]. `forces` are in the pads' axes.
pub(super) fn closing_force(fingers: &[Finger], control: &ForceControl, forces: &[Vector3]) -> f64 {
    let axis = Vector3::from(control.axis);
    let along = fingers.iter().zip(forces).map(|(finger, force)| finger.factor.signum() * force.dot(&axis));
    0.5 * along.sum::<f64>()
}

impl Grip {
    /// Efforts of the two fingers \[N\] for the next `dt` \[s\]; `felt` is their current [`closing_force`].
    pub(super) fn efforts(
        &mut self,
        fingers: &[Finger],
        control: &ForceControl,
        command: GripCommand,
        measured: &[JointMeasurement],
        felt: f64,
        dt: f64,
    ) -> Vec<f64> {
        let spring = |stiffness: f64, error: f64, velocity: f64| stiffness * (error - DAMPING_TIME * velocity);
        let wanted = match command {
            GripCommand::Open(opening) => {
                *self = Self::default();
                let open = |(finger, joint): (&Finger, &JointMeasurement)| {
                    spring(control.stiffness, finger.factor * opening - joint.position, joint.velocity)
                };
                return fingers.iter().zip(measured).map(open).collect();
            }
            GripCommand::Close(force) => force,
        };
        self.force = (self.force + control.ramp * dt).min(wanted);
        if felt > SETTLED * wanted {
            let limit = INTEGRAL_LIMIT * wanted;
            self.integral = (self.integral + control.integral * (self.force - felt) * dt).clamp(-limit, limit);
        }
        let middle = 0.5 * measured.iter().map(|joint| joint.position).sum::<f64>();
        let drift = 0.5 * measured.iter().map(|joint| joint.velocity).sum::<f64>();
        let back = spring(control.centering, -middle, drift);
        let close = self.force + self.integral;
        fingers.iter().map(|finger| -finger.factor.signum() * close + back).collect()
    }
}
