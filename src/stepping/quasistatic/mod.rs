//! Quasistatic steps, and their derivatives.

mod derivatives;
mod impedances;
mod step;
mod support;

pub use derivatives::{DerivativeError, QuasistaticDerivatives};
pub(super) use step::QuasistaticStep;
