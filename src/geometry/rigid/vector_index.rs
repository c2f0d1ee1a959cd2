//! Finds vectors near a given one.

use std::collections::BTreeMap;

use crate::math::Vector3;

/// The width of a cell over the search distance; large, so that most searches visit one cell.
const CELL_WIDTH: f64 = 8.0;

/// Numbered vectors, sorted into cubic cells.
#[derive(Debug)]
pub(super) struct VectorIndex {
    near: f64,
    cells: BTreeMap<[i64; 3], Vec<u32>>,
}

impl VectorIndex {
    /// An index for searches within `near` in each coordinate, of vectors of about unit length.
    pub(super) fn new(near: f64) -> Self {
        Self { near, cells: BTreeMap::new() }
    }

    pub(super) fn insert(&mut self, vector: &Vector3, number: u32) {
        let cell = self.cell(vector, 0.0);
        self.cells.entry(cell).or_default().push(number);
    }

    /// The smallest number of the vectors near `vector` for which `is_wanted` holds.
    pub(super) fn first(&self, vector: &Vector3, is_wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let (low, high) = (self.cell(vector, -self.near), self.cell(vector, self.near));
        let mut first = None;
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let found =
                        self.cells.get(&[x, y, z]).and_then(|cell| cell.iter().copied().find(|n| is_wanted(*n)));
                    first = match (first, found) {
                        (Some(a), Some(b)) => Some(u32::min(a, b)),
                        (a, b) => a.or(b),
                    };
                }
            }
        }
        first
    }

    fn cell(&self, vector: &Vector3, offset: f64) -> [i64; 3] {
        [vector.x, vector.y, vector.z].map(|x| ((x + offset) / (CELL_WIDTH * self.near)).floor() as i64)
    }
}
