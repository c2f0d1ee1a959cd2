//! Derivatives of a step by implicit differentiation of its conditions of optimality.
//!
//! At the solution,  Q v - b = sum J_i^T gamma_i + ...  with gamma_i = P_K(gamma_i - y_i/R_i) and
//! y_i = J_i v + phi_i/h n. A direction of the data is (db, dy_i). dy_i = dJ_i v + dphi_i/h n is taken at
//! fixed v, and db also contains  dJ_i^T gamma_i - dQ v. The change of the solution obeys
//!   H dv = db + sum J_i^T P'(dgamma_i - dy_i/R_i),   H = Q + sum J_i^T P'/R_i J_i,
//!   dgamma_i <- P'(dgamma_i - (J_i dv + dy_i)/R_i).
//! One factor of H serves all directions; since R is small, two or three rounds give the derivative of the
//! exact step to rounding. The derivative exists if no contact is at the border between open, sticking and
//! sliding; at a border it is that of one side.

use super::cone_engine::{ConeEngine, ConeStatus};
use super::islands::Scalar;
use super::{ProblemPart, QuasistaticError, QuasistaticProblem, QuasistaticSettings};
use crate::math::Vector3;
use crate::math::dense::cholesky_solve_in_envelope;

/// The largest number of rounds of one derivative.
const ROUNDS_MAX: u32 = 60;
/// The rounds end when the largest change of dv in a round falls to this, relative to the largest dv [-].
const CHANGE: f64 = 1e-13;
/// Below this change, relative to the largest dv, the rounds also end when one does not halve the change: the
/// rest is rounding [-].
const ROUNDING: f64 = 1e-9;
/// Rounds whose change stays above this, relative to the largest dv, give no derivative [-].
const ENDED: f64 = 1e-6;
/// If sticking contacts miss their constraints by more than this fraction of the motion, they contradict each
/// other [-].
const CONSISTENT: f64 = 1e-6;
/// For linearization the step is solved to this fraction of the tolerance, which makes the state of every
/// contact unambiguous [-].
const SHARPER: f64 = 1e-4;

/// A direction in the data of a problem: derivatives with respect to one parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProblemDirection {
    /// db + sum dJ^T gamma - dQ v, with the patches' dJ and faces at fixed v [N s per unit of the parameter].
    pub linear: Vec<f64>,
    /// Per contact, in its axes: (dphi/h, 0, 0) + dJ v [m/s per unit of the parameter].
    pub contacts: Vec<Vector3>,
    /// Per bound: the derivative of the active limit, such as -dq/h for a joint limit [m/s or rad/s per unit
    /// of the parameter].
    pub bounds: Vec<f64>,
    /// Per row: the derivative of its target [m/s or rad/s per unit of the parameter].
    pub targets: Vec<f64>,
    /// Per contact: the derivative of its barrier weight, for smoothed steps [1 per unit of the parameter].
    pub weights: Vec<f64>,
}

impl ProblemDirection {
    /// Makes this a zero direction with the size of `problem`.
    pub fn reset(&mut self, problem: &QuasistaticProblem) {
        self.linear.clear();
        self.linear.resize(problem.size(), 0.0);
        self.contacts.clear();
        self.contacts.resize(problem.contacts().len(), Vector3::zeros());
        self.bounds.clear();
        self.bounds.resize(problem.bounds.len(), 0.0);
        self.targets.clear();
        self.targets.resize(problem.rows.len(), 0.0);
        self.weights.clear();
        self.weights.resize(problem.contacts().len(), 0.0);
    }
}

/// The factors of H at a solution.
#[derive(Clone, Debug, Default)]
pub(super) struct Linearization {
    /// The factors of the islands, one after the other.
    factors: Vec<f64>,
    starts: Vec<usize>,
    right_side: Vec<f64>,
    previous: Vec<f64>,
    multipliers: Vec<f64>,
    bound_multipliers: Vec<f64>,
    scratch: Vec<f64>,
    /// Whether the rounds of the last [`Linearization::apply`] have ended in all islands.
    ended: bool,
    /// Velocities of the step before it is solved again.
    start: Vec<f64>,
}

impl Linearization {
    /// Solves to a small tolerance at `v` and factorizes.
    pub(super) fn prepare(
        &mut self,
        engine: &mut ConeEngine,
        problem: &QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<(), QuasistaticError> {
        let sharper = QuasistaticSettings { tolerance: SHARPER * settings.tolerance, ..*settings };
        self.start.clear();
        self.start.extend_from_slice(v);
        let mut report = engine.solve(problem, v, &sharper);
        if let ConeStatus::NotConverged { residual } = report.status
            && residual > settings.tolerance
        {
            // Rounding prevents the small tolerance: the solution of the step itself is used.
            v.copy_from_slice(&self.start);
            report = engine.solve(problem, v, settings);
        }
        match report.status {
            ConeStatus::Converged => {}
            // Rounding prevents the small tolerance: that of the settings suffices.
            ConeStatus::NotConverged { residual } if residual <= settings.tolerance => {}
            ConeStatus::NotConverged { residual } => {
                return Err(QuasistaticError::NotConverged {
                    iterations: report.iterations,
                    residual,
                    status: "the cone engine did not reach the tolerance for derivatives: choose another configuration"
                        .to_owned(),
                });
            }
            ConeStatus::Unbounded { dof } => {
                return Err(QuasistaticError::Unbounded { dof, impulse: problem.linear[dof] });
            }
        }
        engine.remember(problem);
        self.factorize(engine, problem)
    }

    /// Factorizes at the solution of the last run of `engine`.
    pub(super) fn factorize(
        &mut self,
        engine: &mut ConeEngine,
        problem: &QuasistaticProblem,
    ) -> Result<(), QuasistaticError> {
        self.factors.clear();
        self.starts.clear();
        let ConeEngine { islands, law, newton, .. } = engine;
        for island in &islands.islands {
            self.starts.push(self.factors.len());
            let part = islands.part(problem, island, law);
            newton.evaluate_at_solution(part);
            if let Err(singular) = newton.factorize_hessian(part) {
                return Err(QuasistaticError::NoDerivatives {
                    part: ProblemPart::Velocity(part.dof(part.offset() + singular.pivot)),
                    reason: "nothing determines its motion",
                });
            }
            self.factors.extend_from_slice(&newton.hessian);
        }
        Ok(())
    }

    /// Whether the last [`Linearization::apply`] with the same arguments holds over a `reach` forward and
    /// backward: contacts, limits and effort limits keep their state, and redundant contacts that cannot slip
    /// allow the motion.
    pub(super) fn holds(
        &mut self,
        engine: &ConeEngine,
        problem: &QuasistaticProblem,
        direction: &ProblemDirection,
        bounds: &[f64],
        reach: f64,
    ) -> [bool; 2] {
        let ConeEngine { islands, law, newton, .. } = engine;
        let stride = law.stride();
        let mut holds = [true; 2];
        let (mut error, mut scale) = (0.0_f64, 0.0_f64);
        for island in &islands.islands {
            let part = islands.part(problem, island, law);
            let offset = part.offset();
            for (index, contact) in part.contacts() {
                let still = direction.contacts[contact.index as usize];
                let mut dy = still;
                for (velocity, column) in part.columns(contact) {
                    dy += column * self.previous[offset + *velocity];
                }
                let multipliers = &newton.multipliers[index * stride..][..stride];
                let delta = &self.multipliers[index * stride..][..stride];
                let (penalty, y) = (newton.penalties[index], &newton.y[index]);
                for (holds, reach) in holds.iter_mut().zip([reach, -reach]) {
                    *holds &= law.stays(&contact.law, penalty, (multipliers, delta), (y, &dy), reach);
                }
                self.scratch.copy_from_slice(delta);
                let bound = bounds.get(contact.index as usize).copied().unwrap_or(0.0);
                law.differentiate(&contact.law, penalty, multipliers, y, (&dy, bound), &mut self.scratch);
                let change = self.scratch.iter().zip(delta).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                error = error.max(change / penalty);
                scale = scale.max(still.norm()).max((dy - still).norm());
            }
            for Scalar { index, number, velocity, data } in part.bounds() {
                let here = newton.bound_multipliers[index];
                let dv = self.previous[velocity];
                for (holds, reach) in holds.iter_mut().zip([reach, -reach]) {
                    *holds &= if here == 0.0 {
                        // The direction has the change of one of the two limits, which move together.
                        let moved = newton.v[velocity] + reach * (dv - direction.bounds[number]);
                        data.lower <= moved && moved <= data.upper
                    } else {
                        here * (here + reach * self.bound_multipliers[index]) > 0.0
                    };
                }
            }
            for Scalar { number, velocity, data, .. } in part.rows() {
                let speed = data.coefficient * newton.v[velocity];
                let change = data.coefficient * self.previous[velocity] - direction.targets[number];
                let slope = |reach: f64| data.impulse(speed + reach * change).1 > 0.0;
                for (holds, reach) in holds.iter_mut().zip([reach, -reach]) {
                    *holds &= slope(0.0) == slope(reach);
                }
            }
        }
        if error > CONSISTENT * scale || !self.ended { [false; 2] } else { holds }
    }

    /// Computes the changes of the contacts' impulses in the last [`Linearization::apply`], by contact.
    pub(super) fn impulse_changes(
        &self,
        engine: &ConeEngine,
        problem: &QuasistaticProblem,
        impulses: &mut Vec<Vector3>,
    ) {
        impulses.clear();
        impulses.resize(problem.contacts().len(), Vector3::zeros());
        let stride = engine.law.stride();
        for (contact, delta) in engine.islands.contacts.iter().zip(self.multipliers.chunks_exact(stride)) {
            impulses[contact.index as usize] = engine.law.total(&contact.law, delta);
        }
    }

    /// Computes the changes of the contacts' normal impulses in the last [`Linearization::apply`], by
    /// contact.
    pub(super) fn normal_changes(&self, engine: &ConeEngine, problem: &QuasistaticProblem, normals: &mut Vec<f64>) {
        normals.clear();
        normals.resize(problem.contacts().len(), 0.0);
        let stride = engine.law.stride();
        for (contact, delta) in engine.islands.contacts.iter().zip(self.multipliers.chunks_exact(stride)) {
            normals[contact.index as usize] = engine.law.total(&contact.law, delta).x;
        }
    }

    /// Computes dv along `direction`, with changes of the friction bounds by contact, or none.
    pub(super) fn apply(
        &mut self,
        engine: &ConeEngine,
        problem: &QuasistaticProblem,
        direction: &ProblemDirection,
        bounds: &[f64],
        dv: &mut [f64],
    ) {
        let bound = |contact: u32| bounds.get(contact as usize).copied().unwrap_or(0.0);
        let ConeEngine { islands, law, newton, .. } = engine;
        let n = islands.dofs.len();
        let stride = law.stride();
        for (buffer, len) in [
            (&mut self.right_side, n),
            (&mut self.previous, n),
            (&mut self.multipliers, islands.contacts.len() * stride),
            (&mut self.bound_multipliers, islands.bounds.len()),
            (&mut self.scratch, stride),
        ] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
        self.ended = true;
        for (number, island) in islands.islands.iter().enumerate() {
            let part = islands.part(problem, island, law);
            let offset = part.offset();
            let size = part.dofs().len();
            let factor = &self.factors[self.starts[number]..][..size * size];
            let (mut ended, mut last) = (false, f64::INFINITY);
            for _ in 0..ROUNDS_MAX {
                for index in part.dofs() {
                    self.right_side[index] =
                        direction.linear[part.dof(index)] + newton.proximal[index] * self.previous[index];
                }
                for (index, contact) in part.contacts() {
                    let multipliers = &newton.multipliers[index * stride..][..stride];
                    self.scratch.copy_from_slice(&self.multipliers[index * stride..][..stride]);
                    let dy = &direction.contacts[contact.index as usize];
                    let (penalty, y) = (newton.penalties[index], &newton.y[index]);
                    let bound = bound(contact.index);
                    law.differentiate(&contact.law, penalty, multipliers, y, (dy, bound), &mut self.scratch);
                    let gamma = law.total(&contact.law, &self.scratch);
                    for (velocity, column) in part.columns(contact) {
                        self.right_side[offset + *velocity] += column.dot(&gamma);
                    }
                }
                for Scalar { index, number, velocity, .. } in part.bounds() {
                    if newton.bound_multipliers[index] != 0.0 {
                        self.right_side[velocity] +=
                            self.bound_multipliers[index] + newton.bound_penalties[index] * direction.bounds[number];
                    }
                }
                for Scalar { number, velocity, data, .. } in part.rows() {
                    let (_, slope) = data.impulse(data.coefficient * newton.v[velocity]);
                    self.right_side[velocity] += data.coefficient * slope * direction.targets[number];
                }
                cholesky_solve_in_envelope(factor, part.first(), &mut self.right_side[part.dofs()]);

                for (index, contact) in part.contacts() {
                    let mut dy = direction.contacts[contact.index as usize];
                    for (velocity, column) in part.columns(contact) {
                        dy += column * self.right_side[offset + *velocity];
                    }
                    let multipliers = &newton.multipliers[index * stride..][..stride];
                    let (penalty, y) = (newton.penalties[index], &newton.y[index]);
                    let delta = &mut self.multipliers[index * stride..][..stride];
                    law.differentiate(&contact.law, penalty, multipliers, y, (&dy, bound(contact.index)), delta);
                }
                for Scalar { index, number, velocity, .. } in part.bounds() {
                    if newton.bound_multipliers[index] != 0.0 {
                        self.bound_multipliers[index] +=
                            newton.bound_penalties[index] * (direction.bounds[number] - self.right_side[velocity]);
                    }
                }
                let (mut change, mut size) = (0.0_f64, 0.0_f64);
                for index in part.dofs() {
                    change = change.max((self.right_side[index] - self.previous[index]).abs());
                    size = size.max(self.right_side[index].abs());
                    self.previous[index] = self.right_side[index];
                }
                ended = change <= ENDED * size;
                if change <= CHANGE * size || (change <= ROUNDING * size && change > 0.5 * last) {
                    break;
                }
                last = change;
            }
            self.ended &= ended;
        }
        for (index, dof) in islands.dofs.iter().enumerate() {
            dv[*dof as usize] = self.previous[index];
        }
    }
}
