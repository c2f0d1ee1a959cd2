//! How well a result satisfies the conditions of optimality: computed from the problem alone, the same for all engines.

use super::clarabel_engine::ray;
use super::{FrictionCone, QuasistaticProblem, QuasistaticResiduals, QuasistaticSolver};
use crate::math::Vector3;
use crate::math::dense::dot;

/// The residuals of v and the solver's impulses.
pub(super) fn residuals(
    problem: &QuasistaticProblem,
    friction: FrictionCone,
    v: &[f64],
    solver: &QuasistaticSolver,
) -> QuasistaticResiduals {
    let mut residuals = QuasistaticResiduals { stationarity: stationarity(problem, v, solver), ..Default::default() };
    for (contact, gamma) in problem.contacts().iter().zip(solver.contact_impulses()) {
        let y = problem.contact_velocity(contact, v);
        let mu = contact.friction;
        let (violation, outside) = match friction {
            FrictionCone::Exact => (mu * y.yz().norm() - y.x, gamma.yz().norm() - mu * gamma.x),
            FrictionCone::Pyramid { rays } => {
                let violation = (0..rays).map(|j| -ray(mu, j, rays).dot(&y)).fold(f64::NEG_INFINITY, f64::max);
                (violation, outside_pyramid(gamma, mu, rays))
            }
        };
        residuals.primal = residuals.primal.max(violation);
        residuals.cone = residuals.cone.max(outside).max(-gamma.x);
        residuals.complementarity = residuals.complementarity.max(gamma.dot(&y).abs());
    }
    for (bound, gamma) in problem.bounds.iter().zip(solver.bound_impulses()) {
        let speed = v[bound.dof as usize];
        residuals.primal = residuals.primal.max(bound.lower - speed).max(speed - bound.upper);
        let room = if *gamma > 0.0 { speed - bound.lower } else { bound.upper - speed };
        if *gamma != 0.0 {
            residuals.complementarity = residuals.complementarity.max((gamma * room).abs());
        }
    }
    residuals
}

/// By how much gamma leaves the pyramid. Two rays: |gamma_t1| <= mu gamma_n and gamma_t2 = 0; more: a polygon whose sides are
/// mu cos(pi/m) gamma_n away from the centre.
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

fn stationarity(problem: &QuasistaticProblem, v: &[f64], solver: &QuasistaticSolver) -> f64 {
    let n = problem.size();
    let mut largest = 0.0_f64;
    for i in 0..n {
        let mut sum = dot(&problem.quadratic[i * n..(i + 1) * n], v) - problem.linear[i];
        let dof = i as u32;
        for (contact, gamma) in problem.contacts().iter().zip(solver.contact_impulses()) {
            let columns = problem.columns(contact);
            if let Ok(place) = columns.binary_search_by_key(&dof, |(dof, _)| *dof) {
                sum -= columns[place].1.dot(gamma);
            }
        }
        for (row, gamma) in problem.rows.iter().zip(solver.row_impulses()) {
            if row.dof == dof {
                sum -= row.coefficient * gamma;
            }
        }
        for (bound, gamma) in problem.bounds.iter().zip(solver.bound_impulses()) {
            if bound.dof == dof {
                sum -= gamma;
            }
        }
        for (patch, gamma) in problem.patches().iter().zip(solver.patch_impulses()) {
            if let Ok(place) = patch.dofs.binary_search(&dof) {
                sum -= patch.columns[place].dot(&gamma.to_vector());
            }
        }
        largest = largest.max(sum.abs());
    }
    largest
}
