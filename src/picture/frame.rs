//! A ball around drawn objects, and the target and the distance of a camera that shows all of them.

use super::camera::Camera;
use crate::math::Vector3;

/// Centre and radius \[m\] of a ball around the points: about the middle of their box. `None` without finite
/// points.
pub fn ball(points: impl Iterator<Item = Vector3> + Clone) -> Option<(Vector3, f64)> {
    let finite = points.filter(|point| point.iter().all(|x| x.is_finite()));
    let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for point in finite.clone() {
        low = low.inf(&point);
        high = high.sup(&point);
    }
    if low.x > high.x {
        return None;
    }
    let center = (low + high) * 0.5;
    Some((center, finite.map(|point| (point - center).norm()).fold(0.0, f64::max)))
}

/// The part of the picture's half width and half height for the framed points; the rest is for the legend and
/// the title. \[-\]
const FILL: (f64, f64) = (0.74, 0.76);
/// Rounds of centring; each reduces the offset to about a tenth in perspective.
const ROUNDS: usize = 6;

/// The point to look at and the distance \[m\] from it, at which all points just fit a picture with
/// `field_of_view` \[rad\] and the aspect `aspect` (width over height), seen along the axes of `camera`. A
/// `fixed` target or distance is kept. `None` without points.
pub fn fit(
    points: impl Iterator<Item = Vector3> + Clone,
    camera: &Camera,
    field_of_view: f64,
    aspect: f64,
    fixed: (Option<Vector3>, Option<f64>),
) -> Option<(Vector3, f64)> {
    let (center, _) = ball(points.clone())?;
    let slope = (0.5 * field_of_view).tan();
    let (across, high) = (slope * aspect * FILL.0, slope * FILL.1);
    let finite = points.filter(|point| point.iter().all(|x| x.is_finite()));
    let seen = |target: Vector3| finite.clone().map(move |point| camera.view_direction(&(point - target)));
    let needed = |target| seen(target).map(|q| (q.x.abs() / across).max(q.y.abs() / high) - q.z).fold(1e-9, f64::max);
    let mut target = fixed.0.unwrap_or(center);
    for _ in 0..if fixed.0.is_some() { 0 } else { ROUNDS } {
        let distance = fixed.1.unwrap_or_else(|| needed(target));
        let range = |slopes: &mut dyn Iterator<Item = f64>| {
            slopes.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        // Points beside or behind the eye do not count.
        let depth = |q: &Vector3| (q.z + distance).max(0.05 * distance);
        let x = range(&mut seen(target).map(|q| q.x / depth(&q)));
        let y = range(&mut seen(target).map(|q| q.y / depth(&q)));
        let middle = Vector3::new(0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1), 0.0) * distance;
        target += camera.world_direction(&middle);
    }
    Some((target, fixed.1.unwrap_or_else(|| needed(target))))
}
