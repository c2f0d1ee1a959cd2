//! Convex polygons of fixed capacity, on the stack, and how half spaces cut them.

use crate::geometry::pressure_field::{FacePlane, NO_NEIGHBOUR};
use crate::math::Vector3;

/// A plane cuts a tetrahedron in at most 4 corners, and each of 4 clipping planes adds at most one: 8. The rest is slack
/// for the last bits of nearly parallel edges.
const CAPACITY: usize = 12;

/// A polygon whose corners are all this near a clipping plane lies in it; see [`ConvexPolygon::clip_by_tet`]. Far below
/// a micrometre, well above the rounding of coordinates of metres. [m]
const COPLANAR_DISTANCE: f64 = 1e-14;

/// Corners of a convex plane polygon in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvexPolygon {
    count: usize,
    corners: [Vector3; CAPACITY],
}

impl ConvexPolygon {
    /// Without corners; a query uses one polygon for all its faces.
    pub(crate) const EMPTY: Self = Self { count: 0, corners: [Vector3::new(0.0, 0.0, 0.0); CAPACITY] };

    /// Becomes a triangle.
    #[inline]
    pub(crate) fn set_triangle(&mut self, corners: &[Vector3; 3]) {
        self.corners[..3].copy_from_slice(corners);
        self.count = 3;
    }

    /// The corners in order.
    #[inline]
    pub(crate) fn corners(&self) -> &[Vector3] {
        &self.corners[..self.count]
    }

    #[inline]
    fn push(&mut self, corner: Vector3) {
        debug_assert!(self.count < CAPACITY, "a tetrahedron pair meets in at most 8 corners");
        if self.count < CAPACITY {
            self.corners[self.count] = corner;
            self.count += 1;
        }
    }

    /// Turns the order of the corners round.
    #[inline]
    pub(crate) fn reverse(&mut self) {
        self.corners[..self.count].reverse();
    }

    /// Becomes the zero set, within a tetrahedron, of the linear function with the values `values` at its corners. Its border runs
    /// counter-clockwise as seen from the side of positive values. `positive` is [`signs`] of the values.
    ///
    /// Zero counts as negative, so that a zero set in the face between two tetrahedra belongs to one of them only.
    #[inline]
    pub(crate) fn set_zero_set(&mut self, corners: &[Vector3; 4], values: &[f64; 4], positive: usize) {
        self.count = 0;
        let edges = &ZERO_SET_EDGES[positive];
        for &[i, j] in &edges.0[..edges.1] {
            let t = values[i] / (values[i] - values[j]);
            self.push(corners[i] + (corners[j] - corners[i]) * t);
        }
    }

    /// Cuts away what lies outside `plane`. Corners on the plane stay. Returns whether the polygon lies in the plane.
    #[inline]
    pub(crate) fn clip(&mut self, plane: &FacePlane) -> bool {
        let mut distances = [0.0; CAPACITY];
        let (mut lowest, mut highest, mut farthest) = (f64::INFINITY, f64::NEG_INFINITY, 0);
        for (i, (distance, corner)) in distances.iter_mut().zip(self.corners()).enumerate() {
            *distance = plane.distance(corner);
            lowest = lowest.min(*distance);
            if *distance > highest {
                (highest, farthest) = (*distance, i);
            }
        }
        if lowest.abs().max(highest.abs()) <= COPLANAR_DISTANCE {
            return true;
        }
        if highest > 0.0 && lowest >= 0.0 {
            // touches the plane in a corner or an edge at most
            self.count = 0;
        } else if highest > 0.0 {
            self.cut(&distances, farthest);
        }
        false
    }

    /// Keeps the one run of corners that are not outside, where corner `farthest` is and some corner is inside, and closes it
    /// with the two points where the border crosses. A convex polygon has one such run, whatever rounding says of corners
    /// between.
    #[inline]
    fn cut(&mut self, distances: &[f64; CAPACITY], farthest: usize) {
        let count = self.count;
        let next = |i: usize| if i + 1 == count { 0 } else { i + 1 };
        let previous = |i: usize| if i == 0 { count - 1 } else { i - 1 };
        let (mut first, mut last) = (next(farthest), previous(farthest));
        while distances[first] > 0.0 {
            first = next(first);
        }
        while distances[last] > 0.0 {
            last = previous(last);
        }
        let corners = &mut self.corners[..count];
        let crossing = |inside: usize, outside: usize| {
            let t = distances[inside] / (distances[inside] - distances[outside]);
            corners[inside] + (corners[outside] - corners[inside]) * t
        };
        let (entering, leaving) = (crossing(first, previous(first)), crossing(last, next(last)));
        corners.rotate_left(first);
        self.count = if last >= first { last - first } else { last + count - first } + 1;
        if distances[last] < 0.0 {
            self.push(leaving);
        }
        if distances[first] < 0.0 {
            self.push(entering);
        }
    }

    /// Whether all corners lie clearly outside one of the planes, so that nothing is left within all of them. Much cheaper
    /// than finding out by cutting.
    #[inline]
    pub(crate) fn is_outside_one_of(&self, planes: &[FacePlane; 4]) -> bool {
        planes.iter().any(|plane| self.corners().iter().all(|corner| plane.distance(corner) > COPLANAR_DISTANCE))
    }

    /// Cuts away what lies outside tetrahedron `element` with the face planes `planes`. A polygon that lies in a face could
    /// belong to the tetrahedra on both sides: it goes to the one with the smaller number, unless that one `refuses` it.
    /// Returns whether anything with an area can be left.
    #[inline]
    pub(crate) fn clip_by_tet(
        &mut self,
        planes: &[FacePlane; 4],
        element: u32,
        neighbours: &[u32; 4],
        refuses: impl Fn(u32) -> bool,
    ) -> bool {
        for (plane, &neighbour) in planes.iter().zip(neighbours) {
            let in_the_face = self.clip(plane);
            if self.count < 3 {
                return false;
            }
            if in_the_face && neighbour != NO_NEIGHBOUR && neighbour < element && !refuses(neighbour) {
                return false;
            }
        }
        true
    }

    /// Area [m2], signed by the sense of the corners about the unit normal `normal`, and centroid.
    #[inline]
    pub(crate) fn area_and_centroid(&self, normal: &Vector3) -> (f64, Vector3) {
        let corners = self.corners();
        let Some(&origin) = corners.first() else { return (0.0, Vector3::zeros()) };
        let mut twice_area = 0.0;
        let mut moment = Vector3::zeros();
        for edge in corners[1..].windows(2) {
            let (a, b) = (edge[0] - origin, edge[1] - origin);
            let cross = a.cross(&b).dot(normal);
            twice_area += cross;
            moment += (a + b) * cross;
        }
        if twice_area == 0.0 {
            return (0.0, origin);
        }
        (0.5 * twice_area, origin + moment / (3.0 * twice_area))
    }
}

/// Bit i is set where value i is positive.
#[inline]
pub(crate) fn signs(values: &[f64; 4]) -> usize {
    usize::from(values[0] > 0.0)
        | usize::from(values[1] > 0.0) << 1
        | usize::from(values[2] > 0.0) << 2
        | usize::from(values[3] > 0.0) << 3
}

/// Whether [`signs`] differ, so that the zero set crosses the tetrahedron.
#[inline]
pub(crate) fn differ(signs: usize) -> bool {
    signs != 0 && signs != 0b1111
}

/// For each pattern of [`signs`], the edges that the zero set cuts, in the order in which its border runs
/// counter-clockwise seen from the positive side, and their count.
const ZERO_SET_EDGES: [([[usize; 2]; 4], usize); 16] = {
    const NONE: [usize; 2] = [0, 0];
    const fn three(a: [usize; 2], b: [usize; 2], c: [usize; 2]) -> ([[usize; 2]; 4], usize) {
        ([a, b, c, NONE], 3)
    }
    const fn four(a: [usize; 2], b: [usize; 2], c: [usize; 2], d: [usize; 2]) -> ([[usize; 2]; 4], usize) {
        ([a, b, c, d], 4)
    }
    [
        ([NONE; 4], 0),
        three([0, 1], [0, 3], [0, 2]),
        three([1, 0], [1, 2], [1, 3]),
        four([2, 0], [2, 1], [3, 1], [3, 0]),
        three([2, 0], [2, 3], [2, 1]),
        four([1, 0], [3, 0], [3, 2], [1, 2]),
        four([0, 1], [0, 2], [3, 2], [3, 1]),
        three([3, 0], [3, 2], [3, 1]),
        three([3, 0], [3, 1], [3, 2]),
        four([1, 0], [1, 3], [2, 3], [2, 0]),
        four([0, 1], [2, 1], [2, 3], [0, 3]),
        three([2, 0], [2, 1], [2, 3]),
        four([0, 2], [0, 3], [1, 3], [1, 2]),
        three([1, 0], [1, 3], [1, 2]),
        three([0, 1], [0, 2], [0, 3]),
        ([NONE; 4], 0),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vector3; 4] = [
        Vector3::new(0.0, 0.0, 0.0),
        Vector3::new(1.0, 0.0, 0.0),
        Vector3::new(0.0, 1.0, 0.0),
        Vector3::new(0.0, 0.0, 1.0),
    ];

    /// All 14 patterns: the zero set of a linear function has its border counter-clockwise about the gradient.
    #[test]
    fn zero_sets_turn_about_the_gradient() {
        for positive in 1..15 {
            let values: [f64; 4] = std::array::from_fn(|i| if positive >> i & 1 == 1 { 1.0 } else { -1.0 });
            assert_eq!(signs(&values), positive);
            let gradient = Vector3::new(values[1] - values[0], values[2] - values[0], values[3] - values[0]);
            let mut polygon = ConvexPolygon::EMPTY;
            polygon.set_zero_set(&CORNERS, &values, positive);
            let (area, _) = polygon.area_and_centroid(&gradient.normalize());
            assert!(area > 0.1, "pattern {positive:04b}: area {area}");
        }
    }

    /// The unit square cut by x + y <= 1.5: area 7/8 and centroid from the removed corner triangle.
    #[test]
    fn clips_a_corner() {
        let mut polygon = ConvexPolygon::EMPTY;
        for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
            polygon.push(Vector3::new(x, y, 0.0));
        }
        let normal = Vector3::new(1.0, 1.0, 0.0).normalize();
        polygon.clip(&FacePlane { normal, offset: 1.5 / 2.0_f64.sqrt() });
        assert_eq!(polygon.corners().len(), 5);
        let (area, centroid) = polygon.area_and_centroid(&Vector3::z());
        assert!((area - 0.875).abs() < 1e-15);
        let expected = (0.5 - 0.125 * (5.0 / 6.0)) / 0.875;
        assert!((centroid - Vector3::new(expected, expected, 0.0)).norm() < 1e-15);
    }
}
