//! Elements that are in a file and have no effect here, counted for one warning.

use std::collections::BTreeMap;
use std::path::Path;

use crate::io::urdf::place::Place;
use crate::io::xml::Element;
use crate::robot::LoadWarning;

/// The largest number of kinds that the warning names.
const NAMED_MAX: usize = 20;

/// The children of an element: those that are read, and those that concern only the display or do not affect
/// the mechanics for other reasons.
struct Rule(&'static str, &'static [&'static str], &'static [&'static str]);

const RULES: [Rule; 17] = [
    Rule("sdf", &["model", "world"], &[]),
    Rule("world", &["model", "include", "frame", "joint"], &["light", "scene", "gui", "state"]),
    Rule(
        "model",
        &[
            "link",
            "joint",
            "frame",
            "model",
            "include",
            "pose",
            "static",
            "self_collide",
            "drake:collision_filter_group",
            "drake:joint",
        ],
        &["allow_auto_disable"],
    ),
    Rule("include", &["uri", "name", "pose", "static", "placement_frame"], &[]),
    Rule("frame", &["pose"], &[]),
    Rule("link", &["inertial", "collision", "visual", "pose", "self_collide"], &["light", "enable_wind"]),
    Rule("inertial", &["mass", "inertia", "pose"], &[]),
    Rule("collision", &["geometry", "pose", "surface", "drake:proximity_properties"], &["laser_retro", "max_contacts"]),
    Rule("surface", &["friction"], &[]),
    Rule("friction", &["ode"], &[]),
    Rule("ode", &["mu", "mu2"], &[]),
    Rule(
        "visual",
        &["geometry", "pose", "material", "transparency"],
        &["cast_shadows", "laser_retro", "visibility_flags", "meta", "plugin", "drake:accepting_renderer"],
    ),
    Rule(
        "joint",
        &[
            "parent",
            "child",
            "pose",
            "axis",
            "axis2",
            "drake:rotor_inertia",
            "drake:gear_ratio",
            "drake:controller_gains",
            "drake:mimic",
        ],
        &[],
    ),
    Rule("axis", &["xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"], &[]),
    Rule("limit", &["lower", "upper", "effort", "velocity", "drake:acceleration"], &[]),
    Rule("dynamics", &["damping", "friction", "spring_reference", "spring_stiffness"], &[]),
    Rule("mesh", &["uri", "scale", "drake:declare_convex"], &[]),
];

/// The number of times that each kind of element occurs, and its first line.
#[derive(Default)]
pub(super) struct Unused {
    found: BTreeMap<String, (usize, u32)>,
    first: Option<LoadWarning>,
}

impl Unused {
    /// Counts the children of `element`, and of the elements inside, that have no effect.
    pub(super) fn count(&mut self, element: &Element, file: &Path) {
        let name = if element.name == "axis2" { "axis" } else { element.name.as_str() };
        let rule = RULES.iter().find(|rule| rule.0 == name);
        for child in &element.children {
            let is = |names: &[&str]| names.contains(&child.name.as_str());
            match rule {
                // Models count their own children.
                Some(rule) if is(rule.1) && is(&["model", "world"]) => {}
                Some(rule) if is(rule.1) => self.count(child, file),
                Some(rule) if is(rule.2) || has_no_effect(child) => {}
                Some(_) => self.note(&element.name, child, file),
                None if is(&["mesh"]) => self.count(child, file),
                None => {}
            }
        }
    }

    fn note(&mut self, parent: &str, child: &Element, file: &Path) {
        let entry = self.found.entry(format!("<{parent}><{}>", child.name)).or_insert((0, child.line));
        entry.0 += 1;
        if self.first.is_none() {
            self.first = Some(Place::named(file, child).warning(""));
        }
    }

    /// One warning for all of them, at the first.
    pub(super) fn warning(self) -> Option<LoadWarning> {
        let mut warning = self.first?;
        let named = self.found.iter().take(NAMED_MAX);
        let mut names: Vec<String> =
            named.map(|(kind, (count, line))| format!("{kind} ({count}, first in line {line})")).collect();
        if self.found.len() > NAMED_MAX {
            names.push(format!("and {} more kinds", self.found.len() - NAMED_MAX));
        }
        warning.message = format!("elements that have no effect here: {}", names.join(", "));
        Some(warning)
    }
}

/// Whether the element states a default that holds here anyway.
fn has_no_effect(element: &Element) -> bool {
    match element.name.as_str() {
        "gravity" => matches!(element.text.as_str(), "true" | "1"),
        "kinematic" => matches!(element.text.as_str(), "false" | "0"),
        _ => false,
    }
}
