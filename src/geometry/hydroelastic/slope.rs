//! The slope of a pressure into its geometry, and the faces that are dropped because of it.

use crate::math::Vector3;

/// cos(5 pi / 8). From the face, a pressure should rise into its geometry along the normal. If the direction
/// in which it falls most steeply is within 3 pi / 8 of the normal, the face belongs to the far side of a
/// thin part and is left out. Weaker falls are due to coarse tessellations, and their faces stay. [-]
pub const FACE_GRADIENT_COSINE_MIN: f64 = -0.382_683_432_365_089_8;

/// The slope [Pa/m] of a pressure along the unit vector into its geometry, or `None` if it falls too steeply;
/// `steepest` is the norm of its `gradient`. See [`FACE_GRADIENT_COSINE_MIN`].
#[inline]
pub(super) fn slope_into(gradient: &Vector3, steepest: f64, inward: &Vector3) -> Option<f64> {
    let slope = gradient.dot(inward);
    (slope > FACE_GRADIENT_COSINE_MIN * steepest).then_some(slope)
}
