//! Files that an `<include>` names: an SDFormat file, or a folder with `model.config` or `model.sdf`.

use std::path::{Path, PathBuf};

use super::SdformatProblem;
use super::document::NEWEST;
use super::text::fail;
use crate::io::limits;
use crate::io::package::PackageMap;
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::place::Place;
use crate::io::xml::{self, Element};

/// The file at the address of an include.
pub(super) fn find(uri: &str, folder: &Path, packages: &PackageMap, place: &Place) -> Result<PathBuf, UrdfError> {
    let address = uri.trim_end_matches('/');
    let not_found = |error| place.fail(UrdfProblem::MeshPath(error));
    if [".sdf", ".world", ".urdf", ".xml"].iter().any(|ending| address.ends_with(ending)) {
        return packages.resolve(address, folder).map_err(not_found);
    }
    let Ok(config) = packages.resolve(&format!("{address}/model.config"), folder) else {
        return packages.resolve(&format!("{address}/model.sdf"), folder).map_err(not_found);
    };
    let name = newest(&parse(&config, place)?).unwrap_or_else(|| "model.sdf".to_owned());
    packages.resolve(&format!("{address}/{name}"), folder).map_err(not_found)
}

/// The file of the newest version that a `model.config` lists.
fn newest(config: &Element) -> Option<String> {
    let version = |sdf: &Element| -> Option<(u32, u32)> {
        let (major, minor) = sdf.attribute("version")?.trim().split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let named = config.children("sdf").filter(|sdf| !sdf.text.is_empty());
    let readable = named.filter(|sdf| version(sdf).is_none_or(|version| version <= NEWEST));
    readable.max_by_key(|sdf| version(sdf)).map(|sdf| sdf.text.clone())
}

fn parse(file: &Path, place: &Place) -> Result<Element, UrdfError> {
    let unreadable = |error: std::io::Error| {
        let reason = error.to_string();
        fail(place, SdformatProblem::Unreadable { file: file.display().to_string(), reason })
    };
    let bytes = limits::read(file, limits::TEXT_BYTES_MAX).map_err(unreadable)?;
    xml::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| UrdfError::NotXml {
        file: file.to_path_buf(),
        line: error.line,
        column: error.column,
        detail: error.detail,
        hint: "; correct the text at this place",
    })
}

/// The root element of an included file.
pub(super) fn read(file: &Path, place: &Place) -> Result<Element, UrdfError> {
    let root = parse(file, place)?;
    if root.name == "sdf" {
        return Ok(root);
    }
    let way_out = match root.name.as_str() {
        "robot" => "a URDF cannot be included; make it a model of the scene, or write it as SDFormat",
        _ => "name a file whose root is <sdf>",
    };
    let file = file.display().to_string();
    Err(fail(place, SdformatProblem::NotSdformat { file, found: root.name, way_out }))
}
