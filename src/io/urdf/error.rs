//! The errors of robot files, each with its remedy.

use std::path::PathBuf;

use crate::io::mesh_files::MeshFileError;
use crate::io::package::ResolveError;

pub use super::sdformat::SdformatProblem;

/// The reason why a robot file was refused.
#[derive(Debug, thiserror::Error)]
pub enum UrdfError {
    /// The file cannot be read.
    #[error("{file}: cannot read the robot file: {}", crate::io::limits::way_out(source))]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The text is not XML.
    #[error("{file}:{line}:{column}: not an XML document: {detail}{hint}")]
    NotXml {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// The fault.
        detail: String,
        /// The remedy.
        hint: &'static str,
    },
    /// An element is wrong.
    #[error("{file}:{line}: {element}: {problem}")]
    Invalid {
        /// The file.
        file: PathBuf,
        /// Line of the element, from 1.
        line: u32,
        /// The element, as in `joint \`elbow\``.
        element: String,
        /// The fault and its remedy.
        problem: Box<UrdfProblem>,
    },
    /// A xacro file has no expansion.
    #[error(transparent)]
    Xacro(#[from] super::XacroError),
}

/// A fault of an element of a robot file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages describe the fields")]
pub enum UrdfProblem {
    #[error("the root element is <{found}>, a URDF's is <robot>{hint}")]
    NotRobot { found: String, hint: String },
    #[error(
        "this is a xacro file; name it FILE.xacro, so that it is expanded, or expand it first: \
         `xacro FILE.xacro > FILE.urdf`"
    )]
    Xacro,
    #[error(
        "the robot has {links} links and {joints} joints; at most {} of each are read",
        crate::io::limits::LINKS_MAX
    )]
    TooLarge { links: usize, joints: usize },
    #[error("the element has no `{attribute}` attribute; add one")]
    MissingAttribute { attribute: String },
    #[error("the element <{child}> is missing; add it")]
    MissingChild { child: String },
    #[error("`{attribute}=\"{value}\"` is not {expected}")]
    BadNumber { attribute: String, value: String, expected: String },
    #[error("{quantity} is {value}; it must be {expected}")]
    OutOfRange { quantity: String, value: f64, expected: &'static str },
    #[error("{what} `{name}` exists already (line {first_line}); names must be unique, rename one")]
    Duplicate { what: &'static str, name: String, first_line: u32 },
    #[error("there is no {what} `{name}`{suggestion}")]
    Unknown { what: &'static str, name: String, suggestion: String },
    #[error(
        "link `{link}` is the child of this joint and of joint `{other}` (line {other_line}); a robot is a tree: \
         remove one of the two, or split the link"
    )]
    TwoParents { link: String, other: String, other_line: u32 },
    #[error("the joints form a loop: {path}; a robot is a tree: remove one of these joints")]
    Loop { path: String },
    #[error(
        "links without a parent: {roots}; a URDF has exactly one root: join the others to it with joints \
         (type `fixed` or `floating`)"
    )]
    ManyRoots { roots: String },
    #[error("the axis is zero; give its direction in the joint's frame, as in <axis xyz=\"0 0 1\"/>")]
    ZeroAxis,
    #[error("joint type `{found}` is not supported; {way_out}")]
    JointType { found: String, way_out: String },
    #[error("<geometry> has no known shape{found}; use box, sphere, cylinder, mesh, drake:capsule or drake:ellipsoid")]
    NoShape { found: String },
    #[error("both drake:compliant_hydroelastic and drake:rigid_hydroelastic are given; keep one")]
    CompliantAndRigid,
    #[error("the joint mimics itself, directly or through others; make it follow another joint")]
    MimicLoop,
    #[error("{0}")]
    Mesh(#[from] MeshFileError),
    #[error("{0}")]
    MeshPath(#[from] ResolveError),
    #[error("{0}")]
    Sdformat(#[from] SdformatProblem),
    #[error("the standard part of the file is refused: {detail}")]
    Standard { detail: String },
}
