//! The inside of triangles that need not enclose anything, for a wrap.
//!
//! A point is inside if the winding number there, from solid angles, is above 1/2, or if it is nearer than
//! half the wrap's distance to a sheet: a triangle behind which the material is thinner than that. Holes are
//! spanned by the surface on which the winding number is 1/2.

use super::lattice::Lattice;
use crate::geometry::bvh::Bvh;
use crate::geometry::mesh_measure::area;
use crate::geometry::solid_angle::SolidAngles;
use crate::geometry::surface_check::Soup;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// Points with a larger winding number are inside. [-]
const INSIDE: f64 = 0.5;
/// The distance from a triangle at which its sides are examined, as a share of the size of the whole. [-]
const ASIDE: f64 = 1e-5;
/// A block of lattice points without triangles near by counts as a whole if the winding numbers at its
/// corners and centre are farther than this from the threshold. [-]
const CLEAR: f64 = 0.15;
/// Halvings of a lattice edge in search of its cut.
const HALVINGS: usize = 24;
/// Triangles with edges longer than this many times the wrap's distance are examined in parts, which are
/// halved at most [`DIVISIONS_MAX`] times. [-]
const PART_EDGE: f64 = 4.0;
/// See [`PART_EDGE`].
const DIVISIONS_MAX: u32 = 5;
/// The largest number of parts that the area is divided into. If parts of [`PART_EDGE`] were more, the area
/// would be above 7e5 squares of the distance. As plates, on a lattice twice as coarse as the distance, it
/// would take a million tetrahedra, which is the largest default limit. [-]
const PARTS_MAX: f64 = 4e5;
/// The smallest area of an equilateral part over the square of the longest edge that is not divided: the
/// square root of 3 over 16. [-]
const PART_AREA_MIN: f64 = 0.108;
/// Points along the longest side of the box in which the volume is measured.
const VOLUME_POINTS: f64 = 64.0;

/// Triangles with an inside.
pub(crate) struct Wrap<'a> {
    angles: SolidAngles<'a>,
    triangles: Bvh,
    sheets: Option<Sheets>,
}

/// The triangles, and parts of larger ones, with too little material behind them.
struct Sheets {
    parts: Vec<[Vector3; 3]>,
    tree: Bvh,
    /// The number of triangles that they belong to.
    triangles: usize,
    /// Half the thickness that they get \[m\].
    half: f64,
}

impl<'a> Wrap<'a> {
    /// The inside of `soup`, whose sheets become plates of `thickness` \[m\].
    pub(crate) fn new(soup: &'a Soup, thickness: f64) -> Self {
        let mesh = &soup.mesh;
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| mesh.vertices[vertex as usize]);
        let boxes = mesh.triangles.iter().enumerate().map(|(k, triangle)| (k as u32, Aabb::around(&corners(triangle))));
        let mut wrap = Self { angles: SolidAngles::new(mesh), triangles: Bvh::new(boxes), sheets: None };
        let bounds = wrap.triangles.bounds();
        let aside = ASIDE * (bounds.max - bounds.min).norm();
        let is_sheet = |[a, b, c]: &[Vector3; 3]| {
            let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { return false };
            let center = (a + b + c) / 3.0;
            let front = wrap.angles.at(&(center + normal * aside));
            let behind = wrap.angles.at(&(center - normal * (0.5 * thickness).max(aside)));
            front <= INSIDE && behind <= INSIDE
        };
        let edge_max = part_edge(mesh, thickness);
        let (mut parts, mut triangles) = (Vec::new(), 0);
        // The lids of holes that could not be cut bound nothing.
        let examined = if soup.report.uncut > 0 { &[] } else { mesh.triangles.as_slice() };
        for triangle in examined {
            let before = parts.len();
            push_sheets(corners(triangle), edge_max, DIVISIONS_MAX, &is_sheet, &mut parts);
            triangles += usize::from(parts.len() > before);
        }
        if !parts.is_empty() {
            let tree = Bvh::new(parts.iter().enumerate().map(|(k, part)| (k as u32, Aabb::around(part))));
            wrap.sheets = Some(Sheets { parts, tree, triangles, half: 0.5 * thickness });
        }
        wrap
    }

    /// The number of triangles that are sheets, at least in part.
    pub(super) fn sheets(&self) -> usize {
        self.sheets.as_ref().map_or(0, |sheets| sheets.triangles)
    }

    /// The largest distance of the inside from the triangles \[m\].
    fn reach(&self) -> f64 {
        self.sheets.as_ref().map_or(0.0, |sheets| sheets.half)
    }

    /// The box around the inside.
    pub(super) fn bounds(&self) -> Aabb {
        self.triangles.bounds().grown(self.reach())
    }

    /// Whether a point is inside.
    pub(super) fn contains(&self, point: &Vector3) -> bool {
        self.angles.at(point) > INSIDE || self.sheets.as_ref().is_some_and(|sheets| sheets.holds(point))
    }

    /// -1 at each lattice point inside, 1 at each one outside.
    pub(super) fn sample(&self, lattice: &Lattice) -> Vec<f64> {
        let mut phi = vec![1.0; lattice.len()];
        lattice.blocks(|low, high, is_leaf| {
            let (a, b) = (lattice.position(low), lattice.position(high));
            if is_leaf {
                lattice.each(low, high, |number, point| {
                    phi[number as usize] = if self.contains(&point) { -1.0 } else { 1.0 };
                });
                return true;
            }
            let around = Aabb { min: a, max: b }.grown((0.25 * (b - a).max()).max(self.reach()));
            let is_near = std::cell::Cell::new(false);
            self.triangles.walk(|bounds| !is_near.get() && bounds.overlaps(&around), |_, _| is_near.set(true));
            if is_near.get() {
                return false;
            }
            let middle = self.angles.at(&((a + b) * 0.5));
            let inside = middle > INSIDE;
            let is_clear = |winding: f64| (winding > INSIDE) == inside && (winding - INSIDE).abs() > CLEAR;
            let corner = |k: usize| Vector3::from_fn(|axis, _| if k >> axis & 1 == 0 { a[axis] } else { b[axis] });
            if !is_clear(middle) || !(0..8).all(|k| is_clear(self.angles.at(&corner(k)))) {
                return false;
            }
            if inside {
                lattice.each(low, high, |number, _| phi[number as usize] = -1.0);
            }
            true
        });
        phi
    }

    /// The point where the segment from `inside` to `outside` leaves the inside.
    pub(super) fn cut_point(&self, mut inside: Vector3, mut outside: Vector3) -> Vector3 {
        for _ in 0..HALVINGS {
            let middle = (inside + outside) * 0.5;
            if self.contains(&middle) { inside = middle } else { outside = middle }
        }
        inside
    }

    /// The volume inside \[m³\], from the share of the points of a lattice that are inside.
    pub(super) fn volume(&self) -> f64 {
        let bounds = self.bounds();
        let spacing = (bounds.max - bounds.min).max() / VOLUME_POINTS;
        let lattice = Lattice::around(&bounds, spacing);
        let inside = self.sample(&lattice).iter().filter(|phi| **phi < 0.0).count();
        inside as f64 * 0.5 * spacing.powi(3)
    }
}

/// The longest edge of a triangle that is examined as a whole \[m\].
fn part_edge(mesh: &SurfaceMesh, thickness: f64) -> f64 {
    (PART_EDGE * thickness).max((area(mesh) / (PART_AREA_MIN * PARTS_MAX)).sqrt())
}

/// Appends the parts of a triangle that are sheets; a triangle whose parts are all sheets is one part.
fn push_sheets(
    corners: [Vector3; 3],
    edge_max: f64,
    divisions: u32,
    is_sheet: &impl Fn(&[Vector3; 3]) -> bool,
    parts: &mut Vec<[Vector3; 3]>,
) {
    let [a, b, c] = corners;
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    if divisions == 0 || longest <= edge_max {
        if is_sheet(&corners) {
            parts.push(corners);
        }
        return;
    }
    let (ab, bc, ca) = ((a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5);
    let before = parts.len();
    let quarters = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
    quarters.iter().for_each(|quarter| push_sheets(*quarter, edge_max, divisions - 1, is_sheet, parts));
    if parts[before..] == quarters {
        parts.truncate(before);
        parts.push(corners);
    }
}

impl Sheets {
    fn holds(&self, point: &Vector3) -> bool {
        let mut holds = false;
        self.tree.walk(
            |bounds| bounds.overlaps_ball(point, self.half),
            |part, _| holds |= SurfaceDistance::to_triangle(point, &self.parts[part as usize]) < self.half,
        );
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of parts of a mesh of 20,000 triangles of 20 mm that are examined for a wrap of `thickness`
    /// \[m\].
    fn examined(thickness: f64) -> usize {
        let corners = [Vector3::zeros(), Vector3::x() * 0.02, Vector3::new(0.01, 0.75_f64.sqrt() * 0.02, 0.0)];
        let mesh = SurfaceMesh { vertices: corners.to_vec(), triangles: vec![[0, 1, 2]; 20_000] };
        let (edge_max, count) = (part_edge(&mesh, thickness), std::cell::Cell::new(0));
        let is_sheet = |_: &[Vector3; 3]| {
            count.set(count.get() + 1);
            false
        };
        for _ in &mesh.triangles {
            push_sheets(corners, edge_max, DIVISIONS_MAX, &is_sheet, &mut Vec::new());
        }
        count.get()
    }

    /// A distance much finer than any lattice may be does not divide the triangles without limit: 5 million
    /// parts would be examined for 0.5 mm. For 2 mm each triangle has its 16 parts of 5 mm.
    #[test]
    fn parts_are_limited() {
        for thickness in [1e-5, 1e-4, 5e-4] {
            assert!(examined(thickness) as f64 <= PARTS_MAX, "{thickness}");
        }
        assert_eq!(examined(2e-3), 16 * 20_000);
    }
}
