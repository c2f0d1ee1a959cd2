//! The keys of a model that name its files.

use super::error::SceneError;
use super::reader::{Named, Section, mapping, text};
use super::yaml::{Key, Node, Value};

/// The robot file of a model, under either key. The root element of the file determines its format.
pub(super) fn read_robot_file(model: &Section<'_>) -> Result<Named, SceneError> {
    match (model.get("urdf"), model.get("sdf")) {
        (Some(_), Some(_)) => Err(SceneError::Conflict {
            place: model.key_place("sdf").clone(),
            problem: "the model has both `urdf` and `sdf`; keep one of them".to_owned(),
        }),
        (None, Some(file)) => text(file, "`sdf`"),
        _ => text(model.require("urdf", "urdf: ../urdf/arm.urdf` or a shape, as in `box: [0.1, 0.1, 0.1]")?, "`urdf`"),
    }
}

/// The values for arguments of a xacro file.
pub(super) fn read_xacro_arguments(model: &Section<'_>) -> Result<Vec<(String, String)>, SceneError> {
    let Some(node) = model.get("xacro_arguments") else { return Ok(Vec::new()) };
    let value = |(key, node): &(Key, Node)| {
        let value = match &node.value {
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            _ => text(node, &format!("argument `{}` of the xacro file", key.name))?.name,
        };
        Ok((key.name.clone(), value))
    };
    mapping(node, "`xacro_arguments`")?.iter().map(value).collect()
}

/// One name of a group state, or a list.
pub(super) fn read_group_states(model: &Section<'_>) -> Result<Vec<Named>, SceneError> {
    let Some(node) = model.get("group_state") else { return Ok(Vec::new()) };
    if model.get("srdf").is_none() {
        return Err(SceneError::Conflict {
            place: model.key_place("group_state").clone(),
            problem: "group states are those of an SRDF file; name it, as in `srdf: arm.srdf`".to_owned(),
        });
    }
    match &node.value {
        Value::List(states) => states.iter().map(|state| text(state, "a group state")).collect(),
        _ => Ok(vec![text(node, "`group_state`")?]),
    }
}
