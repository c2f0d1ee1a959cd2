//! Large symmetric systems of blocks that are mostly uncoupled, such as the bodies of a heap. Memory is
//! reused: nothing here allocates once the largest structure has occurred.

use super::dense::NotPositiveDefinite;
use super::elimination_order::EliminationOrder;

/// A symmetric positive definite matrix by blocks of consecutive unknowns. Its factorization A = L L^T
/// replaces it, and fills only the blocks that elimination in a fill-reducing order couples.
///
/// The blocks of a column are stored together as one matrix, by columns: the diagonal block, followed by the
/// blocks below it that can differ from zero.
#[derive(Clone, Debug, Default)]
pub struct BlockSymmetric {
    sizes: Vec<u32>,
    edges: Vec<[u32; 2]>,
    /// The first unknown of each block, and their number.
    starts: Vec<u32>,
    order: EliminationOrder,
    /// The columns of blocks in the order of elimination.
    columns: Vec<Column>,
    /// The blocks below the diagonal, column by column, ascending in the order of elimination.
    below: Vec<Below>,
    values: Vec<f64>,
    /// The unknowns in the order of elimination.
    permuted: Vec<f64>,
    multiplications: f64,
}

/// A column of blocks.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Its first unknown in the order of elimination.
    start: u32,
    /// Its unknowns.
    width: u32,
    /// Its rows, those of the diagonal block included.
    rows: u32,
    /// The range of its blocks in `below`.
    below: [u32; 2],
    /// The index of its first value.
    values: usize,
}

/// A block below the diagonal.
#[derive(Clone, Copy, Debug)]
struct Below {
    /// The row of blocks, in the order of elimination.
    position: u32,
    /// Its first row within the column.
    row: u32,
}

/// The values of a block, added entry by entry.
#[derive(Debug)]
pub struct BlockMut<'a> {
    values: &'a mut [f64],
    stride: usize,
    transposed: bool,
}

impl BlockMut<'_> {
    /// Adds to the entry of row `i` and column `j` of the block.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        let (row, column) = if self.transposed { (j, i) } else { (i, j) };
        self.values[column * self.stride + row] += value;
    }
}

impl BlockSymmetric {
    /// Makes this a matrix of zeros with blocks of these sizes, of which only the pairs in `edges` are
    /// coupled. The edges are ascending, each with the smaller block first, and without repetition. The order
    /// of elimination depends on nothing else.
    pub fn reset(&mut self, sizes: &[u32], edges: &[[u32; 2]]) {
        if self.sizes != sizes || self.edges != edges {
            self.sizes.clear();
            self.sizes.extend_from_slice(sizes);
            self.edges.clear();
            self.edges.extend_from_slice(edges);
            self.analyze();
        }
        self.values.fill(0.0);
    }

    /// The approximate number of multiplications of a factorization.
    pub fn multiplications(&self) -> f64 {
        self.multiplications
    }

    fn analyze(&mut self) {
        let Self { sizes, edges, starts, order, columns, below, values, permuted, multiplications } = self;
        starts.clear();
        let mut unknowns = 0;
        for size in sizes.iter() {
            starts.push(unknowns);
            unknowns += size;
        }
        starts.push(unknowns);
        permuted.clear();
        permuted.resize(unknowns as usize, 0.0);
        order.find(sizes, edges);
        columns.clear();
        below.clear();
        *multiplications = 0.0;
        let (mut start, mut count) = (0, 0);
        for (block, coupled) in order.columns() {
            let width = sizes[block as usize];
            let (first, mut rows) = (below.len() as u32, width);
            for position in coupled {
                below.push(Below { position: *position, row: rows });
                rows += sizes[order.blocks()[*position as usize] as usize];
            }
            columns.push(Column { start, width, rows, below: [first, below.len() as u32], values: count });
            start += width;
            count += (rows * width) as usize;
            *multiplications += (0..width).map(|k| 0.5 * f64::from(rows - k).powi(2)).sum::<f64>();
        }
        values.clear();
        values.resize(count, 0.0);
    }

    /// The block of rows `a` and columns `b`, which are equal or coupled. Only the lower triangle of a
    /// diagonal block is read. For coupled blocks, (a, b) and (b, a) are the same stored block.
    pub fn block_mut(&mut self, a: usize, b: usize) -> BlockMut<'_> {
        let (row, column) = (self.order.positions()[a], self.order.positions()[b]);
        let transposed = row < column;
        let (row, column) = (row.max(column), row.min(column));
        let at = &self.columns[column as usize];
        let offset = if row == column {
            0
        } else {
            let below = &self.below[at.below[0] as usize..at.below[1] as usize];
            let found = below[below.partition_point(|below| below.position < row)];
            debug_assert_eq!(found.position, row, "the blocks {a} and {b} are not coupled");
            found.row
        };
        let from = at.values + offset as usize;
        let to = at.values + (at.rows * at.width) as usize;
        BlockMut { values: &mut self.values[from..to], stride: at.rows as usize, transposed }
    }

    /// Factorizes the matrix in place.
    ///
    /// # Errors
    /// A pivot that is not positive and finite, with the index of its unknown.
    pub fn factorize(&mut self) -> Result<(), NotPositiveDefinite> {
        for (number, column) in self.columns.iter().enumerate() {
            let (done, rest) = self.values.split_at_mut(column.values);
            let _ = done;
            let (panel, later) = rest.split_at_mut((column.rows * column.width) as usize);
            factorize_panel(panel, column).map_err(|(pivot, value)| NotPositiveDefinite {
                pivot: self.starts[self.order.blocks()[number] as usize] as usize + pivot,
                size: self.permuted.len(),
                value,
            })?;
            let below = &self.below[column.below[0] as usize..column.below[1] as usize];
            let origin = column.values + panel.len();
            for (i, target) in below.iter().enumerate() {
                let to = &self.columns[target.position as usize];
                let to_below = &self.below[to.below[0] as usize..to.below[1] as usize];
                let values = &mut later[to.values - origin..][..(to.rows * to.width) as usize];
                let mut update = Update { panel, column, factors: target.row, values, to };
                // Updates the diagonal block and the blocks below it. Rows that are consecutive in both
                // columns are updated together.
                let mut run = Run { from: target.row, to: 0, rows: to.width };
                let mut search = 0;
                for other in &below[i + 1..] {
                    search += to_below[search..].partition_point(|below| below.position < other.position);
                    let row = to_below[search].row;
                    let rows = self.columns[other.position as usize].width;
                    if row == run.to + run.rows && other.row == run.from + run.rows {
                        run.rows += rows;
                    } else {
                        update.subtract(&run);
                        run = Run { from: other.row, to: row, rows };
                    }
                }
                update.subtract(&run);
            }
        }
        Ok(())
    }

    /// Solves A x = b after [`BlockSymmetric::factorize`]; `x` is b on input.
    pub fn solve(&mut self, x: &mut [f64]) {
        let Self { starts, order, columns, below, values, permuted, .. } = self;
        let unknowns = |block: u32| starts[block as usize] as usize..starts[block as usize + 1] as usize;
        for (column, block) in columns.iter().zip(order.blocks()) {
            permuted[column.start as usize..][..column.width as usize].copy_from_slice(&x[unknowns(*block)]);
        }
        for column in columns.iter() {
            let rows = column.rows as usize;
            let panel = &values[column.values..][..rows * column.width as usize];
            let (own, later) = permuted[column.start as usize..].split_at_mut(column.width as usize);
            let origin = (column.start + column.width) as usize;
            for (k, entries) in panel.chunks_exact(rows).enumerate() {
                let y = own[k] * entries[k];
                own[k] = y;
                for (x, entry) in own[k + 1..].iter_mut().zip(&entries[k + 1..]) {
                    *x -= entry * y;
                }
                for block in &below[column.below[0] as usize..column.below[1] as usize] {
                    let to = &columns[block.position as usize];
                    let x = &mut later[to.start as usize - origin..][..to.width as usize];
                    for (x, entry) in x.iter_mut().zip(&entries[block.row as usize..]) {
                        *x -= entry * y;
                    }
                }
            }
        }
        for column in columns.iter().rev() {
            let rows = column.rows as usize;
            let panel = &values[column.values..][..rows * column.width as usize];
            let (own, later) = permuted[column.start as usize..].split_at_mut(column.width as usize);
            let origin = (column.start + column.width) as usize;
            for (k, entries) in panel.chunks_exact(rows).enumerate().rev() {
                let mut sum = own[k];
                for (x, entry) in own[k + 1..].iter().zip(&entries[k + 1..]) {
                    sum -= entry * x;
                }
                for block in &below[column.below[0] as usize..column.below[1] as usize] {
                    let to = &columns[block.position as usize];
                    let x = &later[to.start as usize - origin..][..to.width as usize];
                    for (x, entry) in x.iter().zip(&entries[block.row as usize..]) {
                        sum -= entry * x;
                    }
                }
                own[k] = sum * entries[k];
            }
        }
        for (column, block) in columns.iter().zip(order.blocks()) {
            x[unknowns(*block)].copy_from_slice(&permuted[column.start as usize..][..column.width as usize]);
        }
    }
}

/// Cholesky factorization of the diagonal block, followed by the columns of L below it. The diagonal of L is
/// stored as 1/L_kk. An error is the index of a pivot, and its value.
fn factorize_panel(panel: &mut [f64], column: &Column) -> Result<(), (usize, f64)> {
    let (rows, width) = (column.rows as usize, column.width as usize);
    for k in 0..width {
        let (done, rest) = panel.split_at_mut(k * rows);
        let own = &mut rest[k..rows];
        for other in done.chunks_exact(rows) {
            subtract_scaled(own, other[k], &other[k..]);
        }
        let value = own[0];
        if !(value > 0.0 && value < f64::INFINITY) {
            return Err((k, value));
        }
        let inverse = 1.0 / value.sqrt();
        own[0] = inverse;
        own[1..].iter_mut().for_each(|x| *x *= inverse);
    }
    Ok(())
}

#[inline(always)]
fn subtract_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * x;
    }
}

/// Rows that are consecutive both in the eliminated column and in the column that it changes.
struct Run {
    from: u32,
    to: u32,
    rows: u32,
}

/// The contribution of an eliminated column to a later one.
struct Update<'a> {
    panel: &'a [f64],
    column: &'a Column,
    /// The first of the rows that belong to the later column's unknowns.
    factors: u32,
    values: &'a mut [f64],
    to: &'a Column,
}

impl Update<'_> {
    fn subtract(&mut self, run: &Run) {
        let (rows, stride) = (self.column.rows as usize, self.to.rows as usize);
        let (from, count) = (run.from as usize, run.rows as usize);
        for (c, values) in self.values.chunks_exact_mut(stride).enumerate() {
            let values = &mut values[run.to as usize..][..count];
            let factor = self.factors as usize + c;
            let mut columns = self.panel;
            while let Some((six, rest)) = columns.split_at_checked(6 * rows) {
                subtract_six(values, six, rows, from, factor);
                columns = rest;
            }
            for x in columns.chunks_exact(rows) {
                subtract_scaled(values, x[factor], &x[from..]);
            }
        }
    }
}

/// Subtracts six columns, each multiplied with its entry in the row `factor`. Rows begin at `from`.
#[inline(always)]
fn subtract_six(values: &mut [f64], six: &[f64], rows: usize, from: usize, factor: usize) {
    let count = values.len();
    let column = |k: usize| &six[k * rows + from..][..count];
    let x: [&[f64]; 6] = std::array::from_fn(column);
    let f: [f64; 6] = std::array::from_fn(|k| six[k * rows + factor]);
    for i in 0..count {
        let [a, b, c] = [0, 2, 4].map(|k: usize| f[k] * x[k][i] + f[k + 1] * x[k + 1][i]);
        values[i] -= (a + b) + c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::dense::{cholesky_in_place, cholesky_solve_in_place};

    fn wave(i: usize, j: usize) -> f64 {
        ((i.min(j) * 7 + i.max(j) * 3 + 1) as f64).sin()
    }

    /// A matrix with these blocks and couplings, dense and by blocks.
    fn matrices(sizes: &[u32], edges: &[[u32; 2]], blocks: &mut BlockSymmetric) -> Vec<f64> {
        let starts: Vec<usize> =
            sizes.iter().scan(0, |start, size| Some(std::mem::replace(start, *start + *size as usize))).collect();
        let n = sizes.iter().sum::<u32>() as usize;
        let mut dense = vec![0.0; n * n];
        blocks.reset(sizes, edges);
        let own = (0..sizes.len() as u32).map(|block| [block, block]);
        for [a, b] in own.chain(edges.iter().copied()).map(|pair| pair.map(|block| block as usize)) {
            let mut block = blocks.block_mut(a, b);
            for i in 0..sizes[a] as usize {
                for j in 0..sizes[b] as usize {
                    let (row, column) = (starts[a] + i, starts[b] + j);
                    let value = wave(row, column) + if row == column { n as f64 } else { 0.0 };
                    block.add(i, j, value);
                    (dense[row * n + column], dense[column * n + row]) = (value, value);
                }
            }
        }
        dense
    }

    /// Oracle: the dense Cholesky factorization. The cases are a chain, a star, a loop, a grid, parts that
    /// are not coupled, and a full matrix; the sizes of blocks are those of free bodies, arms and single
    /// joints.
    #[test]
    fn has_the_solution_of_the_dense_factorization() {
        let grid = (0..20u32).flat_map(|i| {
            let right = (i % 5 < 4).then_some([i, i + 1]);
            let down = (i < 15).then_some([i, i + 5]);
            right.into_iter().chain(down)
        });
        let full = (0..7u32).flat_map(|i| (i + 1..7).map(move |j| [i, j]));
        let cases: [(usize, Vec<[u32; 2]>); 7] = [
            (1, Vec::new()),
            (6, (1..6).map(|i| [i - 1, i]).collect()),
            (9, (1..9).map(|i| [0, i]).collect()),
            (8, std::iter::once([0, 7]).chain((1..8).map(|i| [i - 1, i])).collect()),
            (20, grid.collect()),
            (7, vec![[0, 3], [1, 6], [3, 4]]),
            (7, full.collect()),
        ];
        let mut blocks = BlockSymmetric::default();
        for (count, mut edges) in cases {
            edges.sort_unstable();
            for sizes in [[6, 6, 6, 6], [6, 7, 1, 13], [1, 1, 2, 3]] {
                let sizes: Vec<u32> = (0..count).map(|i| sizes[i % 4]).collect();
                let mut dense = matrices(&sizes, &edges, &mut blocks);
                let n = sizes.iter().sum::<u32>() as usize;
                let mut expected: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
                let mut x = expected.clone();
                cholesky_in_place(&mut dense, n).expect("positive definite");
                cholesky_solve_in_place(&dense, n, &mut expected);
                blocks.factorize().expect("positive definite");
                blocks.solve(&mut x);
                for (x, expected) in x.iter().zip(&expected) {
                    assert!((x - expected).abs() < 1e-14, "{edges:?} of {sizes:?}: {x} instead of {expected}");
                }
            }
        }
    }

    /// The index of the pivot is that of its unknown, and not that in the order of elimination.
    #[test]
    fn names_the_pivot_that_fails() {
        let mut blocks = BlockSymmetric::default();
        let edges = [[0, 1], [0, 2], [0, 3]];
        for block in 0..4 {
            matrices(&[6, 6, 6, 6], &edges, &mut blocks);
            blocks.block_mut(block, block).add(2, 2, -1000.0);
            assert_eq!(blocks.factorize().expect_err("negative").pivot, 6 * block + 2);
        }
    }

    /// A chain needs no filled blocks: each column but the last has one block below the diagonal.
    #[test]
    fn a_chain_fills_no_block() {
        let mut blocks = BlockSymmetric::default();
        let edges: Vec<_> = (1..50).map(|i| [i - 1, i]).collect();
        blocks.reset(&[6; 50], &edges);
        assert_eq!(blocks.below.len(), 49);
        assert_eq!(blocks.values.len(), 36 * (50 + 49));
    }
}
