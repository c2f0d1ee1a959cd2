//! Materials, and contact surfaces turned into faces that a solver can use.

mod material;

pub use material::{Compliance, ContactMaterial, ContactProperties};
