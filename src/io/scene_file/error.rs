//! Everything that can be wrong with a scene file, each with its place and the way out.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// Why a scene file was refused.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{}: cannot read the scene file; check the path and the permissions", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The text is not YAML.
    #[error(
        "{place}: cannot be read as YAML: {detail}; check the keys, the indentation and the brackets around this line"
    )]
    Syntax {
        /// Where the parser stopped.
        place: Place,
        /// What it says.
        detail: String,
    },
    /// A key that no section of that kind has.
    #[error("{place}: `{key}` is no key of {section}{suggestion}; its keys are {known}")]
    UnknownKey {
        /// Where the key is.
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
    /// A key that must be there.
    #[error("{place}: {section} needs `{key}`: add it, as in `{example}`")]
    MissingKey {
        /// Where the section is.
        place: Place,
        /// The section, as in "a model".
        section: &'static str,
        /// The key that is missing.
        key: &'static str,
        /// A line that would do.
        example: &'static str,
    },
    /// A value of another type than the key wants.
    #[error("{place}: {what} must be {expected}, found {found}")]
    WrongType {
        /// Where the value is.
        place: Place,
        /// What the value is for.
        what: String,
        /// What it must be, with an example.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A number outside its range.
    #[error("{place}: {what} is {value}, must be {allowed}")]
    OutOfRange {
        /// Where the number is.
        place: Place,
        /// What the number is for, with its unit.
        what: String,
        /// The number.
        value: f64,
        /// What is allowed.
        allowed: String,
    },
    /// A name that nothing has.
    #[error("{place}: there is no {kind} `{name}`{suggestion}; there are {known}")]
    UnknownName {
        /// Where the name is.
        place: Place,
        /// What is looked for, as in "joint of model `arm`".
        kind: String,
        /// The name as written.
        name: String,
        /// `, did you mean ...?` or nothing.
        suggestion: String,
        /// The names that exist.
        known: String,
    },
    /// A name that several things have.
    #[error("{place}: {kind} `{name}` is ambiguous; write one of {candidates}")]
    Ambiguous {
        /// Where the name is.
        place: Place,
        /// What is looked for.
        kind: String,
        /// The name as written.
        name: String,
        /// The full names.
        candidates: String,
    },
    /// Two things of one name, or two sections that exclude each other.
    #[error("{place}: {problem}")]
    Conflict {
        /// Where the second one is.
        place: Place,
        /// What is wrong, and the way out.
        problem: String,
    },
    /// A file that the scene names cannot be loaded.
    #[error("{place}: {what} cannot be loaded")]
    Load {
        /// Where the file is named.
        place: Place,
        /// What it is, with its path.
        what: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The parts do not make a scene.
    #[error("{place}: {what}")]
    Build {
        /// The section that is at fault, or the file's start.
        place: Place,
        /// What was being built.
        what: String,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
