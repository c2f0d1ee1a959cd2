//! The node's parameters: declared once in a table, checked, described.

use std::fmt::Write;

use r2r::indexmap::IndexMap;
use r2r::{Parameter, ParameterValue, RosParams};

use super::exchange::{Rates, RunSettings};
use super::names::did_you_mean;

/// What a parameter may be.
enum Kind {
    Bool(bool),
    Text(&'static str),
    /// Default, lowest and highest value.
    Number(f64, f64, f64),
}

struct Declaration {
    name: &'static str,
    kind: Kind,
    /// Whether it can be changed while the node runs.
    dynamic: bool,
    description: &'static str,
}

/// No topic and no clock is faster than this [Hz].
const RATE_MAX: f64 = 1e6;
/// A rate below zero: the scene's own.
const FROM_SCENE: f64 = -1.0;

const fn rate(name: &'static str, description: &'static str) -> Declaration {
    Declaration { name, kind: Kind::Number(FROM_SCENE, FROM_SCENE, RATE_MAX), dynamic: true, description }
}

const TABLE: [Declaration; 13] = [
    Declaration { name: "scene", kind: Kind::Text(""), dynamic: false, description: "Scene file (YAML)." },
    Declaration {
        name: "real_time_factor",
        kind: Kind::Number(1.0, 0.0, 1e3),
        dynamic: true,
        description: "Simulated seconds a second of real time; 0 is as fast as possible.",
    },
    rate("clock_rate", "/clock [Hz of simulated time]; 0 is never, -1 takes the scene's."),
    rate("joint_state_rate", "joint_states [Hz of simulated time]; 0 is never, -1 takes the scene's."),
    rate("wrench_rate", "~/wrench/<body> [Hz of simulated time]; 0 is never, -1 takes the scene's."),
    rate("pose_rate", "~/pose/<body> and /tf of free bodies [Hz of simulated time]; 0 is never, -1 takes the scene's."),
    rate("output_rate", "~/output/<name> [Hz of simulated time]; 0 is never, -1 takes the rate of the wrenches."),
    rate("marker_rate", "~/contact_markers [Hz of real time, at most 30]; 0 is never, -1 takes the scene's."),
    Declaration {
        name: "marker_pressure_max",
        kind: Kind::Number(0.0, 0.0, 1e12),
        dynamic: true,
        description: "Pressure at the end of the markers' colour scale [Pa]; 0 takes the largest at hand.",
    },
    Declaration {
        name: "publish_clock",
        kind: Kind::Bool(true),
        dynamic: false,
        description: "Whether this node owns /clock.",
    },
    Declaration {
        name: "publish_tf",
        kind: Kind::Bool(true),
        dynamic: false,
        description: "Whether the poses of free bodies go to /tf; needs tf2_msgs when the node is built.",
    },
    Declaration {
        name: "publish_robot_description",
        kind: Kind::Bool(false),
        dynamic: false,
        description: "Whether the URDF text is published, latched; robot_state_publisher usually does it.",
    },
    Declaration {
        name: "world_frame",
        kind: Kind::Text("world"),
        dynamic: false,
        description: "Frame id of markers, poses and /tf.",
    },
];

/// Names that ROS itself may set on any node.
const FOREIGN: [&str; 2] = ["use_sim_time", "start_type_description_service"];
const FOREIGN_PREFIX: &str = "qos_overrides.";

/// The parameters' values.
pub(super) struct Parameters {
    values: Vec<ParameterValue>,
    running: bool,
    problems: Vec<String>,
    use_sim_time: bool,
}

impl Parameters {
    pub(super) fn new() -> Self {
        let value = |declaration: &Declaration| match declaration.kind {
            Kind::Bool(default) => ParameterValue::Bool(default),
            Kind::Text(default) => ParameterValue::String(default.to_owned()),
            Kind::Number(default, ..) => ParameterValue::Double(default),
        };
        Self { values: TABLE.iter().map(value).collect(), running: false, problems: Vec::new(), use_sim_time: false }
    }

    /// What was wrong with the values given at the start.
    pub(super) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Whether the simulator was told to follow a clock, although it is the clock.
    pub(super) fn use_sim_time(&self) -> bool {
        self.use_sim_time
    }

    /// From now on only dynamic parameters change.
    pub(super) fn start(&mut self) {
        self.running = true;
    }

    fn value(&self, name: &str) -> Option<&ParameterValue> {
        TABLE.iter().position(|declaration| declaration.name == name).map(|index| &self.values[index])
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        if let Some(ParameterValue::Double(value)) = self.value(name) { *value } else { 0.0 }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        matches!(self.value(name), Some(ParameterValue::Bool(true)))
    }

    pub(super) fn text(&self, name: &str) -> &str {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        if let Some(ParameterValue::String(value)) = self.value(name) { value } else { "" }
    }

    /// What the running node follows: these values, and the scene's rates where they say so.
    pub(super) fn run_settings(&self, scene: &Rates, scene_markers: f64) -> RunSettings {
        let rate = |name: &str, fallback: f64| {
            let rate = self.number(name);
            if rate < 0.0 { fallback } else { rate }
        };
        let wrenches = rate("wrench_rate", scene.wrenches);
        RunSettings {
            real_time_factor: self.number("real_time_factor"),
            rates: Rates {
                clock: if self.flag("publish_clock") { rate("clock_rate", scene.clock) } else { 0.0 },
                joint_states: rate("joint_state_rate", scene.joint_states),
                wrenches,
                poses: rate("pose_rate", scene.poses),
                outputs: rate("output_rate", wrenches),
            },
            marker_rate: rate("marker_rate", scene_markers),
            marker_pressure_max: self.number("marker_pressure_max"),
        }
    }

    /// The value as the table's type, or why it is refused.
    fn checked(name: &str, value: &ParameterValue) -> Result<(usize, ParameterValue), String> {
        let Some(index) = TABLE.iter().position(|declaration| declaration.name == name) else {
            return Err(format!("unknown parameter{}", did_you_mean(name, TABLE.iter().map(|known| known.name))));
        };
        let wrong = |expected: &str| Err(format!("expected {expected}, got {}", value.type_name()));
        let checked = match (&TABLE[index].kind, value) {
            (Kind::Bool(_), ParameterValue::Bool(_)) | (Kind::Text(_), ParameterValue::String(_)) => value.clone(),
            (Kind::Bool(_), _) => return wrong("a boolean"),
            (Kind::Text(_), _) => return wrong("a string"),
            (Kind::Number(_, lowest, highest), _) => {
                let number = match value {
                    ParameterValue::Double(number) => *number,
                    ParameterValue::Integer(number) => *number as f64,
                    _ => return wrong("a number"),
                };
                if !(*lowest..=*highest).contains(&number) {
                    return Err(format!("{number} is out of range; it must be from {lowest} to {highest}"));
                }
                ParameterValue::Double(number)
            }
        };
        Ok((index, checked))
    }

    fn changeable(&self, name: &str, value: &ParameterValue) -> Result<(usize, ParameterValue), String> {
        let (index, checked) = Self::checked(name, value)?;
        if self.running && !TABLE[index].dynamic && self.values[index] != checked {
            return Err("can only be set at the start".to_owned());
        }
        Ok((index, checked))
    }

    fn take_initial(&mut self, name: &str, value: &ParameterValue) {
        if name == "use_sim_time" {
            self.use_sim_time = *value == ParameterValue::Bool(true);
        }
        if FOREIGN.contains(&name) || name.starts_with(FOREIGN_PREFIX) {
            return;
        }
        match Self::checked(name, value) {
            Ok((index, checked)) => self.values[index] = checked,
            Err(problem) => self.problems.push(format!("parameter '{name}': {problem}")),
        }
    }
}

fn refusal(name: &str, problem: String) -> r2r::Error {
    r2r::Error::ParameterValueConv { name: name.to_owned(), msg: problem }
}

impl RosParams for Parameters {
    fn register_parameters(
        &mut self,
        _prefix: &str,
        _parameter: Option<Parameter>,
        parameters: &mut IndexMap<String, Parameter>,
    ) -> r2r::Result<()> {
        for (name, parameter) in parameters.iter() {
            self.take_initial(name, &parameter.value);
        }
        parameters.clear();
        for (declaration, value) in TABLE.iter().zip(&self.values) {
            let description = declaration.description;
            parameters.insert(declaration.name.to_owned(), Parameter { value: value.clone(), description });
        }
        Ok(())
    }

    fn get_parameter(&mut self, name: &str) -> r2r::Result<ParameterValue> {
        self.value(name).cloned().ok_or_else(|| refusal(name, "unknown parameter".to_owned()))
    }

    fn set_parameter(&mut self, name: &str, value: &ParameterValue) -> r2r::Result<()> {
        let (index, checked) = self.changeable(name, value).map_err(|problem| refusal(name, problem))?;
        self.values[index] = checked;
        Ok(())
    }

    fn check_parameter(&self, name: &str, value: &ParameterValue) -> r2r::Result<()> {
        self.changeable(name, value).map(drop).map_err(|problem| refusal(name, problem))
    }
}

/// The parameters as a table for `--help`.
pub(super) fn help() -> String {
    let mut text = String::new();
    for declaration in &TABLE {
        let default = match declaration.kind {
            Kind::Bool(default) => default.to_string(),
            Kind::Text(default) => format!("'{default}'"),
            Kind::Number(default, ..) => default.to_string(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {:26}{} Default {default}.", declaration.name, declaration.description);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(given: &[(&str, ParameterValue)]) -> (Parameters, IndexMap<String, Parameter>) {
        let mut map: IndexMap<String, Parameter> =
            given.iter().map(|(name, value)| ((*name).to_owned(), Parameter::new(value.clone()))).collect();
        let mut parameters = Parameters::new();
        parameters.register_parameters("", None, &mut map).unwrap();
        (parameters, map)
    }

    #[test]
    fn given_values_are_taken_and_the_rest_is_declared_with_descriptions() {
        let given = [("real_time_factor", ParameterValue::Integer(2)), ("use_sim_time", ParameterValue::Bool(true))];
        let (parameters, map) = registered(&given);
        assert!(parameters.problems().is_empty() && parameters.use_sim_time());
        assert_eq!(parameters.number("real_time_factor"), 2.0);
        assert_eq!(map.len(), TABLE.len());
        assert!(map.values().all(|parameter| !parameter.description.is_empty()));
    }

    #[test]
    fn typos_wrong_types_and_ranges_are_named() {
        let (parameters, _) = registered(&[
            ("real_time_facotr", ParameterValue::Double(1.0)),
            ("scene", ParameterValue::Bool(true)),
            ("clock_rate", ParameterValue::Double(f64::NAN)),
        ]);
        let problems = parameters.problems();
        assert_eq!(problems[0], "parameter 'real_time_facotr': unknown parameter; did you mean 'real_time_factor'?");
        assert_eq!(problems[1], "parameter 'scene': expected a string, got boolean");
        assert!(problems[2].contains("out of range"), "{}", problems[2]);
    }

    #[test]
    fn only_dynamic_parameters_change_once_the_node_runs() {
        let (mut parameters, _) = registered(&[]);
        parameters.start();
        parameters.set_parameter("real_time_factor", &ParameterValue::Double(0.5)).unwrap();
        assert_eq!(parameters.number("real_time_factor"), 0.5);
        assert!(parameters.set_parameter("scene", &ParameterValue::String("other".to_owned())).is_err());
        assert!(parameters.check_parameter("real_time_factor", &ParameterValue::Double(-1.0)).is_err());
    }
}
