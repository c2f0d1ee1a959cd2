//! The command of a joint that a derivative varies: its position, or its effort if its actuator has no
//! stiffness.

use crate::math::{Index, ScalarJointIndex};
use crate::scene::Actuator;
use crate::stepping::command::{JointCommand, JointTarget};

/// The command of a joint that a column varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Handle {
    /// The commanded position. An effort e acts as a change of the position by e/K, with the stiffness K.
    Position {
        /// K [N m/rad] or [N/m].
        stiffness: f64,
    },
    /// The commanded effort: the column is that of `unit` efforts.
    Effort {
        /// The effort that belongs to a change of 1 [N m] or \[N\].
        unit: f64,
        /// The damping of the actuator, with which a velocity command acts as an effort [N m s/rad] or
        /// [N s/m].
        damping: f64,
    },
}

impl Handle {
    /// The handle of an actuator in steps of h \[s\]. Without stiffness, the unit is the effort that moves
    /// its damper by 1 in a step.
    pub(super) fn of(actuator: &Actuator, h: f64) -> Self {
        match actuator.damping {
            _ if actuator.stiffness > 0.0 => Self::Position { stiffness: actuator.stiffness },
            damping if damping > 0.0 => Self::Effort { unit: damping / h, damping },
            damping => Self::Effort { unit: 1.0, damping },
        }
    }

    /// The changes of the column per unit of a position, of an effort and of a velocity.
    pub(super) fn per_position(self) -> f64 {
        match self {
            Self::Position { .. } => 1.0,
            Self::Effort { .. } => 0.0,
        }
    }
    pub(super) fn per_effort(self) -> f64 {
        match self {
            Self::Position { stiffness } => 1.0 / stiffness,
            Self::Effort { unit, .. } => 1.0 / unit,
        }
    }
    pub(super) fn per_velocity(self) -> f64 {
        match self {
            Self::Position { .. } => 0.0,
            Self::Effort { unit, damping } => damping / unit,
        }
    }
}

/// Moves the command of a joint by `increment`, and returns the command before.
pub(super) fn move_command(
    command: &mut JointCommand,
    joint: usize,
    handles: &[Handle],
    increment: f64,
) -> Option<JointTarget> {
    let target = command.targets.get_mut(ScalarJointIndex::from_usize(joint))?;
    let before = *target;
    match handles.get(joint)? {
        Handle::Position { .. } => target.position = target.position.map(|position| position + increment),
        Handle::Effort { unit, .. } => target.effort = Some(target.effort.unwrap_or(0.0) + unit * increment),
    }
    Some(before)
}

/// Takes back [`move_command`].
pub(super) fn restore_command(command: &mut JointCommand, joint: Option<usize>, before: Option<JointTarget>) {
    let target = joint.and_then(|joint| command.targets.get_mut(ScalarJointIndex::from_usize(joint)));
    if let (Some(target), Some(before)) = (target, before) {
        *target = before;
    }
}
