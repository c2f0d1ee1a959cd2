//! Materials, and contact surfaces and points turned into faces that a solver can use.

mod discretize;
mod material;
mod points;

pub use discretize::{
    Discretized, FaceFriction, GRADIENT_MIN, Hold, PatchSize, approach_speed, energy_max, patch_depth, patch_point,
    patch_size, push_faces, push_faces_about, push_faces_at_end, push_faces_held, push_faces_with_rims, resting_forces,
};
pub use material::{CombinedMaterial, Compliance, ContactMaterial, ContactProperties, PointProperties};
pub use points::{NEAR_RIGID_BETA, PointLoad, RECOVERY_SPEED_MAX, mean_point, push_points};
