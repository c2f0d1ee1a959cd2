//! Triangles are cut before they are projected: at the near plane, and at the sides of a window far larger
//! than the picture.

use super::camera::Camera;
use crate::math::Vector3;

/// The window is this many times as wide and as high as the picture. Parts beyond it are cut, so that
/// positions on the screen stay far below the canvas's `POSITION_MAX` at every size: 8 x 12,288 samples are a
/// tenth of it. \[-\]
const WINDOW: f64 = 8.0;

/// A corner before projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// In view coordinates \[m\].
    pub(super) view: Vector3,
    /// Direction of the surface, in W.
    pub(super) normal: Vector3,
    /// The value for the colour scale, in its first component, or red, green and blue.
    pub(super) value: Vector3,
}

impl Corner {
    /// A corner without normal and value.
    pub(super) fn bare(view: Vector3) -> Self {
        Self { view, normal: Vector3::zeros(), value: Vector3::zeros() }
    }

    fn between(a: &Self, b: &Self, t: f64) -> Self {
        Self {
            view: a.view + (b.view - a.view) * t,
            normal: a.normal + (b.normal - a.normal) * t,
            value: a.value + (b.value - a.value) * t,
        }
    }
}

/// The part of a triangle that can be projected: in front of the near plane and within the window, as a
/// convex polygon. Empty if there is no such part.
pub(super) fn clip(corners: &[Corner; 3], camera: &Camera, aspect: f64) -> Vec<Corner> {
    let mut kept: Vec<Corner> = corners.to_vec();
    cut(&mut kept, |view| view.z - camera.near());
    for sign in [1.0, -1.0] {
        cut(&mut kept, |view| WINDOW * aspect * camera.half_height(view.z) + sign * view.x);
        cut(&mut kept, |view| WINDOW * camera.half_height(view.z) + sign * view.y);
    }
    kept
}

/// Keeps the part of a convex polygon where the linear function `side` of the view point is not below zero. A
/// polygon that lies entirely there keeps its bits.
fn cut(polygon: &mut Vec<Corner>, side: impl Fn(&Vector3) -> f64) {
    if polygon.iter().all(|corner| side(&corner.view) >= 0.0) {
        return;
    }
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (i, a) in polygon.iter().enumerate() {
        let b = &polygon[(i + 1) % polygon.len()];
        let (here, there) = (side(&a.view), side(&b.view));
        if here >= 0.0 {
            kept.push(*a);
        }
        if (here >= 0.0) != (there >= 0.0) {
            kept.push(Corner::between(a, b, here / (here - there)));
        }
    }
    *polygon = kept;
}
