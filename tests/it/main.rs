//! One binary for all integration tests: laws, golden comparisons, determinism, regressions, tidiness.

mod contact_laws;
mod contact_surfaces;
mod golden;
mod joint_laws;
mod one_step;
mod tidy;
mod worlds;
mod urdf;
