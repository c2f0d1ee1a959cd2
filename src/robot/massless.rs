//! Links that move and have no mass.

use std::collections::BTreeMap;

use super::description::{Inertial, Joint, LoadWarning, RobotDescription};
use crate::math::{Matrix3, RigidTransform, Vector3};
use crate::multibody::JointKind;

/// The mass that a link without mass gets if it moves \[kg\].
const MASS: f64 = 1e-3;
/// The moments of inertia that it gets, those of a ball with a radius of 16 mm [kg m2].
const MOMENT: f64 = 1e-7;
/// The radius of gyration of a link that turns about its own axis with mass and without inertia \[m\].
const GYRATION: f64 = 0.01;
/// Links with a smaller radius of gyration are point masses. \[m\]
const POINT: f64 = 1e-4;
/// Point masses nearer to their joint's axis than this are on it. \[m\]
const ON_AXIS: f64 = 1e-3;

/// Gives a small mass and inertia to links whose acceleration would have no value:
/// - moving links if neither they nor the links that they carry have mass, and a free root without mass that
///   carries one joint;
/// - turning links whose mass is on their own axis, and two links without mass in a chain, as in a hip of
///   three joints: what they carry can come to lie on the axis.
///
/// `is_free` states whether the root moves. Returns a warning for each such link.
pub fn fill_massless(robot: &mut RobotDescription, is_free: bool) -> Vec<LoadWarning> {
    let number: BTreeMap<&str, usize> =
        robot.links.iter().enumerate().map(|(number, link)| (link.name.as_str(), number)).collect();
    let mut above = vec![None; robot.links.len()];
    for (index, joint) in robot.joints.iter().enumerate() {
        if let (Some(parent), Some(child)) = (number.get(joint.parent.as_str()), number.get(joint.child.as_str())) {
            above[*child] = Some((*parent, index));
        }
    }
    let own = |link: usize| robot.links[link].inertial.as_ref().map_or(0.0, |inertial| inertial.mass);
    // Mass of each link with all that it carries. The tree was checked at loading: each walk ends at the
    // root.
    let mut carried = vec![0.0; robot.links.len()];
    for link in 0..robot.links.len() {
        let mut here = Some(link);
        while let Some(at) = here {
            carried[at] += own(link);
            here = above[at].map(|(parent, _)| parent);
        }
    }
    // The link that moves a link: the first one above that is not fixed to its parent.
    let mover = |mut link: usize| {
        while let Some((parent, _)) = above[link].filter(|(_, joint)| robot.joints[*joint].kind == JointKind::Fixed) {
            link = parent;
        }
        link
    };
    let movers: Vec<usize> = (0..robot.links.len()).map(mover).collect();
    let mut masses = vec![0.0; robot.links.len()];
    (0..robot.links.len()).for_each(|link| masses[movers[link]] += own(link));
    // A free root without mass that carries one joint: the root's own motion about it changes nothing.
    let carries = |root: usize| {
        let leaves = |joint: &&Joint| {
            joint.kind != JointKind::Fixed
                && number.get(joint.parent.as_str()).is_some_and(|link| movers[*link] == root)
        };
        let leaving: Vec<&Joint> = robot.joints.iter().filter(leaves).collect();
        leaving.len() == 1 || leaving.iter().any(|joint| joint.kind.nv() > 1)
    };
    let bare_root = |link: usize| above[link].is_none() && is_free && masses[link] == 0.0 && carries(link);
    let mut found = Vec::new();
    for link in (0..robot.links.len()).filter(|link| carried[*link] == 0.0 || bare_root(*link)) {
        let mover = match above[link] {
            None => is_free.then(|| "it is free".to_owned()),
            Some((_, joint)) => {
                let joint = &robot.joints[joint];
                let moves = joint.kind != JointKind::Fixed && joint.mimic.is_none() && joint.reflected_inertia() == 0.0;
                moves.then(|| format!("joint `{}` moves it", joint.name))
            }
        };
        found.extend(mover.map(|mover| (link, mover)));
    }
    let turns = |joint: &Joint| {
        let is_driven = joint.mimic.is_some() || joint.reflected_inertia() > 0.0;
        matches!(joint.kind, JointKind::Revolute | JointKind::Continuous) && !is_driven
    };
    let bare: Vec<bool> = (0..robot.links.len())
        .map(|link| {
            above[link].is_some_and(|(_, joint)| {
                let joint = &robot.joints[joint];
                carried[link] > 0.0 && turns(joint) && is_without_inertia(robot, link, &joint.axis)
            })
        })
        .collect();
    let without: Vec<(usize, usize)> = (0..robot.links.len())
        .filter(|link| bare[*link])
        .filter_map(|link| {
            // Both axes of a single link without mass are fixed in it, so they never come to lie on each
            // other.
            let mut neighbours = (0..robot.links.len()).filter(|other| {
                let is_above = |a: usize, b: usize| above[b].is_some_and(|(parent, _)| movers[parent] == a);
                bare[*other] && (is_above(*other, link) || is_above(link, *other))
            });
            let (_, joint) = above[link]?;
            (masses[link] > 0.0 || neighbours.next().is_some()).then_some((link, joint))
        })
        .collect();
    let mut warnings: Vec<LoadWarning> =
        without.into_iter().map(|(link, joint)| give_inertia(robot, (link, joint), masses[link])).collect();
    let warning = |(link, mover): (usize, String)| {
        let inertia_I = Matrix3::identity() * MOMENT;
        robot.links[link].inertial = Some(Inertial { mass: MASS, X_BI: RigidTransform::identity(), inertia_I });
        LoadWarning {
            file: robot.file.clone(),
            line: robot.links[link].line,
            element: format!("link `{}`", robot.links[link].name),
            message: format!(
                "it has no mass, and {mover}; {MASS} kg and {MOMENT:e} kg m2 are used; give it an <inertial>"
            ),
        }
    };
    warnings.extend(found.into_iter().map(warning));
    warnings
}

/// Whether a link, with the links fixed to it, has no inertia about an axis through its frame's origin: it
/// has no mass, or it consists of point masses on the axis.
fn is_without_inertia(robot: &RobotDescription, link: usize, axis: &Vector3) -> bool {
    let mut fixed = vec![(robot.links[link].name.as_str(), RigidTransform::identity())];
    let mut next = 0;
    while let Some((name, X_LB)) = fixed.get(next).copied() {
        next += 1;
        let joints = robot.joints.iter().filter(|joint| joint.kind == JointKind::Fixed && joint.parent == name);
        fixed.extend(joints.map(|joint| (joint.child.as_str(), X_LB * joint.X_PF)));
        let Some(inertial) = robot.link(name).and_then(|link| link.inertial.as_ref()) else { continue };
        let center = (X_LB * inertial.X_BI).translation.vector;
        let is_point = inertial.inertia_I.trace() <= inertial.mass * POINT * POINT;
        if !(is_point && (inertial.mass == 0.0 || axis.cross(&center).norm() < ON_AXIS * axis.norm())) {
            return false;
        }
    }
    true
}

/// Gives inertia to a link that turns about a joint and, with the links fixed to it, has the mass `mass`
/// \[kg\]. Returns the warning.
fn give_inertia(robot: &mut RobotDescription, (link, joint): (usize, usize), mass: f64) -> LoadWarning {
    let found = robot.links[link].inertial.take().filter(|inertial| inertial.mass > 0.0);
    let moment = f64::max(MOMENT, mass * GYRATION * GYRATION);
    let (own, X_BI) = found.map_or((MASS, RigidTransform::identity()), |found| (found.mass, found.X_BI));
    robot.links[link].inertial = Some(Inertial { mass: own, X_BI, inertia_I: Matrix3::identity() * moment });
    LoadWarning {
        file: robot.file.clone(),
        line: robot.links[link].line,
        element: format!("link `{}`", robot.links[link].name),
        message: format!(
            "it has no {} about the axis of its joint `{}`, and what it carries can come to lie on that axis; {own} kg \
             and {moment:.3e} kg m2 are used; give it an <inertial>",
            if mass > 0.0 { "inertia" } else { "mass" },
            robot.joints[joint].name
        ),
    }
}
