//! Legacy ASCII VTK, unstructured grids of tetrahedra, with an optional pressure per vertex.

use super::malformed::Malformed;
use crate::geometry::VolumeMesh;
use crate::math::Vector3;

/// VTK's number of the linear tetrahedron.
const VTK_TETRA: usize = 10;
/// A larger count of points or cells is a sign of a damaged file.
const COUNT_MAX: usize = 50_000_000;

/// The words of the file, with their lines for messages.
struct Words<'a> {
    words: Vec<(&'a str, usize)>,
    next: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &str) -> Result<&'a str, Malformed> {
        let word = self.words.get(self.next).ok_or_else(|| Malformed::new(expected, "the end of the file"))?;
        self.next += 1;
        Ok(word.0)
    }
    fn number<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, Malformed> {
        let line = self.words.get(self.next).map_or(0, |word| word.1);
        let word = self.next(expected)?;
        word.parse().map_err(|_| Malformed::new(expected, format!("`{word}` in line {line}")))
    }
    fn count(&mut self, expected: &str) -> Result<usize, Malformed> {
        let count = self.number(expected)?;
        if count > COUNT_MAX {
            return Err(Malformed::new(expected, format!("{count}")));
        }
        Ok(count)
    }
}

/// The tetrahedra, a pressure at each vertex \[Pa\], and the names of scalars at the vertices that are not
/// used.
type Grid = (VolumeMesh, Option<Vec<f64>>, Vec<String>);

/// Reads the grid and the point data whose name contains `pressure`. The third part holds the names of other
/// scalars.
pub(super) fn read(bytes: &[u8]) -> Result<Grid, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed::new("text (an ASCII file)", "binary data"))?;
    let mut lines = text.lines().enumerate();
    let head = lines.next().map_or("", |(_, line)| line);
    if !head.starts_with("# vtk DataFile") {
        return Err(Malformed::new("`# vtk DataFile Version` in the first line", format!("`{head}`")));
    }
    let words = lines.skip(1).flat_map(|(k, line)| line.split_whitespace().map(move |word| (word, k + 1))).collect();
    let mut words = Words { words, next: 0 };
    expect(&mut words, "ASCII")?;
    expect(&mut words, "DATASET")?;
    expect(&mut words, "UNSTRUCTURED_GRID")?;
    let mut mesh = VolumeMesh::default();
    let (mut pressure, mut ignored) = (None, Vec::new());
    let mut cell_types = None;
    while words.next < words.words.len() {
        match words.next("a section")?.to_uppercase().as_str() {
            "POINTS" => mesh.vertices = points(&mut words)?,
            "CELLS" => mesh.tets = cells(&mut words)?,
            "CELL_TYPES" => cell_types = Some(types(&mut words)?),
            "POINT_DATA" => pressure = point_data(&mut words, &mut ignored)?,
            // Cell data and the like are not used.
            _ => {}
        }
    }
    match cell_types {
        Some(count) if count == mesh.tets.len() => {}
        Some(count) => {
            return Err(Malformed::new(format!("{} cell types", mesh.tets.len()), count.to_string()));
        }
        None => return Err(Malformed::new("a CELL_TYPES section", "none")),
    }
    if pressure.as_ref().is_some_and(|values| values.len() != mesh.vertices.len()) {
        return Err(Malformed::new("one pressure per point", "a different number"));
    }
    orient(&mut mesh)?;
    Ok((mesh, pressure, ignored))
}

fn expect(words: &mut Words, keyword: &str) -> Result<(), Malformed> {
    let word = words.next(keyword)?;
    if word.eq_ignore_ascii_case(keyword) { Ok(()) } else { Err(Malformed::new(keyword, format!("`{word}`"))) }
}

fn points(words: &mut Words) -> Result<Vec<Vector3>, Malformed> {
    let count = words.count("the number of points")?;
    words.next("the points' data type")?;
    let mut coordinate = || words.number::<f64>("a coordinate");
    (0..count).map(|_| Ok(Vector3::new(coordinate()?, coordinate()?, coordinate()?))).collect()
}

fn cells(words: &mut Words) -> Result<Vec<[u32; 4]>, Malformed> {
    let count = words.count("the number of cells")?;
    words.count("the size of the cell list")?;
    (0..count)
        .map(|_| {
            let corners = words.count("the number of a cell's points")?;
            if corners != 4 {
                return Err(Malformed::new("cells of 4 points (tetrahedra)", format!("{corners} points")));
            }
            let mut corner = || words.number::<u32>("a point's index");
            Ok([corner()?, corner()?, corner()?, corner()?])
        })
        .collect()
}

fn types(words: &mut Words) -> Result<usize, Malformed> {
    let count = words.count("the number of cell types")?;
    for _ in 0..count {
        let cell = words.count("a cell type")?;
        if cell != VTK_TETRA {
            return Err(Malformed::new("cell type 10 (linear tetrahedron)", cell.to_string()));
        }
    }
    Ok(count)
}

/// The scalar point data whose name contains `pressure`; the names of others go to `ignored`.
fn point_data(words: &mut Words, ignored: &mut Vec<String>) -> Result<Option<Vec<f64>>, Malformed> {
    let count = words.count("the number of point data")?;
    let mut found = None;
    while let Some((keyword, _)) = words.words.get(words.next) {
        match keyword.to_uppercase().as_str() {
            "SCALARS" => {
                words.next += 1;
                let name = words.next("a name")?;
                words.next("a data type")?;
                if words.words.get(words.next).is_some_and(|(word, _)| word.parse::<usize>().is_ok()) {
                    words.next += 1;
                }
                expect(words, "LOOKUP_TABLE")?;
                words.next("a table's name")?;
                let values = (0..count).map(|_| words.number("a value")).collect::<Result<Vec<f64>, _>>()?;
                if found.is_none() && name.to_lowercase().contains("pressure") {
                    found = Some(values);
                } else {
                    ignored.push(name.to_owned());
                }
            }
            "CELLS" | "CELL_TYPES" | "CELL_DATA" | "POINTS" => break,
            _ => words.next += 1,
        }
    }
    Ok(found)
}

/// Turns every tetrahedron so that its volume is positive.
fn orient(mesh: &mut VolumeMesh) -> Result<(), Malformed> {
    let vertices = &mesh.vertices;
    let at = |index: u32| {
        let vertex = vertices.get(index as usize).copied();
        vertex.ok_or_else(|| Malformed::new(format!("point indices below {}", vertices.len()), index.to_string()))
    };
    for (number, tet) in mesh.tets.iter_mut().enumerate() {
        let [a, b, c, d] = [at(tet[0])?, at(tet[1])?, at(tet[2])?, at(tet[3])?];
        let volume = (b - a).cross(&(c - a)).dot(&(d - a));
        if volume < 0.0 {
            tet.swap(2, 3);
        } else if volume == 0.0 {
            return Err(Malformed::new("tetrahedra with a volume", format!("a flat one, number {number}")));
        }
    }
    Ok(())
}
