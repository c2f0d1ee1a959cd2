//! Joint commands by name: checked, clamped and merged into the standing command.

use crate::stepping::JointCommand;
#[cfg(test)]
use crate::stepping::JointTarget;

use super::names::{did_you_mean, shown};

/// What a joint allows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CommandedJoint {
    /// The joint's name, as its controller knows it.
    pub(super) name: String,
    /// Where it stands in the scene's list of joints.
    pub(super) target: usize,
    /// Which quantities it takes.
    pub(super) mode: ControlMode,
    /// Lowest position [rad] or [m].
    pub(super) lower: f64,
    /// Highest position [rad] or [m].
    pub(super) upper: f64,
    /// Largest speed [rad/s] or [m/s].
    pub(super) velocity: f64,
    /// Largest effort [N m] or [N].
    pub(super) effort: f64,
}

/// Which of the quantities of a command a joint takes; the others are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ControlMode {
    /// Whatever is filled.
    #[default]
    Auto,
    /// Position, and the velocity that goes with it.
    Position,
    /// Velocity alone.
    Velocity,
    /// Effort alone.
    Effort,
}

impl ControlMode {
    /// The names of the modes, as parameters.
    pub(super) const NAMES: [&'static str; 4] = ["auto", "position", "velocity", "effort"];

    /// The mode of that name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "position" => Self::Position,
            "velocity" => Self::Velocity,
            "effort" => Self::Effort,
            _ => Self::Auto,
        }
    }

    /// Whether position, velocity and effort are taken.
    fn takes(self) -> [bool; 3] {
        match self {
            Self::Auto => [true; 3],
            Self::Position => [true, true, false],
            Self::Velocity => [false, true, false],
            Self::Effort => [false, false, true],
        }
    }
}

#[cfg(test)]
impl CommandedJoint {
    /// A joint that may be anywhere within 10 of zero, at most as fast as 1, with efforts up to 80.
    pub(super) fn test(name: &str, target: usize) -> Self {
        let mode = ControlMode::Auto;
        Self { name: name.to_owned(), target, mode, lower: -10.0, upper: 10.0, velocity: 1.0, effort: 80.0 }
    }
}

/// The arrays of a sensor_msgs/JointState. Each of the last three is empty (not commanded) or as long as `name`; shorter ones
/// are for the joints of a control mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandMessage<'a> {
    /// Joints, in any order; any subset.
    pub(super) name: &'a [String],
    /// Positions [rad] or [m].
    pub(super) position: &'a [f64],
    /// Velocities [rad/s] or [m/s].
    pub(super) velocity: &'a [f64],
    /// Efforts [N m] or [N].
    pub(super) effort: &'a [f64],
}

impl<'a> CommandMessage<'a> {
    /// The arrays with their names, and the mode whose joints take that quantity alone.
    fn arrays(&self) -> [(&'static str, &'a [f64], ControlMode); 3] {
        [
            ("position", self.position, ControlMode::Position),
            ("velocity", self.velocity, ControlMode::Velocity),
            ("effort", self.effort, ControlMode::Effort),
        ]
    }
}

/// Why a command was dropped as a whole. The standing command stays as it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum CommandError {
    #[error("unknown joint '{name}'{suggestion}")]
    UnknownJoint { name: String, suggestion: String },
    #[error("joint '{name}' is named twice")]
    DuplicateJoint { name: String },
    #[error("{names} names and {values} values in '{array}'; give none, or one for each name")]
    Length { array: &'static str, names: usize, values: usize },
    #[error("{array} of joint '{name}' is {value}; it must be finite")]
    NotFinite { array: &'static str, name: String, value: f64 },
    #[error("no values: fill position, velocity or effort, with the joints in 'name'")]
    Empty,
    #[error("stamp {stamp_ns} ns is not that of the present state ({problem}); in lockstep each command carries it")]
    Stamp { stamp_ns: u64, problem: &'static str },
    #[error("{values} values for {joints} joints; give one for each")]
    GroupLength { joints: usize, values: usize },
    #[error("not in lockstep: only joint_commands carry the stamp of a state")]
    NotInLockstep,
}

impl CommandError {
    /// Kinds that are counted apart.
    pub(super) const KINDS: usize = 8;

    /// The number of this kind, below [`CommandError::KINDS`].
    pub(super) fn kind(&self) -> usize {
        match self {
            Self::UnknownJoint { .. } => 0,
            Self::DuplicateJoint { .. } => 1,
            Self::Length { .. } => 2,
            Self::NotFinite { .. } => 3,
            Self::Empty => 4,
            Self::Stamp { .. } => 5,
            Self::GroupLength { .. } => 6,
            Self::NotInLockstep => 7,
        }
    }
}

/// A value that lay outside its limits and was moved to the nearer one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clamped {
    pub(super) joint: usize,
    pub(super) array: &'static str,
    pub(super) asked: f64,
    pub(super) used: f64,
}

/// Merges `message` into `standing`: values given replace those of the same joint and kind, everything else stays.
/// What was clamped is appended to `clamped`.
///
/// # Errors
/// A malformed message; `standing` is then unchanged.
pub(super) fn merge(
    joints: &[CommandedJoint],
    message: &CommandMessage<'_>,
    standing: &mut JointCommand,
    clamped: &mut Vec<Clamped>,
) -> Result<(), CommandError> {
    let indices = find(joints, message.name)?;
    let slots = check(joints, &indices, message)?;
    for (place, &index) in indices.iter().enumerate() {
        let joint = &joints[index];
        let Some(target) = standing.targets.get_mut(joint.target) else { continue };
        let takes = joint.mode.takes();
        let mut take = |number: usize, lower: f64, upper: f64, slot: &mut Option<f64>| {
            let (array, values, _) = message.arrays()[number];
            let Some(asked) = slots[number][place].map(|at| values[at]).filter(|_| takes[number]) else { return };
            let used = asked.max(lower).min(upper);
            if used != asked {
                clamped.push(Clamped { joint: index, array, asked, used });
            }
            *slot = Some(used);
        };
        take(0, joint.lower, joint.upper, &mut target.position);
        take(1, -joint.velocity, joint.velocity, &mut target.velocity);
        take(2, -joint.effort, joint.effort, &mut target.effort);
    }
    Ok(())
}

/// Where each named joint stands in `joints`.
fn find(joints: &[CommandedJoint], names: &[String]) -> Result<Vec<usize>, CommandError> {
    let mut indices = Vec::with_capacity(names.len().min(joints.len()));
    for name in names {
        let Some(index) = joints.iter().position(|joint| joint.name == *name) else {
            let suggestion = did_you_mean(name, joints.iter().map(|joint| joint.name.as_str()));
            return Err(CommandError::UnknownJoint { name: shown(name), suggestion });
        };
        if indices.contains(&index) {
            return Err(CommandError::DuplicateJoint { name: shown(name) });
        }
        indices.push(index);
    }
    Ok(indices)
}

/// For each of the three arrays, where in it the value for each name stands, once the whole message is known to be good.
fn check(
    joints: &[CommandedJoint],
    indices: &[usize],
    message: &CommandMessage<'_>,
) -> Result<[Vec<Option<usize>>; 3], CommandError> {
    let arrays = message.arrays();
    let mut slots: [Vec<Option<usize>>; 3] = Default::default();
    for (slots, (array, values, mode)) in slots.iter_mut().zip(arrays) {
        *slots = layout(joints, indices, mode, values.len()).ok_or(CommandError::Length {
            array,
            names: indices.len(),
            values: values.len(),
        })?;
    }
    if arrays.iter().all(|(_, values, _)| values.is_empty()) {
        return Err(CommandError::Empty);
    }
    let blank = |values: &[f64]| values.iter().all(|value| value.is_nan());
    let says_something = arrays.iter().any(|(_, values, _)| !blank(values));
    for (slots, (array, values, _)) in slots.iter_mut().zip(arrays) {
        if says_something && blank(values) {
            // ros2_control writes NaN for interfaces that no controller has claimed.
            slots.fill(None);
        }
        for (place, slot) in slots.iter().enumerate() {
            if let Some(value) = slot.map(|at| values[at]).filter(|value| !value.is_finite()) {
                return Err(CommandError::NotFinite { array, name: message.name[place].clone(), value });
            }
        }
    }
    Ok(slots)
}

/// Where in an array of `length` the value for each name stands: a value for each; or, when all of the joints have a mode of
/// their own, one for each joint of the array's `mode`, which is how ros2_control's topic-based interface fills them.
fn layout(
    joints: &[CommandedJoint],
    indices: &[usize],
    mode: ControlMode,
    length: usize,
) -> Option<Vec<Option<usize>>> {
    if length == 0 {
        return Some(vec![None; indices.len()]);
    }
    if length == indices.len() {
        return Some((0..length).map(Some).collect());
    }
    let modes = || indices.iter().map(|index| joints[*index].mode);
    if modes().any(|of_joint| of_joint == ControlMode::Auto) || modes().filter(|own| *own == mode).count() != length {
        return None;
    }
    let mut next = 0..length;
    Some(modes().map(|own| if own == mode { next.next() } else { None }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joints() -> Vec<CommandedJoint> {
        ["left_finger", "right_finger"]
            .iter()
            .enumerate()
            .map(|(target, name)| CommandedJoint { lower: -0.05, upper: 0.05, ..CommandedJoint::test(name, target) })
            .collect()
    }

    fn try_merge(
        names: &[&str],
        position: &[f64],
        effort: &[f64],
        standing: &mut JointCommand,
    ) -> Result<Vec<Clamped>, CommandError> {
        let name: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut clamped = Vec::new();
        let message = CommandMessage { name: &name, position, velocity: &[], effort };
        merge(&joints(), &message, standing, &mut clamped).map(|()| clamped)
    }

    #[test]
    fn values_go_to_the_joint_of_their_name_and_others_stay() {
        let mut standing = JointCommand { targets: vec![JointTarget::default(); 2] };
        try_merge(&["right_finger", "left_finger"], &[], &[2.0, -3.0], &mut standing).unwrap();
        try_merge(&["right_finger"], &[0.01], &[], &mut standing).unwrap();
        assert_eq!(standing.targets[0], JointTarget { position: None, velocity: None, effort: Some(-3.0) });
        assert_eq!(standing.targets[1], JointTarget { position: Some(0.01), velocity: None, effort: Some(2.0) });
    }

    #[test]
    fn malformed_messages_are_named_and_change_nothing() {
        let mut standing = JointCommand { targets: vec![JointTarget::default(); 2] };
        try_merge(&["left_finger"], &[], &[1.0], &mut standing).unwrap();
        let before = standing.clone();
        let mut refuse = |names: &[&str], position: &[f64], effort: &[f64]| {
            let error = try_merge(names, position, effort, &mut standing).unwrap_err();
            assert_eq!(standing, before, "{error}");
            error
        };
        let error = refuse(&["left_finger", "rihgt_finger"], &[], &[1.0, 2.0]);
        assert_eq!(error.to_string(), "unknown joint 'rihgt_finger'; did you mean 'right_finger'?");
        assert!(matches!(refuse(&["left_finger"], &[0.0], &[1.0, 2.0]), CommandError::Length { array: "effort", .. }));
        assert!(matches!(refuse(&["left_finger"], &[f64::NAN], &[]), CommandError::NotFinite { .. }));
        assert!(matches!(refuse(&["left_finger"], &[], &[f64::INFINITY]), CommandError::NotFinite { .. }));
        assert!(matches!(refuse(&["left_finger", "left_finger"], &[], &[1.0; 2]), CommandError::DuplicateJoint { .. }));
        assert!(matches!(refuse(&["left_finger"], &[], &[]), CommandError::Empty));
        assert!(matches!(refuse(&[], &[], &[]), CommandError::Empty));
        assert!(matches!(refuse(&[], &[], &[1.0]), CommandError::Length { names: 0, values: 1, .. }));
    }

    /// A joint that listens to efforts passes positions over.
    #[test]
    fn a_control_mode_chooses_what_is_taken() {
        let mut joints = joints();
        joints[0].mode = ControlMode::of("effort");
        let mut standing = JointCommand { targets: vec![JointTarget::default(); 2] };
        let name = ["left_finger".to_owned()];
        let message = CommandMessage { name: &name, position: &[0.01], velocity: &[0.1], effort: &[2.0] };
        merge(&joints, &message, &mut standing, &mut Vec::new()).unwrap();
        assert_eq!(standing.targets[0], JointTarget { position: None, velocity: None, effort: Some(2.0) });
    }

    /// As ros2_control's topic-based interface writes them: NaN where no controller has claimed an interface, and arrays that
    /// hold values only of the joints that have the interface.
    #[test]
    fn arrays_of_unclaimed_and_of_mixed_interfaces_are_read() {
        let mut joints = joints();
        let name = ["left_finger", "right_finger"].map(str::to_owned);
        let merged = |joints: &[CommandedJoint], position: &[f64], velocity: &[f64], effort: &[f64]| {
            let mut standing = JointCommand { targets: vec![JointTarget::default(); 2] };
            let message = CommandMessage { name: &name, position, velocity, effort };
            merge(joints, &message, &mut standing, &mut Vec::new()).map(|()| standing.targets)
        };
        let nan = [f64::NAN; 2];
        let targets = merged(&joints, &[0.01, 0.02], &nan, &[]).unwrap();
        assert_eq!(targets[1], JointTarget { position: Some(0.02), velocity: None, effort: None });
        assert!(matches!(merged(&joints, &nan, &nan, &[]), Err(CommandError::NotFinite { array: "position", .. })));
        assert!(merged(&joints, &[0.01, f64::NAN], &[0.1, 0.1], &[]).is_err(), "half an array is a mistake");
        assert!(merged(&joints, &[0.01, 0.02], &[f64::NAN], &[]).is_err(), "so is a wrong length");
        assert!(matches!(merged(&joints, &[0.01], &[], &[2.0]), Err(CommandError::Length { .. })), "whose is it?");
        joints[0].mode = ControlMode::Effort;
        joints[1].mode = ControlMode::Position;
        let targets = merged(&joints, &[0.01], &[], &[2.0]).unwrap();
        assert_eq!(targets[0], JointTarget { position: None, velocity: None, effort: Some(2.0) });
        assert_eq!(targets[1], JointTarget { position: Some(0.01), velocity: None, effort: None });
        assert!(merged(&joints, &[f64::INFINITY], &[], &[2.0]).is_err());
        assert!(matches!(merged(&joints, &[], &[0.1], &[]), Err(CommandError::Length { array: "velocity", .. })));
    }

    #[test]
    fn values_outside_the_limits_are_clamped_and_reported() {
        let mut standing = JointCommand { targets: vec![JointTarget::default(); 2] };
        let clamped = try_merge(&["left_finger"], &[0.2], &[-100.0], &mut standing).unwrap();
        assert_eq!(standing.targets[0], JointTarget { position: Some(0.05), velocity: None, effort: Some(-80.0) });
        let said: Vec<_> = clamped.iter().map(|value| (value.array, value.asked, value.used)).collect();
        assert_eq!(said, [("position", 0.2, 0.05), ("effort", -100.0, -80.0)]);
    }
}
