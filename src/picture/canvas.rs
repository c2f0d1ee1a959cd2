//! The rasterizer: triangles and lines in space, with a depth buffer, on a grid finer than the picture.
//!
//! Opaque objects are drawn to one layer. Of transparent objects each sample keeps only the one nearest to
//! the eye, which is blended over the opaque layer where it is nearer. No sorting is needed, and the order of
//! drawing matters for ties only.

use super::camera::{Camera, ScreenPoint};
use super::clip::{Corner, clip};
use super::color::{Color, ColorScale, mix};
use super::light::{self, Gloss};
use super::solid::Solid;
use super::{Image, PictureError};
use crate::math::{RigidTransform, Vector3};

/// Samples along each side of a pixel: an edge has up to ten shades, which looks smooth on a screen.
pub(super) const SAMPLES: usize = 3;
/// The largest side; a square picture of this size takes 6.6 GB of buffers. \[px\]
const SIDE_MAX: usize = 4096;
/// The smallest side. \[px\]
const SIDE_MIN: usize = 16;
/// Screen positions are rounded to this part of a sample, so that triangles that share an edge share its
/// samples too. \[1/sample\]
const SUBSAMPLES: f64 = 256.0;
/// Positions are clamped to this \[samples\]: far outside every picture, and products of two are exact in 64
/// bits. Clamping bends a triangle, so triangles that extend so far are cut before (`clip`).
const POSITION_MAX: f64 = 1e6;

/// A line that rises by less than this \[samples\] lies within one row.
const LEVEL: f64 = 1e-3;
/// Opacity that a transparent object gains where it is seen along its surface, so that its outline stays
/// visible.
const RIM: f32 = 0.7;

/// The appearance of a solid.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// Its colours.
    pub coat: Coat<'a>,
    /// 1 is opaque, less is transparent.
    pub alpha: f32,
    /// Its shading.
    pub gloss: Gloss,
}

/// The colours of a solid.
#[derive(Clone, Copy, Debug)]
pub enum Coat<'a> {
    /// One colour.
    Plain(Color),
    /// A value at each vertex, interpolated and then coloured.
    Values(&'a [f64], ColorScale),
    /// A colour at each vertex, interpolated.
    Colors(&'a [Color]),
}

impl Paint<'_> {
    /// An opaque or transparent colour with a satin gloss.
    pub fn plain(color: Color, alpha: f32) -> Self {
        Paint { coat: Coat::Plain(color), alpha, gloss: Gloss::Satin }
    }
}

/// The nearest transparent surface at a sample.
#[derive(Clone, Copy)]
struct Veil {
    depth: f64,
    color: Color,
    alpha: f32,
}

/// A picture while it is drawn.
#[derive(Clone)]
pub struct Canvas {
    width: usize,
    height: usize,
    camera: Camera,
    color: Vec<Color>,
    depth: Vec<f64>,
    veil: Vec<Veil>,
}

impl Canvas {
    /// An empty canvas of `width` x `height` pixels, seen by `camera`.
    ///
    /// # Errors
    /// A size that is empty or too large.
    pub fn new(width: usize, height: usize, camera: Camera, background: Color) -> Result<Self, PictureError> {
        check_size(width, height)?;
        let count = width * height * SAMPLES * SAMPLES;
        Ok(Self {
            width: width * SAMPLES,
            height: height * SAMPLES,
            camera,
            color: vec![background; count],
            depth: vec![f64::INFINITY; count],
            veil: vec![Veil { depth: f64::INFINITY, color: background, alpha: 0.0 }; count],
        })
    }

    /// The camera.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }
    /// Samples in a row and rows of samples.
    pub(super) fn samples(&self) -> (usize, usize) {
        (self.width, self.height)
    }
    /// Colour and depth of all samples, row by row.
    pub(super) fn layers(&mut self) -> (&mut [Color], &mut [f64]) {
        (&mut self.color, &mut self.depth)
    }

    /// The position of `p_W` in the finished picture \[px\]; `None` if it is behind the near plane.
    pub fn locate(&self, p_W: &Vector3) -> Option<[f64; 2]> {
        let view = self.camera.view(p_W);
        if view.z < self.camera.near() || !view.iter().all(|x| x.is_finite()) {
            return None;
        }
        let point = self.camera.project(&view, self.width as f64, self.height as f64);
        Some([point.x / SAMPLES as f64, point.y / SAMPLES as f64])
    }

    /// Draws `solid` at the pose `X_WS`. Triangles with a position that is not finite are left out.
    ///
    /// # Errors
    /// Different numbers of values and vertices.
    pub fn solid(&mut self, solid: &Solid, X_WS: &RigidTransform, paint: &Paint<'_>) -> Result<(), PictureError> {
        self.solid_lifted(solid, X_WS, paint, 0.0)
    }

    /// Like [`Canvas::solid`], in front of surfaces within `lift` of it (a share of the depth), for solids
    /// that lie in the surface of another one.
    pub(super) fn solid_lifted(
        &mut self,
        solid: &Solid,
        X_WS: &RigidTransform,
        paint: &Paint<'_>,
        lift: f64,
    ) -> Result<(), PictureError> {
        let vertices = solid.vertices.len();
        let values = match paint.coat {
            Coat::Plain(_) => vertices,
            Coat::Values(values, _) => values.len(),
            Coat::Colors(colors) => colors.len(),
        };
        if values != vertices {
            return Err(PictureError::ValueCount { values, vertices });
        }
        let corner = |vertex: u32| {
            let vertex = vertex as usize;
            let value = match paint.coat {
                Coat::Plain(_) => Vector3::zeros(),
                Coat::Values(values, _) => Vector3::new(values[vertex], 0.0, 0.0),
                Coat::Colors(colors) => Vector3::from(colors[vertex].map(f64::from)),
            };
            let p_W = X_WS.rotation * solid.vertices[vertex] + X_WS.translation.vector;
            let view = self.camera.nearer(&self.camera.view(&p_W), lift);
            Corner { view, normal: X_WS.rotation * solid.normals[vertex], value }
        };
        let corners: Vec<[Corner; 3]> = solid.triangles.iter().map(|triangle| triangle.map(corner)).collect();
        for triangle in &corners {
            self.triangle(triangle, paint);
        }
        Ok(())
    }

    fn triangle(&mut self, corners: &[Corner; 3], paint: &Paint<'_>) {
        if !corners.iter().all(|corner| corner.view.iter().all(|x| x.is_finite())) {
            return;
        }
        let kept = clip(corners, &self.camera, self.width as f64 / self.height as f64);
        for i in 2..kept.len() {
            self.front_triangle(&[kept[0], kept[i - 1], kept[i]], paint);
        }
    }

    /// Draws a triangle that lies in front of the near plane and within the window.
    fn front_triangle(&mut self, corners: &[Corner; 3], paint: &Paint<'_>) {
        let (width, height) = (self.width as f64, self.height as f64);
        let points = corners.map(|corner| self.camera.project(&corner.view, width, height));
        let camera = self.camera;
        let shade = |b: [f64; 3]| -> (Color, f32) {
            let weights = [0, 1, 2].map(|i| b[i] * points[i].weight);
            let total: f64 = weights.iter().sum();
            let share = weights.map(|weight| weight / total);
            let normal = corners[0].normal * share[0] + corners[1].normal * share[1] + corners[2].normal * share[2];
            let view = corners[0].view * share[0] + corners[1].view * share[1] + corners[2].view * share[2];
            let color = match paint.coat {
                Coat::Plain(color) => color,
                Coat::Values(_, scale) => scale.color((0..3).map(|i| share[i] * corners[i].value.x).sum()),
                Coat::Colors(_) => {
                    let color: Vector3 = (0..3).map(|i| corners[i].value * share[i]).sum();
                    [color.x as f32, color.y as f32, color.z as f32]
                }
            };
            (light::shade(color, &camera, &normal, &view, paint.gloss), light::rim(&camera, &normal, &view))
        };
        let (row, alpha) = (self.width, paint.alpha);
        let (colors, depths, veils) = (&mut self.color, &mut self.depth, &mut self.veil);
        cover(&points, self.width, self.height, |x, y, b| {
            let at = y * row + x;
            let depth = b[0] * points[0].depth + b[1] * points[1].depth + b[2] * points[2].depth;
            if alpha >= 1.0 {
                if depth < depths[at] {
                    (depths[at], colors[at]) = (depth, shade(b).0);
                }
            } else if depth < veils[at].depth && depth < depths[at] {
                let (color, rim) = shade(b);
                veils[at] = Veil { depth, color, alpha: alpha + (1.0 - alpha) * RIM * rim };
            }
        });
    }

    /// Draws a line `width` pixels wide from `a_W` to `b_W` \[m\], in front of surfaces within `lift` of it
    /// (a share of the depth) and hidden by nearer ones.
    pub fn line(&mut self, a_W: &Vector3, b_W: &Vector3, width: f64, color: Color, lift: f64) {
        let (mut a, mut b) = (self.camera.view(a_W), self.camera.view(b_W));
        let near = self.camera.near();
        if !a.iter().chain(b.iter()).all(|x| x.is_finite()) || (a.z < near && b.z < near) {
            return;
        }
        if a.z < near {
            a += (b - a) * ((near - a.z) / (b.z - a.z));
        } else if b.z < near {
            b += (a - b) * ((near - b.z) / (a.z - b.z));
        }
        let size = (self.width as f64, self.height as f64);
        let place = |view: &Vector3| self.camera.project(&self.camera.nearer(view, lift), size.0, size.1);
        let (a, b) = (place(&a), place(&b));
        let radius = 0.5 * width * SAMPLES as f64;
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length2 = dx * dx + dy * dy;
        let range = |low: f64, high: f64, count: usize| {
            ((low - radius).floor().max(0.0) as usize).min(count)..((high + radius).ceil().max(0.0) as usize).min(count)
        };
        for y in range(a.y.min(b.y), a.y.max(b.y), self.height) {
            let py = y as f64 + 0.5;
            // The part of the row within the strip about the line: |(x - ax) dy - (py - ay) dx| <= radius |d|
            let (mut low, mut high) = (a.x.min(b.x), a.x.max(b.x));
            if dy.abs() > LEVEL {
                let middle = a.x + (py - a.y) * dx / dy;
                let reach = radius * length2.sqrt() / dy.abs();
                low = low.max(middle - reach);
                high = high.min(middle + reach);
            }
            for x in range(low, high, self.width) {
                let p = (x as f64 + 0.5 - a.x, py - a.y);
                let t = if length2 > 0.0 { ((p.0 * dx + p.1 * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
                if (p.0 - t * dx).hypot(p.1 - t * dy) > radius {
                    continue;
                }
                let (at, depth) = (y * self.width + x, a.depth + t * (b.depth - a.depth));
                if depth < self.depth[at] {
                    (self.depth[at], self.color[at]) = (depth, color);
                }
            }
        }
    }

    /// Blends the transparent layer over the opaque one and clears all depths: later objects are drawn on
    /// top.
    pub fn flatten(&mut self) {
        for ((color, depth), veil) in self.color.iter_mut().zip(&mut self.depth).zip(&mut self.veil) {
            if veil.depth < *depth {
                *color = mix(*color, veil.color, veil.alpha);
            }
            (*depth, veil.depth) = (f64::INFINITY, f64::INFINITY);
        }
    }

    /// The picture: the transparent layer blended over the opaque one, then the mean of the samples of each
    /// pixel.
    pub fn finish(&self) -> Image {
        let (width, height) = (self.width / SAMPLES, self.height / SAMPLES);
        let mut image = Image::new(width, height, [0.0; 3]);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0.0_f32; 3];
                for sample in 0..SAMPLES * SAMPLES {
                    let at = (y * SAMPLES + sample / SAMPLES) * self.width + x * SAMPLES + sample % SAMPLES;
                    let veil = &self.veil[at];
                    let seen = if veil.depth < self.depth[at] { veil.alpha } else { 0.0 };
                    let color = mix(self.color[at], veil.color, seen);
                    sum.iter_mut().zip(color).for_each(|(sum, channel)| *sum += channel);
                }
                image.set(x, y, sum.map(|channel| channel / (SAMPLES * SAMPLES) as f32));
            }
        }
        image
    }
}

/// Refuses sizes out of range.
pub(super) fn check_size(width: usize, height: usize) -> Result<(), PictureError> {
    let good = |side: usize| (SIDE_MIN..=SIDE_MAX).contains(&side);
    if good(width) && good(height) {
        Ok(())
    } else {
        Err(PictureError::Size { width, height, min: SIDE_MIN, max: SIDE_MAX })
    }
}

/// Calls `paint` with column, row and barycentric coordinates of every sample whose centre is in the
/// triangle. A centre on an edge belongs to one of the triangles that share it (top-left rule), for either
/// orientation.
pub(super) fn cover(
    points: &[ScreenPoint; 3],
    width: usize,
    height: usize,
    mut paint: impl FnMut(usize, usize, [f64; 3]),
) {
    let fixed = |v: f64| (v.clamp(-POSITION_MAX, POSITION_MAX) * SUBSAMPLES).round() as i64;
    let mut order = [0, 1, 2];
    let place = points.map(|point| (fixed(point.x), fixed(point.y)));
    let edge = |a: (i64, i64), b: (i64, i64), p: (i64, i64)| (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0);
    let mut area = edge(place[0], place[1], place[2]);
    if area == 0 {
        return;
    }
    if area < 0 {
        order.swap(1, 2);
        area = -area;
    }
    let [a, b, c] = order.map(|i| place[i]);
    // y grows downwards: with a positive area the inside is to the right of each edge on the screen
    let top_left = |from: (i64, i64), to: (i64, i64)| to.1 < from.1 || (to.1 == from.1 && to.0 > from.0);
    let corners = [(b, c), (c, a), (a, b)];
    let bias = corners.map(|(from, to)| if top_left(from, to) { 0 } else { -1 });
    let one = SUBSAMPLES as i64;
    let span = |values: [i64; 3], count: usize| {
        let (low, high) = (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
        (low.div_euclid(one).clamp(0, count as i64) as usize)
            ..((high.div_euclid(one) + 1).clamp(0, count as i64) as usize)
    };
    let rows = span([a.1, b.1, c.1], height);
    let columns = span([a.0, b.0, c.0], width);
    // The edge functions are linear along a row, so the inside of each is an interval of it.
    let slopes = corners.map(|(from, to)| (from.1 - to.1) * one);
    for y in rows {
        let left = (one / 2, y as i64 * one + one / 2);
        let starts = corners.map(|(from, to)| edge(from, to, left));
        let (mut first, mut end) = (columns.start as i64, columns.end as i64);
        for i in 0..3 {
            let value = starts[i] + bias[i];
            match slopes[i].signum() {
                1 => first = first.max(-value.div_euclid(slopes[i])),
                -1 => end = end.min(value.div_euclid(-slopes[i]) + 1),
                _ if value < 0 => end = first,
                _ => {}
            }
        }
        for x in first..end {
            let mut shares = [0.0; 3];
            (0..3).for_each(|i| shares[order[i]] = (starts[i] + x * slopes[i]) as f64 / area as f64);
            paint(x as usize, y, shares);
        }
    }
}
