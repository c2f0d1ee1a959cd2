//! Scene files (YAML): models with poses and initial joint positions, ground, materials, actuators,
//! stepping, publishing rates, commands and named outputs. `docs/reference/scene-files.md` lists every key.
//!
//! Every error names file, line and column, what is wrong, and the way out; unknown keys and names come
//! with the nearest valid one.

mod assemble;
mod commands;
mod error;
mod loaded_scene;
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

pub use error::{Place, SceneError};
pub use loaded_scene::{JointGroup, LoadedScene, SceneModel};
pub use publish::PublishSettings;
pub use source::{Entity, SceneSource, robot_name};

use super::package::PackageMap;
use super::urdf::LoadOptions;

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
