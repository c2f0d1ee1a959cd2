//! The common interface of the engines of a quasistatic step.

use super::bound_system::BoundSystem;
use super::check::check;
use super::cone_engine::{ConeEngine, ConeStatus};
use super::coulomb::{CoulombRounds, ROUNDING};
use super::derivative::{Linearization, ProblemDirection};
use super::interior_point::{self, ClarabelResult};
use super::islands::Islands;
use super::lcp::solve_lcp;
use super::limited_springs::LimitedSprings;
use super::problem::BoundChange;
use super::residuals::{Impulses, Residuals};
use super::smoothing::{SmoothedStep, strictly_feasible};
use super::{
    Engine, FrictionCone, FrictionModel, ProblemPart, QuasistaticError, QuasistaticProblem, QuasistaticReport,
    QuasistaticResiduals, QuasistaticSettings,
};
use crate::math::{ByteReader, ByteWriter, BytesError, SpatialForce, Vector3};

/// The largest number of times that Lemke's method is repeated with other springs at their limits.
const SPRING_ROUNDS_MAX: u32 = 20;

/// The largest number of rounds for Coulomb's law at points.
const COULOMB_PASSES_MAX: u32 = 100;

/// The number of accelerated rounds before those of Newton's method.
const NEWTON_AFTER: u32 = 5;
/// The fraction of the largest impulse by which the forces may miss their balance if Clarabel stops early
/// [-].
const BALANCE: f64 = 1e-6;

/// Solves quasistatic steps, one after the other. It keeps its memory and the warm start of the next step.
#[derive(Clone, Debug, Default)]
pub struct QuasistaticSolver {
    engine: ConeEngine,
    coulomb: CoulombRounds,
    /// The changes of the friction bounds of the patches in the last refresh.
    patch_changes: Vec<BoundChange>,
    residuals: Residuals,
    contacts: Vec<Vector3>,
    rows: Vec<f64>,
    bounds: Vec<f64>,
    patches: Vec<SpatialForce>,
    trial: Vec<f64>,
    fallbacks: u64,
    /// The part whose friction changed most in the last refresh, and the change [N s].
    unsettled: Option<(ProblemPart, f64)>,
    /// The part with the largest residual, of a solve that did not converge.
    worst: Option<ProblemPart>,
    exact: Linearization,
    friction: BoundSystem,
    /// mu times the changes of normal impulses at fixed bounds, by contact [N s].
    changes: Vec<f64>,
    smoothed: SmoothedStep,
    linearized: Linearized,
}

/// The kind of solution about which derivatives are prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Linearized {
    #[default]
    Nothing,
    Exact,
    Smoothed,
}

/// The report of one run of an engine.
struct Run {
    engine: Engine,
    fallback: bool,
    iterations: u32,
    outer_iterations: u32,
}

impl QuasistaticSolver {
    /// Impulse on B of each contact in its axes (n, t1, t2) [N s]: the multiplier of the friction constraint.
    /// If contacts are redundant (four corners of a face), only their sum is unique.
    pub fn contact_impulses(&self) -> &[Vector3] {
        &self.contacts
    }
    /// Impulse of each row [N s] or [N m s].
    pub fn row_impulses(&self) -> &[f64] {
        &self.rows
    }
    /// Impulse of each bound: positive at the lower, negative at the upper limit [N s] or [N m s].
    pub fn bound_impulses(&self) -> &[f64] {
        &self.bounds
    }
    /// Impulse on B about C of each patch [N m s, N s].
    pub fn patch_impulses(&self) -> &[SpatialForce] {
        &self.patches
    }
    /// Number of problems that Clarabel solved because the cone engine did not converge.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }
    /// The contact or patch whose friction changed most in the last refresh of the last solve, and the change
    /// [N s].
    pub fn unsettled_friction(&self) -> Option<(ProblemPart, f64)> {
        self.unsettled
    }
    /// The contact or velocity that was farthest from a solution when the last solve did not converge.
    pub fn worst(&self) -> Option<ProblemPart> {
        self.worst
    }
    /// The impulses by which the last solution misses the balance of forces, by generalized velocity [N s] or
    /// [N m s].
    pub fn balance(&self) -> &[f64] {
        &self.residuals.balance
    }
    /// Computes the impulses of the patches of `problem` at `v`, and the balance of forces with them and with
    /// the other impulses of the last solution.
    pub fn rebalance(&mut self, problem: &QuasistaticProblem, v: &[f64]) {
        let Self { contacts, rows, bounds, patches, residuals, .. } = self;
        patches.clear();
        patches.extend(problem.patches().iter().map(|patch| patch.impulse(&patch.velocity(v))));
        let impulses = Impulses { contacts, rows, bounds, patches };
        residuals.compute(problem, Engine::Cone, FrictionCone::Exact, v, &impulses);
    }
    /// Discards the warm start of the next step, as after a reset of the scene.
    pub fn forget(&mut self) {
        self.engine.forget();
    }
    /// Keeps the warm start of the next step for [`QuasistaticSolver::restore`].
    pub(crate) fn keep(&mut self) {
        self.engine.keep();
    }
    /// Returns to the warm start that was kept. Until the next [`QuasistaticSolver::keep`], joints with dry
    /// friction move as firmly as all others between two updates of multipliers.
    pub(crate) fn restore(&mut self) {
        self.engine.restore();
    }
    /// Whether joints with dry friction moved less firmly since [`QuasistaticSolver::keep`].
    pub(crate) fn was_softened(&self) -> bool {
        self.engine.was_softened()
    }
    /// Writes the data that the next step takes from the last one: its warm start and the count of fallbacks.
    pub fn write_memory(&self, writer: &mut ByteWriter) {
        writer.u64(self.fallbacks);
        self.engine.write_memory(writer);
    }
    /// Reads the output of [`QuasistaticSolver::write_memory`].
    ///
    /// # Errors
    /// Bytes that it did not write.
    pub fn read_memory(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.fallbacks = reader.u64()?;
        self.engine.read_memory(reader)
    }

    /// Solves `problem` from the warm start in `v`, which becomes the solution. In `problem` only friction
    /// bounds change. Those of the contacts change by the friction model. Those of the patches become mu
    /// times the normal impulses of the solution, unless `friction_passes_max` is 0.
    ///
    /// # Errors
    /// A malformed problem; forces without resistance; contradicting constraints; no convergence of any
    /// engine. `v` is then unchanged.
    pub fn solve(
        &mut self,
        problem: &mut QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<QuasistaticReport, QuasistaticError> {
        check(problem, v, settings)?;
        self.linearized = Linearized::Nothing;
        self.worst = None;
        let mut trial = std::mem::take(&mut self.trial);
        trial.clear();
        trial.extend_from_slice(v);
        let result = self.solve_with_friction(problem, &mut trial, settings);
        match &result {
            Ok(_) => v.copy_from_slice(&trial),
            Err(QuasistaticError::NotConverged { .. }) => self.worst = self.find_worst(problem, &trial, settings),
            Err(_) => {}
        }
        self.trial = trial;
        result
    }

    /// The part of the problem with the largest residual where the cone engine stopped at `v`: the velocity
    /// that misses its balance most, or the contact whose constraint is violated most if forces balance.
    fn find_worst(
        &mut self,
        problem: &QuasistaticProblem,
        v: &[f64],
        settings: &QuasistaticSettings,
    ) -> Option<ProblemPart> {
        if settings.engine != Engine::Cone {
            return None;
        }
        let Self { engine, contacts, rows, bounds, patches, residuals, .. } = self;
        engine.read(problem, v, contacts, rows, bounds, patches);
        let impulses = Impulses { contacts, rows, bounds, patches };
        residuals.compute(problem, Engine::Cone, settings.friction, v, &impulses);
        let all = contacts.iter().map(Vector3::norm).chain(problem.linear.iter().map(|b| b.abs()));
        let scale = all.fold(0.0, f64::max);
        let balance = residuals.balance.iter().map(|excess| excess.abs()).enumerate();
        let unbalanced = balance.filter(|(_, excess)| *excess > BALANCE * scale).max_by(|a, b| a.1.total_cmp(&b.1));
        let closest = |(index, contact)| (index, problem.contact_velocity(contact, v).x);
        let nearest = problem.contacts().iter().enumerate().map(closest).min_by(|a, b| a.1.total_cmp(&b.1));
        let of_contact = nearest.map(|(index, _)| ProblemPart::Contact(index));
        unbalanced.map(|(dof, _)| ProblemPart::Velocity(dof)).or(of_contact)
    }

    /// Prepares derivatives of the step at its solution `v`: the cone engine solves it from there to a small
    /// tolerance, and keeps the factors. Friction bounds do not change.
    ///
    /// # Errors
    /// The errors of [`QuasistaticSolver::solve`]; there is no fallback.
    pub fn linearize(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<(), QuasistaticError> {
        check(problem, v, settings)?;
        self.linearized = Linearized::Nothing;
        self.exact.prepare(&mut self.engine, problem, v, settings)?;
        self.friction.prepare(&mut self.exact, &self.engine, problem)?;
        let Self { engine, contacts, rows, bounds, patches, .. } = self;
        engine.read(problem, v, contacts, rows, bounds, patches);
        self.linearized = Linearized::Exact;
        Ok(())
    }

    /// Solves the step smoothed by a logarithmic barrier of weight kappa \[J\], and prepares its derivatives.
    /// Returns the number of Newton iterations. The range of the contact forces increases with kappa: an
    /// impulse gamma at rest keeps a distance of the order h kappa/gamma.
    ///
    /// # Errors
    /// The errors of [`QuasistaticSolver::solve`]; a kappa that is not positive; constraints without an
    /// interior.
    pub fn solve_smoothed(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        kappa: f64,
        settings: &QuasistaticSettings,
    ) -> Result<u32, QuasistaticError> {
        self.minimize_smoothed(problem, v, kappa, settings, false)
    }

    /// Does the same as [`QuasistaticSolver::solve_smoothed`], with friction bounds of the patches that
    /// become mu times the normal impulses of the solution, as in [`QuasistaticSolver::solve`].
    ///
    /// # Errors
    /// The errors of [`QuasistaticSolver::solve_smoothed`].
    pub fn step_smoothed(
        &mut self,
        problem: &mut QuasistaticProblem,
        v: &mut [f64],
        kappa: f64,
        settings: &QuasistaticSettings,
    ) -> Result<QuasistaticReport, QuasistaticError> {
        let (mut iterations, mut friction_passes) = (0, 0);
        loop {
            iterations += self.minimize_smoothed(problem, v, kappa, settings, friction_passes > 0)?;
            self.patch_changes.clear();
            if settings.friction_passes_max > 0 {
                problem.refresh_patches(v, &mut self.patch_changes);
            }
            let friction_change = self.measure_friction(problem, Engine::Clarabel, false);
            if friction_change <= settings.friction_tolerance || friction_passes >= settings.friction_passes_max {
                return Ok(QuasistaticReport {
                    engine: Engine::Cone,
                    fallback: false,
                    iterations,
                    outer_iterations: 0,
                    friction_passes,
                    friction_change,
                    residuals: QuasistaticResiduals::default(),
                });
            }
            friction_passes += 1;
        }
    }

    /// Minimises with the barrier. With `inside`, `v` already satisfies all constraints.
    fn minimize_smoothed(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        kappa: f64,
        settings: &QuasistaticSettings,
        inside: bool,
    ) -> Result<u32, QuasistaticError> {
        check(problem, v, settings)?;
        self.worst = None;
        // The barrier belongs to the convex constraint.
        let settings = &QuasistaticSettings { model: FrictionModel::Relaxed, ..*settings };
        if !(kappa > 0.0 && kappa.is_finite()) {
            return Err(QuasistaticError::BarrierWeight { kappa });
        }
        if let Some(patch) = problem.patches().iter().position(|patch| patch.hunt_crossley != 0.0) {
            return Err(QuasistaticError::Dissipation { patch });
        }
        self.linearized = Linearized::Nothing;
        if !inside {
            let mut inner = Self::default();
            let start = strictly_feasible(problem, settings, |narrower, settings| {
                let mut start = v.to_vec();
                inner.solve(narrower, &mut start, settings).map(|_| start)
            })?;
            v.copy_from_slice(&start);
        }
        let iterations = self.smoothed.minimize(problem, settings.friction, kappa, v)?;
        self.contacts.clone_from(&self.smoothed.contacts);
        self.bounds.clone_from(&self.smoothed.bounds);
        self.rows.clear();
        self.rows.extend(problem.rows.iter().map(|row| row.impulse(row.speed(v)).0));
        self.patches.clear();
        self.patches.extend(problem.patches().iter().map(|patch| patch.impulse(&patch.velocity(v))));
        self.linearized = Linearized::Smoothed;
        Ok(iterations)
    }

    /// dv for a direction of the data, at the point of the last [`QuasistaticSolver::linearize`] or
    /// [`QuasistaticSolver::solve_smoothed`] of the same `problem`. It takes a few rounds, and each costs one
    /// pair of triangular solves.
    ///
    /// # Errors
    /// Nothing was linearized; the sizes of the direction differ from those of the problem.
    pub fn differentiate(
        &mut self,
        problem: &QuasistaticProblem,
        direction: &ProblemDirection,
        dv: &mut [f64],
    ) -> Result<(), QuasistaticError> {
        for (given, expected) in [
            (dv.len(), problem.size()),
            (direction.linear.len(), problem.size()),
            (direction.contacts.len(), problem.contacts().len()),
            (direction.bounds.len(), problem.bounds.len()),
            (direction.targets.len(), problem.rows.len()),
            (direction.weights.len(), problem.contacts().len()),
        ] {
            if given != expected {
                return Err(QuasistaticError::Size { given, expected });
            }
        }
        match self.linearized {
            Linearized::Nothing => return Err(QuasistaticError::NotLinearized),
            Linearized::Exact => {
                self.exact.apply(&self.engine, problem, direction, &[], dv);
                if !self.friction.is_empty() {
                    self.exact.normal_changes(&self.engine, problem, &mut self.changes);
                    let Self { exact, friction, engine, changes, .. } = self;
                    let bounds = friction.solve(|contact| problem.contacts()[contact].friction * changes[contact]);
                    exact.apply(engine, problem, direction, bounds, dv);
                }
            }
            Linearized::Smoothed => self.smoothed.apply(problem, direction, dv)?,
        }
        Ok(())
    }

    /// Computes the changes of the contacts' impulses (n, t1, t2) in the last
    /// [`QuasistaticSolver::differentiate`] of the same `problem` [N s per unit of the parameter].
    ///
    /// # Errors
    /// Nothing was linearized.
    pub fn impulse_changes(
        &self,
        problem: &QuasistaticProblem,
        impulses: &mut Vec<Vector3>,
    ) -> Result<(), QuasistaticError> {
        match self.linearized {
            Linearized::Nothing => return Err(QuasistaticError::NotLinearized),
            Linearized::Exact => self.exact.impulse_changes(&self.engine, problem, impulses),
            Linearized::Smoothed => impulses.clone_from(self.smoothed.impulse_changes()),
        }
        Ok(())
    }

    /// Whether the derivative of the last [`QuasistaticSolver::differentiate`] along the same `direction` is
    /// that of the step over a `reach` forward and backward. It is not where a contact, a limit or an effort
    /// limit changes its state, nor where redundant contacts that cannot slip contradict each other. Smoothed
    /// steps have no such states.
    pub fn holds(&mut self, problem: &QuasistaticProblem, direction: &ProblemDirection, reach: f64) -> [bool; 2] {
        if self.linearized != Linearized::Exact {
            return [true; 2];
        }
        let bounds = if self.friction.is_empty() { &[] } else { self.friction.changes() };
        self.exact.holds(&self.engine, problem, direction, bounds, reach)
    }

    fn solve_with_friction(
        &mut self,
        problem: &mut QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<QuasistaticReport, QuasistaticError> {
        let (mut iterations, mut outer_iterations, mut friction_passes) = (0, 0, 0);
        let mut fallback = false;
        let coulomb = settings.model == FrictionModel::Coulomb && !problem.contacts().is_empty();
        let passes_max = if coulomb { COULOMB_PASSES_MAX } else { 0 }.max(settings.friction_passes_max);
        if coulomb {
            self.engine.recall(problem);
            let Self { engine, coulomb, .. } = self;
            coulomb.start(problem, |index| engine.recalled_normal(index));
        } else {
            (0..problem.contacts().len()).for_each(|index| problem.bound_friction(index, None));
        }
        loop {
            let run = match self.run(problem, v, settings) {
                // Friction bounds from an earlier load may be too small; those of the convex constraint grow
                // with the load.
                Err(QuasistaticError::Unbounded { .. }) if coulomb && friction_passes == 0 => {
                    self.coulomb.start(problem, |_| 0.0);
                    self.run(problem, v, settings)?
                }
                run => run?,
            };
            iterations += run.iterations;
            outer_iterations += run.outer_iterations;
            fallback |= run.fallback;
            let has_friction_to_refresh = !problem.patches().is_empty() && settings.friction_passes_max > 0;
            self.patch_changes.clear();
            if has_friction_to_refresh {
                problem.refresh_patches(v, &mut self.patch_changes);
            }
            if coulomb {
                self.coulomb.refresh(problem, &self.contacts);
            }
            let friction_change = self.measure_friction(problem, run.engine, coulomb);
            if friction_change > settings.friction_tolerance && friction_passes < passes_max {
                if coulomb {
                    self.advance_friction(problem, friction_passes);
                }
                friction_passes += 1;
                continue;
            }
            self.fallbacks += u64::from(fallback);
            let Self { contacts, rows, bounds, patches, residuals, .. } = self;
            residuals.balance_bounds(problem, v, (contacts, rows, bounds, patches), settings.tolerance);
            let impulses =
                Impulses { contacts: &self.contacts, rows: &self.rows, bounds: &self.bounds, patches: &self.patches };
            let residuals = self.residuals.compute(problem, run.engine, settings.friction, v, &impulses);
            return Ok(QuasistaticReport {
                engine: run.engine,
                fallback,
                iterations,
                outer_iterations,
                friction_passes,
                friction_change,
                residuals,
            });
        }
    }

    /// The largest change of a friction bound in the last refresh, relative to the largest bound of its
    /// island [-]; 1 if a contact without a bound pushes.
    fn measure_friction(&mut self, problem: &QuasistaticProblem, engine: Engine, coulomb: bool) -> f64 {
        let Self { coulomb: rounds, patch_changes, engine: cone, .. } = self;
        let contact = |index| if coulomb { rounds.change(index) } else { BoundChange::default() };
        let patch = |index: usize| patch_changes.get(index).copied().unwrap_or_default();
        let rounding = ROUNDING * problem.step;
        let (change, worst) = if engine == Engine::Cone {
            cone.islands.largest_change(contact, patch, rounding)
        } else {
            Islands::of(problem).largest_change(contact, patch, rounding)
        };
        self.unsettled = worst;
        if coulomb && rounds.is_first() { 1.0 } else { change }
    }

    /// Sets the friction bounds of the points for the next round: by acceleration in the first rounds, then
    /// by Newton's method.
    fn advance_friction(&mut self, problem: &mut QuasistaticProblem, passes: u32) {
        let Self { engine, coulomb, exact, friction, .. } = self;
        let newton = passes >= NEWTON_AFTER
            && !coulomb.is_first()
            && !coulomb.has_gone_astray()
            && exact.factorize(engine, problem).is_ok()
            && friction.prepare(exact, engine, problem).is_ok();
        if newton {
            coulomb.advance_by(problem, friction.newton_step(exact, engine, problem, coulomb.errors()));
        } else {
            coulomb.advance(problem);
        }
    }

    /// Solves with fixed friction bounds.
    fn run(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<Run, QuasistaticError> {
        let mut fallback = false;
        let mut iterations = 0;
        if settings.engine == Engine::Cone {
            let report = self.engine.solve_with_restart(problem, v, settings);
            iterations = report.iterations;
            match report.status {
                ConeStatus::Converged => {
                    self.engine.remember(problem);
                    let Self { engine, contacts, rows, bounds, patches, .. } = self;
                    engine.read(problem, v, contacts, rows, bounds, patches);
                    let outer_iterations = report.outer_iterations;
                    return Ok(Run { engine: Engine::Cone, fallback, iterations, outer_iterations });
                }
                ConeStatus::Unbounded { dof } => {
                    return Err(QuasistaticError::Unbounded { dof, impulse: problem.linear[dof] });
                }
                ConeStatus::NotConverged { residual }
                    if problem.contacts().iter().any(|contact| contact.friction_bound.is_some()) =>
                {
                    let status = "the cone engine did not find friction within its bounds".to_owned();
                    return Err(QuasistaticError::NotConverged { iterations, residual, status });
                }
                ConeStatus::NotConverged { .. } => fallback = true,
            }
        }
        if settings.engine == Engine::Lemke {
            return self.run_lemke(problem, v, settings);
        }
        let result = interior_point::solve(problem, settings)?;
        iterations += result.iterations;
        self.check_stopped(problem, &result, settings)?;
        if fallback {
            self.engine.adopt(problem, &result.multipliers, &result.bounds);
        }
        self.take(result, v);
        Ok(Run { engine: Engine::Clarabel, fallback, iterations, outer_iterations: 0 })
    }

    /// A result with which Clarabel stopped early counts if it meets the tolerance of the settings.
    fn check_stopped(
        &mut self,
        problem: &QuasistaticProblem,
        result: &ClarabelResult,
        settings: &QuasistaticSettings,
    ) -> Result<(), QuasistaticError> {
        let Some(status) = result.stopped else { return Ok(()) };
        let ClarabelResult { v, contacts, rows, bounds, patches, iterations, .. } = result;
        let impulses = Impulses { contacts, rows, bounds, patches };
        let found = self.residuals.compute(problem, Engine::Clarabel, settings.friction, v, &impulses);
        let largest = |impulses: &[f64]| impulses.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let contact = contacts.iter().map(Vector3::norm).fold(0.0, f64::max);
        let impulse = largest(&problem.linear).max(largest(bounds)).max(contact);
        let meets = found.primal <= settings.tolerance
            && found.stationarity.max(found.cone) <= BALANCE * impulse
            && found.complementarity <= settings.tolerance * impulse;
        if meets {
            return Ok(());
        }
        let (iterations, residual) = (*iterations, found.primal.max(found.stationarity));
        Err(QuasistaticError::NotConverged { iterations, residual, status: status.to_owned() })
    }

    fn run_lemke(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<Run, QuasistaticError> {
        let FrictionCone::Pyramid { rays } = settings.friction else { return Err(QuasistaticError::NotForLemke) };
        let mut springs = LimitedSprings::new(problem);
        let mut iterations = 0;
        for _ in 0..=SPRING_ROUNDS_MAX {
            let solution = solve_lcp(springs.problem(problem), rays, &[])?;
            iterations += solution.pivots;
            if springs.update(problem, &solution.v) {
                continue;
            }
            v.copy_from_slice(&solution.v);
            self.contacts = solution.contacts;
            self.bounds = solution.bounds;
            self.rows.clear();
            self.rows.extend(problem.rows.iter().map(|row| row.impulse(row.speed(v)).0));
            self.patches.clear();
            return Ok(Run { engine: Engine::Lemke, fallback: false, iterations, outer_iterations: 0 });
        }
        let status = "effort limits alternate in Lemke's method: use the solver `cone`".to_owned();
        Err(QuasistaticError::NotConverged { iterations, residual: f64::INFINITY, status })
    }

    fn take(&mut self, result: ClarabelResult, v: &mut [f64]) {
        v.copy_from_slice(&result.v);
        self.contacts = result.contacts;
        self.rows = result.rows;
        self.bounds = result.bounds;
        self.patches = result.patches;
    }
}
