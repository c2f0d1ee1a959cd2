//! Quasistatic steps as convex programs [Pang & Tedrake 2021], and what solves them.

mod problem;

pub use problem::{ConeContact, ContactKey, QuasistaticProblem, VelocityBound};
