//! Quasistatic steps, and their derivatives.

mod closures;
mod derivative_error;
mod derivatives;
mod differences;
mod failure;
mod impedances;
mod inertia;
mod parts;
mod path;
mod place;
mod rollout;
mod step;
mod support;

pub use derivative_error::DerivativeError;
pub use derivatives::QuasistaticDerivatives;
pub(super) use inertia::InertialPart;
pub use rollout::{RolloutStep, SmoothedRollout};
pub(super) use step::QuasistaticStep;
