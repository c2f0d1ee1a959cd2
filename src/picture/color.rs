//! Colours, and the scale that turns pressures into colours.

/// Red, green and blue in 0..1.
pub type Color = [f32; 3];

/// Background of every picture.
pub const PAPER: Color = [0.985, 0.987, 0.992];
/// Text and lines.
pub const INK: Color = [0.13, 0.15, 0.19];
/// Text and lines of lower contrast.
pub const FAINT_INK: Color = [0.42, 0.45, 0.50];

/// From the lowest to the highest value: dark blue, blue, green, yellow, red; the colours of the node's
/// contact markers.
const STOPS: [Color; 5] =
    [[0.10, 0.10, 0.45], [0.10, 0.45, 0.85], [0.25, 0.75, 0.35], [0.98, 0.85, 0.20], [0.85, 0.15, 0.10]];

/// `a` moved towards `b` by `share` of the way.
pub fn mix(a: Color, b: Color, share: f32) -> Color {
    std::array::from_fn(|channel| a[channel] + share * (b[channel] - a[channel]))
}

/// `color` with every channel times `factor`, at most 1.
pub(super) fn scaled(color: Color, factor: f32) -> Color {
    color.map(|channel| (channel * factor).clamp(0.0, 1.0))
}

/// A range of values and the colours between its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorScale {
    /// The value of the first colour.
    pub low: f64,
    /// The value of the last colour.
    pub high: f64,
}

impl ColorScale {
    /// From 0 to the first round number (see `round_up`) that is not below the largest of `values`; 0 to 1 if
    /// none is above 0.
    pub fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let largest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        Self { low: 0.0, high: if largest > 0.0 { round_up(largest) } else { 1.0 } }
    }

    /// The colour of `value`. Values beyond an end have the colour of that end, and NaN has that of `low`.
    pub fn color(&self, value: f64) -> Color {
        let fraction = (value - self.low) / (self.high - self.low);
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        let position = fraction as f32 * (STOPS.len() - 1) as f32;
        let below = (position as usize).min(STOPS.len() - 2);
        mix(STOPS[below], STOPS[below + 1], position - below as f32)
    }

    /// `count` values that divide the range into equal steps, without both ends: the levels of contour lines.
    pub fn levels(&self, count: usize) -> Vec<f64> {
        (1..=count).map(|k| self.low + (self.high - self.low) * k as f64 / (count + 1) as f64).collect()
    }
}

/// The first of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is not below `value` > 0.
fn round_up(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let found = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0].into_iter().find(|step| step * power >= value);
    found.unwrap_or(10.0) * power
}

/// The largest of 1, 2, 5 times a power of ten that is not above `value` > 0.
pub(super) fn round_down(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let found = [5.0, 2.0, 1.0].into_iter().find(|step| step * power <= value);
    found.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_an_end_have_the_colour_of_that_end() {
        let scale = ColorScale { low: 0.0, high: 2.0 };
        let [first, .., last] = STOPS;
        for (value, color) in
            [(-1.0, first), (f64::NEG_INFINITY, first), (f64::NAN, first), (3.0, last), (f64::INFINITY, last)]
        {
            let off = scale.color(value).iter().zip(color).map(|(is, should)| (is - should).abs()).fold(0.0, f32::max);
            // A channel is mixed with a rounding of at most one unit in the last place.
            assert!(off <= f32::EPSILON, "{value}");
        }
    }
}
