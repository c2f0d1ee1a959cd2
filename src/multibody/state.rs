//! The state of a model: its positions and velocities.

/// Coordinates and velocities of a [`Model`](super::Model). [`JointKind`](super::JointKind) describes the
/// layout of a joint's part, which starts at [`Joint::q_start`](super::Joint::q_start) and `v_start`.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Coordinates \[rad\], \[m\], or unit quaternions [-].
    pub q: Vec<f64>,
    /// Generalized velocities [rad/s] or [m/s].
    pub v: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { q: self.q.clone(), v: self.v.clone() }
    }
    /// Reuses the memory, unlike a derived implementation.
    fn clone_from(&mut self, source: &Self) {
        self.q.clone_from(&source.q);
        self.v.clone_from(&source.v);
    }
}
