//! Joint trajectories: checked, interpolated, followed.

use super::command::CommandedJoint;
use super::names::{did_you_mean, shown};
use crate::stepping::{JointCommand, JointTarget};

/// No controller plans further ahead.
const POINTS_MAX: usize = 100_000;

/// A point as a message gives it; each array is empty, or has a value a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointMessage<'a> {
    pub(super) positions: &'a [f64],
    pub(super) velocities: &'a [f64],
    pub(super) accelerations: &'a [f64],
    /// [ns], from the trajectory's start.
    pub(super) time_ns: i64,
}

/// Why a trajectory was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum TrajectoryError {
    #[error("unknown joint '{name}'{suggestion}")]
    UnknownJoint { name: String, suggestion: String },
    #[error("joint '{name}' is named twice")]
    DuplicateJoint { name: String },
    #[error("no joints: fill 'joint_names'")]
    NoJoints,
    #[error("{points} points; at most {POINTS_MAX} are taken")]
    TooLong { points: usize },
    #[error("point {point}: {joints} joints and {values} values in '{array}'{}", if *array == "positions" { "" } else { "; give none, or one for each joint" })]
    Length { point: usize, array: &'static str, joints: usize, values: usize },
    #[error("point {point}: a number in '{array}' is not finite")]
    NotFinite { point: usize, array: &'static str },
    #[error("point {point}: time_from_start must be later than that of the point before, and not negative")]
    Time { point: usize },
    #[error("point {point}: position {value} of joint '{name}' is beyond its limits, {lower} to {upper}")]
    Limit { point: usize, name: String, value: f64, lower: f64, upper: f64 },
}

/// One joint at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Knot {
    position: f64,
    velocity: Option<f64>,
    acceleration: Option<f64>,
}

/// A trajectory of some joints. Without points it is a cancellation: the joints stay where they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trajectory {
    /// Where the joints stand in the scene's list.
    pub(super) joints: Vec<usize>,
    /// When it begins [ns]; `None` is at once.
    pub(super) start_ns: Option<u64>,
    times_ns: Vec<u64>,
    /// One a joint, point after point.
    knots: Vec<Knot>,
    /// The goal that it follows, if an action asked for it.
    pub(super) terms: Option<GoalTerms>,
}

/// How far a joint may be off; infinite is as far as it likes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance {
    /// [rad] or [m].
    pub(super) position: f64,
    /// [rad/s] or [m/s].
    pub(super) velocity: f64,
}

impl Tolerance {
    pub(super) const ANY: Self = Self { position: f64::INFINITY, velocity: f64::INFINITY };

    /// The distance that is too large, if one is.
    fn exceeded(&self, position_error: f64, velocity_error: f64) -> Option<f64> {
        if position_error.abs() > self.position {
            return Some(position_error);
        }
        (velocity_error.abs() > self.velocity).then_some(velocity_error)
    }
}

/// What a goal asks of a trajectory beyond its points; one tolerance a joint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GoalTerms {
    pub(super) number: u64,
    /// On the way; `None` is the node's own tolerance.
    pub(super) path: Vec<Option<Tolerance>>,
    /// At the end.
    pub(super) end: Vec<Tolerance>,
    /// How long after the last point the end may be reached [ns]; `None` is for ever.
    pub(super) patience_ns: Option<u64>,
}

/// How a goal ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GoalEnd {
    Reached,
    /// Off its path.
    Path {
        joint: String,
        error: f64,
    },
    /// Not at its end in time.
    End {
        joint: String,
        error: f64,
    },
    /// Its last point was before the present.
    Old,
    /// Something else took its place: a command, another trajectory, a reset.
    Interrupted,
}

/// How far a goal has come; one entry a joint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GoalFeedback {
    pub(super) number: u64,
    pub(super) time_ns: u64,
    /// Position and velocity that are wanted, and those that are.
    pub(super) desired: Vec<(f64, f64)>,
    pub(super) actual: Vec<(f64, f64)>,
}

impl Trajectory {
    /// Checks a message.
    pub(super) fn new<'a>(
        joints: &[CommandedJoint],
        names: &[String],
        start_ns: Option<u64>,
        points: impl ExactSizeIterator<Item = PointMessage<'a>>,
    ) -> Result<Self, TrajectoryError> {
        let places = places(joints, names)?;
        if points.len() > POINTS_MAX {
            return Err(TrajectoryError::TooLong { points: points.len() });
        }
        let mut trajectory = Self {
            joints: places.iter().map(|place| joints[*place].target).collect(),
            start_ns,
            times_ns: Vec::with_capacity(points.len()),
            knots: Vec::with_capacity(points.len() * names.len()),
            terms: None,
        };
        for (number, point) in points.enumerate() {
            check_point(number, &point, names.len())?;
            let time_ns = u64::try_from(point.time_ns).map_err(|_| TrajectoryError::Time { point: number })?;
            if trajectory.times_ns.last().is_some_and(|last| *last >= time_ns) {
                return Err(TrajectoryError::Time { point: number });
            }
            trajectory.times_ns.push(time_ns);
            for (i, place) in places.iter().enumerate() {
                let CommandedJoint { name, lower, upper, .. } = &joints[*place];
                let position = point.positions[i];
                if !(*lower..=*upper).contains(&position) {
                    let (name, value) = (name.clone(), position);
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

    /// No trajectory any more: these joints stay where they are.
    pub(super) fn cancellation(joints: Vec<usize>) -> Self {
        Self { joints, ..Self::default() }
    }

    /// When its last point is [ns], counted from its start; zero without points.
    pub(super) fn length_ns(&self) -> u64 {
        self.times_ns.last().copied().unwrap_or(0)
    }

    fn knot(&self, point: usize, joint: usize) -> Knot {
        self.knots[point * self.joints.len() + joint]
    }
}

fn places(joints: &[CommandedJoint], names: &[String]) -> Result<Vec<usize>, TrajectoryError> {
    if names.is_empty() {
        return Err(TrajectoryError::NoJoints);
    }
    let mut places = Vec::with_capacity(names.len().min(joints.len()));
    for name in names {
        let Some(place) = joints.iter().position(|joint| joint.name == *name) else {
            let suggestion = did_you_mean(name, joints.iter().map(|joint| joint.name.as_str()));
            return Err(TrajectoryError::UnknownJoint { name: shown(name), suggestion });
        };
        if places.contains(&place) {
            return Err(TrajectoryError::DuplicateJoint { name: shown(name) });
        }
        places.push(place);
    }
    Ok(places)
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

/// What became of a trajectory at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Progress {
    /// It is under way, or begins later.
    Following,
    /// Its end was reached: the last point stands.
    Done,
    /// A joint was too far from it: all joints are held.
    Aborted { joint: usize, error: f64 },
    /// A joint was too far from the last point for too long: the last point stands.
    Missed { joint: usize, error: f64 },
}

/// A trajectory under way.
#[derive(Clone, Debug)]
pub(super) struct Tracking {
    trajectory: Trajectory,
    start_ns: u64,
    /// Where the joints were when it began.
    origin: Vec<Knot>,
}

impl Tracking {
    /// Begins `trajectory` at `now_ns`, from the joints' positions and velocities.
    pub(super) fn new(trajectory: Trajectory, now_ns: u64, position: &[f64], velocity: &[f64]) -> Self {
        let origin = trajectory
            .joints
            .iter()
            .map(|joint| Knot { position: position[*joint], velocity: Some(velocity[*joint]), acceleration: None })
            .collect();
        let start_ns = trajectory.start_ns.unwrap_or(now_ns);
        Self { trajectory, start_ns, origin }
    }

    /// Writes the targets at `now_ns` into `command`, and checks the joints' positions against those of the instant.
    pub(super) fn advance(
        &self,
        now_ns: u64,
        position: &[f64],
        velocity: &[f64],
        tolerance: f64,
        command: &mut JointCommand,
    ) -> Progress {
        let Some(elapsed_ns) = now_ns.checked_sub(self.start_ns) else { return Progress::Following };
        let last = self.trajectory.times_ns.len().checked_sub(1);
        let done = last.is_none_or(|last| elapsed_ns >= self.trajectory.times_ns[last]);
        let own = if tolerance > 0.0 { tolerance } else { f64::INFINITY };
        let own = Tolerance { position: own, velocity: f64::INFINITY };
        let terms = self.trajectory.terms.as_ref();
        let mut missed = None;
        for (number, joint) in self.trajectory.joints.iter().enumerate() {
            let (wanted, speed) = self.wanted(number, elapsed_ns).unwrap_or((position[*joint], 0.0));
            let errors = (position[*joint] - wanted, velocity[*joint] - speed);
            let path = terms.and_then(|terms| terms.path.get(number).copied().flatten()).unwrap_or(own);
            let end = terms.and_then(|terms| terms.end.get(number)).filter(|_| done);
            match end {
                Some(end) => missed = missed.or(end.exceeded(errors.0, errors.1).map(|error| (*joint, error))),
                None => {
                    if let Some(error) = path.exceeded(errors.0, errors.1) {
                        self.hold(position, command);
                        return Progress::Aborted { joint: *joint, error };
                    }
                }
            }
            let Some(target) = command.targets.get_mut(*joint) else { continue };
            *target = JointTarget { position: Some(wanted), velocity: Some(speed), effort: None };
        }
        let late = |patience: u64| elapsed_ns > self.trajectory.length_ns().saturating_add(patience);
        match missed {
            None if done => Progress::Done,
            Some((joint, error)) if terms.and_then(|terms| terms.patience_ns).is_some_and(late) => {
                Progress::Missed { joint, error }
            }
            _ => Progress::Following,
        }
    }

    /// What its end is called.
    pub(super) fn ended(&self) -> &'static str {
        if self.trajectory.times_ns.is_empty() { "canceled" } else { "done" }
    }

    /// What is wanted of a joint at a time since the start; nothing without points.
    fn wanted(&self, number: usize, elapsed_ns: u64) -> Option<(f64, f64)> {
        let last = self.trajectory.times_ns.len().checked_sub(1)?;
        if elapsed_ns >= self.trajectory.times_ns[last] {
            return Some((self.trajectory.knot(last, number).position, 0.0));
        }
        Some(self.sample(number, elapsed_ns))
    }

    /// The goal that it follows, if there is one.
    pub(super) fn goal(&self) -> Option<u64> {
        self.trajectory.terms.as_ref().map(|terms| terms.number)
    }

    /// How far its goal has come.
    pub(super) fn feedback(&self, now_ns: u64, position: &[f64], velocity: &[f64]) -> Option<GoalFeedback> {
        let number = self.goal()?;
        let elapsed_ns = now_ns.saturating_sub(self.start_ns);
        let joints = &self.trajectory.joints;
        let actual: Vec<_> = joints.iter().map(|joint| (position[*joint], velocity[*joint])).collect();
        let desired =
            actual.iter().enumerate().map(|(place, is)| self.wanted(place, elapsed_ns).unwrap_or(*is)).collect();
        Some(GoalFeedback { number, time_ns: now_ns, desired, actual })
    }

    /// Its joints are others from now on: `places` says where each of the old ones is. False where one of them is gone.
    pub(super) fn move_joints(&mut self, places: &[Option<usize>]) -> bool {
        let moved: Option<Vec<usize>> =
            self.trajectory.joints.iter().map(|joint| places.get(*joint).copied().flatten()).collect();
        let Some(joints) = moved else { return false };
        self.trajectory.joints = joints;
        true
    }

    /// Holds its joints where they are.
    pub(super) fn hold(&self, position: &[f64], command: &mut JointCommand) {
        for joint in &self.trajectory.joints {
            if let Some(target) = command.targets.get_mut(*joint) {
                *target = JointTarget { position: Some(position[*joint]), ..JointTarget::default() };
            }
        }
    }

    /// Position and velocity of a joint at a time between the start and the last point.
    fn sample(&self, number: usize, elapsed_ns: u64) -> (f64, f64) {
        let times = &self.trajectory.times_ns;
        let next = times.partition_point(|time| *time <= elapsed_ns);
        let (from, from_ns) = match next.checked_sub(1) {
            Some(last) => (self.trajectory.knot(last, number), times[last]),
            None => (self.origin[number], 0),
        };
        let to = self.trajectory.knot(next, number);
        let duration = (times[next] - from_ns) as f64 * 1e-9;
        interpolate(&from, &to, duration, (elapsed_ns - from_ns) as f64 * 1e-9)
    }
}

/// The polynomial of the least degree through what both ends state: linear between positions, cubic with velocities,
/// quintic with accelerations too.
fn interpolate(from: &Knot, to: &Knot, T: f64, t: f64) -> (f64, f64) {
    let d = to.position - from.position;
    let Some(v1) = to.velocity else { return (from.position + d * t / T, d / T) };
    let v0 = from.velocity.unwrap_or(0.0);
    let Some(a1) = to.acceleration else {
        let c2 = (3.0 * d / T - 2.0 * v0 - v1) / T;
        let c3 = (v0 + v1 - 2.0 * d / T) / (T * T);
        return (from.position + t * (v0 + t * (c2 + t * c3)), v0 + t * (2.0 * c2 + t * 3.0 * c3));
    };
    let a0 = from.acceleration.unwrap_or(0.0);
    let c2 = a0 / 2.0;
    let c3 = (20.0 * d - (8.0 * v1 + 12.0 * v0) * T - (3.0 * a0 - a1) * T * T) / (2.0 * T.powi(3));
    let c4 = (-30.0 * d + (14.0 * v1 + 16.0 * v0) * T + (3.0 * a0 - 2.0 * a1) * T * T) / (2.0 * T.powi(4));
    let c5 = (12.0 * d - 6.0 * (v1 + v0) * T + (a1 - a0) * T * T) / (2.0 * T.powi(5));
    let position = from.position + t * (v0 + t * (c2 + t * (c3 + t * (c4 + t * c5))));
    let velocity = v0 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)));
    (position, velocity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joints() -> Vec<CommandedJoint> {
        ["a", "b"].iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect()
    }

    fn point(time_ns: i64, positions: &[f64]) -> PointMessage<'_> {
        PointMessage { positions, velocities: &[], accelerations: &[], time_ns }
    }

    /// Ends meet the stated values and derivatives, in all three degrees.
    #[test]
    fn polynomials_meet_both_ends() {
        let from = Knot { position: 1.0, velocity: Some(0.5), acceleration: Some(0.25) };
        for (velocity, acceleration) in [(None, None), (Some(-1.0), None), (Some(-1.0), Some(2.0))] {
            let to = Knot { position: 3.0, velocity, acceleration };
            let (start, start_speed) = interpolate(&from, &to, 2.0, 0.0);
            let (end, end_speed) = interpolate(&from, &to, 2.0, 2.0);
            assert!((start - 1.0).abs() < 1e-14 && (end - 3.0).abs() < 1e-13);
            if let Some(velocity) = velocity {
                assert!((start_speed - 0.5).abs() < 1e-14 && (end_speed - velocity).abs() < 1e-13);
            }
            if let Some(acceleration) = acceleration {
                let (_, before) = interpolate(&from, &to, 2.0, 2.0 - 1e-6);
                assert!(((end_speed - before) / 1e-6 - acceleration).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn targets_follow_the_points_and_the_last_one_stands() {
        let names = ["b".to_owned()];
        let points = [point(1_000_000_000, &[1.0]), point(2_000_000_000, &[0.0])];
        let trajectory = Trajectory::new(&joints(), &names, None, points.into_iter()).unwrap();
        let tracking = Tracking::new(trajectory, 5_000_000_000, &[0.0, 0.5], &[0.0, 0.0]);
        let mut command = JointCommand { targets: vec![JointTarget::default(); 2] };
        let mut at = |seconds: f64, position: f64, tolerance: f64| {
            let now = 5_000_000_000 + (seconds * 1e9) as u64;
            let progress = tracking.advance(now, &[0.0, position], &[0.0; 2], tolerance, &mut command);
            (progress, command.targets[1].position)
        };
        assert_eq!(at(0.5, 0.7, 0.1), (Progress::Following, Some(0.75)));
        assert_eq!(at(1.5, 0.5, 0.1), (Progress::Following, Some(0.5)));
        assert_eq!(at(2.0, 0.05, 0.1), (Progress::Done, Some(0.0)));
        let (progress, held) = at(1.5, 0.9, 0.1);
        assert!(matches!(progress, Progress::Aborted { joint: 1, .. }) && held == Some(0.9));
    }

    #[test]
    fn malformed_trajectories_are_named() {
        let make = |names: &[&str], points: Vec<PointMessage<'_>>| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Trajectory::new(&joints(), &names, None, points.into_iter())
        };
        let (short, nan, far) = ([0.0], [0.0, f64::NAN], [0.0, 1e9]);
        assert!(matches!(make(&[], vec![]), Err(TrajectoryError::NoJoints)));
        assert!(matches!(make(&["c"], vec![]), Err(TrajectoryError::UnknownJoint { .. })));
        assert!(matches!(make(&["a", "a"], vec![]), Err(TrajectoryError::DuplicateJoint { .. })));
        assert!(matches!(make(&["a", "b"], vec![point(1, &short)]), Err(TrajectoryError::Length { .. })));
        assert!(matches!(make(&["a", "b"], vec![point(1, &nan)]), Err(TrajectoryError::NotFinite { .. })));
        assert!(matches!(make(&["a", "b"], vec![point(1, &far)]), Err(TrajectoryError::Limit { point: 0, .. })));
        assert!(matches!(make(&["a"], vec![point(-1, &short)]), Err(TrajectoryError::Time { point: 0 })));
        assert!(matches!(
            make(&["a"], vec![point(2, &short), point(2, &short)]),
            Err(TrajectoryError::Time { point: 1 })
        ));
        assert!(make(&["a"], vec![]).is_ok(), "a cancellation");
    }
}
