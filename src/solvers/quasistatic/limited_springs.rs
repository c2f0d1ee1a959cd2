//! Rows for solvers that have none: a row is a spring within its limits and a constant impulse at a limit.
//! The problem is solved, and again as long as a row changes between the three.

use super::QuasistaticProblem;
use crate::solvers::BoxRow;

/// The part of a row that holds in a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Lower,
    Spring,
    Upper,
}

/// The parts of all rows of a problem.
#[derive(Debug)]
pub(super) struct LimitedSprings {
    parts: Vec<Part>,
    folded: QuasistaticProblem,
}

fn part_of(row: &BoxRow, v: &[f64]) -> Part {
    let gamma = (row.target - row.speed(v)) / row.regularization;
    if gamma < row.lower {
        Part::Lower
    } else if gamma > row.upper {
        Part::Upper
    } else {
        Part::Spring
    }
}

impl LimitedSprings {
    /// All rows within their limits.
    pub(super) fn new(problem: &QuasistaticProblem) -> Self {
        Self { parts: vec![Part::Spring; problem.rows.len()], folded: QuasistaticProblem::default() }
    }

    /// `problem` with the rows in its quadratic and linear terms.
    pub(super) fn problem(&mut self, problem: &QuasistaticProblem) -> &QuasistaticProblem {
        self.folded.clone_from(problem);
        let n = problem.size();
        for (row, part) in problem.rows.iter().zip(&self.parts) {
            let dof = row.dof as usize;
            let impulse = match part {
                Part::Lower => row.lower,
                Part::Upper => row.upper,
                Part::Spring => {
                    self.folded.quadratic[dof * n + dof] += row.coefficient * row.coefficient / row.regularization;
                    row.target / row.regularization
                }
            };
            self.folded.linear[dof] += row.coefficient * impulse;
        }
        self.folded.rows.clear();
        &self.folded
    }

    /// Sets the parts to those at the solution `v`; returns whether one has changed.
    pub(super) fn update(&mut self, problem: &QuasistaticProblem, v: &[f64]) -> bool {
        let mut changed = false;
        for (row, part) in problem.rows.iter().zip(&mut self.parts) {
            let now = part_of(row, v);
            changed |= now != *part;
            *part = now;
        }
        changed
    }
}
