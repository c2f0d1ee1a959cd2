//! Scene files (YAML): models with poses and initial joint positions, ground, materials, actuators,
//! stepping, publishing rates, commands and named outputs. `docs/reference/scene-files.md` lists every key.
//!
//! Every error names file, line and column, the fault, and its remedy; for unknown keys and names it suggests
//! the nearest valid one.

mod address;
mod assemble;
mod body;
mod closures;
mod commands;
mod contact_scheme;
mod copies;
mod error;
mod likely_mistakes;
mod loaded_scene;
mod names;
mod output_spec;
mod place_model;
mod publish;
mod reader;
mod resolve;
mod robot_files;
mod scatter;
mod schema;
mod source;
mod source_changes;
mod stepping;
mod tree;
mod used_keys;
mod wrenches;
mod yaml;

use std::path::Path;

pub use error::{Place, SceneError};
pub use loaded_scene::{JointGroup, LoadedScene, SceneModel};
pub use publish::PublishSettings;
pub use source::{SceneSource, robot_name};
pub use source_changes::{Entity, SourceChanges};
pub use tree::ParameterValue;

use super::limits;
use super::package::PackageMap;
use super::urdf::LoadOptions;

/// Reads the scene file at `path` and all files that it names. Relative addresses start at the file's folder.
///
/// # Errors
/// The file or one that it names cannot be read, or its contents do not form a scene. The error names the
/// place and the remedy.
pub fn load(path: &Path, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
    load_with(path, packages, &Loading::default())
}

/// The choices of [`load_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Loading<'a> {
    /// Whether the meshes of the visual geometries are read too. One that cannot be read gives a warning.
    pub visual_meshes: bool,
    /// Grids this many times finer than the resolution hints of the files, in place of the `refinement` of
    /// the scene file.
    pub refinement: Option<f64>,
    /// Values of the scene's parameters, in place of those in the file.
    pub set: &'a [ParameterValue],
}

/// Like [`load`], with choices.
///
/// # Errors
/// The errors of [`load`], and a value for a parameter that the scene does not have.
pub fn load_with(path: &Path, packages: &PackageMap, loading: &Loading<'_>) -> Result<LoadedScene, SceneError> {
    let text = limits::read_text(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
    read(&text, path, packages, loading)
}

/// Like [`load`], with the meshes of the visual geometries too. A mesh that cannot be read gives a warning.
///
/// # Errors
/// The errors of [`load`].
pub fn load_with_visual_meshes(path: &Path, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
    load_with(path, packages, &Loading { visual_meshes: true, ..Loading::default() })
}

/// Like [`load_with_visual_meshes`], with grids `refinement` times finer than the resolution hints of the
/// files. It replaces the `refinement` of the scene file.
///
/// # Errors
/// The errors of [`load`].
pub fn load_refined(path: &Path, packages: &PackageMap, refinement: f64) -> Result<LoadedScene, SceneError> {
    load_with(path, packages, &Loading { visual_meshes: true, refinement: Some(refinement), ..Loading::default() })
}

/// Like [`load`], from text; `label` replaces the file name in messages, and its folder is the folder of the
/// file.
///
/// # Errors
/// The errors of [`load`].
pub fn load_str(text: &str, label: &Path, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
    read(text, label, packages, &Loading::default())
}

/// Reads a YAML file other than a scene, such as the keyframes of a task, into a type whose serde attributes
/// define the allowed contents.
///
/// # Errors
/// The file cannot be read, or is not of that form; the error names the place.
pub fn read_yaml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, SceneError> {
    let text = limits::read_text(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
    yaml::parse_as(&text, path)
}

fn read(text: &str, label: &Path, packages: &PackageMap, loading: &Loading<'_>) -> Result<LoadedScene, SceneError> {
    let spec = schema::read_scene(&tree::read(text, label, packages, loading.set)?)?;
    let options = LoadOptions { load_visual_meshes: loading.visual_meshes, ..LoadOptions::default() };
    assemble::assemble(&spec, packages, &options, loading.refinement)
}
