//! The step with its constraints smoothed by a logarithmic barrier, as in planners. Forces act at a distance.
//! Derivatives exist everywhere, and include contacts that are not closed yet.
//!
//!   min 1/2 v^T Q v - b^T v + rows + patches - kappa sum log(y_n^2 - mu^2 |y_t|^2)      (exact cone;
//!   pyramid: - kappa sum_j log(r_j . y))
//!
//! with y = J v + phi/h n, and - kappa log of the distance to each bound. The impulse is gamma = 2 kappa
//! (y_n, -mu^2 y_t)/(y_n^2 - mu^2 |y_t|^2), inside the friction cone, with gamma . y = 2 kappa. As kappa goes
//! to zero, the step converges to the exact one. Each contact has its own weight times kappa, which vanishes
//! where contacts are no longer found.
//!
//! A contact of little weight that is pressed keeps y = 2 kappa/gamma, which may be 1e-11 m/s. Because of the
//! rounding of v, an impulse computed from y then has five digits. The Hessian, in which the slope of the
//! impulse is 1e10, has as many for the motions that keep the contact. At the minimum and in derivatives the
//! impulses are therefore unknowns of their own, corrected until the forces balance. Each correction uses the
//! same factor.

use super::interior_point::ray;
use super::{FrictionCone, ProblemDirection, ProblemPart, QuasistaticError, QuasistaticProblem, QuasistaticSettings};
use crate::math::dense::{cholesky_in_envelope, cholesky_solve_in_envelope, dot};
use crate::math::{Matrix3, Matrix6, SpatialVelocity, Vector3};

/// The limit of Newton iterations for one kappa.
const ITERATIONS_MAX: u32 = 200;
/// The minimum is found when half the squared Newton decrement falls to this, relative to kappa times the
/// smallest weight of a contact [-]. Its square root is the relative error in y of that contact, and so in
/// its impulse.
const DECREMENT: f64 = 1e-20;
/// A step that leaves the constraints is multiplied by (1 + this)/4 [-].
const TO_THE_BORDER: f64 = 0.95;
/// Where the Hessian is singular, as where an actuator is at its effort limit and nothing else resists its
/// joint, the direction of a step is that of the Hessian plus this part of the metric, which is diag(Q) plus
/// the stiffness of the rows [-]. The part grows by the second factor up to the last one.
const REGULARIZATION: [f64; 3] = [1e-6, 100.0, 1.0];
/// Armijo's fraction of the slope [-].
const ARMIJO: f64 = 1e-4;
/// The limit of halvings of a step.
const HALVINGS_MAX: u32 = 60;
/// The number of corrections of the impulses at the minimum. Each reduces their errors by the relative error
/// of the Hessian, 1e-4 or less.
const CORRECTIONS: u32 = 3;
/// The largest number of solves for a derivative.
const ROUNDS_MAX: u32 = 10;
/// The solves end when the last change is below this, relative to the derivative [-].
const CHANGE: f64 = 1e-12;
/// Below this, relative to the derivative, they also end when a solve does not halve the change: what remains
/// is rounding [-].
const ROUNDING: f64 = 1e-9;

/// A smoothed step: the point, and the factor of its Hessian.
#[derive(Clone, Debug, Default)]
pub(super) struct SmoothedStep {
    gradient: Vec<f64>,
    /// The Hessian without barriers, which has no large entries: Q, rows and patches.
    smooth: Vec<f64>,
    /// The factor of the Hessian.
    factor: Vec<f64>,
    /// The first entry of each row of the Hessian that may not be zero.
    first: Vec<u32>,
    direction: Vec<f64>,
    trial: Vec<f64>,
    /// Multipliers of the rays of pyramids, contact by contact [N s].
    rays: Vec<f64>,
    /// Multipliers of the lower and the upper limit of each bound [N s] or [N m s].
    limits: Vec<[f64; 2]>,
    /// Minus the derivative of each contact's impulse by y.
    slopes: Vec<Matrix3>,
    bound_slopes: Vec<f64>,
    row_slopes: Vec<f64>,
    /// Changes of the impulses of contacts and bounds in a derivative.
    changes: Vec<Vector3>,
    limit_changes: Vec<f64>,
    /// Impulses at the point.
    pub(super) contacts: Vec<Vector3>,
    pub(super) bounds: Vec<f64>,
}

/// -log of a contact; `None` outside the constraint.
fn contact_barrier(friction: FrictionCone, mu: f64, y: &Vector3) -> Option<f64> {
    match friction {
        FrictionCone::Exact => {
            let d = mirrored(mu, y).dot(y);
            (y.x > 0.0 && d > 0.0).then(|| -d.ln())
        }
        FrictionCone::Pyramid { rays } => (0..rays).try_fold(0.0, |value, j| {
            let s = ray(mu, j, rays).dot(y);
            (s > 0.0).then(|| value - s.ln())
        }),
    }
}

/// (y_n, -mu^2 y_t).
fn mirrored(mu: f64, y: &Vector3) -> Vector3 {
    Vector3::new(y.x, -mu * mu * y.y, -mu * mu * y.z)
}

impl SmoothedStep {
    /// Minimises from the strictly feasible `v`.
    pub(super) fn minimize(
        &mut self,
        problem: &QuasistaticProblem,
        friction: FrictionCone,
        kappa: f64,
        v: &mut [f64],
    ) -> Result<u32, QuasistaticError> {
        let failed = |iterations: u32, residual: f64, status: &str| QuasistaticError::NotConverged {
            iterations,
            residual,
            status: status.to_owned(),
        };
        let weights = problem.contacts().iter().map(|contact| contact.barrier_weight);
        let least = kappa * weights.fold(1.0, f64::min);
        self.find_envelope(problem);
        let mut decrement = f64::INFINITY;
        let mut previous = f64::INFINITY;
        for iterations in 0..ITERATIONS_MAX {
            let Some(value) = self.value(problem, friction, kappa, v) else {
                return Err(failed(iterations, decrement, "the start lies on a constraint"));
            };
            self.assemble(problem, friction, kappa, v);
            let regular = cholesky_in_envelope(&mut self.factor, &self.first).is_ok();
            if !regular && !self.regularize(problem, friction, kappa, v) {
                return Err(failed(
                    iterations,
                    decrement,
                    "no impedance, mass or distant contact resists some velocity: set `inertia: mass`, or a stiffness",
                ));
            }
            self.direction.clear();
            self.direction.extend(self.gradient.iter().map(|g| -g));
            cholesky_solve_in_envelope(&self.factor, &self.first, &mut self.direction);
            let slope = dot(&self.gradient, &self.direction);
            decrement = -0.5 * slope / least;
            // After quadratic convergence has ended in rounding, more iterations only fluctuate.
            let trembles = decrement <= DECREMENT.sqrt() && decrement > 0.5 * previous;
            previous = decrement;
            if decrement <= DECREMENT || trembles || !self.descend(problem, friction, kappa, v, value, slope) {
                return if decrement <= DECREMENT.sqrt() && regular {
                    self.correct(problem, friction, kappa, v)?;
                    Ok(iterations)
                } else {
                    Err(failed(iterations, decrement, "the smoothed step does not descend"))
                };
            }
        }
        Err(failed(ITERATIONS_MAX, decrement, "the smoothed step takes too many iterations"))
    }

    /// Finds the envelope of the Hessian: that of Q, and of the velocities that a contact or patch couples.
    fn find_envelope(&mut self, problem: &QuasistaticProblem) {
        let n = problem.size();
        let Self { first, .. } = self;
        first.clear();
        first.extend(problem.quadratic.chunks_exact(n.max(1)).enumerate().map(|(i, row)| {
            let start = row[..i].iter().position(|q| *q != 0.0);
            start.unwrap_or(i) as u32
        }));
        let mut couple = |dofs: &mut dyn Iterator<Item = u32>| {
            if let Some(least) = dofs.next() {
                // Ascending
                dofs.for_each(|dof| first[dof as usize] = first[dof as usize].min(least));
            }
        };
        for contact in problem.contacts() {
            couple(&mut problem.columns(contact).iter().map(|(dof, _)| *dof));
        }
        for patch in problem.patches() {
            couple(&mut patch.jacobian.dofs.iter().copied());
        }
    }

    /// Factorizes the Hessian with a part of the metric; false if it stays singular.
    fn regularize(&mut self, problem: &QuasistaticProblem, friction: FrictionCone, kappa: f64, v: &[f64]) -> bool {
        let n = problem.size();
        let [mut part, factor, last] = REGULARIZATION;
        while part <= last {
            self.assemble(problem, friction, kappa, v);
            for dof in 0..n {
                self.factor[dof * n + dof] += part * problem.quadratic[dof * n + dof];
            }
            for row in &problem.rows {
                let dof = row.dof as usize;
                self.factor[dof * n + dof] += part * row.coefficient * row.coefficient / row.regularization;
            }
            if cholesky_in_envelope(&mut self.factor, &self.first).is_ok() {
                return true;
            }
            part *= factor;
        }
        false
    }

    /// Moves along the direction; false if rounding prevents descent.
    fn descend(
        &mut self,
        problem: &QuasistaticProblem,
        friction: FrictionCone,
        kappa: f64,
        v: &mut [f64],
        value: f64,
        slope: f64,
    ) -> bool {
        let mut trial = std::mem::take(&mut self.trial);
        let mut alpha = 1.0;
        let mut moved = false;
        for _ in 0..HALVINGS_MAX {
            trial.clear();
            trial.extend(v.iter().zip(&self.direction).map(|(v, d)| v + alpha * d));
            if let Some(new) = self.value(problem, friction, kappa, &trial) {
                // Near the minimum the values are equal up to rounding, and the full Newton step is good.
                let rounding = f64::EPSILON * (1.0 + value.abs()) * 8.0;
                if new <= value + ARMIJO * alpha * slope + rounding {
                    v.copy_from_slice(&trial);
                    moved = true;
                    break;
                }
                alpha *= 0.5;
            } else {
                alpha *= 0.5 * (1.0 + TO_THE_BORDER) * 0.5;
            }
        }
        self.trial = trial;
        moved
    }

    /// The cost; `None` outside the constraints.
    fn value(&self, problem: &QuasistaticProblem, friction: FrictionCone, kappa: f64, v: &[f64]) -> Option<f64> {
        let n = problem.size();
        let mut value = 0.0;
        for i in 0..n {
            value += v[i] * (0.5 * dot(&problem.quadratic[i * n..(i + 1) * n], v) - problem.linear[i]);
        }
        for contact in problem.contacts() {
            let y = problem.contact_velocity(contact, v);
            value += kappa * contact.barrier_weight * contact_barrier(friction, contact.friction, &y)?;
        }
        for bound in &problem.bounds {
            let speed = v[bound.dof as usize];
            for room in [speed - bound.lower, bound.upper - speed] {
                if room.is_nan() || room <= 0.0 {
                    return None;
                }
                if room.is_finite() {
                    value -= kappa * room.ln();
                }
            }
        }
        for row in &problem.rows {
            let (gamma, _) = row.impulse(row.speed(v));
            // The potential of a clamped spring: the largest gamma (target - u) - R gamma^2 / 2 within the
            // limits of gamma.
            value += gamma * (row.target - row.speed(v)) - 0.5 * row.regularization * gamma * gamma;
        }
        for patch in problem.patches() {
            value += patch.potential(&patch.velocity(v));
        }
        Some(value)
    }

    /// Computes the impulses, the gradient and the Hessian at v.
    fn assemble(&mut self, problem: &QuasistaticProblem, friction: FrictionCone, kappa: f64, v: &[f64]) {
        self.rays.clear();
        self.contacts.clear();
        for contact in problem.contacts() {
            let y = problem.contact_velocity(contact, v);
            let weight = kappa * contact.barrier_weight;
            let gamma = match friction {
                FrictionCone::Exact => {
                    let mirrored = mirrored(contact.friction, &y);
                    mirrored * (2.0 * weight / mirrored.dot(&y))
                }
                FrictionCone::Pyramid { rays } => (0..rays).fold(Vector3::zeros(), |gamma, j| {
                    let ray = ray(contact.friction, j, rays);
                    let multiplier = weight / ray.dot(&y);
                    self.rays.push(multiplier);
                    gamma + ray * multiplier
                }),
            };
            self.contacts.push(gamma);
        }
        self.limits.clear();
        self.limits.extend(problem.bounds.iter().map(|bound| {
            let speed = v[bound.dof as usize];
            [kappa / (speed - bound.lower), kappa / (bound.upper - speed)]
        }));
        self.assemble_with_impulses(problem, friction, kappa, v);
    }

    /// Computes the gradient and the Hessian from v and the impulses.
    ///
    /// The slope of a cone is gamma gamma^T/w - diag(1, -mu^2, -mu^2) gamma_n/y_n, with its weight w: without
    /// the difference y_n^2 - mu^2 |y_t|^2, which has few digits where contacts slide.
    fn assemble_with_impulses(&mut self, problem: &QuasistaticProblem, friction: FrictionCone, kappa: f64, v: &[f64]) {
        let n = problem.size();
        self.factor.clear();
        self.factor.extend_from_slice(&problem.quadratic);
        self.gradient.clear();
        self.gradient.extend((0..n).map(|i| dot(&problem.quadratic[i * n..(i + 1) * n], v) - problem.linear[i]));
        for list in [&mut self.bound_slopes, &mut self.row_slopes, &mut self.bounds] {
            list.clear();
        }
        for row in &problem.rows {
            let dof = row.dof as usize;
            let (gamma, slope) = row.impulse(row.speed(v));
            self.gradient[dof] -= row.coefficient * gamma;
            self.factor[dof * n + dof] += slope * row.coefficient * row.coefficient;
            self.row_slopes.push(slope);
        }
        for patch in problem.patches() {
            let V: SpatialVelocity = patch.velocity(v);
            let mut slope = Matrix6::zeros();
            let gamma = patch.impulse_and_hessian(&V, &mut slope).to_vector();
            for (dof, column) in patch.jacobian.dofs.iter().zip(&patch.jacobian.columns) {
                let dof = *dof as usize;
                self.gradient[dof] -= column.dot(&gamma);
                let weighted = slope * column;
                for (other, other_column) in patch.jacobian.dofs.iter().zip(&patch.jacobian.columns) {
                    self.factor[dof * n + *other as usize] += weighted.dot(other_column);
                }
            }
        }
        self.smooth.clone_from(&self.factor);
        self.slopes.clear();
        for (index, (contact, gamma)) in problem.contacts().iter().zip(&self.contacts).enumerate() {
            let (mu, weight) = (contact.friction, kappa * contact.barrier_weight);
            let slope = match friction {
                FrictionCone::Exact => {
                    let y = problem.contact_velocity(contact, v);
                    let flat = Matrix3::from_diagonal(&Vector3::new(1.0, -mu * mu, -mu * mu));
                    gamma * gamma.transpose() / weight - flat * (gamma.x / y.x)
                }
                FrictionCone::Pyramid { rays } => (0..rays).fold(Matrix3::zeros(), |slope, j| {
                    let (ray, multiplier) = (ray(mu, j, rays), self.rays[index * rays as usize + j as usize]);
                    slope + ray * ray.transpose() * (multiplier * multiplier / weight)
                }),
            };
            let columns = problem.columns(contact);
            for (row, column) in columns {
                let row = *row as usize;
                self.gradient[row] -= column.dot(gamma);
                let weighted = slope * column;
                for (other, other_column) in columns {
                    self.factor[row * n + *other as usize] += weighted.dot(other_column);
                }
            }
            self.slopes.push(slope);
        }
        for (bound, [low, high]) in problem.bounds.iter().zip(&self.limits) {
            let dof = bound.dof as usize;
            let slope = (low * low + high * high) / kappa;
            self.gradient[dof] -= low - high;
            self.factor[dof * n + dof] += slope;
            self.bound_slopes.push(slope);
            self.bounds.push(low - high);
        }
    }

    /// Corrects v and the impulses, each by its own change, until the forces balance to rounding: Newton's
    /// method for the balance of forces and  gamma y = 2 kappa  with gamma as an unknown of its own,
    ///   H dv = -g,   dgamma = -W J dv,   v <- v + dv,   gamma <- gamma + dgamma,
    /// with the gradient g, the Hessian H and the slopes W of the impulses at the values before. The impulses
    /// are not computed again from y, which has lost their last digits. A correction reduces the error by the
    /// relative error of H, so [`CORRECTIONS`] of them end in rounding. Leaves the factor of the Hessian at
    /// the corrected impulses, with which [`SmoothedStep::apply`] works.
    ///
    /// # Errors
    /// A Hessian at the corrected impulses that is singular: nothing determines the motion of a velocity.
    fn correct(
        &mut self,
        problem: &QuasistaticProblem,
        friction: FrictionCone,
        kappa: f64,
        v: &mut [f64],
    ) -> Result<(), QuasistaticError> {
        for _ in 0..CORRECTIONS {
            self.direction.clear();
            self.direction.extend(self.gradient.iter().map(|g| -g));
            cholesky_solve_in_envelope(&self.factor, &self.first, &mut self.direction);
            v.iter_mut().zip(&self.direction).for_each(|(v, d)| *v += d);
            for (index, contact) in problem.contacts().iter().enumerate() {
                let weight = kappa * contact.barrier_weight;
                let columns = problem.columns(contact).iter();
                let dy =
                    columns.fold(Vector3::zeros(), |dy, (dof, column)| dy + column * self.direction[*dof as usize]);
                match friction {
                    FrictionCone::Exact => self.contacts[index] -= self.slopes[index] * dy,
                    FrictionCone::Pyramid { rays } => {
                        self.contacts[index] = (0..rays).fold(Vector3::zeros(), |gamma, j| {
                            let ray = ray(contact.friction, j, rays);
                            let multiplier = &mut self.rays[index * rays as usize + j as usize];
                            *multiplier -= *multiplier * *multiplier / weight * ray.dot(&dy);
                            gamma + ray * *multiplier
                        });
                    }
                }
            }
            for (bound, [low, high]) in problem.bounds.iter().zip(&mut self.limits) {
                let change = self.direction[bound.dof as usize] / kappa;
                *low -= *low * *low * change;
                *high += *high * *high * change;
            }
            self.assemble_with_impulses(problem, friction, kappa, v);
            if let Err(singular) = cholesky_in_envelope(&mut self.factor, &self.first) {
                return Err(QuasistaticError::NoDerivatives {
                    part: ProblemPart::Velocity(singular.pivot),
                    reason: "nothing determines its motion",
                });
            }
        }
        Ok(())
    }

    /// The changes of the contacts' impulses in the last [`SmoothedStep::apply`], by contact.
    pub(super) fn impulse_changes(&self) -> &Vec<Vector3> {
        &self.changes
    }

    /// Computes dv of `direction` at the minimum:
    ///   S dv = db + sum J^T dgamma,   dgamma = gamma dw/w - W (dy + J dv),
    /// with the weights w of the barriers and the Hessian S without them.
    ///
    /// # Errors
    /// Solves that do not approach a solution: the factor is not that of the Hessian.
    pub(super) fn apply(
        &mut self,
        problem: &QuasistaticProblem,
        direction: &ProblemDirection,
        dv: &mut [f64],
    ) -> Result<(), QuasistaticError> {
        let n = problem.size();
        let Self { smooth, factor, first, direction: change, slopes, contacts, .. } = self;
        dv.fill(0.0);
        self.changes.clear();
        self.changes.extend(problem.contacts().iter().zip(slopes.iter()).zip(contacts).enumerate().map(
            |(index, ((contact, slope), gamma))| {
                *gamma * (direction.weights[index] / contact.barrier_weight) - slope * direction.contacts[index]
            },
        ));
        self.limit_changes.clear();
        self.limit_changes.extend(self.bound_slopes.iter().zip(&direction.bounds).map(|(slope, moved)| slope * moved));
        let (mut last, mut part) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS_MAX {
            change.clear();
            change.extend_from_slice(&direction.linear);
            for (i, row) in smooth.chunks_exact(n).enumerate() {
                let start = first[i] as usize;
                change[i] -= dot(&row[start..=i], &dv[start..=i]);
                for (change, s) in change[start..i].iter_mut().zip(&row[start..i]) {
                    *change -= s * dv[i];
                }
            }
            for (contact, delta) in problem.contacts().iter().zip(&self.changes) {
                for (dof, column) in problem.columns(contact) {
                    change[*dof as usize] += column.dot(delta);
                }
            }
            for (bound, delta) in problem.bounds.iter().zip(&self.limit_changes) {
                change[bound.dof as usize] += delta;
            }
            for ((row, slope), target) in problem.rows.iter().zip(&self.row_slopes).zip(&direction.targets) {
                change[row.dof as usize] += row.coefficient * slope * target;
            }
            cholesky_solve_in_envelope(factor, first, change);
            dv.iter_mut().zip(change.iter()).for_each(|(dv, change)| *dv += change);
            for ((contact, slope), delta) in problem.contacts().iter().zip(slopes.iter()).zip(&mut self.changes) {
                let columns = problem.columns(contact).iter();
                let dy = columns.fold(Vector3::zeros(), |dy, (dof, column)| dy + column * change[*dof as usize]);
                *delta -= slope * dy;
            }
            for ((bound, slope), delta) in problem.bounds.iter().zip(&self.bound_slopes).zip(&mut self.limit_changes) {
                *delta -= slope * change[bound.dof as usize];
            }
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
            let (changed, size) = (largest(change), largest(dv));
            if changed <= CHANGE * size || (changed <= ROUNDING * size && changed > 0.5 * last) {
                return Ok(());
            }
            last = changed;
            part = last / size;
        }
        // Between the two tolerances the solves still approach, slowly.
        if part <= ROUNDING {
            return Ok(());
        }
        Err(QuasistaticError::NotConverged {
            iterations: ROUNDS_MAX,
            residual: part,
            status: "the derivative of the smoothed step still changes by this part of it: take a larger kappa"
                .to_owned(),
        })
    }
}

/// Margins of a start from the constraints, tried in this order [m/s]; a smaller margin fits a narrower
/// feasible set.
const MARGINS: [f64; 4] = [1e-2, 1e-4, 1e-6, 1e-8];

/// A strictly feasible point: the solution of the step with gaps and bounds reduced by a margin.
pub(super) fn strictly_feasible(
    problem: &QuasistaticProblem,
    settings: &QuasistaticSettings,
    mut solve: impl FnMut(&mut QuasistaticProblem, &QuasistaticSettings) -> Result<Vec<f64>, QuasistaticError>,
) -> Result<Vec<f64>, QuasistaticError> {
    let mut last = None;
    for margin in MARGINS {
        let mut narrower = problem.clone();
        narrower.narrow(margin);
        let settings = QuasistaticSettings { tolerance: settings.tolerance.min(0.01 * margin), ..*settings };
        match solve(&mut narrower, &settings) {
            Ok(v) => return Ok(v),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or(QuasistaticError::Infeasible { detail: "no margin".to_owned(), parts: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A derivative whose solves do not end is an error: here the factor is that of a quarter of the Hessian,
    /// with which each solve triples the error.
    #[test]
    fn a_derivative_whose_solves_do_not_end_is_an_error() {
        let mut problem = QuasistaticProblem::default();
        problem.reset(1, 0.1);
        (problem.quadratic[0], problem.linear[0]) = (2.0, 1.0);
        let mut smoothed = SmoothedStep::default();
        let mut v = [0.0];
        smoothed.minimize(&problem, FrictionCone::Exact, 1e-3, &mut v).expect("a minimum");
        let direction = ProblemDirection { linear: vec![1.0], ..ProblemDirection::default() };
        let mut dv = [0.0];
        smoothed.apply(&problem, &direction, &mut dv).expect("a derivative");
        assert!((dv[0] - 0.5).abs() < 1e-12, "{dv:?}");
        smoothed.factor[0] *= 0.5;
        let error = smoothed.apply(&problem, &direction, &mut dv).expect_err("no derivative");
        assert!(matches!(error, QuasistaticError::NotConverged { iterations: ROUNDS_MAX, .. }), "{error}");
    }
}
