//! Quasistatic steps as convex programs [Pang & Tedrake 2021], and what solves them.

mod clarabel_engine;
mod cone_engine;
mod factor;
mod friction;
mod islands;
mod memory;
mod newton;
mod problem;
mod residuals;
mod settings;
mod solver;

pub use problem::{ConeContact, ContactKey, QuasistaticProblem, VelocityBound};
pub use settings::{
    Engine, FrictionCone, QuasistaticError, QuasistaticReport, QuasistaticResiduals, QuasistaticSettings,
};
pub use solver::QuasistaticSolver;
