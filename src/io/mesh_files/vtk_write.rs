//! Writes legacy ASCII VTK, which the reader in this folder reads back with the same bits.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::geometry::VolumeMesh;

/// VTK's number of the linear tetrahedron.
const VTK_TETRA: usize = 10;

/// The reason why a mesh file was not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the mesh file {file}: {source}")]
pub struct MeshWriteError {
    /// The file.
    pub file: PathBuf,
    /// The error of the system.
    pub source: std::io::Error,
}

/// Writes tetrahedra with the pressure at each vertex \[Pa\] as an unstructured grid; `title` becomes the
/// second line.
///
/// # Errors
/// The file cannot be written.
pub fn write_vtk(path: &Path, title: &str, mesh: &VolumeMesh, pressure: &[f64]) -> Result<(), MeshWriteError> {
    let text = text(title, mesh, pressure);
    fs::write(path, text).map_err(|source| MeshWriteError { file: path.to_path_buf(), source })
}

/// The contents of the file. `{:?}` prints the shortest text that reads back as the same number.
fn text(title: &str, mesh: &VolumeMesh, pressure: &[f64]) -> String {
    let title: String = title.chars().filter(|c| !c.is_control()).take(255).collect();
    let (vertices, tets) = (mesh.vertices.len(), mesh.tets.len());
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "# vtk DataFile Version 3.0\n{title}\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {vertices} double"
    );
    for x in &mesh.vertices {
        let _ = writeln!(out, "{:?} {:?} {:?}", x.x, x.y, x.z);
    }
    let _ = writeln!(out, "CELLS {tets} {}", 5 * tets);
    for [a, b, c, d] in &mesh.tets {
        let _ = writeln!(out, "4 {a} {b} {c} {d}");
    }
    let _ = writeln!(out, "CELL_TYPES {tets}");
    for _ in 0..tets {
        let _ = writeln!(out, "{VTK_TETRA}");
    }
    let _ = writeln!(out, "POINT_DATA {vertices}\nSCALARS pressure double 1\nLOOKUP_TABLE default");
    for value in pressure {
        let _ = writeln!(out, "{value:?}");
    }
    out
}
