//! Checks the standard elements with their positions, and makes the clean copy that `urdf-rs` reads.

use std::path::Path;

use super::error::{UrdfError, UrdfProblem};
use super::place::Place;
use crate::io::xml::Element;
use crate::names::nearest;
use crate::robot::LoadWarning;

/// The number of values in an attribute, and whether it is required.
struct Number {
    attribute: &'static str,
    count: usize,
    required: bool,
}

const fn required(attribute: &'static str, count: usize) -> Number {
    Number { attribute, count, required: true }
}

const fn optional(attribute: &'static str, count: usize) -> Number {
    Number { attribute, count, required: false }
}

/// The standard's rules for an element: required text attributes, numeric attributes, and children. Children
/// that may be repeated are listed in [`MANY`].
struct Rule {
    element: &'static str,
    texts: &'static [&'static str],
    numbers: &'static [Number],
    children: &'static [&'static str],
}

/// Elements that may occur more than once in their parent.
const MANY: [&str; 5] = ["link", "joint", "visual", "collision", "material"];

const RULES: [Rule; 24] = [
    Rule { element: "robot", texts: &[], numbers: &[], children: &["link", "joint", "material"] },
    Rule { element: "link", texts: &["name"], numbers: &[], children: &["inertial", "visual", "collision"] },
    Rule { element: "inertial", texts: &[], numbers: &[], children: &["origin", "mass", "inertia"] },
    Rule { element: "visual", texts: &[], numbers: &[], children: &["origin", "geometry", "material"] },
    Rule { element: "collision", texts: &[], numbers: &[], children: &["origin", "geometry"] },
    Rule {
        element: "geometry",
        texts: &[],
        numbers: &[],
        children: &["box", "sphere", "cylinder", "mesh", "drake:capsule", "drake:ellipsoid", "capsule"],
    },
    Rule {
        element: "joint",
        texts: &["name", "type"],
        numbers: &[],
        children: &["origin", "parent", "child", "axis", "dynamics", "mimic"],
    },
    Rule {
        element: "origin",
        texts: &[],
        numbers: &[optional("xyz", 3), optional("rpy", 3), optional("quat_xyzw", 4)],
        children: &[],
    },
    Rule { element: "mass", texts: &[], numbers: &[required("value", 1)], children: &[] },
    Rule {
        element: "inertia",
        texts: &[],
        numbers: &[
            required("ixx", 1),
            required("ixy", 1),
            required("ixz", 1),
            required("iyy", 1),
            required("iyz", 1),
            required("izz", 1),
        ],
        children: &[],
    },
    Rule { element: "box", texts: &[], numbers: &[required("size", 3)], children: &[] },
    Rule { element: "sphere", texts: &[], numbers: &[required("radius", 1)], children: &[] },
    Rule { element: "cylinder", texts: &[], numbers: &[required("radius", 1), required("length", 1)], children: &[] },
    Rule { element: "mesh", texts: &["filename"], numbers: &[optional("scale", 3)], children: &[] },
    Rule {
        element: "drake:capsule",
        texts: &[],
        numbers: &[required("radius", 1), required("length", 1)],
        children: &[],
    },
    Rule { element: "capsule", texts: &[], numbers: &[required("radius", 1), required("length", 1)], children: &[] },
    Rule {
        element: "drake:ellipsoid",
        texts: &[],
        numbers: &[required("a", 1), required("b", 1), required("c", 1)],
        children: &[],
    },
    Rule { element: "material", texts: &["name"], numbers: &[], children: &["color"] },
    Rule { element: "color", texts: &[], numbers: &[required("rgba", 4)], children: &[] },
    Rule { element: "parent", texts: &["link"], numbers: &[], children: &[] },
    Rule { element: "child", texts: &["link"], numbers: &[], children: &[] },
    Rule { element: "axis", texts: &[], numbers: &[optional("xyz", 3)], children: &[] },
    Rule {
        element: "mimic",
        texts: &["joint"],
        numbers: &[optional("multiplier", 1), optional("offset", 1)],
        children: &[],
    },
    Rule {
        element: "dynamics",
        texts: &[],
        numbers: &[optional("damping", 1), optional("friction", 1)],
        children: &[],
    },
];

fn rule(element: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.element == element)
}

/// The standard elements of `robot` with exactly the parts that `urdf-rs` requires. Links, joints, visuals
/// and collisions keep their number and order.
///
/// # Errors
/// A standard element lacks a part, or a number cannot be read.
pub(super) fn clean(robot: &Element, file: &Path, warnings: &mut Vec<LoadWarning>) -> Result<Element, UrdfError> {
    let mut copy = copy(robot, &Place::named(file, robot), warnings)?;
    copy.attributes.push(("version".to_owned(), "1.1".to_owned()));
    Ok(copy)
}

fn copy(element: &Element, place: &Place, warnings: &mut Vec<LoadWarning>) -> Result<Element, UrdfError> {
    let mut copied = Element { name: element.name.clone(), line: element.line, ..Element::default() };
    let Some(rule) = rule(&element.name) else { return Ok(copied) };
    warn_of_misspelt(element, rule, place, warnings);
    let mut keep = |name: &str, value: &str| copied.attributes.push((name.to_owned(), value.to_owned()));
    if let Some(name) = element.attribute("name") {
        keep("name", name);
    } else if matches!(rule.element, "robot" | "material") {
        keep("name", "");
    }
    for text in rule.texts.iter().filter(|text| **text != "name") {
        keep(text, place.required(element, text)?);
    }
    if rule.texts.contains(&"name") && rule.element != "material" {
        place.required(element, "name")?;
    }
    for number in rule.numbers {
        check_number(element, number, place)?;
        if let Some(value) = element.attribute(number.attribute) {
            keep(number.attribute, value);
        }
    }
    if element.name == "axis" && element.attribute("xyz").is_none() {
        keep("xyz", "1 0 0");
    }
    for child in element.children.iter().filter(|child| rule.children.contains(&child.name.as_str())) {
        let many = MANY.contains(&child.name.as_str()) && rule.element != "visual";
        if !many && copied.child(&child.name).is_some() {
            warnings.push(place.inside(child).warning("occurs here a second time; the first one is used"));
            continue;
        }
        let inside = if rule.element == "robot" { Place::named(place.file, child) } else { place.inside(child) };
        copied.children.push(copy(child, &inside, warnings)?);
    }
    complete(&mut copied, element, place, warnings)?;
    Ok(copied)
}

/// Elements that files have in addition to those of [`RULES`], and that other parts of the reader know.
const OTHER_ELEMENTS: [&str; 12] = [
    "limit",
    "calibration",
    "safety_controller",
    "actuator",
    "transmission",
    "gazebo",
    "sensor",
    "texture",
    "verbose",
    "contact",
    "group",
    "self_collision_checking",
];
/// Attributes of `<limit>` and `<dynamics>`, which have no complete rule.
const LIMITS: [&str; 7] = ["lower", "upper", "effort", "velocity", "acceleration", "jerk", "deceleration"];
const SPRINGS: [&str; 2] = ["spring_stiffness", "spring_reference"];

/// Warns of elements and attributes that are not known but look like ones that are.
fn warn_of_misspelt(element: &Element, rule: &Rule, place: &Place, warnings: &mut Vec<LoadWarning>) {
    for child in &element.children {
        let name = child.name.as_str();
        let known = rule.children.contains(&name) || OTHER_ELEMENTS.contains(&name) || name.contains(':');
        let near = nearest(name, rule.children.iter().copied().chain(["limit"])).filter(|_| !known);
        if let Some(near) = near {
            let message = format!("this element is unknown and not used; did you mean <{near}>?");
            warnings.push(place.inside(child).warning(message));
        }
        if name == "limit" {
            warn_of_attributes(child, &LIMITS, &place.inside(child), warnings);
        }
    }
    let mut known: Vec<&str> = rule.texts.to_vec();
    known.extend(rule.numbers.iter().map(|number| number.attribute));
    known.push("name");
    if rule.element == "dynamics" {
        known.extend(SPRINGS);
    }
    warn_of_attributes(element, &known, place, warnings);
}

fn warn_of_attributes(element: &Element, known: &[&str], place: &Place, warnings: &mut Vec<LoadWarning>) {
    for (name, value) in &element.attributes {
        let is_known = known.contains(&name.as_str()) || name.contains(':');
        // Numbers that have no effect change the robot; texts are often notes for other programs.
        let is_numbers = !value.trim().is_empty() && value.split_whitespace().all(|word| word.parse::<f64>().is_ok());
        match nearest(name, known.iter().copied()).filter(|_| !is_known) {
            Some(near) => {
                let text = format!("the attribute `{name}` is unknown and not used; did you mean `{near}`?");
                warnings.push(place.warning(text));
            }
            None if !is_known && is_numbers && known.len() > 1 => {
                let known: Vec<&str> = known.iter().copied().filter(|name| *name != "name").collect();
                let text = format!(
                    "the attribute `{name}` is unknown and not used; this element has `{}`",
                    known.join("`, `")
                );
                warnings.push(place.warning(text));
            }
            None => {}
        }
    }
}

fn check_number(element: &Element, number: &Number, place: &Place) -> Result<(), UrdfError> {
    let present = match number.count {
        1 => place.numbers::<1>(element, number.attribute, false)?.is_some(),
        3 => place.numbers::<3>(element, number.attribute, false)?.is_some(),
        _ => place.numbers::<4>(element, number.attribute, false)?.is_some(),
    };
    if number.required && !present {
        return Err(place.fail(UrdfProblem::MissingAttribute { attribute: number.attribute.to_owned() }));
    }
    Ok(())
}

/// Checks that required children exist, and substitutes elements that `urdf-rs` does not support.
fn complete(
    copied: &mut Element,
    element: &Element,
    place: &Place,
    warnings: &mut Vec<LoadWarning>,
) -> Result<(), UrdfError> {
    let missing = |child: &str| place.fail(UrdfProblem::MissingChild { child: child.to_owned() });
    match element.name.as_str() {
        "inertial" => {
            if copied.child("mass").is_none() {
                return Err(missing("mass"));
            }
            if copied.child("inertia").is_none() {
                warnings.push(place.warning("there is no <inertia>; zero is used"));
                let zeros = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"].map(|name| (name.to_owned(), "0".to_owned()));
                let inertia = Element { name: "inertia".to_owned(), attributes: zeros.to_vec(), ..Element::default() };
                copied.children.push(inertia);
            }
        }
        "visual" | "collision" if copied.child("geometry").is_none() => return Err(missing("geometry")),
        "joint" => {
            for child in ["parent", "child"] {
                if copied.child(child).is_none() {
                    return Err(missing(child));
                }
            }
        }
        "geometry" => {
            if copied.children.is_empty() {
                let found = element.children.first().map_or(String::new(), |child| format!(", only <{}>", child.name));
                return Err(place.fail(UrdfProblem::NoShape { found }));
            }
            copied.children.truncate(1);
            if copied.children[0].name.ends_with("capsule") || copied.children[0].name.ends_with("ellipsoid") {
                let radius = vec![("radius".to_owned(), "1".to_owned())];
                copied.children[0] = Element { name: "sphere".to_owned(), attributes: radius, ..Element::default() };
            }
        }
        _ => {}
    }
    Ok(())
}
