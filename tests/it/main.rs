//! One binary for all integration tests: laws, golden comparisons, determinism, regressions, tidiness.
#![allow(non_snake_case)]

mod multibody;
