//! Likely mistakes in a valid robot file that would show in a simulation.

use std::collections::BTreeMap;

use crate::geometry::Shape;
use crate::math::{BodyIndex, Vector3};
use crate::multibody::JointKind;
use crate::robot::{CollisionElement, Inertial, Joint, Link, RobotDescription};
use crate::scene::{SceneBuildError, SceneBuilder};

/// Files round inertias to about six digits; a violation below this fraction of the largest moment
/// is rounding. [-]
const MOMENT_SLACK: f64 = 1e-6;
/// A radius of gyration above this many times the link's size points to a wrong unit or a typing error: the
/// radius cannot exceed the reach of the body, and few links extend to five times their drawn size. [-]
const GYRATION_LARGE: f64 = 5.0;
/// Below this ratio, the mass would be concentrated within a hundredth of the link's size. [-]
const GYRATION_SMALL: f64 = 0.01;
/// A radius of gyration above this is a likely mistake in a link without geometry \[m\].
const GYRATION_MAX: f64 = 10.0;

/// The links whose inertia no body has, or does not fit their size, each with its line and the fault.
pub fn inertia_mistakes(robot: &RobotDescription) -> Vec<String> {
    let bodies = welded_bodies(robot);
    let mistake = |link: &Link| {
        let (inertial, body) = (link.inertial.as_ref()?, bodies.get(link.name.as_str())?);
        let what = inertia(inertial, link, inertial.mass >= body.mass)?;
        Some(format!("line {}: link `{}`: {what}", link.line, link.name))
    };
    robot.links.iter().filter_map(mistake).collect()
}

/// Warnings of likely mistakes, in the file's order of links, then of joints.
pub(super) fn checks(robot: &RobotDescription) -> Vec<String> {
    let mut found = Vec::new();
    let bodies = welded_bodies(robot);
    // One scene for all meshes, so that copies of a mesh are checked once.
    let mut scene = SceneBuilder::new();
    for link in &robot.links {
        let at = format!("line {}: link `{}`", link.line, link.name);
        let Some(body) = bodies.get(link.name.as_str()) else { continue };
        if body.mass == 0.0 && body.first_link == link.name && body.joint.is_some() {
            found.push(format!(
                "{at} moves (joint `{}`), and neither it nor a link welded to it has mass: give it an <inertial>",
                body.joint.unwrap_or_default()
            ));
        }
        if let Some(inertial) = &link.inertial {
            let alone = inertial.mass >= body.mass;
            found.extend(inertia(inertial, link, alone).map(|what| format!("{at}: {what}")));
        }
        for collision in &link.collisions {
            let properties = &collision.properties;
            if properties.compliant == Some(true) && properties.hydroelastic_modulus.is_none() {
                found.push(format!(
                    "line {}: collision `{}` is compliant without drake:hydroelastic_modulus: state it, here or in the \
                     scene",
                    collision.line, collision.name
                ));
            }
            let at = format!("line {}: collision `{}`", collision.line, collision.name);
            found.extend(mesh(collision, &mut scene).into_iter().map(|what| format!("{at}: {what}")));
        }
    }
    for joint in &robot.joints {
        let at = format!("line {}: joint `{}`", joint.line, joint.name);
        found.extend(limits(joint).into_iter().map(|what| format!("{at}: {what}")));
    }
    found
}

/// The notes of a scene about a collision element's mesh, or its reason for refusing the mesh.
fn mesh(collision: &CollisionElement, scene: &mut SceneBuilder) -> Vec<String> {
    if !matches!(collision.shape, Shape::Mesh(_) | Shape::Convex(_) | Shape::Volume { .. }) {
        return Vec::new();
    }
    let (name, shape) = (&collision.name, collision.shape.clone());
    match scene.add_geometry(BodyIndex::WORLD, name, collision.X_BG, shape, &collision.properties) {
        Ok(index) => {
            let own = scene.mesh_notes().iter().filter(|(of, _)| *of == index);
            own.map(|(_, note)| note.to_string()).collect()
        }
        Err(SceneBuildError::Geometry { source, .. }) => vec![format!("a scene refuses it: {source}")],
        Err(error) => vec![format!("a scene refuses it: {error}")],
    }
}

/// Links that fixed joints weld together.
#[derive(Clone, Copy)]
struct Body<'a> {
    /// The link nearest to the root.
    first_link: &'a str,
    /// The joint that moves it; `None` for the base.
    joint: Option<&'a str>,
    /// Mass \[kg\].
    mass: f64,
}

/// The body that each link belongs to.
fn welded_bodies(robot: &RobotDescription) -> BTreeMap<&str, Body<'_>> {
    let above: BTreeMap<&str, &Joint> = robot.joints.iter().map(|joint| (joint.child.as_str(), joint)).collect();
    let mut masses: BTreeMap<&str, f64> = BTreeMap::new();
    let mut first_links = Vec::new();
    for link in &robot.links {
        let mut first = link.name.as_str();
        // The tree was checked at loading: this walk ends at the root.
        while let Some(joint) = above.get(first).filter(|joint| joint.kind == JointKind::Fixed) {
            first = &joint.parent;
        }
        *masses.entry(first).or_default() += link.inertial.as_ref().map_or(0.0, |inertial| inertial.mass);
        first_links.push(first);
    }
    let body = |first_link| Body {
        first_link,
        joint: above.get(first_link).map(|joint| joint.name.as_str()),
        mass: masses.get(first_link).copied().unwrap_or_default(),
    };
    robot.links.iter().zip(first_links).map(|(link, first)| (link.name.as_str(), body(first))).collect()
}

/// The fault of a link's inertia. `alone` states that no other mass is welded to the link, so that a point
/// mass has no resistance to rotation.
fn inertia(inertial: &Inertial, link: &Link, alone: bool) -> Option<String> {
    let mut moments: Vec<f64> = inertial.inertia_I.symmetric_eigenvalues().iter().copied().collect();
    moments.sort_by(f64::total_cmp);
    let [least, middle, greatest] = moments[..] else { return None };
    let slack = MOMENT_SLACK * greatest.abs();
    let shown = format!("{least:.3e}, {middle:.3e}, {greatest:.3e} kg m2");
    if inertial.mass == 0.0 {
        let turns = moments.iter().any(|moment| *moment != 0.0);
        return turns.then(|| format!("the mass is zero but the inertia ({shown}) is not: give both or none"));
    }
    if least < -slack || (alone && least <= slack) {
        return Some(format!(
            "the inertia is not positive definite (principal moments {shown}): give three positive moments"
        ));
    }
    if least + middle < greatest - slack {
        return Some(format!(
            "the inertia breaks the triangle inequality (principal moments {shown}): such a body does not exist; check the units \
             and the signs of ixy, ixz, iyz"
        ));
    }
    gyration((greatest / inertial.mass).sqrt(), link)
}

fn gyration(radius: f64, link: &Link) -> Option<String> {
    let reach = |shape: &Shape, p_BG: Vector3| extent(shape).map(|extent| extent + p_BG.norm());
    let collisions = link.collisions.iter().map(|c| (&c.shape, c.X_BG.translation.vector));
    let visuals = link.visuals.iter().filter_map(|v| v.shape.as_ref().map(|shape| (shape, v.X_BG.translation.vector)));
    let size = collisions.chain(visuals).filter_map(|(shape, p_BG)| reach(shape, p_BG)).reduce(f64::max);
    match size {
        Some(size) if radius > GYRATION_LARGE * size => Some(format!(
            "the inertia is large for the mass: radius of gyration {radius:.3e} m in a link of reach {size:.3e} m; \
             check the units"
        )),
        Some(size) if radius < GYRATION_SMALL * size => Some(format!(
            "the inertia is small for the mass: radius of gyration {radius:.3e} m in a link of reach {size:.3e} m; \
             check the units"
        )),
        None if radius > GYRATION_MAX => {
            Some(format!("the inertia is large for the mass: radius of gyration {radius:.3e} m; check the units"))
        }
        _ => None,
    }
}

/// Greatest distance of the shape's points from its origin \[m\]; `None` for a half space.
fn extent(shape: &Shape) -> Option<f64> {
    let farthest = |vertices: &[Vector3]| vertices.iter().map(|vertex| vertex.norm()).fold(0.0, f64::max);
    match shape {
        Shape::Sphere { radius } => Some(*radius),
        Shape::Ellipsoid { semi_axes } => Some(semi_axes.max()),
        Shape::Box { size } => Some(size.norm() / 2.0),
        Shape::Cylinder { radius, length } => Some(radius.hypot(length / 2.0)),
        Shape::Capsule { radius, length } => Some(radius + length / 2.0),
        Shape::HalfSpace => None,
        Shape::Mesh(mesh) | Shape::Convex(mesh) => Some(farthest(&mesh.vertices)),
        Shape::Volume { mesh, .. } => Some(farthest(&mesh.vertices)),
    }
}

fn limits(joint: &Joint) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(lower), Some(upper)) = (joint.limits.lower, joint.limits.upper) {
        if lower > upper {
            found.push(format!("the limits are unreachable: lower {lower} > upper {upper}; swap them"));
        } else if lower == upper {
            found.push(format!("the limits lock the joint at {lower}; use type fixed, or widen them"));
        }
    }
    if joint.kind == JointKind::Fixed {
        return found;
    }
    if joint.limits.effort == Some(0.0) && joint.mimic.is_none() {
        found.push(
            "the effort limit is 0, so the actuator has no effect; state the effort, or leave the joint unactuated"
                .into(),
        );
    }
    if joint.limits.velocity == Some(0.0) && joint.mimic.is_none() {
        found.push("the velocity limit is 0; state the largest speed".into());
    }
    found
}
