//! The legend of a picture: title, colour bar, scale bar, axes.

use super::camera::Camera;
use super::color::{Color, ColorScale, FAINT_INK, INK, PAPER, round_down};
use super::image::{Align, Image};
use crate::math::Vector3;

/// The colours of the axes x, y, z.
const AXES: [(Color, &str); 3] = [([0.80, 0.18, 0.16], "x"), ([0.16, 0.58, 0.24], "y"), ([0.16, 0.36, 0.80], "z")];

/// Height of capitals on a picture `height` pixels high \[px\].
pub(super) fn text_size(height: usize) -> f64 {
    (height as f64 / 68.0).clamp(8.0, 26.0)
}

/// Writes the title and a second, lighter line at the upper left.
pub(super) fn title(image: &mut Image, title: &str, subtitle: &str) {
    let size = text_size(image.height());
    outlined(image, title, [1.8 * size, 3.0 * size], 1.3 * size, (Align::Left, INK));
    outlined(image, subtitle, [1.8 * size, 5.1 * size], size, (Align::Left, FAINT_INK));
}

/// Text with a bright outline, readable on any background.
pub(super) fn outlined(image: &mut Image, text: &str, at: [f64; 2], size: f64, (align, color): (Align, Color)) {
    for k in 0..12 {
        let (sine, cosine) = (std::f64::consts::TAU * f64::from(k) / 12.0).sin_cos();
        image.text(text, [at[0] + 2.2 * cosine, at[1] + 2.2 * sine], size, align, PAPER);
    }
    image.text(text, at, size, align, color);
}

/// A unit of pressure and its factor that suit numbers up to `largest` \[Pa\].
fn pascals(largest: f64) -> (&'static str, f64) {
    if largest >= 1e6 {
        ("MPa", 1e6)
    } else if largest >= 1e3 {
        ("kPa", 1e3)
    } else {
        ("Pa", 1.0)
    }
}

/// A number with the digits that the steps of the scale need.
fn tick(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// Draws a vertical bar with the colours of `scale` \[Pa\], lines at `levels` \[Pa\] and ticks at round
/// values. Its upper left corner is at (x, y) \[px\].
pub(super) fn pressure_bar(image: &mut Image, scale: &ColorScale, levels: &[f64], [x, y]: [f64; 2], length: f64) {
    let size = text_size(image.height());
    let (unit, factor) = pascals(scale.high);
    let thick = (1.5 * size).round();
    // Whole pixels: half covered rows would be pale.
    let (x, y, length) = (x.round(), y.round(), length.round());
    let rows = length.max(1.0) as usize;
    for row in 0..rows {
        let value = scale.high + (scale.low - scale.high) * (row as f64 + 0.5) / rows as f64;
        image.fill([x, y + row as f64], [x + thick, y + row as f64 + 1.0], scale.color(value), 1.0);
    }
    let at = |value: f64| y + length * (scale.high - value) / (scale.high - scale.low);
    for level in levels {
        image.stroke(&[vec![[x, at(*level)], [x + thick, at(*level)]]], 1.4, [1.0; 3]);
    }
    let frame = vec![[x, y], [x + thick, y], [x + thick, y + length], [x, y + length], [x, y]];
    image.stroke(&[frame], 1.0, FAINT_INK);
    let step = round_down(0.26 * (scale.high - scale.low) / factor);
    let mut value = scale.low / factor;
    while value <= scale.high / factor + 1e-9 * step {
        let row = at(value * factor);
        image.stroke(&[vec![[x + thick, row], [x + thick + 0.4 * size, row]]], 1.2, INK);
        image.text(&tick(value, step), [x + thick + 0.8 * size, row + 0.5 * size], size, Align::Left, INK);
        value += step;
    }
    image.text(&format!("pressure [{unit}]"), [x + 0.5 * thick, y - 1.3 * size], size, Align::Center, INK);
}

/// A length in millimetres, centimetres or metres.
fn length_text(metres: f64) -> String {
    let (unit, value) = match metres {
        m if m >= 0.995 => ("m", m),
        m if m >= 0.00995 => ("cm", 100.0 * m),
        m => ("mm", 1000.0 * m),
    };
    format!("{} {unit}", (value * 1000.0).round() / 1000.0)
}

/// Draws a bar of a round length, for pixels that are `pixel` \[m\] wide; its right end is at (x, y) \[px\].
pub(super) fn scale_bar(image: &mut Image, pixel: f64, [x, y]: [f64; 2], longest: f64) {
    if !(pixel > 0.0 && pixel.is_finite()) {
        return;
    }
    let size = text_size(image.height());
    let metres = round_down(pixel * longest);
    let (left, cap) = (x - metres / pixel, 0.45 * size);
    image.stroke(
        &[vec![[left, y - cap], [left, y + cap]], vec![[left, y], [x, y]], vec![[x, y - cap], [x, y + cap]]],
        1.6,
        INK,
    );
    image.text(&length_text(metres), [0.5 * (left + x), y - 0.8 * size], size, Align::Center, INK);
}

/// Draws the directions of the world's axes, about the point (x, y) \[px\], `length` pixels long; the axis
/// nearest to the eye is drawn last.
pub(super) fn triad(image: &mut Image, camera: &Camera, [x, y]: [f64; 2], length: f64) {
    let size = text_size(image.height());
    let mut axes: Vec<(Vector3, Color, &str)> = [Vector3::x(), Vector3::y(), Vector3::z()]
        .iter()
        .zip(AXES)
        .map(|(axis, (color, name))| (camera.view_direction(axis), color, name))
        .collect();
    axes.sort_by(|a, b| b.0.z.total_cmp(&a.0.z));
    for (v, color, name) in axes {
        let tip = [x + length * v.x, y - length * v.y];
        image.stroke(&[vec![[x, y], tip]], 0.22 * size, color);
        let out = 1.0 + 0.9 * size / length;
        let label = [x + length * out * v.x, y - length * out * v.y + 0.38 * size];
        if v.xy().norm() > 0.15 {
            image.text(name, label, size, Align::Center, color);
        }
    }
}
