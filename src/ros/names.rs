//! Names that ROS accepts, and the name that was meant.

/// `name` as a part of a topic name: letters, digits, single underscores and slashes; no part starts with a digit.
pub(super) fn topic_part(name: &str) -> String {
    let mut topic = String::with_capacity(name.len() + 1);
    for character in name.chars() {
        let character = if character.is_ascii_alphanumeric() || character == '/' { character } else { '_' };
        let start = topic.is_empty() || topic.ends_with('/');
        if (character == '_' && topic.ends_with('_')) || (character == '/' && start) {
            continue;
        }
        if start && character.is_ascii_digit() {
            topic.push('_');
        }
        topic.push(character);
    }
    while topic.ends_with('/') {
        topic.pop();
    }
    if topic.is_empty() { "_".to_owned() } else { topic }
}

/// [`topic_part`] of each name, numbered where two names would share a topic.
pub(super) fn topic_parts<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let plain = topic_part(name);
        let mut topic = plain.clone();
        let mut number = 2;
        while taken.contains(&topic) {
            topic = format!("{plain}_{number}");
            number += 1;
        }
        taken.push(topic);
    }
    taken
}

/// The candidate that takes the fewest edits to reach from `name`, unless nearly everything would change.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let edits_max = name.chars().count() * 2 / 3;
    candidates
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// "; did you mean 'x'?", or nothing.
pub(super) fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |candidate| format!("; did you mean '{candidate}'?"))
}

/// Insertions, deletions and replacements of characters between `a` and `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, character) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(character != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_parts_follow_the_naming_rules_of_ros() {
        assert_eq!(topic_part("left finger.bubble-1"), "left_finger_bubble_1");
        assert_eq!(topic_part("//arm//7link/"), "arm/_7link");
        assert_eq!(topic_part("é"), "_");
        assert_eq!(topic_parts(["a b", "a_b"].into_iter()), ["a_b", "a_b_2"]);
    }

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let joints = ["left_finger_joint", "right_finger_joint"];
        assert_eq!(nearest("left_finger_jiont", joints.into_iter()), Some("left_finger_joint"));
        assert_eq!(nearest("elbow", joints.into_iter()), None);
    }
}
