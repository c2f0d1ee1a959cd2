//! Settings, report and errors of a quasistatic solve.

/// The solver of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The project's own, with a warm start: a semismooth Newton method on the augmented Lagrangian of the
    /// cones. If it does not converge with the relaxed friction model, [`Engine::Clarabel`] solves the step.
    #[default]
    Cone,
    /// Clarabel's interior-point method: the reference, without warm start and without reuse of memory.
    Clarabel,
    /// Lemke's method for the complementarity problem of Coulomb's law on the pyramid [Pang & Tedrake 2021,
    /// eq. 6]. It has no boundary layer, and it solves only small problems without rows and patches.
    Lemke,
}

/// The friction constraint of the rigid contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionCone {
    /// |gamma_t| <= mu gamma_n: the same in all directions.
    #[default]
    Exact,
    /// Anitescu's pyramid with extreme rays n + mu d_j, d_j = cos(2 pi j/m) t1 + sin(2 pi j/m) t2 [Pang &
    /// Tedrake 2021, eq. 7].
    Pyramid {
        /// m >= 2: the number of rays. Two rays are the planar case of the paper (t1 and -t1).
        rays: u32,
    },
}

/// The law of rigid contacts that slide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionModel {
    /// The convex friction constraint alone: a sliding contact keeps a gap of mu h |v_t| [Anitescu 2006].
    #[default]
    Relaxed,
    /// Coulomb's law, found by several convex solves: friction opposes the slip, |gamma_t| <= mu gamma_n, and
    /// there is no gap. It needs [`Engine::Cone`] and [`FrictionCone::Exact`].
    Coulomb,
}

/// Settings of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasistaticSettings {
    /// The engine.
    pub engine: Engine,
    /// The friction constraint.
    pub friction: FrictionCone,
    /// The law of contacts that slide.
    pub model: FrictionModel,
    /// Largest residual of a constraint, as a velocity [m/s] or [rad/s]; the displacement of a step has an
    /// error of about the step times this.
    pub tolerance: f64,
    /// Largest number of Newton iterations of an island in one solve, all outer iterations together.
    pub iterations_max: u32,
    /// Largest number of multiplier updates of an island in one solve.
    pub outer_max: u32,
    /// sigma [-]: the penalty of a contact is 1 / (sigma w). Here w is the contact's mean inverse mass in the
    /// metric, which is diag(Q) plus the stiffness of the rows.
    pub penalty_softness: f64,
    /// Proximal weight of velocities without a term in Q, relative to the metric [-]. It holds them between
    /// two multiplier updates. It changes the iterates and not the solution.
    pub proximal: f64,
    /// Largest number of friction passes; with Coulomb's law at points it is at least 100. Each pass computes
    /// the friction bounds again from the normal impulses of the last solution. 0 keeps the initial bounds of
    /// the patches.
    pub friction_passes_max: u32,
    /// The passes end when no friction bound changes by more than this, relative to the largest bound of the
    /// bodies that contacts connect with it [-].
    pub friction_tolerance: f64,
}

impl Default for QuasistaticSettings {
    fn default() -> Self {
        Self {
            engine: Engine::Cone,
            friction: FrictionCone::Exact,
            model: FrictionModel::Relaxed,
            tolerance: 1e-8,
            iterations_max: 200,
            outer_max: 60,
            penalty_softness: 1e-7,
            proximal: 1e-4,
            friction_passes_max: 20,
            friction_tolerance: 1e-6,
        }
    }
}

/// The residuals of the conditions of optimality.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuasistaticResiduals {
    /// Largest entry of Q v - b - impulses: force balance of the generalized velocities [N s] or [N m s].
    pub stationarity: f64,
    /// Largest violation of a contact's constraint or of a bound [m/s] or [rad/s]. The constraint is
    /// phi/h + n . v_C >= mu |v_t|. A pyramid replaces |v_t| by its rays, and Coulomb's law by 0.
    pub primal: f64,
    /// Largest excess of a contact's friction over its friction cone: (|gamma_t| - mu gamma_n)+ [N s].
    pub cone: f64,
    /// Largest |gamma . y| of a contact, with y = J v + phi/h n, and of a bound \[J\]. In Coulomb's law only
    /// the normal part counts.
    pub complementarity: f64,
}

/// The report of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasistaticReport {
    /// The engine that produced the result.
    pub engine: Engine,
    /// Whether [`Engine::Cone`] was selected but did not converge, so that Clarabel solved the step.
    pub fallback: bool,
    /// Newton or interior-point iterations, or pivots of Lemke's method.
    pub iterations: u32,
    /// Multiplier updates of [`Engine::Cone`]; 0 for the other engines.
    pub outer_iterations: u32,
    /// Passes that computed the friction bounds again: of patches and, with Coulomb's law, of points.
    pub friction_passes: u32,
    /// Largest relative change of a friction bound in the last pass [-]. It is above the setting if the limit
    /// of passes was reached.
    pub friction_change: f64,
    /// The residuals of the conditions of optimality.
    pub residuals: QuasistaticResiduals,
}

/// The part of a problem that an error names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemPart {
    /// The contact with this index.
    Contact(usize),
    /// The patch with this index.
    Patch(usize),
    /// This generalized velocity, or the bound on it.
    Velocity(usize),
}

/// The reason why there is no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuasistaticError {
    /// The length of a list differs from the size of the problem.
    #[error("{given} numbers are given for {expected} in the problem: give as many as it has")]
    Size {
        /// Length of the list.
        given: usize,
        /// Required length.
        expected: usize,
    },
    /// A number of the problem is not finite.
    #[error("{what} {index} of the problem is not finite: check for masses, stiffnesses and efforts that overflow")]
    NotFinite {
        /// The part of the problem.
        what: &'static str,
        /// The index of the entry.
        index: usize,
    },
    /// A barrier without a positive weight.
    #[error("the barrier's weight is {kappa} J; it must be positive and finite")]
    BarrierWeight {
        /// The weight \[J\].
        kappa: f64,
    },
    /// A pyramid with fewer than two rays.
    #[error("a friction pyramid needs at least 2 rays, not {rays}")]
    Rays {
        /// The setting.
        rays: u32,
    },
    /// No term resists a force: the cost decreases without bound along a direction of the velocities.
    #[error(
        "no contact, impedance or mass resists the impulse {impulse:.3e} on generalized velocity {dof}; \
         set `inertia: mass`, or support its body"
    )]
    Unbounded {
        /// The generalized velocity along which the force does the most work.
        dof: usize,
        /// Its entry of b [N s] or [N m s].
        impulse: f64,
    },
    /// The constraints contradict each other.
    #[error("no velocity satisfies all contacts and bounds: {detail}")]
    Infeasible {
        /// The contradicting constraints, with their weights in the certificate.
        detail: String,
        /// The same constraints, without the weights.
        parts: Vec<ProblemPart>,
    },
    /// Coulomb's law was chosen with a pyramid, or with an engine other than the cone engine.
    #[error("Coulomb's law needs the cone engine and the exact cone; use them, or the relaxed friction model")]
    NotForCoulomb,
    /// Derivatives were requested before a linearization.
    #[error("there is nothing to differentiate: linearize the step first, and again after every solve")]
    NotLinearized,
    /// The solution has no derivatives.
    #[error("the solution has no derivatives: {reason}")]
    NoDerivatives {
        /// The contact or velocity whose change is not determined.
        part: ProblemPart,
        /// The reason.
        reason: &'static str,
    },
    /// A problem that Lemke's method does not support.
    #[error(
        "Lemke's method supports rigid contacts with friction pyramids and bounds, but no rows, patches or exact cones; use another engine"
    )]
    NotForLemke,
    /// Hunt-Crossley dissipation is not quadratic.
    #[error(
        "patch {patch} has Hunt-Crossley dissipation, which has no quadratic form; use none or a linear one in a quasistatic step"
    )]
    Dissipation {
        /// The index of the patch.
        patch: usize,
    },
    /// The solver stopped without a solution.
    #[error("the quasistatic step stopped after {iterations} iterations at residual {residual:.1e}: {status}")]
    NotConverged {
        /// Iterations of the last engine that was tried.
        iterations: u32,
        /// Its residual.
        residual: f64,
        /// Its status.
        status: String,
    },
}
