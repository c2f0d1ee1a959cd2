//! Balls around what is drawn, and the camera distance that shows one.

use crate::math::Vector3;

/// Centre and radius [m] of a ball around the points: about the middle of their box. `None` without finite points.
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

/// How far from its centre [m] a camera with `field_of_view` [rad] shows a ball of `radius` [m], on a picture of that aspect
/// (width over height).
pub fn distance(radius: f64, field_of_view: f64, aspect: f64) -> f64 {
    let half = (0.5 * field_of_view).tan() * aspect.min(1.0);
    radius / half.atan().sin()
}
