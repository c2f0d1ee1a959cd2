//! A small font of pen strokes.
//!
//! A glyph is a list of strokes on a grid: pairs of base-36 digits (x, y), x from 0, y with the descender at
//! 0, the base line at 4, the height of small letters at 12 (`c`) and of capitals at 16 (`g`). A stroke that
//! begins with `~` is rounded.

/// Width of the pen, as a share of the height of capitals.
pub(super) const PEN: f64 = 0.115;
/// Grid units from the base line to the top of capitals.
const CAPITAL: f64 = 12.0;
/// The height of the base line on the grid.
const BASE: f64 = 4.0;
/// Grid units between two glyphs.
const GAP: f64 = 3.6;
/// Grid units of a blank.
const BLANK: f64 = 3.0;

const RING: &str = "~3c0c08043464686c3c";

/// The strokes of a character; a frame for a character that the font lacks.
fn glyph(character: char) -> &'static [&'static str] {
    match character {
        ' ' => &[],
        'A' => &["044g84", "1878"],
        'B' => &["0g04", "~0g5g7g7d7a5a0a", "~0a6a8a87846404"],
        'C' => &["~8d7g4g0g0a04447487"],
        'D' => &["0g04", "~0g4g8g8a844404"],
        'E' => &["8g0g0484", "0a6a"],
        'F' => &["8g0g04", "0a6a"],
        'G' => &["~8d7g4g0g0a0444848a", "8a5a"],
        'H' => &["0g04", "8g84", "0a8a"],
        'I' => &["1g14"],
        'J' => &["~6g6a64340407"],
        'K' => &["0g04", "8g09", "3b84"],
        'L' => &["0g0484"],
        'M' => &["040g4a8g84"],
        'N' => &["040g848g"],
        'O' => &["~4g0g0a0444848a8g4g"],
        'P' => &["0g04", "~0g5g8g8c895909"],
        'Q' => &["~4g0g0a0444848a8g4g", "5784"],
        'R' => &["0g04", "~0g5g8g8c895909", "4984"],
        'S' => &["~8d7g4g0g0d0a4a8a8784441407"],
        'T' => &["0g8g", "4g44"],
        'U' => &["~0g0a0444848a8g"],
        'V' => &["0g448g"],
        'W' => &["0g244a648g"],
        'X' => &["0g84", "048g"],
        'Y' => &["0g4a8g", "4a44"],
        'Z' => &["0g8g0484"],
        'a' => &[RING, "6c64"],
        'b' => &[RING, "0g04"],
        'c' => &["~6a5c3c0c0804345466"],
        'd' => &[RING, "6g64"],
        'e' => &["0868", "~686c3c0c0804345466"],
        'f' => &["~5g2g2c24", "0c5c"],
        'g' => &[RING, "~6c6260301001"],
        'h' => &["0g04", "~090c3c6c6864"],
        'i' => &["1c14", "1g1g"],
        'j' => &["~3c31301000", "3g3g"],
        'k' => &["0g04", "5c07", "2964"],
        'l' => &["1g14"],
        'm' => &["0c04", "~090c2c4c4944", "~494c6c8c8984"],
        'n' => &["0c04", "~090c3c6c6864"],
        'o' => &[RING],
        'p' => &[RING, "0c00"],
        'q' => &[RING, "6c60"],
        'r' => &["0c04", "~080c3c4c"],
        's' => &["~6b5c3c0c0a0838686664341405"],
        't' => &["~2f27244454", "0c5c"],
        'u' => &["~0c08043464686c", "6c64"],
        'v' => &["0c346c"],
        'w' => &["0c244a648c"],
        'x' => &["0c64", "046c"],
        'y' => &["0c34", "6c10"],
        'z' => &["0c6c0464"],
        '0' => &["~3g0g0a0434646a6g3g"],
        '1' => &["0d3g34"],
        '2' => &["~0d0g3g6g6c6904", "0464"],
        '3' => &["~0e1g3g6g6d6a2a", "~2a6a6764340406"],
        '4' => &["545g0878"],
        '5' => &["6g1g0b", "~0b1c3c6c6864341406"],
        '6' => &["~5g2f0b07043464686b3b0b07"],
        '7' => &["0g6g24"],
        '8' => &["~3g0g0d0a3a6a6d6g3g", "~3a0a07043464676a3a"],
        '9' => &["~1445696d6g3g0g0c0939696d"],
        _ => sign(character),
    }
}

fn sign(character: char) -> &'static [&'static str] {
    match character {
        '.' => &["1414"],
        ',' => &["1502"],
        ':' => &["1414", "1b1b"],
        ';' => &["1502", "1b1b"],
        '!' => &["1g18", "1414"],
        '?' => &["~0d0g3g6g6d6a3a38", "3434"],
        '\'' => &["1g1d"],
        '"' => &["0g0d", "3g3d"],
        '-' => &["0959"],
        '+' => &["0969", "363c"],
        '=' => &["0b6b", "0767"],
        '<' => &["6c0864"],
        '>' => &["0c6804"],
        '/' => &["036g"],
        '\\' => &["0g63"],
        '|' => &["1h12"],
        '_' => &["0363"],
        '(' => &["~3h0e0a0632"],
        ')' => &["~0h3e3a3602"],
        '[' => &["3g0g0232"],
        ']' => &["0g3g3202"],
        '%' => &["047g", "~1g0g0c3c3g1g", "~4848447478 48"],
        '*' => &["3f37", "0d69", "096d"],
        '#' => &["2g14", "6g54", "0c7c", "0868"],
        '\u{b0}' => &["~2g0g0c4c4g2g"],
        '\u{b2}' => &["~0f0g2g4g4e0a", "0a4a"],
        '\u{b5}' => &["~0c08043464686c", "6c64", "0c00"],
        '\u{d7}' => &["0b66", "066b"],
        '\u{b7}' => &["1919"],
        _ => &["040g6g6404"],
    }
}

/// Points of a stroke on the grid.
fn points(stroke: &str) -> Vec<[f64; 2]> {
    let digits: Vec<f64> = stroke.chars().filter_map(|digit| digit.to_digit(36)).map(f64::from).collect();
    let mut points: Vec<[f64; 2]> = digits.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    if stroke.starts_with('~') {
        for _ in 0..3 {
            points = rounded(&points);
        }
    }
    points
}

/// Cuts every corner at a quarter of its edges (Chaikin); the limit is a quadratic spline.
fn rounded(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let between = |a: [f64; 2], b: [f64; 2], t: f64| [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let cut = points.windows(2).flat_map(|ends| [between(ends[0], ends[1], 0.25), between(ends[0], ends[1], 0.75)]);
    if first == last {
        let mut cut: Vec<_> = cut.collect();
        cut.extend(cut.first().copied());
        return cut;
    }
    let inner: Vec<_> = cut.collect();
    let inner = inner[1..inner.len() - 1].iter().copied();
    std::iter::once(*first).chain(inner).chain(std::iter::once(*last)).collect()
}

/// Grid units from a glyph's left edge to the next.
fn advance(character: char) -> f64 {
    let xs = glyph(character).iter().flat_map(|stroke| points(stroke)).map(|point| point[0]);
    let right = xs.fold(f64::NEG_INFINITY, f64::max);
    if right.is_finite() { right + GAP } else { BLANK + GAP }
}

/// Width of `text` with capitals `size` pixels high \[px\].
pub(super) fn width(text: &str, size: f64) -> f64 {
    (text.chars().map(advance).sum::<f64>() - GAP).max(0.0) * size / CAPITAL
}

/// The strokes of each glyph in pixels, with the base line's left end at `at`.
pub(super) fn strokes(text: &str, at: [f64; 2], size: f64) -> Vec<Vec<Vec<[f64; 2]>>> {
    let unit = size / CAPITAL;
    let mut x = at[0];
    let mut glyphs = Vec::new();
    for character in text.chars() {
        let place = |[gx, gy]: [f64; 2]| [x + gx * unit, at[1] - (gy - BASE) * unit];
        glyphs.push(glyph(character).iter().map(|stroke| points(stroke).into_iter().map(place).collect()).collect());
        x += advance(character) * unit;
    }
    glyphs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every printable ASCII character that labels use has strokes of whole points, inside the line.
    #[test]
    fn glyphs_are_well_formed() {
        for character in (' '..='~').chain(['\u{b0}', '\u{b2}', '\u{b5}', '\u{d7}']) {
            for stroke in glyph(character) {
                let digits = stroke.chars().filter(|c| c.is_ascii_alphanumeric()).count();
                assert!(digits >= 4 && digits % 2 == 0, "{character}: {stroke}");
                for [x, y] in points(stroke) {
                    assert!((0.0..=8.0).contains(&x) && (0.0..=17.0).contains(&y), "{character}: {stroke}");
                }
            }
        }
    }

    /// Twice the size is twice the width, and a text is as wide as its parts and the gap between them.
    #[test]
    fn widths_add_up() {
        assert!((width("Pressure", 20.0) - 2.0 * width("Pressure", 10.0)).abs() < 1e-9);
        let parts = width("ab", 12.0) + width("cd", 12.0) + GAP;
        assert!((width("abcd", 12.0) - parts).abs() < 1e-9);
    }
}
