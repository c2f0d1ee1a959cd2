//! Requests of services to the simulation thread.

use crate::math::{BodyIndex, IndexVec, RigidTransform, SpatialForce, SpatialVelocity};
use crate::ros::exchange::settings::Physics;
use crate::stepping::Checkpoint;

/// The largest number of requests of a kind that wait for a step boundary: a step may take minutes.
pub(crate) const REQUESTS_MAX: usize = 1000;

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
pub(crate) struct NewBodyState {
    pub(crate) body: BodyIndex,
    pub(crate) X_WB: Option<RigidTransform>,
    pub(crate) V_WB: Option<SpatialVelocity>,
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

/// A change of the simulation at a step boundary. Those of one boundary are made in their order.
#[derive(Debug)]
pub(crate) enum BoundaryChange {
    Reset(ResetScope),
    Checkpoint(CheckpointRequest),
    /// A wrench on a body, about its origin and in its axes. It replaces the previous one on that body.
    Wrench(BodyIndex, SpatialForce),
    BodyState(NewBodyState),
}

impl BoundaryChange {
    /// The reset, if it is one.
    pub(crate) fn reset(&self) -> Option<ResetScope> {
        if let Self::Reset(scope) = self { Some(*scope) } else { None }
    }
}

/// All that the resets among `changes` restore; `None` without a reset.
pub(crate) fn resets(changes: &[BoundaryChange]) -> Option<ResetScope> {
    let both = |a: ResetScope, b: ResetScope| ResetScope { state: a.state || b.state, time: a.time || b.time };
    changes.iter().filter_map(BoundaryChange::reset).reduce(both)
}

/// The outcome of a request for a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct CheckpointOutcome {
    /// The result, or the reason of a failure.
    pub(crate) done: Result<String, String>,
    /// The number of the world that was restored, and its gravity and gains.
    pub(crate) physics: Option<(u64, Physics)>,
}

/// The outcomes of requests for checkpoints.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    /// The number of the newest request.
    pub(crate) number: u64,
    pub(crate) ended: Vec<(u64, CheckpointOutcome)>,
}

/// The reason why steps are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StepRefusal {
    #[error("the simulation is running: pause it first")]
    NotPaused,
    #[error("the total of requested steps must be below 2^64: request fewer")]
    TooMany,
    #[error("{REQUESTS_MAX} requests for steps are waiting: try again later")]
    Waiting,
}
