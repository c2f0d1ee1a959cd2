//! The project's engine: the augmented Lagrangian of the friction cones, minimised by a semismooth Newton
//! method, island by island.
//!
//!   L(v, gamma) = 1/2 v^T Q v - b^T v + 1/2 |v - v_k|^2_P + rows + patches
//!     + sum_i R_i/2 |P_K(gamma_i - y_i/R_i)|^2
//!
//! Inner iterations minimise L over v: it is convex with a continuous, piecewise smooth gradient, so Newton's
//! method with an exact line search converges from any start. Once the sets of sticking, sliding and open
//! contacts are correct, it converges in one step. Outer iterations set gamma_i <- P_K(gamma_i - y_i/R_i) and
//! v_k <- v. R_i = sigma w_i is so small that one or two outer iterations usually suffice. The proximal term
//! P acts only where Q is zero (objects without mass). Since v_k starts at zero, an undetermined direction
//! stays at rest. Contacts that the warm start keeps open are left out ([`WorkingSet`]).

use super::friction::FrictionLaw;
use super::islands::{Island, Islands, Scalar};
use super::memory::{Memory, Multipliers};
use super::newton::IslandNewton;
use super::working_set::WorkingSet;
use super::{QuasistaticProblem, QuasistaticSettings};
use crate::math::{ByteReader, ByteWriter, BytesError, SpatialForce, Vector3};

/// A diagonal entry of Q below this fraction of the metric's counts as zero [-].
const MASSLESS: f64 = 1e-9;
/// Smallest lever arm in the metric of a rotation that moves a patch \[m\].
const LEVER_ARM: f64 = 0.01;

/// In an island without impedance or mass, the metric is that of a damper that takes up the largest load at
/// this speed [m/s].
const LOAD_SPEED: f64 = 1.0;

/// A second attempt divides the penalties by this factor [-].
const SOFTER: f64 = 1e3;
/// The force of the proximal term in a solution, relative to the forces that must balance [-]: dry friction
/// that sticks carries loads at a millionth of a rad/s, where a small error of the velocity is a large one of
/// the force.
const PROXIMAL_FORCE: f64 = 1e-9;
/// After this number of updates a larger force is accepted: the step's own balance decides.
const PROXIMAL_UPDATES: u32 = 6;
/// A second attempt multiplies the tolerance by this factor [-].
const COARSER: f64 = 1e4;
/// A minimisation that takes more Newton iterations than this follows a narrow curved valley, as at a sliding
/// contact.
const PATIENCE: u32 = 12;
/// Such a minimisation continues with penalties divided by this factor, which widens the valley [-].
const EASE: f64 = 256.0;
/// The number of solves after which all contacts are added to the working set instead of violated ones only.
const ROUNDS_MAX: u32 = 4;

/// The status of the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ConeStatus {
    Converged,
    /// Stopped with this residual [m/s].
    NotConverged {
        residual: f64,
    },
    /// No term resists b along some direction, and b does most of its work there on this velocity.
    Unbounded {
        dof: usize,
    },
}

/// The report of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConeReport {
    pub(super) status: ConeStatus,
    pub(super) iterations: u32,
    pub(super) outer_iterations: u32,
}

/// The status of two islands together.
fn worse(a: ConeStatus, b: ConeStatus) -> ConeStatus {
    match (a, b) {
        (ConeStatus::Converged, other) | (other, ConeStatus::Converged) => other,
        (ConeStatus::NotConverged { residual: a }, ConeStatus::NotConverged { residual: b }) => {
            ConeStatus::NotConverged { residual: a.max(b) }
        }
        (_, unbounded) => unbounded,
    }
}

/// The engine's memory. Numbers by index in the islands are in the order of [`Islands::dofs`].
#[derive(Clone, Debug, Default)]
pub(super) struct ConeEngine {
    pub(super) islands: Islands,
    pub(super) law: FrictionLaw,
    pub(super) newton: IslandNewton,
    memory: Memory,
    /// The multipliers that [`ConeEngine::restore`] brings back.
    kept: Memory,
    /// Whether the proximal term has the stiffness of sticking friction at all joints, and whether it had a
    /// softer one at some joint since [`ConeEngine::keep`].
    firm: bool,
    softened: bool,
    working: WorkingSet,
    /// Velocities and multipliers in the order of the problem, at the start and at the end of a round.
    v: Vec<f64>,
    multipliers: Multipliers,
    /// The metric D by velocity: the diagonal of Q plus the stiffness of rows, or a substitute.
    metric: Vec<f64>,
    /// The number of rows of each velocity and the smallest stiffness of one.
    softest: Vec<(u32, f64)>,
    /// Whether the term of a velocity in Q is a weak resistance.
    light: Vec<bool>,
    /// Squared length of the longest column of a contact or patch, by velocity: its lever arm squared.
    reach: Vec<f64>,
}

impl ConeEngine {
    /// Discards the multipliers of the last step.
    pub(super) fn forget(&mut self) {
        self.memory.clear();
    }
    /// Keeps the multipliers of the last step.
    pub(super) fn keep(&mut self) {
        self.kept.copy(&self.memory);
        (self.firm, self.softened) = (false, false);
    }
    /// Returns to the multipliers that were kept, with a firm proximal term until the next
    /// [`ConeEngine::keep`].
    pub(super) fn restore(&mut self) {
        self.memory.copy(&self.kept);
        self.firm = true;
    }
    /// Whether the proximal term was softer at some joint since [`ConeEngine::keep`].
    pub(super) fn was_softened(&self) -> bool {
        self.softened
    }

    /// Recalls the impulses of the last step for the exact cone; [`ConeEngine::recalled_normal`] then returns
    /// the normal ones.
    pub(super) fn recall(&mut self, problem: &QuasistaticProblem) {
        self.memory.recall(problem, 3, &mut self.multipliers);
    }

    /// The recalled normal impulse of a contact [N s].
    pub(super) fn recalled_normal(&self, index: usize) -> f64 {
        self.multipliers.contact(index)[0]
    }

    /// Writes the multipliers of the last step.
    pub(super) fn write_memory(&self, writer: &mut ByteWriter) {
        self.memory.write(writer);
    }

    /// Reads the multipliers of the last step.
    pub(super) fn read_memory(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.memory = Memory::read(reader)?;
        Ok(())
    }

    /// Solves `problem` from the warm start in `v`; without convergence `v` is the last iterate.
    pub(super) fn solve(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> ConeReport {
        self.law.reset(settings.friction);
        self.start(problem, v);
        if self.memory.is_empty() {
            self.working.take_all(problem);
        } else {
            self.working.predict(problem, v, &self.multipliers);
        }
        let mut report = ConeReport { status: ConeStatus::Converged, iterations: 0, outer_iterations: 0 };
        for round in 1.. {
            let kept = self.solve_loaded(problem, settings);
            report.status = kept.status;
            report.iterations += kept.iterations;
            report.outer_iterations += kept.outer_iterations;
            if self.working.is_full() {
                break;
            }
            if kept.status != ConeStatus::Converged {
                // Contacts that were left out may resist along this direction.
                self.working.take_all(problem);
                self.start(problem, v);
            } else if !self.working.take_violated(problem, &self.v) {
                break;
            } else if round >= ROUNDS_MAX {
                self.working.take_all(problem);
            }
        }
        v.copy_from_slice(&self.v);
        report
    }

    /// Sets up the warm start, in the order of the problem.
    fn start(&mut self, problem: &QuasistaticProblem, v: &[f64]) {
        self.v.clear();
        self.v.extend_from_slice(v);
        self.memory.recall(problem, self.law.stride(), &mut self.multipliers);
    }

    /// Solves with the kept contacts, from the present velocities and multipliers, and stores the solution in
    /// them.
    fn solve_loaded(&mut self, problem: &QuasistaticProblem, settings: &QuasistaticSettings) -> ConeReport {
        self.prepare(problem, settings);
        let mut report = ConeReport { status: ConeStatus::Converged, iterations: 0, outer_iterations: 0 };
        for index in 0..self.islands.islands.len() {
            let island = self.islands.islands[index].clone();
            let (status, iterations, outer) = self.solve_island(problem, &island, settings);
            report.iterations += iterations;
            report.outer_iterations = report.outer_iterations.max(outer);
            report.status = worse(report.status, status);
            if matches!(status, ConeStatus::Unbounded { .. }) {
                break;
            }
        }
        let Self { islands, newton, multipliers, v, .. } = self;
        for (index, dof) in islands.dofs.iter().enumerate() {
            v[*dof as usize] = newton.v[index];
        }
        for (contact, gammas) in islands.contacts.iter().zip(newton.multipliers.chunks_exact(newton.stride)) {
            multipliers.contact_mut(contact.index as usize).copy_from_slice(gammas);
        }
        for (bound, gamma) in islands.bounds.iter().zip(&newton.bound_multipliers) {
            multipliers.bounds[*bound as usize] = *gamma;
        }
        report
    }

    /// Does the same as [`ConeEngine::solve`]. Without convergence it starts again from rest with softer
    /// penalties, whose minimum is easier to find, and solves from there.
    pub(super) fn solve_with_restart(
        &mut self,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> ConeReport {
        let first = self.solve(problem, v, settings);
        if !matches!(first.status, ConeStatus::NotConverged { .. }) {
            return first;
        }
        let softer = QuasistaticSettings {
            penalty_softness: SOFTER * settings.penalty_softness,
            tolerance: COARSER * settings.tolerance,
            ..*settings
        };
        v.fill(0.0);
        self.forget();
        let second = self.solve(problem, v, &softer);
        self.remember(problem);
        let third = self.solve(problem, v, settings);
        ConeReport {
            status: third.status,
            iterations: first.iterations + second.iterations + third.iterations,
            outer_iterations: first.outer_iterations + second.outer_iterations + third.outer_iterations,
        }
    }

    fn prepare(&mut self, problem: &QuasistaticProblem, settings: &QuasistaticSettings) {
        self.islands.build(problem, self.working.kept());
        self.compute_weights(problem);
        let Self { islands, law, newton, multipliers, v, .. } = self;
        newton.reset(islands, multipliers.stride);
        for (index, dof) in islands.dofs.iter().enumerate() {
            let dof = *dof as usize;
            newton.v[index] = v[dof];
            newton.b[index] = problem.linear[dof];
            newton.metric[index] = self.metric[dof];
            let mass = problem.quadratic[dof * problem.size() + dof];
            let massless = mass <= MASSLESS * self.metric[dof];
            // At the border where dry friction begins to slip, the spring of the joint alone moves it: with
            // the stiffness of sticking friction, the proximal term would hold it there.
            let resistance = match self.softest[dof] {
                (2.., softest) if !self.firm => self.metric[dof].min(mass + softest),
                _ => self.metric[dof],
            };
            self.softened |= massless && resistance < self.metric[dof];
            newton.proximal[index] = if massless { settings.proximal * resistance } else { 0.0 };
        }
        for island in &islands.islands {
            let part = islands.part(problem, island, law);
            for (index, contact) in part.contacts() {
                let metric = &newton.metric[island.dofs.clone()];
                let inverse_mass: f64 = part
                    .columns(contact)
                    .iter()
                    .map(|(velocity, column)| column.norm_squared() / metric[*velocity])
                    .sum();
                newton.penalties[index] = 3.0 / (settings.penalty_softness * inverse_mass);
                let gammas = multipliers.contact(contact.index as usize);
                newton.multipliers[index * multipliers.stride..][..multipliers.stride].copy_from_slice(gammas);
            }
            for Scalar { index, number, data, .. } in part.bounds() {
                newton.bound_penalties[index] = self.metric[data.dof as usize] / settings.penalty_softness;
                newton.bound_multipliers[index] = multipliers.bounds[number];
            }
        }
    }

    /// Computes the metric, the weight of each velocity. A velocity for which Q and the rows have no term, or
    /// a weak one, gets the softest weight of its island at its lever arm. Without any weight in the island,
    /// the load gives it. No other island matters.
    fn compute_weights(&mut self, problem: &QuasistaticProblem) {
        let n = problem.size();
        let Self { metric, softest, reach, light, islands, law, .. } = self;
        metric.clear();
        metric.extend((0..n).map(|i| problem.quadratic[i * n + i]));
        softest.clear();
        softest.resize(n, (0, f64::INFINITY));
        for row in &problem.rows {
            let stiffness = row.coefficient * row.coefficient / row.regularization;
            metric[row.dof as usize] += stiffness;
            let (count, least) = &mut softest[row.dof as usize];
            (*count, *least) = (*count + 1, least.min(stiffness));
        }
        light.clear();
        light.resize(n, false);
        problem.light.iter().for_each(|dof| light[*dof as usize] = true);
        if problem.light.is_empty() && metric.iter().all(|weight| *weight > 0.0) {
            return;
        }
        reach.clear();
        reach.resize(n, 0.0);
        for island in &islands.islands {
            let part = islands.part(problem, island, law);
            for (_, contact) in part.contacts() {
                for (index, column) in part.columns(contact) {
                    let reach = &mut reach[part.dof(part.offset() + *index)];
                    *reach = reach.max(column.norm_squared());
                }
            }
            for (_, patch) in part.patches() {
                for (index, column) in part.patch_columns(patch) {
                    let (w, v) = (column.fixed_rows::<3>(0), column.fixed_rows::<3>(3));
                    let reach = &mut reach[part.dof(index)];
                    *reach = reach.max(v.norm_squared()).max(LEVER_ARM * LEVER_ARM * w.norm_squared());
                }
            }
            // With patches, velocities of weak resistance keep the metric of Q, in which the patches' forces
            // are exact.
            let exact = part.patches().next().is_some();
            let is_light = |dof: usize| light[dof] && !exact;
            let mut softest = f64::INFINITY;
            let mut load = 0.0_f64;
            for dof in part.dofs().map(|index| part.dof(index)) {
                let lever = if reach[dof] > 0.0 { reach[dof] } else { 1.0 };
                load = load.max(problem.linear[dof].abs() / lever.sqrt());
                if metric[dof] > 0.0 && !is_light(dof) {
                    softest = softest.min(metric[dof] / lever);
                }
            }
            let load = if load > 0.0 { load / LOAD_SPEED } else { 1.0 };
            let scale = if softest.is_finite() { softest } else { load };
            for dof in part.dofs().map(|index| part.dof(index)) {
                let stand_in = scale * if reach[dof] > 0.0 { reach[dof] } else { 1.0 };
                if is_light(dof) {
                    metric[dof] = metric[dof].max(stand_in);
                } else if metric[dof] <= MASSLESS * stand_in {
                    metric[dof] = stand_in;
                }
            }
        }
    }

    fn solve_island(
        &mut self,
        problem: &QuasistaticProblem,
        island: &Island,
        settings: &QuasistaticSettings,
    ) -> (ConeStatus, u32, u32) {
        let Self { islands, law, newton, .. } = self;
        let part = islands.part(problem, island, law);
        let mut iterations = 0;
        let mut residual = f64::INFINITY;
        let mut factorized = false;
        for outer in 1..=settings.outer_max {
            let room = settings.iterations_max.saturating_sub(iterations);
            let mut inner = newton.minimize(part, room.min(PATIENCE), factorized);
            iterations += inner.iterations;
            let eases = !inner.converged && inner.iterations == PATIENCE;
            if eases {
                newton.scale_penalties(island, 1.0 / EASE);
                let room = settings.iterations_max.saturating_sub(iterations);
                let eased = newton.minimize(part, room, false);
                if eased.converged {
                    newton.update_multipliers(part, settings.proximal);
                }
                newton.scale_penalties(island, EASE);
                let room = room.saturating_sub(eased.iterations);
                inner = newton.minimize(part, room, false);
                iterations += eased.iterations + inner.iterations;
                factorized = false;
            }
            factorized |= inner.iterations > 0;
            if !inner.converged {
                return (ConeStatus::NotConverged { residual: f64::INFINITY }, iterations, outer);
            }
            let moved = newton.update_multipliers(part, settings.proximal);
            residual = moved.constraint.max(moved.proximal);
            // Multipliers from smaller penalties are less accurate and take another update.
            let balances = moved.force <= PROXIMAL_FORCE || outer >= PROXIMAL_UPDATES;
            if residual <= settings.tolerance && balances && !eases {
                return (ConeStatus::Converged, iterations, outer);
            }
            if outer > 2
                && let Some(dof) = newton.falls_without_end(part)
            {
                return (ConeStatus::Unbounded { dof }, iterations, outer);
            }
        }
        (ConeStatus::NotConverged { residual }, iterations, settings.outer_max)
    }

    /// Finds the contacts of the last run that slide at their friction bound, ascending.
    pub(super) fn sliding(&self, problem: &QuasistaticProblem, sliding: &mut Vec<usize>) {
        let Self { islands, law, newton, .. } = self;
        sliding.clear();
        for island in &islands.islands {
            let part = islands.part(problem, island, law);
            for (index, contact) in part.contacts() {
                let multipliers = &newton.multipliers[index * newton.stride..][..newton.stride];
                if law.slides(&contact.law, newton.penalties[index], multipliers, &newton.y[index]) {
                    sliding.push(contact.index as usize);
                }
            }
        }
        sliding.sort_unstable();
    }

    /// Copies the multipliers of another engine, in the order of the problem, as the warm start of the next
    /// step.
    pub(super) fn adopt(&mut self, problem: &QuasistaticProblem, contacts: &[f64], bounds: &[f64]) {
        self.multipliers.contacts.copy_from_slice(contacts);
        self.multipliers.bounds.copy_from_slice(bounds);
        self.remember(problem);
    }

    /// Keeps the multipliers for the next step.
    pub(super) fn remember(&mut self, problem: &QuasistaticProblem) {
        self.memory.store(problem, &self.multipliers);
    }

    /// Copies the impulses of the last run on contacts, rows, bounds and patches, in the order of the
    /// problem.
    pub(super) fn read(
        &self,
        problem: &QuasistaticProblem,
        v: &[f64],
        contacts: &mut Vec<Vector3>,
        rows: &mut Vec<f64>,
        bounds: &mut Vec<f64>,
        patches: &mut Vec<SpatialForce>,
    ) {
        contacts.clear();
        let gammas = self.multipliers.contacts.chunks_exact(self.multipliers.stride);
        contacts.extend(problem.contacts().iter().zip(gammas).map(|(c, gammas)| self.law.total(&c.law(), gammas)));
        rows.clear();
        rows.extend(problem.rows.iter().map(|row| row.impulse(row.speed(v)).0));
        bounds.clear();
        bounds.extend_from_slice(&self.multipliers.bounds);
        patches.clear();
        patches.extend(problem.patches().iter().map(|patch| patch.impulse(&patch.velocity(v))));
    }
}
