//! Semismooth Newton for the augmented Lagrangian of one island.

use super::factor::{factorize, substitute};
use super::friction::FrictionLaw;
use super::islands::{Island, Islands};
use super::{QuasistaticProblem, VelocityBound};
use crate::math::{Matrix6, SpatialVelocity, Vector3, Vector6};
use crate::solvers::line_search::find_zero;

/// Largest |g| in the metric D^-1, relative to the forces that must balance [-].
const GRADIENT: f64 = 1e-10;
/// The limit of Newton iterations of one minimisation; beyond it, rounding prevents convergence.
const ITERATIONS_MAX: u32 = 80;
/// Iterations without halving the residual after which a small residual counts as rounding.
const STALE_MAX: u32 = 3;
/// A line search ends when the slope has fallen to this part of its initial value [-].
const SLOPE_REDUCTION: f64 = 0.05;
/// A slope below this part of its summed terms is rounding [-].
const SLOPE_ROUNDING: f64 = 1e-15;
/// A direction counts as unconstrained up to this part of its size [-].
const RECESSION: f64 = 1e-6;

/// The end of a minimisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerReport {
    pub(super) converged: bool,
    pub(super) iterations: u32,
}

/// The change in an outer iteration [m/s].
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) constraint: f64,
    pub(super) proximal: f64,
}

/// Numbers of all islands in the order of the islands, and the scratch memory of one.
#[derive(Clone, Debug, Default)]
pub(super) struct IslandNewton {
    pub(super) v: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) metric: Vec<f64>,
    pub(super) proximal: Vec<f64>,
    pub(super) penalties: Vec<f64>,
    pub(super) multipliers: Vec<f64>,
    pub(super) stride: usize,
    pub(super) bound_penalties: Vec<f64>,
    pub(super) bound_multipliers: Vec<f64>,
    /// v_k.
    center: Vec<f64>,
    /// The step of the last outer iteration: v - v_k.
    drift: Vec<f64>,
    /// y of each contact.
    pub(super) y: Vec<Vector3>,
    dy: Vec<Vector3>,
    /// The impulse of each contact at the last trial point of a line search.
    impulses: Vec<Vector3>,
    /// Q v - b + P (v - v_k).
    smooth: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// (Q + P) direction.
    smooth_change: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    patch_velocities: Vec<Vector6>,
    patch_changes: Vec<Vector6>,
    patch_slopes: Vec<Matrix6>,
    /// (force scale)^2 of the constraints, in the metric D^-1.
    force_scale: f64,
}

fn refill(buffer: &mut Vec<f64>, len: usize) {
    buffer.clear();
    buffer.resize(len, 0.0);
}

/// The impulse of a bound at speed v, and minus its derivative: the augmented Lagrangian of lower <= v <=
/// upper.
fn bound_impulse(bound: &VelocityBound, penalty: f64, multiplier: f64, v: f64) -> (f64, f64) {
    let low = multiplier + penalty * (bound.lower - v);
    let high = multiplier + penalty * (bound.upper - v);
    if low > 0.0 {
        (low, penalty)
    } else if high < 0.0 {
        (high, penalty)
    } else {
        (0.0, 0.0)
    }
}

impl IslandNewton {
    /// Allocates memory for the islands; multipliers start at zero.
    pub(super) fn reset(&mut self, islands: &Islands, stride: usize) {
        let (n, contacts) = (islands.dofs.len(), islands.contacts.len());
        for buffer in [
            &mut self.v,
            &mut self.b,
            &mut self.metric,
            &mut self.proximal,
            &mut self.center,
            &mut self.drift,
            &mut self.smooth,
            &mut self.gradient,
            &mut self.direction,
            &mut self.smooth_change,
        ] {
            refill(buffer, n);
        }
        refill(&mut self.penalties, contacts);
        refill(&mut self.multipliers, contacts * stride);
        refill(&mut self.bound_penalties, islands.bounds.len());
        refill(&mut self.bound_multipliers, islands.bounds.len());
        self.stride = stride;
        for buffer in [&mut self.y, &mut self.dy, &mut self.impulses] {
            buffer.clear();
            buffer.resize(contacts, Vector3::zeros());
        }
        for buffer in [&mut self.patch_velocities, &mut self.patch_changes] {
            buffer.clear();
            buffer.resize(islands.patches.len(), Vector6::zeros());
        }
        self.patch_slopes.clear();
        self.patch_slopes.resize(islands.patches.len(), Matrix6::zeros());
    }

    /// Minimises the augmented Lagrangian over the island's velocities. With `factorized`, the first
    /// direction uses the factor of this island's last minimisation, which is nearly correct after an update
    /// of the multipliers.
    pub(super) fn minimize(
        &mut self,
        problem: &QuasistaticProblem,
        islands: &Islands,
        island: &Island,
        law: &FrictionLaw,
        iterations_max: u32,
        factorized: bool,
    ) -> InnerReport {
        self.start(problem, islands, island);
        self.find_impulses(islands, island, law);
        self.evaluate(problem, islands, island);
        let mut iterations = 0;
        let (mut best, mut stale) = (f64::INFINITY, 0);
        loop {
            let residual = self.residual(island);
            // after fast convergence has ended in rounding, more iterations only fluctuate
            stale = if residual > 0.5 * best { stale + 1 } else { 0 };
            best = best.min(residual);
            let trembles = stale >= STALE_MAX && residual <= GRADIENT.sqrt();
            if residual <= GRADIENT || trembles {
                return InnerReport { converged: true, iterations };
            }
            if iterations >= iterations_max.min(ITERATIONS_MAX)
                || (!(factorized && iterations == 0) && self.factorize_hessian(problem, islands, island, law).is_err())
            {
                return InnerReport { converged: false, iterations };
            }
            self.find_direction(islands, island);
            iterations += 1;
            if !self.line_search(problem, islands, island, law) {
                // no descent is possible: rounding, if the residual is small
                return InnerReport { converged: residual <= GRADIENT.sqrt(), iterations };
            }
            self.evaluate(problem, islands, island);
        }
    }

    /// Multiplies the island's penalties by a power of two.
    pub(super) fn scale_penalties(&mut self, island: &Island, factor: f64) {
        let contacts = &mut self.penalties[island.contacts.clone()];
        let bounds = &mut self.bound_penalties[island.bounds.clone()];
        contacts.iter_mut().chain(bounds).for_each(|penalty| *penalty *= factor);
    }

    /// The contacts' impulses at y.
    fn find_impulses(&mut self, islands: &Islands, island: &Island, law: &FrictionLaw) {
        for contact in island.contacts.clone() {
            let multipliers = &self.multipliers[contact * self.stride..][..self.stride];
            let friction = islands.contacts[contact].friction;
            self.impulses[contact] = law.impulse(friction, self.penalties[contact], multipliers, &self.y[contact]);
        }
    }

    /// Recomputes everything that is linear in v: y, the patches' velocities and the smooth part of the
    /// gradient.
    fn start(&mut self, problem: &QuasistaticProblem, islands: &Islands, island: &Island) {
        let offset = island.dofs.start;
        for place in island.dofs.clone() {
            let Q_v: f64 =
                islands.quadratic_row(place).iter().map(|(column, q)| q * self.v[offset + *column as usize]).sum();
            self.smooth[place] = Q_v - self.b[place] + self.proximal[place] * (self.v[place] - self.center[place]);
        }
        for contact in island.contacts.clone() {
            let mut y = Vector3::new(islands.contacts[contact].gap_rate, 0.0, 0.0);
            for (place, column) in islands.columns(&islands.contacts[contact]) {
                y += column * self.v[offset + *place];
            }
            self.y[contact] = y;
        }
        for patch in island.patches.clone() {
            self.patch_velocities[patch] = Self::patch_product(problem, islands, patch, &self.v);
        }
    }

    /// Updates y, the patches' velocities and the slopes to v and the multipliers of a solution.
    pub(super) fn evaluate_at_solution(&mut self, problem: &QuasistaticProblem, islands: &Islands, island: &Island) {
        self.start(problem, islands, island);
        for patch in island.patches.clone() {
            let block = &problem.patches()[islands.patches[patch] as usize];
            let V = SpatialVelocity::from_vector(&self.patch_velocities[patch]);
            block.impulse_and_hessian(&V, &mut self.patch_slopes[patch]);
        }
    }

    fn patch_product(problem: &QuasistaticProblem, islands: &Islands, patch: usize, x: &[f64]) -> Vector6 {
        let block = &problem.patches()[islands.patches[patch] as usize];
        let mut V = Vector6::zeros();
        for (dof, column) in block.jacobian.dofs.iter().zip(&block.jacobian.columns) {
            V += column * x[islands.places[*dof as usize] as usize];
        }
        V
    }

    /// The gradient at v, the contacts' impulses and the patches' velocities.
    fn evaluate(&mut self, problem: &QuasistaticProblem, islands: &Islands, island: &Island) {
        let offset = island.dofs.start;
        let gradient = &mut self.gradient[island.dofs.clone()];
        gradient.fill(0.0);
        for contact in island.contacts.clone() {
            let gamma = self.impulses[contact];
            if gamma.x != 0.0 {
                for (place, column) in islands.columns(&islands.contacts[contact]) {
                    gradient[*place] -= column.dot(&gamma);
                }
            }
        }
        for bound in island.bounds.clone() {
            let data = &problem.bounds[islands.bounds[bound] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let (gamma, _) =
                bound_impulse(data, self.bound_penalties[bound], self.bound_multipliers[bound], self.v[place]);
            gradient[place - offset] -= gamma;
        }
        for row in island.rows.clone() {
            let data = &problem.rows[islands.rows[row] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let (gamma, _) = data.impulse(data.coefficient * self.v[place]);
            gradient[place - offset] -= data.coefficient * gamma;
        }
        for patch in island.patches.clone() {
            let block = &problem.patches()[islands.patches[patch] as usize];
            let V = SpatialVelocity::from_vector(&self.patch_velocities[patch]);
            let gamma = block.impulse_and_hessian(&V, &mut self.patch_slopes[patch]).to_vector();
            for (dof, column) in block.jacobian.dofs.iter().zip(&block.jacobian.columns) {
                gradient[islands.places[*dof as usize] as usize - offset] -= column.dot(&gamma);
            }
        }
        let (mut constraint_forces, mut other_forces) = (0.0, 0.0);
        for place in island.dofs.clone() {
            let (gradient, metric) = (&mut self.gradient[place], self.metric[place]);
            constraint_forces += *gradient * *gradient / metric;
            other_forces += self.b[place] * self.b[place] / metric;
            *gradient += self.smooth[place];
        }
        self.force_scale = f64::max(constraint_forces, other_forces);
    }

    fn residual(&self, island: &Island) -> f64 {
        let squared: f64 =
            island.dofs.clone().map(|place| self.gradient[place] * self.gradient[place] / self.metric[place]).sum();
        if squared == 0.0 {
            return 0.0;
        }
        (squared / self.force_scale).sqrt()
    }

    /// Adds the Hessian of the smooth potentials and of the constraints at the present point, and factorizes
    /// it.
    pub(super) fn factorize_hessian(
        &mut self,
        problem: &QuasistaticProblem,
        islands: &Islands,
        island: &Island,
        law: &FrictionLaw,
    ) -> Result<(), super::factor::NotPositive> {
        let offset = island.dofs.start;
        let n = island.dofs.len();
        refill(&mut self.hessian, n * n);
        let hessian = &mut self.hessian;
        for place in island.dofs.clone() {
            let row = place - offset;
            for (column, q) in islands.quadratic_row(place) {
                if *column as usize <= row {
                    hessian[row * n + *column as usize] += q;
                }
            }
            hessian[row * n + row] += self.proximal[place];
        }
        for contact in island.contacts.clone() {
            let data = &islands.contacts[contact];
            let multipliers = &self.multipliers[contact * self.stride..][..self.stride];
            if let Some(slope) = law.slope(data.friction, self.penalties[contact], multipliers, &self.y[contact]) {
                let columns = islands.columns(data);
                for (a, (row, column)) in columns.iter().enumerate() {
                    let weighted = slope * column;
                    let row = &mut hessian[*row * n..][..n];
                    for (other, other_column) in &columns[..=a] {
                        row[*other] += weighted.dot(other_column);
                    }
                }
            }
        }
        for bound in island.bounds.clone() {
            let data = &problem.bounds[islands.bounds[bound] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let (_, slope) =
                bound_impulse(data, self.bound_penalties[bound], self.bound_multipliers[bound], self.v[place]);
            hessian[(place - offset) * (n + 1)] += slope;
        }
        for row in island.rows.clone() {
            let data = &problem.rows[islands.rows[row] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let (_, slope) = data.impulse(data.coefficient * self.v[place]);
            hessian[(place - offset) * (n + 1)] += slope * data.coefficient * data.coefficient;
        }
        for patch in island.patches.clone() {
            let block = &problem.patches()[islands.patches[patch] as usize];
            for (a, (dof, column)) in block.jacobian.dofs.iter().zip(&block.jacobian.columns).enumerate() {
                let row = islands.places[*dof as usize] as usize - offset;
                let weighted = self.patch_slopes[patch] * column;
                for (other_dof, other) in block.jacobian.dofs[..=a].iter().zip(&block.jacobian.columns) {
                    let other_row = islands.places[*other_dof as usize] as usize - offset;
                    hessian[row.max(other_row) * n + row.min(other_row)] += weighted.dot(other);
                }
            }
        }
        factorize(hessian, &islands.first[island.dofs.clone()])
    }

    /// The Newton direction with the present factor.
    fn find_direction(&mut self, islands: &Islands, island: &Island) {
        let direction = &mut self.direction[island.dofs.clone()];
        for (direction, gradient) in direction.iter_mut().zip(&self.gradient[island.dofs.clone()]) {
            *direction = -gradient;
        }
        substitute(&self.hessian, &islands.first[island.dofs.clone()], direction);
    }

    /// Moves along the direction until the slope of the cost has nearly vanished, and evaluates the contacts'
    /// impulses there. False if no descent is possible.
    fn line_search(
        &mut self,
        problem: &QuasistaticProblem,
        islands: &Islands,
        island: &Island,
        law: &FrictionLaw,
    ) -> bool {
        let offset = island.dofs.start;
        let (mut slope_0, mut size, mut linear, mut curvature) = (0.0, 0.0, 0.0, 0.0);
        for place in island.dofs.clone() {
            let direction = self.direction[place];
            slope_0 += self.gradient[place] * direction;
            size += (self.smooth[place] * direction).abs();
            let Q_d: f64 = islands
                .quadratic_row(place)
                .iter()
                .map(|(column, q)| q * self.direction[offset + *column as usize])
                .sum();
            self.smooth_change[place] = Q_d + self.proximal[place] * direction;
            linear += self.smooth[place] * direction;
            curvature += self.smooth_change[place] * direction;
        }
        if slope_0 >= -SLOPE_ROUNDING * size || slope_0.is_nan() {
            return false;
        }
        for contact in island.contacts.clone() {
            let mut dy = Vector3::zeros();
            for (place, column) in islands.columns(&islands.contacts[contact]) {
                dy += column * self.direction[offset + *place];
            }
            self.dy[contact] = dy;
        }
        for patch in island.patches.clone() {
            self.patch_changes[patch] = Self::patch_product(problem, islands, patch, &self.direction);
        }
        let mut slope = |alpha: f64| self.slope_at(problem, islands, island, law, linear, curvature, alpha);
        let (small, slope_1) = (SLOPE_REDUCTION * slope_0.abs(), slope(1.0));
        let alpha = if slope_1 <= small { 1.0 } else { find_zero(slope_0, slope_1, small, slope) };
        for place in island.dofs.clone() {
            self.v[place] += alpha * self.direction[place];
            self.smooth[place] += alpha * self.smooth_change[place];
        }
        for contact in island.contacts.clone() {
            self.y[contact] += self.dy[contact] * alpha;
        }
        for patch in island.patches.clone() {
            self.patch_velocities[patch] += self.patch_changes[patch] * alpha;
        }
        true
    }

    #[allow(clippy::too_many_arguments, reason = "the closure of one line search, written out")]
    fn slope_at(
        &mut self,
        problem: &QuasistaticProblem,
        islands: &Islands,
        island: &Island,
        law: &FrictionLaw,
        linear: f64,
        curvature: f64,
        alpha: f64,
    ) -> f64 {
        let mut slope = linear + alpha * curvature;
        for contact in island.contacts.clone() {
            let multipliers = &self.multipliers[contact * self.stride..][..self.stride];
            let dy = &self.dy[contact];
            let y = self.y[contact] + dy * alpha;
            let friction = islands.contacts[contact].friction;
            let gamma = law.impulse(friction, self.penalties[contact], multipliers, &y);
            slope -= gamma.dot(dy);
            self.impulses[contact] = gamma;
        }
        for bound in island.bounds.clone() {
            let data = &problem.bounds[islands.bounds[bound] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let v = self.v[place] + alpha * self.direction[place];
            let (gamma, _) = bound_impulse(data, self.bound_penalties[bound], self.bound_multipliers[bound], v);
            slope -= gamma * self.direction[place];
        }
        for row in island.rows.clone() {
            let data = &problem.rows[islands.rows[row] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let u = data.coefficient * (self.v[place] + alpha * self.direction[place]);
            slope -= data.impulse(u).0 * data.coefficient * self.direction[place];
        }
        for patch in island.patches.clone() {
            let V = self.patch_velocities[patch] + self.patch_changes[patch] * alpha;
            let block = &problem.patches()[islands.patches[patch] as usize];
            slope -= block.impulse(&SpatialVelocity::from_vector(&V)).to_vector().dot(&self.patch_changes[patch]);
        }
        slope
    }

    /// gamma <- P_K(gamma - y/R), v_k <- v.
    pub(super) fn update_multipliers(
        &mut self,
        problem: &QuasistaticProblem,
        islands: &Islands,
        island: &Island,
        law: &FrictionLaw,
        proximal: f64,
    ) -> Moved {
        let mut moved = Moved { constraint: 0.0, proximal: 0.0 };
        for contact in island.contacts.clone() {
            let multipliers = &mut self.multipliers[contact * self.stride..][..self.stride];
            let friction = islands.contacts[contact].friction;
            let change = law.update(friction, self.penalties[contact], multipliers, &self.y[contact]);
            moved.constraint = moved.constraint.max(change);
        }
        for bound in island.bounds.clone() {
            let data = &problem.bounds[islands.bounds[bound] as usize];
            let place = islands.places[data.dof as usize] as usize;
            let penalty = self.bound_penalties[bound];
            let multiplier = &mut self.bound_multipliers[bound];
            let (gamma, _) = bound_impulse(data, penalty, *multiplier, self.v[place]);
            moved.constraint = moved.constraint.max((gamma - *multiplier).abs() / penalty);
            *multiplier = gamma;
        }
        for place in island.dofs.clone() {
            self.drift[place] = self.v[place] - self.center[place];
            self.center[place] = self.v[place];
            if self.proximal[place] > 0.0 {
                moved.proximal = moved.proximal.max(proximal * self.drift[place].abs());
            }
        }
        moved
    }

    /// Whether the cost decreases without bound along the last outer step d: Q d = 0, b . d > 0, and no
    /// constraint stops it. Returns the velocity on which b does most work.
    pub(super) fn falls_without_end(
        &self,
        problem: &QuasistaticProblem,
        islands: &Islands,
        island: &Island,
    ) -> Option<usize> {
        let offset = island.dofs.start;
        let size = island.dofs.clone().map(|p| self.drift[p].powi(2) * self.metric[p]).sum::<f64>().sqrt();
        if size == 0.0 {
            return None;
        }
        let mut work = (0.0, 0);
        let mut total = 0.0;
        for place in island.dofs.clone() {
            let Q_d: f64 = (islands.quadratic_row(place).iter())
                .map(|(column, q)| q * self.drift[offset + *column as usize])
                .sum();
            if Q_d.abs() > RECESSION * size * self.metric[place].sqrt() {
                return None;
            }
            let part = self.b[place] * self.drift[place];
            total += part;
            if part > work.0 {
                work = (part, place);
            }
        }
        for contact in island.contacts.clone() {
            let data = &islands.contacts[contact];
            let mut d = Vector3::zeros();
            let mut longest = 0.0_f64;
            for (place, column) in islands.columns(data) {
                let change = column * self.drift[offset + *place];
                longest = longest.max(change.norm());
                d += change;
            }
            if d.x < data.friction * d.yz().norm() - RECESSION * longest {
                return None;
            }
        }
        let stops = |dof: u32| {
            let place = islands.places[dof as usize] as usize;
            self.drift[place].abs() > RECESSION * size / self.metric[place].sqrt()
        };
        let held = island.bounds.clone().any(|bound| stops(problem.bounds[islands.bounds[bound] as usize].dof))
            || island.rows.clone().any(|row| stops(problem.rows[islands.rows[row] as usize].dof))
            || !island.patches.is_empty();
        (!held && total > 0.0).then(|| islands.dofs[work.1] as usize)
    }
}
