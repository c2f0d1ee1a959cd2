//! Active trajectories: targets over time, and the distances of the joints from them.

use super::goal::GoalFeedback;
use super::interpolation::Knot;
use super::trajectory::{Sample, Trajectory, read_knots, write_knots};
use super::trial::Trial;
use crate::math::{ByteReader, ByteWriter, BytesError, Index, ScalarJointIndex};
use crate::stepping::JointTarget;

/// The joints of the scene at a step boundary, by [`ScalarJointIndex`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointStates<'a> {
    /// Simulated time \[ns\].
    pub(crate) time_ns: u64,
    /// \[rad\] or \[m\].
    pub(crate) position: &'a [f64],
    /// [rad/s] or [m/s].
    pub(crate) velocity: &'a [f64],
}

impl JointStates<'_> {
    /// Position and velocity of a joint; zero if there is no such joint.
    pub(super) fn of(&self, joint: ScalarJointIndex) -> (f64, f64) {
        let value = |values: &[f64]| values.get(joint.to_usize()).copied().unwrap_or(0.0);
        (value(self.position), value(self.velocity))
    }
}

/// The status of a trajectory at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Progress {
    /// It is active, or begins later.
    Following,
    /// Its end was reached: the last point remains the target.
    Done,
    /// A joint was too far from it: all its joints are held.
    Aborted { joint: ScalarJointIndex, error: f64 },
    /// A joint was too far from the last point for too long: the last point remains the target.
    Missed { joint: ScalarJointIndex, error: f64 },
    /// Its points have no finite interpolation: all its joints are held.
    Overflow { joint: ScalarJointIndex },
}

/// An active trajectory.
#[derive(Clone, Debug)]
pub(crate) struct Tracking {
    trajectory: Trajectory,
    /// The controller that sent it.
    controller: usize,
    begun: Option<TrajectoryStart>,
    clamped: bool,
    /// Whether a step has succeeded since it began.
    trial: Trial,
}

/// The beginning of a trajectory.
#[derive(Clone, Debug)]
struct TrajectoryStart {
    /// The time from which its points are counted \[ns\].
    start_ns: u64,
    /// The time from there to the step boundary at which it began \[ns\]: positive if it came late. Points
    /// that were due by then are left out.
    late_ns: u64,
    /// The states of its joints when it began.
    origin: Vec<Knot>,
}

impl Tracking {
    /// A trajectory that begins at the next step boundary, or at its own start.
    pub(super) fn new(controller: usize, trajectory: Trajectory) -> Self {
        Self { trajectory, controller, begun: None, clamped: false, trial: Trial::New }
    }

    pub(super) fn controller(&self) -> usize {
        self.controller
    }

    pub(super) fn joints(&self) -> &[ScalarJointIndex] {
        self.trajectory.joints()
    }

    /// Whether it has begun to move its joints.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Whether the next step boundary, at `now_ns`, is its first one.
    pub(super) fn is_about_to_begin(&self, now_ns: u64) -> bool {
        self.begun.is_none() && self.trajectory.start_ns().is_none_or(|start| start <= now_ns)
    }

    /// The goal that it follows, if there is one.
    pub(super) fn goal(&self) -> Option<u64> {
        self.trajectory.tolerances.as_ref().map(|tolerances| tolerances.number)
    }

    /// Whether a joint has been kept within its limits because the polynomials exceeded them.
    pub(super) fn clamped(&self) -> bool {
        self.clamped
    }

    /// Replaces the indices of its joints; false if one of the joints is gone.
    pub(super) fn renumber_joints(&mut self, indices: &[Option<ScalarJointIndex>]) -> bool {
        self.trajectory.renumber_joints(indices)
    }

    /// Calls `set` with the target of each of its joints at a step boundary, and compares the joints with
    /// the targets. After an abort or an overflow, ignore the targets that were set and hold all its joints.
    /// The step before has succeeded if it `passed`.
    pub(super) fn advance(
        &mut self,
        states: &JointStates<'_>,
        tolerance: f64,
        passed: bool,
        mut set: impl FnMut(ScalarJointIndex, JointTarget, Trial),
    ) -> Progress {
        let now_ns = states.time_ns;
        if self.trajectory.start_ns().is_some_and(|start| now_ns < start) {
            return Progress::Following;
        }
        self.trial.begin_step(passed);
        let Self { trajectory, begun, clamped, trial, .. } = self;
        let TrajectoryStart { start_ns, late_ns, origin } = begun.get_or_insert_with(|| {
            let knot = |joint: &ScalarJointIndex| {
                let (position, velocity) = states.of(*joint);
                Knot { position, velocity: Some(velocity), acceleration: None }
            };
            let start_ns = trajectory.start_ns().unwrap_or(now_ns);
            let origin = trajectory.joints().iter().map(knot).collect();
            TrajectoryStart { start_ns, late_ns: now_ns.saturating_sub(start_ns), origin }
        });
        let elapsed_ns = now_ns.saturating_sub(*start_ns);
        let done = elapsed_ns >= trajectory.length_ns();
        let own = if tolerance > 0.0 { tolerance } else { f64::INFINITY };
        let tolerances = trajectory.tolerances.as_ref();
        let mut missed = None;
        for (number, (joint, origin)) in trajectory.joints().iter().copied().zip(&*origin).enumerate() {
            let Some(sample) = trajectory.sample(number, (*late_ns, origin), elapsed_ns) else {
                return Progress::Overflow { joint };
            };
            *clamped |= sample.clamped;
            let (position, velocity) = states.of(joint);
            let errors = (position - sample.position, velocity - sample.velocity);
            let path = tolerances.and_then(|tolerances| tolerances.path.get(number).copied()).unwrap_or_default();
            let end = tolerances.and_then(|tolerances| tolerances.end.get(number)).filter(|_| done);
            match end {
                Some(end) => {
                    let error = end.exceeded(f64::INFINITY, errors.0, errors.1);
                    missed = missed.or(error.map(|error| (joint, error)));
                }
                None => {
                    if let Some(error) = path.exceeded(own, errors.0, errors.1) {
                        return Progress::Aborted { joint, error };
                    }
                }
            }
            let velocity = (!done).then_some(sample.velocity);
            // Its last point is a new target, which may be far from the one of the step before.
            let trial = if done { Trial::Attempted } else { *trial };
            set(joint, JointTarget { position: Some(sample.position), velocity, effort: None }, trial);
        }
        let late = |tolerance_ns: u64| elapsed_ns > trajectory.length_ns().saturating_add(tolerance_ns);
        match missed {
            None if done => Progress::Done,
            Some((joint, error))
                if tolerances.and_then(|tolerances| tolerances.time_tolerance_ns).is_some_and(late) =>
            {
                Progress::Missed { joint, error }
            }
            _ => Progress::Following,
        }
    }

    /// Writes it without its goal, whose client is lost when the node ends.
    pub(super) fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.controller);
        self.trajectory.write(writer);
        writer.flag(self.begun.is_some());
        if let Some(TrajectoryStart { start_ns, late_ns, origin }) = &self.begun {
            writer.u64(*start_ns);
            writer.u64(*late_ns);
            write_knots(origin, writer);
        }
        writer.flag(self.clamped);
    }

    /// Reads the output of [`Tracking::write`] for a world of `count` joints.
    pub(super) fn read(reader: &mut ByteReader<'_>, count: usize) -> Result<Self, BytesError> {
        let controller = usize::try_from(reader.u64()?).map_err(|_| BytesError::Invalid)?;
        let trajectory = Trajectory::read(reader, count)?;
        let begun = match reader.flag()? {
            true => {
                Some(TrajectoryStart { start_ns: reader.u64()?, late_ns: reader.u64()?, origin: read_knots(reader)? })
            }
            false => None,
        };
        if begun.as_ref().is_some_and(|begun| begun.origin.len() != trajectory.joints().len()) {
            return Err(BytesError::Invalid);
        }
        let trial = if begun.is_some() { Trial::Passed } else { Trial::New };
        Ok(Self { trajectory, controller, begun, clamped: reader.flag()?, trial })
    }

    /// The progress of its goal.
    pub(super) fn feedback(&self, states: &JointStates<'_>) -> Option<GoalFeedback> {
        let number = self.goal()?;
        let actual: Vec<_> = self.joints().iter().map(|joint| states.of(*joint)).collect();
        let mut desired = actual.clone();
        if let Some(TrajectoryStart { start_ns, late_ns, origin }) = &self.begun {
            let elapsed_ns = states.time_ns.saturating_sub(*start_ns);
            for (number, (desired, origin)) in desired.iter_mut().zip(origin).enumerate() {
                if let Some(Sample { position, velocity, .. }) =
                    self.trajectory.sample(number, (*late_ns, origin), elapsed_ns)
                {
                    *desired = (position, velocity);
                }
            }
        }
        Some(GoalFeedback { number, time_ns: states.time_ns, desired, actual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ros::commands::joint_command::CommandedJoint;
    use crate::ros::commands::trajectory::PointMessage;

    fn tracking(start_ns: Option<u64>) -> Tracking {
        let joints: Vec<_> = (0..2).map(|target| CommandedJoint::test(["a", "b"][target], target)).collect();
        let point = |time_ns, positions| PointMessage { positions, velocities: &[], accelerations: &[], time_ns };
        let points = [point(1_000_000_000, &[1.0][..]), point(2_000_000_000, &[0.0][..])];
        Tracking::new(0, Trajectory::new(&joints, &["b".to_owned()], start_ns, points.into_iter()).unwrap())
    }

    /// Progress and target position of joint `b` when it is at `position`, `seconds` after the start at 5 s.
    fn at(tracking: &mut Tracking, seconds: f64, position: f64, tolerance: f64) -> (Progress, Option<f64>) {
        let time_ns = (5e9 + seconds * 1e9) as u64;
        let states = JointStates { time_ns, position: &[0.0, position], velocity: &[0.0; 2] };
        let mut wanted = None;
        let progress = tracking.advance(&states, tolerance, true, |joint, target, _| {
            assert_eq!(joint.to_usize(), 1);
            wanted = target.position;
        });
        (progress, wanted)
    }

    #[test]
    fn targets_follow_the_points_and_the_last_one_stands() {
        let mut tracking = tracking(None);
        assert_eq!(at(&mut tracking, 0.0, 0.5, 0.1), (Progress::Following, Some(0.5)));
        assert_eq!(at(&mut tracking, 0.5, 0.7, 0.1), (Progress::Following, Some(0.75)));
        assert_eq!(at(&mut tracking, 1.5, 0.5, 0.1), (Progress::Following, Some(0.5)));
        assert_eq!(at(&mut tracking, 2.0, 0.05, 0.1), (Progress::Done, Some(0.0)));
        assert!(matches!(at(&mut tracking, 1.5, 0.9, 0.1).0, Progress::Aborted { .. }));
    }

    /// Regression, observed on the built node: a trajectory that came 0.95 s after its stamp moved the target
    /// by 95 % of the way at once.
    #[test]
    fn a_late_trajectory_leads_from_the_joint_to_the_next_point() {
        let mut late = tracking(Some(4_500_000_000));
        // Its points are due 0.5 s and 1.5 s from now.
        assert_eq!(at(&mut late, 0.0, 0.0, 0.0), (Progress::Following, Some(0.0)));
        assert_eq!(at(&mut late, 0.25, 0.5, 0.0), (Progress::Following, Some(0.5)));
        assert_eq!(at(&mut late, 1.0, 0.5, 0.0), (Progress::Following, Some(0.5)));
        // Points that are over are left out.
        let mut later = tracking(Some(3_500_000_000));
        assert_eq!(at(&mut later, 0.0, 0.8, 0.0), (Progress::Following, Some(0.8)));
        assert_eq!(at(&mut later, 0.25, 0.4, 0.0), (Progress::Following, Some(0.4)));
        assert_eq!(at(&mut later, 0.5, 0.0, 0.0), (Progress::Done, Some(0.0)));
        // A time before its beginning counts as its beginning.
        assert_eq!(at(&mut later, -1.0, 0.8, 0.0), (Progress::Following, Some(0.8)));
    }

    /// A trajectory that begins later starts from the joints' positions at its beginning, not at its arrival.
    #[test]
    fn a_later_start_begins_where_the_joints_are_then() {
        let mut tracking = tracking(Some(6_000_000_000));
        assert_eq!(at(&mut tracking, 0.0, 0.5, 0.0), (Progress::Following, None));
        assert_eq!(at(&mut tracking, 1.0, -1.0, 0.0), (Progress::Following, Some(-1.0)));
        assert_eq!(at(&mut tracking, 1.5, -1.0, 0.0), (Progress::Following, Some(0.0)));
    }
}
