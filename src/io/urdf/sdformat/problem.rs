//! Faults that only SDFormat files have, each with its remedy.

/// A fault of an element of an SDFormat file.
#[derive(Debug, thiserror::Error, PartialEq)]
#[allow(missing_docs, reason = "the messages describe the fields")]
pub enum SdformatProblem {
    #[error("SDFormat {found} is not read, only 1.6 to 1.12; {way_out}")]
    Version { found: String, way_out: &'static str },
    #[error("{found}; one <model> or one <world> is read: give each its own file, or put all models into one <world>")]
    Models { found: String },
    #[error("`{text}` is not {expected}")]
    Text { text: String, expected: String },
    #[error("{0}")]
    Pose(&'static str),
    #[error("the poses refer to each other in a circle: {path}; give one of them in `__model__`")]
    PoseLoop { path: String },
    #[error("`{frame}` is attached to no link: {reason}")]
    NotAttached { frame: String, reason: String },
    #[error("<{found}> is not supported; {way_out}")]
    Shape { found: String, way_out: &'static str },
    #[error("the axis is zero; give its direction, as in <xyz>0 0 1</xyz>")]
    ZeroAxis,
    #[error("`lower` {lower} is above `upper` {upper}; swap them, or leave both out for a joint without limits")]
    Limits { lower: f64, upper: f64 },
    #[error("automatic inertia (`auto=\"true\"`) is not supported; state mass and moments of inertia")]
    AutomaticInertia,
    #[error("the parent and the child are the same link; name two links")]
    OneLink,
    #[error("{chain}: the files include each other in a circle; remove one of these includes")]
    IncludeLoop { chain: String },
    #[error("includes nest deeper than {0}; include the inner models directly")]
    IncludeDepth(usize),
    #[error("the file and those that it includes have more than the {0} elements that are read")]
    TooManyElements(usize),
    #[error("cannot read {file}: {reason}")]
    Unreadable { file: String, reason: String },
    #[error("{file} is not SDFormat: its root element is <{found}>; {way_out}")]
    NotSdformat { file: String, found: String, way_out: &'static str },
}
