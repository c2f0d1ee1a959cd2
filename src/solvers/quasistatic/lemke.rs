//! Lemke's method for linear complementarity problems, with lexicographic pivoting [Cottle, Pang & Stone
//! 2009, sections 4.4 and 4.9].

/// A pivot smaller than this fraction of the largest entry of its column is rounding [-].
const PIVOT_MIN: f64 = 1e-11;
/// Ratios that differ by less than this fraction of their size tie, and the next column decides [-].
const TIE: f64 = 1e-12;

/// 0 <= z, 0 <= w = M z + q, z . w = 0.
#[derive(Clone, Debug)]
pub(in crate::solvers) struct ComplementarityProblem {
    pub(in crate::solvers) size: usize,
    /// M, row-major.
    pub(in crate::solvers) matrix: Vec<f64>,
    pub(in crate::solvers) constant: Vec<f64>,
}

/// The end of Lemke's method.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::solvers) enum LemkeEnd {
    /// z.
    Solved(Vec<f64>),
    /// A secondary ray: the path goes to infinity. With a copositive-plus M there is then no feasible z.
    Ray,
    /// The limit of pivots was reached.
    PivotLimit,
}

impl ComplementarityProblem {
    /// An empty problem.
    pub(in crate::solvers) fn new(size: usize) -> Self {
        Self { size, matrix: vec![0.0; size * size], constant: vec![0.0; size] }
    }
    /// w = M z + q.
    pub(in crate::solvers) fn slack(&self, z: &[f64]) -> Vec<f64> {
        (0..self.size)
            .map(|i| {
                let row = &self.matrix[i * self.size..(i + 1) * self.size];
                self.constant[i] + row.iter().zip(z).map(|(m, z)| m * z).sum::<f64>()
            })
            .collect()
    }

    /// Follows Lemke's path for at most `pivots_max` pivots; returns its end and the number of pivots.
    pub(in crate::solvers) fn solve(&self, pivots_max: u32) -> (LemkeEnd, u32) {
        let n = self.size;
        if self.constant.iter().all(|q| *q >= 0.0) {
            return (LemkeEnd::Solved(vec![0.0; n]), 0);
        }
        let mut tableau = Tableau::new(self);
        // z_0 enters at the most negative row, where the lexicographic rule also breaks ties
        let Some(first) = tableau.most_negative_row() else { return (LemkeEnd::Solved(vec![0.0; n]), 0) };
        let mut leaving = tableau.basis[first];
        tableau.pivot(first, 2 * n);
        for pivots in 1..=pivots_max {
            let entering = if leaving < n { leaving + n } else { leaving - n };
            let Some(row) = tableau.leaving_row(entering) else { return (LemkeEnd::Ray, pivots) };
            leaving = tableau.basis[row];
            tableau.pivot(row, entering);
            if leaving == 2 * n {
                return (LemkeEnd::Solved(tableau.solution()), pivots);
            }
        }
        (LemkeEnd::PivotLimit, pivots_max)
    }
}

/// Rows of w - M z - 1 z_0 = q in the present basis. Columns: w (n), z (n), z_0, q. The columns of w are the
/// inverse of the basis, which the lexicographic rule compares.
struct Tableau {
    size: usize,
    width: usize,
    entries: Vec<f64>,
    basis: Vec<usize>,
}

impl Tableau {
    fn new(problem: &ComplementarityProblem) -> Self {
        let n = problem.size;
        let width = 2 * n + 2;
        let mut entries = vec![0.0; n * width];
        for i in 0..n {
            let row = &mut entries[i * width..(i + 1) * width];
            row[i] = 1.0;
            for (entry, m) in row[n..2 * n].iter_mut().zip(&problem.matrix[i * n..(i + 1) * n]) {
                *entry = -m;
            }
            row[2 * n] = -1.0;
            row[2 * n + 1] = problem.constant[i];
        }
        Self { size: n, width, entries, basis: (0..n).collect() }
    }
    fn entry(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.width + column]
    }

    /// Whether row a is lexicographically before row b, each divided by its entry of `column`: first by q,
    /// then by the basis inverse.
    fn precedes(&self, a: usize, b: usize, column: usize) -> bool {
        let (scale_a, scale_b) = (self.entry(a, column), self.entry(b, column));
        let order = std::iter::once(self.width - 1).chain(0..self.size);
        for k in order {
            let (x, y) = (self.entry(a, k) / scale_a, self.entry(b, k) / scale_b);
            if (x - y).abs() > TIE * (1.0 + x.abs().max(y.abs())) {
                return x < y;
            }
        }
        false
    }

    fn most_negative_row(&self) -> Option<usize> {
        // Dividing by the entry -1 of z_0 turns the smallest q into the largest ratio.
        (0..self.size)
            .filter(|i| self.entry(*i, self.width - 1) < 0.0)
            .reduce(|best, row| if self.precedes(best, row, 2 * self.size) { row } else { best })
    }

    /// The lexicographic ratio test; z_0 leaves as soon as possible.
    fn leaving_row(&self, entering: usize) -> Option<usize> {
        let largest = (0..self.size).map(|i| self.entry(i, entering).abs()).fold(0.0, f64::max);
        let rows = || (0..self.size).filter(|i| self.entry(*i, entering) > PIVOT_MIN * largest);
        let best = rows().reduce(|best, row| if self.precedes(row, best, entering) { row } else { best })?;
        let ratio = |row: usize| self.entry(row, self.width - 1) / self.entry(row, entering);
        let smallest = ratio(best);
        rows()
            .find(|row| self.basis[*row] == 2 * self.size && ratio(*row) <= smallest + TIE * (1.0 + smallest.abs()))
            .or(Some(best))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width;
        let pivot = self.entry(row, column);
        for entry in &mut self.entries[row * width..(row + 1) * width] {
            *entry /= pivot;
        }
        let pivot_row = self.entries[row * width..(row + 1) * width].to_vec();
        for other in (0..self.size).filter(|other| *other != row) {
            let factor = self.entry(other, column);
            if factor != 0.0 {
                for (entry, p) in self.entries[other * width..(other + 1) * width].iter_mut().zip(&pivot_row) {
                    *entry -= factor * p;
                }
            }
        }
        self.basis[row] = column;
    }

    fn solution(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.size];
        for (row, variable) in self.basis.iter().enumerate() {
            if (self.size..2 * self.size).contains(variable) {
                z[variable - self.size] = self.entry(row, self.width - 1).max(0.0);
            }
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(matrix: &[f64], constant: &[f64]) -> ComplementarityProblem {
        ComplementarityProblem { size: constant.len(), matrix: matrix.to_vec(), constant: constant.to_vec() }
    }

    fn assert_solves(problem: &ComplementarityProblem) {
        let (LemkeEnd::Solved(z), _) = problem.solve(100) else { panic!("no solution of {problem:?}") };
        for (z, w) in z.iter().zip(problem.slack(&z)) {
            assert!(*z >= 0.0 && w >= -1e-12 && z * w.abs() < 1e-12, "z = {z}, w = {w}");
        }
    }

    #[test]
    fn solves_written_out_problems() {
        assert_solves(&problem(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0]));
        assert_solves(&problem(&[1.0, 0.0, 0.0, 1.0], &[3.0, -1.0]));
        // All ratios tie: without a rule the path may cycle.
        assert_solves(&problem(&[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], &[-1.0, -1.0, -1.0]));
    }

    #[test]
    fn ends_on_a_ray_where_there_is_no_solution() {
        assert_eq!(problem(&[0.0], &[-1.0]).solve(100).0, LemkeEnd::Ray);
    }
}
