//! Addresses of files in a scene file. Relative addresses start at the folder of the file that contains them.

use std::path::{Path, PathBuf};

use super::error::SceneError;
use super::names::suggestion;
use super::reader::Named;
use crate::io::package::{PackageMap, ResolveError};

/// The folder of the file that contains the address.
pub(super) fn folder_of(address: &Named) -> &Path {
    address.place.file.parent().unwrap_or(Path::new(""))
}

/// The file at an address in a scene file.
pub(super) fn resolve(address: &Named, what: &str, packages: &PackageMap) -> Result<PathBuf, SceneError> {
    let base_dir = folder_of(address);
    packages.resolve(&address.name, base_dir).map_err(|source| {
        // For an address that is not allowed no name is suggested, because it would reveal the contents of a
        // folder.
        let near = match &source {
            ResolveError::NotFound { .. } => near_file(&base_dir.join(&address.name)),
            _ => String::new(),
        };
        SceneError::Load {
            place: address.place.clone(),
            what: format!("{what} `{}`{near}", address.name),
            source: Box::new(source),
        }
    })
}

/// `, did you mean ...?` for the nearest file beside a path that does not exist.
fn near_file(missing: &Path) -> String {
    let Some((folder, name)) = missing.parent().zip(missing.file_name()) else { return String::new() };
    let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    suggestion(&name.to_string_lossy(), names.iter().map(String::as_str))
}
