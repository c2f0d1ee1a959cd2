//! One interface for the engines of a quasistatic step.

use super::clarabel_engine::{self, ClarabelResult};
use super::residuals::residuals;
use super::{Engine, FrictionCone, QuasistaticError, QuasistaticProblem, QuasistaticReport, QuasistaticSettings};
use crate::math::{SpatialForce, Vector3};

/// Solves quasistatic steps, one after the other: keeps its memory and what warms up the next step.
#[derive(Clone, Debug, Default)]
pub struct QuasistaticSolver {
    contacts: Vec<Vector3>,
    rows: Vec<f64>,
    bounds: Vec<f64>,
    patches: Vec<SpatialForce>,
    fallbacks: u64,
}

impl QuasistaticSolver {
    /// Impulse on B of each contact in its axes (n, t1, t2) [N s]: the multiplier of the friction constraint. Where contacts are
    /// redundant (four corners of a face) only their sum is unique.
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
    /// How many steps clarabel solved because the cone engine did not converge.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }
    /// Forgets what warms up the next step, as after a reset of the scene.
    pub fn forget(&mut self) {
        self.contacts.clear();
    }

    /// Solves `problem` from the warm start in `v`, which becomes the solution. Of the problem only the friction bounds of its
    /// patches change: they end as mu times the normal impulses of the solution.
    ///
    /// # Errors
    /// A problem that is not well-formed; forces that nothing resists; constraints that contradict each other; no convergence of any
    /// engine. `v` is then as it was given.
    pub fn solve(
        &mut self,
        problem: &mut QuasistaticProblem,
        v: &mut [f64],
        settings: &QuasistaticSettings,
    ) -> Result<QuasistaticReport, QuasistaticError> {
        check(problem, v, settings)?;
        let mut friction_passes = 0;
        let mut iterations = 0;
        loop {
            let result = clarabel_engine::solve(problem, settings)?;
            iterations += result.iterations;
            let change = if problem.patches().is_empty() || settings.friction_passes_max == 0 {
                0.0
            } else {
                problem.refresh_friction(&result.v)
            };
            if change > settings.friction_tolerance && friction_passes < settings.friction_passes_max {
                friction_passes += 1;
                continue;
            }
            self.take(result, v);
            let residuals = residuals(problem, settings.friction, v, self);
            return Ok(QuasistaticReport {
                engine: Engine::Clarabel,
                fallback: false,
                iterations,
                outer_iterations: 0,
                friction_passes,
                friction_change: change,
                residuals,
            });
        }
    }

    fn take(&mut self, result: ClarabelResult, v: &mut [f64]) {
        v.copy_from_slice(&result.v);
        self.contacts = result.contacts;
        self.rows = result.rows;
        self.bounds = result.bounds;
        self.patches = result.patches;
    }
}

fn check(problem: &QuasistaticProblem, v: &[f64], settings: &QuasistaticSettings) -> Result<(), QuasistaticError> {
    if v.len() != problem.size() {
        return Err(QuasistaticError::Size { given: v.len(), expected: problem.size() });
    }
    if let FrictionCone::Pyramid { rays } = settings.friction
        && rays < 2
    {
        return Err(QuasistaticError::Rays { rays });
    }
    let finite = |what: &'static str, numbers: &[f64]| match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(QuasistaticError::NotFinite { what, index }),
        None => Ok(()),
    };
    finite("initial velocity", v)?;
    finite("entry of Q", &problem.quadratic)?;
    finite("entry of b", &problem.linear)?;
    for (index, contact) in problem.contacts().iter().enumerate() {
        let jacobian = problem.columns(contact).iter().all(|(_, column)| column.iter().all(|x| x.is_finite()));
        if !(contact.gap_rate.is_finite() && contact.friction.is_finite() && jacobian) {
            return Err(QuasistaticError::NotFinite { what: "contact", index });
        }
    }
    Ok(())
}
