//! Habits of robot files that the standard does not have and whose meaning is plain, because other programs
//! read them so. The elements are changed to the standard's form, each with a warning.
//!
//! - commas between numbers (Bullet); a fourth number after `xyz` or `rpy` (Bullet); a colour without alpha
//!   (Bullet); a mesh `scale` of one number (Drake);
//! - `lower` above `upper`: no limits (Bullet);
//! - a parent link `world` that the file does not have (Drake);
//! - a collision sphere of radius 0 (Drake): a small rigid ball.

use std::path::Path;

use super::error::{UrdfError, UrdfProblem};
use super::place::Place;
use crate::io::xml::Element;
use crate::robot::LoadWarning;

/// The radius of the ball that stands for a point \[m\].
const POINT_RADIUS: f64 = 1e-4;
/// An angle beyond this is probably in degrees: two turns \[rad\].
pub(in crate::io::urdf) const ANGLE_MAX: f64 = 4.0 * std::f64::consts::PI;
/// The shapes of URDF.
const SHAPES: [&str; 5] = ["box", "cylinder", "sphere", "capsule", "mesh"];
/// Attributes that hold several numbers.
const ROWS: [&str; 6] = ["xyz", "rpy", "size", "scale", "rgba", "quat_xyzw"];

/// Changes a robot to the standard's form.
///
/// # Errors
/// A xacro file.
pub(super) fn adopt(robot: &mut Element, file: &Path, warnings: &mut Vec<LoadWarning>) -> Result<(), UrdfError> {
    let place = Place::named(file, robot);
    refuse_xacro(robot, &place)?;
    for child in &mut robot.children {
        let place = Place::named(file, child);
        adopt_rows(child, &place, warnings);
        match child.name.as_str() {
            "joint" => adopt_limits(child, &place, warnings),
            "link" => {
                adopt_points(child, &place, warnings);
                warn_of_shapes(child, &place, warnings);
            }
            _ => {}
        }
    }
    adopt_world(robot, file, warnings);
    Ok(())
}

/// Refuses an unexpanded xacro file, which may be valid XML.
fn refuse_xacro(element: &Element, place: &Place) -> Result<(), UrdfError> {
    let is_xacro = element.name.starts_with("xacro:")
        || element.attributes.iter().any(|(_, value)| value.contains("${") || value.contains("$("));
    if is_xacro {
        return Err(place.fail(UrdfProblem::Xacro));
    }
    element.children.iter().try_for_each(|child| refuse_xacro(child, &place.inside(child)))
}

fn adopt_rows(element: &mut Element, place: &Place, warnings: &mut Vec<LoadWarning>) {
    let name = element.name.clone();
    for (attribute, value) in &mut element.attributes {
        if !ROWS.contains(&attribute.as_str()) {
            continue;
        }
        // Commas that do not stand between all numbers may be those of decimals.
        let separated = value.replace(',', " ").split_whitespace().count() == value.matches(',').count() + 1;
        if value.contains(',') && separated {
            warnings.push(place.warning(format!("`{attribute}=\"{value}\"`: commas are read as blanks; remove them")));
            *value = value.replace(',', " ");
        }
        let words: Vec<&str> = value.split_whitespace().collect();
        let adopted = match (attribute.as_str(), words.as_slice()) {
            ("xyz" | "rpy", [x, y, z, _]) => Some((format!("{x} {y} {z}"), "the first three numbers are read")),
            ("rgba", [r, g, b]) => Some((format!("{r} {g} {b} 1"), "an alpha of 1 is added")),
            ("scale", [s]) if name == "mesh" => Some((format!("{s} {s} {s}"), "it is used along x, y and z")),
            _ => None,
        };
        if let Some((adopted, what)) = adopted {
            warnings.push(place.warning(format!("`{attribute}=\"{value}\"`: {what}; write {adopted:?}")));
            *value = adopted;
        }
        let large = |word: &&str| word.parse().is_ok_and(|angle: f64| angle.abs() > ANGLE_MAX && angle.is_finite());
        if attribute == "rpy"
            && let Some(angle) = value.split_whitespace().find(large)
        {
            warnings.push(place.warning(format!(
                "`rpy=\"{value}\"`: {angle} rad are more than two turns; if these are degrees, write radians: 90 degrees are \
                 1.5708"
            )));
        }
    }
    for child in &mut element.children {
        let inside = place.inside(child);
        adopt_rows(child, &inside, warnings);
    }
}

/// Limits without a position between them are none.
fn adopt_limits(joint: &mut Element, place: &Place, warnings: &mut Vec<LoadWarning>) {
    let Some(limit) = joint.children.iter_mut().find(|child| child.name == "limit") else { return };
    let inside = place.inside(limit);
    let number = |name: &str| limit.attribute(name).and_then(|value| value.trim().parse::<f64>().ok());
    let (Some(lower), Some(upper)) = (number("lower"), number("upper")) else { return };
    if lower > upper {
        let message = format!(
            "`lower` {lower} is above `upper` {upper}; the position is not limited, as in Bullet; swap them, or use type continuous"
        );
        warnings.push(inside.warning(message));
        for (name, value) in &mut limit.attributes {
            match name.as_str() {
                "lower" => *value = "-inf".to_owned(),
                "upper" => *value = "inf".to_owned(),
                _ => {}
            }
        }
    }
}

/// Collision spheres of radius 0 are points.
fn adopt_points(link: &mut Element, place: &Place, warnings: &mut Vec<LoadWarning>) {
    for collision in link.children.iter_mut().filter(|child| child.name == "collision") {
        let inside = place.inside(collision);
        let spheres = collision.children.iter_mut().filter(|child| child.name == "geometry");
        let mut found = false;
        for sphere in spheres.flat_map(|geometry| &mut geometry.children).filter(|child| child.name == "sphere") {
            for (_, value) in sphere.attributes.iter_mut().filter(|(name, _)| name == "radius") {
                if value.trim().parse() == Ok(0.0) {
                    *value = POINT_RADIUS.to_string();
                    found = true;
                }
            }
        }
        if found {
            let message =
                "a sphere of radius 0 is a point; a rigid ball with a radius of 0.1 mm is used; state a radius";
            warnings.push(inside.warning(message));
            let line = collision.line;
            let element = |name: &str| Element { name: name.to_owned(), line, ..Element::default() };
            let rigid = || element("drake:rigid_hydroelastic");
            match collision.children.iter_mut().find(|child| child.name == "drake:proximity_properties") {
                Some(properties) => {
                    let of_fields =
                        ["drake:compliant_hydroelastic", "drake:soft_hydroelastic", "drake:hydroelastic_modulus"];
                    properties.children.retain(|child| !of_fields.contains(&child.name.as_str()));
                    if properties.child("drake:rigid_hydroelastic").is_none() {
                        properties.children.push(rigid());
                    }
                }
                None => {
                    let properties = Element { children: vec![rigid()], ..element("drake:proximity_properties") };
                    collision.children.push(properties);
                }
            }
        }
    }
}

/// A geometry has one shape; others are not read.
fn warn_of_shapes(link: &Element, place: &Place, warnings: &mut Vec<LoadWarning>) {
    for part in link.children.iter().filter(|child| ["collision", "visual"].contains(&child.name.as_str())) {
        for geometry in part.children.iter().filter(|child| child.name == "geometry") {
            let shapes: Vec<&str> = geometry
                .children
                .iter()
                .map(|shape| shape.name.as_str())
                .filter(|name| SHAPES.contains(name))
                .collect();
            if shapes.len() > 1 {
                let inside = place.inside(part);
                warnings.push(inside.warning(format!(
                    "one <geometry> has {} shapes ({}), of which one is read; give each a <{}> of its own",
                    shapes.len(),
                    shapes.join(", "),
                    part.name
                )));
            }
        }
    }
}

/// Adds the link `world` if a joint names it as its parent.
fn adopt_world(robot: &mut Element, file: &Path, warnings: &mut Vec<LoadWarning>) {
    if robot.children("link").any(|link| link.attribute("name") == Some("world")) {
        return;
    }
    let to_world =
        |joint: &&Element| joint.child("parent").and_then(|parent| parent.attribute("link")) == Some("world");
    let Some(joint) = robot.children("joint").find(to_world) else { return };
    let place = Place::named(file, joint);
    warnings.push(place.warning("the file has no link `world`; one without mass is added; add <link name=\"world\"/>"));
    let name = ("name".to_owned(), "world".to_owned());
    let link = Element { name: "link".to_owned(), line: joint.line, attributes: vec![name], ..Element::default() };
    robot.children.push(link);
}
