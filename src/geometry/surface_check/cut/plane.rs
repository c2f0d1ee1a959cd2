//! Triangulates a triangle with points and segments on it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::meet::Points;

/// The number of flips per point after which a segment counts as impossible.
const FLIPS_MAX: usize = 64;

/// Triangles in a plane; positions in two coordinates over the point's number.
struct Plane<'a> {
    at: BTreeMap<u32, [f64; 2]>,
    triangles: Vec<[u32; 3]>,
    points: &'a Points,
}

/// Cuts the triangle `corners` at the points `inner` and along `segments`. `None` if rounding prevents it.
pub(super) fn triangulate(
    corners: &[u32; 3],
    inner: &BTreeSet<u32>,
    segments: &BTreeSet<[u32; 2]>,
    points: &Points,
) -> Option<Vec<[u32; 3]>> {
    let [a, b, c] = corners.map(|corner| points.at(corner));
    let u = (b - a).try_normalize(0.0)?;
    let v = (b - a).cross(&(c - a)).try_normalize(0.0)?.cross(&u);
    let flat = |id: &u32| {
        let x = points.at(*id) - a;
        (*id, [u.dot(&x), v.dot(&x)])
    };
    let at = corners.iter().chain(inner).map(flat).collect();
    let mut plane = Plane { at, triangles: vec![*corners], points };
    // Points on the border come first, so that those inside find it divided.
    let is_on_border = |id: &&u32| (0..3).any(|i| points.is_between(**id, corners[i], corners[(i + 1) % 3]));
    let (border, inside): (Vec<&u32>, Vec<&u32>) = inner.iter().partition(is_on_border);
    for id in border {
        let on = |i: usize| points.is_between(*id, corners[i], corners[(i + 1) % 3]);
        plane.split_border(
            *id,
            &(0..3).filter(|i| on(*i)).map(|i| [corners[i], corners[(i + 1) % 3]]).collect::<Vec<_>>(),
        )?;
    }
    inside.into_iter().try_for_each(|id| plane.insert(*id))?;
    let mut fixed = BTreeSet::new();
    for [a, b] in segments {
        let mut on: Vec<u32> = plane.at.keys().copied().filter(|id| points.is_between(*id, *a, *b)).collect();
        on.extend([*a, *b]);
        let along = points.at(*b) - points.at(*a);
        on.sort_by(|p, q| points.at(*p).dot(&along).total_cmp(&points.at(*q).dot(&along)));
        for ends in on.windows(2) {
            plane.force(ends[0], ends[1], &fixed)?;
            fixed.insert([ends[0].min(ends[1]), ends[0].max(ends[1])]);
        }
    }
    plane.improve(&fixed);
    Some(plane.triangles)
}

impl Plane<'_> {
    /// Twice the signed area of three points \[m²\].
    fn area(&self, a: u32, b: u32, c: u32) -> f64 {
        let [p, q, r] = [a, b, c].map(|id| self.at[&id]);
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    }

    /// The triangles with the edge from `a` to `b` in that direction: its number and third corner.
    fn beside(&self, a: u32, b: u32) -> Option<(usize, u32)> {
        self.triangles
            .iter()
            .enumerate()
            .find_map(|(k, t)| (0..3).find(|i| t[*i] == a && t[(i + 1) % 3] == b).map(|i| (k, t[(i + 2) % 3])))
    }

    fn split_edge(&mut self, a: u32, b: u32, point: u32) {
        for (a, b) in [(a, b), (b, a)] {
            if let Some((k, c)) = self.beside(a, b) {
                self.triangles[k] = [a, point, c];
                self.triangles.push([point, b, c]);
            }
        }
    }

    /// Splits the part of the border on which a point lies, of one of the sides given.
    fn split_border(&mut self, point: u32, sides: &[[u32; 2]]) -> Option<()> {
        let [from, to] = *sides.first()?;
        let along = self.points.at(to) - self.points.at(from);
        let rank = |id: u32| (self.points.at(id) - self.points.at(from)).dot(&along);
        let on_side = |id: u32| id == from || id == to || self.points.is_between(id, from, to);
        let edge = self.triangles.iter().flat_map(|t| (0..3).map(|i| [t[i], t[(i + 1) % 3]])).find(|[a, b]| {
            on_side(*a)
                && on_side(*b)
                && rank(*a) < rank(point)
                && rank(point) < rank(*b)
                && self.beside(*b, *a).is_none()
        })?;
        self.split_edge(edge[0], edge[1], point);
        Some(())
    }

    /// Inserts a point into the triangle or on the edge where it lies.
    fn insert(&mut self, point: u32) -> Option<()> {
        let near = self.triangles.iter().flat_map(|t| (0..3).map(|i| [t[i], t[(i + 1) % 3]]));
        let edge =
            near.into_iter().find(|[a, b]| self.points.is_between(point, *a, *b) && self.beside(*b, *a).is_some());
        if let Some([a, b]) = edge {
            self.split_edge(a, b, point);
            return Some(());
        }
        let inward =
            |t: &[u32; 3]| (0..3).map(|i| self.area(t[i], t[(i + 1) % 3], point)).fold(f64::INFINITY, f64::min);
        let k = (0..self.triangles.len())
            .max_by(|a, b| inward(&self.triangles[*a]).total_cmp(&inward(&self.triangles[*b])))?;
        let [a, b, c] = self.triangles[k];
        if inward(&[a, b, c]) <= 0.0 {
            return None;
        }
        self.triangles[k] = [a, b, point];
        self.triangles.extend([[b, c, point], [c, a, point]]);
        Some(())
    }

    /// Flips edges until one joins `a` and `b` [Sloan 1993].
    fn force(&mut self, a: u32, b: u32, fixed: &BTreeSet<[u32; 2]>) -> Option<()> {
        if self.beside(a, b).or_else(|| self.beside(b, a)).is_some() {
            return Some(());
        }
        let crosses = |plane: &Self, [c, d]: [u32; 2]| {
            ![c, d].iter().any(|end| *end == a || *end == b)
                && plane.area(a, b, c) * plane.area(a, b, d) < 0.0
                && plane.area(c, d, a) * plane.area(c, d, b) < 0.0
        };
        let edges = self.triangles.iter().flat_map(|t| (0..3).map(|i| [t[i], t[(i + 1) % 3]]));
        let mut queue: VecDeque<[u32; 2]> = edges.filter(|[c, d]| c < d && crosses(self, [*c, *d])).collect();
        let mut flips = FLIPS_MAX * self.at.len();
        while let Some([c, d]) = queue.pop_front() {
            flips = flips.checked_sub(1)?;
            if fixed.contains(&[c, d]) {
                return None;
            }
            match self.flip(c, d) {
                None => queue.push_back([c, d]),
                Some([e, f]) if crosses(self, [e, f]) => queue.push_back([e.min(f), e.max(f)]),
                Some(_) => {}
            }
        }
        self.beside(a, b).or_else(|| self.beside(b, a)).map(|_| ())
    }

    /// Replaces the edge of two triangles by the other diagonal, and returns it; `None` if they form no
    /// convex quadrangle.
    fn flip(&mut self, c: u32, d: u32) -> Option<[u32; 2]> {
        let ((k, e), (l, f)) = (self.beside(c, d)?, self.beside(d, c)?);
        if self.area(e, c, f) <= 0.0 || self.area(f, d, e) <= 0.0 {
            return None;
        }
        self.triangles[k] = [e, c, f];
        self.triangles[l] = [f, d, e];
        Some([e, f])
    }

    /// Flips edges that are not fixed to those of the Delaunay triangulation, for a few rounds.
    fn improve(&mut self, fixed: &BTreeSet<[u32; 2]>) {
        let cosine = |plane: &Self, apex: u32, a: u32, b: u32| {
            let [o, p, q] = [apex, a, b].map(|id| plane.at[&id]);
            let (u, v) = ([p[0] - o[0], p[1] - o[1]], [q[0] - o[0], q[1] - o[1]]);
            (u[0] * v[0] + u[1] * v[1]) / (u[0].hypot(u[1]) * v[0].hypot(v[1]))
        };
        for _ in 0..8 {
            let edges: Vec<[u32; 2]> =
                self.triangles.iter().flat_map(|t| (0..3).map(|i| [t[i], t[(i + 1) % 3]])).collect();
            let mut flipped = false;
            for [c, d] in edges.into_iter().filter(|[c, d]| c < d && !fixed.contains(&[*c, *d])) {
                let (Some((_, e)), Some((_, f))) = (self.beside(c, d), self.beside(d, c)) else { continue };
                // Opposite angles above 180 degrees together
                let sum = cosine(self, e, c, d).clamp(-1.0, 1.0).acos() + cosine(self, f, c, d).clamp(-1.0, 1.0).acos();
                if sum > std::f64::consts::PI + 1e-9 {
                    flipped |= self.flip(c, d).is_some();
                }
            }
            if !flipped {
                break;
            }
        }
    }
}
