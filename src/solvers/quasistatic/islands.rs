//! Partition of a step's problem: velocities that nothing couples belong to different islands, which are
//! solved one after the other.

use std::ops::Range;

use super::friction::FrictionLaw;
use super::problem::{BoundChange, PointLaw};
use super::{ProblemPart, QuasistaticProblem, VelocityBound};
use crate::math::{Vector3, Vector6};
use crate::solvers::partition::{DisjointSets, distribute};
use crate::solvers::{BoxRow, PatchBlock};

/// A rigid contact of an island.
#[derive(Clone, Copy, Debug)]
pub(super) struct IslandContact {
    /// The index of the contact in the problem.
    pub(super) index: u32,
    /// (phi/h, u1, u2) [m/s].
    pub(super) offset: Vector3,
    /// Its friction.
    pub(super) law: PointLaw,
    start: u32,
    end: u32,
}

/// The contents of an island, as ranges of the lists of [`Islands`].
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    pub(super) dofs: Range<usize>,
    pub(super) contacts: Range<usize>,
    pub(super) rows: Range<usize>,
    pub(super) bounds: Range<usize>,
    pub(super) patches: Range<usize>,
}

/// The islands of a problem. Velocities are reordered by island. Within an island they are ordered by the
/// number of velocities in their largest contact or patch, fewest first, so that a factor has little fill.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    pub(super) islands: Vec<Island>,
    /// The velocities in their new order.
    pub(super) dofs: Vec<u32>,
    /// The new index of each velocity.
    index_of_dof: Vec<u32>,
    pub(super) contacts: Vec<IslandContact>,
    pub(super) rows: Vec<u32>,
    pub(super) bounds: Vec<u32>,
    pub(super) patches: Vec<u32>,
    /// Columns of the contacts with the index of their velocity within the island: `usize`, because a pair
    /// without padding is copied faster.
    columns: Vec<(usize, Vector3)>,
    /// Rows of Q in the new order; columns are indices within the island.
    quadratic_starts: Vec<u32>,
    quadratic: Vec<(u32, f64)>,
    /// The leftmost entry of each row of a Hessian, as an index within the island.
    pub(super) first: Vec<u32>,
    contact_order: Vec<u32>,
    sets: DisjointSets,
    island_of: Vec<u32>,
    degree: Vec<u32>,
}

impl Islands {
    /// The index of a velocity in the order of the islands.
    fn index(&self, dof: u32) -> usize {
        self.index_of_dof[dof as usize] as usize
    }
    /// The largest change of a friction bound relative to the largest bound of its island [-], with the
    /// contact or patch and its change [N s]. Changes up to `rounding` [N s] count as none.
    pub(super) fn largest_change(
        &self,
        contact: impl Fn(usize) -> BoundChange,
        patch: impl Fn(usize) -> BoundChange,
        rounding: f64,
    ) -> (f64, Option<(ProblemPart, f64)>) {
        let mut worst = (0.0, None);
        for island in &self.islands {
            let contacts = self.contacts[island.contacts.clone()].iter().map(|contact| contact.index as usize);
            let contacts = contacts.map(|index| (ProblemPart::Contact(index), contact(index)));
            let patches = self.patches[island.patches.clone()].iter().map(|index| *index as usize);
            let all = contacts.chain(patches.map(|index| (ProblemPart::Patch(index), patch(index))));
            let (mut largest, mut most) = (0.0_f64, (0.0, None));
            for (part, change) in all {
                largest = largest.max(change.largest);
                if change.impulse > most.0 {
                    most = (change.impulse, Some((part, change.impulse)));
                }
            }
            if most.0 > rounding && most.0 > worst.0 * largest {
                worst = (most.0 / largest, most.1);
            }
        }
        worst
    }
    /// One island of `problem`.
    pub(super) fn part<'a>(
        &'a self,
        problem: &'a QuasistaticProblem,
        island: &'a Island,
        law: &'a FrictionLaw,
    ) -> Part<'a> {
        Part { problem, islands: self, island, law }
    }
    /// The columns of a contact, with indices within the island.
    pub(super) fn columns(&self, contact: &IslandContact) -> &[(usize, Vector3)] {
        &self.columns[contact.start as usize..contact.end as usize]
    }
    /// The entries of a row of Q in the new order, with indices within the island.
    pub(super) fn quadratic_row(&self, index: usize) -> &[(u32, f64)] {
        &self.quadratic[self.quadratic_starts[index] as usize..self.quadratic_starts[index + 1] as usize]
    }

    /// The partition of `problem` with all its contacts.
    pub(super) fn of(problem: &QuasistaticProblem) -> Self {
        let all: Vec<u32> = (0..problem.contacts().len() as u32).collect();
        let mut islands = Self::default();
        islands.build(problem, &all);
        islands
    }

    /// Partitions `problem` with only the contacts `kept`, in ascending order.
    pub(super) fn build(&mut self, problem: &QuasistaticProblem, kept: &[u32]) {
        self.couple(problem, kept);
        self.number();
        self.sort_dofs(problem.size());
        self.sort_parts(problem, kept);
        self.copy_numbers(problem);
    }

    fn couple(&mut self, problem: &QuasistaticProblem, kept: &[u32]) {
        let n = problem.size();
        self.sets.reset(n);
        self.degree.clear();
        self.degree.resize(n, 0);
        for i in 0..n {
            let row = &problem.quadratic[i * n..i * n + i];
            if is_zero(row) {
                continue;
            }
            for (j, value) in row.iter().enumerate() {
                if *value != 0.0 {
                    self.sets.join(i as u32, j as u32);
                }
            }
        }
        for index in kept {
            let columns = problem.columns(&problem.contacts()[*index as usize]);
            for (dof, _) in columns {
                self.sets.join(columns[0].0, *dof);
                let degree = &mut self.degree[*dof as usize];
                *degree = (*degree).max(columns.len() as u32);
            }
        }
        for patch in problem.patches() {
            for dof in &patch.jacobian.dofs {
                self.sets.join(patch.jacobian.dofs[0], *dof);
                let degree = &mut self.degree[*dof as usize];
                *degree = (*degree).max(patch.jacobian.dofs.len() as u32);
            }
        }
    }

    /// Numbers the islands in the order of their first velocity.
    fn number(&mut self) {
        let islands = self.sets.number(&mut self.island_of);
        self.islands.clear();
        self.islands.resize(islands, Island::default());
    }

    fn sort_dofs(&mut self, n: usize) {
        let Self { islands, island_of, dofs, index_of_dof, degree, .. } = self;
        distribute(islands, dofs, (0..n as u32).map(|dof| (dof, island_of[dof as usize])), |island| &mut island.dofs);
        for island in islands.iter() {
            dofs[island.dofs.clone()].sort_unstable_by_key(|dof| (degree[*dof as usize], *dof));
        }
        index_of_dof.clear();
        index_of_dof.resize(n, 0);
        for (index, dof) in dofs.iter().enumerate() {
            index_of_dof[*dof as usize] = index as u32;
        }
    }

    fn sort_parts(&mut self, problem: &QuasistaticProblem, kept: &[u32]) {
        let Self { islands, island_of, contact_order, rows, bounds, patches, .. } = self;
        let island_of = |dof: &u32| island_of[*dof as usize];
        let contacts = kept.iter().filter_map(|index| {
            let (dof, _) = problem.columns(&problem.contacts()[*index as usize]).first()?;
            Some((*index, island_of(dof)))
        });
        distribute(islands, contact_order, contacts, |island| &mut island.contacts);
        let of_rows = (0..).zip(&problem.rows).map(|(index, row)| (index, island_of(&row.dof)));
        distribute(islands, rows, of_rows, |island| &mut island.rows);
        let of_bounds = (0..).zip(&problem.bounds).map(|(index, bound)| (index, island_of(&bound.dof)));
        distribute(islands, bounds, of_bounds, |island| &mut island.bounds);
        let of_patches = (0..)
            .zip(problem.patches())
            .filter_map(|(index, patch)| Some((index, island_of(patch.jacobian.dofs.first()?))));
        distribute(islands, patches, of_patches, |island| &mut island.patches);
    }

    /// Copies Q and the contacts, and finds the leftmost entry of each row of a Hessian.
    fn copy_numbers(&mut self, problem: &QuasistaticProblem) {
        let n = problem.size();
        let Self {
            islands,
            dofs,
            index_of_dof,
            contacts,
            columns,
            contact_order,
            quadratic,
            quadratic_starts,
            first,
            ..
        } = self;
        contacts.clear();
        columns.clear();
        quadratic.clear();
        quadratic_starts.clear();
        quadratic_starts.push(0);
        first.clear();
        for island in islands.iter() {
            let offset = island.dofs.start as u32;
            for index in island.dofs.clone() {
                let row = &problem.quadratic[dofs[index] as usize * n..][..n];
                let mut leftmost = index as u32 - offset;
                for other in &dofs[island.dofs.clone()] {
                    let value = row[*other as usize];
                    if value != 0.0 {
                        let column = index_of_dof[*other as usize] - offset;
                        quadratic.push((column, value));
                        leftmost = leftmost.min(column);
                    }
                }
                quadratic_starts.push(quadratic.len() as u32);
                first.push(leftmost);
            }
            let first = &mut first[island.dofs.clone()];
            for index in &contact_order[island.contacts.clone()] {
                let contact = &problem.contacts()[*index as usize];
                let start = columns.len();
                columns.extend(
                    problem
                        .columns(contact)
                        .iter()
                        .map(|(dof, column)| ((index_of_dof[*dof as usize] - offset) as usize, *column)),
                );
                // Ascending, so that pairs of them are entries of the lower triangle.
                if !columns[start..].is_sorted_by_key(|(index, _)| *index) {
                    columns[start..].sort_unstable_by_key(|(index, _)| *index);
                }
                reach(first, columns[start..].iter().map(|(index, _)| *index as u32));
                contacts.push(IslandContact {
                    index: *index,
                    offset: contact.offset(),
                    law: contact.law(),
                    start: start as u32,
                    end: columns.len() as u32,
                });
            }
            for index in &self.patches[island.patches.clone()] {
                reach(
                    first,
                    problem.patches()[*index as usize]
                        .jacobian
                        .dofs
                        .iter()
                        .map(|dof| index_of_dof[*dof as usize] - offset),
                );
            }
        }
    }
}

/// One island of a problem, with the law of friction at its contacts.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    problem: &'a QuasistaticProblem,
    islands: &'a Islands,
    island: &'a Island,
    law: &'a FrictionLaw,
}

/// A constraint on one velocity of an island.
pub(super) struct Scalar<'a, T> {
    /// Its index in the order of the islands.
    pub(super) index: usize,
    /// Its index in the problem.
    pub(super) number: usize,
    /// The index of its velocity in the order of the islands.
    pub(super) velocity: usize,
    pub(super) data: &'a T,
}

impl<'a> Part<'a> {
    /// The friction at its contacts.
    pub(super) fn law(self) -> &'a FrictionLaw {
        self.law
    }
    /// The indices of its velocities.
    pub(super) fn dofs(self) -> Range<usize> {
        self.island.dofs.clone()
    }
    /// The index of its first velocity: indices within the island count from here.
    pub(super) fn offset(self) -> usize {
        self.island.dofs.start
    }
    /// The velocity of the problem at an index.
    pub(super) fn dof(self, index: usize) -> usize {
        self.islands.dofs[index] as usize
    }
    /// The entries of a row of Q, with indices within the island.
    pub(super) fn quadratic_row(self, index: usize) -> &'a [(u32, f64)] {
        self.islands.quadratic_row(index)
    }
    /// The leftmost entry of each row of a Hessian, as an index within the island.
    pub(super) fn first(self) -> &'a [u32] {
        &self.islands.first[self.dofs()]
    }
    /// Its rigid contacts and their indices.
    pub(super) fn contacts(self) -> impl Iterator<Item = (usize, &'a IslandContact)> {
        self.island.contacts.clone().zip(&self.islands.contacts[self.island.contacts.clone()])
    }
    /// The columns of a contact, with indices within the island.
    pub(super) fn columns(self, contact: &IslandContact) -> &'a [(usize, Vector3)] {
        self.islands.columns(contact)
    }
    /// Its bounds on velocities.
    pub(super) fn bounds(self) -> impl Iterator<Item = Scalar<'a, VelocityBound>> {
        let Self { problem, islands, island, .. } = self;
        island.bounds.clone().zip(&islands.bounds[island.bounds.clone()]).map(|(index, number)| {
            let data = &problem.bounds[*number as usize];
            Scalar { index, number: *number as usize, velocity: islands.index(data.dof), data }
        })
    }
    /// Its scalar rows.
    pub(super) fn rows(self) -> impl Iterator<Item = Scalar<'a, BoxRow>> {
        let Self { problem, islands, island, .. } = self;
        island.rows.clone().zip(&islands.rows[island.rows.clone()]).map(|(index, number)| {
            let data = &problem.rows[*number as usize];
            Scalar { index, number: *number as usize, velocity: islands.index(data.dof), data }
        })
    }
    /// Its patches and their indices.
    pub(super) fn patches(self) -> impl Iterator<Item = (usize, &'a PatchBlock)> {
        let Self { problem, islands, island, .. } = self;
        let patches = island.patches.clone().zip(&islands.patches[island.patches.clone()]);
        patches.map(|(index, number)| (index, &problem.patches()[*number as usize]))
    }
    /// The columns of a patch, with the indices of their velocities.
    pub(super) fn patch_columns(self, patch: &'a PatchBlock) -> impl Iterator<Item = (usize, &'a Vector6)> + Clone {
        let columns = patch.jacobian.dofs.iter().zip(&patch.jacobian.columns);
        columns.map(move |(dof, column)| (self.islands.index(*dof), column))
    }
}

/// Whether all numbers are zero, of either sign, without a branch for each.
fn is_zero(numbers: &[f64]) -> bool {
    numbers.iter().fold(0, |bits, x| bits | x.to_bits()) << 1 == 0
}

/// Extends the rows of all `indices` to the leftmost of them.
fn reach(first: &mut [u32], indices: impl Iterator<Item = u32> + Clone) {
    let leftmost = indices.clone().min().unwrap_or(0);
    for index in indices {
        first[index as usize] = first[index as usize].min(leftmost);
    }
}
