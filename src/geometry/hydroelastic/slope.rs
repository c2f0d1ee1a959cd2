//! The slope of a pressure into its geometry, and the faces that are dropped because of it.

use crate::math::Vector3;

/// cos(5 pi / 8). A pressure should rise into its geometry from the face, along the normal; where it falls
/// along a line less than 3 pi / 8 from the normal, the face belongs to the far side of a thin part, and it
/// is left out. Smaller falls are due to coarse tessellations, and their faces stay. [-]
pub const FACE_GRADIENT_COSINE_MIN: f64 = -0.382_683_432_365_089_8;

/// The slope [Pa/m] of a pressure along the unit vector into its geometry, or `None` if it falls too steeply;
/// `steepest` is the norm of its `gradient`. See [`FACE_GRADIENT_COSINE_MIN`].
#[inline]
pub(super) fn slope_into(gradient: &Vector3, steepest: f64, inward: &Vector3) -> Option<f64> {
    let slope = gradient.dot(inward);
    (slope > FACE_GRADIENT_COSINE_MIN * steepest).then_some(slope)
}
