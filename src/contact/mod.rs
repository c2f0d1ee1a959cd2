//! Materials, and contact surfaces turned into faces that a solver can use.

mod discretize;
mod material;

pub use discretize::{Discretized, GRADIENT_MIN, patch_point, push_faces};
pub use material::{CombinedMaterial, Compliance, ContactMaterial, ContactProperties};
