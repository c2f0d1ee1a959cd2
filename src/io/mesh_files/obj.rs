//! Wavefront OBJ, read by `tobj`. All groups of the file become one mesh; polygons are cut into triangles
//! ([`polygon`]).

use std::borrow::Cow;

use super::malformed::Malformed;
use super::polygon;
use super::welder::Welder;
use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// Reads an OBJ file; lines, points, materials, normals and texture coordinates are ignored.
pub(super) fn read(bytes: &[u8]) -> Result<SurfaceMesh, Malformed> {
    let options = tobj::LoadOptions { ignore_points: true, ignore_lines: true, ..Default::default() };
    let text = vertices_and_faces(bytes)?;
    let mut reader = text.as_slice();
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
        // Without numbers of corners, all faces are triangles.
        let mut arities = model.mesh.face_arities.iter().map(|count| *count as usize);
        let mut rest = model.mesh.indices.as_slice();
        while !rest.is_empty() {
            let count = arities.next().unwrap_or(3).clamp(1, rest.len());
            let (face, others) = rest.split_at(count);
            rest = others;
            let corners = [face.iter().map(position).collect::<Result<Vec<_>, _>>()?];
            for triangle in polygon::triangles(&corners) {
                welder.triangle(triangle.map(|corner| corners[0][corner]));
            }
        }
    }
    Ok(welder.finish())
}

/// The positions and faces of the file, one to a line, with the vertices of faces by their numbers from 1. A
/// line that ends with `\` continues in the next one. `tobj` supports neither such lines nor comments after
/// numbers, reads polylines (`l`) of three and more points as faces, and does not check that indices are in
/// range.
fn vertices_and_faces(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut kept = Vec::with_capacity(bytes.len());
    let (mut vertices, mut last_used) = (0, 0);
    let line_end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    let mut lines = bytes.split(|byte| *byte == line_end).map(<[u8]>::trim_ascii);
    while let Some(first) = lines.next() {
        let mut line = Cow::Borrowed(first);
        while let Some(begun) = line.strip_suffix(b"\\") {
            line = Cow::Owned([begun, b" ", lines.next().unwrap_or_default()].concat());
        }
        let content = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let mut words = content.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        match words.next() {
            Some(b"v") => {
                vertices += 1;
                kept.extend_from_slice(content);
            }
            Some(b"f") => {
                kept.push(b'f');
                for word in words {
                    let number = vertex_number(word, vertices)?;
                    last_used = last_used.max(number);
                    kept.extend_from_slice(format!(" {number}").as_bytes());
                }
            }
            _ => continue,
        }
        kept.push(b'\n');
    }
    if last_used > vertices {
        return Err(Malformed::new(format!("faces between the {vertices} vertices"), format!("vertex {last_used}")));
    }
    Ok(kept)
}

/// The vertex of a corner such as `3`, `3/1/2` or `-1` (the last one so far), counted from 1.
fn vertex_number(corner: &[u8], vertices: u64) -> Result<u64, Malformed> {
    let text = String::from_utf8_lossy(corner.split(|byte| *byte == b'/').next().unwrap_or_default());
    let number = match text.parse::<i64>() {
        Ok(number @ 1..) => Some(number.unsigned_abs()),
        Ok(number @ ..=-1) => (vertices + 1).checked_sub(number.unsigned_abs()).filter(|number| *number > 0),
        _ => None,
    };
    number.ok_or_else(|| Malformed::new("faces between vertices of the file", format!("the vertex `{text}`")))
}
