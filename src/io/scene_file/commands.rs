//! Commands that a scene file brings along: waveforms over simulated time, for runs without a controller.

use std::f64::consts::TAU;

use super::error::{Place, SceneError};
use super::reader::{Named, Range, Section, list, number, wrong_type};
use super::yaml::{Key, Node, Value};
use crate::stepping::JointCommand;

/// A value over simulated time.
#[derive(Clone, Debug, PartialEq)]
pub enum Waveform {
    /// The same value always.
    Constant(f64),
    /// `first` for the first part of each period, `then` for the rest.
    SquareWave {
        /// Value of the first part.
        first: f64,
        /// Value of the rest.
        then: f64,
        /// Period [ns].
        period_ns: u64,
        /// Length of the first part [ns].
        first_ns: u64,
    },
    /// mean + amplitude sin(2 pi t / period + phase).
    Sine {
        /// Mean value.
        mean: f64,
        /// Amplitude.
        amplitude: f64,
        /// Period [s].
        period: f64,
        /// Phase at t = 0 [rad].
        phase: f64,
    },
    /// Linear between points (time [s], value), constant before the first and after the last; times increase.
    Table(Vec<(f64, f64)>),
}

impl Waveform {
    /// The value at a time. The square wave switches on the nanosecond, free of rounding.
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

fn interpolate(points: &[(f64, f64)], time: f64) -> f64 {
    let next = points.partition_point(|(t, _)| *t <= time);
    match (next.checked_sub(1).and_then(|last| points.get(last)), points.get(next)) {
        (Some((t0, x0)), Some((t1, x1))) => x0 + (x1 - x0) * (time - t0) / (t1 - t0),
        (Some((_, value)), None) | (None, Some((_, value))) => *value,
        (None, None) => 0.0,
    }
}

/// What is commanded of one joint over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointSchedule {
    /// Where the joint stands in `Scene::joint_names`.
    pub joint: usize,
    /// Position [rad] or [m].
    pub position: Option<Waveform>,
    /// Velocity [rad/s] or [m/s].
    pub velocity: Option<Waveform>,
    /// Feed-forward effort [N m] or [N].
    pub effort: Option<Waveform>,
}

/// The commands of a scene file over simulated time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandSchedule {
    /// One entry a commanded joint.
    pub joints: Vec<JointSchedule>,
}

impl CommandSchedule {
    /// Writes the targets at a time into `command`, which has one target a joint of the scene; joints and quantities
    /// without a schedule keep what they have. A step from t to t + dt takes the command of t.
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

/// The schedule of a joint whose name is still unresolved.
#[derive(Clone, Debug)]
pub(super) struct CommandSpec {
    pub(super) joint: Named,
    pub(super) schedule: JointSchedule,
}

/// Reads one entry of `commands`.
pub(super) fn read_command((key, node): &(Key, Node)) -> Result<CommandSpec, SceneError> {
    let section = Section::new(node, "a command", &["position", "velocity", "effort"])?;
    let waveform = |quantity| section.get(quantity).map(|node| read_waveform(node, quantity)).transpose();
    let schedule = JointSchedule {
        joint: 0,
        position: waveform("position")?,
        velocity: waveform("velocity")?,
        effort: waveform("effort")?,
    };
    Ok(CommandSpec { joint: Named { place: key.place.clone(), name: key.name.clone() }, schedule })
}

/// Periods and times in files [s]: from a microsecond to a year.
const TIME: Range = Range::Between(1e-6, 3.2e7, "s");

fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn read_waveform(node: &Node, quantity: &str) -> Result<Waveform, SceneError> {
    if matches!(node.value, Value::Number(_)) {
        return Ok(Waveform::Constant(number(node, quantity, Range::Any)?));
    }
    let (key, inner) = Section::only(node, "a waveform", &["constant", "square_wave", "sine", "table"])?;
    let needed = |section: &Section<'_>, name, unit, range, example| {
        section.require(name, example).and_then(|node| number(node, &format!("`{name}` {unit}"), range))
    };
    match key.name.as_str() {
        "constant" => Ok(Waveform::Constant(number(inner, "`constant`", Range::Any)?)),
        "square_wave" => {
            let wave = Section::new(inner, "`square_wave`", &["first", "then", "period", "duty"])?;
            let period = needed(&wave, "period", "[s]", TIME, "period: 6")?;
            let duty = wave.number("duty", "[-]", Range::Between(0.0, 1.0, "(no unit)"))?.unwrap_or(0.5);
            Ok(Waveform::SquareWave {
                first: needed(&wave, "first", "", Range::Any, "first: 16")?,
                then: needed(&wave, "then", "", Range::Any, "then: 1")?,
                period_ns: to_ns(period),
                first_ns: to_ns(period * duty),
            })
        }
        "sine" => {
            let sine = Section::new(inner, "`sine`", &["mean", "amplitude", "period", "phase"])?;
            Ok(Waveform::Sine {
                mean: sine.number("mean", "", Range::Any)?.unwrap_or(0.0),
                amplitude: needed(&sine, "amplitude", "", Range::Any, "amplitude: 0.1")?,
                period: needed(&sine, "period", "[s]", TIME, "period: 2")?,
                phase: sine.number("phase", "[rad]", Range::Any)?.unwrap_or(0.0),
            })
        }
        _ => read_table(inner),
    }
}

fn read_table(node: &Node) -> Result<Waveform, SceneError> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for item in list(node, "`table`")? {
        let [time, value] = list(item, "a point of `table`")? else {
            return Err(wrong_type(item, "a point of `table`", "a time [s] and a value, as in `[1.5, 16]`"));
        };
        let at = number(time, "the time [s] of a point", Range::NotNegative)?;
        if points.last().is_some_and(|(last, _)| *last >= at) {
            return Err(not_increasing(&time.place, at));
        }
        points.push((at, number(value, "the value of a point", Range::Any)?));
    }
    if points.is_empty() {
        return Err(wrong_type(node, "`table`", "at least one point, as in `[[0, 1], [1.5, 16]]`"));
    }
    Ok(Waveform::Table(points))
}

fn not_increasing(place: &Place, value: f64) -> SceneError {
    let allowed = "later than the point before it: sort the table by time".to_owned();
    SceneError::OutOfRange { place: place.clone(), what: "the time [s] of a point".to_owned(), value, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Definitions, at the switching nanosecond and at the table's points.
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
