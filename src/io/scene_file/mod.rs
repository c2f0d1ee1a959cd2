//! Scene files (YAML): models with poses and initial joint positions, ground, materials, actuators,
//! stepping, publishing rates, commands and named outputs. `docs/reference/scene-files.md` lists every key.
//!
//! Every error names file, line and column, what is wrong, and the way out; unknown keys and names come
//! with the nearest valid one.

mod assemble;
mod commands;
mod error;
mod names;
mod output_spec;
mod place_model;
mod publish;
mod reader;
mod resolve;
mod schema;
mod source;
mod stepping;
mod yaml;

use std::path::Path;
use std::sync::Arc;

pub use error::{Place, SceneError};
pub use publish::PublishSettings;
pub use source::{Entity, SceneSource, robot_name};

use super::package::PackageMap;
use super::urdf::LoadOptions;
use crate::math::{BodyIndex, JointIndex};
use crate::multibody::State;
use crate::recording::Outputs;
use crate::scene::{Scene, VisualGeometry};
use crate::stepping::{
    CommandSchedule, DynamicStepping, QuasistaticStepping, Simulation, SimulationError, StepSettings,
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
    /// Whether nothing holds its root.
    pub is_free: bool,
    /// How many of its joints have one degree of freedom.
    pub joints: usize,
}

/// A scene file, read and built.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// The scene.
    pub scene: Arc<Scene>,
    /// Positions and velocities at the start.
    pub initial: State,
    /// How steps are taken.
    pub settings: StepSettings,
    /// The options of dynamic steps: those in `settings` where the file asks for them, and for a change
    /// of mode.
    pub dynamic: DynamicStepping,
    /// The options of quasistatic steps: those in `settings` where the file asks for them, and for a
    /// change of mode.
    pub quasistatic: QuasistaticStepping,
    /// Publishing rates of a node.
    pub publish: PublishSettings,
    /// The named outputs.
    pub outputs: Outputs,
    /// The commands that the file brings along.
    pub commands: CommandSchedule,
    /// Name and URDF text of each model: first the robot (the model that the key `robot` names, or the first one with joints
    /// that move), then the others in the file's order.
    pub robot_descriptions: Vec<(String, String)>,
    /// The models, in the file's order.
    pub models: Vec<SceneModel>,
    /// The models that have joints with one degree of freedom, in the file's order.
    pub joint_groups: Vec<JointGroup>,
    /// Joints with a force-torque sensor, fixed or not.
    pub force_torque: Vec<JointIndex>,
    /// What the bodies look like; the meshes only where they were asked for.
    pub visuals: Vec<VisualGeometry>,
    /// What was skipped, repaired or assumed, and what is likely to go wrong; one message each.
    pub warnings: Vec<String>,
}

impl LoadedScene {
    /// A simulation of the scene from its start, with the file's settings.
    ///
    /// # Errors
    /// A mass matrix that is singular: a body that moves has no mass.
    pub fn simulation(&self) -> Result<Simulation, SimulationError> {
        Simulation::new(self.scene.clone(), self.initial.clone(), self.settings)
    }
}

/// Reads the scene file at `path` and everything that it names. Relative addresses start at the file's
/// folder.
///
/// # Errors
/// The file or one that it names cannot be read, or says something that makes no scene; the error names
/// the place and the way out.
pub fn load(path: &Path, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
    let text = std::fs::read_to_string(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
    load_str(&text, path, packages)
}

/// As [`load`], with the meshes of the visual geometries too. One that cannot be read is a warning.
///
/// # Errors
/// As [`load`].
pub fn load_with_visual_meshes(path: &Path, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
    let text = std::fs::read_to_string(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
    read(&text, path, packages, &LoadOptions { load_visual_meshes: true, ..LoadOptions::default() }, None)
}

/// As [`load_with_visual_meshes`], with grids `refinement` times finer than the files' resolution hints
/// say, whatever the scene's own `refinement`.
///
/// # Errors
/// As [`load`].
pub fn load_refined(path: &Path, packages: &PackageMap, refinement: f64) -> Result<LoadedScene, SceneError> {
    let text = std::fs::read_to_string(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
    let options = LoadOptions { load_visual_meshes: true, ..LoadOptions::default() };
    read(&text, path, packages, &options, Some(refinement))
}

/// As [`load`], from text; `label` stands for the file in messages, and its folder for the file's.
///
/// # Errors
/// As [`load`].
pub fn load_str(text: &str, label: &Path, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
    read(text, label, packages, &LoadOptions::default(), None)
}

/// Reads a YAML file that is no scene, as the keyframes of a task, into a type whose serde attributes
/// say what is allowed.
///
/// # Errors
/// The file cannot be read, or is not of that form; the error names the place.
pub fn read_yaml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, SceneError> {
    let text = std::fs::read_to_string(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
    yaml::parse_as(&text, path)
}

fn read(
    text: &str,
    label: &Path,
    packages: &PackageMap,
    options: &LoadOptions,
    refinement: Option<f64>,
) -> Result<LoadedScene, SceneError> {
    let spec = schema::read_scene(&yaml::parse(text, label)?)?;
    assemble::assemble(&spec, label.parent().unwrap_or(Path::new("")), packages, options, refinement)
}
