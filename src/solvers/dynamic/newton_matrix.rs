//! The matrix H = A + sum J^T H_patch J + rows of a Newton step: dense for small islands, by blocks for
//! heaps.

use super::islands::Part;
use crate::math::Matrix6;
use crate::math::block_symmetric::BlockSymmetric;
use crate::math::dense::NotPositiveDefinite;
use crate::math::padded::PaddedSymmetric;
use crate::solvers::PatchBlock;

/// Smaller islands have a dense matrix [unknowns].
const SPARSE_SIZE_MIN: usize = 72;
/// The matrix is dense if the sparse one needs more than this fraction of its multiplications.
const SPARSE_PART_MAX: f64 = 0.5;

/// The second derivatives of the potentials at a point.
pub(super) struct Curvature<'a> {
    /// Of each patch, with respect to its velocity.
    pub(super) patch_hessians: &'a [Matrix6],
    /// Of each row, with respect to its speed.
    pub(super) row_slopes: &'a [f64],
}

/// H of an island, or its factors.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonMatrix {
    dense: PaddedSymmetric,
    /// One matrix per island. Each keeps its order of elimination as long as its structure does not change.
    sparse: Vec<BlockSymmetric>,
    /// The island whose sparse factors were computed last.
    sparse_island: Option<usize>,
    /// J^T H_patch J of one patch, and the indices of velocities in it.
    local: PaddedSymmetric,
    local_indices: Vec<u32>,
}

impl NewtonMatrix {
    /// Solves H x = b; `x` is b on input.
    ///
    /// # Errors
    /// A pivot that is not positive and finite, by its index in the island.
    pub(super) fn solve(
        &mut self,
        part: Part<'_>,
        curvature: &Curvature<'_>,
        x: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        self.sparse_island = self.start_sparse(part);
        match self.sparse_island {
            Some(island) => {
                self.add_sparse(part, curvature);
                let matrix = &mut self.sparse[island];
                matrix.factorize()?;
                matrix.solve(x);
                Ok(())
            }
            None => {
                self.add_dense(part, curvature, x);
                self.dense.solve_in_place(x)
            }
        }
    }

    /// Whether the last matrix was sparse.
    #[cfg(test)]
    pub(super) fn is_sparse(&self) -> bool {
        self.sparse_island.is_some()
    }

    /// Solves H x = b with the factors of the last step; `x` is b on input.
    pub(super) fn solve_again(&mut self, x: &mut [f64]) {
        match self.sparse_island {
            Some(island) => self.sparse[island].solve(x),
            None => self.dense.solve_again(x),
        }
    }

    /// Prepares the sparse matrix of the island. Returns its number, or nothing if a dense one is faster.
    fn start_sparse(&mut self, part: Part<'_>) -> Option<usize> {
        let (n, number) = (part.size(), part.number());
        if n < SPARSE_SIZE_MIN {
            return None;
        }
        if self.sparse.len() <= number {
            self.sparse.resize_with(number + 1, BlockSymmetric::default);
        }
        let matrix = &mut self.sparse[number];
        matrix.reset(part.block_sizes(), part.edges());
        (matrix.multiplications() <= SPARSE_PART_MAX * (n as f64).powi(3) / 6.0).then_some(number)
    }

    fn add_sparse(&mut self, part: Part<'_>, curvature: &Curvature<'_>) {
        let Self { sparse, local, local_indices, .. } = self;
        let matrix = &mut sparse[part.number()];
        local_indices.resize(part.indices().len(), 0);
        for (number, block) in part.blocks().enumerate() {
            let mut diagonal = matrix.block_mut(number, number);
            for (i, row) in part.momentum_rows(block).enumerate() {
                row[..=i].iter().enumerate().for_each(|(j, a)| diagonal.add(i, j, *a));
            }
        }
        for (number, patch) in part.patches() {
            let pair = blocks_of(part, patch);
            let mut size = 0;
            for block in pair.into_iter().flatten() {
                let dofs = part.block_dofs(block);
                (0..).zip(&mut local_indices[dofs.clone()]).for_each(|(i, index)| *index = size + i);
                size += dofs.len() as u32;
            }
            local.reset(size as usize);
            patch.jacobian.add_hessian(&curvature.patch_hessians[number], local_indices, local);
            let mut start = 0;
            for (k, a) in pair.into_iter().enumerate().filter_map(|(k, block)| Some((k, block?))) {
                let height = part.block_dofs(a).len();
                let mut diagonal = matrix.block_mut(a, a);
                for i in 0..height {
                    let row = &local.row_mut(start + i)[start..start + height];
                    row[i..].iter().zip(i..).for_each(|(h, j)| diagonal.add(j, i, *h));
                }
                if let (0, Some(b)) = (k, pair[1]) {
                    let mut beside = matrix.block_mut(a, b);
                    for i in 0..height {
                        let row = &local.row_mut(i)[height..size as usize];
                        row.iter().enumerate().for_each(|(j, h)| beside.add(i, j, *h));
                    }
                }
                start += height;
            }
        }
        for (number, row) in part.rows() {
            let block = part.block_number(row.dof);
            let i = row.dof as usize - part.block_dofs(block).start;
            matrix.block_mut(block, block).add(i, i, curvature.row_slopes[number] * row.coefficient * row.coefficient);
        }
    }

    /// Only the upper triangle is computed.
    fn add_dense(&mut self, part: Part<'_>, curvature: &Curvature<'_>, right_hand_side: &[f64]) {
        let (n, indices) = (part.size(), part.indices());
        self.dense.reset(n);
        for block in part.blocks() {
            for (index, momentum_row) in block.indices.clone().zip(part.momentum_rows(block)) {
                let row = self.dense.row_mut(index);
                for (h, a) in row[block.indices.clone()].iter_mut().zip(momentum_row) {
                    *h += a;
                }
                row[n] = right_hand_side[index];
            }
        }
        for (number, patch) in part.patches() {
            patch.jacobian.add_hessian(&curvature.patch_hessians[number], indices, &mut self.dense);
        }
        for (number, row) in part.rows() {
            let i = indices[row.dof as usize] as usize;
            self.dense.row_mut(i)[i] += curvature.row_slopes[number] * row.coefficient * row.coefficient;
        }
    }
}

/// The numbers of the blocks that move a patch.
fn blocks_of(part: Part<'_>, patch: &PatchBlock) -> [Option<usize>; 2] {
    let (first, last) = (patch.dofs().first(), patch.dofs().last());
    let [first, last] = [first, last].map(|dof| dof.map(|dof| part.block_number(*dof)));
    [first, last.filter(|_| last != first)]
}

#[cfg(test)]
mod tests {
    use super::super::problem::ContactProblem;
    use super::super::samples::{LAW, push_square};
    use super::super::{NewtonSettings, NewtonSolver};
    use crate::math::Vector6;
    use std::ops::Range;

    /// Free bodies and, in between, arms of seven joints, each pressed on the one before and on the third
    /// before; a row holds a joint of the last one.
    fn heap(count: usize, one_block: bool) -> ContactProblem {
        heap_without(usize::MAX, count, one_block)
    }

    /// The same without the contacts of one body.
    fn heap_without(body: usize, count: usize, one_block: bool) -> ContactProblem {
        let mut trees: Vec<Range<usize>> = Vec::new();
        for number in 0..count {
            let start = trees.last().map_or(0, |tree| tree.end);
            trees.push(start..start + if number % 4 == 2 { 7 } else { 6 });
        }
        let size = trees[count - 1].end;
        let mut problem = ContactProblem::default();
        problem.reset(&if one_block { std::iter::once(0..size).collect() } else { trees.clone() });
        for tree in &trees {
            for (i, j) in tree.clone().flat_map(|i| tree.clone().map(move |j| (i, j))) {
                problem.momentum_matrix.add(i, j, if i == j { 1.0 } else { 0.1 });
            }
        }
        for i in 0..size {
            problem.momentum[i] = 1e-3 * ((i as f64).sin() - 2.0);
        }
        let contacts = (0..count).flat_map(|b| [(b.checked_sub(1), b), (b.checked_sub(3), b)]);
        for (a, b) in contacts.filter(|(a, b)| *a != Some(body) && *b != body) {
            let (patch, _) = problem.add_patch();
            patch.reset(LAW);
            for (tree, sign) in a.map(|a| (&trees[a], -1.0)).into_iter().chain([(&trees[b], 1.0)]) {
                for (i, dof) in tree.clone().enumerate() {
                    let arm = if tree.len() == 6 { 0.0 } else { 0.2 };
                    let column =
                        sign * Vector6::from_fn(|k, _| if k == i { 1.0 } else { arm * ((k + 2 * i) as f64).cos() });
                    patch.push_column(dof as u32, column, 0.0);
                }
            }
            push_square(patch, 0.4);
        }
        let row = crate::solvers::BoxRow {
            dof: size as u32 - 2,
            coefficient: 1.0,
            target: 0.2,
            regularization: 0.5,
            lower: -0.1,
            upper: 0.1,
        };
        problem.rows.push(row);
        problem.lag_friction();
        problem
    }

    /// Oracle: the same problem with one block, which has a dense matrix.
    #[test]
    fn a_heap_has_the_solution_of_the_dense_matrix() {
        for count in [11, 12, 20, 45] {
            let solve = |one_block: bool| {
                let (problem, mut solver) = (heap(count, one_block), NewtonSolver::default());
                let mut v = vec![0.0; problem.size()];
                let settings = NewtonSettings { tolerance: 1e-13, ..NewtonSettings::default() };
                let report = solver.solve(&problem, &v.clone(), &settings, &mut v).expect("positive definite");
                assert!(report.residual < 1e-10, "{count}: {report:?}");
                (v, solver.has_sparse_matrix())
            };
            let ((sparse, is_sparse), (dense, is_dense)) = (solve(false), solve(true));
            assert_eq!((is_sparse, is_dense), (count > 11, false), "{count}");
            for (i, (v, expected)) in sparse.iter().zip(&dense).enumerate() {
                assert!((v - expected).abs() < 1e-9, "{count}: v_{i} is {v} instead of {expected}");
            }
            assert!(dense.iter().any(|v| v.abs() > 1e-3));
        }
    }
    /// The data that a solver keeps from step to step do not change its result when contacts open and close.
    #[test]
    fn the_heap_of_the_step_before_changes_no_bit() {
        let solve = |solver: &mut NewtonSolver, problem: &ContactProblem| {
            let mut v = vec![0.0; problem.size()];
            solver.solve(problem, &v.clone(), &NewtonSettings::default(), &mut v).expect("positive definite");
            v
        };
        let mut solver = NewtonSolver::default();
        // Without contacts of its second body the island has others, and so has its matrix.
        for body in [usize::MAX, 1, 13, usize::MAX, 18] {
            let problem = heap_without(body, 20, false);
            assert_eq!(solve(&mut solver, &problem), solve(&mut NewtonSolver::default(), &problem), "{body}");
        }
    }

    /// An error names the velocity by its index in the problem.
    #[test]
    fn names_the_velocity_of_a_sparse_matrix_that_is_not_positive_definite() {
        let mut problem = heap(20, false);
        // The third velocity of a free body.
        let dof = 33;
        problem.momentum_matrix.add(dof, dof, 1e-6 - 1.0);
        problem.momentum_matrix.add(dof, dof - 1, 3.0);
        problem.momentum_matrix.add(dof - 1, dof, 3.0);
        let mut v = vec![0.0; problem.size()];
        let error = NewtonSolver::default().solve(&problem, &v.clone(), &NewtonSettings::default(), &mut v);
        assert_eq!(error.expect_err("a pivot below zero").pivot, dof);
    }
}
