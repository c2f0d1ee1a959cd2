//! Residuals of the conditions of optimality, computed from the problem and its solution alone. The engine
//! only matters because Lemke's method solves Coulomb's law instead of the convex constraint.

use super::interior_point::ray;
use super::{Engine, FrictionCone, QuasistaticProblem, QuasistaticResiduals};
use crate::math::dense::dot4;
use crate::math::{SpatialForce, Vector3};

/// The impulses of a solution, one list for each part of the problem, in its order.
#[derive(Clone, Copy)]
pub(super) struct Impulses<'a> {
    /// In the axes of the contact (n, t1, t2) [N s].
    pub(super) contacts: &'a [Vector3],
    /// [N s] or [N m s].
    pub(super) rows: &'a [f64],
    /// [N s] or [N m s].
    pub(super) bounds: &'a [f64],
    /// On B at the patch point, in world axes (N m s; N s).
    pub(super) patches: &'a [SpatialForce],
}

/// Scratch memory of the force balance.
#[derive(Clone, Debug, Default)]
pub(super) struct Residuals {
    /// The missing impulse of each generalized velocity [N s] or [N m s].
    pub(super) balance: Vec<f64>,
}

impl Residuals {
    /// The residuals of v and the impulses.
    pub(super) fn compute(
        &mut self,
        problem: &QuasistaticProblem,
        engine: Engine,
        friction: FrictionCone,
        v: &[f64],
        impulses: &Impulses<'_>,
    ) -> QuasistaticResiduals {
        let mut residuals =
            QuasistaticResiduals { stationarity: self.stationarity(problem, v, impulses), ..Default::default() };
        for (contact, gamma) in problem.contacts().iter().zip(impulses.contacts) {
            let y = problem.contact_velocity(contact, v);
            let mu = contact.friction;
            let give = contact.compliance * gamma.x;
            let coulomb = contact.friction_bound.is_some();
            let (violation, outside) = match friction {
                _ if coulomb => (-y.x - give, gamma.yz().norm() - mu * gamma.x),
                FrictionCone::Exact => (mu * y.yz().norm() - y.x, gamma.yz().norm() - mu * gamma.x),
                FrictionCone::Pyramid { rays } if engine == Engine::Lemke => (-y.x, outside_pyramid(gamma, mu, rays)),
                FrictionCone::Pyramid { rays } => {
                    let violation = (0..rays).map(|j| -ray(mu, j, rays).dot(&y)).fold(f64::NEG_INFINITY, f64::max);
                    (violation, outside_pyramid(gamma, mu, rays))
                }
            };
            residuals.primal = residuals.primal.max(violation);
            residuals.cone = residuals.cone.max(outside).max(-gamma.x);
            // Coulomb's law: friction does work while sliding, but the normal impulse does none
            let work = if coulomb {
                gamma.x * (y.x + give)
            } else if engine == Engine::Lemke {
                gamma.x * y.x
            } else {
                gamma.dot(&y)
            };
            residuals.complementarity = residuals.complementarity.max(work.abs());
        }
        for (bound, gamma) in problem.bounds.iter().zip(impulses.bounds) {
            let speed = v[bound.dof as usize];
            residuals.primal = residuals.primal.max(bound.lower - speed).max(speed - bound.upper);
            let room = if *gamma > 0.0 { speed - bound.lower } else { bound.upper - speed };
            if *gamma != 0.0 {
                residuals.complementarity = residuals.complementarity.max((gamma * room).abs());
            }
        }
        residuals
    }

    /// Gives the bounds of joints with rows the impulses that balance all others. Beside the stiffness of dry
    /// friction that sticks, the rounding of a velocity is more than the tolerance of a force.
    pub(super) fn balance_bounds(
        &mut self,
        problem: &QuasistaticProblem,
        v: &[f64],
        (contacts, rows, bounds, patches): (&[Vector3], &[f64], &mut [f64], &[SpatialForce]),
        tolerance: f64,
    ) {
        if problem.rows.is_empty() || bounds.iter().all(|gamma| *gamma == 0.0) {
            return;
        }
        self.stationarity(problem, v, &Impulses { contacts, rows, bounds, patches });
        for (bound, gamma) in problem.bounds.iter().zip(bounds) {
            let dof = bound.dof as usize;
            let limit = if *gamma > 0.0 { bound.lower } else { bound.upper };
            let reaction = *gamma + self.balance[dof];
            let has_row = || problem.rows.iter().any(|row| row.dof == bound.dof);
            if reaction * *gamma > 0.0 && (v[dof] - limit).abs() <= tolerance && has_row() {
                *gamma = reaction;
            }
        }
    }

    fn stationarity(&mut self, problem: &QuasistaticProblem, v: &[f64], impulses: &Impulses<'_>) -> f64 {
        let n = problem.size();
        let balance = &mut self.balance;
        balance.clear();
        balance.extend((0..n).map(|i| dot4(&problem.quadratic[i * n..(i + 1) * n], v) - problem.linear[i]));
        for (contact, gamma) in problem.contacts().iter().zip(impulses.contacts) {
            for (dof, column) in problem.columns(contact) {
                balance[*dof as usize] -= column.dot(gamma);
            }
        }
        for (row, gamma) in problem.rows.iter().zip(impulses.rows) {
            balance[row.dof as usize] -= row.coefficient * gamma;
        }
        for (bound, gamma) in problem.bounds.iter().zip(impulses.bounds) {
            balance[bound.dof as usize] -= gamma;
        }
        for (patch, gamma) in problem.patches().iter().zip(impulses.patches) {
            for (dof, column) in patch.jacobian.dofs.iter().zip(&patch.jacobian.columns) {
                balance[*dof as usize] -= column.dot(&gamma.to_vector());
            }
        }
        balance.iter().fold(0.0, |largest, entry| largest.max(entry.abs()))
    }
}

/// The distance by which gamma leaves the pyramid. With two rays the pyramid is |gamma_t1| <= mu gamma_n and
/// gamma_t2 = 0. With more rays it is a polygon whose sides are mu cos(pi/m) gamma_n away from the centre.
fn outside_pyramid(gamma: &Vector3, mu: f64, rays: u32) -> f64 {
    if rays == 2 {
        return (gamma.y.abs() - mu * gamma.x).max(gamma.z.abs());
    }
    let inner = mu * (std::f64::consts::PI / f64::from(rays)).cos() * gamma.x;
    (0..rays)
        .map(|j| {
            let angle = std::f64::consts::TAU * (f64::from(j) + 0.5) / f64::from(rays);
            angle.cos() * gamma.y + angle.sin() * gamma.z - inner
        })
        .fold(f64::NEG_INFINITY, f64::max)
}
