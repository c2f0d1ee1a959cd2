//! Placement of a robot description in a scene.

use std::collections::{BTreeMap, BTreeSet};

use super::description::{CollisionElement, CollisionFilterGroup, Inertial, Joint, Link, RobotDescription};
use crate::contact::ContactProperties;
use crate::math::{BodyIndex, JointIndex, RigidTransform, SpatialInertia};
use crate::multibody::{JointLimits, JointSpec, Mimic};
use crate::scene::{Actuator, SceneBuildError, SceneBuilder, VisualGeometry};

/// Options for adding a robot to a scene.
pub struct RobotPlacement<'a> {
    /// Maps names of links and joints in the file to names in the scene.
    pub rename: &'a dyn Fn(&str) -> String,
    /// The body to which the root is welded, and the root's pose in it; `None` leaves the root free.
    pub weld: Option<(BodyIndex, RigidTransform)>,
    /// The contact properties of a collision element of the named link.
    pub properties: &'a dyn Fn(&str, &CollisionElement) -> ContactProperties,
    /// The actuator of a joint with one degree of freedom.
    pub actuator: &'a dyn Fn(&Joint) -> Actuator,
    /// Pairs of links, by their names in the file, that never touch (the `disable_collisions` of an SRDF).
    pub disabled_pairs: &'a [(String, String)],
}

/// A robot in a scene: the bodies of its links and its joints, by their names in the file.
#[derive(Clone, Debug)]
pub struct PlacedRobot {
    /// Bodies of the links.
    pub bodies: BTreeMap<String, BodyIndex>,
    /// Joints.
    pub joints: BTreeMap<String, JointIndex>,
    /// Body of the root link.
    pub root: BodyIndex,
}

/// Adds all links, joints, collision geometries and filters of `robot` to `builder`.
///
/// # Errors
/// Properties out of range, shapes that cannot be tessellated, joints that do not form a tree.
pub fn add_robot(
    builder: &mut SceneBuilder,
    robot: &RobotDescription,
    placement: &RobotPlacement<'_>,
) -> Result<PlacedRobot, SceneBuildError> {
    let bodies: BTreeMap<String, BodyIndex> = robot
        .links
        .iter()
        .map(|link| {
            let inertia = link.inertial.as_ref().map_or(SpatialInertia::ZERO, spatial_inertia);
            (link.name.clone(), builder.add_body(&(placement.rename)(&link.name), inertia))
        })
        .collect();
    let body = |link: &str| bodies.get(link).copied().unwrap_or(BodyIndex::WORLD);
    let root = robot.root().map_or(BodyIndex::WORLD, |link| body(&link.name));
    if let Some((parent, X_PB)) = placement.weld {
        let name = (placement.rename)(&format!("{}_weld", robot.name));
        builder.weld_root(&name, parent, root, X_PB)?;
    }
    let mut joints = BTreeMap::new();
    for joint in &robot.joints {
        let spec = joint_spec(joint, body(&joint.parent), body(&joint.child), placement.rename);
        let index = builder.add_joint(spec)?;
        if joint.kind.nv() == 1 {
            builder.set_actuator(index, (placement.actuator)(joint));
        }
        joints.insert(joint.name.clone(), index);
    }
    for link in &robot.links {
        for element in &link.collisions {
            let properties = (placement.properties)(&link.name, element);
            builder.add_geometry(body(&link.name), &element.name, element.X_BG, element.shape.clone(), &properties)?;
        }
    }
    for (a, b) in filtered_pairs(&robot.collision_filter_groups).iter().chain(placement.disabled_pairs) {
        if let (Some(a), Some(b)) = (bodies.get(a), bodies.get(b)) {
            builder.exclude_contact(*a, *b);
        }
    }
    Ok(PlacedRobot { bodies, joints, root })
}

/// The visual geometries of a placed robot, without those that have no shape.
pub fn visuals(robot: &RobotDescription, placed: &PlacedRobot) -> Vec<VisualGeometry> {
    let of_link = |link: &Link| {
        let body = placed.bodies.get(&link.name).copied();
        let seen = link.visuals.iter().filter_map(move |visual| {
            let (body, shape) = (body?, visual.shape.clone()?);
            let mesh_colors = visual.mesh_colors.clone();
            Some(VisualGeometry { body, X_BV: visual.X_BG, shape, color: visual.color, mesh_colors })
        });
        seen.collect::<Vec<_>>()
    };
    robot.links.iter().flat_map(of_link).collect()
}

/// Spatial inertia about Bo in B's axes.
fn spatial_inertia(inertial: &Inertial) -> SpatialInertia {
    let R_BI = inertial.X_BI.rotation;
    let central_B = R_BI.matrix() * inertial.inertia_I * R_BI.matrix().transpose();
    SpatialInertia::from_central(inertial.mass, &inertial.X_BI.translation.vector, &central_B)
}

fn joint_spec(joint: &Joint, parent: BodyIndex, child: BodyIndex, rename: &dyn Fn(&str) -> String) -> JointSpec {
    let limits = JointLimits {
        lower: joint.limits.lower.unwrap_or(f64::NEG_INFINITY),
        upper: joint.limits.upper.unwrap_or(f64::INFINITY),
        velocity: joint.limits.velocity.unwrap_or(f64::INFINITY),
        effort: joint.limits.effort.unwrap_or(f64::INFINITY),
    };
    JointSpec {
        X_PF: joint.X_PF,
        axis_F: joint.axis,
        limits,
        damping: joint.damping,
        friction: joint.friction,
        spring: joint.spring,
        armature: joint.rotor_inertia * joint.gear_ratio * joint.gear_ratio,
        mimic: joint.mimic.as_ref().map(|mimic| Mimic {
            joint: rename(&mimic.joint),
            multiplier: mimic.multiplier,
            offset: mimic.offset,
        }),
        ..JointSpec::new(&rename(&joint.name), parent, child, joint.kind)
    }
}

/// The pairs of links that do not collide because of collision filter groups.
fn filtered_pairs(groups: &[CollisionFilterGroup]) -> Vec<(String, String)> {
    let by_name: BTreeMap<&str, &CollisionFilterGroup> =
        groups.iter().filter(|group| !group.ignore).map(|group| (group.name.as_str(), group)).collect();
    let mut pairs = Vec::new();
    for group in by_name.values() {
        for other in group.ignored_groups.iter().filter_map(|name| by_name.get(name.as_str())) {
            let others = members(other, &by_name);
            for a in members(group, &by_name) {
                pairs.extend(others.iter().map(|b| (a.to_owned(), (*b).to_owned())));
            }
        }
    }
    pairs
}

/// All links of a group, including those of its member groups. Groups may contain each other.
fn members<'a>(
    group: &'a CollisionFilterGroup,
    groups: &BTreeMap<&'a str, &'a CollisionFilterGroup>,
) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::from([group.name.as_str()]);
    let mut waiting = vec![group];
    let mut links = BTreeSet::new();
    while let Some(group) = waiting.pop() {
        links.extend(group.members.iter().map(String::as_str));
        for name in &group.member_groups {
            if let Some(inner) = groups.get(name.as_str())
                && seen.insert(inner.name.as_str())
            {
                waiting.push(inner);
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, links: &[&str], groups: &[&str], ignored: &[&str]) -> CollisionFilterGroup {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        CollisionFilterGroup {
            name: name.to_owned(),
            members: owned(links),
            member_groups: owned(groups),
            ignored_groups: owned(ignored),
            ..CollisionFilterGroup::default()
        }
    }

    /// Member groups are included, a group may name itself, and the search ends for groups that contain each
    /// other.
    #[test]
    fn filter_groups_expand_to_pairs() {
        let groups = [
            group("hand", &["palm"], &["fingers"], &["arm"]),
            group("fingers", &["thumb"], &["hand"], &[]),
            group("arm", &["wrist"], &[], &[]),
        ];
        let pairs = filtered_pairs(&groups);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(pairs, vec![pair("palm", "wrist"), pair("thumb", "wrist")]);
        let own = filtered_pairs(&[group("self", &["a", "b"], &[], &["self"])]);
        assert!(own.contains(&pair("a", "b")));
    }
}
