//! A scene file, read and built.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::publish::PublishSettings;
use crate::math::{BodyIndex, JointIndex};
use crate::multibody::State;
use crate::recording::Outputs;
use crate::scene::{Scene, VisualGeometry};
use crate::stepping::{
    CommandSchedule, ContinuousStepping, DynamicStepping, QuasistaticStepping, Simulation, SimulationError,
    SpookStepping, StepSettings, Stepping, TimedWrenches, UnusedSetting,
};

/// The joints of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct JointGroup {
    /// The model's name.
    pub model: String,
    /// The indices of its joints in `Scene::joint_names`.
    pub joints: Vec<usize>,
    /// Their names in the model's own file, without the prefix that the scene gives them.
    pub names: Vec<String>,
}

/// One model in the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneModel {
    /// The model's name.
    pub name: String,
    /// Its root link.
    pub root: BodyIndex,
    /// All its links, the root among them.
    pub bodies: Vec<BodyIndex>,
    /// Whether its root is free.
    pub is_free: bool,
    /// The number of its joints with one degree of freedom.
    pub joints: usize,
}

/// A scene file, read and built.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// The scene.
    pub scene: Arc<Scene>,
    /// Positions and velocities at the start.
    pub initial: State,
    /// The settings of steps.
    pub settings: StepSettings,
    /// The options of dynamic steps: those in `settings` if the file selects dynamic steps, and for a change
    /// of mode.
    pub dynamic: DynamicStepping,
    /// The options of quasistatic steps: those in `settings` if the file selects quasistatic steps, and for a
    /// change of mode.
    pub quasistatic: QuasistaticStepping,
    /// The options of complementarity steps: those in `settings` if the file selects them, and for a change
    /// of mode.
    pub spook: SpookStepping,
    /// The options of continuous steps, also if the scene selects others.
    pub continuous: ContinuousStepping,
    /// The keys of `contact` in the file and `integrator`, with their values as far as these are texts.
    pub(super) stated: Vec<(String, String)>,
    /// Publishing rates of a node.
    pub publish: PublishSettings,
    /// The named outputs.
    pub outputs: Outputs,
    /// The commands in the file.
    pub commands: CommandSchedule,
    /// The external wrenches in the file.
    pub wrenches: TimedWrenches,
    /// Name and URDF text of each model: first the robot (the model that the key `robot` names, or the first
    /// one with joints that move), then the others in the file's order.
    pub robot_descriptions: Vec<(String, String)>,
    /// The models, in the file's order.
    pub models: Vec<SceneModel>,
    /// The models that have joints with one degree of freedom, in the file's order.
    pub joint_groups: Vec<JointGroup>,
    /// Joints with a force-torque sensor, fixed or not.
    pub force_torque: Vec<JointIndex>,
    /// The appearance of the bodies; meshes only if requested.
    pub visuals: Vec<VisualGeometry>,
    /// Warnings about skipped, repaired or assumed items and likely mistakes.
    pub warnings: Vec<String>,
}

impl LoadedScene {
    /// The warnings in short: of those that differ in names and numbers only, the first, with the number of
    /// the others.
    pub fn short_warnings(&self) -> Vec<String> {
        short(&self.warnings)
    }

    /// As [`LoadedScene::short_warnings`], without the warnings in `known`.
    pub fn short_warnings_except(&self, known: &[String]) -> Vec<String> {
        let known: BTreeSet<&String> = known.iter().collect();
        let new: Vec<String> = self.warnings.iter().filter(|warning| !known.contains(warning)).cloned().collect();
        short(&new)
    }

    /// The settings that the file states and steps in the mode `stepping` do not use. The file is refused if
    /// it selects such a mode itself.
    pub fn unused_settings(&self, stepping: &Stepping) -> Vec<UnusedSetting> {
        let each = self.stated.iter();
        each.filter_map(|(key, value)| UnusedSetting::find(key, value, stepping.name())).collect()
    }

    /// A simulation of the scene from its start, with the file's settings.
    ///
    /// # Errors
    /// A mass matrix that is singular: a body that moves has no mass.
    pub fn simulation(&self) -> Result<Simulation, SimulationError> {
        Simulation::new(self.scene.clone(), self.initial.clone(), self.settings)
    }
}

/// Of two or more warnings of one kind, the first, with the number of the others.
fn short(warnings: &[String]) -> Vec<String> {
    let mut kinds: Vec<(String, &String, usize)> = Vec::new();
    for warning in warnings {
        let kind = kind(warning);
        match kinds.iter_mut().find(|(other, ..)| *other == kind) {
            Some((.., count)) => *count += 1,
            None => kinds.push((kind, warning, 1)),
        }
    }
    let line = |(_, first, count): (String, &String, usize)| match count {
        1 => first.clone(),
        _ => format!("{first} (and {} more of this kind)", count - 1),
    };
    kinds.into_iter().map(line).collect()
}

/// A warning without its quoted names, numbers and signs.
fn kind(warning: &str) -> String {
    let unquoted: String = warning.split('`').step_by(2).collect();
    let words = unquoted.split(|character: char| !character.is_alphabetic());
    words.filter(|word| word.len() > 1).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Warnings that differ in names and numbers are counted; the order is that of the first of each kind.
    #[test]
    fn warnings_of_one_kind_are_counted() {
        let all = [
            "a.urdf:159: joint `j1`: the attribute `x` is unknown",
            "parts of the rigid mesh `a` intersect (9 pairs, at (1.0e-3, -2, 3))",
            "a.urdf:206: joint `j2`: the attribute `y` is unknown",
            "parts of the rigid mesh `b` intersect (12 pairs, at (0.1, 2, 3))",
            "a.urdf:207: joint `j2`: the attribute `z` is unknown",
            "b.urdf:3: joint `j2`: the limit is unknown",
        ];
        let lines = short(&all.map(str::to_owned));
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], format!("{} (and 2 more of this kind)", all[0]));
        assert_eq!(lines[2], all[5]);
    }
}
