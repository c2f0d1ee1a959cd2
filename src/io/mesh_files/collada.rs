//! COLLADA (.dae): the triangles of the visual scene. No maintained reader is known, and robots need little of it.

use super::Malformed;
use crate::geometry::SurfaceMesh;

/// Reads the scene's triangles.
pub(super) fn read(_bytes: &[u8]) -> Result<SurfaceMesh, Malformed> {
    Err(Malformed::new("a COLLADA scene", "not read yet"))
}
