//! Solvers of quasistatic steps against reference solutions and laws.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod corpus;
mod derivatives;
mod laws;
mod planar_gripper;
mod problems;
