//! Fills closed triangle meshes with tetrahedra.
//!
//! The surface is checked and repaired ([`check_surface`]). A body-centred cubic lattice is fitted to it
//! (`stuff`), and vertices near sharp edges are moved onto them (`snap`). The lattice is refined while parts
//! of the surface are thinner than its cells. The quality of the result is measured.

mod error;
mod lattice;
mod quality;
mod snap;
mod stuff;
mod winding_sides;

pub use error::FillError;
pub use quality::{FillQuality, dihedral_range, volume};

use super::mesh_measure::{boundary, centroid};
use super::surface_check::{CheckedSurface, Place, SurfaceReport, check_surface};
use super::surface_distance::SurfaceDistance;
use super::winding::Winding;
use super::{Aabb, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;
use lattice::Lattice;
use stuff::{Sides, Stuffing};

/// Default limit of tetrahedra in a filling.
pub const TETS_MAX: usize = 200_000;
/// Approximate default number of tetrahedra in a filling.
const TETS_WANTED: f64 = 2_000.0;
/// Number of tetrahedra with the volume of one lattice cell.
const TETS_PER_CELL: f64 = 12.0;
/// The largest number of lattice points per allowed tetrahedron: most of the box around a mesh is empty.
const POINTS_PER_TET: f64 = 40.0;
/// A filling that misses the surface by more than this share of the spacing has left out a thin part; at a
/// blunt corner it misses less. [-]
const MISS_MAX: f64 = 1.5;
/// A filling whose volume is off by more than this share is too coarse: a lattice whose edges are as long as
/// the radius of a ball leaves out 14 % of the ball. [-]
const VOLUME_ERROR_MAX: f64 = 0.15;
/// The lattice is refined by this factor until it holds the thin parts. [-]
const REFINEMENT: f64 = 0.7;
/// The largest number of refinements: to 1/50 of the first spacing.
const REFINEMENTS_MAX: u32 = 11;
/// The largest number of refinements for parts that the volume does not show. No lattice fills the tip of a
/// wedge, so one refinement is tried, and the remaining gap is reported ([`Filling::left_out`]).
const TIP_REFINEMENTS_MAX: u32 = 1;
/// The distance from a surface at which its two sides are sampled, as a share of the spacing. [-]
const EXPOSED_STEP: f64 = 1e-3;

/// Settings of a filling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillSettings {
    /// Requested edge length \[m\]; by default about 2,000 tetrahedra, and two layers in a plate.
    pub resolution_hint: Option<f64>,
    /// The largest number of tetrahedra.
    pub tets_max: usize,
}

impl Default for FillSettings {
    fn default() -> Self {
        Self { resolution_hint: None, tets_max: TETS_MAX }
    }
}

/// A filled surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Filling {
    /// The tetrahedra, in the frame of the surface.
    pub mesh: VolumeMesh,
    /// Distance of each vertex to the surface \[m\]: zero on it, positive inside.
    pub depth: Vec<f64>,
    /// Spacing of the lattice \[m\].
    pub spacing: f64,
    /// Number of refinements of the spacing because of thin parts.
    pub refinements: u32,
    /// Notes about repairs of the surface.
    pub surface: SurfaceReport,
    /// The point of the surface that is farthest from the filling.
    pub missed_at: Place,
    /// The quality of the filling.
    pub quality: FillQuality,
}

impl Filling {
    /// The largest distance of a vertex to the surface \[m\].
    pub fn depth_max(&self) -> f64 {
        self.depth.iter().copied().fold(0.0, f64::max)
    }

    /// The position of a part of the surface that was left out because it is thinner than the lattice, and
    /// its distance from the filling \[m\]; `None` if nothing was left out.
    pub fn left_out(&self) -> Option<(Place, f64)> {
        let missed = self.quality.surface_to_filling;
        (missed > MISS_MAX * self.spacing).then_some((self.missed_at, missed))
    }

    /// The pressure at each vertex \[Pa\]: `modulus` \[Pa\] times the distance to the surface over the
    /// largest such distance.
    pub fn pressure(&self, modulus: f64) -> Vec<f64> {
        let deepest = self.depth_max();
        self.depth.iter().map(|depth| modulus * (depth / deepest)).collect()
    }
}

/// Fills a closed surface with tetrahedra.
///
/// # Errors
/// A surface that is broken beyond repair or has no clear inside, a hint out of range, more tetrahedra than
/// allowed, or parts too thin to fill.
pub fn fill(surface: &SurfaceMesh, settings: &FillSettings) -> Result<Filling, FillError> {
    fill_checked(&check_surface(surface)?, settings)
}

/// Does the same as [`fill`] for a surface that was checked.
pub(crate) fn fill_checked(checked: &CheckedSurface, settings: &FillSettings) -> Result<Filling, FillError> {
    let winding = (!checked.is_simple).then(|| Winding::new(&checked.mesh));
    let distance = SurfaceDistance::new(&checked.mesh);
    let enclosed = winding.as_ref().map_or_else(|| centroid(&checked.mesh).0, Winding::volume);
    let mut spacing = match settings.resolution_hint {
        Some(hint) if hint > 0.0 && hint.is_finite() => hint,
        Some(value) => return Err(FillError::Hint { value }),
        None => default_spacing(&checked.mesh, enclosed),
    };
    let sides = winding.as_ref().map_or(Sides::Normals(&distance), Sides::Winding);
    let measure = Measure { surface: &checked.mesh, distance: &distance, winding: winding.as_ref(), enclosed };
    let bounds = Aabb::around(&checked.mesh.vertices);
    let mut best: Option<Filling> = None;
    for refinements in 0..=REFINEMENTS_MAX {
        let estimate = TETS_PER_CELL * enclosed / spacing.powi(3);
        let mut too_many = (estimate > settings.tets_max as f64
            || Lattice::points(&bounds, spacing) > POINTS_PER_TET * settings.tets_max as f64)
            .then_some(FillError::TooMany { spacing, estimate, tets_max: settings.tets_max });
        if too_many.is_none() {
            let Stuffing { mut mesh, mut depth } = stuff::stuff(&Lattice::around(&bounds, spacing), &sides)?;
            snap::snap(&mut mesh, &depth, &checked.mesh, spacing).map_err(|defect| FillError::Cells { defect })?;
            let estimate = mesh.tets.len() as f64;
            if mesh.tets.len() > settings.tets_max {
                too_many = Some(FillError::TooMany { spacing, estimate, tets_max: settings.tets_max });
            } else {
                let (quality, missed_at) = measure.measure(&mesh, spacing, &mut depth);
                let surface = checked.report;
                best = Some(Filling { mesh, depth, spacing, refinements, missed_at, surface, quality });
            }
        }
        let Some(filling) = best.as_ref() else {
            return Err(too_many.unwrap_or(FillError::Hint { value: spacing }));
        };
        let holds = filling.quality.volume_error.abs() <= VOLUME_ERROR_MAX;
        let misses = filling.quality.surface_to_filling > MISS_MAX * filling.spacing;
        if holds && (!misses || refinements >= TIP_REFINEMENTS_MAX || too_many.is_some()) {
            break;
        }
        if too_many.is_some() || refinements == REFINEMENTS_MAX {
            let Filling { spacing, missed_at, quality, .. } = filling;
            let (spacing, distance) = (*spacing, quality.surface_to_filling);
            return Err(FillError::Thin { spacing, distance, at: *missed_at, tets_max: settings.tets_max });
        }
        spacing *= REFINEMENT;
    }
    best.ok_or(FillError::Hint { value: spacing })
}

/// The spacing that gives about [`TETS_WANTED`] tetrahedra, and two layers in a plate: volume over area is
/// half a plate's thickness.
fn default_spacing(surface: &SurfaceMesh, enclosed: f64) -> f64 {
    let area: f64 = surface
        .triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| surface.vertices[vertex as usize]);
            0.5 * (b - a).cross(&(c - a)).norm()
        })
        .sum();
    (TETS_PER_CELL * enclosed / TETS_WANTED).cbrt().min(2.0 * enclosed / area)
}

/// The reference of the quality of a filling.
struct Measure<'a> {
    surface: &'a SurfaceMesh,
    distance: &'a SurfaceDistance<'a>,
    winding: Option<&'a Winding<'a>>,
    enclosed: f64,
}

impl Measure<'_> {
    /// The quality of a filling, and the point where it misses the surface most. If parts were united, some
    /// of the surface lies inside their union, and `depth` becomes the distance to the filling's own
    /// boundary.
    fn measure(&self, mesh: &VolumeMesh, spacing: f64, depth: &mut [f64]) -> (FillQuality, Place) {
        let (dihedral_min, dihedral_max) = dihedral_range(mesh);
        let volume = volume(mesh);
        let border = boundary(mesh).unwrap_or_default();
        let ((surface_to_filling, at), (filling_to_surface, _)) = if border.triangles.is_empty() {
            // Nothing is filled, so the whole surface is missed.
            let bounds = Aabb::around(&self.surface.vertices);
            (((bounds.max - bounds.min).norm(), self.surface.vertices[0]), (0.0, Vector3::zeros()))
        } else {
            let to_border = SurfaceDistance::new(&border);
            if self.winding.is_some() {
                let mut guess = 0;
                for (vertex, depth) in mesh.vertices.iter().zip(depth).filter(|(_, depth)| **depth > 0.0) {
                    *depth = to_border.nearest(vertex, &mut guess).distance;
                }
            }
            let mut crossings = Vec::new();
            let exposed = |point: &Vector3, normal: &Vector3| {
                let aside = normal * (EXPOSED_STEP * spacing);
                self.winding.is_none_or(|winding| {
                    winding.at(&(point + aside), &mut crossings) <= 0
                        && winding.at(&(point - aside), &mut crossings) > 0
                })
            };
            (
                quality::one_sided_distance(self.surface, &to_border, 0.5 * spacing, exposed),
                quality::one_sided_distance(&border, self.distance, 0.5 * spacing, |_, _| true),
            )
        };
        let volume_error = (volume - self.enclosed) / self.enclosed;
        let quality =
            FillQuality { dihedral_min, dihedral_max, volume, volume_error, surface_to_filling, filling_to_surface };
        (quality, Place(at))
    }
}
