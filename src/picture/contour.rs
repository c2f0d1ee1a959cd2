//! Lines of equal value on polygons with values at their corners.

use crate::math::Vector3;

/// Appends to `lines` the segment of a convex polygon with linear values on which the value is `level`: at
/// most one for each polygon. A corner exactly at the level counts as above it, so that neighbours agree.
pub fn contour(corners: &[Vector3], values: &[f64], level: f64, lines: &mut Vec<[Vector3; 2]>) {
    let mut ends = [Vector3::zeros(); 2];
    let mut found = 0;
    for (i, (a, p)) in corners.iter().zip(values).enumerate() {
        let next = (i + 1) % corners.len().min(values.len());
        let (b, q) = (&corners[next], values[next]);
        if (*p >= level) != (q >= level) && found < 2 {
            let t = (level - p) / (q - p);
            if t.is_finite() {
                ends[found] = a + (b - a) * t;
                found += 1;
            }
        }
    }
    if found == 2 {
        lines.push(ends);
    }
}
