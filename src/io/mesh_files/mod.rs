//! Mesh files: STL, OBJ, COLLADA and glTF surfaces, VTK volumes. The extension of the file name determines
//! the format. OBJ, COLLADA and glTF files may state colours, which pictures use.
//!
//! Lengths are metres (a COLLADA file may state another unit). In surfaces, identical vertices are merged,
//! and triangles that repeat a vertex are dropped. A scale with a negative determinant mirrors the mesh, so
//! its triangles are turned around.

mod addresses;
mod collada;
mod collada_colors;
mod collada_ids;
mod gltf;
mod malformed;
mod obj;
mod obj_materials;
mod polygon;
mod stl;
mod vtk;
mod vtk_write;
mod welder;

pub use vtk_write::{MeshWriteError, write_vtk};

use std::path::{Path, PathBuf};

use crate::geometry::{SurfaceMesh, TriangleColors, VolumeMesh};
use crate::io::limits;
use crate::math::Vector3;
use malformed::Malformed;
use welder::Welder;

/// The reason why a mesh file was refused.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileError {
    /// The file cannot be read.
    #[error("cannot read the mesh file {file}: {}{}", limit(source), limits::way_out(source))]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The extension is not that of a supported format.
    #[error(
        "{file}: this mesh format is not supported; convert it to STL, OBJ, COLLADA or glTF (surfaces) or legacy ASCII VTK (volumes)"
    )]
    Format {
        /// The file.
        file: PathBuf,
    },
    /// The contents do not follow the format.
    #[error("{file}: not a complete {format} file: expected {expected}, found {found}; export the mesh again")]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// The expected contents.
        expected: String,
        /// The contents found.
        found: String,
    },
}

/// A mesh as given by its file, scale applied.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshData {
    /// Triangles.
    Surface(SurfaceMesh),
    /// Tetrahedra, with a pressure \[Pa\] per vertex if the file gives one.
    Volume {
        /// The mesh.
        mesh: VolumeMesh,
        /// Pressure at each vertex \[Pa\].
        pressure: Option<Vec<f64>>,
        /// Names of the vertex scalars that are not used.
        ignored: Vec<String>,
    },
}

/// A mesh with the colours that its file states.
#[derive(Clone, Debug, PartialEq)]
pub struct ColoredMesh {
    /// The mesh.
    pub mesh: MeshData,
    /// The colours of the triangles; `None` if the file states none, and for volumes.
    pub colors: Option<TriangleColors>,
    /// Material files that are not read, with the reason.
    pub notes: Vec<String>,
}

/// Whether the extension of `path` is that of a format that [`read`] supports.
pub fn is_supported(path: &Path) -> bool {
    matches!(extension(path).as_str(), "stl" | "obj" | "dae" | "gltf" | "glb" | "vtk")
}

/// The limit that a file exceeds, if that is why it is not read.
fn limit(source: &std::io::Error) -> String {
    if source.kind() == std::io::ErrorKind::FileTooLarge { format!("{source}; ") } else { String::new() }
}

/// Reads the mesh in `path`, each vertex multiplied by `scale` per axis.
///
/// # Errors
/// The file cannot be read, is of an unknown format, or is cut short or malformed.
pub fn read(path: &Path, scale: &Vector3) -> Result<MeshData, MeshFileError> {
    read_bytes(&contents(path)?, path, scale)
}

/// Like [`read`], with the colours that the file states. An OBJ file's material files are read too, from its
/// folder and the folders below.
///
/// # Errors
/// The errors of [`read`]. Colours that cannot be read are none.
pub fn read_colored(path: &Path, scale: &Vector3) -> Result<ColoredMesh, MeshFileError> {
    parse(&contents(path)?, path, scale, Welder::with_colors())
}

fn contents(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    if !is_supported(path) {
        return Err(MeshFileError::Format { file: path.to_path_buf() });
    }
    limits::read(path, limits::MESH_BYTES_MAX)
        .map_err(|source| MeshFileError::Read { file: path.to_path_buf(), source })
}

/// Like [`read`], from the contents of the file; `path` gives the format, the name in errors, and the
/// folder of the files that a glTF file names.
///
/// # Errors
/// The contents are of an unknown format, cut short or malformed.
pub fn read_bytes(bytes: &[u8], path: &Path, scale: &Vector3) -> Result<MeshData, MeshFileError> {
    Ok(parse(bytes, path, scale, Welder::default())?.mesh)
}

fn parse(bytes: &[u8], path: &Path, scale: &Vector3, mut welder: Welder) -> Result<ColoredMesh, MeshFileError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let (mut volume, mut notes) = (None, Vec::new());
    let (format, parsed) = match extension(path).as_str() {
        "stl" => ("STL", stl::read(bytes, &mut welder)),
        "obj" => ("OBJ", obj::read(bytes, folder, &mut welder).map(|found| notes = found)),
        "dae" => ("COLLADA", collada::read(bytes, &mut welder)),
        "gltf" | "glb" => ("glTF", gltf::read(bytes, folder, &mut welder)),
        "vtk" => {
            let found = |(mesh, pressure, ignored)| volume = Some(MeshData::Volume { mesh, pressure, ignored });
            ("legacy VTK", vtk::read(bytes).map(found))
        }
        _ => return Err(MeshFileError::Format { file: path.to_path_buf() }),
    };
    let (surface, colors) = welder.finish();
    let checked = parsed.and_then(|()| check(volume.unwrap_or(MeshData::Surface(surface))));
    let mut mesh = checked.map_err(|Malformed { expected, found }| MeshFileError::Corrupt {
        file: path.to_path_buf(),
        format,
        expected,
        found,
    })?;
    apply_scale(&mut mesh, scale);
    Ok(ColoredMesh { mesh, colors, notes })
}

fn extension(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Checks that indices are in range, numbers are finite, and the mesh is not empty.
fn check(mesh: MeshData) -> Result<MeshData, Malformed> {
    let (vertices, corners, cells): (&[Vector3], Vec<u32>, usize) = match &mesh {
        MeshData::Surface(surface) => {
            (&surface.vertices, surface.triangles.iter().flatten().copied().collect(), surface.triangles.len())
        }
        MeshData::Volume { mesh, .. } => {
            (&mesh.vertices, mesh.tets.iter().flatten().copied().collect(), mesh.tets.len())
        }
    };
    if cells == 0 {
        return Err(Malformed::new("at least one triangle or tetrahedron", "none"));
    }
    if let Some(bad) = vertices.iter().position(|vertex| !vertex.iter().all(|x| x.is_finite())) {
        return Err(Malformed::new("finite coordinates", format!("{:?} at vertex {bad}", vertices[bad].as_slice())));
    }
    if let Some(bad) = corners.iter().find(|&&corner| corner as usize >= vertices.len()) {
        return Err(Malformed::new(format!("vertex indices below {}", vertices.len()), bad.to_string()));
    }
    Ok(mesh)
}

fn apply_scale(mesh: &mut MeshData, scale: &Vector3) {
    let mirrored = scale.x * scale.y * scale.z < 0.0;
    match mesh {
        MeshData::Surface(surface) => {
            surface.vertices.iter_mut().for_each(|vertex| vertex.component_mul_assign(scale));
            if mirrored {
                surface.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
            }
        }
        MeshData::Volume { mesh, .. } => {
            mesh.vertices.iter_mut().for_each(|vertex| vertex.component_mul_assign(scale));
            if mirrored {
                mesh.tets.iter_mut().for_each(|tet| tet.swap(2, 3));
            }
        }
    }
}
