//! One binary for all integration tests: laws, golden comparisons, determinism, regressions, tidiness.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod contact_surface_file;
mod contact_surfaces;
mod geometry;
