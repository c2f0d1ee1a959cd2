//! The parameters' values: checked against the table, and read by the rest of the node.

use std::fmt::Write;

use super::table::{
    Declaration, FROM_SCENE, GAINS, GRAVITY, Kind, MODES, REAL_TIME_FACTOR_MAX, REAL_TIME_FACTOR_MIN, SceneDefaults,
    fixed, of_scene,
};
use crate::math::Vector3;
use crate::recording::Rates;
use crate::ros::client::ParameterValue;
use crate::ros::commands::joint_command::ControlMode;
use crate::ros::exchange::lockstep::{Lockstep, OnTimeout};
use crate::ros::exchange::settings::{Mode, Physics, RunSettings, SceneStepping, check_step};
use crate::ros::log::names::{Number, did_you_mean, shown};
use crate::ros::scheduling::{Scheduling, SchedulingError};
use crate::scene::Scene;
use crate::stepping::{QUASISTATIC_STEP_MAX, STEP_MIN};

/// Names that ROS itself may set on every node.
const FOREIGN: [&str; 1] = ["start_type_description_service"];
const FOREIGN_PREFIX: &str = "qos_overrides.";
/// The parameters of the steps.
const STEPS: [&str; 2] = ["stepping", "step"];
/// Durations for which 0 means none.
const DURATIONS: [&str; 3] = ["command_timeout", "checkpoint_period", "lockstep_timeout"];
/// Whether tf2 accepts a frame of that name.
fn is_frame(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('/') && !name.chars().any(char::is_control)
}

/// The resolution of time \[s\].
const NANOSECOND: f64 = 1e-9;

/// The parameters' values.
#[derive(Debug)]
pub(crate) struct Parameters {
    declarations: Vec<Declaration>,
    values: Vec<ParameterValue>,
    /// Values given at the start for names that a scene declares.
    waiting: Vec<(String, ParameterValue)>,
    running: bool,
    problems: Vec<String>,
    use_sim_time: bool,
    /// The scene's own steps, once there is a scene.
    stepping: Option<SceneStepping>,
}

impl Parameters {
    /// The parameters that do not depend on the scene, with the values given at the start.
    pub(crate) fn new(given: impl Iterator<Item = (String, ParameterValue)>) -> Self {
        let declarations = fixed();
        let values = declarations.iter().map(|declaration| declaration.default.clone()).collect();
        let (waiting, running, problems) = (Vec::new(), false, Vec::new());
        let mut parameters =
            Self { declarations, values, waiting, running, problems, use_sim_time: false, stepping: None };
        for (name, value) in given {
            parameters.take_initial(name, value);
        }
        parameters
    }

    fn take_initial(&mut self, name: String, value: ParameterValue) {
        if name == "use_sim_time" {
            self.use_sim_time = value == ParameterValue::Bool(true);
        } else if name == GRAVITY || name.starts_with(GAINS) || name.starts_with(MODES) {
            self.waiting.push((name, value));
        } else if !FOREIGN.contains(&name.as_str()) && !name.starts_with(FOREIGN_PREFIX) {
            match self.checked(&name, &value) {
                Ok((index, checked)) => self.values[index] = checked,
                Err(problem) => self.problems.push(format!("parameter '{}': {problem}", shown(&name))),
            }
        }
    }

    /// The scene's own steps, with which the values of `stepping` and `step` are checked from now on.
    pub(crate) fn set_scene_stepping(&mut self, stepping: SceneStepping) {
        self.stepping = Some(stepping);
    }

    /// Checks the steps that these parameters select, with the `changes` to them.
    ///
    /// # Errors
    /// Steps that are too long for their mode.
    pub(crate) fn check_steps(&self, changes: &[(&str, &ParameterValue)]) -> Result<(), String> {
        let Some(stepping) = self.stepping.filter(|_| changes.iter().any(|(name, _)| STEPS.contains(name))) else {
            return Ok(());
        };
        let value = |name: &str| {
            let changed = changes.iter().rev().find(|(changed, _)| *changed == name).map(|(_, value)| *value);
            changed.or(self.value(name))
        };
        let mode =
            if let Some(ParameterValue::Text(mode)) = value("stepping") { Mode::named(mode) } else { Mode::Scene };
        let step = match value("step") {
            Some(ParameterValue::Number(step)) => *step,
            Some(ParameterValue::Integer(step)) => *step as f64,
            _ => 0.0,
        };
        check_step(&stepping.with(mode, (step * 1e9).round() as u64))
    }

    /// Replaces the parameters of the present scene with those of another scene. Parameters that both scenes
    /// declare keep their values if `keep` is true.
    pub(crate) fn redeclare_scene(&mut self, declared: &SceneDefaults, keep: bool) {
        let is_fixed = |name: &str| name != GRAVITY && !name.starts_with(GAINS) && !name.starts_with(MODES);
        let (fixed, of_scene): (Vec<_>, Vec<_>) = std::mem::take(&mut self.declarations)
            .into_iter()
            .zip(std::mem::take(&mut self.values))
            .partition(|(declaration, _)| is_fixed(&declaration.name));
        (self.declarations, self.values) = fixed.into_iter().unzip();
        self.declare_defaults(declared);
        for (declaration, value) in of_scene.into_iter().filter(|_| keep) {
            if let Some(index) = self.index_of(&declaration.name) {
                self.values[index] = value;
            }
        }
    }

    /// Declares the parameters that depend on the scene: gravity, gains and control modes of the joints.
    /// `stepping` are the scene's own steps.
    pub(crate) fn declare_scene(&mut self, scene: &Scene, stepping: SceneStepping) {
        self.declare_defaults(&SceneDefaults::of(scene));
        self.stepping = Some(stepping);
        let settings = stepping.with(Mode::named(self.text("stepping")), (self.number("step") * 1e9).round() as u64);
        // A scene may combine its own values as it likes.
        if self.chooses_steps()
            && let Err(problem) = check_step(&settings)
        {
            self.problems.push(format!("parameter 'step': {problem}"));
        }
        for (name, value) in std::mem::take(&mut self.waiting) {
            match self.checked(&name, &value) {
                Ok((index, checked)) => self.values[index] = checked,
                Err(problem) => self.problems.push(format!("parameter '{}': {problem}", shown(&name))),
            }
        }
    }

    /// Whether `stepping` or `step` differ from the scene's own.
    fn chooses_steps(&self) -> bool {
        !self.text("stepping").is_empty() || self.number("step") > 0.0
    }

    fn declare_defaults(&mut self, scene: &SceneDefaults) {
        for declaration in of_scene(scene) {
            self.values.push(declaration.default.clone());
            self.declarations.push(declaration);
        }
    }

    /// The problems of the values given at the start.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Whether `use_sim_time` is true, although this node is the clock.
    pub(crate) fn use_sim_time(&self) -> bool {
        self.use_sim_time
    }

    /// Only dynamic parameters can change from now on.
    pub(crate) fn start(&mut self) {
        self.running = true;
    }

    /// All parameters with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Declaration, &ParameterValue)> {
        self.declarations.iter().zip(&self.values)
    }

    /// The value of the parameter with that name.
    pub(crate) fn value(&self, name: &str) -> Option<&ParameterValue> {
        self.index_of(name).map(|index| &self.values[index])
    }

    /// The declaration of the parameter with that name.
    pub(crate) fn declaration(&self, name: &str) -> Option<&Declaration> {
        self.index_of(name).map(|index| &self.declarations[index])
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.declarations.iter().position(|declaration| declaration.name == name)
    }

    pub(crate) fn number(&self, name: &str) -> f64 {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        if let Some(ParameterValue::Number(value)) = self.value(name) { *value } else { 0.0 }
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        matches!(self.value(name), Some(ParameterValue::Bool(true)))
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        debug_assert!(self.value(name).is_some(), "{name} is in the table");
        if let Some(ParameterValue::Text(value)) = self.value(name) { value } else { "" }
    }

    /// The settings of the running node: these values, and the scene's rates where a value selects them.
    pub(crate) fn run_settings(&self, scene: &Rates, scene_markers: f64) -> RunSettings {
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
            mode: Mode::named(self.text("stepping")),
            step_ns: (self.number("step") * 1e9).round() as u64,
            threads: self.number("threads") as usize,
            checkpoint_period_ns: (self.number("checkpoint_period") * 1e9).round() as u64,
            wrench_duration_ns: (self.number("apply_wrench_duration") * 1e9).round() as u64,
        }
    }

    /// Gravity and gains of a scene with these joints.
    pub(crate) fn physics(&self, joints: &[String]) -> Physics {
        let gravity_W = match self.value(GRAVITY) {
            Some(ParameterValue::Numbers(g)) if g.len() == 3 => Vector3::new(g[0], g[1], g[2]),
            _ => Vector3::zeros(),
        };
        // A mimic joint has no gains.
        let gain = |joint: &str, gain: &str| match self.value(&format!("{GAINS}{joint}.{gain}")) {
            Some(ParameterValue::Number(value)) => *value,
            _ => 0.0,
        };
        let gains = joints.iter().map(|joint| (gain(joint, "stiffness"), gain(joint, "damping"))).collect();
        Physics { gravity_W, gains }
    }

    /// Takes over the mode and the length \[ns\] of the steps of a restored simulation.
    pub(crate) fn set_stepping(&mut self, mode: Mode, step_ns: u64) {
        self.take_over("stepping", ParameterValue::Text(mode.name().to_owned()));
        self.take_over("step", ParameterValue::Number(step_ns as f64 / 1e9));
    }

    /// Sets a parameter to the value of a checkpoint.
    fn take_over(&mut self, name: &str, value: ParameterValue) {
        if let Some(index) = self.index_of(name)
            && self.values[index] != value
        {
            tracing::info!("parameter '{name}' now has the value of the checkpoint");
            self.values[index] = value;
        }
    }

    /// Takes over gravity and gains of a restored simulation, whose scene has these joints.
    pub(crate) fn set_physics(&mut self, joints: &[String], physics: &Physics) {
        let g = physics.gravity_W;
        let mut values = vec![(GRAVITY.to_owned(), ParameterValue::Numbers(vec![g.x, g.y, g.z]))];
        for (joint, (stiffness, damping)) in joints.iter().zip(&physics.gains) {
            for (gain, value) in [("stiffness", stiffness), ("damping", damping)] {
                values.push((format!("{GAINS}{joint}.{gain}"), ParameterValue::Number(*value)));
            }
        }
        for (name, value) in values {
            self.take_over(&name, value);
        }
    }

    /// The control modes of a scene with these joints.
    pub(crate) fn control_modes(&self, joints: &[String]) -> Vec<ControlMode> {
        joints.iter().map(|joint| ControlMode::of(self.text(&format!("{MODES}{joint}")))).collect()
    }

    /// Settings of lockstep with the controllers of these topics; `None` without lockstep.
    pub(crate) fn lockstep(&self, controllers: Vec<String>) -> Option<Lockstep> {
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

    /// The scheduling of the node's threads.
    pub(crate) fn scheduling(&self) -> Result<Scheduling, SchedulingError> {
        Scheduling::new(self.number("realtime_priority"), self.text("cpus"), self.flag("lock_memory"))
    }

    /// The value as the table's type, or the reason why it is refused.
    fn checked(&self, name: &str, value: &ParameterValue) -> Result<(usize, ParameterValue), String> {
        let Some(index) = self.index_of(name) else {
            let known = self.declarations.iter().map(|known| known.name.as_str());
            return Err(format!("unknown parameter{}", did_you_mean(name, known)));
        };
        let wrong = |expected: &str| Err(format!("expected {expected}, got {}", value.type_name()));
        let in_range = |number: f64, lowest: f64, highest: f64| {
            if (lowest..=highest).contains(&number) {
                return Ok(number);
            }
            let (number, lowest, highest) = (Number(number), Number(lowest), Number(highest));
            Err(format!("{number} is out of range; it must be from {lowest} to {highest}"))
        };
        let checked = match (self.declarations[index].kind, value) {
            (Kind::Bool, ParameterValue::Bool(_)) | (Kind::Text, ParameterValue::Text(_)) => value.clone(),
            // One processor alone is a number on a command line.
            (Kind::Text, ParameterValue::Integer(number)) if name == "cpus" => ParameterValue::Text(number.to_string()),
            (Kind::Choice(choices), ParameterValue::Text(text)) => {
                if !choices.contains(&text.as_str()) {
                    let suggestion = did_you_mean(text, choices.iter().copied());
                    let named = choices.iter().map(|choice| if choice.is_empty() { "''" } else { choice });
                    let named = named.collect::<Vec<_>>().join(", ");
                    return Err(format!("'{}' is not one of {named}{suggestion}", shown(text)));
                }
                value.clone()
            }
            (Kind::Number(lowest, highest), ParameterValue::Number(number)) => {
                ParameterValue::Number(in_range(*number, lowest, highest)?)
            }
            (Kind::Number(lowest, highest), ParameterValue::Integer(number)) => {
                ParameterValue::Number(in_range(*number as f64, lowest, highest)?)
            }
            (Kind::Vector(largest), ParameterValue::Numbers(numbers)) => {
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
        if name == "threads" && matches!(checked, ParameterValue::Number(threads) if threads.fract() != 0.0) {
            return Err("it must be a whole number, as in 4, or 0 (the scene's)".to_owned());
        }
        if name == "step" && matches!(checked, ParameterValue::Number(step) if step > 0.0 && step < STEP_MIN) {
            let (shortest, longest) = (Number(STEP_MIN), Number(QUASISTATIC_STEP_MAX));
            return Err(format!("a step must be 0 (the scene's) or from {shortest} s to {longest} s"));
        }
        if name.ends_with("_rate")
            && matches!(checked, ParameterValue::Number(rate) if rate < 0.0 && rate != FROM_SCENE)
        {
            return Err(format!("a rate must be 0 (never), {FROM_SCENE} (the scene's) or above 0"));
        }
        if name == "world_frame" && matches!(&checked, ParameterValue::Text(frame) if !is_frame(frame)) {
            return Err("a frame must have a name that does not begin with / and has no control characters".to_owned());
        }
        if DURATIONS.contains(&name)
            && matches!(checked, ParameterValue::Number(value) if value > 0.0 && value < NANOSECOND)
        {
            return Err(format!("it must be 0 or at least {} s", Number(NANOSECOND)));
        }
        if name == "real_time_factor"
            && matches!(checked, ParameterValue::Number(factor) if factor > 0.0 && factor < REAL_TIME_FACTOR_MIN)
        {
            let (smallest, largest) = (Number(REAL_TIME_FACTOR_MIN), Number(REAL_TIME_FACTOR_MAX));
            return Err(format!("a factor must be 0 (as fast as possible) or from {smallest} to {largest}"));
        }
        Ok((index, checked))
    }

    fn changeable(&self, name: &str, value: &ParameterValue) -> Result<(usize, ParameterValue), String> {
        let (index, checked) = self.checked(name, value)?;
        if self.running && !self.declarations[index].dynamic && self.values[index] != checked {
            return Err("can only be set at the start: restart the node with the new value".to_owned());
        }
        if name == "use_sim_time" && checked == ParameterValue::Bool(true) {
            return Err("this node publishes the clock: leave use_sim_time false here".to_owned());
        }
        Ok((index, checked))
    }

    /// Whether [`Parameters::set_checked`] would accept the value.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn check(&self, name: &str, value: &ParameterValue) -> Result<(), String> {
        self.changeable(name, value).map(drop)
    }

    /// Changes a value; `true` if it differs from the previous one.
    ///
    /// # Errors
    /// The reason why it is refused; nothing has changed then.
    pub(crate) fn set(&mut self, name: &str, value: &ParameterValue) -> Result<bool, String> {
        let checked = self.changeable(name, value)?;
        self.check_steps(&[(name, value)])?;
        Ok(self.take(checked))
    }

    /// Changes a value that was checked with [`Parameters::check`] and [`Parameters::check_steps`].
    ///
    /// # Errors
    /// The reason why it is refused; nothing has changed then.
    pub(crate) fn set_checked(&mut self, name: &str, value: &ParameterValue) -> Result<bool, String> {
        let checked = self.changeable(name, value)?;
        Ok(self.take(checked))
    }

    fn take(&mut self, (index, checked): (usize, ParameterValue)) -> bool {
        let changed = self.values[index] != checked;
        self.values[index] = checked;
        changed
    }

    /// The parameters as a readable table.
    pub(crate) fn help(&self) -> String {
        let mut text = String::new();
        for Declaration { name, default, description, .. } in &self.declarations {
            let default = match default {
                ParameterValue::Bool(default) => default.to_string(),
                ParameterValue::Text(default) => format!("'{default}'"),
                ParameterValue::Number(default) => default.to_string(),
                other => format!("{other:?}"),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:25} {description} Default {default}.");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stepping::{
        ContinuousStepping, DynamicStepping, QuasistaticStepping, SpookStepping, StepSettings, Stepping,
    };

    fn given(values: &[(&str, ParameterValue)]) -> Parameters {
        Parameters::new(values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())))
    }

    #[test]
    fn given_values_are_taken_and_the_rest_is_declared_with_descriptions() {
        let parameters =
            given(&[("real_time_factor", ParameterValue::Integer(2)), ("use_sim_time", ParameterValue::Bool(true))]);
        assert!(parameters.problems().is_empty() && parameters.use_sim_time());
        assert_eq!(parameters.number("real_time_factor"), 2.0);
        assert!(parameters.iter().all(|(declaration, _)| !declaration.description.is_empty()));
    }

    #[test]
    fn typos_wrong_types_and_ranges_are_named() {
        let parameters = given(&[
            ("real_time_facotr", ParameterValue::Number(1.0)),
            ("scene", ParameterValue::Bool(true)),
            ("clock_rate", ParameterValue::Number(f64::NAN)),
            ("lockstep_on_timeout", ParameterValue::Text("abrot".to_owned())),
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
        assert_eq!(parameters.set("real_time_factor", &ParameterValue::Number(0.5)), Ok(true));
        assert_eq!(parameters.set("real_time_factor", &ParameterValue::Number(0.5)), Ok(false));
        assert_eq!(parameters.number("real_time_factor"), 0.5);
        assert!(parameters.set("scene", &ParameterValue::Text("other".to_owned())).is_err());
        assert!(parameters.check("real_time_factor", &ParameterValue::Number(-1.0)).is_err());
        assert!(parameters.check("use_sim_time", &ParameterValue::Bool(true)).is_err());
    }

    #[test]
    fn threads_are_a_whole_number() {
        let number = ParameterValue::Number;
        for refused in [number(2.7), number(0.5), number(-1.0), number(-0.5), number(257.0), number(f64::NAN)] {
            assert_eq!(given(&[("threads", refused.clone())]).problems().len(), 1, "{refused:?}");
        }
        for (taken, threads) in [(number(4.0), 4.0), (ParameterValue::Integer(3), 3.0), (number(0.0), 0.0)] {
            let parameters = given(&[("threads", taken)]);
            assert!(parameters.problems().is_empty() && parameters.number("threads") == threads, "{threads}");
        }
    }

    #[test]
    fn modes_and_steps_are_checked() {
        let mut parameters = given(&[
            ("stepping", ParameterValue::Text("quasistatic".to_owned())),
            ("step", ParameterValue::Number(0.05)),
        ]);
        assert!(parameters.problems().is_empty(), "{:?}", parameters.problems());
        let rates =
            Rates { clock: 0.0, joint_states: 0.0, wrenches: 0.0, poses: 0.0, outputs: 0.0, contact_patches: 0.0 };
        let settings = |parameters: &Parameters| parameters.run_settings(&rates, 0.0);
        assert_eq!((settings(&parameters).mode, settings(&parameters).step_ns), (Mode::Quasistatic, 50_000_000));
        parameters.start();
        assert_eq!(parameters.set("stepping", &ParameterValue::Text(String::new())), Ok(true));
        assert_eq!(settings(&parameters).mode, Mode::Scene);
        let refused = parameters.check("stepping", &ParameterValue::Text("quasistatc".to_owned()));
        assert!(refused.is_err_and(|reason| reason.contains("did you mean 'quasistatic'?")));
        assert!(parameters.check("step", &ParameterValue::Number(1e-9)).is_err());
        assert!(parameters.check("step", &ParameterValue::Number(2.0)).is_err());
    }

    /// Regression, observed on the built node: dynamic steps of 1 s were accepted.
    #[test]
    fn steps_are_not_too_long_for_their_mode() {
        let quasistatic = ParameterValue::Text("quasistatic".to_owned());
        let own = ParameterValue::Text(String::new());
        let step = ParameterValue::Number;
        let mut parameters = given(&[]);
        parameters.start();
        let dynamic = StepSettings { step_ns: 1_000_000, ..StepSettings::default() };
        let scene = SceneStepping {
            settings: dynamic,
            dynamic: DynamicStepping::default(),
            quasistatic: QuasistaticStepping::default(),
            spook: SpookStepping::default(),
            continuous: ContinuousStepping::default(),
        };
        parameters.set_scene_stepping(scene);
        assert_eq!(parameters.set("step", &step(0.1)), Ok(true));
        for longer in [step(0.101), step(1.0), ParameterValue::Integer(1)] {
            let refused = parameters.set("step", &longer).unwrap_err();
            assert!(refused.contains("too long for dynamic steps, which take at most 0.1 s"), "{refused}");
        }
        assert_eq!(parameters.set("stepping", &quasistatic), Ok(true));
        assert_eq!(parameters.set("step", &step(1.0)), Ok(true));
        assert!(parameters.set("stepping", &own).unwrap_err().contains("a step of 1 s"));
        assert_eq!(parameters.set("step", &step(0.0)), Ok(true), "the scene's");
        assert_eq!(parameters.set("stepping", &own), Ok(true));
        // Both at once.
        assert_eq!(parameters.check_steps(&[("step", &step(0.5)), ("stepping", &quasistatic)]), Ok(()));
        assert!(parameters.check_steps(&[("gravity", &own), ("step", &step(0.5))]).is_err());
        // The own step of a quasistatic scene is too long for its dynamic steps.
        let settings = StepSettings {
            step_ns: 500_000_000,
            stepping: Stepping::Quasistatic(QuasistaticStepping::default()),
            ..StepSettings::default()
        };
        parameters.set_scene_stepping(SceneStepping { settings, ..scene });
        assert!(parameters.set("stepping", &ParameterValue::Text("spook".to_owned())).is_err());
    }

    /// A rate of -0.5 would be that of the scene, and tf2 refuses frames without a name or with a slash in
    /// front.
    #[test]
    fn rates_and_frames_without_a_meaning_are_refused() {
        let refused = |name: &str, value: ParameterValue| given(&[(name, value)]).problems().join(" ");
        let rates: Vec<String> =
            fixed().into_iter().map(|known| known.name).filter(|name| name.ends_with("_rate")).collect();
        assert_eq!(rates.len(), 7);
        for name in &rates {
            for value in [-0.5, -1e-300, -2.0, f64::NAN, f64::INFINITY, 1e308] {
                let problem = refused(name, ParameterValue::Number(value));
                assert!(problem.contains(name) && problem.len() < 150, "{name} {value}: {problem}");
            }
            for value in [-1.0, 0.0, 0.5, 1e6] {
                assert_eq!(refused(name, ParameterValue::Number(value)), "");
            }
        }
        for frame in ["", "/", "/world", "a\u{1b}b"] {
            let problem = refused("world_frame", ParameterValue::Text(frame.to_owned()));
            assert!(problem.contains("'world_frame'") && problem.contains("a frame must"), "{frame}: {problem}");
        }
        for frame in ["map", "robot/odom", "a b"] {
            assert_eq!(refused("world_frame", ParameterValue::Text(frame.to_owned())), "");
        }
    }

    /// A time below a nanosecond would be rounded to 0, which means something else.
    #[test]
    fn no_time_is_rounded_to_none() {
        for name in DURATIONS {
            let parameters = given(&[(name, ParameterValue::Number(1e-300))]);
            assert!(parameters.problems().iter().any(|problem| problem.contains(name)), "{name}");
            let mut parameters = given(&[]);
            for value in [1e-300, 4e-10] {
                assert!(parameters.set(name, &ParameterValue::Number(value)).is_err(), "{name} {value}");
            }
            for value in [0.0, 1e-9] {
                assert!(parameters.set(name, &ParameterValue::Number(value)).is_ok(), "{name} {value}");
            }
        }
    }
}
