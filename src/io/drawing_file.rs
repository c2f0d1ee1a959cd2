//! Drawing files (JSON): the objects in a picture, with all poses in the world, for the renderer.
//!
//! `scripts/render_rviz` writes them from published messages, and `isobar draw` draws them.
//! docs/reference/command-line.md has the keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::limits;
use super::package::PackageMap;
use super::urdf::{self, LoadOptions, OnUnreadableMesh, UrdfError};
use crate::geometry::{Shape, TriangleColors};
use crate::math::{RigidTransform, Rotation, Vector3};

/// A quaternion whose length differs from 1 by more than this is a mistake, not a rounding. \[-\]
const UNIT_TOLERANCE: f64 = 1e-3;

/// The colour of shapes without one, as in RViz: red. \[-\]
const DEFAULT_COLOR: [f64; 4] = [1.0, 0.0, 0.0, 1.0];

/// A drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Columns and rows \[px\].
    pub size: (usize, usize),
    /// Red, green, blue in 0..1.
    pub background: [f32; 3],
    /// The eye p_WE \[m\].
    pub eye: Vector3,
    /// The point in the middle of the picture p_WT \[m\].
    pub target: Vector3,
    /// The angle between the lower and the upper edge \[rad\].
    pub field_of_view: f64,
    /// The shapes of the robots.
    pub shapes: Vec<DrawnShape>,
    /// Triangles.
    pub surfaces: Vec<DrawnSurface>,
    /// Lines: both ends \[m\], and the colour.
    pub lines: Vec<([Vector3; 2], [f32; 3])>,
    /// Notes about parts of robots that are not drawn.
    pub warnings: Vec<String>,
}

/// A shape of a robot.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnShape {
    /// The shape, in its own frame S.
    pub shape: Shape,
    /// The pose of S in the world.
    pub X_WS: RigidTransform,
    /// Red, green, blue, alpha in 0..1.
    pub color: [f64; 4],
    /// Colours of the triangles of a mesh, from its file; triangles without one have `color`.
    pub mesh_colors: Option<Arc<TriangleColors>>,
}

/// Triangles of one appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnSurface {
    /// The corners p_WQ \[m\], three for each triangle.
    pub vertices: Vec<Vector3>,
    /// A colour for each vertex; if empty, `color` is that of all, and is shaded.
    pub colors: Vec<[f32; 3]>,
    /// Red, green and blue in 0..1.
    pub color: [f32; 3],
    /// 1 is opaque, less is transparent.
    pub alpha: f32,
}

/// The reason why a drawing cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DrawingError {
    /// The file cannot be read.
    #[error("cannot read the drawing {}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The text is not a drawing.
    #[error("{} is not a drawing: {detail}; docs/reference/command-line.md has the keys", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The mistake, with line and column, or the element at fault.
        detail: String,
    },
    /// A robot's URDF cannot be read.
    #[error("robot {number} of the drawing {}", file.display())]
    Robot {
        /// The file.
        file: PathBuf,
        /// The robot's number, from 0.
        number: usize,
        /// The error in its URDF.
        source: UrdfError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    size: (usize, usize),
    background: [f32; 3],
    camera: RawCamera,
    robots: Vec<RawRobot>,
    surfaces: Vec<RawSurface>,
    lines: Vec<RawLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCamera {
    eye: [f64; 3],
    target: [f64; 3],
    field_of_view: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRobot {
    urdf: String,
    alpha: f64,
    links: BTreeMap<String, RawPose>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPose {
    position: [f64; 3],
    orientation: [f64; 4],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSurface {
    vertices: Vec<[f64; 3]>,
    #[serde(default)]
    colors: Vec<[f32; 3]>,
    color: [f32; 4],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine {
    from: [f64; 3],
    to: [f64; 3],
    color: [f32; 3],
}

/// Reads the drawing at `file`. Meshes of its robots are found by `packages`, or relative to the file.
///
/// # Errors
/// The file cannot be read, is malformed, or names a mesh that does not exist; the error names the place.
pub fn read(file: &Path, packages: &PackageMap) -> Result<Drawing, DrawingError> {
    let text = limits::read_text(file).map_err(|source| DrawingError::Read { file: file.to_path_buf(), source })?;
    let malformed = |detail: String| DrawingError::Malformed { file: file.to_path_buf(), detail };
    let raw: Raw = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    let mut warnings = Vec::new();
    let mut shapes = Vec::new();
    for (number, robot) in raw.robots.iter().enumerate() {
        let options = LoadOptions {
            on_unreadable_collision_mesh: OnUnreadableMesh::WarnAndSkip,
            load_visual_meshes: true,
            ..LoadOptions::default()
        };
        let folder = file.parent().unwrap_or(Path::new(""));
        let description = urdf::load_str(&robot.urdf, Path::new("robot_description"), folder, packages, &options)
            .map_err(|source| DrawingError::Robot { file: file.to_path_buf(), number, source })?;
        warnings.extend(description.warnings.iter().map(ToString::to_string));
        for (name, pose) in &robot.links {
            let Some(link) = description.link(name) else {
                return Err(malformed(format!("robot {number} has no link `{name}`")));
            };
            let X_WL = pose_of(pose).map_err(|detail| malformed(format!("link `{name}`: {detail}")))?;
            for visual in &link.visuals {
                let Some(shape) = visual.shape.clone() else { continue };
                let [r, g, b, alpha] = visual.color.unwrap_or(DEFAULT_COLOR);
                let (color, mesh_colors) = ([r, g, b, alpha * robot.alpha], visual.mesh_colors.clone());
                shapes.push(DrawnShape { shape, X_WS: X_WL * visual.X_BG, color, mesh_colors });
            }
        }
    }
    let mut surfaces = Vec::with_capacity(raw.surfaces.len());
    for (number, surface) in raw.surfaces.into_iter().enumerate() {
        let vertices = surface.vertices.len();
        if vertices % 3 != 0 || !(surface.colors.is_empty() || surface.colors.len() == vertices) {
            let colors = surface.colors.len();
            return Err(malformed(format!(
                "surface {number} has {vertices} vertices and {colors} colours; give three vertices for each \
                 triangle, and no colours or one for each vertex"
            )));
        }
        let [r, g, b, alpha] = surface.color;
        let vertices = surface.vertices.into_iter().map(Vector3::from).collect();
        surfaces.push(DrawnSurface { vertices, colors: surface.colors, color: [r, g, b], alpha });
    }
    Ok(Drawing {
        size: raw.size,
        background: raw.background,
        eye: raw.camera.eye.into(),
        target: raw.camera.target.into(),
        field_of_view: raw.camera.field_of_view,
        shapes,
        surfaces,
        lines: raw.lines.iter().map(|line| ([line.from.into(), line.to.into()], line.color)).collect(),
        warnings,
    })
}

fn pose_of(raw: &RawPose) -> Result<RigidTransform, String> {
    let [x, y, z, w] = raw.orientation;
    let quaternion = nalgebra::Quaternion::new(w, x, y, z);
    if (quaternion.norm() - 1.0).abs() > UNIT_TOLERANCE {
        return Err(format!("the quaternion has the length {:.4}; give one of length 1", quaternion.norm()));
    }
    let R_WL = Rotation::from(nalgebra::UnitQuaternion::from_quaternion(quaternion));
    Ok(RigidTransform::from_parts(Vector3::from(raw.position).into(), R_WL))
}
