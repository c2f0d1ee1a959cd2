//! Checks that a cut surface bounds the inside of the uncut one.

use super::super::work::Work;
use crate::geometry::SurfaceMesh;
use crate::geometry::intersections::find_intersections;
use crate::geometry::mesh_measure::{area, centroid};
use crate::geometry::winding::Winding;
use crate::math::Vector3;

/// The volumes of both, measured with the same lines, may differ by this share. [-]
const SAME_LINES: f64 = 1e-3;
/// The volume of the cut surface may differ by this share of the area times the spacing of lines from the one
/// measured with lines. [-]
const LINE_SHARE: f64 = 0.5;
/// Points of a box at which both winding numbers are compared.
const POINTS: usize = 2000;
/// Both sides of a triangle are examined this far from it, as a share of the size. [-]
const ASIDE: f64 = 2e-5;
/// The number of triangles whose two sides are examined.
const TRIANGLES: usize = 2000;
/// The share of those points that may differ: they may lie within rounding of the surface. [-]
const WRONG_MAX: f64 = 1e-3;
/// The share of those triangles that may differ: next to a thin wedge a point may reach through it. [-]
const OFF_MAX: f64 = 0.01;
/// Steps of the low-discrepancy sequence of points: powers of the inverse of the root of x^4 = x + 1 [Roberts
/// 2018]. [-]
const STEPS: [f64; 3] = [0.819_172_513_396_164_5, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];

/// Whether a surface is closed, does not meet itself, and has the winding number 1 where that of the uncut
/// surface is positive and 0 elsewhere: at points of the box, next to the triangles, and along lines.
pub(super) fn is_sound(result: &Work, before: &Winding) -> bool {
    if result.open_edges() > 0 {
        return false;
    }
    let mesh = SurfaceMesh { vertices: result.vertices.clone(), triangles: result.triangles.clone() };
    let intersections = find_intersections(&mesh.vertices, &mesh.triangles);
    if intersections.count > 0 {
        return false;
    }
    let after = Winding::new(&mesh);
    has_same_volume(&mesh, &after, before) && agrees_at_points(&mesh, &after, before)
}

fn has_same_volume(mesh: &SurfaceMesh, after: &Winding, before: &Winding) -> bool {
    let bounds = before.bounds();
    let (new, old) = (after.volume_within(&bounds), before.volume_within(&bounds));
    let across = (bounds.max - bounds.min).max() / 128.0;
    let exact = centroid(mesh).0;
    (new - old).abs() <= SAME_LINES * old && (exact - new).abs() <= LINE_SHARE * area(mesh) * across && exact > 0.0
}

fn agrees_at_points(mesh: &SurfaceMesh, after: &Winding, before: &Winding) -> bool {
    let bounds = before.bounds();
    let size = bounds.max - bounds.min;
    let mut crossings = Vec::new();
    let mut both = |point: &Vector3| (after.at(point, &mut crossings), before.at(point, &mut crossings) > 0);
    let in_box = (0..POINTS).map(|k| {
        let share = Vector3::from_fn(|axis, _| (0.5 + (k + 1) as f64 * STEPS[axis]).fract());
        bounds.min + share.component_mul(&size)
    });
    let wrong = in_box.map(|point| both(&point)).filter(|(new, old)| *new != i32::from(*old)).count();
    let stride = 1 + mesh.triangles.len() / TRIANGLES;
    let (mut examined, mut off) = (0_u32, 0_u32);
    for triangle in mesh.triangles.iter().step_by(stride) {
        let [a, b, c] = triangle.map(|vertex| mesh.vertices[vertex as usize]);
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
        let (center, aside) = ((a + b + c) / 3.0, normal * (ASIDE * size.norm()));
        examined += 1;
        off += u32::from(both(&(center + aside)) != (0, false) || both(&(center - aside)) != (1, true));
    }
    wrong as f64 <= WRONG_MAX * POINTS as f64 && f64::from(off) <= OFF_MAX * f64::from(examined)
}
