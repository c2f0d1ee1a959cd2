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
mod wrap;

pub use error::FillError;
pub use quality::{FillQuality, dihedral_range, volume};

use super::mesh_measure::{boundary, centroid};
use super::surface_check::{CheckedSurface, Position, SurfaceReport, check_surface, soup};
use super::surface_distance::SurfaceDistance;
use super::winding::{Crossing, Winding};
use super::{Aabb, MeshNote, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;
use lattice::Lattice;
use stuff::{Sides, Stuffing};
use wrap::Wrap;

/// Limit of tetrahedra in a filling without a resolution hint.
pub const TETS_MAX: usize = 200_000;
/// Limit of tetrahedra in a filling with a resolution hint.
pub const HINTED_TETS_MAX: usize = 1_000_000;
/// Approximate default number of tetrahedra in a filling.
const TETS_WANTED: f64 = 2_000.0;
/// Number of tetrahedra with the volume of one lattice cell.
const TETS_PER_CELL: f64 = 12.0;
/// The largest number of lattice points per allowed tetrahedron: most of the box around a mesh is empty.
const POINTS_PER_TET: f64 = 40.0;
/// The largest number of lattice points, which take 40 bytes each.
const POINTS_MAX: f64 = 16e6;
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
/// Surface farther from the filling than this share of the body's size is missed; the default lattice cuts
/// sharp edges off by up to as much. [-]
const MISSED_DISTANCE: f64 = 0.02;
/// The lattice is refined while a larger share of the surface is missed: a plate, a handle. [-]
const MISSED_AREA_MAX: f64 = 0.02;
/// The largest number of tetrahedra that refining for missed surface may lead to.
const REFINED_TETS: f64 = 120_000.0;
/// The search for the deepest point starts at this many vertices, takes this many steps or halvings of its
/// step from each, and tries these directions.
const CLIMBS: usize = 2;
const CLIMB_STEPS: usize = 24;
const CLIMB_DIRECTIONS: [[f64; 3]; 14] = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, -1.0],
    [0.58, 0.58, 0.58],
    [-0.58, 0.58, 0.58],
    [0.58, -0.58, 0.58],
    [-0.58, -0.58, 0.58],
    [0.58, 0.58, -0.58],
    [-0.58, 0.58, -0.58],
    [0.58, -0.58, -0.58],
    [-0.58, -0.58, -0.58],
];
/// The distance from a surface at which its two sides are sampled, as a share of the spacing. [-]
const EXPOSED_STEP: f64 = 1e-3;

/// Settings of a filling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FillSettings {
    /// Requested edge length \[m\]; by default about 2,000 tetrahedra, two layers in a plate, and more where
    /// parts of the surface would be missed.
    pub resolution_hint: Option<f64>,
    /// The largest number of tetrahedra; by default [`TETS_MAX`], and [`HINTED_TETS_MAX`] with a hint.
    pub tets_max: Option<usize>,
    /// Wraps triangles that need not be closed: parts thinner than half this distance become plates of this
    /// thickness, and the lattice is refined until the filling follows the surface to this distance \[m\].
    pub wrap: Option<f64>,
}

/// A filled surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Filling {
    /// The tetrahedra, in the frame of the surface.
    pub mesh: VolumeMesh,
    /// Distance of each vertex to the surface \[m\]: zero on it, positive inside.
    pub depth: Vec<f64>,
    /// The largest distance of a point inside to the surface \[m\], which no vertex need reach.
    pub deepest: f64,
    /// Spacing of the lattice \[m\].
    pub spacing: f64,
    /// Number of refinements of the spacing because of thin parts.
    pub refinements: u32,
    /// Notes about repairs of the surface.
    pub surface: SurfaceReport,
    /// The point of the surface that is farthest from the filling.
    pub missed_at: Position,
    /// A resolution hint with which the missed part is filled \[m\]: its median thickness. `None` if nothing
    /// is missed.
    pub sufficient_hint: Option<f64>,
    /// The quality of the filling.
    pub quality: FillQuality,
}

impl Filling {
    /// The position of a part of the surface that was left out because it is thinner than the lattice, and
    /// its distance from the filling \[m\]; `None` if nothing was left out.
    pub fn left_out(&self) -> Option<(Position, f64)> {
        let missed = self.quality.surface_to_filling;
        let is_missed = missed > MISS_MAX * self.spacing || self.quality.missed_area > MISSED_AREA_MAX;
        is_missed.then_some((self.missed_at, missed))
    }

    /// The pressure at each vertex \[Pa\]: `modulus` \[Pa\] times the distance to the surface over the
    /// largest distance inside.
    pub fn pressure(&self, modulus: f64) -> Vec<f64> {
        self.depth.iter().map(|depth| modulus * (depth / self.deepest)).collect()
    }

    /// Notes about a part that was left out, and about a wrong volume.
    pub fn notes(&self) -> impl Iterator<Item = MeshNote> {
        let (spacing, area, hint) = (self.spacing, self.quality.missed_area, self.sufficient_hint);
        let left_out = self.left_out().map(|(at, distance)| MeshNote::LeftOut { at, distance, spacing, area, hint });
        let error = self.quality.volume_error;
        let wrong_volume = (error.abs() > VOLUME_ERROR_MAX).then_some(MeshNote::Volume { error });
        left_out.into_iter().chain(wrong_volume)
    }
}

/// Fills a surface with tetrahedra: a closed one, or with [`FillSettings::wrap`] any triangles.
///
/// # Errors
/// A surface that is broken beyond repair or has no clear inside, a hint or distance out of range, more
/// tetrahedra than allowed, or parts too thin to fill.
pub fn fill(surface: &SurfaceMesh, settings: &FillSettings) -> Result<Filling, FillError> {
    match settings.wrap {
        None => fill_checked(&check_surface(surface)?, settings),
        Some(distance) if distance > 0.0 && distance.is_finite() => {
            let soup = soup(surface)?;
            let wrap = Wrap::new(&soup, distance);
            let (sides, bounds) = (Sides::Wrap(&wrap), wrap.bounds());
            let enclosed = wrap.volume();
            let report = SurfaceReport { sheets: wrap.sheets(), ..soup.report };
            let measure = Measure::new(&soup.mesh, &sides, enclosed, bounds, settings);
            fill_within(&measure, report, settings)
        }
        Some(value) => Err(FillError::Hint { what: "distance of the wrap", value }),
    }
}

/// Does the same as [`fill`] for a surface that was checked.
pub(crate) fn fill_checked(checked: &CheckedSurface, settings: &FillSettings) -> Result<Filling, FillError> {
    let winding = (!checked.is_simple).then(|| Winding::new(&checked.mesh));
    let distance = SurfaceDistance::new(&checked.mesh);
    let enclosed = winding.as_ref().map_or_else(|| centroid(&checked.mesh).0, Winding::volume);
    let sides = winding.as_ref().map_or(Sides::Normals(&distance), Sides::Winding);
    let bounds = Aabb::around(&checked.mesh.vertices);
    fill_within(&Measure::new(&checked.mesh, &sides, enclosed, bounds, settings), checked.report, settings)
}

/// Fills the inside, with a finer lattice as long as thin parts are left out.
fn fill_within(measure: &Measure, surface: SurfaceReport, settings: &FillSettings) -> Result<Filling, FillError> {
    let mut spacing = match settings.resolution_hint {
        Some(hint) if hint > 0.0 && hint.is_finite() => hint,
        Some(value) => return Err(FillError::Hint { what: "resolution hint", value }),
        None => default_spacing(measure.surface, measure.enclosed),
    };
    let tets_max = settings.tets_max.unwrap_or(match settings.resolution_hint {
        Some(_) => HINTED_TETS_MAX,
        None => TETS_MAX,
    });
    let points_max = (POINTS_PER_TET * tets_max as f64).min(POINTS_MAX);
    if settings.resolution_hint.is_none() {
        // Thin walls may need more tetrahedra than allowed. A coarser lattice may still hold them.
        spacing = spacing.max((2.0 * TETS_PER_CELL * measure.enclosed / tets_max as f64).cbrt());
        while Lattice::points(&measure.bounds, spacing) > points_max {
            spacing /= REFINEMENT;
        }
    }
    let mut best: Option<Filling> = None;
    for refinements in 0..=REFINEMENTS_MAX {
        let estimate = TETS_PER_CELL * measure.enclosed / spacing.powi(3);
        let mut too_many = (estimate > tets_max as f64 || Lattice::points(&measure.bounds, spacing) > points_max)
            .then_some(FillError::TooMany { spacing, estimate, tets_max });
        if too_many.is_none() {
            let lattice = Lattice::around(&measure.bounds, spacing);
            let Stuffing { mut mesh, mut depth } = stuff::stuff(&lattice, measure.sides)?;
            snap::snap(&mut mesh, &depth, measure.surface, spacing).map_err(|defect| FillError::Cells { defect })?;
            let estimate = mesh.tets.len() as f64;
            if mesh.tets.len() > tets_max {
                too_many = Some(FillError::TooMany { spacing, estimate, tets_max });
            } else {
                let found = measure.measure(&mesh, spacing, &mut depth);
                let Found { quality, missed_at, deepest, sufficient_hint } = found;
                best = Some(Filling {
                    mesh,
                    depth,
                    deepest,
                    spacing,
                    refinements,
                    missed_at,
                    sufficient_hint,
                    surface,
                    quality,
                });
            }
        }
        let Some(filling) = best.as_ref() else {
            return Err(too_many.unwrap_or(FillError::Hint { what: "resolution hint", value: spacing }));
        };
        let quality = &filling.quality;
        let holds = quality.volume_error.abs() <= VOLUME_ERROR_MAX;
        let misses = quality.surface_to_filling > MISS_MAX * filling.spacing;
        // A given hint is kept, up to the loss of whole parts.
        let misses_area = settings.resolution_hint.is_none()
            && quality.missed_area > MISSED_AREA_MAX
            && (filling.mesh.tets.len() as f64) < REFINED_TETS / REFINEMENT.powi(-3);
        let refines_more = misses_area || (misses && refinements < TIP_REFINEMENTS_MAX);
        if holds && (!refines_more || too_many.is_some() || refinements == REFINEMENTS_MAX) {
            break;
        }
        if too_many.is_some() || refinements == REFINEMENTS_MAX {
            if settings.wrap.is_some() && !filling.mesh.tets.is_empty() {
                break;
            }
            let Filling { spacing, missed_at, quality, .. } = filling;
            let (spacing, distance) = (*spacing, quality.surface_to_filling);
            return Err(FillError::Thin { spacing, distance, at: *missed_at, tets_max });
        }
        spacing *= REFINEMENT;
    }
    best.ok_or(FillError::Hint { what: "resolution hint", value: spacing })
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
    sides: &'a Sides<'a>,
    distance: SurfaceDistance<'a>,
    /// The volume inside \[m³\].
    enclosed: f64,
    /// The box around the inside.
    bounds: Aabb,
    /// Parts of the surface farther than this from the filling are missed \[m\].
    tolerance: f64,
}

/// The findings about a filling.
struct Found {
    quality: FillQuality,
    missed_at: Position,
    deepest: f64,
    sufficient_hint: Option<f64>,
}

impl<'a> Measure<'a> {
    fn new(
        surface: &'a SurfaceMesh,
        sides: &'a Sides<'a>,
        enclosed: f64,
        bounds: Aabb,
        settings: &FillSettings,
    ) -> Self {
        let size = (bounds.max - bounds.min).norm();
        let tolerance = settings.wrap.unwrap_or(MISSED_DISTANCE * size);
        Self { surface, sides, distance: SurfaceDistance::new(surface), enclosed, bounds, tolerance }
    }

    /// Whether a part of the surface with this normal bounds the inside: united parts and wraps have inner
    /// triangles. `crossings` is scratch.
    fn is_exposed(&self, point: &Vector3, normal: &Vector3, spacing: f64, crossings: &mut Vec<Crossing>) -> bool {
        let aside = normal * (EXPOSED_STEP * spacing);
        match self.sides {
            Sides::Normals(_) => true,
            Sides::Winding(winding) => {
                winding.at(&(point + aside), crossings) <= 0 && winding.at(&(point - aside), crossings) > 0
            }
            Sides::Wrap(wrap) => !wrap.contains(&(point + aside)) && wrap.contains(&(point - aside)),
        }
    }

    /// The quality of a filling. If parts were united or wrapped, some of the surface lies inside, and
    /// `depth` becomes the distance to the filling's own boundary.
    fn measure(&self, mesh: &VolumeMesh, spacing: f64, depth: &mut [f64]) -> Found {
        let (dihedral_min, dihedral_max) = dihedral_range(mesh);
        let volume = volume(mesh);
        let volume_error = (volume - self.enclosed) / self.enclosed;
        let border = boundary(mesh).unwrap_or_default();
        let mut quality = FillQuality {
            dihedral_min,
            dihedral_max,
            volume,
            volume_error,
            surface_to_filling: 0.0,
            filling_to_surface: 0.0,
            missed_area: 1.0,
        };
        if border.triangles.is_empty() {
            // Nothing is filled, so the whole surface is missed.
            quality.surface_to_filling = (self.bounds.max - self.bounds.min).norm();
            let missed_at = Position(self.surface.vertices[0]);
            return Found { quality, missed_at, deepest: 0.0, sufficient_hint: None };
        }
        let to_border = SurfaceDistance::new(&border);
        let is_simple = matches!(self.sides, Sides::Normals(_));
        if !is_simple {
            let mut guess = 0;
            for (vertex, depth) in mesh.vertices.iter().zip(&mut *depth).filter(|(_, depth)| **depth > 0.0) {
                *depth = to_border.nearest(vertex, &mut guess).distance;
            }
        }
        let deepest = deepest(mesh, depth, if is_simple { &self.distance } else { &to_border }, spacing);
        let mut crossings = Vec::new();
        let exposed = |point: &Vector3, normal: &Vector3| self.is_exposed(point, normal, spacing, &mut crossings);
        let step = 0.5 * spacing;
        let missed = quality::one_sided_distance(self.surface, &to_border, step, self.tolerance, exposed);
        let beyond = quality::one_sided_distance(&border, &self.distance, step, f64::INFINITY, |_, _| true);
        quality.surface_to_filling = missed.largest;
        quality.filling_to_surface = beyond.largest;
        quality.missed_area = missed.share;
        let sufficient_hint =
            quality::thickness(self.surface, &missed.samples).map(|thin| thin.min(REFINEMENT * spacing));
        Found { quality, missed_at: Position(missed.at), deepest, sufficient_hint }
    }
}

/// The largest distance to a surface inside it \[m\], near the deepest vertex of a filling: uphill in shorter
/// and shorter steps. The lattice's own points miss it by up to half a spacing.
fn deepest(mesh: &VolumeMesh, depth: &[f64], surface: &SurfaceDistance, spacing: f64) -> f64 {
    let mut order: Vec<usize> = (0..depth.len()).collect();
    order.sort_by(|a, b| depth[*b].total_cmp(&depth[*a]).then(a.cmp(b)));
    let mut largest = order.first().map_or(0.0, |vertex| depth[*vertex]);
    let mut guess = 0;
    for vertex in order.into_iter().take(CLIMBS) {
        let (mut at, mut height, mut step) = (mesh.vertices[vertex], depth[vertex], 0.5 * spacing);
        for _ in 0..CLIMB_STEPS {
            let tried = CLIMB_DIRECTIONS.iter().map(|along| {
                let point = at + Vector3::from(*along) * step;
                (-surface.signed(&point, &mut guess), point)
            });
            match tried.max_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((higher, point)) if higher > height => (height, at) = (higher, point),
                _ => step *= 0.5,
            }
        }
        largest = largest.max(height);
    }
    largest
}
