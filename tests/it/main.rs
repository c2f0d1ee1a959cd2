//! One binary for all integration tests: laws, golden comparisons, determinism, regressions, tidiness.

#![allow(non_snake_case)]

mod contact_surface_file;
mod contact_surfaces;
mod geometry;
