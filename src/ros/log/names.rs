//! Names from messages in log lines, and suggestions for misspelt ones.

use crate::names::edit_distance;

/// The largest number of characters of a name in a log line, and of bytes of a name with a suggestion.
const NAME_SHOWN_MAX: usize = 128;

/// `name` made safe for a log line: limited in length, without characters that end a line or a string.
pub(crate) fn shown(name: &str) -> String {
    let plain = |character: char| if character.is_control() { '?' } else { character };
    let mut text: String = name.chars().take(NAME_SHOWN_MAX).map(plain).collect();
    if text.len() < name.len() {
        text.push_str("...");
    }
    text
}

/// The candidate with the fewest edits from `name`, unless they are more than two thirds of its length.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NAME_SHOWN_MAX {
        return None;
    }
    let edits_max = name.chars().count() * 2 / 3;
    candidates
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// "; did you mean 'x'?", or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |candidate| format!("; did you mean '{candidate}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let joints = ["left_finger_joint", "right_finger_joint"];
        assert_eq!(nearest("left_finger_jiont", joints.into_iter()), Some("left_finger_joint"));
        assert_eq!(nearest("elbow", joints.into_iter()), None);
    }
}
