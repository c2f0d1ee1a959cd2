//! The solvers of a step with contact: which rows are solved together, and the bounds of friction.

use super::cone::{ConeSolver, Friction};
use super::contact_problem::ComplementarityProblem;
use super::direct::{DirectSolver, DirectStatus};
use super::gauss_seidel::{sweep_friction, sweep_rows};
use super::settings::{ComplementaritySettings, ComplementaritySolver, FrictionLaw};
use super::tangent_set::TangentSet;

/// The bounds of friction have settled when none changes by more than this part of the largest [-].
const BOUNDS_SETTLED: f64 = 1e-9;
/// The least and the largest part of a change of the bounds that is made [-].
const RELAXATION: (f64, f64) = (0.05, 2.0);
/// If a change of the bounds leaves more than this part of their difference, the next ones are made in part
/// [-].
const SLOW: f64 = 0.5;

/// The report of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComplementarityReport {
    /// Sweeps, factorizations or Newton iterations.
    pub iterations: u32,
    /// The number of times that the bounds of friction were renewed.
    pub rounds: u32,
    /// The largest violation of a row or of a friction law, as a part of the largest impulse, both times the
    /// square root of the row's inverse inertia, so that N s and N m s compare [-].
    pub residual: f64,
    /// Whether the residual is within the tolerance.
    pub converged: bool,
    /// A row that proves that the problem has no solution.
    pub infeasible: Option<usize>,
}

/// The normal impulses that bound friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// Those known before the solve.
    Before,
    /// Those of the solve.
    Solved,
}

fn set_and_bound(friction: FrictionLaw) -> (TangentSet, Bound) {
    match friction {
        FrictionLaw::Box => (TangentSet::Box, Bound::Before),
        FrictionLaw::ScaledBox
        | FrictionLaw::OrientedBox(_)
        | FrictionLaw::Randomized { .. }
        | FrictionLaw::MultiDirectional { .. } => (TangentSet::Box, Bound::Solved),
        FrictionLaw::ProjectedCone | FrictionLaw::ExactCone => (TangentSet::Disc, Bound::Solved),
        FrictionLaw::PolyhedralCone { edges } => (TangentSet::Polygon { corners: edges }, Bound::Solved),
    }
}

/// The solver of complementarity steps, and its memory.
#[derive(Clone, Debug, Default)]
pub struct ContactSolver {
    direct: DirectSolver,
    cone: ConeSolver,
    bounds: Vec<f64>,
    /// The change of the bounds that the last round wanted.
    wanted: Vec<f64>,
    /// The part of a wanted change that is made.
    relaxation: f64,
    /// The momentum r of the problem.
    r: Vec<f64>,
}

impl ContactSolver {
    /// Solves `problem`, whose r is `momentum` [N s, N m s]. `impulses` and `v` are overwritten.
    pub fn solve(
        &mut self,
        problem: &mut ComplementarityProblem,
        momentum: &[f64],
        settings: &ComplementaritySettings,
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
    ) -> ComplementarityReport {
        let (set, bound) = set_and_bound(settings.friction);
        self.r.clear();
        self.r.extend_from_slice(momentum);
        impulses.clear();
        impulses.resize(problem.rows.len(), 0.0);
        self.bounds.clear();
        self.bounds.extend(problem.pairs.iter().map(|pair| pair.coefficient * pair.normal_before.max(0.0)));
        // Sweeps start from the impulses of the step before
        if matches!(settings.solver, ComplementaritySolver::GaussSeidel | ComplementaritySolver::Split) {
            for (row, impulse) in &problem.starts {
                let law = problem.rows.rows()[*row];
                impulses[*row] = impulse.clamp(law.lower, law.upper);
            }
            for (pair, bound) in problem.pairs.iter().zip(&self.bounds) {
                let (guess, _) = set.project(pair.guess, *bound);
                impulses[pair.tangent..pair.tangent + 2].copy_from_slice(&guess);
            }
        }
        let mut infeasible = None;
        let (iterations, rounds) = match settings.solver {
            ComplementaritySolver::Direct if set == TangentSet::Box => {
                self.solve_box(problem, bound, settings, impulses, v, &mut infeasible)
            }
            ComplementaritySolver::Direct => self.solve_cone(problem, set, settings, impulses, v),
            ComplementaritySolver::GaussSeidel => {
                problem.rows.velocities(impulses, v);
                (self.sweep(problem, (set, bound), settings, impulses, v), 0)
            }
            ComplementaritySolver::Split => {
                self.alternate(problem, (set, bound), settings, impulses, v, &mut infeasible)
            }
            ComplementaritySolver::DirectAndIterative => {
                let (pivots, rounds) = self.solve_box(problem, Bound::Solved, settings, impulses, v, &mut infeasible);
                (pivots + self.sweep(problem, (set, bound), settings, impulses, v), rounds)
            }
        };
        if bound == Bound::Solved {
            self.set_bounds(problem, impulses);
        }
        problem.rows.velocities(impulses, v);
        let residual = problem.residual(set, &self.bounds, impulses, v);
        let converged = residual <= settings.tolerance && infeasible.is_none();
        ComplementarityReport { iterations, rounds, residual, converged, infeasible }
    }

    /// Sets the bounds to those of the present normal impulses.
    fn set_bounds(&mut self, problem: &ComplementarityProblem, impulses: &[f64]) {
        self.bounds.clear();
        self.bounds.extend(problem.pairs.iter().map(|pair| pair.coefficient * impulses[pair.normal].max(0.0)));
    }

    /// Moves the bounds towards those of the present normal impulses in the round number `round`: all the way
    /// while that makes the difference smaller, and then by the part that the last two differences suggest
    /// [Irons & Tuck 1969]. Bounds that overshoot would alternate without end. Returns whether they have
    /// settled.
    fn move_bounds(&mut self, problem: &ComplementarityProblem, impulses: &[f64], round: u32) -> bool {
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        let (mut before_squared, mut rise, mut now_squared, mut rise_squared) = (0.0, 0.0, 0.0, 0.0);
        self.wanted.resize(problem.pairs.len(), 0.0);
        for ((bound, before), pair) in self.bounds.iter().zip(&mut self.wanted).zip(&problem.pairs) {
            let renewed = pair.coefficient * impulses[pair.normal].max(0.0);
            let now = renewed - *bound;
            change = change.max(now.abs());
            largest = largest.max(renewed).max(*bound);
            let rises = now - *before;
            before_squared += *before * *before;
            now_squared += now * now;
            rise += *before * rises;
            rise_squared += rises * rises;
            *before = now;
        }
        if change <= BOUNDS_SETTLED * largest {
            self.set_bounds(problem, impulses);
            return true;
        }
        if round == 0 {
            self.relaxation = 1.0;
        } else if (now_squared > SLOW * SLOW * before_squared || self.relaxation < 1.0) && rise_squared > 0.0 {
            let (least, most) = RELAXATION;
            self.relaxation = (-self.relaxation * rise / rise_squared).clamp(least, most);
        }
        for (bound, wanted) in self.bounds.iter_mut().zip(&self.wanted) {
            *bound = (*bound + self.relaxation * wanted).max(0.0);
        }
        false
    }

    /// Finds the direct solution with the present bounds of the rows. Returns the number of iterations and
    /// pivots. If there is no solution, `infeasible` becomes the row that proves it. There is one if every
    /// row has a regularization: Newton's method from the present velocities finds the states of the rows
    /// in a few iterations, where pivots alone may take thousands, and pivots make it exact.
    fn solve_direct(
        &mut self,
        problem: &ComplementarityProblem,
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
        infeasible: &mut Option<usize>,
    ) -> u32 {
        if problem.rows.rows().iter().all(|row| row.regularization > 0.0) {
            let iterations = self.cone.solve(problem, Friction::NONE, &self.r, impulses, v);
            return iterations + self.direct.refine(&problem.rows, &problem.mass, impulses, v);
        }
        let report = self.direct.solve(&problem.rows, &problem.mass, impulses, v);
        if let DirectStatus::Infeasible { row } = report.status {
            *infeasible = Some(row);
        }
        report.pivots
    }

    /// The direct solution with box friction, again with bounds of its own normal impulses if these bound it.
    fn solve_box(
        &mut self,
        problem: &mut ComplementarityProblem,
        bound: Bound,
        settings: &ComplementaritySettings,
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
        infeasible: &mut Option<usize>,
    ) -> (u32, u32) {
        let mut pivots = 0;
        problem.rows.velocities(impulses, v);
        for round in 0..=settings.rounds_max {
            for (number, bound) in self.bounds.iter().enumerate() {
                let first = problem.pairs[number].tangent;
                (first..first + 2).for_each(|i| problem.rows.set_bounds(i, -bound, *bound));
            }
            pivots += self.solve_direct(problem, impulses, v, infeasible);
            if infeasible.is_some() {
                return (pivots, round);
            }
            if bound == Bound::Before || self.move_bounds(problem, impulses, round) {
                return (pivots, round);
            }
        }
        (pivots, settings.rounds_max)
    }

    /// Newton's method with friction in `set`, again with bounds of its own normal impulses.
    fn solve_cone(
        &mut self,
        problem: &ComplementarityProblem,
        set: TangentSet,
        settings: &ComplementaritySettings,
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
    ) -> (u32, u32) {
        problem.rows.velocities(impulses, v);
        let mut iterations = 0;
        for round in 0..=settings.rounds_max {
            let friction = Friction { pairs: &problem.pairs, set, bounds: &self.bounds };
            iterations += self.cone.solve(problem, friction, &self.r, impulses, v);
            if self.move_bounds(problem, impulses, round) {
                return (iterations, round);
            }
        }
        (iterations, settings.rounds_max)
    }

    /// Sweeps over all rows.
    fn sweep(
        &mut self,
        problem: &ComplementarityProblem,
        (set, bound): (TangentSet, Bound),
        settings: &ComplementaritySettings,
        impulses: &mut [f64],
        v: &mut [f64],
    ) -> u32 {
        for _ in 0..settings.iterations {
            sweep_rows(problem, impulses, v);
            self.sweep_friction(problem, (set, bound), impulses, v);
        }
        settings.iterations
    }

    fn sweep_friction(
        &self,
        problem: &ComplementarityProblem,
        (set, bound): (TangentSet, Bound),
        impulses: &mut [f64],
        v: &mut [f64],
    ) -> f64 {
        let of = |number: usize, impulses: &[f64]| match bound {
            Bound::Before => self.bounds[number],
            Bound::Solved => {
                let pair = &problem.pairs[number];
                pair.coefficient * impulses[pair.normal].max(0.0)
            }
        };
        sweep_friction(problem, set, of, impulses, v)
    }

    /// Direct solutions for joints and normal impulses, in turn with a sweep of friction.
    fn alternate(
        &mut self,
        problem: &mut ComplementarityProblem,
        (set, bound): (TangentSet, Bound),
        settings: &ComplementaritySettings,
        impulses: &mut Vec<f64>,
        v: &mut Vec<f64>,
        infeasible: &mut Option<usize>,
    ) -> (u32, u32) {
        let mut pivots = 0;
        problem.rows.velocities(impulses, v);
        for round in 1..=settings.iterations {
            for number in 0..problem.pairs.len() {
                let first = problem.pairs[number].tangent;
                (first..first + 2).for_each(|i| problem.rows.set_bounds(i, impulses[i], impulses[i]));
            }
            pivots += self.solve_direct(problem, impulses, v, infeasible);
            if infeasible.is_some() {
                return (pivots, round);
            }
            let change = self.sweep_friction(problem, (set, bound), impulses, v);
            let largest = impulses.iter().map(|impulse| impulse.abs()).fold(0.0, f64::max);
            if change <= BOUNDS_SETTLED * largest {
                return (pivots, round);
            }
        }
        (pivots, settings.iterations)
    }
}
