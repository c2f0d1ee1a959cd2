//! Materials and bodies that several experiments share.

use crate::contact::ContactProperties;
use crate::math::{Matrix3, SpatialInertia, Vector3};

/// The friction coefficient that every geometry of a pushed object has [-].
pub(super) const MU_OBJECT: f64 = 0.2;

/// The friction coefficient of a material that makes `mu` together with [`MU_OBJECT`] \[-\].
pub(super) fn beside(mu: f64) -> f64 {
    mu * MU_OBJECT / (2.0 * MU_OBJECT - mu)
}

pub(super) fn rigid(friction: f64) -> ContactProperties {
    ContactProperties { compliant: Some(false), mu_dynamic: Some(friction), ..ContactProperties::default() }
}

pub(super) fn compliant(modulus: f64, friction: f64) -> ContactProperties {
    let hydroelastic_modulus = Some(modulus);
    ContactProperties { compliant: Some(true), hydroelastic_modulus, ..rigid(friction) }
}

/// Moments of inertia of a homogeneous box about its centre [kg m2].
pub(super) fn box_moments(mass: f64, size: &Vector3) -> Vector3 {
    let [x, y, z] = [0, 1, 2].map(|i| size[i] * size[i] * mass / 12.0);
    Vector3::new(y + z, x + z, x + y)
}

/// Inertia of a homogeneous box about its centre.
pub(super) fn box_inertia(mass: f64, size: &Vector3) -> SpatialInertia {
    SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&box_moments(mass, size)))
}
