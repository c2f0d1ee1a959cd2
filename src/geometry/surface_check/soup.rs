//! Triangles that need not enclose anything, made ready for a wrap: welded, turned outward, and without
//! the open parts that lie inside.
//!
//! Triangles that share an edge with one other form a patch. The outer side of a patch is the one from which
//! more lines reach infinity [Takayama et al. 2014]. If that does not decide, or few do, it is the one from
//! which more lines cross other triangles an even number of times.

use super::defect::SurfaceDefect;
use super::orient;
use super::work::Work;
use super::{SurfaceReport, weld};
use crate::geometry::Aabb;
use crate::geometry::SurfaceMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::mesh::{check_indices, check_vertices};
use crate::math::Vector3;

/// Points of a patch from which its two sides are examined.
const SAMPLES: usize = 24;
/// The lines from each point: along the normal and inclined by 45 degrees (share along the normal, shares
/// along two tangents). None is parallel to an axis of the file. [-]
const LINES: [[f64; 3]; 4] = [[1.0, 0.0131, 0.0072], [0.7, 0.69, 0.11], [0.7, -0.43, 0.57], [0.7, -0.29, -0.65]];

/// A patch from which fewer lines reach infinity is seen through holes only. Its sides then follow from the
/// number of triangles on each line. [-]
const SEEN_MIN: f64 = 0.25;

/// Triangles for a wrap.
pub(crate) struct Soup {
    pub(crate) mesh: SurfaceMesh,
    pub(crate) report: SurfaceReport,
}

/// Counts of the lines from the two sides of a patch: those that reach infinity, and those that cross an even
/// number of triangles.
#[derive(Clone, Copy, Default)]
struct Seen {
    free: [usize; 2],
    even: [usize; 2],
    /// The number of lines from each side.
    lines: usize,
}

/// Prepares any triangles for a wrap.
///
/// # Errors
/// Broken arrays, or no triangle with an area.
pub(crate) fn soup(mesh: &SurfaceMesh) -> Result<Soup, SurfaceDefect> {
    check_vertices(&mesh.vertices)?;
    check_indices(mesh.triangles.iter().map(|t| t.as_slice()), mesh.vertices.len())?;
    let mut work = Work::new(mesh);
    weld::weld(&mut work)?;
    // A patch with one side keeps the directions that were found for it.
    let _ = orient::agree(&mut work);
    let rays = Rays::new(&work);
    let patches = orient::patches(&work);
    let mut gone = vec![false; work.triangles.len()];
    let mut turned = vec![false; work.triangles.len()];
    let (mut turned_area, mut seen_area) = (0.0, 0.0);
    let mut hidden = Vec::new();
    for patch in &patches {
        let Seen { free, even, lines } = rays.seen(&work, &patch.triangles);
        let is_seen = free[0].max(free[1]) as f64 >= SEEN_MIN * lines as f64 && free[0] != free[1];
        let is_turned = if is_seen { free[1] > free[0] } else { even[1] > even[0] };
        if free == [0, 0] {
            // No line from outside reaches it: a closed part may bound a cavity, an open one bounds nothing.
            if patch.is_open {
                patch.triangles.iter().for_each(|triangle| gone[*triangle] = true);
                work.report.loose += 1;
            } else {
                hidden.push(patch);
            }
            continue;
        }
        let area: f64 = patch.triangles.iter().map(|triangle| work.area_vector(*triangle).norm()).sum();
        seen_area += area;
        if is_turned {
            turned_area += area;
            patch.triangles.iter().for_each(|triangle| turned[*triangle] = true);
        }
    }
    if 2.0 * turned_area > seen_area {
        hidden.iter().flat_map(|patch| &patch.triangles).for_each(|triangle| turned[*triangle] = true);
    }
    for triangle in (0..turned.len()).filter(|triangle| turned[*triangle]) {
        work.triangles[triangle].swap(1, 2);
        work.report.turned += 1;
    }
    work.report.components = patches.len();
    work.leave_out(&gone);
    weld::compact(&mut work);
    if work.triangles.is_empty() {
        return Err(SurfaceDefect::Empty { triangles: work.report.triangles_given });
    }
    work.report.open_edges = work.open_edges();
    Ok(Soup { mesh: SurfaceMesh { vertices: work.vertices, triangles: work.triangles }, report: work.report })
}

/// Lines through the triangles.
struct Rays {
    tree: Bvh,
    corners: Vec<[Vector3; 3]>,
}

impl Rays {
    fn new(work: &Work) -> Self {
        let corners: Vec<[Vector3; 3]> = (0..work.triangles.len()).map(|triangle| work.corners(triangle)).collect();
        let boxes = corners.iter().enumerate().map(|(k, corners)| (k as u32, Aabb::around(corners)));
        Self { tree: Bvh::new(boxes), corners }
    }

    /// The number of triangles that a line from `start` crosses, other than `own`.
    fn crossings(&self, start: &Vector3, along: &Vector3, own: usize) -> usize {
        let mut count = 0;
        self.tree.walk(
            |bounds| hits_box(bounds, start, along),
            |triangle, _| {
                let [a, b, c] = self.corners[triangle as usize];
                let volume = |p: &Vector3, q: &Vector3| along.dot(&(p - start).cross(&(q - start)));
                let sides = [volume(&a, &b), volume(&b, &c), volume(&c, &a)];
                let normal = (b - a).cross(&(c - a));
                let ahead = normal.dot(&(a - start)) / normal.dot(along) > 0.0;
                let inside = sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0);
                count += usize::from(triangle as usize != own && ahead && inside);
            },
        );
        count
    }

    fn seen(&self, work: &Work, patch: &[usize]) -> Seen {
        let mut seen = Seen::default();
        let samples = SAMPLES.min(patch.len());
        for sample in 0..samples {
            let triangle = patch[sample * patch.len() / samples];
            let Some(normal) = work.area_vector(triangle).try_normalize(0.0) else { continue };
            let helper = if normal.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
            let u = normal.cross(&helper).normalize();
            let w = normal.cross(&u);
            let center = work.center(triangle).0;
            for [share, s, t] in LINES {
                seen.lines += 1;
                for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                    let along = normal * (sign * share) + u * s + w * t;
                    let count = self.crossings(&center, &along, triangle);
                    seen.free[side] += usize::from(count == 0);
                    seen.even[side] += usize::from(count.is_multiple_of(2));
                }
            }
        }
        seen
    }
}

/// Whether a half line meets a box.
fn hits_box(bounds: &Aabb, start: &Vector3, along: &Vector3) -> bool {
    let (mut from, mut to) = (0.0, f64::INFINITY);
    for axis in 0..3 {
        let (low, high) = (bounds.min[axis] - start[axis], bounds.max[axis] - start[axis]);
        if along[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
            continue;
        }
        let (a, b) = (low / along[axis], high / along[axis]);
        from = f64::max(from, a.min(b));
        to = f64::min(to, a.max(b));
    }
    from <= to
}
