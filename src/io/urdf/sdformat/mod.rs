//! Converts SDFormat, versions 1.6 to 1.12, to the robot description that URDF files give: one model, or all
//! models of a world.
//!
//! - All poses are resolved first, by the graph of frames ([`frames`]). In a URDF, the frame of a joint is
//!   that of its child link. If the two frames of an SDFormat file differ, the joint's frame becomes a
//!   massless link to which the child is fixed.
//! - The root of the robot is the root link if its frame is that of the model (or `placement_frame`);
//!   otherwise a massless link with the model's name. In static models, models with a joint to the world, and
//!   worlds, it is a link called `world`.
//! - Links without a parent joint are fixed to that root in a static model, and free otherwise.

mod collect;
mod document;
mod frames;
mod include;
mod joint;
mod link;
mod problem;
mod text;
mod unused;

use std::collections::BTreeMap;
use std::path::Path;

pub use problem::SdformatProblem;

use super::error::UrdfError;
use super::geometry::GeometryReader;
use super::options::LoadOptions;
use super::place::Place;
use super::{foreign, tree};
use crate::io::package::PackageMap;
use crate::io::xml::Element;
use crate::math::{RigidTransform, Vector3};
use crate::multibody::{JointKind, JointSpring};
use crate::robot::{CollisionFilterGroup, Joint, Limits, Link, RobotDescription, RobotFormat};
use collect::Collected;
use document::{adopt_quotes, check_version, only_model, warn_of_degrees};
use joint::WORLD;
use text::child_truth;

/// Reads the document with the root `<sdf>`.
pub(super) fn load(
    mut root: Element,
    label: &Path,
    base_dir: &Path,
    packages: &PackageMap,
    options: &LoadOptions,
) -> Result<RobotDescription, UrdfError> {
    check_version(&root, label)?;
    let mut collected = Collected::new(packages);
    let place = Place::named(label, &root);
    adopt_quotes(&mut root, &place, &mut collected.warnings);
    warn_of_degrees(&root, &place, &mut collected.warnings);
    let file = collected.add_file(label, base_dir, &root)?;
    for child in root.children.iter().filter(|child| !matches!(child.name.as_str(), "model" | "world")) {
        collected
            .unused
            .count(&Element { name: "sdf".to_owned(), children: vec![child.clone()], ..root_of(&root) }, label);
    }
    let model = only_model(root, label)?;
    let place = Place::named(label, &model);
    let name = place.required(&model, "name")?.to_owned();
    let placement = model.attribute("placement_frame").filter(|frame| !frame.is_empty()).map(str::to_owned);
    let is_world = model.name == "world";
    let place = Place::new(label, model.line, place.element.clone());
    collected.outermost(model, file)?;
    collected.frames.resolve()?;
    let base = match placement {
        Some(frame) => collected.frames.find(0, &frame, &place)?,
        None => collected.frames.scopes[0].model,
    };
    let mut robot =
        RobotDescription { name, file: label.to_path_buf(), format: RobotFormat::Sdformat, ..Default::default() };
    robot.warnings = std::mem::take(&mut collected.warnings);
    read_elements(&mut collected, base, is_world, options, &mut robot)?;
    if robot.links.is_empty() {
        robot.warnings.push(place.warning("the model has no links"));
    }
    robot.warnings.extend(std::mem::take(&mut collected.unused).warning());
    let first = robot.warnings.len();
    let checked = tree::check(&mut robot);
    // The checks of the tree do not know about included files.
    let file_of: BTreeMap<String, &Path> = collected
        .joints
        .iter()
        .map(|joint| (format!("joint `{}`", joint.name), collected.frames.file(joint.file)))
        .chain(collected.links.iter().map(|link| (format!("link `{}`", link.name), collected.frames.file(link.file))))
        .collect();
    for warning in &mut robot.warnings[first..] {
        if let Some(file) = file_of.get(&warning.element) {
            warning.file = file.to_path_buf();
        }
    }
    match checked {
        Err(UrdfError::Invalid { file, line, element, problem }) => {
            let file = file_of.get(&element).map_or(file, |file| file.to_path_buf());
            Err(UrdfError::Invalid { file, line, element, problem })
        }
        Err(other) => Err(other),
        Ok(()) => Ok(robot),
    }
}

fn root_of(root: &Element) -> Element {
    Element { line: root.line, ..Element::default() }
}

fn read_elements(
    collected: &mut Collected<'_>,
    base: usize,
    is_world: bool,
    options: &LoadOptions,
    robot: &mut RobotDescription,
) -> Result<(), UrdfError> {
    let collected = &*collected;
    let mut read = BTreeMap::new();
    for item in &collected.links {
        let base_dir = collected.folder(item.file).to_path_buf();
        let packages = collected.packages;
        let mut reader = GeometryReader { base_dir: &base_dir, packages, options, read: std::mem::take(&mut read) };
        let link = link::read(item, collected, &mut reader, &mut robot.warnings)?;
        read = reader.read;
        robot.links.push(link);
    }
    let is_static = |link: usize| collected.flags[collected.links[link].scope].is_static;
    let mut has_parent = vec![false; collected.links.len()];
    let mut joints_to_world = false;
    let mut locked = Vec::new();
    for item in &collected.joints {
        let (parent, child) = joint::ends(item, collected)?;
        let frame_of = |link: Option<usize>| link.map_or(base, |link| collected.links[link].frame);
        let X_PJ = collected.frames.pose(frame_of(parent), item.frame);
        let X_JC = collected.frames.pose(item.frame, frame_of(Some(child)));
        let names = (parent.map_or(WORLD, |link| &collected.links[link].name), &*collected.links[child].name);
        let chain = joint::read(item, collected, names, (X_PJ, X_JC), &mut robot.warnings)?;
        if is_static(child) {
            let moves = chain.joints.iter().any(|joint| joint.kind != JointKind::Fixed);
            locked.extend(moves.then(|| item.name.clone()));
            continue;
        }
        has_parent[child] = true;
        joints_to_world |= parent.is_none();
        robot.links.extend(chain.links);
        robot.joints.extend(chain.joints);
    }
    if let Some(first) = collected.joints.iter().find(|item| locked.contains(&item.name)) {
        let what = format!("the joints of static models do not move: `{}`", locked.join("`, `"));
        robot.warnings.push(joint::place_of(first, collected).warning(what));
    }
    add_base(collected, base, is_world || joints_to_world, &has_parent, robot);
    add_groups(collected, robot)
}

/// Joins the links without a parent joint to one root.
fn add_base(
    collected: &Collected<'_>,
    base: usize,
    mut needs_world: bool,
    has_parent: &[bool],
    robot: &mut RobotDescription,
) {
    let is_static = |link: &usize| collected.flags[collected.links[*link].scope].is_static;
    let mut roots: Vec<usize> = (0..has_parent.len()).filter(|link| !has_parent[*link]).collect();
    needs_world |= roots.iter().any(is_static);
    let X_BL = |link: usize| collected.frames.pose(base, collected.links[link].frame);
    let attach = |kind: JointKind, parent: &str, link: usize, X_PF: RigidTransform, name: String| Joint {
        name,
        kind,
        parent: parent.to_owned(),
        child: collected.links[link].name.clone(),
        X_PF,
        axis: Vector3::x(),
        limits: Limits::default(),
        damping: 0.0,
        friction: 0.0,
        spring: JointSpring::default(),
        mimic: None,
        rotor_inertia: 0.0,
        gear_ratio: 1.0,
        controller_gains: None,
        line: collected.links[link].element.line,
    };
    let line = collected.links.first().map_or(1, |link| link.element.line);
    if needs_world {
        robot.links.insert(0, Link { name: WORLD.to_owned(), line, ..Link::default() });
        for link in roots {
            let name = &collected.links[link].name;
            let (kind, name) = match is_static(&link) {
                true => (JointKind::Fixed, format!("{name}_static")),
                false => (JointKind::Floating, format!("{name}_free")),
            };
            robot.joints.push(attach(kind, WORLD, link, X_BL(link), name));
        }
        return;
    }
    let canonical = collected.flags[0].first_link.filter(|link| roots.contains(link));
    let Some(first) = canonical.or_else(|| roots.first().copied()) else { return };
    roots.retain(|link| *link != first);
    let X_BF = X_BL(first);
    if X_BF != RigidTransform::identity() {
        let taken = robot.link(&robot.name).is_some() || robot.name == WORLD;
        let name = if taken { format!("{}::__model__", robot.name) } else { robot.name.clone() };
        robot.joints.push(attach(JointKind::Fixed, &name, first, X_BF, format!("{name}_base")));
        robot.links.insert(0, Link { name, line, ..Link::default() });
    }
    let (first_frame, first_name) = (collected.links[first].frame, &collected.links[first].name);
    for link in roots {
        let X_FL = collected.frames.pose(first_frame, collected.links[link].frame);
        let name = format!("{}_free", collected.links[link].name);
        robot.joints.push(attach(JointKind::Floating, first_name, link, X_FL, name));
    }
}

/// The collision filter groups of the files, and one for each model whose links do not collide with each
/// other.
fn add_groups(collected: &Collected<'_>, robot: &mut RobotDescription) -> Result<(), UrdfError> {
    for (scope, file, element) in &collected.groups {
        let prefix = &collected.frames.scopes[*scope].prefix;
        let mut adapted = element.clone();
        for (name, value) in &mut adapted.attributes {
            if name == "name" {
                *value = format!("{prefix}{value}");
            }
        }
        for child in &mut adapted.children {
            let attribute = if child.name == "drake:member" { "link" } else { "name" };
            let name = child.attribute(attribute).unwrap_or(&child.text);
            child.attributes = vec![(attribute.to_owned(), format!("{prefix}{name}"))];
        }
        let root = Element { children: vec![adapted], ..Element::default() };
        robot.collision_filter_groups.extend(foreign::collision_filter_groups(&root, collected.frames.file(*file))?);
    }
    for (scope, _) in collected.flags.iter().enumerate().filter(|(_, flags)| flags.self_collide == Some(false)) {
        let mut members = Vec::new();
        for link in collected.links.iter().filter(|link| link.scope == scope) {
            let place = Place::named(collected.frames.file(link.file), &link.element);
            if child_truth(&link.element, &place, "self_collide")? != Some(true) {
                members.push(link.name.clone());
            }
        }
        let name = format!("links of `{}` without self_collide", collected.frames.scopes[scope].prefix);
        let line = collected.links.first().map_or(1, |link| link.element.line);
        let ignored_groups = vec![name.clone()];
        let group = CollisionFilterGroup { name, members, ignored_groups, line, ..CollisionFilterGroup::default() };
        robot.collision_filter_groups.push(group);
    }
    Ok(())
}
