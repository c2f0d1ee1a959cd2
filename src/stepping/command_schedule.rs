//! Commands over simulated time, as waveforms: for runs without a controller.

use std::f64::consts::TAU;

use super::JointCommand;
use crate::math::{Index, ScalarJointIndex};
use crate::multibody::JointKind;
use crate::scene::Scene;

/// A value over simulated time, in the unit of its quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Waveform {
    /// A constant value.
    Constant(f64),
    /// `first` for the first part of each period, `then` for the rest.
    SquareWave {
        /// Value of the first part.
        first: f64,
        /// Value of the rest.
        then: f64,
        /// Period \[ns\].
        period_ns: u64,
        /// Length of the first part \[ns\].
        first_ns: u64,
    },
    /// mean + amplitude sin(2 pi t / period + phase).
    Sine {
        /// Mean value.
        mean: f64,
        /// Amplitude.
        amplitude: f64,
        /// Period \[s\].
        period: f64,
        /// Phase at t = 0 \[rad\].
        phase: f64,
    },
    /// Linear between points (time \[s\], value), constant before the first and after the last; times
    /// increase.
    Table(Vec<(f64, f64)>),
}

impl Waveform {
    /// The value at `time_ns` \[ns\]. The square wave switches on the nanosecond, free of rounding.
    pub fn value(&self, time_ns: u64) -> f64 {
        let time = time_ns as f64 * 1e-9;
        match self {
            Waveform::Constant(value) => *value,
            Waveform::SquareWave { first, then, period_ns, first_ns } => {
                if time_ns.checked_rem(*period_ns).unwrap_or(0) < *first_ns { *first } else { *then }
            }
            Waveform::Sine { mean, amplitude, period, phase } => mean + amplitude * (TAU * time / period + phase).sin(),
            Waveform::Table(points) => interpolate(points, time),
        }
    }
}

impl Waveform {
    /// The least and the largest value.
    pub fn range(&self) -> (f64, f64) {
        match self {
            Waveform::Constant(value) => (*value, *value),
            Waveform::SquareWave { first, then, .. } => (first.min(*then), first.max(*then)),
            Waveform::Sine { mean, amplitude, .. } => (mean - amplitude.abs(), mean + amplitude.abs()),
            Waveform::Table(points) => {
                let values = || points.iter().map(|(_, value)| *value);
                (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }
}

fn interpolate(points: &[(f64, f64)], time: f64) -> f64 {
    let next = points.partition_point(|(t, _)| *t <= time);
    match (next.checked_sub(1).and_then(|last| points.get(last)), points.get(next)) {
        (Some((t0, x0)), Some((t1, x1))) => x0 + (x1 - x0) * (time - t0) / (t1 - t0),
        (Some((_, value)), None) | (None, Some((_, value))) => *value,
        (None, None) => 0.0,
    }
}

/// The warning of a commanded position or effort beyond the limits of its joint. A position beyond them is
/// not changed: the joint stops at its limit, and the actuator pushes on. A larger effort is not applied.
pub fn beyond_limits(scene: &Scene, joint: ScalarJointIndex, quantity: &str, value: f64) -> Option<String> {
    let number = joint.to_usize();
    let (of_joint, actuator) = (&scene.model().joints()[scene.joints()[number]], &scene.actuators()[number]);
    let limits = &of_joint.limits;
    let (lower, upper) = match quantity {
        "position" => (limits.lower, limits.upper),
        _ => (-actuator.effort_limit, actuator.effort_limit),
    };
    if !value.is_finite() || (lower..=upper).contains(&value) {
        return None;
    }
    let limit = value.clamp(lower, upper);
    let turns = of_joint.kind != JointKind::Prismatic;
    let what = match (quantity, turns) {
        ("position", true) if value.abs() <= 360.0 && (lower..=upper).contains(&value.to_radians()) => format!(
            "rad: the joint stops there, and its actuator pushes on; command a position within, or, if this is in degrees, \
             {:.4}",
            value.to_radians()
        ),
        ("position", turns) => {
            let unit = if turns { "rad" } else { "m" };
            format!("{unit}: the joint stops there, and its actuator pushes on; command a position within")
        }
        (_, turns) => format!("{}; the limit is used", if turns { "N m" } else { "N" }),
    };
    let name = &scene.joint_names()[number];
    Some(format!("{quantity} {value} of joint `{name}` exceeds its limit of {limit} {what}"))
}

/// The commands of one joint over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointSchedule {
    /// The joint.
    pub joint: ScalarJointIndex,
    /// Position \[rad\] or \[m\].
    pub position: Option<Waveform>,
    /// Velocity [rad/s] or [m/s].
    pub velocity: Option<Waveform>,
    /// Feed-forward effort [N m] or \[N\].
    pub effort: Option<Waveform>,
}

/// Commands over simulated time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandSchedule {
    /// One entry per commanded joint.
    pub joints: Vec<JointSchedule>,
}

impl CommandSchedule {
    /// Writes the targets at a time into `command`, which has one target per joint of the scene. Joints and
    /// quantities without a schedule do not change. A step from t to t + dt uses the command of t.
    pub fn fill(&self, time_ns: u64, command: &mut JointCommand) {
        for schedule in &self.joints {
            let Some(target) = command.targets.get_mut(schedule.joint) else { continue };
            for (waveform, quantity) in [
                (&schedule.position, &mut target.position),
                (&schedule.velocity, &mut target.velocity),
                (&schedule.effort, &mut target.effort),
            ] {
                if let Some(waveform) = waveform {
                    *quantity = Some(waveform.value(time_ns));
                }
            }
        }
    }
    /// Whether nothing is commanded.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the definitions, at the switching nanosecond and at the table's points.
    #[test]
    fn waveforms_follow_their_definitions() {
        let square = Waveform::SquareWave { first: 16.0, then: 1.0, period_ns: 6_000_000_000, first_ns: 4_500_000_000 };
        for (time_ns, value) in [(0, 16.0), (4_499_999_999, 16.0), (4_500_000_000, 1.0), (6_000_000_000, 16.0)] {
            assert_eq!(square.value(time_ns), value);
        }
        let table = Waveform::Table(vec![(1.0, 2.0), (2.0, 4.0), (4.0, 0.0)]);
        for (time_ns, value) in [(0, 2.0), (1_500_000_000, 3.0), (3_000_000_000, 2.0), (9_000_000_000, 0.0)] {
            assert_eq!(table.value(time_ns), value);
        }
        let sine = Waveform::Sine { mean: 1.0, amplitude: 0.5, period: 2.0, phase: 0.0 };
        assert!((sine.value(500_000_000) - 1.5).abs() < 1e-15);
    }
}
