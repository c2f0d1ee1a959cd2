//! Errors of making a picture.

use std::path::PathBuf;

/// The reason why a picture cannot be made or written.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// A side of the picture is out of range.
    #[error(
        "a picture of {width} x {height} pixels is not possible; give each side {min} to {max} pixels, as in 1280x960"
    )]
    Size {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Smallest side.
        min: usize,
        /// Largest side.
        max: usize,
    },
    /// The number of values differs from that of the vertices.
    #[error("there are {values} values for {vertices} vertices; give one value for each vertex")]
    ValueCount {
        /// Values given.
        values: usize,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// An element names a vertex which does not exist.
    #[error("element {element} names vertex {vertex}, but there are {vertices} vertices: repair the mesh")]
    VertexIndex {
        /// The element.
        element: usize,
        /// The vertex it names.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// There is nothing to draw.
    #[error("there is nothing to draw: {what}")]
    Empty {
        /// The missing part, and the remedy.
        what: &'static str,
    },
    /// The picture cannot be encoded.
    #[error("the picture cannot be encoded as PNG: {detail}")]
    Encode {
        /// The error of the encoder.
        detail: String,
    },
    /// The file cannot be written.
    #[error("cannot write {}; check the folder and the permissions", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}
