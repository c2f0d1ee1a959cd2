//! Selects the pairs of elements of a list: those that can have a face after a small motion of the
//! geometries.
//!
//! Suppose that a pair has a face after its two bodies have moved so that no point of the contact moved by
//! more than d. A point x of that face lies in the inner element, and the coinciding point of the outer
//! element was, before the motion, at a point y within d of x. With the outer pressure p_N and the inner p_M,
//! both linear,
//!   p_N(y) = p_M(x), so |p_N(x) - p_M(x)| <= |grad p_N| d and |p_N(y) - p_M(y)| <= |grad p_M| d.
//! So x lies in a slab of the inner element and y in a slab of the outer one, both at the old pose, and the
//! two are within d of each other. Hence no slab lies beyond a plane of the other element by more than d.

use crate::geometry::FacePlane;
use crate::math::Vector3;

/// Corners of a tetrahedron and crossings of its six edges with two planes.
const CAPACITY: usize = 16;

/// The corners of the part of an element in which a linear function is small.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slab {
    count: usize,
    points: [Vector3; CAPACITY],
}

impl Slab {
    /// The part of the simplex `corners` where the linear function with the values `values` at them lies in
    /// [-`width`, `width`].
    pub(super) fn new<const N: usize>(corners: &[Vector3; N], values: &[f64; N], width: f64) -> Self {
        let mut slab = Self { count: 0, points: [Vector3::zeros(); CAPACITY] };
        for i in 0..N {
            if values[i].abs() <= width {
                slab.push(corners[i]);
            }
            for j in 0..i {
                for level in [-width, width] {
                    let (a, b) = (values[i] - level, values[j] - level);
                    if (a > 0.0) != (b > 0.0) {
                        slab.push(corners[i] + (corners[j] - corners[i]) * (a / (a - b)));
                    }
                }
            }
        }
        slab
    }

    fn push(&mut self, point: Vector3) {
        self.points[self.count] = point;
        self.count += 1;
    }

    /// Whether the slab is empty or lies farther than `distance` beyond one of the planes.
    pub(super) fn is_beyond_one_of(&self, planes: &[FacePlane], distance: f64) -> bool {
        let points = &self.points[..self.count];
        points.is_empty() || planes.iter().any(|plane| points.iter().all(|point| plane.distance(point) > distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::pressure_field::UNIT_TETRAHEDRON as CORNERS;

    /// z in [0.25, 0.75] within the unit tetrahedron: the slab has the corners of two triangles.
    #[test]
    fn holds_the_part_between_the_levels() {
        let slab = Slab::new(&CORNERS, &[-0.5, -0.5, -0.5, 0.5], 0.25);
        let plane = |normal, offset| [FacePlane { normal, offset }];
        assert_eq!(slab.count, 6);
        assert!(slab.is_beyond_one_of(&plane(Vector3::z(), 0.2), 0.04));
        assert!(!slab.is_beyond_one_of(&plane(Vector3::z(), 0.2), 0.06));
        assert!(slab.is_beyond_one_of(&plane(-Vector3::z(), -0.8), 0.04));
        assert!(!slab.is_beyond_one_of(&plane(Vector3::x(), 0.0), 0.0));
    }

    #[test]
    fn is_empty_where_the_function_is_large() {
        assert!(Slab::new(&CORNERS, &[1.0, 2.0, 3.0, 4.0], 0.5).is_beyond_one_of(&[], 0.0));
    }

    /// Every pattern of values below, within and above the slab has no more corners than the capacity.
    #[test]
    fn has_room_for_all_patterns() {
        for code in 0..81 {
            let values = [1, 3, 9, 27].map(|power| f64::from(code / power % 3 - 1));
            assert!(Slab::new(&CORNERS, &values, 0.5).count <= 8, "{values:?}");
        }
    }
}
