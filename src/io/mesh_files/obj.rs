//! Wavefront OBJ, read by `tobj`. All groups of the file become one mesh; polygons are cut into triangles
//! ([`polygon`]).

use std::borrow::Cow;
use std::path::Path;

use super::malformed::Malformed;
use super::obj_materials::Uses;
use super::polygon;
use super::welder::Welder;
use crate::math::Vector3;

/// Reads an OBJ file; lines, points, normals and texture coordinates are ignored, and materials if no colours
/// are wanted. Material files are searched for in `folder` and below; the notes are about those not read.
pub(super) fn read(bytes: &[u8], folder: &Path, welder: &mut Welder) -> Result<Vec<String>, Malformed> {
    let options = tobj::LoadOptions { ignore_points: true, ignore_lines: true, ..Default::default() };
    let mut uses = welder.wants_colors().then(Uses::default);
    let text = vertices_and_faces(bytes, uses.as_mut())?;
    let mut reader = text.as_slice();
    let (models, _) = tobj::load_obj_buf(&mut reader, &options, |_| Ok(Default::default()))
        .map_err(|error| Malformed::new("lines `v x y z` and `f a b c`", error.to_string()))?;
    let (colors, notes) = uses.map(|uses| uses.colors(folder)).unwrap_or_default();
    let mut colors = colors.into_iter().peekable();
    let mut number = 0;
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
            while let Some((_, color)) = colors.next_if(|(first, _)| *first <= number) {
                welder.color(|| color);
            }
            number += 1;
            let corners = [face.iter().map(position).collect::<Result<Vec<_>, _>>()?];
            for triangle in polygon::triangles(&corners) {
                welder.triangle(triangle.map(|corner| corners[0][corner]));
            }
        }
    }
    Ok(notes)
}

/// The positions and faces of the file, one to a line, with the vertices of faces by their numbers from 1. A
/// line that ends with `\` continues in the next one. `tobj` supports neither such lines nor comments after
/// numbers, reads polylines (`l`) of three and more points as faces, and does not check that indices are in
/// range. Faces of less than three corners are left out. `uses` receives the materials of the faces.
fn vertices_and_faces(bytes: &[u8], mut uses: Option<&mut Uses>) -> Result<Vec<u8>, Malformed> {
    let mut kept = Vec::with_capacity(bytes.len());
    let (mut vertices, mut last_used, mut faces) = (0, 0, 0);
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
                let (start, mut corners) = (kept.len(), 0);
                kept.push(b'f');
                for word in words {
                    corners += 1;
                    let number = vertex_number(word, vertices)?;
                    last_used = last_used.max(number);
                    kept.extend_from_slice(format!(" {number}").as_bytes());
                }
                if corners < 3 {
                    kept.truncate(start);
                    continue;
                }
                faces += 1;
            }
            Some(keyword @ (b"mtllib" | b"usemtl")) => {
                if let Some(uses) = &mut uses {
                    let name = String::from_utf8_lossy(line.get(keyword.len()..).unwrap_or_default()).trim().to_owned();
                    if keyword == b"mtllib" { uses.library(&name) } else { uses.material(faces, name) }
                }
                continue;
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
