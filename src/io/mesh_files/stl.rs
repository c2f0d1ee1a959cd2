//! STL, binary and ASCII, read by `stl_io`.

use std::io::Cursor;

use super::malformed::Malformed;
use super::welder::Welder;
use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// Length of the header of a binary file: 80 free bytes and the number of triangles [bytes].
const HEAD: usize = 84;
/// Length of a binary triangle: normal, three corners, two attribute bytes [bytes].
const TRIANGLE: usize = 50;

/// Reads an STL file.
pub(super) fn read(bytes: &[u8]) -> Result<SurfaceMesh, Malformed> {
    let stated = bytes.get(80..HEAD).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let binary_length = stated.map(|count| HEAD + TRIANGLE * count as usize);
    let first = bytes.trim_ascii_start();
    let says_solid = first.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    // Some binary writers begin the header with "solid". The exact length identifies such a file. Zero bytes,
    // which a text does not have, identify one with data after the triangles.
    let is_binary = |length: usize| length == bytes.len() || !says_solid || bytes.contains(&0);
    match binary_length {
        Some(length) if is_binary(length) => read_binary(bytes, length),
        _ if says_solid => read_ascii(bytes),
        _ => Err(Malformed::new("a header of 84 bytes or the word `solid`", format!("{} bytes", bytes.len()))),
    }
}

fn read_binary(bytes: &[u8], length: usize) -> Result<SurfaceMesh, Malformed> {
    if bytes.len() < length {
        let triangles = (length - HEAD) / TRIANGLE;
        return Err(Malformed::new(format!("{length} bytes for {triangles} triangles"), format!("{}", bytes.len())));
    }
    // The free part of the header is blanked, so that no text in it is taken for an ASCII file.
    let mut blanked = vec![0; 80];
    blanked.extend_from_slice(&bytes[80..length]);
    let mut welder = Welder::default();
    collect(&blanked, &mut welder)?;
    Ok(welder.finish())
}

/// Reads all solids of a text, as CAD programs write an assembly.
fn read_ascii(bytes: &[u8]) -> Result<SurfaceMesh, Malformed> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let mut rest = text.trim_start();
    let mut welder = Welder::default();
    while rest.starts_with("solid") {
        let Some(end) = rest.find("endsolid") else {
            return Err(Malformed::new("`endsolid` at the end", "no such line"));
        };
        let end = rest[end..].find('\n').map_or(rest.len(), |line| end + line + 1);
        let (solid, others) = rest.split_at(end);
        collect(solid.as_bytes(), &mut welder)?;
        rest = others.trim_start();
    }
    Ok(welder.finish())
}

fn collect(bytes: &[u8], welder: &mut Welder) -> Result<(), Malformed> {
    let refused = |error: &dyn std::fmt::Display| Malformed::new("facets of three vertices", error.to_string());
    let mut cursor = Cursor::new(bytes);
    let triangles = stl_io::create_stl_reader(&mut cursor).map_err(|error| refused(&error))?;
    for triangle in triangles {
        let corners = triangle.map_err(|error| refused(&error))?.vertices;
        welder.triangle(corners.map(|corner| Vector3::new(corner[0].into(), corner[1].into(), corner[2].into())));
    }
    Ok(())
}
