//! Joint commands by name: checked and clamped.

use super::mode_names::names_of;
use std::f64::consts::TAU;

#[cfg(test)]
use crate::math::Index;
use crate::math::ScalarJointIndex;
use crate::stepping::JointTarget;

use crate::ros::log::names::{Number, did_you_mean, shown};

/// A joint as its controller may command it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CommandedJoint {
    /// The joint's name, as its controller knows it.
    pub(crate) name: String,
    /// Its index among the scene's joints.
    pub(crate) target: ScalarJointIndex,
    /// The quantities that it takes.
    pub(crate) mode: ControlMode,
    /// Whether it is a mimic joint.
    pub(crate) mimic: bool,
    /// Whether its actuator has stiffness, and whether it has damping. Positions need the one, velocities the
    /// other.
    pub(crate) gains: (bool, bool),
    /// Whether it has no limits of its own. Then [`CommandedJoint::lower`] and `upper` are [`DISTANCE_MAX`]
    /// from its present position, and positions beyond them are refused.
    pub(crate) unlimited: bool,
    /// Whether it turns without limits, so that positions a turn apart are the same pose.
    pub(crate) turns: bool,
    /// Its present position, for joints without limits, once it is known.
    pub(crate) present: Option<f64>,
    /// Lowest position \[rad\] or \[m\].
    pub(crate) lower: f64,
    /// Highest position \[rad\] or \[m\].
    pub(crate) upper: f64,
    /// Largest speed [rad/s] or [m/s].
    pub(crate) velocity: f64,
    /// Largest effort [N m] or \[N\].
    pub(crate) effort: f64,
}

/// The quantities of a command that a joint takes; others are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ControlMode {
    /// The quantities that the message fills.
    #[default]
    Auto,
    /// Position and its velocity.
    Position,
    /// Velocity alone.
    Velocity,
    /// Effort alone.
    Effort,
    /// Nothing. Messages may still name the joint.
    Nothing,
}

impl ControlMode {
    /// All modes with their names, as parameters.
    const ALL: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("position", Self::Position),
        ("velocity", Self::Velocity),
        ("effort", Self::Effort),
        ("none", Self::Nothing),
    ];
    /// The names.
    pub(crate) const NAMES: [&'static str; 5] = names_of(Self::ALL);

    /// The mode with the given name; of other names, the default.
    pub(crate) fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map_or_else(Self::default, |(_, mode)| mode)
    }

    /// Its name, as a parameter.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }

    /// Whether positions are taken, including those of trajectories.
    pub(super) fn takes_positions(self) -> bool {
        self.takes()[0]
    }

    /// Whether position, velocity and effort are taken.
    fn takes(self) -> [bool; 3] {
        match self {
            Self::Auto => [true; 3],
            Self::Position => [true, true, false],
            Self::Velocity => [false, true, false],
            Self::Effort => [false, false, true],
            Self::Nothing => [false; 3],
        }
    }
}

#[cfg(test)]
impl CommandedJoint {
    /// A joint with positions within 10 of zero, speeds up to 1 and efforts up to 80.
    pub(crate) fn test(name: &str, target: usize) -> Self {
        let (mode, target) = (ControlMode::Auto, ScalarJointIndex::from_usize(target));
        let (lower, upper) = (-10.0, 10.0);
        let (name, mimic, unlimited, gains) = (name.to_owned(), false, false, (true, true));
        Self {
            name,
            target,
            mode,
            mimic,
            gains,
            unlimited,
            turns: false,
            present: None,
            lower,
            upper,
            velocity: 1.0,
            effort: 80.0,
        }
    }
}

/// The arrays of a sensor_msgs/JointState. Each of the last three is empty (not commanded) or as long as
/// `name`. A shorter array holds values only for the joints of one control mode. NaN is no command for its
/// joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandMessage<'a> {
    /// A subset of the joints, in any order.
    pub(crate) name: &'a [String],
    /// Positions \[rad\] or \[m\].
    pub(crate) position: &'a [f64],
    /// Velocities [rad/s] or [m/s].
    pub(crate) velocity: &'a [f64],
    /// Efforts [N m] or \[N\].
    pub(crate) effort: &'a [f64],
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

/// The reason for dropping a whole command. The standing command does not change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("unknown joint '{name}'{suggestion}")]
    UnknownJoint { name: String, suggestion: String },
    #[error("joint '{name}' is named twice; name each joint once")]
    DuplicateJoint { name: String },
    #[error("{names} names and {values} values in '{array}'; give none, or one for each name")]
    Length { array: &'static str, names: usize, values: usize },
    #[error("{array} of joint '{name}' is {}; it must be finite, or NaN for no command", Number(*value))]
    NotFinite { array: &'static str, name: String, value: f64 },
    #[error(
        "position {} of joint '{name}', which has no limits, is more than {} from its position, {}: a mistake in \
         the unit or the sign? Give positions near that of the joint, or a velocity",
        Number(*value), Number(*largest), Number(*here)
    )]
    TooFar { name: String, value: f64, largest: f64, here: f64 },
    #[error(
        "its values have no effect on joint '{name}', whose actuator has no {gain}: set the parameter gains.{name}.{gain}, or \
         command its {instead}"
    )]
    NoGains { name: String, gain: &'static str, instead: &'static str },
    #[error("no value acts on joint '{name}', whose control mode is {mode}: set the parameter control_modes.{name}")]
    NotTaken { name: String, mode: &'static str },
    #[error("no values: fill position, velocity or effort, with the joints in 'name'")]
    Empty,
    #[error("stamp {stamp_ns} ns: {problem}; in lockstep each command carries the stamp of the present state")]
    Stamp { stamp_ns: u64, problem: &'static str },
    #[error("{values} values for {joints} joints; give one for each")]
    GroupLength { joints: usize, values: usize },
    #[error(
        "not possible in lockstep, which takes only joint_commands: publish those, or start the node without lockstep"
    )]
    NotInLockstep,
}

/// A value outside its limits that was moved to the nearest limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clamped {
    pub(crate) joint: usize,
    pub(crate) array: &'static str,
    pub(crate) asked: f64,
    pub(crate) used: f64,
}

/// A checked command: the quantities to set for each joint that it has values for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CheckedCommand {
    /// The quantities given for each joint.
    pub(crate) joints: Vec<(ScalarJointIndex, JointTarget)>,
    /// Whether the command clears quantities that it does not give; otherwise they stay as they are, except
    /// the position of a joint that is held.
    pub(crate) whole: bool,
    /// A joint whose values are left out because they have no effect, and the gain that it lacks.
    pub(crate) idle: Option<(usize, &'static str)>,
}

/// The largest distance of a command from the position of a joint without limits of its own [rad or m]: some
/// 1,600 turns. Commands beyond it are refused.
const DISTANCE_MAX: f64 = 1e4;

impl CommandedJoint {
    /// Sets the joint's present position; NaN if it is unknown. A joint without limits of its own may be
    /// commanded up to [`DISTANCE_MAX`] from there, so that a wheel can turn without limit.
    pub(crate) fn is_at(&mut self, position: f64) {
        if self.unlimited {
            self.present = Some(position).filter(|position| position.is_finite());
            let about = self.present.unwrap_or(0.0);
            (self.lower, self.upper) = (about - DISTANCE_MAX, about + DISTANCE_MAX);
        }
    }

    /// The whole turns \[rad\] from `position` to the pose nearest to the joint's present position; 0 for
    /// joints that do not turn without limits.
    pub(super) fn whole_turns_from(&self, position: f64) -> f64 {
        let present = self.present.filter(|_| self.turns);
        present.map_or(0.0, |present| ((present - position) / TAU).round() * TAU)
    }

    /// The gain without which `target` does nothing at this joint. A mimic joint has none of its own.
    fn missing_gain(&self, target: &JointTarget) -> Option<&'static str> {
        let acts = target.effort.is_some()
            || (target.position.is_some() && self.gains.0)
            || (target.velocity.is_some() && self.gains.1)
            || self.mimic;
        let gain = if target.position.is_some() { "stiffness" } else { "damping" };
        (!acts).then_some(gain)
    }

    /// Whether a trajectory cannot move it to its points: with damping alone, nothing pulls it there.
    pub(super) fn is_passive(&self) -> bool {
        !self.gains.0 && !self.mimic
    }
}

/// Checks `message`. Clamped values are appended to `clamped`.
///
/// # Errors
/// A malformed message, or one whose values have no effect on any of its joints.
pub(crate) fn check(
    joints: &[CommandedJoint],
    message: &CommandMessage<'_>,
    clamped: &mut Vec<Clamped>,
) -> Result<CheckedCommand, CommandError> {
    let indices = find(joints, message.name)?;
    let slots = value_indices(joints, &indices, message)?;
    let mut checked = CheckedCommand { whole: true, ..CheckedCommand::default() };
    // A joint whose control mode takes none of its values.
    let mut not_taken = None;
    for (number, &index) in indices.iter().enumerate() {
        let joint = &joints[index];
        let takes = joint.mode.takes();
        let far = slots[0][number].map(|at| message.position[at]).filter(|_| takes[0] && joint.unlimited);
        if let Some(value) = far.filter(|value| *value < joint.lower || *value > joint.upper) {
            let (largest, here) = (0.5 * (joint.upper - joint.lower), 0.5 * (joint.lower + joint.upper));
            return Err(CommandError::TooFar { name: joint.name.clone(), value, largest, here });
        }
        let mut take = |quantity: usize, lower: f64, upper: f64| {
            let (array, values, _) = message.arrays()[quantity];
            let given = slots[quantity][number].map(|at| values[at]).filter(|_| takes[quantity]);
            // ros2_control writes NaN for interfaces that no controller has claimed.
            let asked = given.filter(|value| !value.is_nan())?;
            let used = asked.max(lower).min(upper);
            if used != asked {
                clamped.push(Clamped { joint: index, array, asked, used });
            }
            Some(used)
        };
        let target = JointTarget {
            position: take(0, joint.lower, joint.upper),
            velocity: take(1, -joint.velocity, joint.velocity),
            effort: take(2, -joint.effort, joint.effort),
        };
        match joint.missing_gain(&target) {
            _ if target == JointTarget::default() => {
                let given = |quantity: usize| slots[quantity][number].map(|at| message.arrays()[quantity].1[at]);
                if (0..3).filter_map(given).any(f64::is_finite) {
                    not_taken = not_taken.or(Some(joint));
                }
            }
            Some(gain) => checked.idle = checked.idle.or(Some((index, gain))),
            None => checked.joints.push((joint.target, target)),
        }
    }
    match checked.idle {
        Some((index, gain)) if checked.joints.is_empty() => {
            let joint = &joints[index];
            let instead = if gain == "stiffness" && joint.gains.1 { "velocity or effort" } else { "effort" };
            Err(CommandError::NoGains { name: joint.name.clone(), gain, instead })
        }
        None if checked.joints.is_empty()
            && let Some(joint) = not_taken =>
        {
            Err(CommandError::NotTaken { name: joint.name.clone(), mode: joint.mode.name() })
        }
        _ => Ok(checked),
    }
}

/// The index of each named joint in `joints`.
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

/// For each of the three arrays, the index of each joint's value. All arrays are checked before any value is
/// used.
fn value_indices(
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
    for (slots, (array, values, _)) in slots.iter().zip(arrays) {
        for (number, slot) in slots.iter().enumerate() {
            if let Some(value) = slot.map(|at| values[at]).filter(|value| value.is_infinite()) {
                return Err(CommandError::NotFinite { array, name: message.name[number].clone(), value });
            }
        }
    }
    Ok(slots)
}

/// The index of each joint's value in an array of `length`. The array has a value for each joint, or for each
/// joint that takes anything. If every joint has a control mode of its own, it may instead have a value for
/// each joint with the array's `mode`. The topic-based interface of ros2_control fills arrays in the second
/// and third way.
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
    let has_value = |own: ControlMode| match modes().any(|other| other == ControlMode::Auto) {
        true => own != ControlMode::Nothing,
        false => own == mode,
    };
    let mixed = modes().any(|own| ![ControlMode::Auto, ControlMode::Nothing].contains(&own))
        && modes().any(|own| own == ControlMode::Auto);
    if mixed || modes().filter(|own| has_value(*own)).count() != length {
        return None;
    }
    let mut next = 0..length;
    Some(modes().map(|own| if has_value(own) { next.next() } else { None }).collect())
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

    /// Target of each commanded joint, by its index.
    type Targets = Vec<(usize, JointTarget)>;

    /// Positions, velocities and efforts for `names`.
    fn checked(
        joints: &[CommandedJoint],
        names: &[&str],
        [position, velocity, effort]: [&[f64]; 3],
    ) -> Result<(Targets, Vec<Clamped>), CommandError> {
        let name: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut clamped = Vec::new();
        let message = CommandMessage { name: &name, position, velocity, effort };
        let command = check(joints, &message, &mut clamped)?;
        Ok((command.joints.iter().map(|(joint, target)| (joint.to_usize(), *target)).collect(), clamped))
    }

    fn target(position: Option<f64>, velocity: Option<f64>, effort: Option<f64>) -> JointTarget {
        JointTarget { position, velocity, effort }
    }

    #[test]
    fn values_go_to_the_joint_of_their_name() {
        let (targets, _) = checked(&joints(), &["right_finger", "left_finger"], [&[], &[], &[2.0, -3.0]]).unwrap();
        assert_eq!(targets, [(1, target(None, None, Some(2.0))), (0, target(None, None, Some(-3.0)))]);
    }

    #[test]
    fn malformed_messages_are_named() {
        let refuse = |names: &[&str], position: &[f64], effort: &[f64]| {
            checked(&joints(), names, [position, &[], effort]).unwrap_err()
        };
        let error = refuse(&["left_finger", "rihgt_finger"], &[], &[1.0, 2.0]);
        assert_eq!(error.to_string(), "unknown joint 'rihgt_finger'; did you mean 'right_finger'?");
        assert!(matches!(refuse(&["left_finger"], &[0.0], &[1.0, 2.0]), CommandError::Length { array: "effort", .. }));
        assert!(matches!(refuse(&["left_finger"], &[], &[f64::INFINITY]), CommandError::NotFinite { .. }));
        assert!(matches!(refuse(&["left_finger", "left_finger"], &[], &[1.0; 2]), CommandError::DuplicateJoint { .. }));
        assert!(matches!(refuse(&["left_finger"], &[], &[]), CommandError::Empty));
        assert!(matches!(refuse(&[], &[], &[]), CommandError::Empty));
        assert!(matches!(refuse(&[], &[], &[1.0]), CommandError::Length { names: 0, values: 1, .. }));
    }

    /// A joint that takes efforts ignores positions.
    #[test]
    fn a_control_mode_selects_the_quantities_that_are_taken() {
        let mut joints = joints();
        joints[0].mode = ControlMode::of("effort");
        let (targets, _) = checked(&joints, &["left_finger"], [&[0.01], &[0.1], &[2.0]]).unwrap();
        assert_eq!(targets, [(0, target(None, None, Some(2.0)))]);
        let refused = checked(&joints, &["left_finger"], [&[0.01], &[], &[]]).unwrap_err();
        assert!(refused.to_string().contains("control mode is effort"), "{refused}");
        assert_eq!(checked(&joints, &["left_finger"], [&[f64::NAN], &[], &[]]).unwrap().0, [], "no command");
        let both = checked(&joints, &["left_finger", "right_finger"], [&[0.01, 0.02], &[], &[]]).unwrap().0;
        assert_eq!(both, [(1, target(Some(0.02), None, None))], "the other joint acts");
    }

    /// Messages as written by the topic-based interface of ros2_control: NaN for an interface that no
    /// controller has claimed, and arrays with values only for the joints that have the interface.
    #[test]
    fn arrays_of_unclaimed_and_of_mixed_interfaces_are_read() {
        let mut joints = joints();
        let names = ["left_finger", "right_finger"];
        let targets = |joints: &[CommandedJoint], values: [&[f64]; 3]| {
            checked(joints, &names, values).map(|(targets, _)| targets.into_iter().map(|(_, target)| target).collect())
        };
        let nan = [f64::NAN; 2];
        let read: Vec<_> = targets(&joints, [&[0.01, 0.02], &nan, &[]]).unwrap();
        assert_eq!(read[1], target(Some(0.02), None, None));
        let nothing: Vec<_> = targets(&joints, [&nan, &nan, &[]]).unwrap();
        assert_eq!(nothing, [], "nothing is claimed yet");
        let read: Vec<_> = targets(&joints, [&[0.01, f64::NAN], &[0.1, 0.1], &[]]).unwrap();
        assert_eq!(read, [target(Some(0.01), Some(0.1), None), target(None, Some(0.1), None)]);
        let refuse = |joints: &[CommandedJoint], values| targets(joints, values).map(|_: Vec<_>| ()).unwrap_err();
        refuse(&joints, [&[0.01, 0.02], &[f64::NAN], &[]]);
        refuse(&joints, [&[0.01, f64::INFINITY], &[], &[]]);
        joints[1].mode = ControlMode::of("none");
        let read: Vec<_> = targets(&joints, [&[0.01], &[], &[]]).unwrap();
        assert_eq!(read, [target(Some(0.01), None, None)], "a mimic joint has no value");
        joints[1].mode = ControlMode::Auto;
        assert!(matches!(refuse(&joints, [&[0.01], &[], &[2.0]]), CommandError::Length { .. }), "of which joint?");
        joints[0].mode = ControlMode::Effort;
        joints[1].mode = ControlMode::Position;
        let read: Vec<_> = targets(&joints, [&[0.01], &[], &[2.0]]).unwrap();
        assert_eq!(read, [target(None, None, Some(2.0)), target(Some(0.01), None, None)]);
        refuse(&joints, [&[f64::INFINITY], &[], &[2.0]]);
        assert!(matches!(refuse(&joints, [&[], &[0.1], &[]]), CommandError::Length { array: "velocity", .. }));
    }

    /// Regression, observed on the built node: goals of joints without gains succeeded, and nothing moved.
    #[test]
    fn a_command_without_effect_is_refused_with_the_missing_gain() {
        let mut joints = joints();
        joints[0].gains = (false, false);
        let names = ["left_finger"];
        for (values, gain) in [([&[0.01][..], &[], &[]], "stiffness"), ([&[], &[0.1][..], &[]], "damping")] {
            let error = checked(&joints, &names, values).unwrap_err();
            assert!(error.to_string().contains(&format!("gains.left_finger.{gain}")), "{error}");
        }
        assert_eq!(checked(&joints, &names, [&[0.01], &[], &[2.0]]).unwrap().0.len(), 1, "an effort acts");
        assert_eq!(checked(&joints, &names, [&[f64::NAN], &[], &[]]).unwrap().0, [], "no command");
        // The other joints of a message are commanded.
        let both: Vec<String> = ["left_finger", "right_finger"].map(str::to_owned).into();
        let message = CommandMessage { name: &both, position: &[0.01, 0.02], velocity: &[], effort: &[] };
        let command = check(&joints, &message, &mut Vec::new()).unwrap();
        assert_eq!(command.joints.iter().map(|(joint, _)| joint.to_usize()).collect::<Vec<_>>(), [1]);
        assert_eq!(command.idle, Some((0, "stiffness")));
        joints[0].gains.1 = true;
        assert_eq!(checked(&joints, &names, [&[0.01], &[0.1], &[]]).unwrap().0.len(), 1, "the velocity acts");
        // Regression, observed on the built node: with damping alone, a position succeeded and moved nothing.
        let error = checked(&joints, &names, [&[0.01], &[], &[]]).unwrap_err().to_string();
        assert!(error.contains("gains.left_finger.stiffness, or command its velocity or effort"), "{error}");
        (joints[0].gains, joints[0].mimic) = ((false, false), true);
        assert_eq!(checked(&joints, &names, [&[0.01], &[], &[]]).unwrap().0.len(), 1, "its leader has the gains");
    }

    /// Regression, observed on the built node: 1e8 for a continuous joint was moved to 1e6, which halted the
    /// simulation.
    #[test]
    fn a_position_far_beyond_any_turn_is_refused_and_not_clamped() {
        let mut joints = joints();
        joints[0].unlimited = true;
        joints[0].is_at(0.0);
        for value in [1e8, -1e8, 1.0001e4] {
            let error = checked(&joints, &["left_finger"], [&[value], &[], &[]]).unwrap_err();
            assert!(matches!(error, CommandError::TooFar { .. }), "{error}");
        }
        let (targets, clamped) = checked(&joints, &["left_finger"], [&[1e4], &[], &[]]).unwrap();
        assert_eq!((targets, clamped), (vec![(0, target(Some(1e4), None, None))], Vec::new()));
        joints[0].mode = ControlMode::of("effort");
        assert!(checked(&joints, &["left_finger"], [&[1e8], &[], &[1.0]]).is_ok(), "positions are not taken");
    }

    #[test]
    fn a_wheel_that_has_turned_far_is_commanded_about_its_own_position() {
        let mut joints = joints();
        joints[0].unlimited = true;
        joints[0].is_at(-5e4);
        let check = |value: f64| checked(&joints, &["left_finger"], [&[value], &[], &[]]);
        assert_eq!(check(-4.9e4).unwrap(), (vec![(0, target(Some(-4.9e4), None, None))], Vec::new()));
        let error = check(-3.9e4).unwrap_err();
        assert_eq!(error, CommandError::TooFar { name: "left_finger".into(), value: -3.9e4, largest: 1e4, here: -5e4 });
        // A joint with limits keeps them.
        let before = joints[1].clone();
        joints[1].is_at(-5e4);
        assert_eq!(joints[1], before);
    }

    #[test]
    fn values_outside_the_limits_are_clamped_and_reported() {
        let (targets, clamped) = checked(&joints(), &["left_finger"], [&[0.2], &[], &[-100.0]]).unwrap();
        assert_eq!(targets, [(0, target(Some(0.05), None, Some(-80.0)))]);
        let reported: Vec<_> = clamped.iter().map(|value| (value.array, value.asked, value.used)).collect();
        assert_eq!(reported, [("position", 0.2, 0.05), ("effort", -100.0, -80.0)]);
    }
}
