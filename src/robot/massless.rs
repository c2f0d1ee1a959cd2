//! Links that move and have no mass.

use std::collections::BTreeMap;

use super::description::{Inertial, LoadWarning, RobotDescription};
use crate::math::{Matrix3, RigidTransform};
use crate::multibody::JointKind;

/// The mass that a link without mass gets if it moves \[kg\].
const MASS: f64 = 1e-3;
/// The moments of inertia that it gets, those of a ball with a radius of 16 mm [kg m2].
const MOMENT: f64 = 1e-7;

/// Gives a small mass and inertia to moving links if neither they nor the links that they carry have mass,
/// because their acceleration would have no value. `is_free` states whether the root moves. Returns a warning
/// for each such link.
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
    let mut found = Vec::new();
    for link in (0..robot.links.len()).filter(|link| carried[*link] == 0.0) {
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
    found.into_iter().map(warning).collect()
}
