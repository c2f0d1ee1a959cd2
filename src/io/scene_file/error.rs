//! The errors of scene files, each with its place in the file and its remedy.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::io::limits::MODELS_MAX;

/// A place in a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<Path>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Place {
    /// The first character of a file.
    pub(super) fn start(file: &Arc<Path>) -> Self {
        Self { file: Arc::clone(file), line: 1, column: 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

impl SceneError {
    /// Refuses a scene with `has` models, if these are too many.
    pub(super) fn check_models(place: &Place, has: usize) -> Result<(), Self> {
        let most = MODELS_MAX;
        let problem = || format!("the scene has {has} models; at most {most} are simulated: remove models");
        if has <= most { Ok(()) } else { Err(Self::Conflict { place: place.clone(), problem: problem() }) }
    }
}

/// The reason why a scene file was refused.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{}: cannot read the scene file: {}", file.display(), crate::io::limits::way_out(source))]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The text is not YAML.
    #[error(
        "{place}: cannot be read as YAML: {detail}; check the keys, the indentation and the brackets around this line"
    )]
    Syntax {
        /// The place where the parser stopped.
        place: Place,
        /// The message of the parser.
        detail: String,
    },
    /// A key that sections of this kind do not have.
    #[error("{place}: {section} has no key `{key}`{suggestion}; its keys are {known}")]
    UnknownKey {
        /// The place of the key.
        place: Place,
        /// The key as written.
        key: String,
        /// The section, as in "a model".
        section: &'static str,
        /// `, did you mean ...?` or nothing.
        suggestion: String,
        /// The keys of such a section.
        known: String,
    },
    /// A required key is missing.
    #[error("{place}: {section} needs `{key}`: add it, as in `{example}`")]
    MissingKey {
        /// The place of the section.
        place: Place,
        /// The section, as in "a model".
        section: &'static str,
        /// The key that is missing.
        key: &'static str,
        /// An example of the line.
        example: &'static str,
    },
    /// A value of the wrong type.
    #[error("{place}: {what} must be {expected}, found {found}")]
    WrongType {
        /// The place of the value.
        place: Place,
        /// The purpose of the value.
        what: String,
        /// The expected type, with an example.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// A number outside its range.
    #[error("{place}: {what} is {value}; it must be {allowed}")]
    OutOfRange {
        /// The place of the number.
        place: Place,
        /// The purpose of the number, with its unit.
        what: String,
        /// The number.
        value: f64,
        /// The allowed range.
        allowed: String,
    },
    /// An unknown name.
    #[error("{place}: there is no {kind} `{name}`{suggestion}; there are {known}")]
    UnknownName {
        /// The place of the name.
        place: Place,
        /// The kind of the item, as in "joint of model `arm`".
        kind: String,
        /// The name as written.
        name: String,
        /// `, did you mean ...?` or nothing.
        suggestion: String,
        /// The names that exist.
        known: String,
    },
    /// An ambiguous name.
    #[error("{place}: {kind} `{name}` is ambiguous; write one of {candidates}")]
    Ambiguous {
        /// The place of the name.
        place: Place,
        /// The kind of the item.
        kind: String,
        /// The name as written.
        name: String,
        /// The full names.
        candidates: String,
    },
    /// Two items with the same name, or two sections that exclude each other.
    #[error("{place}: {problem}")]
    Conflict {
        /// The place of the second one.
        place: Place,
        /// The fault and its remedy.
        problem: String,
    },
    /// A value that a parameter of the scene cannot take.
    #[error("--set {name}={value}: {problem}")]
    Parameter {
        /// The name of the parameter.
        name: String,
        /// The value as given.
        value: String,
        /// The fault and its remedy.
        problem: String,
    },
    /// A file that the scene names cannot be loaded.
    #[error("{place}: {what} cannot be loaded")]
    Load {
        /// The place where the file is named.
        place: Place,
        /// The kind of the file, with its path.
        what: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The parts do not form a scene.
    #[error("{place}: {what}")]
    Build {
        /// The place of the faulty section, or the start of the file.
        place: Place,
        /// The failed part of the assembly.
        what: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
