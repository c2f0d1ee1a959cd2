//! The section `commands` of a scene file.

use super::error::{Place, SceneError};
use super::reader::{Named, Range, Section, list, number, wrong_type};
use super::yaml::{Key, Node, Value};
use crate::math::ScalarJointIndex;
use crate::stepping::{JointSchedule, Waveform};

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
        joint: ScalarJointIndex::default(),
        position: waveform("position")?,
        velocity: waveform("velocity")?,
        effort: waveform("effort")?,
    };
    Ok(CommandSpec { joint: Named { place: key.place.clone(), name: key.name.clone() }, schedule })
}

/// The range of periods in files \[s\]: from a microsecond to a year.
const TIME: Range = Range::Between(1e-6, 3.2e7, "s");

fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Reads a number or a waveform of `quantity`.
pub(super) fn read_waveform(node: &Node, quantity: &str) -> Result<Waveform, SceneError> {
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
    let allowed = "later than the previous point: sort the table by time".to_owned();
    SceneError::OutOfRange { place: place.clone(), what: "the time [s] of a point".to_owned(), value, allowed }
}
