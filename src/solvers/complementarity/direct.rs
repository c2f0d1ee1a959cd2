//! The direct solver: principal pivoting on the complementarity, to rounding.

use super::free_rows::{FreeRows, largest};
use super::problem::{MixedProblem, worse};

/// Impulses within this part of the largest one of a bound, and slacks within this part of their natural
/// size, do not change their row's state [-].
const ROUNDING: f64 = 1e-13;
/// A residual up to this value is a solution to rounding [-].
pub(super) const SOLVED: f64 = 1e-12;
/// Block pivots without progress before single pivots [Judice & Pires 1994].
const PATIENCE: u32 = 10;
/// Pivots per row: single pivots are finite, but may be many.
const PIVOTS_PER_ROW: u32 = 40;
/// Factorizations from a solution that is nearly exact.
const REFINEMENTS_MAX: u32 = 30;
/// The largest number of corrections by the residual of a solve.
const CORRECTIONS_MAX: u32 = 6;
/// Steps of the proximal iteration where rows depend on each other.
const PROXIMAL_MAX: u32 = 400;
/// The shift of the diagonal in that iteration, as a part of its largest entry: the first, and the least [-].
/// A step divides the part of the error along an eigenvector of A by 1 + eigenvalue/shift.
const PROXIMAL_SHIFT: (f64, f64) = (1e-4, 1e-9);
/// Steps with the same shift, before a tenth of it.
const PROXIMAL_STEPS: u32 = 3;
/// A direction whose speeds are below this part of their natural size moves no body [-].
const RAY: f64 = 1e-7;

/// The end of a direct solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectStatus {
    /// The one solution.
    Solved,
    /// A solution. Rows depend on each other without a regularization: the impulses are not unique, though
    /// the velocities are.
    Degenerate,
    /// There is no solution: no impulses fulfil the conditions of all rows.
    Infeasible {
        /// The row of the largest impulse along the ray that proves it.
        row: usize,
    },
    /// Rounding or the limit of pivots stopped the solver.
    Stopped,
}

/// The report of a direct solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectReport {
    /// The end.
    pub status: DirectStatus,
    /// Factorizations.
    pub pivots: u32,
    /// [`MixedProblem::residual`] [-].
    pub residual: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Lower,
    Upper,
}

/// Block principal pivoting [Judice & Pires 1994] on the states of the rows, with single pivots [Murty 1974]
/// where blocks make no progress: finite, because A is positive definite. Rows that depend on each other are
/// solved by the proximal point method, which ends at a solution or goes along a ray that proves that there
/// is none. Memory is reused.
#[derive(Clone, Debug, Default)]
pub struct DirectSolver {
    states: Vec<State>,
    free: FreeRows,
    v: Vec<f64>,
    slacks: Vec<f64>,
    rest: Vec<f64>,
    center: Vec<f64>,
    ray: Vec<f64>,
    mass: Vec<f64>,
    /// The impulses before the proximal iteration.
    first: Vec<f64>,
}

/// The diagonal shift of a proximal step, about `center`.
#[derive(Clone, Copy)]
struct Shift {
    size: f64,
}

/// The largest number of factorizations from any start.
fn limit(problem: &MixedProblem) -> u32 {
    PIVOTS_PER_ROW * (problem.len() as u32 + 10)
}

impl DirectSolver {
    /// Solves `problem`, whose M is `mass` (row-major). `impulses` holds a guess, or has another length, and
    /// is overwritten by lambda; `v` by the velocities.
    pub fn solve(
        &mut self,
        problem: &MixedProblem,
        mass: &[f64],
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
    ) -> DirectReport {
        let n = problem.len();
        self.mass.clear();
        self.mass.extend_from_slice(mass);
        if impulses.len() != n {
            impulses.clear();
            impulses.resize(n, 0.0);
        }
        self.start_states(problem, impulses);
        self.center.clear();
        self.center.resize(n, 0.0);
        let (solved, mut pivots) = self.pivot(problem, Shift { size: 0.0 }, limit(problem), impulses);
        problem.velocities(impulses, v);
        let mut residual = problem.residual(impulses, v);
        if solved && residual <= SOLVED {
            return DirectReport { status: DirectStatus::Solved, pivots, residual };
        }
        self.first.clone_from(impulses);
        let status = self.proximal(problem, impulses, &mut pivots);
        problem.velocities(impulses, v);
        let first = residual;
        residual = problem.residual(impulses, v);
        if solved && !matches!(status, DirectStatus::Infeasible { .. }) && first <= residual {
            impulses.clone_from(&self.first);
            problem.velocities(impulses, v);
            residual = first;
        }
        let status = match status {
            DirectStatus::Infeasible { row } => DirectStatus::Infeasible { row },
            _ if residual > SOLVED || residual.is_nan() => DirectStatus::Stopped,
            DirectStatus::Degenerate if self.is_regular(problem) => DirectStatus::Solved,
            status => status,
        };
        DirectReport { status, pivots, residual }
    }

    /// Pivots from a solution of a problem whose rows all have a regularization that is nearly exact. Returns
    /// the factorizations; impulses that are not better than those given are left out.
    pub(super) fn refine(
        &mut self,
        problem: &MixedProblem,
        mass: &[f64],
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
    ) -> u32 {
        problem.velocities(impulses, v);
        let before = problem.residual(impulses, v);
        if before <= SOLVED {
            return 0;
        }
        self.first.clone_from(impulses);
        self.mass.clear();
        self.mass.extend_from_slice(mass);
        self.start_states(problem, impulses);
        self.center.clear();
        self.center.resize(problem.len(), 0.0);
        let (_, pivots) = self.pivot(problem, Shift { size: 0.0 }, REFINEMENTS_MAX, impulses);
        problem.velocities(impulses, v);
        // A residual that is not a number is worse than any other
        let after = problem.residual(impulses, v);
        if after < before || (before.is_nan() && !after.is_nan()) {
            return pivots;
        }
        impulses.clone_from(&self.first);
        problem.velocities(impulses, v);
        pivots
    }

    /// Whether the free rows are independent.
    fn is_regular(&mut self, problem: &MixedProblem) -> bool {
        let Self { free, states, mass, .. } = self;
        free.factorize(problem, mass, 0.0, |i| states[i] == State::Free)
    }

    /// The states of a guess: a row is at a bound if its impulse is there and its slack holds it there.
    fn start_states(&mut self, problem: &MixedProblem, impulses: &mut [f64]) {
        for (row, impulse) in problem.rows().iter().zip(&mut *impulses) {
            *impulse = if impulse.is_finite() { impulse.clamp(row.lower, row.upper) } else { 0.0 };
        }
        problem.velocities(impulses, &mut self.v);
        self.states.clear();
        for (i, (row, impulse)) in problem.rows().iter().zip(&*impulses).enumerate() {
            let slack = problem.slack(i, &self.v, *impulse);
            let state = match () {
                () if row.lower == row.upper => State::Lower,
                () if *impulse == row.lower && slack > 0.0 => State::Lower,
                () if *impulse == row.upper && slack < 0.0 => State::Upper,
                () => State::Free,
            };
            self.states.push(state);
        }
    }

    /// Pivots to the solution of the problem with the shift, at most `limit` times. Returns whether it got
    /// there, and the factorizations.
    fn pivot(&mut self, problem: &MixedProblem, shift: Shift, limit: u32, impulses: &mut [f64]) -> (bool, u32) {
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        for pivots in 1..=limit {
            if !self.solve_free(problem, shift, impulses) {
                return (false, pivots);
            }
            let scale = largest(impulses);
            let mut wrong = 0;
            let mut last = None;
            for (i, impulse) in impulses.iter().enumerate() {
                if self.wanted(problem, i, *impulse, scale) != self.states[i] {
                    wrong += 1;
                    last = Some(i);
                }
            }
            let Some(last) = last else { return (true, pivots) };
            let single = if wrong < fewest {
                (fewest, patience) = (wrong, PATIENCE);
                false
            } else {
                patience = patience.saturating_sub(1);
                patience == 0
            };
            for i in if single { last..last + 1 } else { 0..problem.len() } {
                self.states[i] = self.wanted(problem, i, impulses[i], scale);
            }
        }
        (false, limit)
    }

    /// The state of row `i` that follows from its present impulse and slack.
    fn wanted(&self, problem: &MixedProblem, i: usize, impulse: f64, scale: f64) -> State {
        let row = &problem.rows()[i];
        if row.lower == row.upper {
            return State::Lower;
        }
        let small = ROUNDING * scale;
        match self.states[i] {
            State::Free if impulse < row.lower - small => State::Lower,
            State::Free if impulse > row.upper + small => State::Upper,
            State::Lower if self.slacks[i] < -small * problem.diagonal(i) => State::Free,
            State::Upper if self.slacks[i] > small * problem.diagonal(i) => State::Free,
            state => state,
        }
    }

    /// Solves the free rows with the others at their bounds, and computes all slacks. Returns whether the
    /// matrix was regular.
    fn solve_free(&mut self, problem: &MixedProblem, shift: Shift, impulses: &mut [f64]) -> bool {
        let Self { states, free, mass, .. } = self;
        if !free.factorize(problem, mass, shift.size, |i| states[i] == State::Free) {
            return false;
        }
        for ((state, row), impulse) in states.iter().zip(problem.rows()).zip(impulses.iter_mut()) {
            match state {
                State::Free => {}
                State::Lower => *impulse = row.lower,
                State::Upper => *impulse = row.upper,
            }
        }
        let mut before = f64::INFINITY;
        for _ in 0..CORRECTIONS_MAX {
            self.find_slacks(problem, shift, impulses);
            self.rest.clear();
            self.rest.extend(self.free.rows().iter().map(|i| -self.slacks[*i as usize]));
            let left = self.free.rows().iter().fold(0.0, |left, i| {
                let scale = problem.diagonal(*i as usize).max(f64::MIN_POSITIVE);
                worse(left, self.slacks[*i as usize].abs() / scale)
            });
            if left.is_nan() {
                return false;
            }
            if left == 0.0 || left > 0.5 * before {
                break;
            }
            before = left;
            self.free.solve(problem, &mut self.rest);
            for (i, x) in self.free.rows().iter().zip(&self.rest) {
                impulses[*i as usize] += x;
            }
        }
        self.find_slacks(problem, shift, impulses);
        true
    }

    fn find_slacks(&mut self, problem: &MixedProblem, shift: Shift, impulses: &[f64]) {
        problem.velocities(impulses, &mut self.v);
        self.slacks.clear();
        for (i, impulse) in impulses.iter().enumerate() {
            let about = shift.size * (impulse - self.center[i]);
            self.slacks.push(problem.slack(i, &self.v, *impulse) + about);
        }
    }

    /// The proximal point method: each step solves with `shift` (lambda - lambda of the step before) added to
    /// the slacks.
    fn proximal(&mut self, problem: &MixedProblem, impulses: &mut [f64], pivots: &mut u32) -> DirectStatus {
        let n = problem.len();
        let largest_entry = (0..n).map(|i| problem.diagonal(i)).fold(0.0, f64::max);
        let scale = if largest_entry > 0.0 { largest_entry } else { 1.0 };
        for (row, impulse) in problem.rows().iter().zip(impulses.iter_mut()) {
            *impulse = 0.0_f64.clamp(row.lower, row.upper);
        }
        for step in 0..PROXIMAL_MAX {
            let part = PROXIMAL_SHIFT.0 * 0.1_f64.powi((step / PROXIMAL_STEPS) as i32);
            let size = scale * part.max(PROXIMAL_SHIFT.1);
            self.center.clear();
            self.center.extend_from_slice(impulses);
            let (solved, count) = self.pivot(problem, Shift { size }, limit(problem), impulses);
            *pivots += count;
            if !solved {
                return DirectStatus::Stopped;
            }
            self.ray.clear();
            self.ray.extend(impulses.iter().zip(&self.center).map(|(impulse, center)| impulse - center));
            let moved = largest(&self.ray);
            if moved.is_nan() {
                return DirectStatus::Stopped;
            }
            problem.velocities(impulses, &mut self.v);
            if problem.residual(impulses, &self.v) <= 0.1 * SOLVED {
                return DirectStatus::Degenerate;
            }
            if self.is_ray(problem, moved) {
                let row = (0..n).fold(0, |best, i| if self.ray[i].abs() > self.ray[best].abs() { i } else { best });
                return DirectStatus::Infeasible { row };
            }
        }
        DirectStatus::Stopped
    }

    /// Whether the last change of the impulses is a ray: it meets no bound, moves no body, A d = 0, and its
    /// rows' slacks fall short along it, b . d < 0.
    fn is_ray(&mut self, problem: &MixedProblem, moved: f64) -> bool {
        let leaves = problem.rows().iter().zip(&self.ray).any(|(row, d)| {
            (*d > RAY * moved && row.upper.is_finite()) || (*d < -RAY * moved && row.lower.is_finite())
        });
        if leaves {
            return false;
        }
        self.v.clear();
        self.v.resize(problem.size(), 0.0);
        for (i, d) in self.ray.iter().enumerate() {
            problem.apply(i, *d, &mut self.v);
        }
        let moves = (0..problem.len()).any(|i| {
            let speed = problem.speed(i, &self.v) + problem.rows()[i].regularization * self.ray[i];
            speed.abs() > RAY * moved * problem.diagonal(i)
        });
        if moves {
            return false;
        }
        // The slacks at the center give the same product as b, because A d = 0.
        problem.velocities(&self.center, &mut self.v);
        let short: f64 = (0..problem.len()).map(|i| self.ray[i] * problem.slack(i, &self.v, self.center[i])).sum();
        let size: f64 =
            (0..problem.len()).map(|i| (self.ray[i] * problem.slack(i, &self.v, self.center[i])).abs()).sum();
        short < -RAY * size
    }
}
