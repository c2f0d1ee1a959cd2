//! Tessellations of shapes, and pressure fields on them.
//! The pressure is E times the distance to the surface over the largest such distance: 0 on the surface, and
//! E where the distance is largest. All inner vertices of a primitive shape lie there, unless its edges are
//! divided. With a margin m the mesh extends m beyond the surface, and the pressure continues linearly to -E
//! m / (largest distance). In an ellipsoid it continues along rays from the centre, to smaller values at the
//! blunt ends. Meshes whose pressure does not fall everywhere alike have a layer around them instead
//! (`layer`). Rigid shapes are the boundaries of the same tessellations.

use std::sync::Arc;

mod bisect;
mod convex;
mod cuboid;
mod cylinder;
mod layer;
mod sphere;
mod star;
mod volume;

pub use super::mesh_measure::{boundary, centroid, second_moments};
pub use convex::{check_convex, hull};
pub use cuboid::cuboid;
pub use cylinder::{capsule, cylinder};
pub use sphere::{ellipsoid, sphere};
pub use star::star;
pub use volume::distance_pressure;

use super::cells::check_cells;
use super::fill::{FieldScale, FillSettings, fill, fill_checked};
use super::mesh::check_vertices;
use super::surface_check::{CheckedSurface, Intersection, SurfaceReport, check_surface, welded};
use super::{GeometryError, MeshNote, Shape, SurfaceMesh, VolumeMesh};
use star::MedialMesh;

/// The geometries that are filled, for messages.
const FILLINGS: &str = "compliant triangle meshes that are not convex";

/// The default edge length \[m\] of a shape's tessellation, or `None` for a shape whose tessellation has no
/// resolution of its own: it is exact without one. A quarter of the longest semi-axis of a sphere or
/// ellipsoid (512 tetrahedra); a 32nd of the rim of a cylinder or capsule. A tessellated sphere or ellipsoid
/// then has 98 % of the shape's volume, a cylinder or capsule 99 %.
pub fn default_resolution(shape: &Shape) -> Option<f64> {
    match shape {
        Shape::Sphere { radius } => Some(0.25 * radius),
        Shape::Ellipsoid { semi_axes } => Some(0.25 * semi_axes.max()),
        Shape::Cylinder { radius, .. } | Shape::Capsule { radius, .. } => Some(std::f64::consts::TAU * radius / 32.0),
        _ => None,
    }
}

/// The parameters that turn a shape into a [`HydroelasticGeometry`](super::HydroelasticGeometry).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HydroelasticParameters {
    /// The hydroelastic modulus \[Pa\] of a compliant geometry; `None` makes it rigid.
    pub compliant: Option<f64>,
    /// Requested edge length of the tessellation \[m\]; [`default_resolution`] if absent.
    pub resolution_hint: Option<f64>,
    /// Thickness of the compliant layer of a half space \[m\].
    pub slab_thickness: Option<f64>,
    /// Distance by which a compliant geometry extends beyond its surface, with negative pressure there \[m\].
    /// Rigid geometries ignore it.
    pub margin: f64,
    /// Largest distance between the surface of a mesh that is not convex and its filling \[m\]; by default a
    /// share of the size.
    pub surface_tolerance: Option<f64>,
    /// The depth at which the pressure in a filled mesh reaches the modulus.
    pub pressure_field: FieldScale,
}

/// The meshes of a shape for contact, with pressures at the vertices of compliant ones.
pub(crate) enum Tessellation {
    /// Tetrahedra, and the pressure at each vertex \[Pa\].
    Volume(VolumeMesh, Vec<f64>),
    /// A half space whose pressure is `stiffness` [Pa/m] times the depth, and reaches `margin` \[m\] above
    /// its surface.
    CompliantHalfSpace { stiffness: f64, margin: f64 },
    /// A rigid surface.
    Surface(SurfaceMesh),
    /// A rigid half space.
    RigidHalfSpace,
}

/// Tessellates a shape, and adds remarks about its mesh to `notes`.
///
/// # Errors
/// A size, modulus, hint or margin out of range; a mesh that cannot be repaired.
pub(crate) fn tessellate(
    shape: &Shape,
    parameters: &HydroelasticParameters,
    notes: &mut Vec<MeshNote>,
) -> Result<Tessellation, GeometryError> {
    check(shape, parameters)?;
    match parameters.compliant {
        Some(modulus) => compliant(shape, modulus, parameters, notes),
        None => rigid(shape, parameters, notes),
    }
}

/// The medial tessellation of a primitive that reaches `margin` \[m\] beyond its surface; `None` for other
/// shapes. Remarks about the mesh are added to `notes`.
fn primitive(shape: &Shape, resolution: Option<f64>, margin: f64, notes: &mut Vec<MeshNote>) -> Option<MedialMesh> {
    let resolution = resolution.or_else(|| default_resolution(shape)).unwrap_or(f64::INFINITY);
    let medial = match *shape {
        Shape::Sphere { radius } => MedialMesh::star(sphere(radius + margin, resolution), radius),
        Shape::Ellipsoid { semi_axes } => {
            MedialMesh::star(ellipsoid(&semi_axes.add_scalar(margin), resolution), semi_axes.min())
        }
        Shape::Box { size } => {
            let (mut mesh, on_surface) = cuboid(&(size * 0.5).add_scalar(margin));
            divide(&mut mesh, resolution, notes);
            MedialMesh { mesh, on_surface, depth: 0.5 * size.min() }
        }
        Shape::Cylinder { radius, length } => {
            let (mesh, on_surface) = cylinder(radius + margin, length + 2.0 * margin, resolution);
            MedialMesh { mesh, on_surface, depth: radius.min(0.5 * length) }
        }
        Shape::Capsule { radius, length } => {
            let (mesh, on_surface) = capsule(radius + margin, length, resolution);
            MedialMesh { mesh, on_surface, depth: radius }
        }
        Shape::HalfSpace | Shape::Mesh(_) | Shape::Convex(_) | Shape::Volume { .. } => return None,
    };
    Some(medial)
}

fn compliant(
    shape: &Shape,
    modulus: f64,
    parameters: &HydroelasticParameters,
    notes: &mut Vec<MeshNote>,
) -> Result<Tessellation, GeometryError> {
    let margin = parameters.margin;
    let medial = match shape {
        Shape::HalfSpace => {
            let thickness = parameters.slab_thickness.ok_or(GeometryError::NoSlabThickness)?;
            return Ok(Tessellation::CompliantHalfSpace { stiffness: modulus / thickness, margin });
        }
        Shape::Volume { mesh, pressure } => {
            let mut mesh = VolumeMesh::clone(mesh);
            check_vertices(&mesh.vertices)?;
            check_cells(&mesh)?;
            let pressure = match pressure {
                Some(pressure) => {
                    volume::check_pressure(&mesh, pressure)?;
                    let mut pressure = pressure.to_vec();
                    notes.extend(without_pressure(&mesh, &pressure));
                    layer::surround(&mut mesh, &mut pressure, margin);
                    pressure
                }
                None => {
                    let (depth, mut pressure) = distance_pressure(&mesh, modulus)?;
                    notes.extend(without_pressure(&mesh, &pressure));
                    volume::inflate(&mut mesh, &mut pressure, modulus / depth, margin);
                    pressure
                }
            };
            return Ok(Tessellation::Volume(mesh, pressure));
        }
        Shape::Mesh(surface) => {
            let checked = check_surface(surface).map_err(|defect| Box::new(defect.into()))?;
            notes.extend(checked.report.repairs().map(|repairs| MeshNote::Repaired { repairs }));
            match check_convex(&checked.mesh) {
                Ok(()) => {
                    notes.extend(fill_only(parameters));
                    convex::medial(&checked.mesh)?
                }
                Err(_) => return filled(checked, modulus, parameters, notes),
            }
        }
        Shape::Convex(surface) => convex::medial(&hull(&surface.vertices)?)?,
        _ => match primitive(shape, parameters.resolution_hint, margin, notes) {
            Some(medial) => medial,
            None => return Err(GeometryError::NoVolume { tets: 0 }),
        },
    };
    let mut pressure: Vec<f64> = medial
        .mesh
        .vertices
        .iter()
        .enumerate()
        .map(|(number, vertex)| match shape {
            Shape::Box { size } => modulus * ((size * 0.5 - vertex.abs()).min() / medial.depth),
            Shape::Cylinder { radius, length } if number >= medial.on_surface => {
                modulus * ((0.5 * length - vertex.z.abs()).min(radius - vertex.xy().norm()) / medial.depth)
            }
            // The distance from the centre over that of the surface, along the ray.
            Shape::Ellipsoid { semi_axes } if margin > 0.0 => modulus * (1.0 - vertex.component_div(semi_axes).norm()),
            _ if number >= medial.on_surface => modulus,
            Shape::Mesh(_) | Shape::Convex(_) => 0.0,
            _ => -modulus * margin / medial.depth,
        })
        .collect();
    let mut mesh = medial.mesh;
    if let Shape::Mesh(_) | Shape::Convex(_) = shape {
        if let Some(longest) = parameters.resolution_hint {
            for [a, b] in divide(&mut mesh, longest, notes) {
                pressure.push(0.5 * (pressure[a as usize] + pressure[b as usize]));
            }
        }
        layer::surround(&mut mesh, &mut pressure, margin);
    }
    Ok(Tessellation::Volume(mesh, pressure))
}

/// Remarks about parameters that have an effect on fillings only.
pub(crate) fn fill_only(parameters: &HydroelasticParameters) -> impl Iterator<Item = MeshNote> {
    let note =
        |is_given: bool, property: &'static str| is_given.then_some(MeshNote::NoEffect { property, on: FILLINGS });
    let tolerance = note(parameters.surface_tolerance.is_some(), "surface_tolerance");
    let field = note(parameters.pressure_field == FieldScale::Thickness, "pressure_field: thickness");
    tolerance.into_iter().chain(field)
}

/// Divides the edges of `mesh` that are longer than `longest` \[m\], with a remark if some remain longer.
/// Returns the ends of the edges in whose middles the new vertices lie, in their order.
fn divide(mesh: &mut VolumeMesh, longest: f64, notes: &mut Vec<MeshNote>) -> Vec<[u32; 2]> {
    let division = bisect::bisect(mesh, longest);
    notes.extend(division.too_long.map(|edge| MeshNote::Coarse { edge, hint: longest, tets: mesh.tets.len() }));
    division.middles
}

/// The wrap of triangles that need not be closed: a volume mesh with its pressures, or the boundary of the
/// filling if it is to be rigid. Remarks are added to `notes`.
///
/// # Errors
/// No triangle with an area, or a hint with too many tetrahedra.
pub(crate) fn wrapped(
    surface: &SurfaceMesh,
    distance: f64,
    parameters: &HydroelasticParameters,
    notes: &mut Vec<MeshNote>,
) -> Result<Shape, GeometryError> {
    let settings = FillSettings { wrap: Some(distance), ..fill_settings(parameters) };
    let filling = fill(surface, &settings).map_err(Box::new)?;
    notes.extend(filling.surface.repairs().map(|repairs| MeshNote::Repaired { repairs }));
    notes.extend(filling.notes());
    Ok(match parameters.compliant {
        Some(modulus) => {
            let pressure = Some(Arc::new(filling.pressure(modulus)));
            Shape::Volume { mesh: Arc::new(filling.mesh), pressure }
        }
        None => Shape::Mesh(Arc::new(boundary(&filling.mesh)?)),
    })
}

fn fill_settings(parameters: &HydroelasticParameters) -> FillSettings {
    let HydroelasticParameters { resolution_hint, surface_tolerance, pressure_field, .. } = *parameters;
    FillSettings { resolution_hint, surface_tolerance, pressure_field, ..FillSettings::default() }
}

/// A mesh that is not convex, filled with tetrahedra.
fn filled(
    surface: CheckedSurface,
    modulus: f64,
    parameters: &HydroelasticParameters,
    notes: &mut Vec<MeshNote>,
) -> Result<Tessellation, GeometryError> {
    let filling = fill_checked(&surface, &fill_settings(parameters)).map_err(Box::new)?;
    notes.extend(filling.notes());
    let (slope, mut pressure) = (modulus / filling.deepest, filling.pressure(modulus));
    let has_one_slope = filling.thickness.is_none();
    let mut mesh = filling.mesh;
    match has_one_slope {
        true => volume::inflate(&mut mesh, &mut pressure, slope, parameters.margin),
        false => layer::surround(&mut mesh, &mut pressure, parameters.margin),
    }
    Ok(Tessellation::Volume(mesh, pressure))
}

/// Counts the tetrahedra without pressure: all their corners lie on the surface of the mesh.
fn without_pressure(mesh: &VolumeMesh, pressure: &[f64]) -> Option<MeshNote> {
    let at = |vertex: &u32| pressure.get(*vertex as usize).copied().unwrap_or_default();
    let count = mesh.tets.iter().filter(|tet| tet.iter().all(|vertex| at(vertex) == 0.0)).count();
    (count > 0).then_some(MeshNote::NoPressure { count, of: mesh.tets.len() })
}

/// A rigid surface, repaired as far as it can be; its parts may intersect. A surface that is broken keeps its
/// triangles, but for those that collapse when vertices at nearly the same position are merged. The defects
/// are reported in the notes.
fn rigid_mesh(surface: &SurfaceMesh, notes: &mut Vec<MeshNote>) -> SurfaceMesh {
    match check_surface(surface) {
        Ok(CheckedSurface { mesh, report, .. }) => {
            if let Some(Intersection { triangles, at }) = report.intersection {
                notes.push(MeshNote::Intersecting { count: report.intersections, triangles, at });
            }
            let changed = SurfaceReport { intersection: None, ..report };
            notes.extend(changed.repairs().map(|repairs| MeshNote::Repaired { repairs }));
            mesh
        }
        Err(defect) => {
            notes.push(MeshNote::Unsound { defect });
            welded(surface).unwrap_or_else(|_| surface.clone())
        }
    }
}

fn rigid(
    shape: &Shape,
    parameters: &HydroelasticParameters,
    notes: &mut Vec<MeshNote>,
) -> Result<Tessellation, GeometryError> {
    match shape {
        Shape::HalfSpace => Ok(Tessellation::RigidHalfSpace),
        Shape::Mesh(surface) => Ok(Tessellation::Surface(rigid_mesh(surface, notes))),
        Shape::Convex(surface) => Ok(Tessellation::Surface(hull(&surface.vertices)?)),
        Shape::Volume { mesh, .. } => Ok(Tessellation::Surface(boundary(mesh)?)),
        _ => match primitive(shape, parameters.resolution_hint, 0.0, notes) {
            Some(medial) => Ok(Tessellation::Surface(boundary(&medial.mesh)?)),
            None => Err(GeometryError::NoArea { triangles: 0 }),
        },
    }
}

/// Refuses sizes and parameters from which no tessellation can be made.
fn check(shape: &Shape, parameters: &HydroelasticParameters) -> Result<(), GeometryError> {
    let kind = shape.kind();
    let positive = |what: &'static str, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(GeometryError::NotPositive { shape: kind, what, value })
        }
    };
    match *shape {
        Shape::Sphere { radius } => positive("radius", radius)?,
        Shape::Ellipsoid { semi_axes } => semi_axes.iter().try_for_each(|axis| positive("semi-axis", *axis))?,
        Shape::Box { size } => size.iter().try_for_each(|edge| positive("size", *edge))?,
        Shape::Cylinder { radius, length } | Shape::Capsule { radius, length } => {
            positive("radius", radius)?;
            positive("length", length)?;
        }
        Shape::HalfSpace | Shape::Mesh(_) | Shape::Convex(_) | Shape::Volume { .. } => {}
    }
    if let Some(modulus) = parameters.compliant {
        positive("hydroelastic modulus", modulus)?;
    }
    if let Some(hint) = parameters.resolution_hint {
        positive("resolution hint", hint)?;
    }
    if let Some(thickness) = parameters.slab_thickness {
        positive("slab thickness", thickness)?;
    }
    if !(parameters.margin >= 0.0 && parameters.margin.is_finite()) {
        return Err(GeometryError::Margin { value: parameters.margin });
    }
    Ok(())
}
