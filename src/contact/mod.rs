//! Materials, and contact surfaces and points turned into faces that a solver can use.

mod discretize;
mod material;
mod points;
mod slip;

pub use discretize::{
    Discretized, FaceFriction, GRADIENT_MIN, Hold, PatchSize, approach_speed, force_across, patch_depth, patch_point,
    patch_size, pressing_speed, push_faces, push_faces_about, push_faces_held, push_faces_with_rims,
};
pub use material::{CombinedMaterial, Compliance, ContactMaterial, ContactProperties, PointProperties};
pub use points::{NEAR_RIGID_BETA, PointLoad, RECOVERY_SPEED_MAX, mean_point, push_points};
pub use slip::Slip;
