//! The error of a format's reader, before the file's name is known.

/// The contents that a reader expected and those that it found.
#[derive(Debug)]
pub(super) struct Malformed {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Malformed {
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }
}
