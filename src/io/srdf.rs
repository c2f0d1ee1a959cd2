//! MoveIt SRDF files: pairs of links that do not collide, and named positions of joints.

use std::path::{Path, PathBuf};

use super::limits;
use super::xml;

/// Two links that do not collide with each other, and the reason in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledPair {
    /// Name of one link.
    pub link1: String,
    /// Name of the other link.
    pub link2: String,
    /// The file's reason, such as `Adjacent`; empty if it gives none.
    pub reason: String,
    /// Line in the file, from 1.
    pub line: u32,
}

/// Named positions of the joints of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupState {
    /// Its name. Several groups may have states of one name.
    pub name: String,
    /// The joints with one position each [rad or m].
    pub joints: Vec<(String, f64)>,
    /// Line in the file, from 1.
    pub line: u32,
}

/// The contents of an SRDF file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Srdf {
    /// Pairs of links that do not collide.
    pub disabled_pairs: Vec<DisabledPair>,
    /// Named positions, in the file's order.
    pub group_states: Vec<GroupState>,
}

/// The reason why an SRDF file was refused.
#[derive(Debug, thiserror::Error)]
pub enum SrdfError {
    /// The file cannot be read.
    #[error("{file}: cannot read the SRDF file: {}", limits::way_out(source))]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The text is not XML.
    #[error("{file}:{line}:{column}: not an XML document: {detail}; if this is a xacro file, expand it first")]
    NotXml {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// The fault.
        detail: String,
    },
    /// The root element is not `<robot>`.
    #[error("{file}:{line}: the root element is <{found}>, an SRDF's is <robot>; give the robot's .srdf file")]
    NotRobot {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u32,
        /// The root element.
        found: String,
    },
    /// A pair lacks a link.
    #[error("{file}:{line}: <disable_collisions> has no `{attribute}`; it needs link1 and link2")]
    MissingLink {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u32,
        /// The attribute.
        attribute: &'static str,
    },
    /// A group state without a name, or a joint of it without a name or a number.
    #[error("{file}:{line}: <{element}> {problem}")]
    GroupState {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u32,
        /// The element.
        element: String,
        /// The fault and its remedy.
        problem: String,
    },
}

/// Reads the SRDF file at `path`.
///
/// # Errors
/// The file cannot be read or is malformed. The caller, who has the robot, checks that links and joints
/// exist.
pub fn load_file(path: &Path) -> Result<Srdf, SrdfError> {
    let text = limits::read_text(path).map_err(|source| SrdfError::Read { file: path.to_path_buf(), source })?;
    load_str(&text, path)
}

/// Like [`load_file`], from text; `label` replaces the file name in messages.
///
/// # Errors
/// The text is malformed.
pub fn load_str(text: &str, label: &Path) -> Result<Srdf, SrdfError> {
    let file = label.to_path_buf();
    let robot = match xml::parse(text) {
        Ok(robot) => robot,
        Err(error) => {
            return Err(SrdfError::NotXml { file, line: error.line, column: error.column, detail: error.detail });
        }
    };
    if robot.name != "robot" {
        return Err(SrdfError::NotRobot { file, line: robot.line, found: robot.name });
    }
    let pair = |element: &xml::Element| {
        let link = |attribute: &'static str| {
            let missing = || SrdfError::MissingLink { file: file.clone(), line: element.line, attribute };
            element.attribute(attribute).map(str::to_owned).ok_or_else(missing)
        };
        Ok(DisabledPair {
            link1: link("link1")?,
            link2: link("link2")?,
            reason: element.attribute("reason").unwrap_or_default().to_owned(),
            line: element.line,
        })
    };
    Ok(Srdf {
        disabled_pairs: robot.children("disable_collisions").map(pair).collect::<Result<_, _>>()?,
        group_states: robot.children("group_state").map(|state| group_state(state, &file)).collect::<Result<_, _>>()?,
    })
}

/// A `<group_state>`. Joints with several numbers, such as floating ones, are left out.
fn group_state(element: &xml::Element, file: &Path) -> Result<GroupState, SrdfError> {
    let fail = |element: &xml::Element, problem: String| SrdfError::GroupState {
        file: file.to_path_buf(),
        line: element.line,
        element: element.name.clone(),
        problem,
    };
    let text = |element: &xml::Element, attribute: &str| {
        let found = element.attribute(attribute).map(str::to_owned);
        found.ok_or_else(|| fail(element, format!("has no `{attribute}` attribute; add one")))
    };
    let mut joints = Vec::new();
    for joint in element.children("joint") {
        let (name, value) = (text(joint, "name")?, text(joint, "value")?);
        let numbers: Option<Vec<f64>> = value.split_whitespace().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some([number]) if number.is_finite() => joints.push((name, *number)),
            Some([_, _, ..]) => {}
            _ => return Err(fail(joint, format!("`value=\"{value}\"` is not a finite number; correct it"))),
        }
    }
    Ok(GroupState { name: text(element, "name")?, joints, line: element.line })
}
