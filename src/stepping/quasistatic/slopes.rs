//! Slopes of a function on the two sides of a point, from its changes at half the reach and at the reach.

/// The line through the changes of a number at half the reach and at the reach on the side of `sign`: its
/// slope, and its change at the point itself. Beyond the distance by which contact points yield under their
/// load, a step is this line.
pub(super) fn line((near, far): (f64, f64), sign: f64, reach: f64) -> (f64, f64) {
    let slope = sign * (far - near) / (0.5 * reach);
    (slope, far - sign * slope * reach)
}

/// The slopes of a side, and the changes of their lines at the point itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) slopes: &'a [f64],
    pub(super) offsets: &'a [f64],
}

/// The slopes that hold at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// The mean of both sides.
    Both,
    Forward,
    Backward,
}

/// Compares two sides of a point. Differences up to `most`, relative to 1 or the largest slope, count as
/// none.
pub(super) fn compare(forward: Side<'_>, backward: Side<'_>, reach: f64, most: f64) -> Holding {
    let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0_f64, |most, x| most.max(x.abs()));
    let most = most * largest(&mut forward.slopes.iter().copied()).max(1.0);
    let slopes = || forward.slopes.iter().zip(backward.slopes);
    let offsets = || forward.offsets.iter().zip(backward.offsets);
    // Curvature moves both lines to one side of the point, another slope within the reach moves them apart.
    if largest(&mut offsets().map(|(a, b)| 0.5 * (a - b) / reach)) > most {
        let of = |side: Side<'_>| largest(&mut side.offsets.iter().copied());
        return if of(backward) < of(forward) { Holding::Backward } else { Holding::Forward };
    }
    if largest(&mut slopes().map(|(a, b)| a - b)) <= most {
        return Holding::Both;
    }
    // A curve of second derivative c has the slopes s +- 3/4 c r and the offsets -1/4 c r^2: three offsets
    // take the slopes of its sides back to the point.
    let bend = offsets().map(|(a, b)| 3.0 * (a + b) / reach);
    if largest(&mut slopes().zip(bend).map(|((a, b), bend)| a - b + bend)) > most {
        Holding::Forward
    } else {
        Holding::Both
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const REACH: f64 = 1e-5;
    const MOST: f64 = 1e-5;

    /// The slope of f at 0 as the differences of steps find it, and which sides hold.
    fn slope(f: impl Fn(f64) -> f64) -> (f64, Holding) {
        let side = |sign: f64| line((f(0.5 * sign * REACH) - f(0.0), f(sign * REACH) - f(0.0)), sign, REACH);
        let (forward, backward) = (side(1.0), side(-1.0));
        let side = |(slope, offset): &(f64, f64)| (vec![*slope], vec![*offset]);
        let [(a, a_offset), (b, b_offset)] = [side(&forward), side(&backward)];
        let found =
            compare(Side { slopes: &a, offsets: &a_offset }, Side { slopes: &b, offsets: &b_offset }, REACH, MOST);
        let slope = match found {
            Holding::Both => 0.5 * (forward.0 + backward.0),
            Holding::Forward => forward.0,
            Holding::Backward => backward.0,
        };
        (slope, found)
    }

    /// A kink or a jump beyond the reach does not count, also where curvature makes the sides differ. The
    /// mean of the two sides of a parabola is its slope to rounding, 1e-16 over 1e-5.
    #[test]
    fn nothing_beyond_the_reach_changes_a_slope() {
        for x0 in [1.01e-5, 1.05e-5, 1.2e-5, 1.4e-5, 2e-5] {
            for side in [1.0, -1.0] {
                let bent = |x: f64| x + 0.5 * x * x - (side * x - x0).max(0.0);
                let jumps = |x: f64| x + 0.5 * x * x + if side * x > x0 { 1e-7 } else { 0.0 };
                for (slope, holding) in [slope(bent), slope(jumps)] {
                    assert!((slope - 1.0).abs() < 1e-10, "{x0}: {slope}");
                    assert_eq!(holding, Holding::Both, "{x0}");
                }
            }
        }
    }

    /// Where one side has another slope within the reach, the other side counts.
    #[test]
    fn a_kink_within_the_reach_leaves_the_other_side() {
        for x0 in [0.1, 0.3, 0.6, 0.75, 0.9] {
            for side in [1.0, -1.0] {
                let (slope, holding) = slope(|x| x + 0.18 * (side * x - x0 * REACH).max(0.0));
                assert!((slope - 1.0).abs() < 1e-10, "{x0}, {side}: {slope}");
                let other = if side > 0.0 { Holding::Backward } else { Holding::Forward };
                assert_eq!(holding, other, "{x0}, {side}");
            }
        }
    }

    /// A kink at the point itself has a slope on each side; with curvature c, that of a side is 3/4 c r off.
    #[test]
    fn a_kink_at_the_point_is_one_sided() {
        for c in [0.0, 1.0, 100.0] {
            let (slope, holding) = slope(|x| x + 0.5 * c * x * x + 0.3 * x.max(0.0));
            assert!((slope - 1.3).abs() < 0.75 * c * REACH + 1e-10, "{c}: {slope}");
            assert_eq!(holding, Holding::Forward, "{c}");
        }
    }

    /// Curvature alone is no kink. A third derivative d leaves 7/24 d r^2 in the mean.
    #[test]
    fn a_curve_is_smooth() {
        for c in [1.0, 30.0, 1000.0] {
            let (slope, holding) = slope(|x| x + 0.5 * c * x * x + c * x * x * x);
            assert!((slope - 1.0).abs() < 6.0 * c * 7.0 / 24.0 * REACH * REACH + 1e-10, "{c}: {slope}");
            assert_eq!(holding, Holding::Both, "{c}");
        }
    }
}
