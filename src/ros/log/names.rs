//! Names and numbers from messages in log lines, and suggestions for misspelt names.

use std::fmt;

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

/// A number in a log line, with an exponent below 1e-4 and from 1e9 on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = self;
        let plain = *value == 0.0 || !value.is_finite() || (1e-4..1e9).contains(&value.abs());
        if plain { write!(f, "{value}") } else { write!(f, "{value:e}") }
    }
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

    /// Each number is read back with the same bits, and none is longer than 24 characters: a sign, 17 digits,
    /// a point, and an exponent of up to 5 characters.
    #[test]
    fn numbers_are_short_and_exact() {
        let written = |value: f64| Number(value).to_string();
        for (value, text) in [(1e308, "1e308"), (-5e-324, "-5e-324"), (0.25, "0.25"), (1e9, "1e9"), (-0.0, "-0")] {
            assert_eq!(written(value), text);
        }
        for value in [f64::MAX, f64::MIN_POSITIVE, 123_456_789.123_456_79, 1.0 / 3.0, -1e-4 / 3.0, f64::INFINITY] {
            assert!(written(value).len() <= 24 && written(value).parse() == Ok(value), "{}", written(value));
        }
        assert_eq!(written(f64::NAN), "NaN");
    }

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let joints = ["left_finger_joint", "right_finger_joint"];
        assert_eq!(nearest("left_finger_jiont", joints.into_iter()), Some("left_finger_joint"));
        assert_eq!(nearest("elbow", joints.into_iter()), None);
    }
}
