//! The lengths of the parts of a step whose error is controlled, in the dynamic and the continuous mode.

/// Velocities count as the displacement in this time \[s\]. An error of the velocity lasts, while that of a
/// position in one part does not grow.
pub(super) const VELOCITY_TIME: f64 = 0.1;

/// How the length of a part follows from the error of the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartControl {
    /// The part of the predicted length that is tried [-].
    pub(super) margin: f64,
    /// The smallest and the largest ratio of a length to the one before [-].
    pub(super) growth: (f64, f64),
    /// The error of a part is proportional to its length to this power.
    pub(super) order: f64,
}

impl PartControl {
    /// The ratio of the next length to that of a part with `error` [-].
    pub(super) fn growth(&self, tolerance: f64, error: f64) -> f64 {
        (self.margin * (tolerance / error).powf(1.0 / self.order)).clamp(self.growth.0, self.growth.1)
    }
}

/// The share of the time that is left which the next part takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    All,
    Half,
    /// The wanted length, and more remains than that.
    Wanted,
}

impl Share {
    /// For a part that is to be `wanted` times as long as the time that is left: no part remains that is much
    /// shorter than its neighbours.
    pub(super) fn of(wanted: f64) -> Self {
        match wanted {
            _ if wanted >= 1.0 => Self::All,
            _ if 2.0 * wanted > 1.0 => Self::Half,
            _ => Self::Wanted,
        }
    }
}

/// The length to be tried after an accepted part of the length `length` that was to be `wanted`, if its error
/// allows `allowed`. A part that ends early for another reason than its error does not shorten the next one.
pub(super) fn next_length<T: PartialOrd + Copy>(wanted: T, length: T, allowed: T) -> T {
    if length < wanted && allowed < wanted { wanted } else { allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of 16 times the tolerance, of fourth order, halves the length, but for the margin; the limits
    /// hold for errors of 0 and of infinity.
    #[test]
    fn lengths_follow_the_power_law_within_limits() {
        let control = PartControl { margin: 0.9, growth: (0.1, 4.0), order: 4.0 };
        assert!((control.growth(1e-6, 1.6e-5) - 0.45).abs() < 1e-12);
        assert_eq!((control.growth(1e-6, 0.0), control.growth(1e-6, f64::INFINITY)), (4.0, 0.1));
    }

    /// With 1.5 wanted lengths left, two equal parts follow; a part cut short leaves the wanted length.
    #[test]
    fn the_last_parts_are_not_much_shorter_than_the_others() {
        assert_eq!([1.0, 0.6, 0.5].map(Share::of), [Share::All, Share::Half, Share::Wanted]);
        assert_eq!((next_length(10, 5, 8), next_length(10, 5, 20), next_length(10, 10, 8)), (10, 20, 8));
    }
}
