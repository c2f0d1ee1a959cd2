//! Builds the next world from the present one and a change, in a thread of its own, so that the simulation
//! and the services go on meanwhile. If the next world cannot be built, nothing changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ros::client::interfaces::geometry_msgs::msg::PoseStamped;
use crate::ros::client::interfaces::simulation_interfaces::msg::Result as Outcome;

use super::codes::{FAILED, INCORRECT_STATE, NOT_FOUND, load, refused, spawn};
use super::entities::read_pose;
use crate::io::limits::{self, TEXT_BYTES_MAX};
use crate::io::package::PackageMap;
use crate::io::scene_file::{Entity, SceneError, SceneSource, robot_name};
use crate::io::urdf::{SdformatProblem, UrdfError, UrdfProblem};
use crate::math::Index;
use crate::ros::exchange::settings::{Mode, Physics, RunSettings, SceneStepping, check_step, warn_of_unused};
use crate::ros::exchange::world::SharedJoints;
use crate::ros::log::causes::with_causes;
use crate::ros::log::names::{did_you_mean, shown};
use crate::ros::services::context::{BuiltWorld, WorldOrigin};
use crate::ros::services::parameters::SceneDefaults;
use crate::scene::Scene;
use crate::stepping::{JointCommand, Simulation};

/// Longest name; names are parts of topics and frames \[bytes\].
const NAME_LENGTH_MAX: usize = 128;

/// A file, given by its address or by its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Resource {
    pub(super) uri: String,
    pub(super) text: String,
}

/// A model to add.
#[derive(Clone, Debug)]
pub(super) struct Spawn {
    pub(super) name: String,
    pub(super) allow_renaming: bool,
    pub(super) resource: Resource,
    pub(super) namespace: String,
    pub(super) pose: PoseStamped,
}

/// A change of the world.
#[derive(Clone, Debug)]
pub(super) enum WorldChange {
    Spawn(Spawn),
    Delete(String),
    /// Removes the spawned entities and, with everything, restores the deleted ones.
    Restore {
        everything: bool,
    },
    Load(Resource),
    Unload,
}

/// The parts of the present world that the next one keeps.
pub(super) struct PresentWorld {
    pub(super) origin: WorldOrigin,
    pub(super) scene: Arc<Scene>,
    pub(super) physics: Physics,
    pub(super) settings: RunSettings,
    pub(super) frame: String,
    /// The packages and folders that files are read from.
    pub(super) packages: PackageMap,
    /// The file of the parameter `scene`.
    pub(super) scene_of_start: PathBuf,
    /// The warnings about it, which have been logged.
    pub(super) warnings: Arc<[String]>,
}

/// Builds the world that results from `change`; returns it with the name of the spawned entity.
pub(super) fn build_world(present: &PresentWorld, change: WorldChange) -> Result<(BuiltWorld, String), Outcome> {
    let packages = &present.packages;
    let mut origin = present.origin.clone();
    let mut name = String::new();
    let mut carries = true;
    match change {
        WorldChange::Spawn(spawn) => name = add(&mut origin, present, spawn, packages)?,
        WorldChange::Delete(entity) => {
            if !origin.source.remove(&entity) {
                let suggestion = did_you_mean(&entity, origin.source.models());
                return Err(refused(NOT_FOUND, format!("there is no entity '{}'{suggestion}", shown(&entity))));
            }
            origin.spawned.retain(|spawned| *spawned != entity);
        }
        WorldChange::Restore { everything: true } => {
            origin.source = (*origin.original).clone();
            origin.spawned.clear();
        }
        WorldChange::Restore { everything: false } => {
            for spawned in origin.spawned.drain(..) {
                origin.source.remove(&spawned);
            }
        }
        WorldChange::Load(resource) => {
            (origin, carries) = (read_world(resource, present)?, false);
        }
        WorldChange::Unload => {
            let nothing =
                SceneSource::nothing(origin.source.folder()).map_err(|error| refused(FAILED, error.to_string()))?;
            (origin, carries) = (WorldOrigin { exists: false, ..WorldOrigin::file("", nothing) }, false);
        }
    }
    Ok((build(present, origin, carries, packages)?, name))
}

fn build(
    present: &PresentWorld,
    origin: WorldOrigin,
    carries: bool,
    packages: &PackageMap,
) -> Result<BuiltWorld, Outcome> {
    let mut loaded = origin
        .source
        .build(packages)
        .map_err(|error| refused(code_of(&error, carries), shortened(&with_causes(&error))))?;
    // Those of the present world have been logged.
    for warning in loaded.short_warnings_except(if carries { &present.warnings } else { &[] }) {
        tracing::warn!("{warning}");
    }
    let defaults = SceneDefaults::of(&loaded.scene);
    let carryover = carries.then(|| SharedJoints::new(&present.scene, &loaded.scene));
    let stepping = SceneStepping::of(&loaded);
    let settings = stepping.with_settings(&present.settings);
    if present.settings.mode != Mode::Scene || present.settings.step_ns > 0 {
        check_step(&settings).map_err(|problem| refused(FAILED, problem))?;
    }
    if !carries {
        warn_of_unused(&loaded, &settings.stepping);
    }
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings)
        .map_err(|error| refused(FAILED, shortened(&with_causes(&error))))?;
    if carries {
        // A checkpoint compares the scene as its file has it: the run's own values are set afterwards.
        let mut physics = Physics { gravity_W: present.physics.gravity_W, ..Physics::of(&loaded.scene) };
        for (name, gains) in present.scene.joint_names().iter().zip(&present.physics.gains) {
            if let Some(joint) = loaded.scene.joint(name) {
                physics.gains[joint.to_usize()] = *gains;
            }
        }
        physics.apply(&mut simulation).map_err(|error| refused(FAILED, error.to_string()))?;
        loaded.scene = simulation.scene().clone();
    }
    // A state like the present one is tried, because nothing can be refused once the world is handed over.
    if let Some(carryover) = &carryover {
        let present = present.scene.model().default_state();
        carryover.apply(&present, &mut simulation).map_err(|error| refused(FAILED, with_causes(&error)))?;
        simulation.reset();
    }
    // A step is tried here, because a world that cannot take one would halt the running simulation.
    if loaded.scene.model().nv() > 0 {
        simulation.step(&JointCommand::default()).map_err(|error| refused(FAILED, shortened(&with_causes(&error))))?;
        simulation.reset();
    }
    let chosen = (present.settings.mode, present.settings.step_ns);
    Ok(BuiltWorld { loaded, defaults, simulation, chosen, carryover, origin })
}

/// Adds the spawned model; returns its name.
fn add(
    origin: &mut WorldOrigin,
    present: &PresentWorld,
    spawn: Spawn,
    packages: &PackageMap,
) -> Result<String, Outcome> {
    let Spawn { name, allow_renaming, resource, namespace, pose } = spawn;
    if !origin.exists {
        return Err(refused(INCORRECT_STATE, "there is no world: load one first"));
    }
    let namespace = namespace.strip_prefix('/').unwrap_or(&namespace);
    if !namespace.is_empty() && !namespace.split('/').all(is_namespace_part) {
        let what = format!(
            "'{}' is not a namespace: each part must start with a letter or _ and consist of ASCII letters, digits and _",
            shown(namespace)
        );
        return Err(refused(spawn::NAMESPACE_INVALID, what));
    }
    if !["", "world", present.frame.as_str()].contains(&pose.header.frame_id.as_str()) {
        let frame = shown(&pose.header.frame_id);
        return Err(refused(
            spawn::INVALID_POSE,
            format!("frame '{frame}' is not supported: give poses in '{}'", present.frame),
        ));
    }
    let X_WB = read_pose(&pose.pose).map_err(|outcome| refused(spawn::INVALID_POSE, outcome.error_message))?;
    if resource.uri.is_empty() && resource.text.is_empty() {
        return Err(refused(
            spawn::NO_RESOURCE,
            "the request has neither a uri nor a resource string: give one of them",
        ));
    }
    let folder = origin.source.folder().to_path_buf();
    let (urdf, label, folder) = match resource.uri.as_str() {
        "" => (resource.text, PathBuf::from("resource_string"), folder),
        uri => {
            refuse_xacro(Path::new(uri))?;
            let file = find(uri, &folder, packages)?;
            check_ending(&file, &["urdf", "sdf", "xml"], spawn::UNSUPPORTED_FORMAT)?;
            let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
            (read(&file, spawn::RESOURCE_PARSE_ERROR)?, file, folder)
        }
    };
    if urdf.len() as u64 > TEXT_BYTES_MAX {
        return Err(refused(
            spawn::RESOURCE_PARSE_ERROR,
            format!("the URDF is {} bytes long; at most {TEXT_BYTES_MAX} are read", urdf.len()),
        ));
    }
    let name = unique_name(name, allow_renaming, namespace, &urdf, origin)?;
    let taken = |name: &str| present.scene.body(name).is_some() || present.scene.model().joint(name).is_some();
    let entity = Entity { name: name.clone(), urdf, label, folder, X_WB };
    origin
        .source
        .add(entity, packages, &taken)
        .map_err(|error| refused(code_of_urdf(&error), shortened(&with_causes(&error))))?;
    origin.spawned.push(name.clone());
    Ok(name)
}

/// The name in the request, else the name in the URDF, behind the namespace. A taken name gets a number if
/// renaming is allowed.
fn unique_name(
    asked: String,
    allow_renaming: bool,
    namespace: &str,
    urdf: &str,
    origin: &WorldOrigin,
) -> Result<String, Outcome> {
    let own = || robot_name(urdf).filter(|name| is_name(name));
    let name = if asked.is_empty() { own().unwrap_or_default() } else { asked };
    let name = match name.as_str() {
        "" if allow_renaming => "entity".to_owned(),
        "" => {
            return Err(refused(
                spawn::NAME_INVALID,
                "the request has no name, and the name in the URDF is not valid: give a name",
            ));
        }
        _ if !is_name(&name) => {
            let rule = "names consist of ASCII letters, digits and _ - . , start with a letter, and are not `world`";
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
        return Err(refused(
            spawn::NAME_NOT_UNIQUE,
            format!("an entity '{}' exists already: choose another name", shown(&name)),
        ));
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

/// Reads a scene file.
fn read_world(resource: Resource, present: &PresentWorld) -> Result<WorldOrigin, Outcome> {
    let PresentWorld { origin: before, packages, scene_of_start, .. } = present;
    let Resource { uri, text } = resource;
    let (text, label) = match (uri.as_str(), text.as_str()) {
        ("", "") => {
            let problem = "the request has neither a uri nor a resource string: give one of them";
            return Err(refused(load::NO_RESOURCE, problem));
        }
        ("", _) => (text.clone(), before.source.folder().join("resource_string")),
        (uri, _) => {
            let file = find(uri, before.source.folder(), packages)?;
            check_ending(&file, &["yaml", "yml"], load::UNSUPPORTED_FORMAT)?;
            (read(&file, load::RESOURCE_PARSE_ERROR)?, file)
        }
    };
    if text.trim_start().starts_with('<') {
        return Err(refused(
            load::UNSUPPORTED_FORMAT,
            "a world must be a scene file in YAML: see docs/reference/scene-files.md",
        ));
    }
    if text.len() as u64 > TEXT_BYTES_MAX {
        return Err(refused(
            load::RESOURCE_PARSE_ERROR,
            format!("the scene is {} bytes long; at most {TEXT_BYTES_MAX} are read", text.len()),
        ));
    }
    let source = SceneSource::read_str(&text, &label, packages)
        .map_err(|error| refused(load::RESOURCE_PARSE_ERROR, shortened(&with_causes(&error))))?;
    let text = if uri.is_empty() { text } else { String::new() };
    let is_of_start = !uri.is_empty() && is_same_file(&label, scene_of_start);
    Ok(WorldOrigin { text, is_of_start, ..WorldOrigin::file(&uri, source) })
}

/// Whether both paths lead to one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn find(uri: &str, folder: &Path, packages: &PackageMap) -> Result<PathBuf, Outcome> {
    packages.resolve(uri, folder).map_err(|error| refused(NOT_FOUND, shortened(&error.to_string())))
}

/// An expansion runs a program that reads any file, so a client of the node cannot start one.
fn refuse_xacro(file: &Path) -> Result<(), Outcome> {
    if !file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xacro")) {
        return Ok(());
    }
    let what = format!(
        "{}: the node does not expand xacro files for a spawn: expand it first, `xacro FILE.xacro > FILE.urdf`, and spawn the \
         result, or send it as the resource string",
        shown(&file.to_string_lossy())
    );
    Err(refused(spawn::UNSUPPORTED_FORMAT, what))
}

/// Files of other kinds are not read, because an error message would quote them.
fn check_ending(file: &Path, endings: &[&str], code: u8) -> Result<(), Outcome> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if endings.contains(&ending.as_str()) {
        return Ok(());
    }
    Err(refused(
        code,
        format!("{}: the file name must end in .{}", shown(&file.to_string_lossy()), endings.join(" or .")),
    ))
}

fn read(file: &Path, code: u8) -> Result<String, Outcome> {
    // Comments in encodings other than UTF-8 are common and harmless.
    let bytes =
        limits::read(file, TEXT_BYTES_MAX).map_err(|error| refused(code, format!("{}: {error}", file.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The result code for an error in a URDF.
fn code_of_urdf(error: &UrdfError) -> u8 {
    match error {
        UrdfError::Invalid { problem, .. } => match problem.as_ref() {
            UrdfProblem::NotRobot { .. } | UrdfProblem::Sdformat(SdformatProblem::Version { .. }) => {
                spawn::UNSUPPORTED_FORMAT
            }
            UrdfProblem::MeshPath(_) => spawn::MISSING_ASSETS,
            UrdfProblem::Mesh(_) => spawn::UNSUPPORTED_ASSETS,
            _ => spawn::RESOURCE_PARSE_ERROR,
        },
        UrdfError::Read { .. } | UrdfError::NotXml { .. } | UrdfError::Xacro(_) => spawn::RESOURCE_PARSE_ERROR,
    }
}

/// The result code for a world that cannot be built. `changed`: it derives from the present world; otherwise
/// it is a loaded one.
fn code_of(error: &SceneError, changed: bool) -> u8 {
    match error {
        _ if changed => FAILED,
        SceneError::Load { .. } => load::MISSING_ASSETS,
        _ => load::RESOURCE_PARSE_ERROR,
    }
}

/// The text, shortened and without control characters, because errors quote text from a client.
fn shortened(text: &str) -> String {
    /// \[characters\]
    const LENGTH_MAX: usize = 2000;
    let mut short: String = text.chars().take(LENGTH_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
