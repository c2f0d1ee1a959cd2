//! Materials, and contact surfaces turned into faces that a solver can use.

mod discretize;
mod material;

pub use discretize::{Discretized, FACE_AREA_MIN, GRADIENT_MIN, effective_gradient, patch_point, push_faces};
pub use material::{CombinedMaterial, Compliance, ContactMaterial, ContactProperties};
