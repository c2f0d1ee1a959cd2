//! Checked access to the nodes of a file: sections with known keys, numbers with known ranges.

use super::error::{Place, SceneError};
use super::names;
use super::yaml::{Key, Node, Value};
use crate::math::{RigidTransform, Rotation, Vector3};

/// Longer texts are shortened in messages [characters].
const SHOWN_MAX: usize = 60;

/// Angles of poses beyond about two turns are refused: they are probably degrees \[rad\].
const ANGLE: Range = Range::Between(-13.0, 13.0, "rad (are these degrees? 90 degrees are 1.5708 rad)");
/// Lengths of poses beyond this are refused: they are probably millimetres \[m\].
const LENGTH: Range = Range::Between(-1e4, 1e4, "m");

/// The allowed range of a number. All numbers are finite.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    /// Any finite number.
    Any,
    /// More than zero.
    Positive,
    /// Zero or more.
    NotNegative,
    /// From the first to the second, both included; the text gives the unit or the remedy.
    Between(f64, f64, &'static str),
}

impl Range {
    fn contains(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Range::Any => true,
                Range::Positive => value > 0.0,
                Range::NotNegative => value >= 0.0,
                Range::Between(lower, upper, _) => (lower..=upper).contains(&value),
            }
    }
    fn describe(self) -> String {
        match self {
            Range::Any => "finite".to_owned(),
            Range::Positive => "more than 0, and finite".to_owned(),
            Range::NotNegative => "0 or more, and finite".to_owned(),
            Range::Between(lower, upper, unit) => format!("between {} and {} {unit}", plain(lower), plain(upper)),
        }
    }
}

/// A number as text, with an exponent if it would have many zeros.
fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) { format!("{value:e}") } else { format!("{value}") }
}

/// A mapping whose keys have been checked against the allowed ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a> {
    /// The name of the section in messages, as in "a model".
    pub(super) what: &'static str,
    /// The start of the section.
    pub(super) place: &'a Place,
    entries: &'a [(Key, Node)],
}

impl<'a> Section<'a> {
    /// `node` as a section with some of `keys`.
    pub(super) fn new(node: &'a Node, what: &'static str, keys: &[&str]) -> Result<Self, SceneError> {
        let entries = mapping(node, what)?;
        for (key, _) in entries {
            if !keys.contains(&key.name.as_str()) {
                return Err(unknown_key(key, what, keys));
            }
        }
        Ok(Self { what, place: &node.place, entries })
    }

    /// The value of `key`; an empty value counts as missing.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        let found = self.entries.iter().find(|(entry, _)| entry.name == key).map(|(_, node)| node);
        found.filter(|node| !matches!(node.value, Value::Null))
    }

    /// The keys that are given, and their values.
    pub(super) fn stated(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let given = self.entries.iter().filter(|(_, node)| !matches!(node.value, Value::Null));
        given.map(|(key, node)| (key.name.as_str(), node))
    }

    /// The place of the key itself, for messages about the section below it.
    pub(super) fn key_place(&self, key: &str) -> &'a Place {
        self.entries.iter().find(|(entry, _)| entry.name == key).map_or(self.place, |(entry, _)| &entry.place)
    }

    /// The value of a required key.
    pub(super) fn require(&self, key: &'static str, example: &'static str) -> Result<&'a Node, SceneError> {
        self.get(key).ok_or_else(|| SceneError::MissingKey {
            place: self.place.clone(),
            section: self.what,
            key,
            example,
        })
    }

    /// The number of `key`, if given. `unit` as in "\[m\]".
    pub(super) fn number(&self, key: &str, unit: &str, range: Range) -> Result<Option<f64>, SceneError> {
        self.get(key).map(|node| number(node, &label(key, unit), range)).transpose()
    }

    /// The truth value of `key`, if given.
    pub(super) fn truth(&self, key: &str) -> Result<Option<bool>, SceneError> {
        self.get(key)
            .map(|node| match node.value {
                Value::Bool(value) => Ok(value),
                _ => Err(wrong_type(node, &format!("`{key}`"), "true or false")),
            })
            .transpose()
    }

    /// The text of `key`, if given.
    pub(super) fn text(&self, key: &str) -> Result<Option<Named>, SceneError> {
        self.get(key).map(|node| text(node, &format!("`{key}`"))).transpose()
    }

    /// Checks that `key`, if given, is a text, of any number of lines.
    pub(super) fn check_prose(&self, key: &str) -> Result<(), SceneError> {
        match self.get(key) {
            Some(node) if !matches!(node.value, Value::Text(_)) => Err(wrong_type(node, &format!("`{key}`"), "a text")),
            _ => Ok(()),
        }
    }

    /// The three numbers of `key`, if given.
    pub(super) fn vector(&self, key: &str, unit: &str, range: Range) -> Result<Option<Vector3>, SceneError> {
        self.get(key).map(|node| vector(node, &label(key, unit), range)).transpose()
    }

    /// The pose of `xyz` \[m\] and `rpy` \[rad\] (R = Rz(y) Ry(p) Rx(r), as in URDF); both zero if absent.
    pub(super) fn pose(&self) -> Result<RigidTransform, SceneError> {
        let p = self.vector("xyz", "[m]", LENGTH)?.unwrap_or_default();
        let rpy = self.vector("rpy", "[rad]", ANGLE)?.unwrap_or_default();
        Ok(RigidTransform::from_parts(p.into(), Rotation::from_euler_angles(rpy.x, rpy.y, rpy.z)))
    }

    /// The single entry of a section that is a choice: its key with its place, and its value.
    pub(super) fn only(node: &'a Node, what: &'static str, keys: &[&str]) -> Result<(&'a Key, &'a Node), SceneError> {
        let section = Self::new(node, what, keys)?;
        match section.entries {
            [(key, value)] => Ok((key, value)),
            [] => Err(SceneError::Conflict {
                place: node.place.clone(),
                problem: format!("{what} is empty; give one of {}", names::list(keys.iter().copied())),
            }),
            [_, (second, _), ..] => Err(SceneError::Conflict {
                place: second.place.clone(),
                problem: format!("{what} has one entry only, and `{}` is a second one; remove one", second.name),
            }),
        }
    }
}

/// A text with its place, usually a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) place: Place,
    pub(super) name: String,
}

fn label(key: &str, unit: &str) -> String {
    if unit.is_empty() { format!("`{key}`") } else { format!("`{key}` {unit}") }
}

/// The entries of a mapping.
pub(super) fn mapping<'a>(node: &'a Node, what: &str) -> Result<&'a [(Key, Node)], SceneError> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(wrong_type(node, what, "a mapping, as in `key: value` lines or `{ key: value }`")),
    }
}

/// The items of a list.
pub(super) fn list<'a>(node: &'a Node, what: &str) -> Result<&'a [Node], SceneError> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(wrong_type(node, what, "a list, as in `- item` lines or `[item, item]`")),
    }
}

/// A number in `range`.
pub(super) fn number(node: &Node, what: &str, range: Range) -> Result<f64, SceneError> {
    let Value::Number(value) = node.value else {
        return Err(wrong_type(node, what, "a number, as in `0.5` or `1e-3`"));
    };
    if range.contains(value) {
        return Ok(value);
    }
    let (what, allowed) = (what.to_owned(), range.describe());
    Err(SceneError::OutOfRange { place: node.place.clone(), what, value, allowed })
}

/// A text of one line, as names are.
pub(super) fn text(node: &Node, what: &str) -> Result<Named, SceneError> {
    match &node.value {
        Value::Text(name) if name.contains('\n') => Err(wrong_type(node, what, "a text of one line")),
        Value::Text(name) => Ok(Named { place: node.place.clone(), name: name.clone() }),
        _ => Err(wrong_type(node, what, "a text; put it in quotes if it looks like a number")),
    }
}

/// Three numbers in `range`.
pub(super) fn vector(node: &Node, what: &str, range: Range) -> Result<Vector3, SceneError> {
    match list(node, what)? {
        [x, y, z] => Ok(Vector3::new(number(x, what, range)?, number(y, what, range)?, number(z, what, range)?)),
        other => {
            let found = format!("a list of {}", other.len());
            let (place, what) = (node.place.clone(), what.to_owned());
            Err(SceneError::WrongType { place, what, expected: "three numbers, as in `[0, 0, 0.25]`", found })
        }
    }
}

/// A direction: three numbers that are not all zero, normalised.
pub(super) fn direction(node: &Node, what: &str) -> Result<Vector3, SceneError> {
    /// A direction shorter than this is zero up to rounding [-].
    const LENGTH_MIN: f64 = 1e-9;
    let direction = vector(node, what, Range::Any)?;
    direction.try_normalize(LENGTH_MIN).ok_or_else(|| SceneError::OutOfRange {
        place: node.place.clone(),
        what: format!("the length of {what}"),
        value: direction.norm(),
        allowed: "more than 0: give a direction, as in `[0, 0, 1]`".to_owned(),
    })
}

/// The error of a value of the wrong type.
pub(super) fn wrong_type(node: &Node, what: &str, expected: &'static str) -> SceneError {
    let found = match &node.value {
        Value::Text(text) if text.chars().count() > SHOWN_MAX => {
            format!("the text `{}...`", text.chars().take(SHOWN_MAX).collect::<String>())
        }
        Value::Text(text) => format!("the text `{text}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::Bool(truth) => format!("`{truth}`"),
        other => other.kind().to_owned(),
    };
    SceneError::WrongType { place: node.place.clone(), what: what.to_owned(), expected, found }
}

fn unknown_key(key: &Key, section: &'static str, keys: &[&str]) -> SceneError {
    SceneError::UnknownKey {
        place: key.place.clone(),
        key: key.name.clone(),
        section,
        suggestion: names::suggestion(&key.name, keys.iter().copied()),
        known: keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "),
    }
}

/// The error of an unknown name.
pub(super) fn unknown_name<'n>(
    named: &Named,
    kind: impl Into<String>,
    known: impl IntoIterator<Item = &'n str> + Clone,
) -> SceneError {
    SceneError::UnknownName {
        place: named.place.clone(),
        kind: kind.into(),
        name: named.name.clone(),
        suggestion: names::suggestion(&named.name, known.clone()),
        known: names::list(known),
    }
}
