//! Goals of the action that follows a trajectory: their tolerances, feedback and ends.

use crate::math::ScalarJointIndex;

/// The largest error allowed for a joint; infinity allows any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tolerance {
    /// \[rad\] or \[m\]; `None` selects the node's own tolerance along the path, and allows any error at the
    /// end.
    pub(crate) position: Option<f64>,
    /// [rad/s] or [m/s]; `None` allows any error.
    pub(crate) velocity: Option<f64>,
}

impl Tolerance {
    /// The error that is too large, if one is. `own` is the tolerance of positions if `self` has none.
    pub(super) fn exceeded(&self, own: f64, position_error: f64, velocity_error: f64) -> Option<f64> {
        if position_error.abs() > self.position.unwrap_or(own) {
            return Some(position_error);
        }
        (velocity_error.abs() > self.velocity.unwrap_or(f64::INFINITY)).then_some(velocity_error)
    }
}

/// The requirements of a goal in addition to its points; one tolerance per joint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GoalTolerances {
    pub(crate) number: u64,
    /// Along the path.
    pub(crate) path: Vec<Tolerance>,
    /// At the end.
    pub(crate) end: Vec<Tolerance>,
    /// The time after the last point in which the end may be reached \[ns\]; `None` is unlimited.
    pub(crate) time_tolerance_ns: Option<u64>,
}

/// The end of a goal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GoalEnd {
    Reached,
    /// A joint left its path.
    Path {
        joint: ScalarJointIndex,
        error: f64,
    },
    /// A joint was not at its end in time.
    End {
        joint: ScalarJointIndex,
        error: f64,
    },
    /// The interpolated points of a joint are not finite.
    Overflow {
        joint: ScalarJointIndex,
    },
    /// A command, another trajectory, a cancellation, a reset, a change of the world or a failed step ended
    /// it.
    Interrupted,
}

/// The progress of a goal; one entry per joint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GoalFeedback {
    pub(crate) number: u64,
    pub(crate) time_ns: u64,
    /// Desired position and velocity.
    pub(crate) desired: Vec<(f64, f64)>,
    /// Actual position and velocity.
    pub(crate) actual: Vec<(f64, f64)>,
}

/// The ends and feedback of goals since the last read.
#[derive(Debug, Default)]
pub(crate) struct GoalUpdates {
    pub(crate) ended: Vec<(u64, GoalEnd)>,
    /// The newest feedback of each goal.
    pub(crate) feedback: Vec<GoalFeedback>,
}
