//! Worlds made of the present one by a change, off the simulation thread and off the spinning thread. What cannot be made
//! changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use r2r::geometry_msgs::msg::PoseStamped;
use r2r::simulation_interfaces::msg::Result as Outcome;

use super::codes::{FAILED, NOT_FOUND, load, refused, spawn};
use super::entities::read_pose;
use crate::io::package::PackageMap;
use crate::io::scene_file::{Entity, SceneError, SceneSource, robot_name};
use crate::io::urdf::{UrdfError, UrdfProblem};
use crate::ros::desk::{MadeWorld, Origin};
use crate::ros::exchange::{Physics, RunSettings, SceneStepping};
use crate::ros::names::{did_you_mean, shown};
use crate::ros::parameters::SceneDefaults;
use crate::ros::world::Carried;
use crate::scene::Scene;
use crate::stepping::{JointCommand, Simulation};

/// A larger file or text is no robot and no scene [bytes].
const TEXT_LENGTH_MAX: usize = 64 << 20;
/// Names are parts of topics and frames [bytes].
const NAME_LENGTH_MAX: usize = 128;

/// A file, by its address, or its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Resource {
    pub(super) uri: String,
    pub(super) text: String,
}

/// What a client asks for.
#[derive(Clone, Debug)]
pub(super) struct Spawn {
    pub(super) name: String,
    pub(super) allow_renaming: bool,
    pub(super) resource: Resource,
    pub(super) namespace: String,
    pub(super) pose: PoseStamped,
}

/// How the world changes.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Spawn(Spawn),
    Delete(String),
    /// Takes away what was spawned, and, with everything, puts back what was deleted.
    Restore {
        everything: bool,
    },
    Load(Resource),
    Unload,
}

/// The present world, and what the next one keeps of it.
pub(super) struct Present {
    pub(super) origin: Origin,
    pub(super) scene: Arc<Scene>,
    pub(super) physics: Physics,
    pub(super) settings: RunSettings,
    pub(super) frame: String,
}

/// Makes the world that follows by `change`; with it the name of what was spawned.
pub(super) fn make(present: &Present, change: Change) -> Result<(MadeWorld, String), Outcome> {
    let packages = PackageMap::from_environment();
    let mut origin = present.origin.clone();
    let mut name = String::new();
    let mut carries = true;
    match change {
        Change::Spawn(spawn) => name = add(&mut origin, present, spawn, &packages)?,
        Change::Delete(entity) => {
            if !origin.source.remove(&entity) {
                let suggestion = did_you_mean(&entity, origin.source.models());
                return Err(refused(NOT_FOUND, format!("there is no entity '{}'{suggestion}", shown(&entity))));
            }
            origin.spawned.retain(|spawned| *spawned != entity);
        }
        Change::Restore { everything: true } => {
            origin.source = (*origin.original).clone();
            origin.spawned.clear();
        }
        Change::Restore { everything: false } => {
            for spawned in origin.spawned.drain(..) {
                origin.source.remove(&spawned);
            }
        }
        Change::Load(resource) => {
            (origin, carries) = (read_world(resource, &origin, &packages)?, false);
        }
        Change::Unload => {
            let nothing =
                SceneSource::nothing(origin.source.folder()).map_err(|error| refused(FAILED, error.to_string()))?;
            (origin, carries) = (Origin { exists: false, ..Origin::file("", nothing) }, false);
        }
    }
    Ok((build(present, origin, carries, &packages)?, name))
}

fn build(present: &Present, origin: Origin, carries: bool, packages: &PackageMap) -> Result<MadeWorld, Outcome> {
    let mut loaded = origin.source.build(packages).map_err(|error| refused(code_of(&error, carries), told(&error)))?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let defaults = SceneDefaults::of(&loaded.scene);
    let carried = carries.then(|| Carried::new(&present.scene, &loaded.scene));
    if carries {
        // Before anyone shares the scene: what parameters have changed stays so.
        let scene = Arc::make_mut(&mut loaded.scene);
        scene.set_gravity(present.physics.gravity_W);
        for (joint, (stiffness, damping)) in present.scene.joint_names().iter().zip(&present.physics.gains) {
            if let Some(place) = scene.joint_position(joint) {
                scene.set_gains(place, *stiffness, *damping);
            }
        }
    }
    let stepping = SceneStepping { settings: loaded.settings, quasistatic: loaded.quasistatic };
    let settings = stepping.under(&present.settings);
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings)
        .map_err(|error| refused(FAILED, told(&error)))?;
    // A world that cannot take a step would halt the one that runs.
    if loaded.scene.model().nv() > 0 {
        simulation.step(&JointCommand::default()).map_err(|error| refused(FAILED, told(&error)))?;
        simulation.reset();
    }
    Ok(MadeWorld { loaded, defaults, simulation, carried, origin })
}

/// Adds what is to be spawned; returns its name.
fn add(origin: &mut Origin, present: &Present, spawn: Spawn, packages: &PackageMap) -> Result<String, Outcome> {
    let Spawn { name, allow_renaming, resource, namespace, pose } = spawn;
    if !origin.exists {
        return Err(refused(super::codes::INCORRECT_STATE, "there is no world: load one first"));
    }
    let namespace = namespace.strip_prefix('/').unwrap_or(&namespace);
    if !namespace.is_empty() && !namespace.split('/').all(is_namespace_part) {
        let what = format!("'{}' is no namespace", shown(namespace));
        return Err(refused(spawn::NAMESPACE_INVALID, what));
    }
    if !["", "world", present.frame.as_str()].contains(&pose.header.frame_id.as_str()) {
        let frame = shown(&pose.header.frame_id);
        return Err(refused(
            spawn::INVALID_POSE,
            format!("frame '{frame}': poses are given in '{}' here", present.frame),
        ));
    }
    let X_WB = read_pose(&pose.pose).map_err(|outcome| refused(spawn::INVALID_POSE, outcome.error_message))?;
    if resource.uri.is_empty() && resource.text.is_empty() {
        return Err(refused(spawn::NO_RESOURCE, "neither an address nor a text is given"));
    }
    let folder = origin.source.folder().to_path_buf();
    let (urdf, label, folder) = match resource.uri.as_str() {
        "" => (resource.text, PathBuf::from("resource_string"), folder),
        uri => {
            let file = find(uri, &folder, packages)?;
            check_ending(&file, &["urdf", "xml"], spawn::UNSUPPORTED_FORMAT)?;
            let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
            (read(&file, spawn::RESOURCE_PARSE_ERROR)?, file, folder)
        }
    };
    if urdf.len() > TEXT_LENGTH_MAX {
        return Err(refused(spawn::RESOURCE_PARSE_ERROR, "longer than any robot"));
    }
    let name = unique_name(name, allow_renaming, namespace, &urdf, origin)?;
    let taken = |name: &str| present.scene.body(name).is_some() || present.scene.model().joint(name).is_some();
    let entity = Entity { name: name.clone(), urdf, label, folder, X_WB };
    origin.source.add(entity, packages, &taken).map_err(|error| refused(code_of_urdf(&error), told(&error)))?;
    origin.spawned.push(name.clone());
    Ok(name)
}

/// The name that is asked for, else the robot's own, with the namespace in front and a number behind where it must be.
fn unique_name(
    asked: String,
    allow_renaming: bool,
    namespace: &str,
    urdf: &str,
    origin: &Origin,
) -> Result<String, Outcome> {
    let own = || robot_name(urdf).filter(|name| is_name(name));
    let name = if asked.is_empty() { own().unwrap_or_default() } else { asked };
    let name = match name.as_str() {
        "" if allow_renaming => "entity".to_owned(),
        "" => return Err(refused(spawn::NAME_INVALID, "no name is given, and the robot has none that would do")),
        _ if !is_name(&name) => {
            let rule = "names are letters, digits and _ - . of ASCII, begin with a letter, and are not `world`";
            return Err(refused(spawn::NAME_INVALID, format!("'{}': {rule}", shown(&name))));
        }
        _ => name,
    };
    let name = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
    let taken = |name: &str| origin.source.models().any(|model| model == name);
    if !taken(&name) {
        return Ok(name);
    }
    if !allow_renaming {
        return Err(refused(spawn::NAME_NOT_UNIQUE, format!("there is an entity '{}' already", shown(&name))));
    }
    let mut number = 2;
    while taken(&format!("{name}_{number}")) {
        number += 1;
    }
    Ok(format!("{name}_{number}"))
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || ['_', '-', '.'].contains(&c);
    name.len() <= NAME_LENGTH_MAX
        && name != "world"
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(fits)
}

fn is_namespace_part(part: &str) -> bool {
    part.len() <= NAME_LENGTH_MAX
        && part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads a scene file. It begins where the standard says that loaded worlds do: at its start.
fn read_world(resource: Resource, before: &Origin, packages: &PackageMap) -> Result<Origin, Outcome> {
    let Resource { uri, text } = resource;
    let (text, label) = match (uri.as_str(), text.as_str()) {
        ("", "") => return Err(refused(load::NO_RESOURCE, "neither an address nor a text is given")),
        ("", _) => (text.clone(), before.source.folder().join("resource_string")),
        (uri, _) => {
            let file = find(uri, before.source.folder(), packages)?;
            check_ending(&file, &["yaml", "yml"], load::UNSUPPORTED_FORMAT)?;
            (read(&file, load::RESOURCE_PARSE_ERROR)?, file)
        }
    };
    if text.trim_start().starts_with('<') {
        return Err(refused(load::UNSUPPORTED_FORMAT, "worlds are scene files here, in YAML: see docs/scene-files.md"));
    }
    if text.len() > TEXT_LENGTH_MAX {
        return Err(refused(load::RESOURCE_PARSE_ERROR, "longer than any scene"));
    }
    let source =
        SceneSource::read_str(&text, &label).map_err(|error| refused(load::RESOURCE_PARSE_ERROR, told(&error)))?;
    let text = if uri.is_empty() { text } else { String::new() };
    Ok(Origin { text, ..Origin::file(&uri, source) })
}

fn find(uri: &str, folder: &Path, packages: &PackageMap) -> Result<PathBuf, Outcome> {
    packages.resolve(uri, folder).map_err(|error| refused(NOT_FOUND, shortened(&error.to_string())))
}

/// Files of other kinds are not even read: what is wrong with them would quote them.
fn check_ending(file: &Path, endings: &[&str], code: u8) -> Result<(), Outcome> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if endings.contains(&ending.as_str()) {
        return Ok(());
    }
    Err(refused(code, format!("{}: files end in .{} here", shown(&file.to_string_lossy()), endings.join(" or ."))))
}

fn read(file: &Path, code: u8) -> Result<String, Outcome> {
    let length = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    if length > TEXT_LENGTH_MAX as u64 {
        return Err(refused(code, format!("{}: larger than any robot or scene", file.display())));
    }
    // Comments in other encodings than UTF-8 are common, and harmless.
    let bytes = std::fs::read(file).map_err(|error| refused(code, format!("{}: {error}", file.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Which code says what is wrong with a URDF.
fn code_of_urdf(error: &UrdfError) -> u8 {
    match error {
        UrdfError::Invalid { problem, .. } => match problem.as_ref() {
            UrdfProblem::NotRobot { .. } => spawn::UNSUPPORTED_FORMAT,
            UrdfProblem::MeshPath(_) => spawn::MISSING_ASSETS,
            UrdfProblem::Mesh(_) => spawn::UNSUPPORTED_ASSETS,
            _ => spawn::RESOURCE_PARSE_ERROR,
        },
        UrdfError::Read { .. } | UrdfError::NotXml { .. } => spawn::RESOURCE_PARSE_ERROR,
    }
}

/// Which code says why a world cannot be built: one of the changed present world, or of one that is loaded.
fn code_of(error: &SceneError, changed: bool) -> u8 {
    match error {
        _ if changed => FAILED,
        SceneError::Load { .. } => load::MISSING_ASSETS,
        _ => load::RESOURCE_PARSE_ERROR,
    }
}

/// The error and what caused it, as long as anyone reads.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    shortened(&text)
}

/// Messages quote what a client has sent; not all of it.
fn shortened(text: &str) -> String {
    /// Longer messages are not read to their end [characters].
    const LENGTH_MAX: usize = 2000;
    let mut short: String = text.chars().take(LENGTH_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
