//! Line search: the slope of a convex function along a direction increases, and its zero is the minimum.

/// The largest number of trial points of one line search; bisection alone would reach 2^-40 of the interval.
const TRIALS_MAX: u32 = 40;
/// Trial points of regula falsi keep this distance from the ends of the bracket, as a fraction of it, so that
/// a kink cannot pin one end.
const BRACKET_MARGIN: f64 = 0.05;

/// Returns a point where the increasing function `slope` is within `small` of 0, or the last trial point if
/// none is. `slope_0` and `slope_1` are its values at the ends of the interval from 0 to 1, and have
/// different signs. The last evaluation of `slope` is at the returned point.
pub(super) fn find_zero(slope_0: f64, slope_1: f64, small: f64, mut slope: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut slope_low) = (0.0, slope_0);
    let (mut high, mut slope_high) = (1.0, slope_1);
    let mut alpha = 1.0;
    for _ in 0..TRIALS_MAX {
        let part = (-slope_low / (slope_high - slope_low)).clamp(BRACKET_MARGIN, 1.0 - BRACKET_MARGIN);
        alpha = low + (high - low) * part;
        let slope = slope(alpha);
        if slope.abs() <= small {
            break;
        }
        if slope > 0.0 {
            (high, slope_high) = (alpha, slope);
        } else {
            (low, slope_low) = (alpha, slope);
        }
    }
    alpha
}
