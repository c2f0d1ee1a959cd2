//! Fills closed triangle meshes with tetrahedra.
//!
//! The surface is checked and repaired ([`check_surface`]). A body-centred cubic lattice is fitted to it
//! (`stuff`), and vertices near sharp edges are moved onto them (`snap`). The boundary is divided where it
//! misses the surface (`fit`). The lattice is refined while parts of the surface are thinner than its cells.
//! The quality of the result is measured.

mod deepest;
mod error;
mod features;
mod filling;
mod fit;
mod lattice;
mod quality;
mod snap;
mod stuff;
mod thickness;
mod winding_sides;
mod wrap;

pub use error::FillError;
pub use quality::{FillQuality, dihedral_range, volume};

use super::cells::find_defect;
use super::intersections::find_intersections;
use super::mesh_measure::{area, boundary, boundary_faces, centroid};
use super::surface_check::{CheckedSurface, Position, Soup, SurfaceReport, check_surface, soup};
use super::surface_distance::SurfaceDistance;
use super::winding::{Crossing, Winding};
use super::{Aabb, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;
use deepest::deepest;
use features::Features;
use fit::Fit;
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
/// A filling whose volume is off by more than this share gets a note. [-]
const NOTED_VOLUME_ERROR: f64 = 0.01;
/// Walls thinner than this many edge lengths may have slits. [-]
const SLIT_SPACING: f64 = 2.0;
/// A hint of this share of a wall's thickness leaves no slits. [-]
const SLIT_HINT: f64 = 0.7;
/// A wrap whose volume differs by more than this share from that of the closed parts gets a note. [-]
const CLOSED_VOLUME_ERROR: f64 = 0.02;
/// Without a hint, the lattice is refined while the volume is off by more than this share. [-]
const DEFAULT_VOLUME_ERROR_MAX: f64 = 0.01;
/// From this number of tetrahedra on, the lattice is not refined for the volume alone.
const HOLLOW_TETS_MAX: usize = 20_000;
/// Without a given tolerance, the boundary of a filling with more tetrahedra is not divided: its edges are
/// short.
const DEFAULT_FIT_TETS_MAX: usize = 60_000;
/// A volume that is off by more than this share is a sign of holes. [-]
const HOLES_VOLUME_ERROR: f64 = 0.06;
/// If no part is missed and the volume is still off by more than this share, a wall has slits. A ball of 0.56
/// edge lengths may hold no lattice point, so that walls as thick as one edge length have some. [-]
const SLITS_VOLUME_ERROR: f64 = 0.025;
/// A lattice is refined for slits if the limit of tetrahedra allows this much shorter edges at least. [-]
const SLITS_REFINEMENT_MAX: f64 = 0.85;
/// The lattice is refined by this factor until it holds the thin parts. [-]
const REFINEMENT: f64 = 0.7;
/// The share of the limit of tetrahedra that a lattice may be expected to reach. [-]
const LIMIT_SHARE: f64 = 0.9;
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
const REFINED_TETS: f64 = 180_000.0;
/// The distance of a wrap whose plates a lattice holds that needs nearly [`TETS_MAX`] tetrahedra, as a share
/// of that lattice's spacing. [-]
const WRAP_SPACING: f64 = 1.2;
/// Rounds of the search for that distance.
const WRAP_ROUNDS: usize = 30;
/// The boundary of a filling is divided where it is farther than this share of the body's size from the
/// surface. [-]
const FIT_TOLERANCE: f64 = 0.0015;
/// The same as a share of the thickness, twice the volume over the area. [-]
const FIT_THICKNESS: f64 = 0.03;
/// An edge of the surface counts if the normals differ there by more than this times the tolerance over the
/// spacing: an edge of the filling, as long as the spacing, then misses it by the tolerance. [-]
const VISIBLE_ANGLE: f64 = 4.0;
/// Smaller angles are taken as rounding \[rad\].
const ANGLE_MIN: f64 = 1e-3;
/// Divisions of the boundary multiply the number of tetrahedra by at most this. [-]
const FIT_GROWTH: f64 = 20.0;
/// The largest number of attempts to divide the boundary. Places where it intersected itself are not divided
/// in the next attempt.
const FITS_MAX: usize = 2;
/// The margin around such places, as a share of the spacing. [-]
const KEPT_MARGIN: f64 = 0.5;
/// Advice for thin parts, without and with a hint.
const THIN_DEFAULT: &str = "give a mesh_resolution_hint of about its thickness (which may take up to 1000000 tetrahedra), \
     thicken it (`wrap: DISTANCE` does), or declare the mesh rigid or convex";
const THIN_HINTED: &str =
    "thicken the part (`wrap: DISTANCE` does), declare the mesh rigid or convex, or split it into convex pieces";
/// The largest number of refinements for a given tolerance.
const TOLERANCE_REFINEMENTS_MAX: u32 = 2;
/// A distance up to this many times the tolerance counts as met, because divisions measure the boundary at a
/// few points only. [-]
const TOLERANCE_SLACK: f64 = 1.25;
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
    /// Largest distance between the surface and the filling's boundary \[m\]; by default a share of the size.
    pub surface_tolerance: Option<f64>,
    /// The depth at which the pressure reaches the modulus.
    pub pressure_field: FieldScale,
}

/// The depth at which the pressure of a filling reaches the modulus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldScale {
    /// The largest depth of the whole body, as in Drake.
    #[default]
    Depth,
    /// Half the local thickness, so that a handle is as stiff as if it were a body of its own.
    Thickness,
}

impl FieldScale {
    /// All values with their names in files.
    pub const NAMES: [(&'static str, Self); 2] = [("depth", Self::Depth), ("thickness", Self::Thickness)];

    /// The value with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, scale)| *scale)
    }
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
    /// Half the local thickness at each vertex \[m\], if the pressure is scaled by it.
    pub thickness: Option<Vec<f64>>,
    /// Spacing of the lattice \[m\].
    pub spacing: f64,
    /// Number of refinements of the spacing because of thin parts.
    pub refinements: u32,
    /// Notes about repairs of the surface.
    pub surface: SurfaceReport,
    /// The point of the surface that is farthest from the filling.
    pub missed_at: Position,
    /// The requested largest distance between the surface and the filling's boundary \[m\].
    pub surface_tolerance: Option<f64>,
    /// A resolution hint with which the missed parts are filled \[m\]: the thickness that a tenth of them do
    /// not exceed, and at most 0.7 of the spacing. `None` if nothing is missed, or if the hint would exceed
    /// the limit of tetrahedra.
    pub sufficient_hint: Option<f64>,
    /// Whether the surface was wrapped.
    pub is_wrap: bool,
    /// The volume of a wrap over that of the parts of the mesh, if these are closed, minus 1; `None` if they
    /// agree [-].
    pub closed: Option<f64>,
    /// The area of all triangles of the surface \[m²\].
    pub area: f64,
    /// The quality of the filling.
    pub quality: FillQuality,
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
            // Parts that are closed have an inside, with the holes drawn in them.
            let checked = check_surface(surface).ok();
            let soup = match &checked {
                Some(checked) if checked.report.holes > 0 => {
                    Soup { mesh: checked.mesh.clone(), report: checked.report }
                }
                _ => soup(surface)?,
            };
            let wrap = Wrap::new(&soup, distance);
            let (sides, bounds) = (Sides::Wrap(&wrap), wrap.bounds());
            let enclosed = wrap.volume();
            let report = SurfaceReport { sheets: wrap.sheets(), ..soup.report };
            let measure = Measure::new(&soup.mesh, &sides, enclosed, bounds, settings);
            let mut filling = fill_within(&measure, report, settings)?;
            let drawn = checked.map(|checked| checked.second_moments().0).filter(|drawn| *drawn > 0.0);
            let error = drawn.map(|drawn| filling.quality.volume / drawn - 1.0);
            filling.closed = error.filter(|error| error.abs() > CLOSED_VOLUME_ERROR);
            Ok(filling)
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
    if let Some(value) = settings.surface_tolerance.filter(|value| !(*value > 0.0 && value.is_finite())) {
        return Err(FillError::Hint { what: "surface tolerance", value });
    }
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
    let is_default = settings.resolution_hint.is_none();
    let may_refine = |tets: usize| (tets as f64) < REFINED_TETS / REFINEMENT.powi(-3);
    let mut best: Option<Filling> = None;
    for refinements in 0..=REFINEMENTS_MAX {
        let estimate = TETS_PER_CELL * measure.enclosed / spacing.powi(3);
        let mut too_many = (estimate > tets_max as f64 || Lattice::points(&measure.bounds, spacing) > points_max)
            .then_some(FillError::TooMany { spacing, estimate, tets_max });
        if too_many.is_none() {
            let lattice = Lattice::around(&measure.bounds, spacing);
            let stuffing = stuff::stuff(&lattice, measure.sides)?;
            // Holes in thin walls are not closed by divisions, but by a finer lattice.
            let error = (volume(&stuffing.mesh) - measure.enclosed) / measure.enclosed;
            let refines = is_default && error.abs() > HOLES_VOLUME_ERROR && may_refine(stuffing.mesh.tets.len());
            let is_small = stuffing.mesh.tets.len() < DEFAULT_FIT_TETS_MAX || settings.surface_tolerance.is_some();
            let fits = is_small && !refines && !matches!(measure.sides, Sides::Wrap(_));
            let (mesh, mut depth) = fitted(stuffing, measure, spacing, tets_max, fits)?;
            let estimate = mesh.tets.len() as f64;
            if mesh.tets.len() > tets_max {
                too_many = Some(FillError::TooMany { spacing, estimate, tets_max });
            } else {
                let found = measure.measure(&mesh, spacing, &mut depth);
                let Found { quality, missed_at, deepest, sufficient_hint } = found;
                let thickness = match settings.pressure_field {
                    FieldScale::Depth => None,
                    FieldScale::Thickness => Some(measure.thickness(&mesh, &depth)),
                };
                let found = Filling {
                    mesh,
                    depth,
                    deepest,
                    thickness,
                    spacing,
                    refinements,
                    missed_at,
                    surface_tolerance: settings.surface_tolerance,
                    sufficient_hint,
                    is_wrap: settings.wrap.is_some(),
                    surface,
                    closed: None,
                    area: area(measure.surface),
                    quality,
                };
                let is_closer = |before: &Filling| before.is_off() && before.miss() < found.miss();
                if !best.as_ref().is_some_and(is_closer) {
                    best = Some(found);
                }
            }
        }
        let Some(filling) = best.as_ref() else {
            return Err(too_many.unwrap_or(FillError::Hint { what: "resolution hint", value: spacing }));
        };
        let quality = &filling.quality;
        let holds = quality.volume_error.abs() <= VOLUME_ERROR_MAX;
        let misses = quality.surface_to_filling > MISS_MAX * filling.spacing;
        // A given hint is kept, up to the loss of whole parts.
        let tets = filling.mesh.tets.len();
        let is_hollow = quality.volume_error.abs() > DEFAULT_VOLUME_ERROR_MAX && tets < HOLLOW_TETS_MAX;
        let loses = is_default && (is_hollow || (quality.missed_area > MISSED_AREA_MAX && may_refine(tets)));
        let has_slits = is_default
            && quality.missed_area <= MISSED_AREA_MAX
            && quality.volume_error.abs() > SLITS_VOLUME_ERROR
            && refinement_within(tets, tets_max) <= SLITS_REFINEMENT_MAX;
        let loses = loses || has_slits;
        let is_off = filling.is_off() && refinements < TOLERANCE_REFINEMENTS_MAX;
        let refines_more = loses || is_off || (misses && refinements < TIP_REFINEMENTS_MAX);
        if holds && (!refines_more || too_many.is_some() || refinements == REFINEMENTS_MAX) {
            break;
        }
        if too_many.is_some() || refinements == REFINEMENTS_MAX {
            if settings.wrap.is_some() && !filling.mesh.tets.is_empty() {
                break;
            }
            let Filling { spacing, missed_at, quality, .. } = filling;
            let (spacing, distance) = (*spacing, quality.surface_to_filling);
            let way_out = if tets_max < HINTED_TETS_MAX { THIN_DEFAULT } else { THIN_HINTED };
            return Err(FillError::Thin { spacing, distance, at: *missed_at, tets_max, way_out });
        }
        spacing *= if has_slits { refinement_within(tets, tets_max) } else { REFINEMENT };
    }
    best.ok_or(FillError::Hint { what: "resolution hint", value: spacing })
}

/// The factor of the spacing at which a lattice of `tets` tetrahedra becomes one of nearly `tets_max`; at
/// least [`REFINEMENT`].
fn refinement_within(tets: usize, tets_max: usize) -> f64 {
    (tets as f64 / (LIMIT_SHARE * tets_max as f64)).cbrt().max(REFINEMENT)
}

/// Sets the depth of each inner vertex to its distance from the filling's own boundary.
fn depths_below_border(mesh: &VolumeMesh, depth: &mut [f64]) {
    let border = boundary(mesh).unwrap_or_default();
    if !border.triangles.is_empty() {
        set_depths(mesh, depth, &SurfaceDistance::new(&border));
    }
}

fn set_depths(mesh: &VolumeMesh, depth: &mut [f64], surface: &SurfaceDistance) {
    let mut guess = 0;
    for (vertex, depth) in mesh.vertices.iter().zip(&mut *depth).filter(|(_, depth)| **depth > 0.0) {
        *depth = surface.nearest(vertex, &mut guess).distance;
    }
}

/// Moves the boundary of a stuffing onto the edges of the surface, and divides it where it misses the
/// surface.
///
/// # Errors
/// Tetrahedra that overlap even without these changes.
fn fitted(
    stuffing: Stuffing,
    measure: &Measure,
    spacing: f64,
    tets_max: usize,
    fits: bool,
) -> Result<(VolumeMesh, Vec<f64>), FillError> {
    let mut snapped = stuffing.clone();
    let mut crossings = Vec::new();
    let mut exposed = |point: &Vector3, normal: &Vector3| measure.is_exposed(point, normal, spacing, &mut crossings);
    snap::snap(&mut snapped.mesh, &snapped.depth, &measure.sharp, spacing, &mut exposed);
    if !matches!(measure.sides, Sides::Normals(_)) {
        depths_below_border(&snapped.mesh, &mut snapped.depth);
    }
    let mut kept: Vec<Aabb> = Vec::new();
    if fits {
        let angle = (VISIBLE_ANGLE * measure.fit_tolerance / spacing).max(ANGLE_MIN);
        let finer = (angle.cos() > snap::SHARP_COSINE).then(|| Features::of(measure.surface, angle.cos()));
        let features = finer.as_ref().unwrap_or(&measure.sharp);
        let tets_max = tets_max.min((FIT_GROWTH * snapped.mesh.tets.len() as f64) as usize);
        for _ in 0..FITS_MAX {
            let Stuffing { mut mesh, mut depth } = snapped.clone();
            let fit =
                Fit { surface: &measure.distance, features, tolerance: measure.fit_tolerance, tets_max, kept: &kept };
            fit::fit(&mut mesh, &mut depth, &fit, &mut exposed);
            if find_defect(&mesh).is_none() {
                return Ok((mesh, depth));
            }
            let border = boundary_faces(&mesh);
            let touched = find_intersections(&mesh.vertices, &border).touched;
            let before = kept.len();
            kept.extend(border.iter().zip(&touched).filter(|(_, touched)| **touched).map(|(triangle, _)| {
                Aabb::around(&triangle.map(|vertex| mesh.vertices[vertex as usize])).grown(KEPT_MARGIN * spacing)
            }));
            if kept.len() == before {
                break;
            }
        }
    }
    for Stuffing { mesh, depth } in [snapped, stuffing.clone()] {
        if find_defect(&mesh).is_none() {
            return Ok((mesh, depth));
        }
    }
    match find_defect(&stuffing.mesh) {
        Some(defect) => Err(FillError::Cells { defect }),
        None => Ok((stuffing.mesh, stuffing.depth)),
    }
}

/// The spacing that gives about [`TETS_WANTED`] tetrahedra, and two layers in a plate: volume over area is
/// half a plate's thickness.
fn default_spacing(surface: &SurfaceMesh, enclosed: f64) -> f64 {
    (TETS_PER_CELL * enclosed / TETS_WANTED).cbrt().min(2.0 * enclosed / area(surface))
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
    /// The boundary is divided where it is farther than this from the surface \[m\].
    fit_tolerance: f64,
    /// The sharp edges of the surface.
    sharp: Features,
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
        let thickness = 2.0 * enclosed / area(surface);
        let fit_tolerance = settings.surface_tolerance.unwrap_or((FIT_TOLERANCE * size).min(FIT_THICKNESS * thickness));
        let sharp = Features::of(surface, snap::SHARP_COSINE);
        let distance = SurfaceDistance::new(surface);
        Self { surface, sides, distance, enclosed, bounds, tolerance, fit_tolerance, sharp }
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

    /// Half the local thickness at each vertex \[m\].
    fn thickness(&self, mesh: &VolumeMesh, depth: &[f64]) -> Vec<f64> {
        let size = (self.bounds.max - self.bounds.min).norm();
        if matches!(self.sides, Sides::Normals(_)) {
            return thickness::local(mesh, depth, &self.distance, size);
        }
        let border = boundary(mesh).unwrap_or_default();
        if border.triangles.is_empty() {
            return vec![1.0; depth.len()];
        }
        thickness::local(mesh, depth, &SurfaceDistance::new(&border), size)
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
            set_depths(mesh, depth, &to_border);
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
        let is_possible = |hint: &f64| TETS_PER_CELL * self.enclosed / hint.powi(3) < HINTED_TETS_MAX as f64;
        let sufficient_hint = sufficient_hint.filter(is_possible);
        Found { quality, missed_at: Position(missed.at), deepest, sufficient_hint }
    }
}
