//! A picture: pixels, and two-dimensional drawing on them.

use super::color::Color;
use super::text;

/// The alignment of a text with its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The text begins at the anchor.
    Left,
    /// The text's middle is at the anchor.
    Center,
    /// The text ends at the anchor.
    Right,
}

/// An RGB picture, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn new(width: usize, height: usize, color: Color) -> Self {
        let pixel = color.map(to_byte);
        Self { width, height, bytes: pixel.repeat(width * height) }
    }
    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }
    /// Red, green and blue of all pixels, row by row from the top.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// The pixel in column x and row y; black outside.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        if x >= self.width || y >= self.height {
            return [0; 3];
        }
        let at = 3 * (y * self.width + x);
        [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]
    }
    /// Sets a pixel; positions outside the image are ignored.
    pub fn set(&mut self, x: usize, y: usize, color: Color) {
        if x < self.width && y < self.height {
            let at = 3 * (y * self.width + x);
            self.bytes[at..at + 3].copy_from_slice(&color.map(to_byte));
        }
    }

    fn blend(&mut self, x: usize, y: usize, color: Color, cover: f64) {
        let at = 3 * (y * self.width + x);
        for (byte, channel) in self.bytes[at..at + 3].iter_mut().zip(color) {
            let old = f32::from(*byte) / 255.0;
            *byte = to_byte(old + cover as f32 * (channel - old));
        }
    }

    /// Copies `other` with its upper left corner at (x, y).
    pub fn paste(&mut self, other: &Image, x: usize, y: usize) {
        let columns = other.width.min(self.width.saturating_sub(x));
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let (from, to) = (3 * row * other.width, 3 * ((y + row) * self.width + x));
            self.bytes[to..to + 3 * columns].copy_from_slice(&other.bytes[from..from + 3 * columns]);
        }
    }

    /// Fills the rectangle from (x0, y0) to (x1, y1) \[px\], with smooth edges and the opacity `alpha`.
    pub fn fill(&mut self, [x0, y0]: [f64; 2], [x1, y1]: [f64; 2], color: Color, alpha: f64) {
        let share =
            |low: f64, high: f64, cell: usize| (high.min(cell as f64 + 1.0) - low.max(cell as f64)).clamp(0.0, 1.0);
        for y in cells(y0, y1, self.height) {
            for x in cells(x0, x1, self.width) {
                self.blend(x, y, color, alpha * share(x0, x1, x) * share(y0, y1, y));
            }
        }
    }

    /// Draws chains of lines `width` pixels wide with round ends; at crossings the colour is applied once.
    pub fn stroke(&mut self, chains: &[Vec<[f64; 2]>], width: f64, color: Color) {
        let radius = 0.5 * width;
        let points = || chains.iter().flatten();
        if !points().all(|[x, y]| x.is_finite() && y.is_finite()) {
            return;
        }
        let (x0, x1) = points().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p[0]), high.max(p[0])));
        let (y0, y1) = points().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p[1]), high.max(p[1])));
        let reach = radius + 1.0;
        for y in cells(y0 - reach, y1 + reach, self.height) {
            for x in cells(x0 - reach, x1 + reach, self.width) {
                let point = [x as f64 + 0.5, y as f64 + 0.5];
                let segments = chains.iter().flat_map(|chain| chain.windows(2));
                let distance = segments.map(|ends| segment_distance(point, ends[0], ends[1])).fold(f64::MAX, f64::min);
                let cover = (radius + 0.5 - distance).clamp(0.0, 1.0) * width.min(1.0);
                if cover > 0.0 {
                    self.blend(x, y, color, cover);
                }
            }
        }
    }

    /// Writes `text` with capitals `size` pixels high; the anchor `at` \[px\] is on the base line.
    pub fn text(&mut self, text: &str, at: [f64; 2], size: f64, align: Align, color: Color) {
        let width = text::width(text, size);
        let shift = match align {
            Align::Left => 0.0,
            Align::Center => 0.5 * width,
            Align::Right => width,
        };
        for glyph in text::strokes(text, [at[0] - shift, at[1]], size) {
            self.stroke(&glyph, (size * text::PEN).max(1.0), color);
        }
    }
}

/// The pixels that the range from `low` to `high` touches.
fn cells(low: f64, high: f64, count: usize) -> std::ops::Range<usize> {
    // A cast saturates, so that any number is safe.
    (low.floor().max(0.0) as usize).min(count)..(high.ceil().max(0.0) as usize).min(count)
}

pub(super) fn segment_distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length2 = dx * dx + dy * dy;
    let t = if length2 > 0.0 { (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
    (a[0] + t * dx - p[0]).hypot(a[1] + t * dy - p[1])
}

fn to_byte(channel: f32) -> u8 {
    (channel.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}
