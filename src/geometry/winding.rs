//! Inside and outside by winding numbers.
//!
//! Where a surface intersects itself, or parts of it touch, the normal at the nearest point does not separate
//! inside from outside. The winding number does: the number of times that a line to the point has entered the
//! surface minus the number of times that it has left. Points with a positive winding number form the union
//! of the parts. Lines run along x. Two triangles compute the same rounded number for a common edge, so that
//! a line enters and leaves a closed surface equally often. If rounding at a vertex breaks this, the line is
//! shifted slightly and tried again.

use super::bvh::Bvh;
use super::{Aabb, SurfaceMesh};
use crate::math::{Matrix3, Vector3};

/// A line through a vertex or an edge is shifted by this share of the surface's size, a few times. [-]
const NUDGE: f64 = 1e-9;
const NUDGES: usize = 6;
/// The number of lines along each of two axes for measuring the volume.
const VOLUME_LINES: usize = 128;
/// The same for the centre of mass and the inertia.
const MOMENT_LINES: usize = 256;

/// A crossing of a line along x with a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// The position of the crossing \[m\].
    pub(crate) x: f64,
    /// +1 where the line enters, -1 where it leaves.
    pub(crate) change: i32,
    /// The triangle it goes through.
    pub(crate) triangle: u32,
}

/// A closed surface that may intersect itself.
pub(crate) struct Winding<'a> {
    mesh: &'a SurfaceMesh,
    bvh: Bvh,
}

impl<'a> Winding<'a> {
    /// The winding numbers of a mesh with indices in range, whose edges are passed equally often in both
    /// directions.
    pub(crate) fn new(mesh: &'a SurfaceMesh) -> Self {
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| mesh.vertices[vertex as usize]);
        let boxes = mesh.triangles.iter().enumerate().map(|(k, triangle)| (k as u32, Aabb::around(&corners(triangle))));
        Self { mesh, bvh: Bvh::new(boxes) }
    }

    /// The triangles and the tree over them.
    pub(crate) fn parts(&self) -> (&SurfaceMesh, &Bvh) {
        (self.mesh, &self.bvh)
    }

    /// The crossings of the line along x through (y, z) with the surface, sorted along the line.
    pub(crate) fn line(&self, y: f64, z: f64, crossings: &mut Vec<Crossing>) {
        let bounds = self.bvh.bounds();
        let size = (bounds.max - bounds.min).norm();
        let (mut y, mut z) = (y, z);
        for attempt in 0..NUDGES {
            self.cross(y, z, crossings);
            if crossings.iter().map(|crossing| crossing.change).sum::<i32>() == 0 {
                return;
            }
            let nudge = NUDGE * size * (attempt + 1) as f64;
            (y, z) = (y + 0.754_877_666 * nudge, z + 0.569_840_291 * nudge);
        }
        // Every line tried meets a vertex or an edge, so all points of the line count as outside.
        crossings.clear();
    }

    fn cross(&self, y: f64, z: f64, crossings: &mut Vec<Crossing>) {
        crossings.clear();
        let holds = |b: &Aabb| b.min.y <= y && y <= b.max.y && b.min.z <= z && z <= b.max.z;
        self.bvh.walk(holds, |triangle, bounds| {
            let ids = self.mesh.triangles[triangle as usize];
            let p = ids.map(|vertex| self.mesh.vertices[vertex as usize]);
            let side: [f64; 3] = std::array::from_fn(|i| {
                let j = (i + 1) % 3;
                // The triangle on the other side of the edge gets the same number with the opposite sign.
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
                let x = x.clamp(bounds.min.x, bounds.max.x);
                crossings.push(Crossing { x, change: if leaves { -1 } else { 1 }, triangle });
            }
        });
        crossings.sort_unstable_by(|a, b| {
            a.x.total_cmp(&b.x).then(b.change.cmp(&a.change)).then(a.triangle.cmp(&b.triangle))
        });
    }

    /// The winding number of a point.
    pub(crate) fn at(&self, point: &Vector3, crossings: &mut Vec<Crossing>) -> i32 {
        self.line(point.y, point.z, crossings);
        crossings.iter().take_while(|crossing| crossing.x < point.x).map(|crossing| crossing.change).sum()
    }

    /// Calls `part` with y, z and the two ends in x of each part of a line along x with a positive winding
    /// number, on `lines` times `lines` lines through the bounds. Returns the size of the box around a line
    /// \[m\].
    fn parts_inside(&self, lines: usize, part: impl FnMut(f64, f64, [f64; 2])) -> Vector3 {
        self.parts_within(&self.bvh.bounds(), lines, part)
    }

    /// The same on lines through a given box.
    fn parts_within(&self, bounds: &Aabb, lines: usize, mut part: impl FnMut(f64, f64, [f64; 2])) -> Vector3 {
        let cell = (bounds.max - bounds.min) / lines as f64;
        let mut crossings = Vec::new();
        for k in 0..lines {
            for j in 0..lines {
                let (y, z) = (bounds.min.y + (j as f64 + 0.5) * cell.y, bounds.min.z + (k as f64 + 0.5) * cell.z);
                self.line(y, z, &mut crossings);
                let mut winding = 0;
                for pair in crossings.windows(2) {
                    winding += pair[0].change;
                    if winding > 0 {
                        part(y, z, [pair[0].x, pair[1].x]);
                    }
                }
            }
        }
        cell
    }

    /// Volume \[m3\] and centroid \[m\] of the points with a positive winding number, and the integral of
    /// x x^T over them about the centroid \[m5\], measured with lines.
    pub(crate) fn second_moments(&self) -> (f64, Vector3, Matrix3) {
        let bounds = self.bvh.bounds();
        let (middle, size) = (bounds.center(), (bounds.max - bounds.min) / MOMENT_LINES as f64);
        let (mut length, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        // The second moment of a cell's cross-section about its own middle, per area.
        let across = Vector3::new(0.0, size.y * size.y, size.z * size.z) / 12.0;
        let cell = self.parts_inside(MOMENT_LINES, |y, z, [from, to]| {
            let part = to - from;
            let at = Vector3::new(0.5 * (from + to), y, z) - middle;
            let own = across + Vector3::new(part * part / 12.0, 0.0, 0.0);
            length += part;
            first += at * part;
            second += (at * at.transpose() + Matrix3::from_diagonal(&own)) * part;
        });
        if length <= 0.0 {
            return (0.0, middle, Matrix3::zeros());
        }
        let (area, offset) = (cell.y * cell.z, first / length);
        (length * area, middle + offset, (second - offset * offset.transpose() * length) * area)
    }

    /// The volume of the points with a positive winding number \[m³\], measured with lines.
    pub(crate) fn volume(&self) -> f64 {
        self.volume_within(&self.bvh.bounds())
    }

    /// The same, measured with lines through a given box.
    pub(crate) fn volume_within(&self, bounds: &Aabb) -> f64 {
        let mut length = 0.0;
        let cell = self.parts_within(bounds, VOLUME_LINES, |_, _, [from, to]| length += to - from);
        length * cell.y * cell.z
    }

    /// The box around the triangles.
    pub(crate) fn bounds(&self) -> Aabb {
        self.bvh.bounds()
    }
}
