//! Fills closed triangle meshes with tetrahedra.
//!
//! The surface is checked and repaired ([`check_surface`]), a body-centred cubic lattice is fitted to it (`stuff`), and the
//! result is measured. Where a part of the surface is thinner than the lattice, the lattice is refined until it holds it.

pub(crate) mod distance;
mod error;
mod lattice;
mod quality;
mod stuff;

pub use error::FillError;
pub use quality::{FillQuality, dihedral_range, volume};

use super::make::{boundary, centroid};
use super::surface_check::{Place, SurfaceReport, check_surface};
use super::{Aabb, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;
use distance::SurfaceDistance;
use lattice::Lattice;

/// How many tetrahedra a filling may have where nothing else is asked for.
pub const TETS_MAX: usize = 200_000;
/// How many tetrahedra a filling has, about, where no resolution is asked for.
const TETS_WANTED: f64 = 2_000.0;
/// Volume of a lattice cell in tetrahedra.
const TETS_PER_CELL: f64 = 12.0;
/// Lattice points, at most, for each tetrahedron that is allowed: most of the box around a mesh is empty.
const POINTS_PER_TET: f64 = 40.0;
/// A filling that misses the surface by more than this share of the spacing somewhere has left out a thin part. A sharp
/// corner is cut by less. [-]
const MISS_MAX: f64 = 0.75;
/// The lattice is refined by this factor until it holds the thin parts. [-]
const REFINEMENT: f64 = 0.7;
/// Refinements, at most: to 1/50 of the first spacing.
const REFINEMENTS_MAX: u32 = 11;

/// How to fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillSettings {
    /// Wanted edge length [m]; about 2,000 tetrahedra, and two layers in a plate, where absent.
    pub resolution_hint: Option<f64>,
    /// No more tetrahedra than this.
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
    /// Distance of each vertex to the surface [m]: zero on it, positive inside.
    pub depth: Vec<f64>,
    /// Spacing of the lattice [m].
    pub spacing: f64,
    /// How often the spacing was refined because of thin parts.
    pub refinements: u32,
    /// What was found and repaired in the surface.
    pub surface: SurfaceReport,
    /// The surface that was filled, repaired.
    pub repaired: SurfaceMesh,
    /// How good the filling is.
    pub quality: FillQuality,
}

impl Filling {
    /// The largest distance of a vertex to the surface [m].
    pub fn depth_max(&self) -> f64 {
        self.depth.iter().copied().fold(0.0, f64::max)
    }

    /// The pressure at each vertex [Pa]: `modulus` [Pa] times the distance to the surface over the largest such distance.
    pub fn pressure(&self, modulus: f64) -> Vec<f64> {
        let deepest = self.depth_max();
        self.depth.iter().map(|depth| modulus * depth / deepest).collect()
    }
}

/// Fills a closed surface with tetrahedra.
///
/// # Errors
/// A surface that is broken beyond repair, a hint out of range, or more tetrahedra than allowed.
pub fn fill(surface: &SurfaceMesh, settings: &FillSettings) -> Result<Filling, FillError> {
    let (repaired, report) = check_surface(surface)?;
    let (enclosed, _) = centroid(&repaired);
    let mut spacing = match settings.resolution_hint {
        Some(hint) if hint > 0.0 && hint.is_finite() => hint,
        Some(value) => return Err(FillError::Hint { value }),
        None => default_spacing(&repaired, enclosed),
    };
    let bounds = Aabb::around(&repaired.vertices);
    let distance = SurfaceDistance::new(&repaired);
    let mut missed = None;
    for refinements in 0..=REFINEMENTS_MAX {
        let estimate = TETS_PER_CELL * enclosed / spacing.powi(3);
        let too_many = estimate > settings.tets_max as f64
            || Lattice::points(&bounds, spacing) > POINTS_PER_TET * settings.tets_max as f64;
        if too_many {
            return Err(missed.unwrap_or(FillError::TooMany { spacing, estimate, tets_max: settings.tets_max }));
        }
        let lattice = Lattice::around(&bounds, spacing);
        let phi = lattice.sample(&distance);
        let stuffing = stuff::stuff(&lattice, &distance, phi);
        if stuffing.mesh.tets.len() > settings.tets_max {
            let estimate = stuffing.mesh.tets.len() as f64;
            return Err(missed.unwrap_or(FillError::TooMany { spacing, estimate, tets_max: settings.tets_max }));
        }
        let (quality, at) = measure(&repaired, &distance, enclosed, &stuffing.mesh, spacing);
        if quality.surface_to_filling <= MISS_MAX * spacing {
            return Ok(Filling {
                mesh: stuffing.mesh,
                depth: stuffing.depth,
                spacing,
                refinements,
                surface: report,
                repaired: repaired.clone(),
                quality,
            });
        }
        missed = Some(FillError::Thin {
            spacing,
            distance: quality.surface_to_filling,
            at: Place(at),
            tets_max: settings.tets_max,
        });
        spacing *= REFINEMENT;
    }
    Err(missed.unwrap_or(FillError::Hint { value: spacing }))
}

/// The spacing that gives about [`TETS_WANTED`] tetrahedra, and two layers in a plate: volume over area is half a
/// plate's thickness.
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

fn measure(
    surface: &SurfaceMesh,
    distance: &SurfaceDistance,
    enclosed: f64,
    mesh: &VolumeMesh,
    spacing: f64,
) -> (FillQuality, Vector3) {
    let (dihedral_min, dihedral_max) = dihedral_range(mesh);
    let volume = volume(mesh);
    let border = boundary(mesh).unwrap_or_default();
    let ((surface_to_filling, at), (filling_to_surface, _)) = if border.triangles.is_empty() {
        ((f64::INFINITY, surface.vertices[0]), (0.0, Vector3::zeros()))
    } else {
        let to_border = SurfaceDistance::new(&border);
        (
            quality::one_sided_distance(surface, &to_border, 0.5 * spacing),
            quality::one_sided_distance(&border, distance, 0.5 * spacing),
        )
    };
    let quality = FillQuality {
        dihedral_min,
        dihedral_max,
        volume,
        volume_error: (volume - enclosed) / enclosed,
        surface_to_filling,
        filling_to_surface,
    };
    (quality, at)
}
