//! Collision and visual geometries: shapes checked, meshes found and read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{UrdfError, UrdfProblem};
use super::foreign;
use super::options::{LoadOptions, OnUnreadableMesh};
use super::place::Place;
use super::standard::{StandardGeometry, StandardShape};
use crate::geometry::{Shape, TriangleColors};
use crate::io::mesh_files::{self, ColoredMesh, MeshData};
use crate::io::package::PackageMap;
use crate::io::xml::Element;
use crate::math::Vector3;
use crate::robot::{CollisionElement, LoadWarning, VisualElement};

/// A mesh that was read.
pub(super) struct ReadMesh {
    shape: Shape,
    /// Colours of its triangles, if visual meshes are read and the file states any.
    colors: Option<Arc<TriangleColors>>,
    /// Notes about colours that are missing, until a warning has them.
    notes: Vec<String>,
}

/// Reads geometries; each mesh file once per scale.
pub(super) struct GeometryReader<'a> {
    pub(super) base_dir: &'a Path,
    pub(super) packages: &'a PackageMap,
    pub(super) options: &'a LoadOptions,
    pub(super) read: BTreeMap<(PathBuf, [u64; 3]), ReadMesh>,
}

impl GeometryReader<'_> {
    /// The collision geometry of `element`, called `default_name` if the file gives it no name; `None` if it
    /// was skipped with a warning.
    pub(super) fn collision(
        &mut self,
        element: &Element,
        standard: &StandardGeometry,
        place: &Place,
        default_name: String,
        warnings: &mut Vec<LoadWarning>,
    ) -> Result<Option<CollisionElement>, UrdfError> {
        let geometry = element.child("geometry");
        let foreign_shape = geometry.map_or(Ok(None), |geometry| foreign::shape(geometry, place))?;
        let mesh = geometry.and_then(|geometry| geometry.child("mesh")).filter(|_| foreign_shape.is_none());
        let convex = mesh.is_some_and(|mesh| mesh.child("drake:declare_convex").is_some());
        let skip = self.options.on_unreadable_collision_mesh == OnUnreadableMesh::WarnAndSkip;
        let shape = match (&standard.shape, foreign_shape) {
            (StandardShape::Mesh { uri, .. }, Some(shape)) => {
                if let Err(UrdfError::Invalid { problem, .. }) = self.find(uri, place) {
                    warnings.push(place.warning(format!("the mesh for other tools: {problem}")));
                }
                shape
            }
            (_, Some(shape)) => shape,
            (StandardShape::Mesh { uri, scale }, None) => match self.mesh(uri, scale, place, warnings) {
                Ok(mesh) => mesh.shape.clone(),
                Err(UrdfError::Invalid { problem, .. }) if skip => {
                    warnings.push(place.warning(format!("the collision geometry is left out: {problem}")));
                    return Ok(None);
                }
                Err(error) => return Err(error),
            },
            (primitive, None) => checked(primitive, place)?,
        };
        let mesh = match &standard.shape {
            StandardShape::Mesh { uri, scale } => Some((uri.clone(), *scale)),
            _ => None,
        };
        let shape = match shape {
            Shape::Mesh(mesh) if convex => Shape::Convex(mesh),
            other => other,
        };
        Ok(Some(CollisionElement {
            name: element.attribute("name").map_or(default_name, str::to_owned),
            X_BG: standard.X_BG,
            shape,
            mesh,
            properties: foreign::properties(element, place, warnings)?,
            declare_convex: convex,
            line: element.line,
        }))
    }

    /// The visual geometry of `element`. A fault of a visual is never an error: a visual that cannot be shown
    /// gives a warning.
    pub(super) fn visual(
        &mut self,
        element: &Element,
        standard: &StandardGeometry,
        place: &Place,
        default_name: String,
        materials: &BTreeMap<String, [f64; 4]>,
        warnings: &mut Vec<LoadWarning>,
    ) -> VisualElement {
        let foreign_shape = element.child("geometry").map_or(Ok(None), |geometry| foreign::shape(geometry, place));
        let material = standard.material.as_ref();
        let color = material.and_then(|(name, color)| color.or_else(|| materials.get(name).copied()));
        let (mut mesh_uri, mut mesh_colors) = (None, None);
        let shape = match (&standard.shape, foreign_shape) {
            (_, Err(error)) => Err(error),
            (_, Ok(Some(shape))) => Ok(Some(shape)),
            (StandardShape::Mesh { uri, scale }, Ok(None)) => {
                mesh_uri = Some((uri.clone(), *scale));
                if self.options.load_visual_meshes {
                    self.mesh(uri, scale, place, warnings).map(|mesh| {
                        // A given colour takes precedence over those of the file.
                        if color.is_none() {
                            warnings.extend(mesh.notes.drain(..).map(|note| place.warning(note)));
                            mesh_colors = mesh.colors.clone();
                        }
                        Some(mesh.shape.clone())
                    })
                } else {
                    self.find(uri, place).map(|_| None)
                }
            }
            (primitive, Ok(None)) => checked(primitive, place).map(Some),
        };
        let shape = shape.unwrap_or_else(|error| {
            let reason = match error {
                UrdfError::Invalid { problem, .. } => problem.to_string(),
                other => other.to_string(),
            };
            warnings.push(place.warning(format!("the visual geometry is not shown: {reason}")));
            None
        });
        VisualElement {
            name: element.attribute("name").map_or(default_name, str::to_owned),
            X_BG: standard.X_BG,
            shape,
            mesh: mesh_uri,
            color,
            mesh_colors,
            line: element.line,
        }
    }

    /// The file at a mesh's address, if its format is supported.
    fn find(&self, uri: &str, place: &Place) -> Result<PathBuf, UrdfError> {
        let path = self.packages.resolve(uri, self.base_dir);
        let path = path.map_err(|error| place.fail(UrdfProblem::MeshPath(error)))?;
        if mesh_files::is_supported(&path) {
            return Ok(path);
        }
        Err(place.fail(UrdfProblem::Mesh(mesh_files::MeshFileError::Format { file: path })))
    }

    fn mesh(
        &mut self,
        uri: &str,
        scale: &Vector3,
        place: &Place,
        warnings: &mut Vec<LoadWarning>,
    ) -> Result<&mut ReadMesh, UrdfError> {
        if scale.iter().any(|factor| *factor == 0.0) {
            let expected = "different from zero in every direction";
            return Err(place.fail(UrdfProblem::OutOfRange { quantity: "`scale`".to_owned(), value: 0.0, expected }));
        }
        let path = self.find(uri, place)?;
        let key = (path, [scale.x.to_bits(), scale.y.to_bits(), scale.z.to_bits()]);
        let vacant = match self.read.entry(key) {
            Entry::Occupied(read) => return Ok(read.into_mut()),
            Entry::Vacant(vacant) => vacant,
        };
        let file = &vacant.key().0;
        let read = match self.options.load_visual_meshes {
            true => mesh_files::read_colored(file, scale),
            false => mesh_files::read(file, scale).map(|mesh| ColoredMesh { mesh, colors: None, notes: Vec::new() }),
        };
        let ColoredMesh { mesh, colors, notes } = read.map_err(|error| place.fail(UrdfProblem::Mesh(error)))?;
        let shape = match mesh {
            MeshData::Surface(surface) => Shape::Mesh(Arc::new(surface)),
            MeshData::Volume { mesh, pressure, ignored } => {
                if !ignored.is_empty() {
                    let (file, names) = (file.display(), ignored.join("`, `"));
                    let what = format!(
                        "{file}: `{names}` at the vertices is left out; the pressure is the first field with `pressure` in its \
                         name"
                    );
                    warnings.push(place.warning(what));
                }
                Shape::Volume { mesh: Arc::new(mesh), pressure: pressure.map(Arc::new) }
            }
        };
        let notes = notes.iter().map(|note| format!("{}: {note}", file.display())).collect();
        Ok(vacant.insert(ReadMesh { shape, colors: colors.map(Arc::new), notes }))
    }
}

/// Checks that the sizes of a primitive are positive; not used for meshes.
fn checked(shape: &StandardShape, place: &Place) -> Result<Shape, UrdfError> {
    match shape {
        StandardShape::Sphere { radius } => Ok(Shape::Sphere { radius: place.positive("`radius`", *radius)? }),
        StandardShape::Box { size } => {
            for edge in size.iter() {
                place.positive("`size`", *edge)?;
            }
            Ok(Shape::Box { size: *size })
        }
        StandardShape::Cylinder { radius, length } => Ok(Shape::Cylinder {
            radius: place.positive("`radius`", *radius)?,
            length: place.positive("`length`", *length)?,
        }),
        StandardShape::HalfSpace => Ok(Shape::HalfSpace),
        StandardShape::Mesh { .. } => Err(place.fail(UrdfProblem::NoShape { found: String::new() })),
    }
}
