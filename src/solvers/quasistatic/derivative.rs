//! Derivatives of a step by implicit differentiation of its conditions of optimality.
//!
//! At the solution  Q v - b = sum J_i^T gamma_i + ...  with gamma_i = P_K(gamma_i - y_i/R_i), y_i = J_i v +
//! phi_i/h n. For a direction (db, dy_i) of the data, where dy_i = dJ_i v + dphi_i/h n at fixed v and db
//! contains  dJ_i^T gamma_i - dQ v  as well,
//!   H dv = db + sum J_i^T P'(dgamma_i - dy_i/R_i),   dgamma_i <- P'(dgamma_i - (J_i dv + dy_i)/R_i),   H = Q + sum J_i^T P'/R_i J_i.
//! One factor of H serves all directions; since R is small, two or three rounds give the derivative of the
//! exact step to rounding. The derivative exists if no contact is at the border between open, sticking and
//! sliding; at a border it is that of one side.

use super::cone_engine::{ConeEngine, ConeStatus};
use super::factor::substitute;
use super::{QuasistaticError, QuasistaticProblem, QuasistaticSettings};
use crate::math::Vector3;

/// The largest number of rounds of one derivative.
const ROUNDS_MAX: u32 = 60;
/// Relative change of dv between two rounds at which they end [-].
const CHANGE: f64 = 1e-13;
/// The step is solved to this part of the tolerance for linearization, so that the state of every contact is
/// unambiguous [-].
const SHARPER: f64 = 1e-4;

/// A direction in the data of a problem: derivatives with respect to one parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProblemDirection {
    /// db + sum dJ^T gamma - dQ v, with the patches' dJ and faces at fixed v [N s per unit of the parameter].
    pub linear: Vec<f64>,
    /// Per contact, in its axes: (dphi/h, 0, 0) + dJ v [m/s].
    pub contacts: Vec<Vector3>,
    /// Per bound: the derivative of the active limit, -dq/h for a joint limit [m/s] or [rad/s].
    pub bounds: Vec<f64>,
    /// Per row: the derivative of its target [m/s] or [rad/s].
    pub targets: Vec<f64>,
}

impl ProblemDirection {
    /// A zero direction with the size of `problem`.
    pub fn reset(&mut self, problem: &QuasistaticProblem) {
        self.linear.clear();
        self.linear.resize(problem.size(), 0.0);
        self.contacts.clear();
        self.contacts.resize(problem.contacts().len(), Vector3::zeros());
        self.bounds.clear();
        self.bounds.resize(problem.bounds.len(), 0.0);
        self.targets.clear();
        self.targets.resize(problem.rows.len(), 0.0);
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
        let report = engine.solve(problem, v, &sharper);
        match report.status {
            ConeStatus::Converged => {}
            // rounding: the tolerance of the settings is sufficient
            ConeStatus::NotConverged { residual } if residual <= settings.tolerance => {}
            ConeStatus::NotConverged { residual } => {
                return Err(QuasistaticError::NotConverged {
                    iterations: report.iterations,
                    residual,
                    status: "the cone engine did not reach the tolerance for derivatives".to_owned(),
                });
            }
            ConeStatus::Unbounded { dof } => {
                return Err(QuasistaticError::Unbounded { dof, impulse: problem.linear[dof] });
            }
        }
        engine.remember(problem);
        self.factors.clear();
        self.starts.clear();
        let ConeEngine { islands, law, newton, .. } = engine;
        for island in &islands.islands {
            self.starts.push(self.factors.len());
            newton.evaluate_at_solution(problem, islands, island);
            if newton.factorize_hessian(problem, islands, island, law).is_err() {
                return Err(QuasistaticError::NotConverged {
                    iterations: report.iterations,
                    residual: f64::INFINITY,
                    status: "the Hessian at the solution is not positive definite".to_owned(),
                });
            }
            self.factors.extend_from_slice(&newton.hessian);
        }
        Ok(())
    }

    /// dv along `direction`.
    pub(super) fn apply(
        &mut self,
        engine: &ConeEngine,
        problem: &QuasistaticProblem,
        direction: &ProblemDirection,
        dv: &mut [f64],
    ) {
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
        for (index, island) in islands.islands.iter().enumerate() {
            let offset = island.dofs.start;
            let size = island.dofs.len();
            let factor = &self.factors[self.starts[index]..][..size * size];
            for _ in 0..ROUNDS_MAX {
                for place in island.dofs.clone() {
                    self.right_side[place] =
                        direction.linear[islands.dofs[place] as usize] + newton.proximal[place] * self.previous[place];
                }
                for contact in island.contacts.clone() {
                    let data = &islands.contacts[contact];
                    let multipliers = &newton.multipliers[contact * stride..][..stride];
                    self.scratch.copy_from_slice(&self.multipliers[contact * stride..][..stride]);
                    let dy = &direction.contacts[data.index as usize];
                    let (penalty, y) = (newton.penalties[contact], &newton.y[contact]);
                    law.differentiate(data.friction, penalty, multipliers, y, dy, &mut self.scratch);
                    let gamma = law.total(data.friction, &self.scratch);
                    for (place, column) in islands.columns(data) {
                        self.right_side[offset + *place] += column.dot(&gamma);
                    }
                }
                for bound in island.bounds.clone() {
                    if newton.bound_multipliers[bound] != 0.0 {
                        let data = islands.bounds[bound] as usize;
                        let place = islands.places[problem.bounds[data].dof as usize] as usize;
                        self.right_side[place] +=
                            self.bound_multipliers[bound] + newton.bound_penalties[bound] * direction.bounds[data];
                    }
                }
                for row in island.rows.clone() {
                    let data = islands.rows[row] as usize;
                    let row = &problem.rows[data];
                    let place = islands.places[row.dof as usize] as usize;
                    let (_, slope) = row.impulse(row.coefficient * newton.v[place]);
                    self.right_side[place] += row.coefficient * slope * direction.targets[data];
                }
                substitute(factor, &islands.first[island.dofs.clone()], &mut self.right_side[island.dofs.clone()]);

                for contact in island.contacts.clone() {
                    let data = &islands.contacts[contact];
                    let mut dy = direction.contacts[data.index as usize];
                    for (place, column) in islands.columns(data) {
                        dy += column * self.right_side[offset + *place];
                    }
                    let multipliers = &newton.multipliers[contact * stride..][..stride];
                    let (penalty, y) = (newton.penalties[contact], &newton.y[contact]);
                    let delta = &mut self.multipliers[contact * stride..][..stride];
                    law.differentiate(data.friction, penalty, multipliers, y, &dy, delta);
                }
                for bound in island.bounds.clone() {
                    if newton.bound_multipliers[bound] != 0.0 {
                        let data = islands.bounds[bound] as usize;
                        let place = islands.places[problem.bounds[data].dof as usize] as usize;
                        self.bound_multipliers[bound] +=
                            newton.bound_penalties[bound] * (direction.bounds[data] - self.right_side[place]);
                    }
                }
                let (mut change, mut size) = (0.0_f64, 0.0_f64);
                for place in island.dofs.clone() {
                    change = change.max((self.right_side[place] - self.previous[place]).abs());
                    size = size.max(self.right_side[place].abs());
                    self.previous[place] = self.right_side[place];
                }
                if change <= CHANGE * size {
                    break;
                }
            }
        }
        for (place, dof) in islands.dofs.iter().enumerate() {
            dv[*dof as usize] = self.previous[place];
        }
    }
}
