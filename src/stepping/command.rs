//! What a controller asks of the joints.

/// The standing command of one joint. What is `None` is not commanded; a joint without any target is held by its
/// actuator's gains at its initial position when it has gains, and free otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointTarget {
    /// Position [rad] or [m] that the joint's impedance pulls towards.
    pub position: Option<f64>,
    /// Velocity [rad/s] or [m/s] that the joint's damping pulls towards.
    pub velocity: Option<f64>,
    /// Feed-forward effort [N m] or [N].
    pub effort: Option<f64>,
}

/// The standing command of all joints of a scene, in the order of `Scene::joint_names`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointCommand {
    /// One target a joint.
    pub targets: Vec<JointTarget>,
}
