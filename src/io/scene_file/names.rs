//! Names in files: the nearest valid one, and lists of them for messages.

use crate::names::nearest;

/// The largest number of names in a message, which only counts the rest of a longer list.
const NAMES_LISTED: usize = 12;

/// `, did you mean `x`?` for the valid name nearest to `name`, or nothing if none is near.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(near) => format!(", did you mean `{near}`?"),
        None => String::new(),
    }
}

/// The names quoted and joined for a message.
pub(super) fn list<'a>(known: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = known.into_iter().collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = names.iter().take(NAMES_LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(NAMES_LISTED) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// Whether `name` fits `pattern`, in which each `*` matches any characters.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match left.split_once(piece) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only stars match any characters.
    #[test]
    fn patterns_match() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("left_*", "left_finger", true),
            ("*finger*", "left_finger_bubble", true),
            ("*a*b", "xaab", true),
            ("a*a", "a", false),
            ("finger", "left_finger", false),
            ("*_1*_2", "x_2", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    /// A typing error is recognised; an unrelated name is not.
    #[test]
    fn suggests_only_near_names() {
        let known = ["stiffness", "damping", "effort_limit"];
        assert_eq!(suggestion("stifness", known), ", did you mean `stiffness`?");
        assert_eq!(suggestion("effort", known), ", did you mean `effort_limit`?");
        assert_eq!(suggestion("colour", known), "");
    }
}
