//! A contact surface in its plane: faces, pressure, lines of equal pressure.

use super::camera::{Camera, Projection};
use super::canvas::{Canvas, check_size};
use super::color::{ColorScale, INK, PAPER};
use super::image::{Align, Image};
use super::patches::{FaceStyle, Faces};
use super::{PictureError, frame, legend};
use crate::geometry::ContactSurface;
use crate::math::{Matrix3, Vector3};

/// The number of contour lines between zero and the largest pressure.
const CONTOURS: usize = 7;
/// Extent of the picture, as a multiple of the extent of the surface. [-]
const ROOM: f64 = 1.08;

/// Lines are drawn in front of faces that are nearer by less than this, as a share of the picture's height; a
/// surface is nearly flat. \[-\]
const LIFT: f64 = 0.02;

/// One contact surface of a picture and its title.
#[derive(Clone, Copy, Debug)]
pub struct ContactPanel<'a> {
    /// The surface.
    pub surface: &'a ContactSurface,
    /// A few words; the count of faces is added.
    pub title: &'a str,
}

/// Draws contact surfaces beside each other (or one above the other, if they are long), all seen along the
/// mean normal of the first and on one scale: polygons coloured by pressure, their edges, and lines of equal
/// pressure. The picture is `width` x `height` pixels.
///
/// # Errors
/// A bad size, or a first surface without faces.
pub fn contact_surface(
    panels: &[ContactPanel<'_>],
    title: &str,
    subtitle: &str,
    (width, height): (usize, usize),
) -> Result<Image, PictureError> {
    check_size(width, height)?;
    let nothing = PictureError::Empty { what: "the contact surface has no faces; bring the bodies into contact first" };
    let Some(first) = panels.first().map(|panel| panel.surface).filter(|surface| !surface.is_empty()) else {
        return Err(nothing);
    };
    let size = legend::text_size(height);
    let (top, right) = ((7.0 * size) as usize, (11.0 * size) as usize);
    let free = (width.saturating_sub(right), height.saturating_sub(top));
    let caption = (2.6 * size) as usize;
    let plane = Plane::of(first).ok_or(nothing)?;
    let room = |(across, down): (usize, usize)| (free.0 / across, (free.1 / down).saturating_sub(caption));
    let extent_of = |(columns, rows): (usize, usize)| ROOM * plane.extent(columns as f64 / rows.max(1) as f64);
    let pixel_of = |layout| extent_of(room(layout)) / room(layout).1.max(1) as f64;
    // Beside each other or one above the other, whichever allows the larger scale.
    let (beside, above) = ((panels.len(), 1), (1, panels.len()));
    let layout = if pixel_of(beside) <= pixel_of(above) { beside } else { above };
    let (columns, rows) = room(layout);
    check_size(columns, rows)?;
    let extent = extent_of((columns, rows));
    let camera = plane.camera(extent);
    let pressures = panels.iter().flat_map(|panel| panel.surface.corner_pressure.iter().copied());
    let scale = ColorScale::from_zero(pressures);
    let levels = scale.levels(CONTOURS);
    let style = FaceStyle {
        scale,
        levels: &levels,
        contours: (2.2, [1.0, 1.0, 1.0]),
        edges: (0.9, [0.12, 0.14, 0.2]),
        alpha: 1.0,
        lift: LIFT,
    };
    let mut image = Image::new(width, height, PAPER);
    for (number, panel) in panels.iter().enumerate() {
        let mut canvas = Canvas::new(columns, rows, camera, PAPER)?;
        Faces::from(panel.surface).draw(&mut canvas, &style)?;
        let (x, y) = (number % layout.0 * columns, top + number / layout.0 * (rows + caption));
        image.paste(&canvas.finish(), x, y);
        let below = [x as f64 + 0.5 * columns as f64, (y + rows) as f64 + 1.2 * size];
        let text = format!("{}: {} faces", panel.title, panel.surface.len());
        image.text(&text, below, 1.1 * size, Align::Center, INK);
    }
    legend::title(&mut image, title, subtitle);
    let bar = [width as f64 - 0.70 * right as f64, top as f64 + 0.10 * free.1 as f64];
    legend::pressure_bar(&mut image, &scale, &levels, bar, 0.70 * free.1 as f64);
    let corner = [width as f64 - 1.6 * size, height as f64 - 1.8 * size];
    legend::scale_bar(&mut image, extent / rows as f64, corner, 0.8 * right as f64);
    Ok(image)
}

/// The plane in which a surface is drawn.
struct Plane {
    center: Vector3,
    normal: Vector3,
    /// The direction of the surface's shorter extent: upwards in the picture.
    up: Vector3,
    across: f64,
    high: f64,
}

impl Plane {
    fn of(surface: &ContactSurface) -> Option<Self> {
        let normal: Vector3 = surface.normal.iter().zip(&surface.area).map(|(normal, area)| normal * *area).sum();
        let normal = normal.try_normalize(0.0)?;
        let (middle, _) = frame::ball(surface.corners.iter().copied())?;
        let flat = |corner: &Vector3| (corner - middle) - normal * normal.dot(&(corner - middle));
        let spread: Matrix3 = surface.corners.iter().map(|corner| flat(corner) * flat(corner).transpose()).sum();
        let long = longest_axis(&spread, &normal);
        let up = normal.cross(&long);
        let range = |axis: &Vector3| {
            let along = surface.corners.iter().map(|corner| (corner - middle).dot(axis));
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let (x, y) = (range(&long), range(&up));
        let center = middle + long * (0.5 * (x.0 + x.1)) + up * (0.5 * (y.0 + y.1));
        Some(Self { center, normal, up, across: x.1 - x.0, high: y.1 - y.0 })
    }

    /// Height \[m\] of a picture with this aspect (width over height) that holds the surface.
    fn extent(&self, aspect: f64) -> f64 {
        self.high.max(self.across / aspect).max(f64::MIN_POSITIVE)
    }

    fn camera(&self, extent: f64) -> Camera {
        let eye = self.center + self.normal * (4.0 * extent.max(self.across));
        Camera::look_at(&eye, &self.center, &self.up, Projection::Orthographic { height: extent })
    }
}

/// The direction across `normal` along which the spread is largest, by repeated multiplication; it need not
/// be exact.
fn longest_axis(spread: &Matrix3, normal: &Vector3) -> Vector3 {
    let any = if normal.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let start = (any - normal * normal.dot(&any)).normalize();
    let mut axis = start + normal.cross(&start) * 0.3;
    for _ in 0..60 {
        axis = (spread * axis).try_normalize(0.0).unwrap_or(start);
    }
    let axis = axis - normal * normal.dot(&axis);
    axis.try_normalize(1e-6).unwrap_or(start)
}
