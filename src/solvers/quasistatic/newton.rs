//! A semismooth Newton method for the augmented Lagrangian of one island.

use super::VelocityBound;
use super::islands::{Island, Islands, Part, Scalar};
use crate::math::dense::{NotPositiveDefinite, cholesky_in_envelope, cholesky_solve_in_envelope};
use crate::math::{Matrix6, SpatialVelocity, Vector3, Vector6};
use crate::solvers::PatchBlock;
use crate::solvers::line_search::find_zero;

/// Largest |g| in the metric D^-1, relative to the forces that must balance [-].
const GRADIENT: f64 = 1e-10;
/// A spring that has reached its target has no force, but this zero is the difference of two large numbers.
/// This fraction of them counts in the scale of forces [-]. Times [`GRADIENT`] it is a few units of rounding.
const CANCELLED: f64 = 1e-5;
/// The largest number of Newton iterations of one minimisation.
const ITERATIONS_MAX: u32 = 80;
/// After this number of iterations that do not halve the residual, a small residual counts as rounding.
const STALE_MAX: u32 = 3;
/// A line search ends when the slope has fallen to this fraction of its initial value [-].
const SLOPE_REDUCTION: f64 = 0.05;
/// A slope below this fraction of its summed terms is rounding [-].
const SLOPE_ROUNDING: f64 = 1e-15;
/// Along a direction that nothing resists, forces and gaps change by at most this fraction of its size [-].
const RECESSION: f64 = 1e-6;

/// The end of a minimisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerReport {
    pub(super) converged: bool,
    pub(super) iterations: u32,
}

/// The largest changes in an outer iteration, of constraints and of velocities under the proximal term [m/s],
/// and the force of that term relative to the forces that must balance [-].
#[derive(Clone, Copy, Debug)]
pub(super) struct LargestChange {
    pub(super) constraint: f64,
    pub(super) proximal: f64,
    pub(super) force: f64,
}

/// The numbers of all islands, in the order of the islands, and the scratch memory of one island.
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
    /// Square of the force scale of the residual, in the metric D^-1.
    force_scale: f64,
}

fn refill(buffer: &mut Vec<f64>, len: usize) {
    buffer.clear();
    buffer.resize(len, 0.0);
}

/// The impulse of a bound at speed v, and minus its derivative, from the augmented Lagrangian of lower <= v
/// <= upper.
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
    pub(super) fn minimize(&mut self, part: Part<'_>, iterations_max: u32, factorized: bool) -> InnerReport {
        self.start(part);
        self.find_impulses(part);
        self.evaluate(part);
        let mut iterations = 0;
        let (mut best, mut stale) = (f64::INFINITY, 0);
        loop {
            let residual = self.residual(part);
            // After fast convergence has ended in rounding, more iterations only fluctuate.
            stale = if residual > 0.5 * best { stale + 1 } else { 0 };
            best = best.min(residual);
            let trembles = stale >= STALE_MAX && residual <= GRADIENT.sqrt();
            if residual <= GRADIENT || trembles {
                return InnerReport { converged: true, iterations };
            }
            if iterations >= iterations_max.min(ITERATIONS_MAX)
                || (!(factorized && iterations == 0) && self.factorize_hessian(part).is_err())
            {
                return InnerReport { converged: false, iterations };
            }
            self.find_direction(part);
            iterations += 1;
            if !self.line_search(part) {
                // No descent is possible: rounding, if the residual is small.
                return InnerReport { converged: residual <= GRADIENT.sqrt(), iterations };
            }
            self.evaluate(part);
        }
    }

    /// Multiplies the island's penalties by `factor`, a power of two.
    pub(super) fn scale_penalties(&mut self, island: &Island, factor: f64) {
        let contacts = &mut self.penalties[island.contacts.clone()];
        let bounds = &mut self.bound_penalties[island.bounds.clone()];
        contacts.iter_mut().chain(bounds).for_each(|penalty| *penalty *= factor);
    }

    /// Computes the contacts' impulses at y.
    fn find_impulses(&mut self, part: Part<'_>) {
        for (index, contact) in part.contacts() {
            let multipliers = &self.multipliers[index * self.stride..][..self.stride];
            let (penalty, y) = (self.penalties[index], &self.y[index]);
            self.impulses[index] = part.law().impulse(&contact.law, penalty, multipliers, y);
        }
    }

    /// Recomputes everything that is linear in v: y, the patches' velocities and the smooth part of the
    /// gradient.
    fn start(&mut self, part: Part<'_>) {
        let offset = part.offset();
        for index in part.dofs() {
            let Q_v: f64 =
                part.quadratic_row(index).iter().map(|(column, q)| q * self.v[offset + *column as usize]).sum();
            self.smooth[index] = Q_v - self.b[index] + self.proximal[index] * (self.v[index] - self.center[index]);
        }
        for (index, contact) in part.contacts() {
            let mut y = contact.offset;
            for (velocity, column) in part.columns(contact) {
                y += column * self.v[offset + *velocity];
            }
            self.y[index] = y;
        }
        for (index, patch) in part.patches() {
            self.patch_velocities[index] = Self::patch_product(part, patch, &self.v);
        }
    }

    /// Updates y, the patches' velocities and the patches' slopes to the velocities of a solution.
    pub(super) fn evaluate_at_solution(&mut self, part: Part<'_>) {
        self.start(part);
        for (index, patch) in part.patches() {
            let V = SpatialVelocity::from_vector(&self.patch_velocities[index]);
            patch.impulse_and_hessian(&V, &mut self.patch_slopes[index]);
        }
    }

    fn patch_product(part: Part<'_>, patch: &PatchBlock, x: &[f64]) -> Vector6 {
        let mut V = Vector6::zeros();
        for (velocity, column) in part.patch_columns(patch) {
            V += column * x[velocity];
        }
        V
    }

    /// Computes the gradient at v from the contacts' impulses and the patches' velocities.
    fn evaluate(&mut self, part: Part<'_>) {
        let offset = part.offset();
        let gradient = &mut self.gradient[part.dofs()];
        gradient.fill(0.0);
        for (index, contact) in part.contacts() {
            let gamma = self.impulses[index];
            if gamma != Vector3::zeros() {
                for (velocity, column) in part.columns(contact) {
                    gradient[*velocity] -= column.dot(&gamma);
                }
            }
        }
        for Scalar { index, velocity, data, .. } in part.bounds() {
            let (penalty, multiplier) = (self.bound_penalties[index], self.bound_multipliers[index]);
            gradient[velocity - offset] -= bound_impulse(data, penalty, multiplier, self.v[velocity]).0;
        }
        // Forces that cancel each other still count in the scale of the residual.
        let held = part.dofs().zip(gradient.iter()).map(|(index, g)| g * g / self.metric[index]).sum::<f64>();
        let mut driven = 0.0;
        for Scalar { velocity, data, .. } in part.rows() {
            let speed = data.coefficient * self.v[velocity];
            let (gamma, stiffness) = data.impulse(speed);
            gradient[velocity - offset] -= data.coefficient * gamma;
            let size = gamma.abs().max(CANCELLED * stiffness * speed.abs());
            driven += (data.coefficient * size).powi(2) / self.metric[velocity];
        }
        for (index, patch) in part.patches() {
            let V = SpatialVelocity::from_vector(&self.patch_velocities[index]);
            let gamma = patch.impulse_and_hessian(&V, &mut self.patch_slopes[index]).to_vector();
            for (velocity, column) in part.patch_columns(patch) {
                gradient[velocity - offset] -= column.dot(&gamma);
            }
        }
        let (mut constraint_forces, mut other_forces) = (0.0, 0.0);
        for index in part.dofs() {
            let (gradient, metric) = (&mut self.gradient[index], self.metric[index]);
            constraint_forces += *gradient * *gradient / metric;
            other_forces += self.b[index] * self.b[index] / metric;
            *gradient += self.smooth[index];
        }
        self.force_scale = f64::max(constraint_forces, other_forces).max(held).max(driven);
    }

    fn residual(&self, part: Part<'_>) -> f64 {
        let squared: f64 =
            part.dofs().map(|index| self.gradient[index] * self.gradient[index] / self.metric[index]).sum();
        if squared == 0.0 {
            return 0.0;
        }
        (squared / self.force_scale).sqrt()
    }

    /// Assembles the Hessian of the smooth potentials and of the constraints at the present point, and
    /// factorizes it.
    pub(super) fn factorize_hessian(&mut self, part: Part<'_>) -> Result<(), NotPositiveDefinite> {
        let offset = part.offset();
        let n = part.dofs().len();
        refill(&mut self.hessian, n * n);
        let hessian = &mut self.hessian;
        for index in part.dofs() {
            let row = index - offset;
            for (column, q) in part.quadratic_row(index) {
                if *column as usize <= row {
                    hessian[row * n + *column as usize] += q;
                }
            }
            hessian[row * n + row] += self.proximal[index];
        }
        for (index, contact) in part.contacts() {
            let multipliers = &self.multipliers[index * self.stride..][..self.stride];
            let (penalty, y) = (self.penalties[index], &self.y[index]);
            if let Some(slope) = part.law().slope(&contact.law, penalty, multipliers, y) {
                let columns = part.columns(contact);
                for (a, (row, column)) in columns.iter().enumerate() {
                    let weighted = slope * column;
                    let row = &mut hessian[*row * n..][..n];
                    for (other, other_column) in &columns[..=a] {
                        row[*other] += weighted.dot(other_column);
                    }
                }
            }
        }
        for Scalar { index, velocity, data, .. } in part.bounds() {
            let (penalty, multiplier) = (self.bound_penalties[index], self.bound_multipliers[index]);
            hessian[(velocity - offset) * (n + 1)] += bound_impulse(data, penalty, multiplier, self.v[velocity]).1;
        }
        for Scalar { velocity, data, .. } in part.rows() {
            let (_, slope) = data.impulse(data.coefficient * self.v[velocity]);
            hessian[(velocity - offset) * (n + 1)] += slope * data.coefficient * data.coefficient;
        }
        for (index, patch) in part.patches() {
            let columns = part.patch_columns(patch).map(|(velocity, column)| (velocity - offset, column));
            for (a, (row, column)) in columns.clone().enumerate() {
                let weighted = self.patch_slopes[index] * column;
                for (other_row, other) in columns.clone().take(a + 1) {
                    hessian[row.max(other_row) * n + row.min(other_row)] += weighted.dot(other);
                }
            }
        }
        cholesky_in_envelope(hessian, part.first())
    }

    /// Computes the Newton direction with the present factor.
    fn find_direction(&mut self, part: Part<'_>) {
        let direction = &mut self.direction[part.dofs()];
        for (direction, gradient) in direction.iter_mut().zip(&self.gradient[part.dofs()]) {
            *direction = -gradient;
        }
        cholesky_solve_in_envelope(&self.hessian, part.first(), direction);
    }

    /// Moves along the direction until the slope of the cost has nearly vanished, and evaluates the contacts'
    /// impulses there. Returns false if no descent is possible.
    fn line_search(&mut self, part: Part<'_>) -> bool {
        let offset = part.offset();
        let (mut slope_0, mut size, mut linear, mut curvature) = (0.0, 0.0, 0.0, 0.0);
        for index in part.dofs() {
            let direction = self.direction[index];
            slope_0 += self.gradient[index] * direction;
            size += (self.smooth[index] * direction).abs();
            let Q_d: f64 =
                part.quadratic_row(index).iter().map(|(column, q)| q * self.direction[offset + *column as usize]).sum();
            self.smooth_change[index] = Q_d + self.proximal[index] * direction;
            linear += self.smooth[index] * direction;
            curvature += self.smooth_change[index] * direction;
        }
        if slope_0 >= -SLOPE_ROUNDING * size || slope_0.is_nan() {
            return false;
        }
        for (index, contact) in part.contacts() {
            let mut dy = Vector3::zeros();
            for (velocity, column) in part.columns(contact) {
                dy += column * self.direction[offset + *velocity];
            }
            self.dy[index] = dy;
        }
        for (index, patch) in part.patches() {
            self.patch_changes[index] = Self::patch_product(part, patch, &self.direction);
        }
        let mut slope = |alpha: f64| self.slope_at(part, linear, curvature, alpha);
        let (small, slope_1) = (SLOPE_REDUCTION * slope_0.abs(), slope(1.0));
        let alpha = if slope_1 <= small { 1.0 } else { find_zero(slope_0, slope_1, small, slope) };
        for index in part.dofs() {
            self.v[index] += alpha * self.direction[index];
            self.smooth[index] += alpha * self.smooth_change[index];
        }
        for (index, _) in part.contacts() {
            self.y[index] += self.dy[index] * alpha;
        }
        for (index, _) in part.patches() {
            self.patch_velocities[index] += self.patch_changes[index] * alpha;
        }
        true
    }

    /// The slope of the cost at `alpha` along the direction; `linear` and `curvature` are those of its smooth
    /// part.
    fn slope_at(&mut self, part: Part<'_>, linear: f64, curvature: f64, alpha: f64) -> f64 {
        let mut slope = linear + alpha * curvature;
        for (index, contact) in part.contacts() {
            let multipliers = &self.multipliers[index * self.stride..][..self.stride];
            let dy = &self.dy[index];
            let y = self.y[index] + dy * alpha;
            let gamma = part.law().impulse(&contact.law, self.penalties[index], multipliers, &y);
            slope -= gamma.dot(dy);
            self.impulses[index] = gamma;
        }
        for Scalar { index, velocity, data, .. } in part.bounds() {
            let v = self.v[velocity] + alpha * self.direction[velocity];
            let (gamma, _) = bound_impulse(data, self.bound_penalties[index], self.bound_multipliers[index], v);
            slope -= gamma * self.direction[velocity];
        }
        for Scalar { velocity, data, .. } in part.rows() {
            let u = data.coefficient * (self.v[velocity] + alpha * self.direction[velocity]);
            slope -= data.impulse(u).0 * data.coefficient * self.direction[velocity];
        }
        for (index, patch) in part.patches() {
            let V = self.patch_velocities[index] + self.patch_changes[index] * alpha;
            slope -= patch.impulse(&SpatialVelocity::from_vector(&V)).to_vector().dot(&self.patch_changes[index]);
        }
        slope
    }

    /// Updates the multipliers and the centre: gamma <- P_K(gamma - y/R), v_k <- v.
    pub(super) fn update_multipliers(&mut self, part: Part<'_>, proximal: f64) -> LargestChange {
        let mut moved = LargestChange { constraint: 0.0, proximal: 0.0, force: 0.0 };
        let mut missing = 0.0;
        for (index, contact) in part.contacts() {
            let multipliers = &mut self.multipliers[index * self.stride..][..self.stride];
            let change = part.law().update(&contact.law, self.penalties[index], multipliers, &self.y[index]);
            moved.constraint = moved.constraint.max(change);
        }
        for Scalar { index, velocity, data, .. } in part.bounds() {
            let penalty = self.bound_penalties[index];
            let multiplier = &mut self.bound_multipliers[index];
            let (gamma, _) = bound_impulse(data, penalty, *multiplier, self.v[velocity]);
            moved.constraint = moved.constraint.max((gamma - *multiplier).abs() / penalty);
            *multiplier = gamma;
        }
        for index in part.dofs() {
            self.drift[index] = self.v[index] - self.center[index];
            self.center[index] = self.v[index];
            if self.proximal[index] > 0.0 {
                moved.proximal = moved.proximal.max(proximal * self.drift[index].abs());
                missing += (self.proximal[index] * self.drift[index]).powi(2) / self.metric[index];
            }
        }
        if missing > 0.0 {
            moved.force = (missing / self.force_scale).sqrt();
        }
        moved
    }

    /// Checks whether the cost decreases without bound along the last outer step d: Q d = 0, the work b . d
    /// exceeds that of bounded friction, and no constraint stops it. If so, returns the velocity on which b
    /// does most work.
    pub(super) fn falls_without_end(&self, part: Part<'_>) -> Option<usize> {
        let offset = part.offset();
        let size = part.dofs().map(|index| self.drift[index].powi(2) * self.metric[index]).sum::<f64>().sqrt();
        let load = part.dofs().map(|index| self.b[index].powi(2) / self.metric[index]).sum::<f64>().sqrt();
        if size == 0.0 {
            return None;
        }
        let mut work = (0.0, 0);
        let mut total = 0.0;
        for index in part.dofs() {
            let Q_d: f64 =
                (part.quadratic_row(index).iter()).map(|(column, q)| q * self.drift[offset + *column as usize]).sum();
            if Q_d.abs() > RECESSION * size * self.metric[index].sqrt() {
                return None;
            }
            let share = self.b[index] * self.drift[index];
            total += share;
            if share > work.0 {
                work = (share, index);
            }
        }
        for (_, contact) in part.contacts() {
            let mut d = Vector3::zeros();
            let mut longest = 0.0_f64;
            for (velocity, column) in part.columns(contact) {
                let change = column * self.drift[offset + *velocity];
                longest = longest.max(change.norm());
                d += change;
            }
            let slip = d.yz().norm();
            let needed = if contact.law.bound.is_some() { 0.0 } else { contact.law.friction * slip };
            if d.x < needed - RECESSION * longest {
                return None;
            }
            total -= contact.law.bound.unwrap_or(0.0) * slip;
        }
        let stops = |velocity: usize| self.drift[velocity].abs() > RECESSION * size / self.metric[velocity].sqrt();
        let held = part.bounds().any(|bound| stops(bound.velocity))
            || part.rows().any(|row| stops(row.velocity))
            || part.patches().next().is_some();
        (!held && total > RECESSION * load * size).then(|| part.dof(work.1))
    }
}
