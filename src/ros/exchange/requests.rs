//! Requests of services to the simulation thread.

use crate::math::{BodyIndex, IndexVec, RigidTransform, SpatialVelocity};
use crate::ros::exchange::settings::Physics;
use crate::stepping::Checkpoint;

/// The parts of the simulation that a reset restores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResetScope {
    /// Poses, velocities and commands.
    pub(crate) state: bool,
    /// Simulated time, to zero; otherwise time continues.
    pub(crate) time: bool,
}

/// A new pose or a new velocity of a free body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placement {
    pub(crate) body: BodyIndex,
    pub(crate) X_WB: Option<RigidTransform>,
    pub(crate) V_WB: Option<SpatialVelocity>,
}

/// Requests for the states of the bodies at the next step boundary.
#[derive(Debug, Default)]
pub(crate) struct StateRequests {
    /// The total number of requests, including these.
    pub(crate) number: u64,
    /// Placements to make before the answer.
    pub(crate) placements: Vec<Placement>,
}

/// The bodies at a step boundary.
#[derive(Debug, Default)]
pub(crate) struct BodyStates {
    pub(crate) time_ns: u64,
    pub(crate) X_WB: IndexVec<BodyIndex, RigidTransform>,
    pub(crate) V_WB: IndexVec<BodyIndex, SpatialVelocity>,
    /// Mean acceleration of the free bodies over the last step; zero for the others [rad/s2, m/s2].
    pub(crate) A_WB: IndexVec<BodyIndex, SpatialVelocity>,
}

/// A request to save the simulation, or to restore it.
#[derive(Debug)]
pub(crate) struct CheckpointRequest {
    pub(crate) number: u64,
    /// The checkpoint to restore; `None` saves one.
    pub(crate) restore: Option<Box<Checkpoint>>,
}

/// The outcome of a request for a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct CheckpointOutcome {
    /// The result, or the reason of a failure.
    pub(crate) done: Result<String, String>,
    /// Gravity and gains of a restored checkpoint.
    pub(crate) physics: Option<Physics>,
}

/// The requests for checkpoints that wait, and those that ended.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    /// The number of the newest request.
    pub(crate) number: u64,
    pub(crate) waiting: Vec<CheckpointRequest>,
    pub(crate) ended: Vec<(u64, CheckpointOutcome)>,
}

/// The reason why steps are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StepRefusal {
    #[error("the simulation is running: pause it first")]
    NotPaused,
    #[error("the total of requested steps must be below 2^64: request fewer")]
    TooMany,
}
