//! Joint trajectories: checks of messages, and the targets of joints over time.

use super::goal::GoalTolerances;
use super::interpolation::{Knot, interpolate};
use super::joint_command::CommandedJoint;
use crate::math::{ByteReader, ByteWriter, BytesError, Index, ScalarJointIndex};
use crate::ros::log::names::{Number, did_you_mean, shown};

/// The largest number of points of a trajectory: over 15 minutes at 100 Hz.
const POINTS_MAX: usize = 100_000;
/// The farthest start ahead \[ns\]; a later one was stamped by a clock other than the simulation's.
const START_AHEAD_MAX_NS: u64 = 3_600_000_000_000;

/// A point as a message gives it; each array is empty or has one value per joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointMessage<'a> {
    pub(crate) positions: &'a [f64],
    pub(crate) velocities: &'a [f64],
    pub(crate) accelerations: &'a [f64],
    /// Time from the trajectory's start \[ns\].
    pub(crate) time_ns: i64,
}

/// The reason why a trajectory was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum TrajectoryError {
    #[error("unknown joint '{name}'{suggestion}")]
    UnknownJoint { name: String, suggestion: String },
    #[error("joint '{name}' is named twice; name each joint once")]
    DuplicateJoint { name: String },
    #[error("joint '{name}' takes no positions: its control mode is '{mode}' (parameter control_modes.{name})")]
    Mode { name: String, mode: &'static str },
    #[error(
        "joint '{name}' cannot follow it: its actuator has no stiffness; set the parameters gains.{name}.stiffness and damping, \
         or gains in the scene, or command its velocity"
    )]
    NoGains { name: String },
    #[error("no joints: fill 'joint_names'")]
    NoJoints,
    #[error("{points} points are too many: send at most {POINTS_MAX}")]
    TooLong { points: usize },
    #[error("point {point}: {joints} joints and {values} values in '{array}'; give {}one for each joint", if *array == "positions" { "" } else { "none, or " })]
    Length { point: usize, array: &'static str, joints: usize, values: usize },
    #[error("point {point}: every number in '{array}' must be finite")]
    NotFinite { point: usize, array: &'static str },
    #[error("point {point}: time_from_start must be later than that of the point before, and not negative")]
    Time { point: usize },
    #[error(
        "point {point}: position {} of joint '{name}' is beyond its limits, {} to {}",
        Number(*value), Number(*lower), Number(*upper)
    )]
    Limit { point: usize, name: String, value: f64, lower: f64, upper: f64 },
    #[error(
        "its stamp, {start:.3} s, is more than an hour after the simulated time, {now:.3} s: stamp trajectories with simulated \
         time (use_sim_time), or with zero to start at once"
    )]
    TooEarly { start: f64, now: f64 },
    #[error(
        "the last point is in the past: at {end:.3} s, and the simulated time is {now:.3} s; stamp trajectories with simulated \
         time (use_sim_time), or with zero to start at once"
    )]
    Past { end: f64, now: f64 },
}

/// A position beyond a limit by up to this part of the limit, or of 1 rad or m, counts as at the limit:
/// planners compute and send in single precision, or add up the points of a path. [-]
const BEYOND_LIMIT_MAX: f64 = 1e-6;

/// The limits of a joint of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    lower: f64,
    upper: f64,
    velocity: f64,
}

/// Position and velocity of a joint at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) position: f64,
    pub(crate) velocity: f64,
    /// Whether the polynomial exceeded the joint's limits there.
    pub(crate) clamped: bool,
}

/// A trajectory of some joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trajectory {
    joints: Vec<ScalarJointIndex>,
    limits: Vec<Limits>,
    /// Its start \[ns\]; `None` starts at once.
    start_ns: Option<u64>,
    times_ns: Vec<u64>,
    /// One entry per joint, point after point.
    knots: Vec<Knot>,
    /// The goal that it follows, if an action sent it.
    pub(crate) tolerances: Option<GoalTolerances>,
}

impl Trajectory {
    /// Checks a message. A message without points is a cancellation: use [`joints_of`] for it.
    pub(crate) fn new<'a>(
        joints: &[CommandedJoint],
        names: &[String],
        start_ns: Option<u64>,
        points: impl ExactSizeIterator<Item = PointMessage<'a>>,
    ) -> Result<Self, TrajectoryError> {
        let indices = find(joints, names)?;
        if points.len() > POINTS_MAX {
            return Err(TrajectoryError::TooLong { points: points.len() });
        }
        if let Some(joint) = indices.iter().map(|index| &joints[*index]).find(|joint| !joint.mode.takes_positions()) {
            return Err(TrajectoryError::Mode { name: joint.name.clone(), mode: joint.mode.name() });
        }
        if let Some(joint) = indices.iter().map(|index| &joints[*index]).find(|joint| joint.is_passive()) {
            return Err(TrajectoryError::NoGains { name: joint.name.clone() });
        }
        let limits =
            |joint: &CommandedJoint| Limits { lower: joint.lower, upper: joint.upper, velocity: joint.velocity };
        let mut trajectory = Self {
            joints: indices.iter().map(|index| joints[*index].target).collect(),
            limits: indices.iter().map(|index| limits(&joints[*index])).collect(),
            start_ns,
            times_ns: Vec::with_capacity(points.len()),
            // Grows with the points that are checked: a short message can state many points and joints.
            knots: Vec::new(),
            tolerances: None,
        };
        let mut turns = vec![0.0; indices.len()];
        for (number, point) in points.enumerate() {
            check_point(number, &point, names.len())?;
            let time_ns = u64::try_from(point.time_ns).map_err(|_| TrajectoryError::Time { point: number })?;
            if trajectory.times_ns.last().is_some_and(|last| *last >= time_ns) {
                return Err(TrajectoryError::Time { point: number });
            }
            trajectory.times_ns.push(time_ns);
            // A point at time zero is the present pose. Planners such as MoveIt give its angles from -pi to
            // pi.
            if number == 0 && time_ns == 0 {
                let first = indices.iter().zip(point.positions);
                turns = first.map(|(index, position)| joints[*index].whole_turns_from(*position)).collect();
            }
            for (i, index) in indices.iter().enumerate() {
                let CommandedJoint { name, lower, upper, .. } = &joints[*index];
                let value = point.positions[i] + turns[i];
                let position = value.max(*lower).min(*upper);
                if (value - position).abs() > BEYOND_LIMIT_MAX * position.abs().max(1.0) {
                    let name = name.clone();
                    return Err(TrajectoryError::Limit { point: number, name, value, lower: *lower, upper: *upper });
                }
                trajectory.knots.push(Knot {
                    position,
                    velocity: point.velocities.get(i).copied(),
                    acceleration: point.accelerations.get(i).copied(),
                });
            }
        }
        Ok(trajectory)
    }

    /// Whether the trajectory can begin at `now_ns`. It cannot if it is over, or if it starts so late that
    /// its stamp belongs to another clock.
    pub(crate) fn check_start(&self, now_ns: u64) -> Result<(), TrajectoryError> {
        let Some(start_ns) = self.start_ns else { return Ok(()) };
        let seconds = |ns: u64| ns as f64 * 1e-9;
        let end_ns = start_ns.saturating_add(self.length_ns());
        if start_ns > now_ns.saturating_add(START_AHEAD_MAX_NS) {
            return Err(TrajectoryError::TooEarly { start: seconds(start_ns), now: seconds(now_ns) });
        }
        if end_ns < now_ns {
            return Err(TrajectoryError::Past { end: seconds(end_ns), now: seconds(now_ns) });
        }
        Ok(())
    }

    /// The joints, as indices of the scene.
    pub(crate) fn joints(&self) -> &[ScalarJointIndex] {
        &self.joints
    }

    /// Its start \[ns\]; `None` starts at once.
    pub(super) fn start_ns(&self) -> Option<u64> {
        self.start_ns
    }

    /// Time of its last point \[ns\], counted from its start.
    pub(super) fn length_ns(&self) -> u64 {
        self.times_ns.last().copied().unwrap_or(0)
    }

    /// Replaces the indices of its joints: `indices` has the new index of each old joint. False if one of the
    /// joints is gone.
    pub(super) fn renumber_joints(&mut self, indices: &[Option<ScalarJointIndex>]) -> bool {
        let renumbered: Option<Vec<_>> =
            self.joints.iter().map(|joint| indices.get(joint.to_usize()).copied().flatten()).collect();
        let Some(joints) = renumbered else { return false };
        self.joints = joints;
        true
    }

    /// Target of joint `number` of the trajectory at `elapsed_ns` after the start, clamped to the joint's
    /// limits. `origin` is the instant at which the joint began to follow the trajectory: its time after the
    /// start \[ns\], and the joint's state at that time. `None` if the polynomial overflows.
    pub(super) fn sample(&self, number: usize, origin: (u64, &Knot), elapsed_ns: u64) -> Option<Sample> {
        let elapsed_ns = elapsed_ns.max(origin.0);
        let next = self.times_ns.partition_point(|time| *time <= elapsed_ns);
        let (from, from_ns) = match next.checked_sub(1) {
            // Points up to the origin are skipped, except the last point once its time has passed.
            Some(last) if self.times_ns[last] > origin.0 || next == self.times_ns.len() => {
                (self.knot(last, number), self.times_ns[last])
            }
            _ => (*origin.1, origin.0),
        };
        let (position, velocity) = match self.times_ns.get(next) {
            None => (from.position, 0.0),
            Some(to_ns) => {
                let duration = (to_ns - from_ns) as f64 * 1e-9;
                interpolate(&from, &self.knot(next, number), duration, (elapsed_ns - from_ns) as f64 * 1e-9)
            }
        };
        if !(position.is_finite() && velocity.is_finite()) {
            return None;
        }
        let Limits { lower, upper, velocity: speed } = self.limits[number];
        let (p, v) = (position.max(lower).min(upper), velocity.max(-speed).min(speed));
        Some(Sample { position: p, velocity: v, clamped: p != position || v != velocity })
    }

    /// Writes the trajectory without its goal, because the goal's client is lost when the node ends.
    pub(super) fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.joints.len());
        for (joint, limits) in self.joints.iter().zip(&self.limits) {
            writer.len(joint.to_usize());
            [limits.lower, limits.upper, limits.velocity].into_iter().for_each(|limit| writer.f64(limit));
        }
        writer.flag(self.start_ns.is_some());
        writer.u64(self.start_ns.unwrap_or(0));
        writer.len(self.times_ns.len());
        self.times_ns.iter().for_each(|time| writer.u64(*time));
        write_knots(&self.knots, writer);
    }

    /// Reads the output of [`Trajectory::write`] for a world of `count` joints.
    pub(super) fn read(reader: &mut ByteReader<'_>, count: usize) -> Result<Self, BytesError> {
        let (mut joints, mut limits) = (Vec::new(), Vec::new());
        for _ in 0..reader.len(32)? {
            let joint = usize::try_from(reader.u64()?).ok().filter(|joint| *joint < count);
            joints.push(ScalarJointIndex::from_usize(joint.ok_or(BytesError::Invalid)?));
            limits.push(Limits { lower: reader.f64()?, upper: reader.f64()?, velocity: reader.f64()? });
        }
        let (stamped, start_ns) = (reader.flag()?, reader.u64()?);
        let times_ns = (0..reader.len(8)?).map(|_| reader.u64()).collect::<Result<Vec<_>, _>>()?;
        let knots = read_knots(reader)?;
        if joints.is_empty() || knots.len() != joints.len() * times_ns.len() || !times_ns.is_sorted_by(|a, b| a < b) {
            return Err(BytesError::Invalid);
        }
        Ok(Self { joints, limits, start_ns: stamped.then_some(start_ns), times_ns, knots, tolerances: None })
    }

    fn knot(&self, point: usize, joint: usize) -> Knot {
        self.knots[point * self.joints.len() + joint]
    }
}

/// Writes points of joints.
pub(super) fn write_knots(knots: &[Knot], writer: &mut ByteWriter) {
    writer.len(knots.len());
    for knot in knots {
        writer.f64(knot.position);
        writer.optional(knot.velocity);
        writer.optional(knot.acceleration);
    }
}

/// Reads the output of [`write_knots`].
pub(super) fn read_knots(reader: &mut ByteReader<'_>) -> Result<Vec<Knot>, BytesError> {
    let len = reader.len(26)?;
    let knot = |_| {
        let position = reader.finite()?;
        Ok(Knot { position, velocity: reader.optional()?, acceleration: reader.optional()? })
    };
    (0..len).map(knot).collect()
}

/// The joints of a message, as indices of the scene.
pub(crate) fn joints_of(joints: &[CommandedJoint], names: &[String]) -> Result<Vec<ScalarJointIndex>, TrajectoryError> {
    Ok(find(joints, names)?.into_iter().map(|index| joints[index].target).collect())
}

/// The index of each named joint in `joints`.
fn find(joints: &[CommandedJoint], names: &[String]) -> Result<Vec<usize>, TrajectoryError> {
    if names.is_empty() {
        return Err(TrajectoryError::NoJoints);
    }
    let mut indices = Vec::with_capacity(names.len().min(joints.len()));
    for name in names {
        let Some(index) = joints.iter().position(|joint| joint.name == *name) else {
            let suggestion = did_you_mean(name, joints.iter().map(|joint| joint.name.as_str()));
            return Err(TrajectoryError::UnknownJoint { name: shown(name), suggestion });
        };
        if indices.contains(&index) {
            return Err(TrajectoryError::DuplicateJoint { name: shown(name) });
        }
        indices.push(index);
    }
    Ok(indices)
}

fn check_point(point: usize, message: &PointMessage<'_>, joints: usize) -> Result<(), TrajectoryError> {
    let arrays = [
        ("positions", message.positions),
        ("velocities", message.velocities),
        ("accelerations", message.accelerations),
    ];
    for (array, values) in arrays {
        if values.len() != joints && (array == "positions" || !values.is_empty()) {
            return Err(TrajectoryError::Length { point, array, joints, values: values.len() });
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(TrajectoryError::NotFinite { point, array });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, TAU};

    use super::*;
    use crate::ros::commands::joint_command::ControlMode;

    fn joints() -> Vec<CommandedJoint> {
        ["a", "b"].iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect()
    }

    fn point(time_ns: i64, positions: &[f64]) -> PointMessage<'_> {
        PointMessage { positions, velocities: &[], accelerations: &[], time_ns }
    }

    /// A planner with angles from -pi to pi starts at -3.1 rad where the joint is at 3.1832 rad: the joint
    /// does not make a turn to get there. A first point after time zero is a target, however far.
    #[test]
    fn a_first_point_at_time_zero_takes_the_turns_of_the_joint() {
        let mut joint = CommandedJoint::test("a", 0);
        (joint.unlimited, joint.turns) = (true, true);
        joint.is_at(TAU - 3.1);
        let positions = |joint: &CommandedJoint, first_ns: i64| -> Vec<f64> {
            let point = |time_ns, positions| PointMessage { positions, velocities: &[], accelerations: &[], time_ns };
            let points = [point(first_ns, &[-3.1][..]), point(1_000_000_000, &[-2.9][..])];
            let joints = std::slice::from_ref(joint);
            let made = Trajectory::new(joints, &["a".to_owned()], None, points.into_iter()).unwrap();
            made.knots.iter().map(|knot| knot.position).collect()
        };
        assert_eq!(positions(&joint, 0), [-3.1 + TAU, -2.9 + TAU]);
        assert_eq!(positions(&joint, 1), [-3.1, -2.9]);
        joint.turns = false;
        assert_eq!(positions(&joint, 0), [-3.1, -2.9]);
    }

    #[test]
    fn malformed_trajectories_are_refused() {
        let make = |names: &[&str], points: Vec<PointMessage<'_>>| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Trajectory::new(&joints(), &names, None, points.into_iter())
        };
        let (short, nan, far) = ([0.0], [0.0, f64::NAN], [0.0, 1e9]);
        assert!(matches!(make(&[], vec![]), Err(TrajectoryError::NoJoints)));
        assert!(matches!(make(&["c"], vec![]), Err(TrajectoryError::UnknownJoint { .. })));
        assert!(matches!(make(&["a", "a"], vec![]), Err(TrajectoryError::DuplicateJoint { .. })));
        for (mode, taken) in [
            (ControlMode::Auto, true),
            (ControlMode::Position, true),
            (ControlMode::Velocity, false),
            (ControlMode::Effort, false),
            (ControlMode::Nothing, false),
        ] {
            let joints = [CommandedJoint { mode, ..CommandedJoint::test("a", 0) }];
            let made = Trajectory::new(&joints, &["a".to_owned()], None, [point(1, &[0.0])].into_iter());
            assert_eq!(made.is_ok(), taken, "{made:?}");
        }
        let point_of_a = || [point(1, &[0.0])].into_iter();
        for (gains, taken) in [((true, false), true), ((false, true), false), ((false, false), false)] {
            let joints = [CommandedJoint { gains, ..CommandedJoint::test("a", 0) }];
            let made = Trajectory::new(&joints, &["a".to_owned()], None, point_of_a());
            assert_eq!(made.is_ok(), taken, "{made:?}");
            assert!(taken || made.unwrap_err().to_string().contains("gains.a.stiffness"));
        }
        assert!(matches!(make(&["a", "b"], vec![point(1, &short)]), Err(TrajectoryError::Length { .. })));
        assert!(matches!(make(&["a", "b"], vec![point(1, &nan)]), Err(TrajectoryError::NotFinite { .. })));
        assert!(matches!(make(&["a", "b"], vec![point(1, &far)]), Err(TrajectoryError::Limit { point: 0, .. })));
        assert!(matches!(make(&["a"], vec![point(-1, &short)]), Err(TrajectoryError::Time { point: 0 })));
        assert!(matches!(
            make(&["a"], vec![point(2, &short), point(2, &short)]),
            Err(TrajectoryError::Time { point: 1 })
        ));
    }

    /// A planner's point at a limit is beyond it by rounding, at worst that of single precision; it is taken
    /// as the limit itself, so that following it clamps nothing.
    #[test]
    fn points_beyond_a_limit_by_rounding_are_at_the_limit() {
        let joint = CommandedJoint { lower: 0.0, upper: PI, ..CommandedJoint::test("a", 0) };
        let make = |positions: &[f64]| {
            let points = [point(1, positions)].into_iter();
            Trajectory::new(std::slice::from_ref(&joint), &["a".to_owned()], None, points)
        };
        for (position, limit) in [(PI.next_up(), PI), (f64::from(PI as f32), PI), (-1e-12, 0.0)] {
            assert_eq!(make(&[position]).unwrap().knots[0].position, limit, "{position}");
        }
        for position in [PI + 1e-5, -1e-5] {
            assert!(matches!(make(&[position]), Err(TrajectoryError::Limit { .. })), "{position}");
        }
    }

    /// 100,000 points without a position for 3,000 joints are a message of 2.4 MB; memory for all their
    /// targets would be 12 GB.
    #[test]
    fn a_short_message_of_many_points_is_refused_at_its_first_one() {
        let names: Vec<String> = (0..3_000).map(|number| format!("j{number}")).collect();
        let joints: Vec<_> =
            names.iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect();
        let points = (0..POINTS_MAX).map(|number| point(number as i64, &[]));
        let refused = Trajectory::new(&joints, &names, None, points);
        assert!(
            matches!(refused, Err(TrajectoryError::Length { point: 0, joints: 3_000, values: 0, .. })),
            "{refused:?}"
        );
    }

    /// Between points with very large velocities the cubic leaves the joint's limits or overflows. Samples
    /// are then clamped, or there are none.
    #[test]
    fn samples_stay_within_the_limits_of_the_joint() {
        let names = ["a".to_owned()];
        let second = 1_000_000_000;
        for (velocity, finite) in [(1e3, true), (1e308, false)] {
            let ends = [(second, -velocity), (2 * second, velocity)];
            let points = ends.each_ref().map(|(time_ns, velocity)| PointMessage {
                positions: &[0.0],
                velocities: std::slice::from_ref(velocity),
                accelerations: &[],
                time_ns: *time_ns,
            });
            let trajectory = Trajectory::new(&joints(), &names, None, points.into_iter()).unwrap();
            let samples = (0..200).map(|i| trajectory.sample(0, (0, &Knot::default()), i * 10_000_000));
            let all: Vec<Sample> = samples.flatten().collect();
            assert_eq!(all.len() == 200, finite);
            assert!(all.iter().all(|sample| sample.position.abs() <= 10.0 && sample.velocity.abs() <= 1.0));
            assert_eq!(all.iter().any(|sample| sample.clamped), finite);
        }
    }

    /// Wall time is decades after simulated time.
    #[test]
    fn stamps_of_another_clock_are_refused() {
        let start = |start_ns| {
            let names = ["a".to_owned()];
            let points = [point(1_000_000_000, &[0.0])];
            Trajectory::new(&joints(), &names, start_ns, points.into_iter()).unwrap().check_start(10_000_000_000)
        };
        assert_eq!(start(None), Ok(()));
        assert_eq!(start(Some(12_000_000_000)), Ok(()));
        assert!(matches!(start(Some(1_700_000_000_000_000_000)), Err(TrajectoryError::TooEarly { .. })));
        assert!(matches!(start(Some(5_000_000_000)), Err(TrajectoryError::Past { .. })));
    }
}
