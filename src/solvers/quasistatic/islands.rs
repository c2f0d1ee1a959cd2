//! Partition of a step's problem: uncoupled velocities belong to different islands, which are solved one
//! after the other.

use std::ops::Range;

use super::QuasistaticProblem;
use crate::math::Vector3;
use crate::solvers::partition::{DisjointSets, distribute};

/// A rigid contact of an island.
#[derive(Clone, Copy, Debug)]
pub(super) struct IslandContact {
    /// The index of the contact in the problem.
    pub(super) index: u32,
    /// phi/h [m/s].
    pub(super) gap_rate: f64,
    /// mu [-].
    pub(super) friction: f64,
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

/// The islands of a problem. Velocities are reordered by island, and within an island by the number of
/// couplings, fewest first, so that a factor has little fill.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    pub(super) islands: Vec<Island>,
    /// The velocity at each new index.
    pub(super) dofs: Vec<u32>,
    /// The new index of each velocity.
    pub(super) places: Vec<u32>,
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
    /// The columns of a contact, with indices within the island.
    pub(super) fn columns(&self, contact: &IslandContact) -> &[(usize, Vector3)] {
        &self.columns[contact.start as usize..contact.end as usize]
    }
    /// The entries of a row of Q in the new order, with indices within the island.
    pub(super) fn quadratic_row(&self, place: usize) -> &[(u32, f64)] {
        &self.quadratic[self.quadratic_starts[place] as usize..self.quadratic_starts[place + 1] as usize]
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
        let Self { islands, island_of, dofs, places, degree, .. } = self;
        distribute(islands, dofs, (0..n as u32).map(|dof| (dof, island_of[dof as usize])), |island| &mut island.dofs);
        for island in islands.iter() {
            dofs[island.dofs.clone()].sort_unstable_by_key(|dof| (degree[*dof as usize], *dof));
        }
        places.clear();
        places.resize(n, 0);
        for (place, dof) in dofs.iter().enumerate() {
            places[*dof as usize] = place as u32;
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
            islands, dofs, places, contacts, columns, contact_order, quadratic, quadratic_starts, first, ..
        } = self;
        contacts.clear();
        columns.clear();
        quadratic.clear();
        quadratic_starts.clear();
        quadratic_starts.push(0);
        first.clear();
        for island in islands.iter() {
            let offset = island.dofs.start as u32;
            for place in island.dofs.clone() {
                let row = &problem.quadratic[dofs[place] as usize * n..][..n];
                let mut leftmost = place as u32 - offset;
                for other in &dofs[island.dofs.clone()] {
                    let value = row[*other as usize];
                    if value != 0.0 {
                        let column = places[*other as usize] - offset;
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
                        .map(|(dof, column)| ((places[*dof as usize] - offset) as usize, *column)),
                );
                // ascending, so that pairs of them are entries of the lower triangle
                if !columns[start..].is_sorted_by_key(|(place, _)| *place) {
                    columns[start..].sort_unstable_by_key(|(place, _)| *place);
                }
                reach(first, columns[start..].iter().map(|(place, _)| *place as u32));
                contacts.push(IslandContact {
                    index: *index,
                    gap_rate: contact.gap_rate,
                    friction: contact.friction,
                    start: start as u32,
                    end: columns.len() as u32,
                });
            }
            for index in &self.patches[island.patches.clone()] {
                reach(
                    first,
                    problem.patches()[*index as usize].jacobian.dofs.iter().map(|dof| places[*dof as usize] - offset),
                );
            }
        }
    }
}

/// Whether all numbers are zero, of either sign, without a branch for each.
fn is_zero(numbers: &[f64]) -> bool {
    numbers.iter().fold(0, |bits, x| bits | x.to_bits()) << 1 == 0
}

/// Extends the rows of all `places` to the leftmost of them.
fn reach(first: &mut [u32], places: impl Iterator<Item = u32> + Clone) {
    let leftmost = places.clone().min().unwrap_or(0);
    for place in places {
        first[place as usize] = first[place as usize].min(leftmost);
    }
}
