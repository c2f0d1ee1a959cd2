//! Names that people type: the nearest valid one, and lists of them for messages.

/// How many names a message lists before it only counts.
const NAMES_LISTED: usize = 12;

/// `, did you mean `x`?` for the valid name nearest to `name`, or nothing when none is near.
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

/// The valid name at the least edit distance, if at most a third of the longer name differs (at least two edits are allowed), or
/// one that contains the other.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = edit_distance(&folded, &other);
            let longer = folded.chars().count().max(other.chars().count());
            let allowed = (longer / 3).max(2).min(longer.saturating_sub(1));
            let contained = folded.len() >= 3 && (other.contains(&folded) || folded.contains(&other));
            (distance, distance <= allowed || contained, candidate)
        })
        .filter(|(_, near, _)| *near)
        .min_by_key(|(distance, _, _)| *distance)
        .map(|(_, _, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b` (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut cost = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            cost[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (cost[(i - 1) * width + j] + 1)
                    .min(cost[i * width + j - 1] + 1)
                    .min(cost[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(cost[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    cost[a.len() * width + b.len()]
}

/// Whether `name` fits `pattern`, in which each `*` stands for any characters.
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

    /// Distances that the definition gives by hand.
    #[test]
    fn edit_distances_of_known_pairs() {
        for (a, b, distance) in [("", "abc", 3), ("kitten", "sitting", 3), ("form", "from", 1), ("same", "same", 0)] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    /// Stars stand for any characters, and only stars do.
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

    /// A slip of the finger is recognised; something else is not.
    #[test]
    fn suggests_only_what_is_near() {
        let known = ["stiffness", "damping", "effort_limit"];
        assert_eq!(suggestion("stifness", known), ", did you mean `stiffness`?");
        assert_eq!(suggestion("effort", known), ", did you mean `effort_limit`?");
        assert_eq!(suggestion("colour", known), "");
    }
}
