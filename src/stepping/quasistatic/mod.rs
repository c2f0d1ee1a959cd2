//! Quasistatic steps, and their derivatives.

mod derivatives;
mod failure;
mod impedances;
mod inertia;
mod parts;
mod step;
mod support;

pub use derivatives::{DerivativeError, QuasistaticDerivatives};
pub(super) use inertia::InertialPart;
pub(super) use step::QuasistaticStep;
