//! Newton's method on all islands of a problem, with friction bounds that follow the solution. Islands do not
//! depend on each other: each has its own tolerance and its own rounds, and any thread may solve it.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::islands::{Islands, Part};
use super::newton::{IslandSolver, NewtonSettings, SolveReport};
use super::problem::{ContactProblem, FrictionError};
use crate::math::SpatialForce;
use crate::math::dense::{NotPositiveDefinite, dot};

/// The largest number of times that an island is solved again with friction bounds from its own normal
/// impulses.
const FRICTION_ROUNDS_MAX: u32 = 5;
/// Fewer islands with contacts are solved by one thread.
const THREADED_ISLANDS_MIN: usize = 2;
/// Fewer patches are solved by one thread: to start another takes as long as to solve some of them.
const THREADED_PATCHES_MIN: usize = 16;

/// The result of a solve whose friction bounds were renewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolvedFriction {
    /// Of the last solve of each island; the iterations are those of all its solves.
    pub report: SolveReport,
    /// The largest number of times that an island's bounds were renewed.
    pub rounds: u32,
    /// The largest remaining error.
    pub wrong: FrictionError,
}

/// An island in the course of a solve.
#[derive(Clone, Copy, Debug)]
struct IslandState {
    /// Whether it is to be solved, or solved again.
    waits: bool,
    report: SolveReport,
    rounds: u32,
    /// Whether friction follows the normal impulses of the solution.
    follows: bool,
    wrong: FrictionError,
}

/// A solver of the islands that one thread takes.
#[derive(Clone, Debug, Default)]
struct Worker {
    solver: IslandSolver,
    v: Vec<f64>,
    /// The islands that it has solved, with their reports.
    done: Vec<(usize, Result<SolveReport, NotPositiveDefinite>)>,
}

/// The solver of dynamic steps. Its memory is reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct NewtonSolver {
    islands: Islands,
    states: Vec<IslandState>,
    solver: IslandSolver,
    /// One for each thread, if there are several.
    workers: Vec<Worker>,
}

impl NewtonSolver {
    /// Solves islands with this number of threads. The result does not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.workers.resize_with(if threads > 1 { threads } else { 0 }, Worker::default);
    }

    /// Impulse on B about C of each patch at the solution [N m s, N s].
    pub fn patch_impulses(&self) -> &[SpatialForce] {
        self.solver.patch_impulses()
    }

    /// Whether the last island had a sparse matrix.
    #[cfg(test)]
    pub(super) fn has_sparse_matrix(&self) -> bool {
        self.solver.has_sparse_matrix()
    }

    /// Minimises `problem` from `warm_start`; `v` becomes the solution.
    ///
    /// # Errors
    /// A matrix that is not positive definite: a moving body without mass or inertia.
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        warm_start: &[f64],
        settings: &NewtonSettings,
        v: &mut [f64],
    ) -> Result<SolveReport, NotPositiveDefinite> {
        self.begin(problem, warm_start, v)?;
        self.solve_waiting(problem, settings, v)?;
        Ok(self.report())
    }

    /// Does the same as [`NewtonSolver::solve`]. While the friction of a patch of an island is wrong by more
    /// than the fraction `tolerance` of its limit, it solves the island on with friction that follows its
    /// normal impulses. If that fails, it renews the bounds from them and solves the island again.
    ///
    /// # Errors
    /// As [`NewtonSolver::solve`].
    pub fn solve_with_friction(
        &mut self,
        problem: &mut ContactProblem,
        warm_start: &[f64],
        (settings, tolerance): (&NewtonSettings, f64),
        v: &mut [f64],
    ) -> Result<SolvedFriction, NotPositiveDefinite> {
        self.begin(problem, warm_start, v)?;
        let mut wrong = FrictionError::default();
        loop {
            self.solve_waiting(problem, settings, v)?;
            let mut again = false;
            let Self { islands, states, solver, .. } = &mut *self;
            for (number, state) in states.iter_mut().enumerate().filter(|(_, state)| state.waits) {
                if islands.part(problem, number).is_held() {
                    state.waits = false;
                    continue;
                }
                let patches = islands.patches_of(number);
                state.wrong = problem.friction_error_of(patches, v, tolerance);
                state.waits = state.wrong.part() > tolerance && state.rounds < FRICTION_ROUNDS_MAX;
                if !state.waits {
                    continue;
                }
                state.rounds += 1;
                match solver.follow_friction((problem, islands, number), v, settings)? {
                    Some(report) => {
                        state.add(report);
                        state.wrong = problem.friction_error_of(patches, v, tolerance);
                        (state.waits, state.follows) = (false, true);
                    }
                    None => again = true,
                }
            }
            if !again {
                break;
            }
        }
        self.states.iter().for_each(|state| wrong = wrong.worse(state.wrong, tolerance));
        let rounds = self.states.iter().map(|state| state.rounds).max().unwrap_or(0);
        Ok(SolvedFriction { report: self.report(), rounds, wrong })
    }

    /// Writes for each velocity how many times the bounds of its island were renewed in the last solve of
    /// `problem`.
    pub fn rounds(&self, problem: &ContactProblem, rounds: &mut [u32]) {
        for (part, state) in self.islands.parts(problem).zip(&self.states) {
            part.spans().for_each(|span| rounds[span.dofs.clone()].fill(state.rounds));
        }
    }

    /// Writes for each velocity whether the friction of its island followed its normal impulses in the last
    /// solve of `problem`.
    pub fn follows(&self, problem: &ContactProblem, follows: &mut [bool]) {
        for (part, state) in self.islands.parts(problem).zip(&self.states) {
            part.spans().for_each(|span| follows[span.dofs.clone()].fill(state.follows));
        }
    }

    fn begin(
        &mut self,
        problem: &ContactProblem,
        warm_start: &[f64],
        v: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        self.solver.prepare(problem)?;
        v.copy_from_slice(warm_start);
        self.islands.build(problem);
        let (report, wrong) = (SolveReport::CONVERGED, FrictionError::default());
        let state = IslandState { waits: true, report, rounds: 0, follows: false, wrong };
        self.states.clear();
        self.states.resize(self.islands.len(), state);
        Ok(())
    }

    /// The report of all islands together.
    fn report(&self) -> SolveReport {
        self.states.iter().fold(SolveReport::CONVERGED, |all, state| all.and(state.report))
    }

    /// Solves the islands that wait, from `v`.
    fn solve_waiting(
        &mut self,
        problem: &ContactProblem,
        settings: &NewtonSettings,
        v: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        let Self { islands, states, solver, workers } = self;
        let waiting = states.iter().enumerate().filter(|(_, state)| state.waits).map(|(number, _)| number);
        let sizes = waiting.clone().map(|number| islands.patches_of(number).len());
        let (some, patches) = sizes.fold((0, 0), |(some, sum), count| (some + usize::from(count > 0), sum + count));
        if workers.len() < 2 || some < THREADED_ISLANDS_MIN || patches < THREADED_PATCHES_MIN {
            for (number, state) in states.iter_mut().enumerate().filter(|(_, state)| state.waits) {
                state.add(solver.solve_island(islands.part(problem, number), v, settings)?);
            }
            return Ok(());
        }
        workers.iter_mut().for_each(|worker| worker.done.clear());
        let next = AtomicUsize::new(0);
        let start = &*v;
        let (states_now, islands_now) = (&*states, &*islands);
        let work = |worker: &mut Worker| {
            let Worker { solver, v, done } = worker;
            v.resize(start.len(), 0.0);
            if solver.prepare(problem).is_err() {
                return; // the solver of the caller has accepted the problem
            }
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(state) = states_now.get(number) else { return };
                if state.waits {
                    let part = islands_now.part(problem, number);
                    for span in part.spans() {
                        v[span.dofs.clone()].copy_from_slice(&start[span.dofs.clone()]);
                    }
                    done.push((number, solver.solve_island(part, v, settings)));
                }
            }
        };
        std::thread::scope(|scope| {
            let Some((own, others)) = workers.split_first_mut() else { return };
            for worker in others.iter_mut().take(some - 1) {
                // If the system refuses a thread, the others do its work
                if std::thread::Builder::new().spawn_scoped(scope, || work(worker)).is_err() {
                    break;
                }
            }
            work(own);
        });
        let mut refused: Option<(usize, NotPositiveDefinite)> = None;
        for worker in workers.iter() {
            for (number, result) in &worker.done {
                let part = islands.part(problem, *number);
                match result {
                    Ok(report) => states[*number].add(*report),
                    Err(error) if refused.as_ref().is_none_or(|(first, _)| number < first) => {
                        refused = Some((*number, *error));
                    }
                    Err(_) => {}
                }
                for span in part.spans() {
                    v[span.dofs.clone()].copy_from_slice(&worker.v[span.dofs.clone()]);
                }
                solver.take_impulses(part, &worker.solver);
            }
        }
        refused.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Multiplies `x` by H^-1 A, with the Hessian H of `problem` at the velocities `v`: motion against stiff
    /// contacts and rows, which change a velocity within the step, becomes small, and free motion stays.
    ///
    /// # Errors
    /// A matrix that is not positive definite.
    pub fn remove_stiff_motion(
        &mut self,
        problem: &ContactProblem,
        v: &[f64],
        x: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        self.solve_with_hessian(problem, v, x, |part, product, x| {
            if part.is_free() {
                return false;
            }
            for block in part.blocks() {
                for (row, i) in part.momentum_rows(block).zip(block.dofs.clone()) {
                    product[i] = dot(row, &x[block.dofs.clone()]);
                }
                x[block.dofs.clone()].copy_from_slice(&product[block.dofs.clone()]);
            }
            true
        })
    }

    /// Replaces each of the `columns`, one after the other and as long as the velocities, by H^-1 times it,
    /// with the Hessian H of `problem` at the velocities `v`. Each island is factorized once.
    ///
    /// # Errors
    /// A matrix that is not positive definite.
    pub fn solve_columns(
        &mut self,
        problem: &ContactProblem,
        v: &[f64],
        columns: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        self.solve_with_hessian(problem, v, columns, |_, _, _| true)
    }

    /// Does the same as [`NewtonSolver::solve_columns`] for the islands for which `selects` returns true.
    /// `selects` may change the columns of its island, with a scratch of one entry for each velocity.
    fn solve_with_hessian(
        &mut self,
        problem: &ContactProblem,
        v: &[f64],
        columns: &mut [f64],
        selects: impl Fn(Part<'_>, &mut [f64], &mut [f64]) -> bool,
    ) -> Result<(), NotPositiveDefinite> {
        let Self { islands, solver, .. } = self;
        solver.prepare(problem)?;
        islands.build(problem);
        for part in islands.parts(problem) {
            if !selects(part, &mut solver.gradient, columns) {
                continue;
            }
            solver.evaluate(part, v, true);
            solve_columns_of(solver, part, problem.size(), columns)?;
        }
        Ok(())
    }

    /// Does the same as [`NewtonSolver::solve_columns`] with the derivative of the gradient of `problem` when
    /// its friction bounds follow the normal impulses at `v`, where they were renewed. Returns the largest
    /// relative residual of a column.
    ///
    /// # Errors
    /// A matrix that is not positive definite.
    pub fn solve_columns_followed(
        &mut self,
        problem: &ContactProblem,
        v: &[f64],
        columns: &mut [f64],
    ) -> Result<f64, NotPositiveDefinite> {
        let Self { islands, solver, .. } = self;
        solver.prepare(problem)?;
        islands.build(problem);
        let mut residual = 0.0_f64;
        for part in islands.parts(problem) {
            solver.evaluate(part, v, true);
            residual = residual.max(solver.solve_followed_columns(part, v, (problem.size(), columns))?);
        }
        Ok(residual)
    }

    /// The velocities of each island of `problem`, which was solved or softened last, as ranges.
    pub fn islands<'a>(
        &'a self,
        problem: &'a ContactProblem,
    ) -> impl Iterator<Item = impl Iterator<Item = Range<usize>> + Clone + 'a> {
        self.islands.velocities(problem)
    }
}

impl IslandState {
    /// Adds a solve.
    fn add(&mut self, report: SolveReport) {
        let iterations = self.report.iterations + report.iterations;
        self.report = SolveReport { iterations, ..report };
    }
}

fn solve_columns_of(
    solver: &mut IslandSolver,
    part: Part<'_>,
    size: usize,
    columns: &mut [f64],
) -> Result<(), NotPositiveDefinite> {
    let mut has_factors = false;
    for column in columns.chunks_exact_mut(size) {
        if part.spans().all(|span| column[span.dofs.clone()].iter().all(|x| *x == 0.0)) {
            continue;
        }
        for span in part.spans() {
            for (gradient, x) in solver.gradient[span.dofs.clone()].iter_mut().zip(&column[span.dofs.clone()]) {
                *gradient = -x;
            }
        }
        match has_factors {
            true => solver.direction_with_same_factors(part),
            false => solver.newton_direction(part)?,
        }
        has_factors = true;
        for span in part.spans() {
            column[span.dofs.clone()].copy_from_slice(&solver.direction[span.dofs.clone()]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
