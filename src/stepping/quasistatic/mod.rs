//! Quasistatic steps, and their derivatives.

mod closures;
mod derivative_error;
mod derivatives;
mod differences;
mod failure;
mod field_trial;
mod handle;
mod impedances;
mod inertia;
mod linearization;
mod parts;
mod path;
mod rollout;
mod sample_point;
mod slopes;
mod smoothed;
mod spent;
mod step;
mod support;
mod weight_model;
mod weight_slopes;
mod weights;
mod wrenches;

pub use derivative_error::DerivativeError;
pub use derivatives::QuasistaticDerivatives;
pub(super) use inertia::InertialPart;
pub use rollout::{RolloutStep, SmoothedRollout, barrier_weights};
pub(super) use step::QuasistaticStep;
