//! Wavefront OBJ, read by `tobj`. All groups of the file become one mesh; polygons are cut into triangles.

use super::malformed::Malformed;
use super::welder::Welder;
use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// Reads an OBJ file; materials, normals and texture coordinates are ignored.
pub(super) fn read(bytes: &[u8]) -> Result<SurfaceMesh, Malformed> {
    let options =
        tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, ..Default::default() };
    let mut reader = bytes;
    let (models, _) = tobj::load_obj_buf(&mut reader, &options, |_| Ok(Default::default()))
        .map_err(|error| Malformed::new("lines `v x y z` and `f a b c`", error.to_string()))?;
    let mut welder = Welder::default();
    for model in &models {
        let position = |corner: &u32| {
            let at = *corner as usize * 3;
            let xyz = model.mesh.positions.get(at..at + 3);
            xyz.map(|x| Vector3::new(x[0], x[1], x[2]))
                .ok_or_else(|| Malformed::new("faces between vertices of the file", format!("vertex {corner}")))
        };
        for corners in model.mesh.indices.chunks_exact(3) {
            welder.triangle([position(&corners[0])?, position(&corners[1])?, position(&corners[2])?]);
        }
    }
    Ok(welder.finish())
}
