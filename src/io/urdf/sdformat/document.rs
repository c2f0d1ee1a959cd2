//! The document: its version, and the model or the world in it.

use std::path::Path;

use super::SdformatProblem;
use super::text::fail;
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::habits::ANGLE_MAX;
use crate::io::urdf::place::Place;
use crate::io::xml::Element;
use crate::robot::LoadWarning;

/// The newest version that is read.
pub(super) const NEWEST: (u32, u32) = (1, 12);
/// The oldest version that is read.
const OLDEST: (u32, u32) = (1, 6);

/// Refuses versions that are not read.
pub(super) fn check_version(root: &Element, file: &Path) -> Result<(), UrdfError> {
    let place = Place::named(file, root);
    let stated = place.required(root, "version")?;
    let version = stated.trim().split_once('.').and_then(|(major, minor)| {
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    match version {
        Some(version) if (OLDEST..=NEWEST).contains(&version) => Ok(()),
        _ => {
            let way_out = match version {
                Some(version) if version > NEWEST => "state version=\"1.12\" if the file uses nothing newer",
                Some(_) => "`gz sdf -p FILE > NEW` writes older files in a newer version",
                None => "state the version, as in version=\"1.9\"",
            };
            Err(fail(&place, SdformatProblem::Version { found: stated.to_owned(), way_out }))
        }
    }
}

/// The model, or the world, of a file.
pub(super) fn only_model(root: Element, file: &Path) -> Result<Element, UrdfError> {
    let place = Place::named(file, &root);
    let (models, worlds) = (root.children("model").count(), root.children("world").count());
    if models + worlds != 1 {
        let found = format!("the file has {models} <model> and {worlds} <world>");
        return Err(fail(&place, SdformatProblem::Models { found }));
    }
    let is_model = |child: &Element| matches!(child.name.as_str(), "model" | "world");
    root.children
        .into_iter()
        .find(is_model)
        .ok_or_else(|| Place::new(file, 1, "sdf").fail(UrdfProblem::MissingChild { child: "model".to_owned() }))
}

/// Warns of poses in radians whose angles are probably in degrees.
pub(super) fn warn_of_degrees(element: &Element, place: &Place, warnings: &mut Vec<LoadWarning>) {
    let is_in_radians = element.name == "pose"
        && element.attribute("degrees").is_none_or(|value| value == "false" || value == "0")
        && element.attribute("rotation_format").is_none_or(|format| format == "euler_rpy");
    let angles = element.text.split_whitespace().skip(3).filter(|_| is_in_radians);
    let is_large = |angle: &f64| angle.abs() > ANGLE_MAX && angle.is_finite();
    if let Some(angle) = angles.filter_map(|word| word.parse::<f64>().ok()).find(is_large) {
        warnings.push(place.warning(format!(
            "`{}`: {angle} rad are more than two turns; if these are degrees, write <pose degrees=\"true\">, or radians: 90 \
             degrees are 1.5708",
            element.text
        )));
    }
    for child in &element.children {
        warn_of_degrees(child, &place.inside(child), warnings);
    }
}

/// Removes quotation marks around numbers, which other programs do not read, with a warning.
pub(super) fn adopt_quotes(element: &mut Element, place: &Place, warnings: &mut Vec<LoadWarning>) {
    let bare = element.text.trim_matches(['"', '\''].as_slice()).trim();
    let is_number = |text: &str| text.split_whitespace().all(|word| word.parse::<f64>().is_ok());
    if bare != element.text && !bare.is_empty() && is_number(bare) {
        warnings.push(place.warning(format!("`{}`: the quotation mark is not read; remove it", element.text)));
        element.text = bare.to_owned();
    }
    for child in &mut element.children {
        let inside = place.inside(child);
        adopt_quotes(child, &inside, warnings);
    }
}
