//! Commands and trajectories on trial: whether a step has succeeded with them, and which of them are
//! withdrawn after one that failed.

use crate::math::ScalarJointIndex;
use crate::stepping::JointTarget;

/// Whether a step has succeeded with a command or a trajectory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trial {
    /// No step has used it yet.
    New,
    /// The present step, or one that failed, is the first to use it.
    Attempted,
    /// Yes.
    #[default]
    Passed,
}

impl Trial {
    /// A step begins; the one before has succeeded if it `passed`.
    pub(super) fn begin_step(&mut self, passed: bool) {
        *self = match *self {
            Self::New => Self::Attempted,
            Self::Attempted if passed => Self::Passed,
            trial => trial,
        };
    }
}

/// The commands without which the failed step is tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// No step has failed.
    #[default]
    None,
    /// New commands of the joints that the failure names.
    NewNamed,
    /// All new commands.
    New,
    /// Commands of the joints that the failure names.
    Named,
    /// Trajectories.
    Trajectories,
    All,
}

impl Stage {
    pub(super) fn next(self) -> Self {
        match self {
            Self::None => Self::NewNamed,
            Self::NewNamed => Self::New,
            Self::New => Self::Named,
            Self::Named => Self::Trajectories,
            Self::Trajectories | Self::All => Self::All,
        }
    }
}

/// The outcome of `StandingCommand::withdraw`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Withdrawal {
    /// These targets are withdrawn; `all` says that no others are left.
    Targets { targets: Vec<(ScalarJointIndex, JointTarget)>, all: bool },
    /// Nothing is left, but commands have come that no step has used yet.
    Newer,
    /// Nothing is left.
    Nothing,
}
