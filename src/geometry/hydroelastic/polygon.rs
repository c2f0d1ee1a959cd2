//! Convex polygons of fixed capacity, on the stack, and how half spaces cut them.
//!
//! A polygon is a ring of point numbers, one byte each. A point carries its distances from the planes that
//! are still to cut, so that a new point on an edge interpolates them from the ends of the edge, and a cut
//! changes a few bits: no coordinate moves. Loops over corners process four at once and then the rest, if
//! any: most polygons have three or four corners, and a branch between the two could not be predicted.

use crate::geometry::NO_NEIGHBOUR;
use crate::geometry::pressure_field::{FacePlane, TetCorners, TetPlanes};
use crate::math::Vector3;

/// A plane cuts a tetrahedron in at most 4 corners, and each of 4 clipping planes removes at least one and
/// adds two at most.
pub(super) const CORNERS_MAX: usize = 8;

/// The corners before the first cut, and two new ones from each of four cuts, rounded up to a power of two.
const POINTS_MAX: usize = 16;

/// A polygon lies in a clipping plane if all its corners are this near to it; see
/// [`ConvexPolygon::clip_by_tet`]. It is far below a micrometre and well above the rounding of coordinates of
/// metres. \[m\]
const COPLANAR_DISTANCE: f64 = 1e-14;

/// The index of the first distance in a [`Point`].
const DISTANCES: usize = 4;

/// A position in the first three numbers \[m\], distances from four planes in the last four \[m\].
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Point([f64; 8]);

impl Point {
    #[inline(always)]
    fn position(&self) -> Vector3 {
        Vector3::new(self.0[0], self.0[1], self.0[2])
    }

    /// The point at the fraction `t` of the way to `end`.
    #[inline(always)]
    fn towards(&self, end: &Self, t: f64) -> Self {
        let mut point = *self;
        for (value, (from, to)) in point.0.iter_mut().zip(self.0.iter().zip(&end.0)) {
            *value = from + (to - from) * t;
        }
        point
    }
}

/// A convex plane polygon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvexPolygon {
    /// The number of corners.
    count: usize,
    /// The point numbers of the corners in order, the first in the lowest byte; bytes from `count` on are
    /// undefined.
    ring: u64,
    /// The number of points, including those that were cut away.
    used: usize,
    points: [Point; POINTS_MAX],
}

/// The corners of a polygon in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corners {
    pub(super) count: usize,
    /// The first four corners; a triangle repeats its first corner as the fourth.
    pub(super) first: [Vector3; 4],
    /// The others.
    pub(super) rest: [Vector3; CORNERS_MAX - 4],
}

/// A polygon before the first cut: a triangle, or the part of a plane in a tetrahedron.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZeroSet {
    count: usize,
    /// Positions in the first three numbers \[m\]; a triangle repeats its first corner as the fourth.
    positions: [[f64; 4]; 4],
}

impl ZeroSet {
    /// A triangle.
    #[inline(always)]
    pub(super) fn triangle([a, b, c]: &[Vector3; 3]) -> Self {
        Self { count: 3, positions: [a, b, c, a].map(|corner| [corner.x, corner.y, corner.z, 0.0]) }
    }

    /// The zero set, within a tetrahedron, of the linear function with the values `values` at its corners.
    /// Its border runs counter-clockwise as seen from the side of positive values. `positive` is [`signs`] of
    /// the values.
    ///
    /// Zero counts as negative, so that a zero set in the face between two tetrahedra belongs to one of them
    /// only.
    #[inline(always)]
    pub(super) fn new(TetCorners(corners): &TetCorners, values: &[f64; 4], positive: usize) -> Self {
        let (edges, count) = &ZERO_SET_EDGES[positive & 15];
        let crossing = |[i, j]: [u8; 2]| {
            let (i, j) = (usize::from(i & 3), usize::from(j & 3));
            let t = values[i] / (values[i] - values[j]);
            let (from, to) = (&corners[i], &corners[j]);
            let at = |k: usize| from[k] + (to[k] - from[k]) * t;
            [at(0), at(1), at(2), at(3)]
        };
        let positions = [crossing(edges[0]), crossing(edges[1]), crossing(edges[2]), crossing(edges[3])];
        Self { count: *count, positions }
    }
}

/// The position of a polygon relative to a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// It lies entirely inside.
    Inside,
    /// It lies in the plane.
    Coplanar,
    /// It lies outside, and touches the plane in a corner or an edge at most.
    Outside,
    /// The plane cuts it.
    Cut,
}

impl Side {
    /// The position, from the smallest and the largest distance of the corners.
    #[inline(always)]
    fn new(lowest: f64, highest: f64) -> Self {
        if lowest >= -COPLANAR_DISTANCE && highest <= COPLANAR_DISTANCE {
            Self::Coplanar
        } else if highest <= 0.0 {
            Self::Inside
        } else if lowest < 0.0 && highest > 0.0 {
            Self::Cut
        } else {
            // Also for NaN.
            Self::Outside
        }
    }
}

/// min and max as one instruction each; the order of the arguments matters for NaN only.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// A number with its lowest `bits` bits set.
#[inline(always)]
fn ones(bits: usize) -> u64 {
    (1 << bits) - 1
}

/// A ring with at least four entries: a triangle repeats its first corner.
#[inline(always)]
fn pad(ring: u64, count: usize) -> u64 {
    if count == 3 { (ring & 0xff) << 24 | ring & 0xff_ff_ff } else { ring }
}

impl ConvexPolygon {
    /// A polygon without corners; a query uses one polygon for all its faces.
    pub(crate) const EMPTY: Self = Self { count: 0, ring: 0, used: 0, points: [Point([0.0; 8]); POINTS_MAX] };

    /// Becomes a triangle or a zero set.
    #[inline(always)]
    pub(super) fn set(&mut self, start: &ZeroSet) {
        for (point, position) in self.points.iter_mut().zip(&start.positions) {
            point.0[..DISTANCES].copy_from_slice(position);
        }
        (self.count, self.ring, self.used) = (start.count, 0x03_02_01_00, 4);
    }

    /// Becomes a triangle or a zero set and returns its position relative to the faces of a tetrahedron, or
    /// `None` if all corners lie clearly outside one of them, so that no part is inside the tetrahedron. This
    /// is much cheaper than cutting.
    #[inline(always)]
    pub(super) fn set_with_sides(&mut self, start: &ZeroSet, planes: &TetPlanes) -> Option<TetSides> {
        let distances = |corner: usize| planes.distances(&start.positions[corner]);
        let distances = [distances(0), distances(1), distances(2), distances(3)];
        let [a, b, c, d] = &distances;
        let (mut lowest, mut highest) = ([0.0; 4], [0.0; 4]);
        for i in 0..4 {
            lowest[i] = smaller(smaller(a[i], b[i]), smaller(c[i], d[i]));
            highest[i] = larger(larger(a[i], b[i]), larger(c[i], d[i]));
        }
        let clearly_outside = larger(larger(lowest[0], lowest[1]), larger(lowest[2], lowest[3])) > COPLANAR_DISTANCE;
        if clearly_outside {
            return None;
        }
        for (i, point) in self.points[..4].iter_mut().enumerate() {
            let (p, d) = (&start.positions[i], &distances[i]);
            *point = Point([p[0], p[1], p[2], p[3], d[0], d[1], d[2], d[3]]);
        }
        (self.count, self.ring, self.used) = (start.count, 0x03_02_01_00, 4);
        Some(TetSides { lowest, highest })
    }

    /// The point number in `slot` of the ring.
    #[inline(always)]
    fn number(ring: u64, slot: usize) -> usize {
        // The mask is for the compiler: numbers are smaller.
        (ring >> (8 * slot)) as usize & (POINTS_MAX - 1)
    }

    /// The corners in order, or in the opposite order.
    #[inline(always)]
    pub(super) fn corners(&self, reversed: bool) -> Corners {
        let mut ring = self.ring;
        if reversed {
            ring = ring.swap_bytes() >> ((8 * (CORNERS_MAX - self.count)) & 63);
        }
        let ring = pad(ring, self.count);
        let position = |slot: usize| self.points[Self::number(ring, slot)].position();
        let mut rest = [Vector3::zeros(); CORNERS_MAX - 4];
        for (i, corner) in rest.iter_mut().enumerate().take(self.count.saturating_sub(4)) {
            *corner = position(4 + i);
        }
        Corners { count: self.count, first: [position(0), position(1), position(2), position(3)], rest }
    }

    /// Cuts away the part outside `plane`. Corners on the plane stay.
    #[inline]
    pub(crate) fn clip(&mut self, plane: &FacePlane) {
        for point in &mut self.points[..self.used] {
            point.0[DISTANCES] = plane.distance(&point.position());
        }
        self.cut(0);
    }

    /// Cuts away the part outside the plane with number `plane`, for which the points hold their distances,
    /// and returns how the polygon lay relative to it. Corners on the plane stay.
    ///
    /// Keeps the one run of corners that are not outside and closes it with the two points where the border
    /// crosses the plane. A convex polygon has one such run, also where rounding suggests more.
    #[inline(always)]
    fn cut(&mut self, plane: usize) -> Side {
        let at = DISTANCES + plane;
        let (count, ring) = (self.count, pad(self.ring, self.count));
        debug_assert!((3..CORNERS_MAX).contains(&count), "room for one corner more");
        let (mut lowest, mut highest, mut outside) = (f64::INFINITY, f64::NEG_INFINITY, 0_u64);
        let mut look = |slot: usize| {
            let distance = self.points[Self::number(ring, slot)].0[at];
            (lowest, highest) = (smaller(lowest, distance), larger(highest, distance));
            outside |= u64::from(distance > 0.0) << slot;
        };
        (0..4).for_each(&mut look);
        (4..count).for_each(&mut look);
        let side = Side::new(lowest, highest);
        match side {
            Side::Inside | Side::Coplanar => return side,
            Side::Outside => {
                self.count = 0;
                return side;
            }
            Side::Cut => {}
        }
        let all = ones(count);
        let mut kept = all & !outside;
        let mut starts = kept & !(kept << 1 | kept >> (count - 1));
        if starts & (starts - 1) != 0 {
            kept = self.kept_around_farthest(at, outside);
            starts = kept & !(kept << 1 | kept >> (count - 1));
        }
        let first = starts.trailing_zeros() as usize;
        let run = (!(kept >> first | kept << (count - first)) & all).trailing_zeros() as usize;
        // A shift by all 64 bits acts as a shift by none, which changes nothing here.
        let turned = self.ring >> (8 * first) | self.ring << ((8 * (count - first)) & 63);
        let [head, last, after, before] = [0, run - 1, run, count - 1].map(|slot| Self::number(turned, slot));
        (self.ring, self.count) = (turned & ones(8 * run), run);
        self.cross(last, after, at);
        self.cross(head, before, at);
        side
    }

    /// Appends the point where the edge from point `inside` to point `outside` crosses the plane of the
    /// distances `at`, unless point `inside` lies in the plane.
    #[inline(always)]
    fn cross(&mut self, inside: usize, outside: usize, at: usize) {
        let (a, b) = (&self.points[inside], &self.points[outside]);
        let distance = a.0[at];
        if distance < 0.0 {
            self.points[self.used & (POINTS_MAX - 1)] = a.towards(b, distance / (distance - b.0[at]));
            self.ring |= (self.used as u64) << (8 * self.count);
            self.used += 1;
            self.count += 1;
        }
    }

    /// All corners except the run of outside corners around the farthest one, for rounding that yields more
    /// than one run.
    #[cold]
    fn kept_around_farthest(&self, at: usize, outside: u64) -> u64 {
        let distance = |slot: &usize| self.points[Self::number(self.ring, *slot)].0[at];
        let farthest = (0..self.count).max_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
        let is_outside = |slot: &usize| outside >> slot & 1 == 1;
        let after = (0..self.count).map(|i| (farthest + i) % self.count).take_while(is_outside);
        let before = (0..self.count).map(|i| (farthest + self.count - i) % self.count).take_while(is_outside);
        ones(self.count) & !after.chain(before).fold(0, |run, slot| run | 1 << slot)
    }

    /// Cuts away the part outside tetrahedron `element`, given the polygon's position relative to its faces.
    /// A polygon that lies in a face could belong to the tetrahedra on both sides; it belongs to the one with
    /// the smaller number, unless that one `refuses` it. Returns whether a part with an area may be left.
    #[inline(always)]
    pub(crate) fn clip_by_tet(
        &mut self,
        sides: &TetSides,
        element: u32,
        neighbours: &[u32; 4],
        refuses: impl Fn(u32) -> bool,
    ) -> bool {
        let TetSides { lowest, highest } = sides;
        let mut touched = 0_u32;
        for i in 0..4 {
            let in_the_plane = lowest[i] >= -COPLANAR_DISTANCE;
            touched |= u32::from(highest[i] > 0.0 || in_the_plane) << i;
        }
        while touched != 0 {
            let plane = touched.trailing_zeros() as usize & 3;
            touched &= touched - 1;
            // The remaining part may lie differently than the whole.
            let side = self.cut(plane);
            if self.count < 3 {
                return false;
            }
            let neighbour = neighbours[plane];
            if side == Side::Coplanar && neighbour != NO_NEIGHBOUR && neighbour < element && !refuses(neighbour) {
                return false;
            }
        }
        true
    }
}

impl Corners {
    /// A triangle.
    pub(super) fn triangle(a: Vector3, b: Vector3, c: Vector3) -> Self {
        Self { count: 3, first: [a, b, c, a], rest: [Vector3::zeros(); CORNERS_MAX - 4] }
    }

    /// The corners from the fifth on.
    #[inline(always)]
    pub(super) fn rest(&self) -> &[Vector3] {
        &self.rest[..self.count.saturating_sub(4).min(CORNERS_MAX - 4)]
    }

    /// All corners.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Vector3> {
        self.first.iter().take(self.count).chain(self.rest())
    }

    /// Area \[m2\], signed by the sense of the corners about the unit normal `normal`, and centroid.
    #[inline(always)]
    pub(super) fn area_and_centroid(&self, normal: &Vector3) -> (f64, Vector3) {
        let [origin, b, c, d] = self.first;
        if self.count < 3 {
            return (0.0, origin);
        }
        let mut twice_area = 0.0;
        let mut moment = Vector3::zeros();
        let mut last = b - origin;
        let mut add = |corner: &Vector3| {
            let next = corner - origin;
            let cross = last.cross(&next).dot(normal);
            twice_area += cross;
            moment += (last + next) * cross;
            last = next;
        };
        add(&c);
        // For a triangle this adds nothing.
        add(&d);
        self.rest().iter().for_each(add);
        if twice_area == 0.0 {
            return (0.0, origin);
        }
        (0.5 * twice_area, origin + moment * (1.0 / (3.0 * twice_area)))
    }
}

/// The position of a polygon relative to the four faces of a tetrahedron: the smallest and the largest
/// distance of its corners from each face \[m\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TetSides {
    lowest: [f64; 4],
    highest: [f64; 4],
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
/// counter-clockwise seen from the positive side, and their count. If there are three, the first is repeated
/// as the fourth.
const ZERO_SET_EDGES: [([[u8; 2]; 4], usize); 16] = {
    const NONE: [u8; 2] = [0, 0];
    const fn three(a: [u8; 2], b: [u8; 2], c: [u8; 2]) -> ([[u8; 2]; 4], usize) {
        ([a, b, c, a], 3)
    }
    const fn four(a: [u8; 2], b: [u8; 2], c: [u8; 2], d: [u8; 2]) -> ([[u8; 2]; 4], usize) {
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

    /// All 14 patterns: the zero set of a linear function has its border counter-clockwise about the
    /// gradient.
    #[test]
    fn zero_sets_turn_about_the_gradient() {
        for positive in 1..15 {
            let values: [f64; 4] = std::array::from_fn(|i| if positive >> i & 1 == 1 { 1.0 } else { -1.0 });
            assert_eq!(signs(&values), positive);
            let gradient = Vector3::new(values[1] - values[0], values[2] - values[0], values[3] - values[0]);
            let mut polygon = ConvexPolygon::EMPTY;
            polygon.set(&ZeroSet::new(&TetCorners::new(&CORNERS, &[0.0; 4]), &values, positive));
            let (area, _) = polygon.corners(false).area_and_centroid(&gradient.normalize());
            assert!(area > 0.1, "pattern {positive:04b}: area {area}");
            let (reversed, _) = polygon.corners(true).area_and_centroid(&gradient.normalize());
            assert!((area + reversed).abs() < 1e-15, "pattern {positive:04b}: area {area}, reversed {reversed}");
        }
    }

    fn unit_square() -> ConvexPolygon {
        let mut polygon = ConvexPolygon { count: 4, ring: 0x03_02_01_00, used: 4, ..ConvexPolygon::EMPTY };
        for (point, [x, y]) in polygon.points.iter_mut().zip([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) {
            point.0[..2].copy_from_slice(&[x, y]);
        }
        polygon
    }

    /// The unit square cut by x + y <= 1.5: area 7/8 and centroid from the removed corner triangle.
    #[test]
    fn clips_a_corner() {
        let mut polygon = unit_square();
        let normal = Vector3::new(1.0, 1.0, 0.0).normalize();
        polygon.clip(&FacePlane { normal, offset: 1.5 / 2.0_f64.sqrt() });
        assert_eq!(polygon.count, 5);
        let (area, centroid) = polygon.corners(false).area_and_centroid(&Vector3::z());
        assert!((area - 0.875).abs() < 1e-15);
        let expected = (0.5 - 0.125 * (5.0 / 6.0)) / 0.875;
        assert!((centroid - Vector3::new(expected, expected, 0.0)).norm() < 1e-15);
    }
    /// A polygon beyond a plane is cut away entirely, and its area is zero.
    #[test]
    fn leaves_nothing_outside() {
        let mut polygon = unit_square();
        polygon.clip(&FacePlane { normal: Vector3::x(), offset: -0.5 });
        assert_eq!(polygon.count, 0);
        assert_eq!(polygon.corners(false).area_and_centroid(&Vector3::z()).0, 0.0);
        assert_eq!(polygon.corners(true).iter().count(), 0);
        let mut polygon = unit_square();
        polygon.clip(&FacePlane { normal: Vector3::x(), offset: f64::NAN });
        assert_eq!(polygon.count, 0);
    }

    /// Four planes each cut a corner off the unit square: this leaves eight corners, and a fifth plane
    /// removes half of the polygon.
    #[test]
    fn has_room_for_eight_corners() {
        let mut polygon = unit_square();
        let diagonal = |x: f64, y: f64| FacePlane {
            normal: Vector3::new(x, y, 0.0).normalize(),
            offset: (0.5 * (x + y) + 0.75) / 2.0_f64.sqrt(),
        };
        for (x, y) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            polygon.clip(&diagonal(x, y));
        }
        assert_eq!(polygon.count, CORNERS_MAX);
        let (area, centroid) = polygon.corners(false).area_and_centroid(&Vector3::z());
        assert!((area - 0.875).abs() < 1e-15, "{area}");
        assert!((centroid - Vector3::new(0.5, 0.5, 0.0)).norm() < 1e-15, "{centroid}");
        assert!((polygon.corners(true).area_and_centroid(&Vector3::z()).0 + 0.875).abs() < 1e-15);
    }

    /// Every pattern of inside and outside corners of a heptagon that rounding could give: the run of outside
    /// corners around the farthest one is removed, and the others stay in order.
    #[test]
    fn keeps_one_run_of_corners() {
        for outside in 1..127_u64 {
            let mut polygon = ConvexPolygon { count: 7, ring: 0x06_05_04_03_02_01_00, used: 7, ..ConvexPolygon::EMPTY };
            for (i, point) in polygon.points[..7].iter_mut().enumerate() {
                point.0[DISTANCES] = if outside >> i & 1 == 1 { 1e-3 * (i + 1) as f64 } else { -1.0 };
            }
            let farthest = 63 - outside.leading_zeros() as usize;
            assert_eq!(polygon.cut(0), Side::Cut);
            let first = (1..7).map(|i| (farthest + i) % 7).find(|i| outside >> i & 1 == 0).unwrap();
            assert_eq!(ConvexPolygon::number(polygon.ring, 0), first, "{outside:07b}");
            let run = (0..7).take_while(|i| (first + i) % 7 != farthest).collect::<Vec<_>>();
            let kept = run.iter().rev().skip_while(|i| outside >> ((first + *i) % 7) & 1 == 1).count();
            assert_eq!(polygon.count, kept + 2, "{outside:07b}");
            for slot in 0..kept {
                assert_eq!(ConvexPolygon::number(polygon.ring, slot), (first + slot) % 7, "{outside:07b}");
            }
        }
    }
}
