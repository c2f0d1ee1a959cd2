//! Lighting of surfaces: two lamps that move with the camera, and ambient light that is brighter from above.

use super::camera::Camera;
use super::color::Color;
use crate::math::Vector3;

/// The shading of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gloss {
    /// Light and shade and a soft highlight.
    Satin,
    /// Weak shading without highlight, so that colours of values stay readable.
    Chart,
    /// The colour without shading.
    Flat,
}

/// Direction to the main lamp (right, up, into the picture): over the left shoulder.
const MAIN: [f64; 3] = [-0.45, 0.75, -0.65];
/// Direction to the second lamp.
const FILL: [f64; 3] = [0.85, 0.10, -0.45];

/// `color` under the lamps, on a surface with the normal `normal` (in W, of any length, either side) at the
/// view point `view`.
pub(super) fn shade(color: Color, camera: &Camera, normal: &Vector3, view: &Vector3, gloss: Gloss) -> Color {
    if gloss == Gloss::Flat {
        return color;
    }
    let length = normal.norm();
    if length == 0.0 || !length.is_finite() {
        return color;
    }
    let mut n = camera.view_direction(&(normal / length));
    let mut upward = normal.z / length;
    if n.dot(view) > 0.0 {
        n = -n;
        upward = -upward;
    }
    let main = Vector3::from(MAIN).normalize();
    let fill = Vector3::from(FILL).normalize();
    let ambient = 0.44 + 0.10 * upward;
    let diffuse = 0.52 * n.dot(&main).max(0.0) + 0.17 * n.dot(&fill).max(0.0);
    let (light, shine) = match gloss {
        Gloss::Chart => (0.80 + 0.22 * (ambient + diffuse), 0.0),
        _ => {
            let half = (main - view.normalize()).normalize();
            (ambient + diffuse, 0.16 * n.dot(&half).max(0.0).powi(28))
        }
    };
    color.map(|channel| (channel * light as f32 + shine as f32).clamp(0.0, 1.0))
}

/// 0 for a surface seen face on, 1 for one seen edge-on.
pub(super) fn rim(camera: &Camera, normal: &Vector3, view: &Vector3) -> f32 {
    let facing = camera.view_direction(normal).dot(view).abs() / (normal.norm() * view.norm());
    if facing.is_finite() { (1.0 - facing.min(1.0)).powi(3) as f32 } else { 0.0 }
}
