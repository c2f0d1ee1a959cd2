//! The keys of a section that are given, and those that the stepping mode does not use.

use super::error::SceneError;
use super::reader::Section;
use super::yaml::{Node, Value};
use crate::stepping::UnusedSetting;

/// The keys that `section` states and their values, as far as these are texts.
pub(super) fn stated(section: &Section<'_>) -> Vec<(String, String)> {
    let value = |node: &Node| match &node.value {
        Value::Text(text) => text.clone(),
        _ => String::new(),
    };
    section.stated().map(|(key, node)| (key.to_owned(), value(node))).collect()
}

/// Refuses keys of `section` that steps of the mode with the name `mode` do not use.
pub(super) fn check_used(section: &Section<'_>, mode: &'static str) -> Result<(), SceneError> {
    for (key, value) in stated(section) {
        if let Some(unused) = UnusedSetting::find(&key, &value, mode) {
            let place = section.get(&key).map_or(section.place, |node| &node.place).clone();
            return Err(SceneError::Conflict { place, problem: unused.to_string() });
        }
    }
    Ok(())
}
