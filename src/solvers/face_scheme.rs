//! The relation of friction to the normal force, face by face.

/// The relation of the friction of a face to its normal force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FaceScheme {
    /// Fixed bounds ([`PatchBlock::lag_friction`](super::PatchBlock::lag_friction)).
    #[default]
    Lagged,
    /// Friction of a normal force that grows with the slip.
    Similar,
    /// Projection on the friction cone.
    Sap {
        /// beta [-]: the natural period of the face is at least beta dt. With 0 its stiffness has no limit.
        near_rigid: f64,
    },
    /// Friction of the normal force of the same velocity.
    Tamsi,
}
