//! Names: the nearest valid name, and names that ROS accepts in topics.

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment).
pub fn edit_distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

/// The name of `known` with the fewest edits from `name`, ignoring case, if at most a third of the longer
/// name differs (two edits are always allowed from three characters on) or if one contains the other. A name
/// with a forgotten prefix (`left_`, a namespace) counts as one edit.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            let other = candidate.to_lowercase();
            let edits = edit_distance(&folded, &other);
            let longer = folded.chars().count().max(other.chars().count());
            let allowed = (longer / 3).max(2).min(longer.saturating_sub(1));
            let contained =
                (folded.len() >= 3 && other.contains(&folded)) || (other.len() >= 3 && folded.contains(&other));
            let prefixed = folded.len() >= 3 && other.ends_with(&folded);
            (if prefixed { edits.min(1) } else { edits }, edits <= allowed || contained, candidate)
        })
        .filter(|(_, near, _)| *near)
        .min_by_key(|(edits, _, _)| *edits)
        .map(|(_, _, candidate)| candidate)
}

/// `name` as a part of a topic name: letters, digits, single underscores and slashes; no part starts
/// with a digit.
pub fn topic_part(name: &str) -> String {
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

/// [`topic_part`] of each name, numbered if two names would share a topic.
pub fn topic_parts<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    topic_parts_beside(&names.collect::<Vec<_>>(), &[])
}

/// As [`topic_parts`]; each of the names in `kept` keeps the part beside it.
pub fn topic_parts_beside(names: &[&str], kept: &[(&str, &str)]) -> Vec<String> {
    let part_of = |name: &str| kept.iter().find(|(other, _)| *other == name).map(|(_, part)| *part);
    let mut taken: Vec<String> = names.iter().filter_map(|name| part_of(name)).map(str::to_owned).collect();
    let part = |name: &&str| {
        if let Some(part) = part_of(name) {
            return part.to_owned();
        }
        let plain = topic_part(name);
        let mut topic = plain.clone();
        let mut number = 2;
        while taken.contains(&topic) {
            topic = format!("{plain}_{number}");
            number += 1;
        }
        taken.push(topic.clone());
        topic
    };
    names.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances computed by hand from the definition.
    #[test]
    fn edit_distances_of_known_pairs() {
        for (a, b, distance) in [("", "abc", 3), ("kitten", "sitting", 3), ("form", "from", 1), ("same", "same", 0)] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    /// A typing error and a forgotten prefix are recognised; an unrelated name is not.
    #[test]
    fn only_a_near_name_is_found() {
        let joints = ["shoulder", "elbow", "wrist"];
        assert_eq!(nearest("elbwo", joints), Some("elbow"));
        assert_eq!(nearest("Wrist", joints), Some("wrist"));
        assert_eq!(nearest("elbow", ["right", "left_elbow"]), Some("left_elbow"));
        assert_eq!(nearest("torso", joints), None);
    }

    #[test]
    fn topic_parts_follow_the_naming_rules_of_ros() {
        assert_eq!(topic_part("left finger.bubble-1"), "left_finger_bubble_1");
        assert_eq!(topic_part("//arm//7link/"), "arm/_7link");
        assert_eq!(topic_part("é"), "_");
        assert_eq!(topic_parts(["a b", "a_b"].into_iter()), ["a_b", "a_b_2"]);
        assert_eq!(topic_parts_beside(&["a_b", "a-b"], &[("a b", "a_b"), ("a_b", "a_b_2")]), ["a_b_2", "a_b"]);
        assert_eq!(topic_parts_beside(&["a-b", "a_b"], &[("a_b", "a_b")]), ["a_b_2", "a_b"]);
    }
}
