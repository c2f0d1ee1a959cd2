//! The solvers and friction models of a complementarity step, and which of them go together.

/// The solver of a complementarity step [Andersson 2021, section 3.4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComplementaritySolver {
    /// All rows at once, by pivoting or by Newton's method, to rounding.
    #[default]
    Direct,
    /// Projected Gauss-Seidel: a number of sweeps over the rows.
    GaussSeidel,
    /// Joints and normal forces by pivoting, friction by sweeps.
    Split,
    /// The direct solution with scaled box friction, then sweeps over all rows.
    DirectAndIterative,
}

/// The frame in which a friction box has its axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionFrame {
    /// The world's.
    #[default]
    World,
    /// The second body's, or the first's if the second is the world.
    Body,
    /// Along the velocity of slip at the start of the step.
    Slip,
}

/// The friction of a complementarity step [Andersson 2021, sections 3.2.1, 3.3 and 3.5].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FrictionLaw {
    /// A box along the world's axes, bounded by mu times the normal impulse of the step before.
    Box,
    /// A box along the world's axes, bounded by mu times the normal impulse of the step itself.
    ScaledBox,
    /// A scaled box in a frame of choice.
    OrientedBox(FrictionFrame),
    /// A scaled box, turned by a random angle in each step.
    Randomized {
        /// The seed of the angles.
        seed: u64,
    },
    /// A scaled box along two of a number of directions: the nearest to the last friction force, and the one
    /// most orthogonal to it.
    MultiDirectional {
        /// The number of directions in half a turn, at least 2.
        directions: u32,
    },
    /// The cone, onto which sweeps project.
    ProjectedCone,
    /// A cone with flat sides [eq. 3.15].
    PolyhedralCone {
        /// The number of its edges, at least 3.
        edges: u32,
    },
    /// The cone itself, by Newton's method.
    #[default]
    ExactCone,
}

impl ComplementaritySolver {
    /// All solvers.
    pub const ALL: [Self; 4] = [Self::Direct, Self::GaussSeidel, Self::Split, Self::DirectAndIterative];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::GaussSeidel => "gauss_seidel",
            Self::Split => "split",
            Self::DirectAndIterative => "direct_and_iterative",
        }
    }

    /// The names of the friction models that this solver has.
    pub fn friction_names(self) -> &'static [&'static str] {
        match self {
            Self::Direct => &[
                "box",
                "scaled_box",
                "oriented_box",
                "randomized",
                "multi_directional",
                "polyhedral_cone",
                "exact_cone",
            ],
            Self::GaussSeidel | Self::Split => &["box", "scaled_box", "oriented_box", "projected_cone"],
            Self::DirectAndIterative => &["scaled_box", "oriented_box", "randomized", "projected_cone"],
        }
    }
}

impl ComplementaritySolver {
    /// The friction model of this solver if none is chosen: a cone.
    pub fn default_friction(self) -> FrictionLaw {
        match self {
            Self::Direct => FrictionLaw::ExactCone,
            Self::GaussSeidel | Self::Split | Self::DirectAndIterative => FrictionLaw::ProjectedCone,
        }
    }
}

impl FrictionLaw {
    /// All names of friction models in scene files.
    pub const NAMES: [&'static str; 8] = [
        "box",
        "scaled_box",
        "oriented_box",
        "randomized",
        "multi_directional",
        "projected_cone",
        "polyhedral_cone",
        "exact_cone",
    ];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::ScaledBox => "scaled_box",
            Self::OrientedBox(_) => "oriented_box",
            Self::Randomized { .. } => "randomized",
            Self::MultiDirectional { .. } => "multi_directional",
            Self::ProjectedCone => "projected_cone",
            Self::PolyhedralCone { .. } => "polyhedral_cone",
            Self::ExactCone => "exact_cone",
        }
    }
}

/// Settings that are refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RefusedSettings {
    /// A solver and a friction model that do not go together.
    #[error("the solver `{}` has no friction `{friction}`; it has {}. Solvers with this friction: {}",
        solver.name(), list(solver.friction_names()), with(friction))]
    Pair {
        /// The solver.
        solver: ComplementaritySolver,
        /// The name of the friction model.
        friction: &'static str,
    },
    /// Too few directions, edges or iterations.
    #[error("{given} {kind} are too few; give at least {least}")]
    TooFew {
        /// Their kind.
        kind: &'static str,
        /// Their number.
        given: u32,
        /// The least number.
        least: u32,
    },
}

/// The solvers with a friction model.
fn with(friction: &str) -> String {
    let solvers = ComplementaritySolver::ALL.into_iter();
    list(
        &solvers
            .filter(|solver| solver.friction_names().contains(&friction))
            .map(|solver| solver.name())
            .collect::<Vec<_>>(),
    )
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The settings of a complementarity solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComplementaritySettings {
    /// The solver.
    pub solver: ComplementaritySolver,
    /// The friction model.
    pub friction: FrictionLaw,
    /// Sweeps of the iterative parts.
    pub iterations: u32,
    /// A solve has converged if no row violates its law by more than this part of the largest impulse, both
    /// times the square root of the row's inverse inertia [-].
    pub tolerance: f64,
    /// The largest number of times that the bounds of friction are renewed from the normal impulses of the
    /// solve.
    pub rounds_max: u32,
}

impl Default for ComplementaritySettings {
    /// The direct solver with the exact cone, which converges in every step, and the thesis's 16 iterations.
    /// Deviation: the default of the thesis is the split solver with the projected cone, whose sweeps mostly
    /// end before they meet the tolerance.
    fn default() -> Self {
        Self {
            solver: ComplementaritySolver::default(),
            friction: FrictionLaw::default(),
            iterations: 16,
            tolerance: 1e-6,
            rounds_max: 100,
        }
    }
}

impl ComplementaritySettings {
    /// Whether Newton's method solves the friction. Its cost is proportional to the number of points. Pivots
    /// and sweeps are needed in larger numbers with more points.
    pub fn has_exact_cone(&self) -> bool {
        matches!(self.friction, FrictionLaw::ExactCone | FrictionLaw::PolyhedralCone { .. })
    }

    /// Checks that the solver has the friction model, and the numbers of both.
    ///
    /// # Errors
    /// A pair that does not exist, with the list of those that do; too few iterations, directions or edges.
    pub fn check(&self) -> Result<(), RefusedSettings> {
        let friction = self.friction.name();
        if !self.solver.friction_names().contains(&friction) {
            return Err(RefusedSettings::Pair { solver: self.solver, friction });
        }
        let (kind, given, least) = match self.friction {
            FrictionLaw::MultiDirectional { directions } => ("directions of friction", directions, 2),
            FrictionLaw::PolyhedralCone { edges } => ("edges of a friction cone", edges, 3),
            _ => ("iterations", self.iterations, 1),
        };
        if given < least { Err(RefusedSettings::TooFew { kind, given, least }) } else { Ok(()) }
    }
}
