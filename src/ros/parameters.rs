//! The node's parameters: declared in one table, checked, described.

use std::fmt::Write;

use super::command::ControlMode;
use super::exchange::{Lockstep, Mode, OnTimeout, Physics, RunSettings};
use super::names::{did_you_mean, shown};
use crate::io::rates::Rates;
use crate::math::Vector3;
use crate::scene::{Actuator, Scene};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    NotSet,
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    /// A type that no parameter of this node has; its name.
    Other(&'static str),
}

impl Value {
    fn type_name(&self) -> &'static str {
        match self {
            Self::NotSet => "nothing",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Number(_) => "double",
            Self::Text(_) => "string",
            Self::Numbers(_) => "double array",
            Self::Other(name) => name,
        }
    }
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Bool,
    Text,
    /// One of these.
    Choice(&'static [&'static str]),
    /// Lowest and highest value.
    Number(f64, f64),
    /// Three numbers, and the largest magnitude of each.
    Vector(f64),
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) default: Value,
    /// Whether it can be changed while the node runs.
    pub(super) dynamic: bool,
    pub(super) description: String,
}

/// No topic and no clock is faster than this [Hz].
const RATE_MAX: f64 = 1e6;
/// A rate below zero: the scene's own.
const FROM_SCENE: f64 = -1.0;
/// No gain is larger [N m/rad, N m s/rad, ...].
const GAIN_MAX: f64 = 1e12;
/// No gravity is stronger [m/s2]: the Sun's is 274.
const GRAVITY_MAX: f64 = 1e3;
const ON_TIMEOUT: [&str; 3] = ["hold", "abort", "continue"];
/// What `stepping` may be; empty is the scene's own.
const STEPPING: [&str; 3] = ["", "dynamic", "quasistatic"];
/// No step is longer [s]: as in scene files.
const STEP_MAX: f64 = 1.0;
/// No step is shorter, except that 0 takes the scene's [s].
const STEP_MIN: f64 = 1e-6;

fn fixed() -> Vec<Declaration> {
    let declare = |name: &str, kind, default, dynamic, description: &str| Declaration {
        name: name.to_owned(),
        kind,
        default,
        dynamic,
        description: description.to_owned(),
    };
    let rate = |name: &str, topic: &str| {
        let description = format!("{topic} [Hz of simulated time]; 0 is never, -1 takes the scene's.");
        declare(name, Kind::Number(FROM_SCENE, RATE_MAX), Value::Number(FROM_SCENE), true, &description)
    };
    let text = |name: &str, default: &str, description: &str| {
        declare(name, Kind::Text, Value::Text(default.to_owned()), false, description)
    };
    let flag =
        |name: &str, default, description: &str| declare(name, Kind::Bool, Value::Bool(default), false, description);
    let number = |name: &str, default, (low, high), dynamic, description: &str| {
        declare(name, Kind::Number(low, high), Value::Number(default), dynamic, description)
    };
    vec![
        text("scene", "", "Scene file (YAML)."),
        declare(
            "stepping",
            Kind::Choice(&STEPPING),
            Value::Text(STEPPING[0].to_owned()),
            true,
            "dynamic, quasistatic, or empty for the scene's own; a change while running holds from the next ~/reset on.",
        ),
        number(
            "step",
            0.0,
            (0.0, STEP_MAX),
            true,
            "Step [s], 1e-6 at least; 0 takes the scene's. A change while running holds from the next ~/reset on.",
        ),
        number(
            "real_time_factor",
            1.0,
            (0.0, 1e3),
            true,
            "Simulated seconds a second of real time; 0 is as fast as possible.",
        ),
        rate("clock_rate", "/clock"),
        rate("joint_state_rate", "joint_states and ~/external_joint_torques"),
        rate("wrench_rate", "~/wrench/<body> and ~/force_torque/<joint>"),
        rate("pose_rate", "~/pose/<body> and /tf of free bodies"),
        declare(
            "output_rate",
            Kind::Number(FROM_SCENE, RATE_MAX),
            Value::Number(FROM_SCENE),
            true,
            "~/output/<name> [Hz of simulated time]; 0 is never, -1 takes the rate of the wrenches.",
        ),
        rate("contact_patch_rate", "~/contact_patches"),
        declare(
            "marker_rate",
            Kind::Number(FROM_SCENE, RATE_MAX),
            Value::Number(FROM_SCENE),
            true,
            "~/contact_markers [Hz of real time, at most 30]; 0 is never, -1 takes the scene's.",
        ),
        number(
            "marker_pressure_max",
            0.0,
            (0.0, 1e12),
            true,
            "Pressure at the end of the markers' colour scale [Pa]; 0 takes the largest at hand.",
        ),
        number(
            "command_timeout",
            0.0,
            (0.0, 1e6),
            true,
            "Simulated time without a command after which the joints are held where they are [s]; 0 is never.",
        ),
        number(
            "trajectory_tolerance",
            0.0,
            (0.0, 1e6),
            true,
            "A joint further from its trajectory than this aborts it [rad or m]; 0 never does.",
        ),
        flag("lockstep", false, "Whether each step waits for the command that carries the stamp of the state."),
        number(
            "lockstep_timeout",
            1.0,
            (0.0, 1e6),
            false,
            "Real time that a command may take in lockstep, after the first one [s]; 0 is for ever.",
        ),
        declare(
            "lockstep_on_timeout",
            Kind::Choice(&ON_TIMEOUT),
            Value::Text(ON_TIMEOUT[0].to_owned()),
            false,
            "What a late command leads to in lockstep: hold waits on, abort ends the node with an error, continue steps \
             under the last command.",
        ),
        flag("start_paused", false, "Whether the simulation waits for ~/pause or ~/step at the start."),
        flag(
            "robot_namespaces",
            false,
            "Whether each model with joints has topics of its own in a namespace of its name, with its URDF's joint names.",
        ),
        text("record", "", "MCAP file to record to; empty is none."),
        flag("publish_clock", true, "Whether this node owns /clock."),
        flag("publish_tf", true, "Whether the poses of free bodies go to /tf; needs tf2_msgs when the node is built."),
        flag(
            "publish_robot_description",
            false,
            "Whether the URDF text is published, latched; robot_state_publisher usually does it.",
        ),
        text("world_frame", "world", "Frame id of markers, poses, contact patches and /tf."),
        declare(
            "use_sim_time",
            Kind::Bool,
            Value::Bool(false),
            true,
            "For the other nodes: this one is the clock, and ignores it.",
        ),
    ]
}

/// Names that ROS itself may set on any node.
const FOREIGN: [&str; 1] = ["start_type_description_service"];
const FOREIGN_PREFIX: &str = "qos_overrides.";
/// Names that depend on the scene.
const GRAVITY: &str = "gravity";
const GAINS: &str = "gains.";
const MODES: &str = "control_modes.";

/// The parameters' values.
#[derive(Debug)]
pub(super) struct Parameters {
    declarations: Vec<Declaration>,
    values: Vec<Value>,
    /// Given at the start, for names that the scene declares.
    waiting: Vec<(String, Value)>,
    running: bool,
    problems: Vec<String>,
    use_sim_time: bool,
}

/// What a scene's own file says of that which parameters can change.
#[derive(Clone, Debug)]
pub(super) struct SceneDefaults {
    pub(super) gravity_W: Vector3,
    pub(super) joints: Vec<String>,
    pub(super) actuators: Vec<Actuator>,
}

impl SceneDefaults {
    /// Those of a scene that nobody has changed.
    pub(super) fn of(scene: &Scene) -> Self {
        Self {
            gravity_W: *scene.model().gravity_W(),
            joints: scene.joint_names().to_vec(),
            actuators: scene.actuators().to_vec(),
        }
    }
}

impl Parameters {
    /// The parameters that do not depend on the scene, with the values given at the start.
    pub(super) fn new(given: impl Iterator<Item = (String, Value)>) -> Self {
        let declarations = fixed();
        let values = declarations.iter().map(|declaration| declaration.default.clone()).collect();
        let (waiting, running, problems) = (Vec::new(), false, Vec::new());
        let mut parameters = Self { declarations, values, waiting, running, problems, use_sim_time: false };
        for (name, value) in given {
            parameters.take_initial(name, value);
        }
        parameters
    }

    fn take_initial(&mut self, name: String, value: Value) {
        if name == "use_sim_time" {
            self.use_sim_time = value == Value::Bool(true);
        } else if name == GRAVITY || name.starts_with(GAINS) || name.starts_with(MODES) {
            self.waiting.push((name, value));
        } else if !FOREIGN.contains(&name.as_str()) && !name.starts_with(FOREIGN_PREFIX) {
            match self.checked(&name, &value) {
                Ok((index, checked)) => self.values[index] = checked,
                Err(problem) => self.problems.push(format!("parameter '{}': {problem}", shown(&name))),
            }
        }
    }

    /// As [`Parameters::declare_scene`], for another scene in the place of the one before: what of it is there again keeps
    /// its value, if `keep` says so.
    pub(super) fn redeclare_scene(&mut self, declared: &SceneDefaults, keep: bool) {
        let is_fixed = |name: &str| name != GRAVITY && !name.starts_with(GAINS) && !name.starts_with(MODES);
        let (fixed, of_scene): (Vec<_>, Vec<_>) = std::mem::take(&mut self.declarations)
            .into_iter()
            .zip(std::mem::take(&mut self.values))
            .partition(|(declaration, _)| is_fixed(&declaration.name));
        (self.declarations, self.values) = fixed.into_iter().unzip();
        self.declare_defaults(declared);
        for (declaration, value) in of_scene.into_iter().filter(|_| keep) {
            if let Some(place) = self.place(&declaration.name) {
                self.values[place] = value;
            }
        }
    }

    /// Declares what depends on the scene: gravity, gains and control modes of the joints.
    pub(super) fn declare_scene(&mut self, scene: &Scene) {
        self.declare_defaults(&SceneDefaults::of(scene));
        for (name, value) in std::mem::take(&mut self.waiting) {
            match self.checked(&name, &value) {
                Ok((index, checked)) => self.values[index] = checked,
                Err(problem) => self.problems.push(format!("parameter '{}': {problem}", shown(&name))),
            }
        }
    }

    fn declare_defaults(&mut self, scene: &SceneDefaults) {
        let g = scene.gravity_W;
        let mut declare = |name: String, kind, default: Value, description: String| {
            self.values.push(default.clone());
            self.declarations.push(Declaration { name, kind, default, dynamic: true, description });
        };
        let default = Value::Numbers(vec![g.x, g.y, g.z]);
        let description = "Gravity [m/s2, world]; from the next step on.".to_owned();
        declare(GRAVITY.to_owned(), Kind::Vector(GRAVITY_MAX), default, description);
        for (joint, actuator) in scene.joints.iter().zip(&scene.actuators) {
            for (gain, unit, value) in [
                ("stiffness", "N m/rad or N/m", actuator.stiffness),
                ("damping", "N m s/rad or N s/m", actuator.damping),
            ] {
                let description = format!("{gain} of joint {joint}'s actuator [{unit}]; from the next step on.");
                let kind = Kind::Number(0.0, GAIN_MAX);
                declare(format!("{GAINS}{joint}.{gain}"), kind, Value::Number(value), description);
            }
            let description = format!("What joint {joint} takes of a command; auto is whatever is filled.");
            let kind = Kind::Choice(&ControlMode::NAMES);
            declare(format!("{MODES}{joint}"), kind, Value::Text("auto".to_owned()), description);
        }
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

    /// All parameters with their values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Declaration, &Value)> {
        self.declarations.iter().zip(&self.values)
    }

    /// The value of that name.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.place(name).map(|index| &self.values[index])
    }

    /// The declaration of that name.
    pub(super) fn declaration(&self, name: &str) -> Option<&Declaration> {
        self.place(name).map(|index| &self.declarations[index])
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.declarations.iter().position(|declaration| declaration.name == name)
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        if let Some(Value::Number(value)) = self.value(name) { *value } else { 0.0 }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        matches!(self.value(name), Some(Value::Bool(true)))
    }

    pub(super) fn text(&self, name: &str) -> &str {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        if let Some(Value::Text(value)) = self.value(name) { value } else { "" }
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
                contact_patches: rate("contact_patch_rate", scene.contact_patches),
            },
            marker_rate: rate("marker_rate", scene_markers),
            marker_pressure_max: self.number("marker_pressure_max"),
            command_timeout_ns: (self.number("command_timeout") * 1e9).round() as u64,
            trajectory_tolerance: self.number("trajectory_tolerance"),
            mode: match self.text("stepping") {
                "dynamic" => Mode::Dynamic,
                "quasistatic" => Mode::Quasistatic,
                _ => Mode::Scene,
            },
            step_ns: (self.number("step") * 1e9).round() as u64,
        }
    }

    /// Gravity and gains, of a scene with these joints.
    pub(super) fn physics(&self, joints: &[String]) -> Physics {
        let gravity_W = match self.value(GRAVITY) {
            Some(Value::Numbers(g)) if g.len() == 3 => Vector3::new(g[0], g[1], g[2]),
            _ => Vector3::zeros(),
        };
        let gain = |joint: &str, gain: &str| self.number(&format!("{GAINS}{joint}.{gain}"));
        let gains = joints.iter().map(|joint| (gain(joint, "stiffness"), gain(joint, "damping"))).collect();
        Physics { gravity_W, gains }
    }

    /// The control mode of a joint of the scene.
    pub(super) fn control_mode(&self, joint: &str) -> ControlMode {
        ControlMode::of(self.text(&format!("{MODES}{joint}")))
    }

    /// How to step in turns with `controllers` controllers, if so.
    pub(super) fn lockstep(&self, controllers: usize) -> Option<Lockstep> {
        self.flag("lockstep").then(|| Lockstep {
            timeout: std::time::Duration::from_secs_f64(self.number("lockstep_timeout")),
            on_timeout: match self.text("lockstep_on_timeout") {
                "abort" => OnTimeout::Abort,
                "continue" => OnTimeout::Continue,
                _ => OnTimeout::Hold,
            },
            controllers,
        })
    }

    /// The value as the table's type, or why it is refused.
    fn checked(&self, name: &str, value: &Value) -> Result<(usize, Value), String> {
        let Some(index) = self.place(name) else {
            let known = self.declarations.iter().map(|known| known.name.as_str());
            return Err(format!("unknown parameter{}", did_you_mean(name, known)));
        };
        let wrong = |expected: &str| Err(format!("expected {expected}, got {}", value.type_name()));
        let in_range = |number: f64, lowest: f64, highest: f64| {
            if (lowest..=highest).contains(&number) {
                return Ok(number);
            }
            Err(format!("{number} is out of range; it must be from {lowest} to {highest}"))
        };
        let checked = match (self.declarations[index].kind, value) {
            (Kind::Bool, Value::Bool(_)) | (Kind::Text, Value::Text(_)) => value.clone(),
            (Kind::Choice(choices), Value::Text(text)) => {
                if !choices.contains(&text.as_str()) {
                    let suggestion = did_you_mean(text, choices.iter().copied());
                    let named = choices.iter().map(|choice| if choice.is_empty() { "''" } else { choice });
                    let named = named.collect::<Vec<_>>().join(", ");
                    return Err(format!("'{}' is none of {named}{suggestion}", shown(text)));
                }
                value.clone()
            }
            (Kind::Number(lowest, highest), Value::Number(number)) => {
                Value::Number(in_range(*number, lowest, highest)?)
            }
            (Kind::Number(lowest, highest), Value::Integer(number)) => {
                Value::Number(in_range(*number as f64, lowest, highest)?)
            }
            (Kind::Vector(largest), Value::Numbers(numbers)) => {
                if numbers.len() != 3 {
                    return Err(format!("expected 3 numbers, got {}", numbers.len()));
                }
                numbers.iter().try_for_each(|number| in_range(*number, -largest, largest).map(drop))?;
                value.clone()
            }
            (Kind::Bool, _) => return wrong("a boolean"),
            (Kind::Text | Kind::Choice(_), _) => return wrong("a string"),
            (Kind::Number(..), _) => return wrong("a number"),
            (Kind::Vector(_), _) => return wrong("three numbers, as in [0.0, 0.0, -9.81]"),
        };
        if name == "step" && matches!(checked, Value::Number(step) if step > 0.0 && step < STEP_MIN) {
            return Err(format!("a step is 0, which takes the scene's, or from {STEP_MIN} s to {STEP_MAX} s"));
        }
        Ok((index, checked))
    }

    fn changeable(&self, name: &str, value: &Value) -> Result<(usize, Value), String> {
        let (index, checked) = self.checked(name, value)?;
        if self.running && !self.declarations[index].dynamic && self.values[index] != checked {
            return Err("can only be set at the start".to_owned());
        }
        if name == "use_sim_time" && checked == Value::Bool(true) {
            return Err("this node is the clock".to_owned());
        }
        Ok((index, checked))
    }

    /// Whether [`Parameters::set`] would take the value.
    pub(super) fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        self.changeable(name, value).map(drop)
    }

    /// Changes a value; `true` when it is another one than before.
    pub(super) fn set(&mut self, name: &str, value: &Value) -> Result<bool, String> {
        let (index, checked) = self.changeable(name, value)?;
        let changed = self.values[index] != checked;
        self.values[index] = checked;
        Ok(changed)
    }

    /// The parameters as a table for people.
    pub(super) fn help(&self) -> String {
        let mut text = String::new();
        for Declaration { name, default, description, .. } in &self.declarations {
            let default = match default {
                Value::Bool(default) => default.to_string(),
                Value::Text(default) => format!("'{default}'"),
                Value::Number(default) => default.to_string(),
                other => format!("{other:?}"),
            };
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {name:26}{description} Default {default}.");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(values: &[(&str, Value)]) -> Parameters {
        Parameters::new(values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())))
    }

    #[test]
    fn given_values_are_taken_and_the_rest_is_declared_with_descriptions() {
        let parameters = given(&[("real_time_factor", Value::Integer(2)), ("use_sim_time", Value::Bool(true))]);
        assert!(parameters.problems().is_empty() && parameters.use_sim_time());
        assert_eq!(parameters.number("real_time_factor"), 2.0);
        assert!(parameters.iter().all(|(declaration, _)| !declaration.description.is_empty()));
    }

    #[test]
    fn typos_wrong_types_and_ranges_are_named() {
        let parameters = given(&[
            ("real_time_facotr", Value::Number(1.0)),
            ("scene", Value::Bool(true)),
            ("clock_rate", Value::Number(f64::NAN)),
            ("lockstep_on_timeout", Value::Text("abrot".to_owned())),
        ]);
        let problems = parameters.problems();
        assert_eq!(problems[0], "parameter 'real_time_facotr': unknown parameter; did you mean 'real_time_factor'?");
        assert_eq!(problems[1], "parameter 'scene': expected a string, got boolean");
        assert!(problems[2].contains("out of range"), "{}", problems[2]);
        assert!(problems[3].contains("did you mean 'abort'?"), "{}", problems[3]);
    }

    #[test]
    fn only_dynamic_parameters_change_once_the_node_runs() {
        let mut parameters = given(&[]);
        parameters.start();
        assert_eq!(parameters.set("real_time_factor", &Value::Number(0.5)), Ok(true));
        assert_eq!(parameters.set("real_time_factor", &Value::Number(0.5)), Ok(false));
        assert_eq!(parameters.number("real_time_factor"), 0.5);
        assert!(parameters.set("scene", &Value::Text("other".to_owned())).is_err());
        assert!(parameters.check("real_time_factor", &Value::Number(-1.0)).is_err());
        assert!(parameters.check("use_sim_time", &Value::Bool(true)).is_err());
    }

    #[test]
    fn modes_and_steps_are_checked() {
        let mut parameters =
            given(&[("stepping", Value::Text("quasistatic".to_owned())), ("step", Value::Number(0.05))]);
        assert!(parameters.problems().is_empty(), "{:?}", parameters.problems());
        let rates =
            Rates { clock: 0.0, joint_states: 0.0, wrenches: 0.0, poses: 0.0, outputs: 0.0, contact_patches: 0.0 };
        let settings = |parameters: &Parameters| parameters.run_settings(&rates, 0.0);
        assert_eq!((settings(&parameters).mode, settings(&parameters).step_ns), (Mode::Quasistatic, 50_000_000));
        parameters.start();
        assert_eq!(parameters.set("stepping", &Value::Text(String::new())), Ok(true));
        assert_eq!(settings(&parameters).mode, Mode::Scene);
        let refused = parameters.check("stepping", &Value::Text("quasistatc".to_owned()));
        assert!(refused.is_err_and(|reason| reason.contains("did you mean 'quasistatic'?")));
        assert!(parameters.check("step", &Value::Number(1e-9)).is_err());
        assert!(parameters.check("step", &Value::Number(2.0)).is_err());
    }
}
