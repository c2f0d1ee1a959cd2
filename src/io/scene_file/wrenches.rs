//! The section `wrenches` of a scene file.

use super::commands::read_waveform;
use super::error::{Place, SceneError};
use super::reader::{Named, Section, list, unknown_name, wrong_type};
use super::yaml::{Key, Node};
use crate::math::BodyIndex;
use crate::stepping::{BodyWrench, Waveform, WrenchAxes};

/// A wrench on a body whose name is still unresolved.
#[derive(Clone, Debug)]
pub(super) struct WrenchSpec {
    pub(super) body: Named,
    pub(super) wrench: BodyWrench,
}

/// Reads one entry of `wrenches`.
pub(super) fn read_wrench((key, node): &(Key, Node)) -> Result<WrenchSpec, SceneError> {
    let section = Section::new(node, "a wrench", &["force", "torque", "axes"])?;
    let waves = |name: &'static str| match section.get(name) {
        Some(node) => read_waves(node, name),
        None => Ok([const { Waveform::Constant(0.0) }; 3]),
    };
    let axes = match section.text("axes")? {
        None => WrenchAxes::default(),
        Some(named) if named.name == "body" => WrenchAxes::Body,
        Some(named) if named.name == "world" => WrenchAxes::World,
        Some(named) => return Err(unknown_name(&named, "axes called", ["body", "world"])),
    };
    let wrench = BodyWrench { body: BodyIndex::WORLD, axes, force: waves("force")?, torque: waves("torque")? };
    Ok(WrenchSpec { body: Named { place: key.place.clone(), name: key.name.clone() }, wrench })
}

fn read_waves(node: &Node, name: &'static str) -> Result<[Waveform; 3], SceneError> {
    let what = format!("`{name}`");
    let [x, y, z] = list(node, &what)? else {
        return Err(wrong_type(node, &what, "three numbers or waveforms, along x, y and z"));
    };
    Ok([read_waveform(x, name)?, read_waveform(y, name)?, read_waveform(z, name)?])
}

/// The error of a wrench on a body that cannot move.
pub(super) fn immovable(place: &Place, name: &str) -> SceneError {
    let problem =
        format!("`{name}` cannot move, so no wrench can act on it; name a body that a joint moves, or a free one");
    SceneError::Conflict { place: place.clone(), problem }
}
