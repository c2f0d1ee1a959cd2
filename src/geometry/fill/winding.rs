//! Inside and outside by how often the surface goes around a point.
//!
//! Where a surface goes through itself, or parts of it touch, the normal at the nearest point says nothing about inside and
//! outside. The winding number does: it is the number of times a line to the point has entered less the number of times it
//! has left, and points with a positive one form the union of the parts. Lines run along x. Two triangles see a common edge
//! through the same rounded number, so that a line enters and leaves a closed surface equally often; where rounding at a
//! vertex breaks that, the line is moved by a hair and tried again.

use super::lattice::Lattice;
use crate::geometry::bvh::Bvh;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// Lines that a tie spoils are moved by this share of the surface's size, a few times. [-]
const NUDGE: f64 = 1e-9;
const NUDGES: usize = 6;
/// Lattice edges are moved by this share of their length while crossings are counted, off the edges of the triangles. [-]
const EDGE_NUDGE: f64 = 1e-7;
/// Halvings of a lattice edge where its crossings cannot be counted.
const HALVINGS: usize = 45;
/// Lines along each of two axes that measure the volume.
const VOLUME_LINES: usize = 128;

/// A closed surface that may go through itself.
pub(super) struct Winding<'a> {
    mesh: &'a SurfaceMesh,
    bvh: Bvh,
}

impl<'a> Winding<'a> {
    /// For a mesh with indices in range whose edges are passed equally often in both directions.
    pub(super) fn new(mesh: &'a SurfaceMesh) -> Self {
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| mesh.vertices[vertex as usize]);
        let boxes = mesh.triangles.iter().enumerate().map(|(k, triangle)| (k as u32, Aabb::around(&corners(triangle))));
        Self { mesh, bvh: Bvh::new(boxes) }
    }

    /// Where the line along x through (y, z) crosses the surface, sorted: x [m], and +1 where it enters, -1 where it leaves.
    fn line(&self, y: f64, z: f64, crossings: &mut Vec<(f64, i32)>) {
        let bounds = self.bvh.bounds();
        let size = (bounds.max - bounds.min).norm();
        let (mut y, mut z) = (y, z);
        for attempt in 0..NUDGES {
            self.cross(y, z, crossings);
            if crossings.iter().map(|crossing| crossing.1).sum::<i32>() == 0 {
                return;
            }
            let nudge = NUDGE * size * (attempt + 1) as f64;
            (y, z) = (y + 0.754_877_666 * nudge, z + 0.569_840_291 * nudge);
        }
        // no line without a tie: nothing is known to be inside here
        crossings.clear();
    }

    fn cross(&self, y: f64, z: f64, crossings: &mut Vec<(f64, i32)>) {
        crossings.clear();
        let holds = |b: &Aabb| b.min.y <= y && y <= b.max.y && b.min.z <= z && z <= b.max.z;
        self.bvh.walk(holds, |triangle, bounds| {
            let ids = self.mesh.triangles[triangle as usize];
            let p = ids.map(|vertex| self.mesh.vertices[vertex as usize]);
            let side: [f64; 3] = std::array::from_fn(|i| {
                let j = (i + 1) % 3;
                // the same number, with the sign turned, for the triangle on the other side of the edge
                let turned = ids[i] > ids[j];
                let (a, b) = if turned { (p[j], p[i]) } else { (p[i], p[j]) };
                let side = (a.y - y) * (b.z - z) - (a.z - z) * (b.y - y);
                let side = if side == 0.0 { f64::MIN_POSITIVE } else { side };
                if turned { -side } else { side }
            });
            let leaves = side.iter().all(|side| *side > 0.0);
            if leaves || side.iter().all(|side| *side < 0.0) {
                let sum: f64 = side.iter().sum();
                let x = (side[1] * p[0].x + side[2] * p[1].x + side[0] * p[2].x) / sum;
                crossings.push((x.clamp(bounds.min.x, bounds.max.x), if leaves { -1 } else { 1 }));
            }
        });
        crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    }

    /// The winding number of a point.
    pub(super) fn at(&self, point: &Vector3, crossings: &mut Vec<(f64, i32)>) -> i32 {
        self.line(point.y, point.z, crossings);
        crossings.iter().take_while(|crossing| crossing.0 < point.x).map(|crossing| crossing.1).sum()
    }

    /// The volume of the points with a positive winding number [m³], by lines.
    pub(super) fn volume(&self) -> f64 {
        let bounds = self.bvh.bounds();
        let cell = (bounds.max - bounds.min) / VOLUME_LINES as f64;
        let mut crossings = Vec::new();
        let mut length = 0.0;
        for k in 0..VOLUME_LINES {
            for j in 0..VOLUME_LINES {
                let (y, z) = (bounds.min.y + (j as f64 + 0.5) * cell.y, bounds.min.z + (k as f64 + 0.5) * cell.z);
                self.line(y, z, &mut crossings);
                let mut winding = 0;
                for pair in crossings.windows(2) {
                    winding += pair[0].1;
                    if winding > 0 {
                        length += pair[1].0 - pair[0].0;
                    }
                }
            }
        }
        length * cell.y * cell.z
    }

    /// Less the winding number at each lattice point inside; 1 at each one outside.
    pub(super) fn sample(&self, lattice: &Lattice) -> Vec<f64> {
        let mut phi = vec![1.0; lattice.len()];
        let mut crossings = Vec::new();
        for line in lattice.lines() {
            let start = lattice.position(line);
            self.line(start.y, start.z, &mut crossings);
            let mut next = crossings.iter().peekable();
            let mut winding = 0;
            let mut site = line;
            while !crossings.is_empty() && lattice.contains(site) {
                let x = lattice.position(site).x;
                while let Some(crossing) = next.next_if(|crossing| crossing.0 < x) {
                    winding += crossing.1;
                }
                if winding > 0 {
                    phi[lattice.number(site) as usize] = -f64::from(winding);
                }
                site[0] += 2;
            }
        }
        phi
    }

    /// Where the way from `inside`, with the given winding number, to `outside` leaves the union.
    pub(super) fn cut_point(&self, inside: Vector3, winding: i32, outside: Vector3) -> Vector3 {
        let along = outside - inside;
        let offset = Vector3::new(0.371, 0.617, 0.709) * (EDGE_NUDGE * along.norm());
        let start = inside + offset;
        let reach = Aabb::around(&[inside, outside, start, start + along]);
        let mut crossings: Vec<(f64, i32)> = Vec::new();
        self.bvh.walk(
            |bounds| bounds.overlaps(&reach),
            |triangle, _| {
                let [a, b, c] = self.mesh.triangles[triangle as usize].map(|v| self.mesh.vertices[v as usize]);
                let normal = (b - a).cross(&(c - a));
                let rate = normal.dot(&along);
                let t = normal.dot(&(a - start)) / rate;
                let at = start + along * t;
                let within = [(a, b), (b, c), (c, a)]
                    .iter()
                    .all(|(from, to)| normal.cross(&(to - from)).dot(&(at - from)) >= 0.0);
                if rate != 0.0 && (0.0..=1.0).contains(&t) && within {
                    // on the lattice edge itself, not beside it
                    let exact = (normal.dot(&(a - inside)) / rate).clamp(0.0, 1.0);
                    crossings.push((exact, if rate > 0.0 { -1 } else { 1 }));
                }
            },
        );
        crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut count = winding;
        for (t, change) in crossings {
            count += change;
            if count <= 0 {
                return inside + along * t;
            }
        }
        self.halve(inside, outside)
    }

    fn halve(&self, mut inside: Vector3, mut outside: Vector3) -> Vector3 {
        let mut crossings = Vec::new();
        for _ in 0..HALVINGS {
            let middle = (inside + outside) * 0.5;
            if self.at(&middle, &mut crossings) > 0 { inside = middle } else { outside = middle }
        }
        inside
    }
}
