//! STL: binary files are read by `stl_io`, ASCII files here, because they may have several solids.

use std::io::Cursor;

use super::malformed::Malformed;
use super::welder::Welder;
use crate::math::Vector3;

/// Length of the header of a binary file: 80 free bytes and the number of triangles [bytes].
const HEAD: usize = 84;
/// Length of a binary triangle: normal, three corners, two attribute bytes [bytes].
const TRIANGLE: usize = 50;

/// The mark with which some editors begin a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads an STL file.
pub(super) fn read(bytes: &[u8], welder: &mut Welder) -> Result<(), Malformed> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let stated = bytes.get(80..HEAD).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let binary_length = stated.map(|count| HEAD + TRIANGLE * count as usize);
    let first = bytes.trim_ascii_start();
    let says_solid = first.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    // Some binary writers begin the header with "solid". The exact length identifies such a file. Zero bytes,
    // which a text does not have, identify one with data after the triangles.
    let is_binary = |length: usize| length == bytes.len() || !says_solid || bytes.contains(&0);
    match binary_length {
        Some(length) if is_binary(length) => read_binary(bytes, length, welder),
        _ if says_solid => read_ascii(bytes, welder),
        _ => Err(Malformed::new("a header of 84 bytes or the word `solid`", format!("{} bytes", bytes.len()))),
    }
}

fn read_binary(bytes: &[u8], length: usize, welder: &mut Welder) -> Result<(), Malformed> {
    if bytes.len() < length {
        let triangles = (length - HEAD) / TRIANGLE;
        return Err(Malformed::new(format!("{length} bytes for {triangles} triangles"), format!("{}", bytes.len())));
    }
    // The free part of the header is blanked, so that no text in it is taken for an ASCII file.
    let mut blanked = vec![0; 80];
    blanked.extend_from_slice(&bytes[80..length]);
    collect(&blanked, welder)
}

/// The words of a text, with the number of the line.
struct Words<'a> {
    lines: std::str::Lines<'a>,
    words: std::str::SplitWhitespace<'a>,
    line: usize,
}

impl<'a> Words<'a> {
    /// The next word; empty at the end.
    fn next(&mut self) -> &'a str {
        loop {
            if let Some(word) = self.words.next() {
                return word;
            }
            let Some(line) = self.lines.next() else { return "" };
            self.words = line.split_whitespace();
            self.line += 1;
        }
    }
    fn skip_line(&mut self) {
        self.words = "".split_whitespace();
    }
    fn expect(&mut self, expected: &str) -> Result<(), Malformed> {
        let word = self.next();
        if word == expected { Ok(()) } else { Err(self.unexpected(&format!("`{expected}`"), word)) }
    }
    fn vector(&mut self) -> Result<Vector3, Malformed> {
        let mut vector = Vector3::zeros();
        for x in vector.iter_mut() {
            let word = self.next();
            *x = word.parse::<f32>().map_err(|_| self.unexpected("three numbers", word))?.into();
        }
        Ok(vector)
    }
    /// A facet after its first word.
    fn facet(&mut self) -> Result<[Vector3; 3], Malformed> {
        self.expect("normal")?;
        self.vector()?;
        self.expect("outer")?;
        self.expect("loop")?;
        let mut corners = [Vector3::zeros(); 3];
        for corner in &mut corners {
            self.expect("vertex")?;
            *corner = self.vector()?;
        }
        self.expect("endloop")?;
        self.expect("endfacet")?;
        Ok(corners)
    }
    fn unexpected(&self, expected: &str, word: &str) -> Malformed {
        let found = if word.is_empty() { "the end of the file before `endsolid`".into() } else { format!("`{word}`") };
        Malformed::new(expected, format!("{found} in line {}", self.line))
    }
}

/// Reads all solids of a text, as CAD programs write an assembly. The rest of a line after `solid` and
/// `endsolid` is a name. A solid whose first line was lost when files without a newline at their end were
/// joined begins with its first facet.
fn read_ascii(bytes: &[u8], welder: &mut Welder) -> Result<(), Malformed> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let mut words = Words { lines: text.lines(), words: "".split_whitespace(), line: 0 };
    let mut is_open = false;
    loop {
        match words.next() {
            "solid" => {
                is_open = true;
                words.skip_line();
            }
            "facet" => {
                is_open = true;
                welder.triangle(words.facet()?);
            }
            "endsolid" => {
                is_open = false;
                words.skip_line();
            }
            "" if !is_open => return Ok(()),
            word => return Err(words.unexpected("`facet` or `endsolid`, and `solid` after it", word)),
        }
    }
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
