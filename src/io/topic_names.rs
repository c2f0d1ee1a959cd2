//! Names that ROS accepts in topics.

/// `name` as a part of a topic name: letters, digits, single underscores and slashes; no part starts with a digit.
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

/// [`topic_part`] of each name, numbered where two names would share a topic.
pub fn topic_parts<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
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
}
