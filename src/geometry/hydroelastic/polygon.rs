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
    /// Which of the two buffers holds the corners; a cut writes to the other one.
    active: usize,
    buffers: [[Vector3; CAPACITY]; 2],
}

/// How a polygon lies to a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Nothing of it has to go.
    Inside,
    /// It lies in the plane.
    Coplanar,
    /// It touches the plane in a corner or an edge at most.
    Outside,
    /// The plane cuts it.
    Cut,
}

impl Side {
    /// From the smallest and the largest distance of the corners.
    #[inline]
    fn new(lowest: f64, highest: f64) -> Self {
        if lowest >= -COPLANAR_DISTANCE && highest <= COPLANAR_DISTANCE {
            Self::Coplanar
        } else if highest <= 0.0 {
            Self::Inside
        } else if lowest >= 0.0 {
            Self::Outside
        } else {
            Self::Cut
        }
    }
}

/// min and max as one instruction each: no number here is NaN.
#[inline]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl ConvexPolygon {
    /// Without corners; a query uses one polygon for all its faces.
    pub(crate) const EMPTY: Self = Self { count: 0, active: 0, buffers: [[Vector3::new(0.0, 0.0, 0.0); CAPACITY]; 2] };

    /// Becomes a triangle.
    #[inline]
    pub(crate) fn set_triangle(&mut self, corners: &[Vector3; 3]) {
        self.buffers[self.active][..3].copy_from_slice(corners);
        self.count = 3;
    }

    /// The corners in order.
    #[inline]
    pub(crate) fn corners(&self) -> &[Vector3] {
        &self.buffers[self.active][..self.count]
    }

    /// Turns the order of the corners round.
    #[inline]
    pub(crate) fn reverse(&mut self) {
        self.buffers[self.active][..self.count].reverse();
    }

    /// Becomes the zero set, within a tetrahedron, of the linear function with the values `values` at its corners. Its border runs
    /// counter-clockwise as seen from the side of positive values. `positive` is [`signs`] of the values.
    ///
    /// Zero counts as negative, so that a zero set in the face between two tetrahedra belongs to one of them only.
    #[inline]
    pub(crate) fn set_zero_set(&mut self, corners: &[Vector3; 4], values: &[f64; 4], positive: usize) {
        let edges = &ZERO_SET_EDGES[positive];
        let target = &mut self.buffers[self.active];
        for (corner, &[i, j]) in target.iter_mut().zip(&edges.0[..edges.1]) {
            let t = values[i] / (values[i] - values[j]);
            *corner = corners[i] + (corners[j] - corners[i]) * t;
        }
        self.count = edges.1;
    }

    /// Cuts away what lies outside `plane`. Corners on the plane stay. Returns whether the polygon lies in the plane.
    #[inline]
    pub(crate) fn clip(&mut self, plane: &FacePlane) -> bool {
        let mut distances = [0.0; CAPACITY];
        let (mut lowest, mut highest, mut farthest) = (f64::INFINITY, f64::NEG_INFINITY, 0);
        for (i, (distance, corner)) in distances.iter_mut().zip(self.corners()).enumerate() {
            *distance = plane.distance(corner);
            lowest = smaller(lowest, *distance);
            if *distance > highest {
                (highest, farthest) = (*distance, i);
            }
        }
        let side = Side::new(lowest, highest);
        match side {
            Side::Inside | Side::Coplanar => {}
            Side::Outside => self.count = 0,
            Side::Cut => self.cut(&distances, farthest),
        }
        side == Side::Coplanar
    }

    /// Keeps the one run of corners that are not outside, where corner `farthest` is and some corner is inside, and closes it
    /// with the two points where the border crosses. A convex polygon has one such run, whatever rounding says of corners
    /// between.
    #[inline]
    fn cut(&mut self, distances: &[f64; CAPACITY], farthest: usize) {
        let count = self.count;
        let [even, odd] = &mut self.buffers;
        let (source, target) = if self.active == 0 { (&*even, odd) } else { (&*odd, even) };
        let next = |i: usize| if i + 1 >= count { 0 } else { i + 1 };
        let previous = |i: usize| if i == 0 { count - 1 } else { i - 1 };
        let (mut first, mut last) = (next(farthest), previous(farthest));
        while distances[first] > 0.0 {
            first = next(first);
        }
        while distances[last] > 0.0 {
            last = previous(last);
        }
        let crossing = |inside: usize, outside: usize| {
            let t = distances[inside] / (distances[inside] - distances[outside]);
            source[inside] + (source[outside] - source[inside]) * t
        };
        let kept = if last >= first { last - first } else { last + count - first } + 1;
        debug_assert!(kept + 2 <= CAPACITY, "a tetrahedron pair meets in at most 8 corners");
        let kept = kept.min(CAPACITY - 2);
        let mut at = first;
        for corner in &mut target[..kept] {
            *corner = source[at];
            at = next(at);
        }
        self.count = kept;
        if distances[last] < 0.0 {
            target[self.count] = crossing(last, next(last));
            self.count += 1;
        }
        if distances[first] < 0.0 {
            target[self.count] = crossing(first, previous(first));
            self.count += 1;
        }
        self.active = 1 - self.active;
    }

    /// How a polygon of three or four corners lies to the faces of a tetrahedron, or `None` where all corners lie clearly
    /// outside one of them, so that nothing is left within the tetrahedron. Much cheaper than finding out by cutting.
    #[inline]
    pub(crate) fn sides(&self, planes: &[FacePlane; 4]) -> Option<TetSides> {
        debug_assert!((3..=4).contains(&self.count), "a triangle or a zero set");
        let corners = &self.buffers[self.active];
        let (mut x, mut y, mut z) = ([corners[0].x; 4], [corners[0].y; 4], [corners[0].z; 4]);
        for i in 1..4.min(self.count) {
            (x[i], y[i], z[i]) = (corners[i].x, corners[i].y, corners[i].z);
        }
        let mut sides = [(0.0, 0.0); 4];
        let mut clearly_outside = false;
        // without a branch, since none could be predicted
        for (side, plane) in sides.iter_mut().zip(planes) {
            let n = &plane.normal;
            let mut d = [0.0; 4];
            for i in 0..4 {
                d[i] = n.x * x[i] + n.y * y[i] + n.z * z[i] - plane.offset;
            }
            let lowest = smaller(smaller(d[0], d[1]), smaller(d[2], d[3]));
            clearly_outside |= lowest > COPLANAR_DISTANCE;
            *side = (lowest, larger(larger(d[0], d[1]), larger(d[2], d[3])));
        }
        if clearly_outside {
            return None;
        }
        Some(TetSides(sides))
    }

    /// Cuts away what lies outside tetrahedron `element` with the face planes `planes`, given how the polygon lies to
    /// them. A polygon that lies in a face could belong to the tetrahedra on both sides: it goes to the one with the smaller
    /// number, unless that one `refuses` it. Returns whether anything with an area can be left.
    #[inline]
    pub(crate) fn clip_by_tet(
        &mut self,
        (planes, sides): (&[FacePlane; 4], &TetSides),
        element: u32,
        neighbours: &[u32; 4],
        refuses: impl Fn(u32) -> bool,
    ) -> bool {
        for ((plane, &(lowest, highest)), &neighbour) in planes.iter().zip(&sides.0).zip(neighbours) {
            let in_the_face = match Side::new(lowest, highest) {
                Side::Inside => continue,
                Side::Coplanar => true,
                // what an earlier plane left may lie otherwise than the whole
                Side::Outside | Side::Cut => self.clip(plane),
            };
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

/// How a polygon lies to the four faces of a tetrahedron: the smallest and the largest distance of its corners [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TetSides([(f64, f64); 4]);

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
    use crate::geometry::pressure_field::UNIT_TETRAHEDRON as CORNERS;

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
        for (corner, [x, y]) in polygon.buffers[0].iter_mut().zip([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) {
            *corner = Vector3::new(x, y, 0.0);
        }
        polygon.count = 4;
        let normal = Vector3::new(1.0, 1.0, 0.0).normalize();
        polygon.clip(&FacePlane { normal, offset: 1.5 / 2.0_f64.sqrt() });
        assert_eq!(polygon.corners().len(), 5);
        let (area, centroid) = polygon.area_and_centroid(&Vector3::z());
        assert!((area - 0.875).abs() < 1e-15);
        let expected = (0.5 - 0.125 * (5.0 / 6.0)) / 0.875;
        assert!((centroid - Vector3::new(expected, expected, 0.0)).norm() < 1e-15);
    }
}
