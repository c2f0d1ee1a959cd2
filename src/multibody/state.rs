//! The state of a model: where it is and how it moves.

/// Coordinates and velocities of a [`Model`](super::Model). The layout of a joint's share is told at
/// [`JointKind`](super::JointKind), its place by [`Joint::q_start`](super::Joint::q_start) and `v_start`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Coordinates [rad], [m], or unit quaternions [-].
    pub q: Vec<f64>,
    /// Generalized velocities [rad/s] or [m/s].
    pub v: Vec<f64>,
}
