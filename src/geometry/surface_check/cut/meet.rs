//! The points and segments in which triangles meet.

use std::collections::{BTreeMap, BTreeSet};

use crate::math::Vector3;

/// Points, of which those within a tolerance are one.
pub(super) struct Points {
    vertices: Vec<Vector3>,
    cells: BTreeMap<[i64; 3], Vec<u32>>,
    tolerance: f64,
}

impl Points {
    pub(super) fn new(tolerance: f64) -> Self {
        Self { vertices: Vec::new(), cells: BTreeMap::new(), tolerance }
    }
    pub(super) fn tolerance(&self) -> f64 {
        self.tolerance
    }
    pub(super) fn at(&self, point: u32) -> Vector3 {
        self.vertices[point as usize]
    }
    pub(super) fn into_vertices(self) -> Vec<Vector3> {
        self.vertices
    }

    /// The number of the point at a position; a new one if there is none near.
    pub(super) fn id(&mut self, position: &Vector3) -> u32 {
        let width = 2.0 * self.tolerance;
        let cell = |offset: f64| -> [i64; 3] {
            std::array::from_fn(|axis| ((position[axis] + offset * self.tolerance) / width).floor() as i64)
        };
        let (low, high) = (cell(-1.0), cell(1.0));
        let mut best: Option<(f64, u32)> = None;
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    for other in self.cells.get(&[i, j, k]).into_iter().flatten() {
                        let distance = (self.vertices[*other as usize] - position).norm();
                        if distance <= self.tolerance && best.is_none_or(|(least, _)| distance < least) {
                            best = Some((distance, *other));
                        }
                    }
                }
            }
        }
        if let Some((_, known)) = best {
            return known;
        }
        let number = self.vertices.len() as u32;
        self.cells.entry(cell(0.0)).or_default().push(number);
        self.vertices.push(*position);
        number
    }

    /// Whether a point lies on the segment between two others, within the tolerance.
    pub(super) fn is_between(&self, point: u32, a: u32, b: u32) -> bool {
        point != a && point != b && self.on_segment(&self.at(point), &self.at(a), &self.at(b))
    }

    fn on_segment(&self, x: &Vector3, a: &Vector3, b: &Vector3) -> bool {
        let along = b - a;
        let t = (x - a).dot(&along) / along.norm_squared();
        t > 0.0 && t < 1.0 && (a + along * t - x).norm() <= self.tolerance
    }

    /// Whether a position lies on a triangle, within the tolerance.
    pub(super) fn holds(&self, triangle: &[u32; 3], x: &Vector3) -> bool {
        let corners = triangle.map(|corner| self.at(corner));
        let Some(normal) = self.unit_normal(&corners) else { return false };
        normal.dot(&(x - corners[0])).abs() <= self.tolerance && self.is_within(&corners, &normal, x)
    }

    fn unit_normal(&self, [a, b, c]: &[Vector3; 3]) -> Option<Vector3> {
        (b - a).cross(&(c - a)).try_normalize(self.tolerance * self.tolerance)
    }

    /// Whether the projection of a position on the plane of a triangle is in it or at most the tolerance
    /// outside.
    fn is_within(&self, corners: &[Vector3; 3], normal: &Vector3, x: &Vector3) -> bool {
        (0..3).all(|i| {
            let (from, to) = (corners[i], corners[(i + 1) % 3]);
            let inward = normal.cross(&(to - from));
            inward.dot(&(x - from)) >= -self.tolerance * inward.norm()
        })
    }
}

/// Where each triangle meets the others.
pub(super) struct Meetings {
    pub(super) points: Vec<BTreeSet<u32>>,
    /// Ends in increasing order.
    pub(super) segments: Vec<BTreeSet<[u32; 2]>>,
    /// The triangles in the same plane.
    pub(super) flat: Vec<Vec<usize>>,
}

impl Meetings {
    pub(super) fn new(count: usize) -> Self {
        Self {
            points: vec![BTreeSet::new(); count],
            segments: vec![BTreeSet::new(); count],
            flat: vec![Vec::new(); count],
        }
    }

    /// Adds the meeting of two triangles.
    pub(super) fn add(&mut self, pair: [usize; 2], triangles: &[[u32; 3]], points: &mut Points) {
        let ids = pair.map(|k| triangles[k]);
        let corners = ids.map(|ids| ids.map(|id| points.at(id)));
        let [Some(n), Some(m)] = [0, 1].map(|k| points.unit_normal(&corners[k])) else { return };
        let off = |corners: &[Vector3; 3], plane: &Vector3, normal: &Vector3| {
            corners.iter().map(|corner| normal.dot(&(corner - plane)).abs()).fold(0.0, f64::max)
        };
        let tolerance = points.tolerance;
        let is_flat =
            off(&corners[1], &corners[0][0], &n) <= tolerance || off(&corners[0], &corners[1][0], &m) <= tolerance;
        if is_flat {
            self.flat[pair[0]].push(pair[1]);
            self.flat[pair[1]].push(pair[0]);
            self.add_flat(pair, &corners, [&n, &m], points);
            return;
        }
        if ids[0].iter().filter(|id| ids[1].contains(id)).count() > 1 {
            return;
        }
        let mut found = BTreeSet::new();
        for (one, other, normal) in [(0, 1, &m), (1, 0, &n)] {
            for i in 0..3 {
                let (p, q) = (corners[one][i], corners[one][(i + 1) % 3]);
                let face = &corners[other];
                let (dp, dq) = (normal.dot(&(p - face[0])), normal.dot(&(q - face[0])));
                let mut candidates = Vec::new();
                candidates.extend((dp.abs() <= tolerance).then_some(p));
                candidates.extend((dq.abs() <= tolerance).then_some(q));
                if dp.abs() <= tolerance && dq.abs() <= tolerance {
                    for j in 0..3 {
                        candidates.extend(crossing(&p, &q, &face[j], &face[(j + 1) % 3], normal));
                    }
                } else if candidates.is_empty() && dp * dq < 0.0 {
                    candidates.push(p + (q - p) * (dp / (dp - dq)));
                }
                for x in candidates {
                    if points.is_within(face, normal, &x) && points.near_segment(&x, &p, &q) {
                        found.insert(points.id(&x));
                    }
                }
            }
        }
        let along = n.cross(&m);
        self.insert(&pair, &found, &along, points);
    }

    /// Adds points, and the segment between the outermost ones along a direction, to triangles.
    fn insert(&mut self, to: &[usize], found: &BTreeSet<u32>, along: &Vector3, points: &Points) {
        let key = |id: &&u32| points.at(**id).dot(along);
        let first = found.iter().min_by(|a, b| key(a).total_cmp(&key(b)));
        let last = found.iter().max_by(|a, b| key(a).total_cmp(&key(b)));
        for k in to {
            self.points[*k].extend(found);
            if let (Some(a), Some(b)) = (first, last)
                && a != b
            {
                self.segments[*k].insert([*a.min(b), *a.max(b)]);
            }
        }
    }

    /// Adds the parts of each one's edges that lie on the other, for two triangles in one plane.
    fn add_flat(&mut self, pair: [usize; 2], corners: &[[Vector3; 3]; 2], normals: [&Vector3; 2], points: &mut Points) {
        for (one, other) in [(0, 1), (1, 0)] {
            let (face, normal) = (&corners[other], normals[other]);
            for i in 0..3 {
                let (p, q) = (corners[one][i], corners[one][(i + 1) % 3]);
                let mut found = BTreeSet::new();
                let crossings = (0..3).filter_map(|j| crossing(&p, &q, &face[j], &face[(j + 1) % 3], normal));
                for x in [p, q].into_iter().chain(crossings) {
                    if points.is_within(face, normal, &x) {
                        found.insert(points.id(&x));
                    }
                }
                for corner in face {
                    if points.on_segment(corner, &p, &q) {
                        found.insert(points.id(corner));
                    }
                }
                self.insert(&[pair[other]], &found, &(q - p), points);
                self.points[pair[one]].extend(&found);
            }
        }
    }

    /// Adds the points where segments on a triangle cross.
    pub(super) fn cross(&mut self, triangles: &[[u32; 3]], points: &mut Points) {
        let mut on: BTreeMap<[u32; 2], BTreeSet<u32>> = BTreeMap::new();
        for (k, ids) in triangles.iter().enumerate() {
            let Some(normal) = points.unit_normal(&ids.map(|id| points.at(id))) else { continue };
            let segments: Vec<[u32; 2]> = self.segments[k].iter().copied().collect();
            for (i, s) in segments.iter().enumerate() {
                for t in &segments[..i] {
                    if s.iter().any(|end| t.contains(end)) {
                        continue;
                    }
                    let [a, b, c, d] = [s[0], s[1], t[0], t[1]].map(|id| points.at(id));
                    if let Some(x) = crossing(&a, &b, &c, &d, &normal) {
                        let x = points.id(&x);
                        on.entry(*s).or_default().insert(x);
                        on.entry(*t).or_default().insert(x);
                    }
                }
            }
        }
        for (segments, inner) in self.segments.iter().zip(&mut self.points) {
            segments.iter().filter_map(|segment| on.get(segment)).for_each(|points| inner.extend(points));
        }
    }
}

impl Points {
    fn near_segment(&self, x: &Vector3, a: &Vector3, b: &Vector3) -> bool {
        (x - a).norm() <= self.tolerance || (x - b).norm() <= self.tolerance || self.on_segment(x, a, b)
    }
}

/// The point where two segments in a plane cross, between the ends of both or at them.
fn crossing(a: &Vector3, b: &Vector3, c: &Vector3, d: &Vector3, normal: &Vector3) -> Option<Vector3> {
    let (u, v) = (b - a, d - c);
    let det = normal.dot(&u.cross(&v));
    if det.abs() <= 1e-9 * u.norm() * v.norm() {
        return None;
    }
    let s = normal.dot(&(c - a).cross(&v)) / det;
    let t = normal.dot(&(c - a).cross(&u)) / det;
    let range = -1e-9..=1.0 + 1e-9;
    (range.contains(&s) && range.contains(&t)).then(|| a + u * s)
}
