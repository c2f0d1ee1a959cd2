//! Placement of a model of a scene file in the scene.

use std::path::{Path, PathBuf};

use super::address::{folder_of, resolve};
use super::error::{Place, SceneError};
use super::names::{matches, suggestion};
use super::reader::{Named, unknown_name};
use super::schema::{ActuatorSpec, BaseSpec, MaterialRule, ModelSpec, Placed};
use crate::contact::ContactProperties;
use crate::io::package::PackageMap;
use crate::io::srdf::{self, GroupState};
use crate::io::urdf::{self, LoadOptions};
use crate::math::{BodyIndex, RigidTransform};
use crate::robot::{
    CollisionElement, Joint, PlacedRobot, RobotDescription, RobotFormat, RobotPlacement, add_robot, fill_massless,
};
use crate::scene::{Actuator, SceneBuilder};

/// The contents of a model's files.
pub(super) struct LoadedModel<'a> {
    pub(super) spec: &'a ModelSpec,
    pub(super) robot: RobotDescription,
    pub(super) urdf_text: String,
    pub(super) disabled_pairs: Vec<(String, String)>,
    /// Initial positions of joints by their names in the URDF [rad or m].
    pub(super) positions: Vec<(String, f64)>,
    /// Initial velocities, likewise [rad/s or m/s].
    pub(super) velocities: Vec<(String, f64)>,
    /// The pose of a free model with a random pose.
    pub(super) X_WB: Option<RigidTransform>,
}

/// Reads the files of a model and checks every name that its section uses. If steps need masses, moving links
/// without mass get a small one (see [`fill_massless`]).
pub(super) fn load_model<'a>(
    spec: &'a ModelSpec,
    packages: &PackageMap,
    options: &LoadOptions,
    needs_mass: bool,
    warnings: &mut Vec<String>,
) -> Result<LoadedModel<'a>, SceneError> {
    let unloadable = |place: &Place, what: String, source: Box<dyn std::error::Error + Send + Sync>| SceneError::Load {
        place: place.clone(),
        what,
        source,
    };
    let what = || format!("the robot file of model `{}`", spec.name.name);
    urdf::refuse_xacro_arguments(Path::new(&spec.urdf.name), &spec.xacro_arguments)
        .map_err(|source| unloadable(&spec.urdf.place, what(), Box::new(source)))?;
    let (urdf_text, file, folder) = match (&spec.text, &spec.body) {
        (Some((text, folder)), _) => (text.clone(), PathBuf::from(&spec.urdf.name), folder.clone()),
        (None, Some(body)) => {
            let rules = spec.materials.iter().map(|rule| &rule.properties);
            let properties = rules.fold(ContactProperties::default(), |all, rule| rule.or(&all));
            let text = body.urdf(&spec.name.name, packages, &properties)?;
            (text, PathBuf::from(body.place.to_string()), folder_of(&spec.urdf).to_path_buf())
        }
        (None, None) => {
            let file = resolve(&spec.urdf, "the URDF file", packages)?;
            let text = urdf::read_text(&file, &spec.xacro_arguments)
                .map_err(|source| unloadable(&spec.urdf.place, what(), Box::new(source)))?;
            let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
            (text, file, folder)
        }
    };
    let mut robot = urdf::load_str(&urdf_text, &file, &folder, packages, options)
        .map_err(|source| unloadable(&spec.urdf.place, what(), Box::new(source)))?;
    if robot.links.is_empty() {
        let way_out = match robot.format {
            RobotFormat::Sdformat => "add a <link> to the model",
            _ => "if this is a xacro file, name it FILE.xacro, so that it is expanded",
        };
        let problem = format!("{}: the robot has no links; {way_out}", file.display());
        return Err(SceneError::Conflict { place: spec.urdf.place.clone(), problem });
    }
    warnings.extend(robot.warnings.iter().map(ToString::to_string));
    warnings.extend(static_but_free(spec, &robot));
    if needs_mass {
        let filled = fill_massless(&mut robot, matches!(spec.base, BaseSpec::Free { .. }));
        warnings.extend(filled.iter().map(ToString::to_string));
    }
    let (mut disabled_pairs, mut positions) = (Vec::new(), Vec::new());
    if let Some(srdf) = &spec.srdf {
        let file = resolve(srdf, "the SRDF file", packages)?;
        let what = format!("the SRDF of model `{}`", spec.name.name);
        let read = srdf::load_file(&file).map_err(|source| unloadable(&srdf.place, what, Box::new(source)))?;
        for state in &spec.group_states {
            positions.extend(positions_of(state, &read.group_states, &robot, &file)?);
        }
        for pair in read.disabled_pairs {
            for link in [&pair.link1, &pair.link2] {
                if robot.link(link).is_none() {
                    warnings.push(format!("{}:{}: the robot has no link `{link}`", file.display(), pair.line));
                }
            }
            disabled_pairs.push((pair.link1, pair.link2));
        }
    }
    check_names(spec, &robot)?;
    for joint in robot.joints.iter_mut().filter(|joint| joint.kind.nv() == 1) {
        let entries = spec.springs.iter().filter(|entry| matches(&entry.joint.name, &joint.name));
        joint.spring = entries.map(|entry| entry.spring).next_back().unwrap_or(joint.spring);
    }
    warnings.extend(actuators_of_mimics(spec, &robot));
    let urdf_text = urdf::urdf_text(&robot, &urdf_text);
    positions.extend(values(&spec.joints, &robot));
    let velocities = values(&spec.velocities, &robot);
    Ok(LoadedModel { spec, robot, urdf_text, disabled_pairs, positions, velocities, X_WB: None })
}

/// The warning of a static model that the scene leaves free.
fn static_but_free(spec: &ModelSpec, robot: &RobotDescription) -> Option<String> {
    let is_static = |joint: &Joint| joint.parent == "world" && joint.name.ends_with("_static");
    let found = robot.format == RobotFormat::Sdformat && robot.joints.iter().any(is_static);
    (found && matches!(spec.base, BaseSpec::Free { .. })).then(|| {
        format!(
            "{}: {} states <static>true</static>, but the scene leaves model `{}` free, so that it moves; use `weld: {{}}`",
            spec.place,
            robot.file.display(),
            spec.name.name
        )
    })
}

/// The values of joints by name, from entries for names and patterns.
fn values(entries: &[(Named, Placed)], robot: &RobotDescription) -> Vec<(String, f64)> {
    let of = |(named, placed): &(Named, Placed)| {
        let joints = joints_of(named, robot).map(|joint| (joint.name.clone(), placed.value));
        joints.collect::<Vec<_>>()
    };
    entries.iter().flat_map(of).collect()
}

/// The joints with a coordinate of their own that a name or pattern means.
fn joints_of<'r>(named: &Named, robot: &'r RobotDescription) -> impl Iterator<Item = &'r Joint> {
    let own = robot.joints.iter().filter(|joint| joint.kind.nv() == 1 && joint.mimic.is_none());
    own.filter(|joint| matches(&named.name, &joint.name))
}

/// The positions of a group state of the SRDF `file`. Joints that are fixed or follow another one have none
/// of their own.
fn positions_of(
    named: &Named,
    states: &[GroupState],
    robot: &RobotDescription,
    file: &Path,
) -> Result<Vec<(String, f64)>, SceneError> {
    let mut positions = Vec::new();
    if !states.iter().any(|state| state.name == named.name) {
        let mut names: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
        names.dedup();
        return Err(unknown_name(named, format!("group state in {} called", file.display()), names));
    }
    for state in states.iter().filter(|state| state.name == named.name) {
        for (joint, position) in &state.joints {
            let at = format!("{}:{}: group state `{}`", file.display(), state.line, state.name);
            let refused = |problem: String| SceneError::Conflict { place: named.place.clone(), problem };
            let Some(found) = robot.joint(joint) else {
                let near = suggestion(joint, robot.joints.iter().map(|joint| joint.name.as_str()));
                return Err(refused(format!("{at}: the robot has no joint `{joint}`{near}; correct the SRDF")));
            };
            if found.kind.nv() != 1 || found.mimic.is_some() {
                continue;
            }
            let lower = found.limits.lower.unwrap_or(f64::NEG_INFINITY);
            let upper = found.limits.upper.unwrap_or(f64::INFINITY);
            if !(lower..=upper).contains(position) {
                return Err(refused(format!(
                    "{at}: the position {position} of joint `{joint}` is beyond its limits {lower} to {upper}; correct the SRDF"
                )));
            }
            positions.push((joint.clone(), *position));
        }
    }
    Ok(positions)
}

/// A warning for each entry of `actuators` that names a mimic joint.
fn actuators_of_mimics(spec: &ModelSpec, robot: &RobotDescription) -> Vec<String> {
    let warning = |entry: &ActuatorSpec| {
        let mimic = robot.joint(&entry.joint.name)?.mimic.as_ref()?;
        let (place, joint, leader) = (&entry.joint.place, &entry.joint.name, &mimic.joint);
        Some(format!("{place}: joint `{joint}` follows `{leader}` and has no actuator of its own; give `{leader}` one"))
    };
    spec.actuators.iter().filter_map(warning).collect()
}

fn check_names(spec: &ModelSpec, robot: &RobotDescription) -> Result<(), SceneError> {
    let model = &spec.name.name;
    let movable: Vec<&str> =
        robot.joints.iter().filter(|joint| joint.kind.nv() == 1).map(|joint| joint.name.as_str()).collect();
    let kind = || format!("joint with one degree of freedom in model `{model}` called");
    let leader = |joint: &Named, what: &str| {
        let Some(found) = robot.joint(&joint.name).filter(|joint| joint.kind.nv() == 1) else {
            return Err(unknown_name(joint, kind(), movable.iter().copied()));
        };
        if let Some(mimic) = &found.mimic {
            let problem = format!("joint `{0}` follows `{1}`; give the {what} of `{1}`", joint.name, mimic.joint);
            return Err(SceneError::Conflict { place: joint.place.clone(), problem });
        }
        Ok(found)
    };
    for (named, _) in &spec.velocities {
        if !named.name.contains('*') || joints_of(named, robot).next().is_none() {
            leader(named, "velocity")?;
        }
    }
    for spring in &spec.springs {
        if !movable.iter().any(|name| matches(&spring.joint.name, name)) {
            return Err(unknown_name(&spring.joint, kind(), movable.iter().copied()));
        }
    }
    for (named, position) in &spec.joints {
        if !named.name.contains('*') || joints_of(named, robot).next().is_none() {
            leader(named, "position")?;
        }
        for joint in joints_of(named, robot) {
            let lower = joint.limits.lower.unwrap_or(f64::NEG_INFINITY);
            let upper = joint.limits.upper.unwrap_or(f64::INFINITY);
            if !(lower..=upper).contains(&position.value) {
                return Err(SceneError::OutOfRange {
                    place: position.place.clone(),
                    what: format!("the position of joint `{}`", joint.name),
                    value: position.value,
                    allowed: format!("within its limits {lower} to {upper} (rad or m)"),
                });
            }
        }
    }
    for actuator in &spec.actuators {
        if !movable.iter().any(|name| matches(&actuator.joint.name, name)) {
            return Err(unknown_name(&actuator.joint, kind(), movable.iter().copied()));
        }
    }
    let elements: Vec<(&str, &str)> = robot
        .links
        .iter()
        .flat_map(|link| link.collisions.iter().map(|element| (link.name.as_str(), element.name.as_str())))
        .collect();
    spec.materials.iter().try_for_each(|rule| check_rule(rule, &elements))
}

/// Refuses a rule that matches none of the elements, which are given as (link, collision element).
pub(super) fn check_rule(rule: &MaterialRule, elements: &[(&str, &str)]) -> Result<(), SceneError> {
    for (pattern, names) in [
        (&rule.body, elements.iter().map(|(body, _)| *body).collect::<Vec<_>>()),
        (&rule.geometry, elements.iter().map(|(_, geometry)| *geometry).collect()),
    ] {
        if let Some(pattern) = pattern
            && !names.iter().any(|name| matches(&pattern.name, name))
        {
            let mut names = names;
            names.dedup();
            return Err(unknown_name(pattern, "body or collision geometry that matches", names));
        }
    }
    if !elements.iter().any(|(body, geometry)| applies(rule, body, geometry)) {
        let problem =
            "this material matches no geometry: no body of that name has a geometry of that name; correct the names"
                .to_owned();
        return Err(SceneError::Conflict { place: rule.place.clone(), problem });
    }
    Ok(())
}

fn applies(rule: &MaterialRule, body: &str, geometry: &str) -> bool {
    let fits = |pattern: &Option<Named>, name| pattern.as_ref().is_none_or(|pattern| matches(&pattern.name, name));
    fits(&rule.body, body) && fits(&rule.geometry, geometry)
}

/// The name of a link or joint in the scene: its own name after the model's prefix.
pub(super) fn scene_name(spec: &ModelSpec, name: &str) -> String {
    let name = format!("{}{name}", spec.prefix);
    // The scene has a world of its own, and many robot files have a root link of that name.
    if name == "world" { format!("{}_world", spec.name.name) } else { name }
}

/// Adds the model to `builder`. `rules` are the scene's materials; the model's own rules override them, and
/// later rules override earlier ones.
pub(super) fn place_model(
    builder: &mut SceneBuilder,
    model: &LoadedModel<'_>,
    weld: Option<(BodyIndex, RigidTransform)>,
    rules: &[MaterialRule],
) -> Result<PlacedRobot, SceneError> {
    let spec = model.spec;
    let properties = |link: &str, element: &CollisionElement| {
        // The scene's rules name bodies as the scene does, and those of the model leave its prefix out.
        let body = scene_name(spec, link);
        let of_scene = rules.iter().filter(|rule| applies(rule, &body, &element.name));
        let of_model = spec.materials.iter().filter(|rule| applies(rule, link, &element.name));
        of_scene
            .chain(of_model)
            .fold(element.properties.clone(), |properties: ContactProperties, rule| rule.properties.or(&properties))
    };
    let placement = RobotPlacement {
        rename: &|name| scene_name(spec, name),
        weld,
        properties: &properties,
        actuator: &|joint| actuator(spec, joint),
        disabled_pairs: &model.disabled_pairs,
    };
    add_robot(builder, &model.robot, &placement).map_err(|source| SceneError::Build {
        place: spec.place.clone(),
        what: format!("model `{}` cannot be added to the scene", spec.name.name),
        source: Box::new(source),
    })
}

/// The impedance of a joint: the effort limit of its URDF and no gains, overridden by the entries that match
/// it. A mimic joint has no gains: its spring would act against that of its leader.
fn actuator(spec: &ModelSpec, joint: &Joint) -> Actuator {
    let initial = Actuator {
        effort_limit: joint.limits.effort.unwrap_or(f64::INFINITY),
        gravity_compensation: spec.gravity_compensation,
        ..Actuator::PASSIVE
    };
    let leads = joint.mimic.is_none();
    let entries = spec.actuators.iter().filter(|entry| leads && matches(&entry.joint.name, &joint.name));
    entries.fold(initial, |actuator, entry: &ActuatorSpec| Actuator {
        stiffness: entry.stiffness.unwrap_or(actuator.stiffness),
        damping: entry.damping.unwrap_or(actuator.damping),
        effort_limit: entry.effort_limit.unwrap_or(actuator.effort_limit),
        gravity_compensation: entry.gravity_compensation.unwrap_or(actuator.gravity_compensation),
    })
}

/// The body among `bodies` that the model is welded to, and the pose of the model's root in it; `None` for a
/// free model.
pub(super) fn weld_of(
    spec: &ModelSpec,
    bodies: &[(String, BodyIndex)],
) -> Result<Option<(BodyIndex, RigidTransform)>, SceneError> {
    let BaseSpec::Weld { parent, X_PB } = &spec.base else { return Ok(None) };
    let Some(parent) = parent else { return Ok(Some((BodyIndex::WORLD, *X_PB))) };
    let found = bodies.iter().find(|(name, _)| *name == parent.name).map(|(_, body)| *body);
    let known: Vec<&str> = bodies.iter().map(|(name, _)| name.as_str()).collect();
    match found {
        Some(body) => Ok(Some((body, *X_PB))),
        None => Err(unknown_name(parent, "body in the models before this one called", known)),
    }
}

/// The model of a body; `None` for the world.
pub(super) fn model_of(body: BodyIndex, placed: &[PlacedRobot]) -> Option<usize> {
    placed.iter().position(|robot| robot.bodies.values().any(|other| *other == body))
}
