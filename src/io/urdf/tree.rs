//! Checks that names are unique and known, and that the joints form one tree.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{UrdfError, UrdfProblem};
use super::place::{Place, suggestion};
use crate::robot::{Joint, RobotDescription};

/// Checks the robot's names and its tree; invalid mimics are removed.
pub(super) fn check(robot: &mut RobotDescription) -> Result<(), UrdfError> {
    let links = robot.links.iter().map(|link| ("link", link.name.as_str(), link.line));
    let joints = robot.joints.iter().map(|joint| ("joint", joint.name.as_str(), joint.line));
    let groups = robot.collision_filter_groups.iter().map(|g| ("collision filter group", g.name.as_str(), g.line));
    let mut first: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (what, name, line) in links.chain(joints).chain(groups) {
        if let Some(&first_line) = first.get(&(what, name)) {
            let duplicate = UrdfProblem::Duplicate { what, name: name.to_owned(), first_line };
            return Err(Place::new(&robot.file, line, format!("{what} `{name}`")).fail(duplicate));
        }
        first.insert((what, name), line);
    }
    let parent_joints = check_joints(robot)?;
    check_loops(robot, &parent_joints)?;
    check_root(robot, &parent_joints)?;
    check_groups(robot)?;
    check_mimics(robot)
}

fn place<'a>(robot: &'a RobotDescription, joint: &Joint) -> Place<'a> {
    Place::new(&robot.file, joint.line, format!("joint `{}`", joint.name))
}

/// The joint above each link.
fn check_joints(robot: &RobotDescription) -> Result<BTreeMap<&str, &Joint>, UrdfError> {
    let names: BTreeSet<&str> = robot.links.iter().map(|link| link.name.as_str()).collect();
    let mut above: BTreeMap<&str, &Joint> = BTreeMap::new();
    for joint in &robot.joints {
        for (what, name) in [("parent link", &joint.parent), ("child link", &joint.child)] {
            if !names.contains(name.as_str()) {
                let suggestion = suggestion(name, names.iter().copied());
                let unknown = UrdfProblem::Unknown { what, name: name.clone(), suggestion };
                return Err(place(robot, joint).fail(unknown));
            }
        }
        if let Some(other) = above.insert(&joint.child, joint) {
            let link = joint.child.clone();
            let problem = UrdfProblem::TwoParents { link, other: other.name.clone(), other_line: other.line };
            return Err(place(robot, joint).fail(problem));
        }
    }
    Ok(above)
}

fn check_loops(robot: &RobotDescription, above: &BTreeMap<&str, &Joint>) -> Result<(), UrdfError> {
    let mut rooted: BTreeSet<&str> = BTreeSet::new();
    for link in &robot.links {
        let mut path: Vec<&Joint> = Vec::new();
        let mut here = link.name.as_str();
        while let Some(joint) = above.get(here) {
            if rooted.contains(here) {
                break;
            }
            if let Some(start) = path.iter().position(|passed| passed.child == here) {
                let mut names: Vec<String> = path[start..].iter().map(|joint| format!("`{}`", joint.name)).collect();
                names.reverse();
                let problem = UrdfProblem::Loop { path: names.join(", ") };
                return Err(place(robot, path[start]).fail(problem));
            }
            path.push(joint);
            here = &joint.parent;
        }
        rooted.extend(path.iter().map(|joint| joint.child.as_str()));
    }
    Ok(())
}

fn check_root(robot: &RobotDescription, above: &BTreeMap<&str, &Joint>) -> Result<(), UrdfError> {
    let roots: Vec<_> = robot.links.iter().filter(|link| !above.contains_key(link.name.as_str())).collect();
    let Some(second) = roots.get(1) else { return Ok(()) };
    let named: Vec<String> = roots.iter().map(|link| format!("`{}` (line {})", link.name, link.line)).collect();
    let place = Place::new(&robot.file, second.line, format!("link `{}`", second.name));
    Err(place.fail(UrdfProblem::ManyRoots { roots: named.join(", ") }))
}

/// Removes invalid mimics. A loop is refused. A mimic without a movable leader is left out with a warning,
/// because robot files in use contain such leftovers.
fn check_mimics(robot: &mut RobotDescription) -> Result<(), UrdfError> {
    let joints: BTreeMap<&str, &Joint> = robot.joints.iter().map(|joint| (joint.name.as_str(), joint)).collect();
    let mut left_out = Vec::new();
    for (number, joint) in robot.joints.iter().enumerate() {
        let Some(mimic) = &joint.mimic else { continue };
        let warning = match joints.get(mimic.joint.as_str()) {
            None => {
                let near = suggestion(&mimic.joint, joints.keys().copied());
                Some(format!("<mimic> is left out: there is no joint `{}`{near}", mimic.joint))
            }
            Some(followed) if joint.kind.nv() != 1 || followed.kind.nv() != 1 => Some(format!(
                "<mimic> is left out: it needs joints with one degree of freedom, but this one is {} and `{}` is {}",
                joint.kind.name(),
                followed.name,
                followed.kind.name()
            )),
            Some(followed) => {
                check_mimic_loop(robot, &joints, joint, followed)?;
                None
            }
        };
        left_out.extend(warning.map(|message| (number, place(robot, joint).warning(message))));
    }
    for (number, warning) in left_out {
        robot.joints[number].mimic = None;
        robot.warnings.push(warning);
    }
    Ok(())
}

fn check_mimic_loop(
    robot: &RobotDescription,
    joints: &BTreeMap<&str, &Joint>,
    joint: &Joint,
    followed: &Joint,
) -> Result<(), UrdfError> {
    let mut here = Some(followed);
    for _ in 0..robot.joints.len() {
        let Some(next) = here else { break };
        if next.name == joint.name {
            return Err(place(robot, joint).fail(UrdfProblem::MimicLoop));
        }
        here = next.mimic.as_ref().and_then(|mimic| joints.get(mimic.joint.as_str()).copied());
    }
    Ok(())
}

fn check_groups(robot: &RobotDescription) -> Result<(), UrdfError> {
    let links: Vec<&str> = robot.links.iter().map(|link| link.name.as_str()).collect();
    let groups: Vec<&str> = robot.collision_filter_groups.iter().map(|group| group.name.as_str()).collect();
    // A group that is switched off may contain unknown names, because Drake skips it.
    for group in robot.collision_filter_groups.iter().filter(|group| !group.ignore) {
        let members = group.members.iter().map(|name| ("link", name, &links));
        let others = group.member_groups.iter().chain(&group.ignored_groups);
        for (what, name, known) in members.chain(others.map(|name| ("collision filter group", name, &groups))) {
            if !known.contains(&name.as_str()) {
                let suggestion = suggestion(name, known.iter().copied());
                let place = Place::new(&robot.file, group.line, format!("collision filter group `{}`", group.name));
                return Err(place.fail(UrdfProblem::Unknown { what, name: name.clone(), suggestion }));
            }
        }
    }
    Ok(())
}
