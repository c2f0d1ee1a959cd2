//! The name that was meant.

/// Nobody means a longer name; messages shorten it [bytes].
const NAME_SHOWN_MAX: usize = 128;

/// `name` fit for a log line: not endless, and without characters that end a line or a string.
pub(super) fn shown(name: &str) -> String {
    let plain = |character: char| if character.is_control() { '?' } else { character };
    let mut text: String = name.chars().take(NAME_SHOWN_MAX).map(plain).collect();
    if text.len() < name.len() {
        text.push_str("...");
    }
    text
}

/// The candidate that takes the fewest edits to reach from `name`, unless nearly everything would change.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let joints = ["left_finger_joint", "right_finger_joint"];
        assert_eq!(nearest("left_finger_jiont", joints.into_iter()), Some("left_finger_joint"));
        assert_eq!(nearest("elbow", joints.into_iter()), None);
    }
}
