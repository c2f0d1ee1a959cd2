//! Checks that a triangle mesh encloses a volume, and repairs what can be repaired without guessing.
//!
//! In this order: positions and indices are checked; vertices at the same position are merged; neighbours are
//! turned until they agree on the outer side; open parts inside closed ones are left out; small holes are
//! closed, after which every edge must be passed equally often in both directions; a triangle without area
//! that has a vertex on its longest edge has that edge flipped; triangles that intersect are counted, and the
//! inside is then the union of the parts; components are turned so that material and cavities alternate from
//! outside in.

mod close;
mod cut;
mod defect;
mod loose;
mod nest;
mod orient;
mod report;
mod soup;
mod weld;
mod work;

pub use defect::{Position, SurfaceDefect};
pub use report::{Intersection, SurfaceReport};
pub(crate) use soup::{Soup, soup};

use super::intersections::{add_at_common_vertices, find_intersections};
use super::mesh::{SurfaceMesh, check_indices, check_vertices};
use super::mesh_measure::second_moments;
use super::winding::Winding;
use crate::math::{Matrix3, Vector3};
use work::Work;

/// A closed, oriented surface.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedSurface {
    /// The surface, repaired.
    pub mesh: SurfaceMesh,
    /// The findings and repairs.
    pub report: SurfaceReport,
    /// Whether every edge joins two triangles and the surface does not meet itself. Otherwise the inside is
    /// the set of points with a positive winding number.
    pub is_simple: bool,
}

impl CheckedSurface {
    /// Volume \[m3\] and centroid \[m\] of the inside, and the integral of x x^T over it about the centroid
    /// \[m5\]. Where parts overlap, the overlap counts once.
    pub fn second_moments(&self) -> (f64, Vector3, Matrix3) {
        if self.is_simple { second_moments(&self.mesh) } else { Winding::new(&self.mesh).second_moments() }
    }
}

/// The surface with vertices at the same position, and in an open one those within rounding of each other,
/// merged.
///
/// # Errors
/// Broken arrays, or no triangle with an area.
pub(crate) fn welded(mesh: &SurfaceMesh) -> Result<SurfaceMesh, SurfaceDefect> {
    check_vertices(&mesh.vertices)?;
    check_indices(mesh.triangles.iter().map(|t| t.as_slice()), mesh.vertices.len())?;
    let mut work = Work::new(mesh);
    weld::weld(&mut work)?;
    Ok(SurfaceMesh { vertices: work.vertices, triangles: work.triangles })
}

/// Checks a surface and repairs it.
///
/// # Errors
/// The first defect that cannot be repaired, with its position.
pub fn check_surface(mesh: &SurfaceMesh) -> Result<CheckedSurface, SurfaceDefect> {
    check_vertices(&mesh.vertices)?;
    check_indices(mesh.triangles.iter().map(|t| t.as_slice()), mesh.vertices.len())?;
    let mut work = Work::new(mesh);
    weld::weld(&mut work)?;
    orient::agree(&mut work)?;
    loose::leave_out_loose(&mut work);
    close::close_holes(&mut work)?;
    weld::flatten(&mut work)?;
    let mut intersections = find_intersections(&work.vertices, &work.triangles);
    let components = orient::components(&mut work);
    if components.len() > 1 {
        let part_of = orient::part_of(components.iter(), work.triangles.len());
        add_at_common_vertices(&mut intersections, &work.vertices, &work.triangles, &part_of);
    }
    work.report.intersections = intersections.count;
    work.report.intersection = intersections.first.map(|(pair, at)| Intersection {
        triangles: pair.map(|triangle| work.source[triangle as usize]),
        at: Position(at),
    });
    let touched: Vec<bool> = intersections.touched.iter().zip(&intersections.rests).map(|(a, b)| *a || *b).collect();
    nest::nest(&mut work, &touched, components)?;
    let mut meets_itself = touched.contains(&true);
    if work.report.holes > 0 {
        meets_itself = !open_holes(&mut work);
    }
    let is_simple = !meets_itself && work.report.shared_edges == 0 && !weld::has_flat(&work);
    let report = work.report;
    Ok(CheckedSurface { mesh: SurfaceMesh { vertices: work.vertices, triangles: work.triangles }, report, is_simple })
}

/// Removes the lids of holes that are drawn as closed parts. Returns whether it could; the surface then meets
/// itself nowhere.
fn open_holes(work: &mut Work) -> bool {
    if !cut::cut(work) {
        work.report.uncut = work.report.holes;
        return false;
    }
    work.report.shared_edges = work.edges().chunk_by(|x, y| x.0 == y.0).filter(|same| same.len() > 2).count();
    work.report.intersections = 0;
    work.report.intersection = None;
    true
}
