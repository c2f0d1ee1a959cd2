//! Partition of a dynamic problem: trees of bodies that no patch joins belong to different islands, which are
//! solved one after the other.

use std::ops::Range;

use super::problem::ContactProblem;
use crate::solvers::partition::{DisjointSets, distribute};
use crate::solvers::{BoxRow, PatchBlock};

/// The contents of an island, as ranges of the lists of [`Islands`].
#[derive(Clone, Debug, Default)]
struct Island {
    blocks: Range<usize>,
    spans: Range<usize>,
    patches: Range<usize>,
    rows: Range<usize>,
    edges: Range<usize>,
    size: usize,
}

/// A range of velocities, and their indices in the island.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) dofs: Range<usize>,
    pub(super) indices: Range<usize>,
}

/// The islands of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    islands: Vec<Island>,
    /// Indices of the problem's blocks, patches and rows, island by island.
    blocks: Vec<u32>,
    patches: Vec<u32>,
    rows: Vec<u32>,
    /// The ranges of the blocks, in the same order.
    block_spans: Vec<Span>,
    /// The same ranges, with adjacent ranges of an island merged.
    spans: Vec<Span>,
    /// The index of each velocity within its island; velocities of a block are consecutive.
    index_of_dof: Vec<u32>,
    block_of: Vec<u32>,
    /// The number of each block within its island, and the sizes of the blocks island by island.
    block_numbers: Vec<u32>,
    block_sizes: Vec<u32>,
    /// The pairs of blocks that patches couple, island by island: ascending, the smaller number first.
    edges: Vec<[u32; 2]>,
    edges_of_island: Vec<[u32; 2]>,
    island_of: Vec<u32>,
    sets: DisjointSets,
    built_for: Structure,
}

/// The inputs of the partition; the islands stay valid while these do not change.
#[derive(Clone, Debug, Default)]
struct Structure {
    blocks: Vec<Range<usize>>,
    /// The first and the last velocity that move each patch.
    patches: Vec<Option<[u32; 2]>>,
    rows: Vec<u32>,
}

impl Structure {
    fn of_patches(problem: &ContactProblem) -> impl Iterator<Item = Option<[u32; 2]>> {
        problem.patches().iter().map(|patch| Some([*patch.dofs().first()?, *patch.dofs().last()?]))
    }
    fn is_of(&self, problem: &ContactProblem) -> bool {
        self.blocks == problem.blocks()
            && Self::of_patches(problem).eq(self.patches.iter().copied())
            && problem.rows.iter().map(|row| row.dof).eq(self.rows.iter().copied())
    }
    fn set(&mut self, problem: &ContactProblem) {
        self.blocks.clear();
        self.blocks.extend_from_slice(problem.blocks());
        self.patches.clear();
        self.patches.extend(Self::of_patches(problem));
        self.rows.clear();
        self.rows.extend(problem.rows.iter().map(|row| row.dof));
    }
}

impl Islands {
    pub(super) fn build(&mut self, problem: &ContactProblem) {
        if self.built_for.is_of(problem) {
            return;
        }
        self.built_for.set(problem);
        let Self {
            islands,
            blocks,
            patches,
            rows,
            block_spans,
            spans,
            index_of_dof,
            block_of,
            block_numbers,
            block_sizes,
            edges,
            edges_of_island,
            island_of,
            sets,
            built_for,
        } = self;
        block_of.clear();
        for (number, block) in (0..).zip(problem.blocks()) {
            block_of.extend(block.clone().map(|_| number));
        }
        sets.reset(problem.blocks().len());
        // Two bodies belong to two trees at most, and the velocities of a tree are consecutive.
        for [first, last] in built_for.patches.iter().flatten() {
            sets.join(block_of[*first as usize], block_of[*last as usize]);
        }
        let count = sets.number(island_of);
        islands.clear();
        islands.resize(count, Island::default());
        let island_of_dof = |dof: u32| island_of[block_of[dof as usize] as usize];
        distribute(islands, blocks, (0..).zip(island_of.iter().copied()), |island| &mut island.blocks);
        let of_patches = (0..).zip(&built_for.patches).filter_map(|(i, dofs)| Some((i, island_of_dof((*dofs)?[0]))));
        distribute(islands, patches, of_patches, |island| &mut island.patches);
        let of_rows = (0..).zip(&built_for.rows).map(|(i, dof)| (i, island_of_dof(*dof)));
        distribute(islands, rows, of_rows, |island| &mut island.rows);
        index_of_dof.clear();
        index_of_dof.resize(problem.size(), 0);
        block_spans.clear();
        block_sizes.clear();
        block_numbers.clear();
        block_numbers.resize(built_for.blocks.len(), 0);
        edges.clear();
        spans.clear();
        for island in islands {
            island.spans.start = spans.len();
            for (number, block) in (0..).zip(&blocks[island.blocks.clone()]) {
                let dofs = built_for.blocks[*block as usize].clone();
                block_numbers[*block as usize] = number;
                block_sizes.push(dofs.len() as u32);
                let span = Span { indices: island.size..island.size + dofs.len(), dofs };
                (span.dofs.clone()).zip(span.indices.clone()).for_each(|(dof, index)| index_of_dof[dof] = index as u32);
                island.size = span.indices.end;
                block_spans.push(span.clone());
                match spans[island.spans.start..].last_mut() {
                    Some(last) if last.dofs.end == span.dofs.start => {
                        (last.dofs.end, last.indices.end) = (span.dofs.end, span.indices.end);
                    }
                    _ => spans.push(span),
                }
            }
            island.spans.end = spans.len();
            let number = |dof: u32| block_numbers[block_of[dof as usize] as usize];
            let coupled = patches[island.patches.clone()].iter().filter_map(|patch| {
                let [first, last] = built_for.patches[*patch as usize]?.map(number);
                (first != last).then_some([first, last])
            });
            edges_of_island.clear();
            edges_of_island.extend(coupled);
            edges_of_island.sort_unstable();
            edges_of_island.dedup();
            island.edges = edges.len()..edges.len() + edges_of_island.len();
            edges.extend_from_slice(edges_of_island);
        }
    }

    /// The islands, in the order of their first velocities.
    pub(super) fn parts<'a>(&'a self, problem: &'a ContactProblem) -> impl Iterator<Item = Part<'a>> {
        (0..self.islands.len()).map(move |number| self.part(problem, number))
    }
    /// The velocities of each island, as ranges.
    pub(super) fn velocities<'a>(
        &'a self,
        problem: &'a ContactProblem,
    ) -> impl Iterator<Item = impl Iterator<Item = Range<usize>> + Clone + 'a> {
        self.parts(problem).map(|part| part.spans().map(|span| span.dofs.clone()))
    }
    /// The number of islands.
    pub(super) fn len(&self) -> usize {
        self.islands.len()
    }
    /// An island by its index.
    pub(super) fn part<'a>(&'a self, problem: &'a ContactProblem, number: usize) -> Part<'a> {
        Part { problem, islands: self, island: &self.islands[number], number }
    }
    /// The indices of the patches of an island.
    pub(super) fn patches_of(&self, number: usize) -> &[u32] {
        &self.patches[self.islands[number].patches.clone()]
    }
}

/// One island of a problem. Velocities are indexed as in the problem unless stated otherwise.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    problem: &'a ContactProblem,
    islands: &'a Islands,
    island: &'a Island,
    number: usize,
}

impl<'a> Part<'a> {
    /// Its index among the islands.
    pub(super) fn number(&self) -> usize {
        self.number
    }
    /// Number of its velocities.
    pub(super) fn size(&self) -> usize {
        self.island.size
    }
    /// Whether nothing acts on its bodies and the caller knows their velocities.
    pub(super) fn is_free(self) -> bool {
        let known = |span: &Span| self.problem.free[span.dofs.clone()].iter().all(|v| !v.is_nan());
        self.island.patches.is_empty() && self.island.rows.is_empty() && self.spans().all(known)
    }
    /// Whether its velocities are held ([`ContactProblem::hold_blocks`]).
    pub(super) fn is_held(self) -> bool {
        let mut blocks = self.islands.blocks[self.island.blocks.clone()].iter();
        let held = |block: &u32| self.problem.is_held(*block as usize);
        debug_assert!(blocks.clone().all(held) || !blocks.clone().any(held), "an island that is held in part");
        blocks.all(held)
    }
    /// Sets its velocities in `v` to those without any patch or row, which the caller of the solver knows.
    pub(super) fn take_free(self, v: &mut [f64]) {
        self.spans().for_each(|span| v[span.dofs.clone()].copy_from_slice(&self.problem.free[span.dofs.clone()]));
    }
    /// Its velocities.
    pub(super) fn spans(self) -> std::slice::Iter<'a, Span> {
        self.islands.spans[self.island.spans.clone()].iter()
    }
    /// The blocks of its velocities; A couples only velocities of the same block.
    pub(super) fn blocks(self) -> std::slice::Iter<'a, Span> {
        self.islands.block_spans[self.island.blocks.clone()].iter()
    }
    /// The sizes of its blocks.
    pub(super) fn block_sizes(&self) -> &'a [u32] {
        &self.islands.block_sizes[self.island.blocks.clone()]
    }
    /// The pairs of its blocks that patches couple: ascending, each with the smaller number first.
    pub(super) fn edges(&self) -> &'a [[u32; 2]] {
        &self.islands.edges[self.island.edges.clone()]
    }
    /// The number of a velocity's block within the island.
    pub(super) fn block_number(&self, dof: u32) -> usize {
        self.islands.block_numbers[self.islands.block_of[dof as usize] as usize] as usize
    }
    /// The velocities of one of its blocks.
    pub(super) fn block_dofs(&self, number: usize) -> Range<usize> {
        self.islands.block_spans[self.island.blocks.start + number].dofs.clone()
    }
    /// The velocity at an index in the island.
    pub(super) fn dof(self, index: usize) -> Option<usize> {
        let span = self.spans().find(|span| span.indices.contains(&index))?;
        Some(span.dofs.start + index - span.indices.start)
    }
    /// Indices in the island, by velocity.
    pub(super) fn indices(&self) -> &'a [u32] {
        &self.islands.index_of_dof
    }
    /// The rows of A for a block's velocities, restricted to the block's columns.
    pub(super) fn momentum_rows(self, block: &'a Span) -> impl Iterator<Item = &'a [f64]> {
        block.dofs.clone().map(move |row| self.problem.momentum_matrix.row(row))
    }
    /// The vector r of the problem.
    pub(super) fn momentum(&self) -> &'a [f64] {
        &self.problem.momentum
    }
    /// Its patches and their indices.
    pub(super) fn patches(self) -> impl Iterator<Item = (usize, &'a PatchBlock)> {
        let patches = &self.islands.patches[self.island.patches.clone()];
        patches.iter().map(move |i| (*i as usize, &self.problem.patches()[*i as usize]))
    }
    /// Its scalar rows and their indices.
    pub(super) fn rows(self) -> impl Iterator<Item = (usize, &'a BoxRow)> {
        let rows = &self.islands.rows[self.island.rows.clone()];
        rows.iter().map(move |i| (*i as usize, &self.problem.rows[*i as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{LAW, push_square};
    use super::super::{NewtonSettings, NewtonSolver, SolveStatus};
    use super::*;
    use crate::math::Vector6;

    const BODIES: usize = 4;
    const SIZE: usize = 6 * BODIES;

    /// Presses body `b` on body `a` or on the ground with 25 faces.
    fn push_patch(problem: &mut ContactProblem, a: Option<usize>, b: usize) {
        let (patch, _) = problem.add_patch();
        patch.reset(LAW);
        for (body, sign) in a.map(|a| (a, -1.0)).into_iter().chain([(b, 1.0)]) {
            let column = |i| sign * Vector6::ith(i, if body == 2 { 0.9 } else { 1.0 });
            (0..6).for_each(|i| patch.push_column((6 * body + i) as u32, column(i), 0.0));
        }
        push_square(patch, 0.4);
    }

    /// Four bodies with weight. Body 2, whose columns are not those of a free body, presses on body 0, which
    /// lies on the ground. Body 1 also lies on the ground and is held by a row. Body 3 weighs a thousandth
    /// and falls. `blocks` are the blocks of A.
    fn bodies(blocks: &[Range<usize>]) -> ContactProblem {
        let mut problem = ContactProblem::default();
        problem.reset(blocks);
        for i in 0..SIZE {
            let (body, axis) = (i / 6, i % 6);
            let mass = if body == 3 { 1e-3 } else { 1.0 };
            for j in 6 * body..6 * body + 6 {
                let scale = if axis < 3 { 0.05 } else { 1.0 } * if j % 6 < 3 { 0.05 } else { 1.0 };
                problem.momentum_matrix.add(i, j, mass * scale * if i == j { 1.0 } else { 0.1 });
            }
            problem.momentum[i] = mass * 1e-3 * ((i as f64).sin() - if axis == 5 { 9.81 } else { 0.0 });
        }
        push_patch(&mut problem, None, 0);
        push_patch(&mut problem, None, 1);
        push_patch(&mut problem, Some(0), 2);
        problem.rows.push(BoxRow {
            dof: 9,
            coefficient: 1.0,
            target: 0.2,
            regularization: 0.5,
            lower: -0.1,
            upper: 0.1,
        });
        problem.lag_friction();
        problem
    }

    fn trees() -> Vec<Range<usize>> {
        (0..BODIES).map(|body| 6 * body..6 * body + 6).collect()
    }

    fn solve(solver: &mut NewtonSolver, problem: &ContactProblem, tolerance: f64) -> [f64; SIZE] {
        let mut v = [0.0; SIZE];
        let settings = NewtonSettings { tolerance, ..NewtonSettings::default() };
        let report = solver.solve(problem, &[0.0; SIZE], &settings, &mut v);
        let report = report.expect("a positive definite matrix");
        assert!(report.status != SolveStatus::IterationLimit && report.residual <= tolerance.max(1e-7), "{report:?}");
        v
    }

    #[test]
    fn bodies_that_touch_are_of_one_island() {
        let mut islands = Islands::default();
        let problem = bodies(&trees());
        islands.build(&problem);
        let parts: Vec<_> = islands.parts(&problem).collect();
        let dofs = |part: &Part| part.spans().flat_map(|span| span.dofs.clone()).collect::<Vec<_>>();
        let expected = [Vec::from_iter((0..6).chain(12..18)), Vec::from_iter(6..12), Vec::from_iter(18..24)];
        assert_eq!(parts.iter().map(dofs).collect::<Vec<_>>(), expected);
        assert_eq!(parts[0].spans().count(), 2);
        assert_eq!(parts.iter().map(Part::size).collect::<Vec<_>>(), [12, 6, 6]);
        let numbers = |part: &Part| part.patches().map(|(number, _)| number).collect::<Vec<_>>();
        assert_eq!(parts.iter().map(numbers).collect::<Vec<_>>(), [vec![0, 2], vec![1], vec![]]);
        assert_eq!(parts.iter().map(|part| part.rows().count()).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!([0, 11, 12].map(|index| parts[0].dof(index)), [Some(0), Some(17), None]);
    }

    /// Oracle: the same problem as one island, to a finer tolerance. The light body is solved to the
    /// tolerance of its own momentum.
    #[test]
    fn islands_have_the_solution_of_the_whole() {
        let one_block: Vec<Range<usize>> = std::iter::once(0..SIZE).collect();
        let whole = solve(&mut NewtonSolver::default(), &bodies(&one_block), 1e-13);
        let apart = solve(&mut NewtonSolver::default(), &bodies(&trees()), 1e-7);
        for (i, (v, expected)) in apart.iter().zip(&whole).enumerate() {
            assert!((v - expected).abs() < 1e-7, "v_{i} is {v} instead of {expected}");
        }
        assert!(whole.iter().any(|v| v.abs() > 5e-3));
        let coarse = solve(&mut NewtonSolver::default(), &bodies(&trees()), 0.1);
        assert!((coarse[23] / whole[23] - 1.0).abs() < 0.1, "{} instead of {}", coarse[23], whole[23]);
    }

    /// The data that a solver keeps from step to step do not change its result.
    #[test]
    fn islands_of_the_step_before_change_no_bit() {
        let mut solver = NewtonSolver::default();
        let (apart, mut joined) = (bodies(&trees()), bodies(&trees()));
        push_patch(&mut joined, Some(1), 2);
        joined.lag_friction();
        for problem in [&apart, &joined, &apart, &apart] {
            assert_eq!(solve(&mut solver, problem, 1e-7), solve(&mut NewtonSolver::default(), problem, 1e-7));
        }
    }

    /// An error names the velocity by its index in the problem.
    #[test]
    fn names_the_velocity_of_a_matrix_that_is_not_positive_definite() {
        let mut problem = bodies(&trees());
        let (i, j) = (14, 15);
        problem.momentum_matrix.add(i, j, 2.0);
        problem.momentum_matrix.add(j, i, 2.0);
        problem.rows.clear();
        let mut v = [0.0; SIZE];
        let error = NewtonSolver::default().solve(&problem, &[0.0; SIZE], &NewtonSettings::default(), &mut v);
        assert_eq!(error.expect_err("a pivot below zero").pivot, j);
    }

    /// A NaN in any island is in the report of the whole problem.
    #[test]
    fn a_residual_that_is_no_number_is_not_lost() {
        for dof in [0, 7, 20] {
            let mut problem = bodies(&trees());
            problem.momentum[dof] = f64::NAN;
            let mut v = [0.0; SIZE];
            let report = NewtonSolver::default().solve(&problem, &[0.0; SIZE], &NewtonSettings::default(), &mut v);
            let report = report.expect("a positive definite matrix");
            assert!(report.residual.is_nan() && report.status != SolveStatus::Converged, "{dof}: {report:?}");
        }
    }
}
