//! The addresses of files that a mesh file names.

use std::path::{Component, Path};

/// Whether an address leads to a file in the folder where it starts, or below: a mesh names no file
/// elsewhere.
pub(super) fn is_below(relative: &Path) -> bool {
    relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
