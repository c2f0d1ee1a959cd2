//! Square matrices with entries only in blocks on the diagonal, such as the mass matrix of several trees of
//! bodies.

use std::ops::{Index, Range};

/// A square matrix that couples only indices of the same block. The blocks are consecutive ranges of indices
/// that begin at 0. Memory and time grow with the entries of the blocks, not with the square of the size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockDiagonal {
    blocks: Vec<Range<usize>>,
    rows: Vec<Row>,
    /// The blocks, each row-major.
    values: Vec<f64>,
}

/// A row of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// The index in `values` of the entry of column 0, if the row had one. It is not negative, because the
    /// blocks before a column have at least as many entries as columns.
    origin: usize,
    /// Its columns.
    start: u32,
    end: u32,
}

static ZERO: f64 = 0.0;

impl BlockDiagonal {
    /// A matrix of zeros with these blocks.
    pub fn new(blocks: &[Range<usize>]) -> Self {
        let mut matrix = Self::default();
        matrix.reset(blocks);
        matrix
    }

    /// A matrix with one block, from its rows.
    pub fn from_dense(size: usize, rows: &[f64]) -> Self {
        let mut matrix = Self::new(std::slice::from_ref(&(0..size)));
        matrix.values.copy_from_slice(rows);
        matrix
    }

    /// Makes this a matrix of zeros with these blocks; the memory is reused.
    pub fn reset(&mut self, blocks: &[Range<usize>]) {
        if self.blocks != blocks {
            self.blocks.clear();
            self.blocks.extend_from_slice(blocks);
            self.rows.clear();
            let mut count = 0;
            for block in blocks {
                debug_assert_eq!(block.start, self.rows.len(), "consecutive blocks from 0");
                for _ in block.clone() {
                    let (start, end) = (block.start as u32, block.end as u32);
                    self.rows.push(Row { origin: count - block.start, start, end });
                    count += block.len();
                }
            }
            self.values.resize(count, 0.0);
        }
        self.values.fill(0.0);
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.rows.len()
    }
    /// The blocks.
    pub fn blocks(&self) -> &[Range<usize>] {
        &self.blocks
    }
    /// The entries of row `i` in the columns of its block.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        let Row { origin, start, end } = self.rows[i];
        &self.values[origin + start as usize..origin + end as usize]
    }
    /// The columns of the block of row `i`.
    #[inline]
    pub fn block_of(&self, i: usize) -> Range<usize> {
        let Row { start, end, .. } = self.rows[i];
        start as usize..end as usize
    }
    /// The entry on the diagonal.
    #[inline]
    pub fn diagonal(&self, i: usize) -> f64 {
        self.values[self.rows[i].origin + i]
    }
    /// Sets all entries of row `i` to zero.
    pub fn clear_row(&mut self, i: usize) {
        let Row { origin, start, end } = self.rows[i];
        self.values[origin + start as usize..origin + end as usize].fill(0.0);
    }
    /// Adds to an entry of a block.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        let Row { origin, start, end } = self.rows[i];
        debug_assert!((start as usize..end as usize).contains(&j), "({i}, {j}) is in no block");
        self.values[origin + j] += value;
    }
    /// Takes the entries of a matrix with the same blocks.
    pub fn copy_from(&mut self, other: &Self) {
        debug_assert_eq!(self.blocks, other.blocks);
        self.values.copy_from_slice(&other.values);
    }
    /// Writes all entries to `dense`, row-major.
    pub fn write_dense(&self, dense: &mut Vec<f64>) {
        let size = self.size();
        dense.clear();
        dense.resize(size * size, 0.0);
        for (i, row) in self.rows.iter().enumerate() {
            dense[i * size + row.start as usize..i * size + row.end as usize].copy_from_slice(self.row(i));
        }
    }
    /// All entries, row-major.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = Vec::new();
        self.write_dense(&mut dense);
        dense
    }
}

impl Index<(usize, usize)> for BlockDiagonal {
    type Output = f64;

    /// The entry of row `i` and column `j`; zero outside the blocks.
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        let Row { origin, start, end } = self.rows[i];
        if (start as usize..end as usize).contains(&j) { &self.values[origin + j] } else { &ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_those_of_the_dense_matrix() {
        let mut matrix = BlockDiagonal::new(&[0..2, 2..3, 3..6]);
        let mut dense = vec![0.0; 36];
        for block in matrix.blocks().to_vec() {
            for (i, j) in block.clone().flat_map(|i| block.clone().map(move |j| (i, j))) {
                matrix.add(i, j, (7 * i + j) as f64 + 1.0);
                dense[6 * i + j] = (7 * i + j) as f64 + 1.0;
            }
        }
        assert_eq!((matrix.size(), matrix.to_dense()), (6, dense.clone()));
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            assert_eq!(matrix[(i, j)], dense[6 * i + j], "({i}, {j})");
        }
        assert_eq!((matrix.row(1), matrix.diagonal(4)), (&dense[6..8], dense[28]));
        assert_eq!((matrix.block_of(1), matrix.block_of(2), matrix.block_of(5)), (0..2, 2..3, 3..6));
        matrix.clear_row(4);
        assert_eq!(matrix.row(4), [0.0; 3]);
        assert_eq!(matrix.row(5), &dense[33..36]);
        matrix.reset(&[0..2, 2..3]);
        assert_eq!((matrix.size(), matrix.to_dense()), (3, vec![0.0; 9]));
    }
}
