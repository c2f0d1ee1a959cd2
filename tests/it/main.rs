//! One binary for all integration tests: laws, golden comparisons, determinism, regressions, tidiness.

mod multibody;
