//! Quasistatic steps as convex programs or as complementarity problems [Pang & Tedrake 2021], and their
//! solvers.

mod bound_system;
mod check;
mod cone_engine;
mod coulomb;
mod derivative;
mod diagnosis;
mod friction;
mod interior_point;
mod islands;
mod lcp;
pub(super) mod lemke;
mod limited_springs;
mod memory;
mod newton;
mod problem;
mod residuals;
mod settings;
mod smoothing;
mod solver;
mod working_set;

pub use derivative::ProblemDirection;
pub use diagnosis::{ContactAxis, LcpDiagnosis, SolutionRange, diagnose_lcp};
pub use lcp::{LcpSolution, solve_lcp};
pub use problem::{ConeContact, ContactKey, QuasistaticProblem, VelocityBound};
pub use settings::{
    Engine, FrictionCone, FrictionModel, ProblemPart, QuasistaticError, QuasistaticReport, QuasistaticResiduals,
    QuasistaticSettings,
};
pub use solver::QuasistaticSolver;
