//! The action FollowJointTrajectory of control_msgs: trajectories with tolerances, feedback and a result.

use crate::ros::client::interfaces::control_msgs::action::FollowJointTrajectory;
use crate::ros::client::interfaces::control_msgs::msg::JointTolerance;
use crate::ros::client::interfaces::trajectory_msgs::msg::JointTrajectoryPoint;

use crate::math::ScalarJointIndex;
use crate::ros::client::messages;
use crate::ros::client::{ActionServer, ClientError, GoalId, GoalOutcome, Node};
use crate::ros::commands::goal::{GoalEnd, GoalFeedback, GoalTolerances, Tolerance};
use crate::ros::commands::joint_command::CommandedJoint;
use crate::ros::commands::trajectory::TrajectoryError;
use crate::ros::log::names::{did_you_mean, shown};

// The constants of FollowJointTrajectory.
const SUCCESSFUL: i32 = 0;
const INVALID_GOAL: i32 = -1;
const INVALID_JOINTS: i32 = -2;
const OLD_HEADER_TIMESTAMP: i32 = -3;
const PATH_TOLERANCE_VIOLATED: i32 = -4;
const GOAL_TOLERANCE_VIOLATED: i32 = -5;

/// The reason why a goal was refused, with its code.
pub(crate) struct Refusal(pub(crate) i32, pub(crate) String);

impl Refusal {
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self(INVALID_GOAL, what.into())
    }
}

impl From<TrajectoryError> for Refusal {
    fn from(error: TrajectoryError) -> Self {
        let code = match error {
            TrajectoryError::UnknownJoint { .. }
            | TrajectoryError::DuplicateJoint { .. }
            | TrajectoryError::NoJoints => INVALID_JOINTS,
            TrajectoryError::Past { .. } => OLD_HEADER_TIMESTAMP,
            _ => INVALID_GOAL,
        };
        Self(code, error.to_string())
    }
}

/// An active goal.
struct ActiveGoal {
    number: u64,
    id: GoalId,
    joints: Vec<String>,
    canceled: bool,
}

/// The action of one controller.
pub(crate) struct FollowJointTrajectoryServer {
    server: ActionServer<FollowJointTrajectory::Action>,
    goals: Vec<ActiveGoal>,
}

impl FollowJointTrajectoryServer {
    /// Creates the action whose name starts with `prefix`.
    pub(crate) fn new(node: &mut Node, prefix: &str) -> Result<Self, ClientError> {
        Ok(Self { server: ActionServer::new(node, &format!("{prefix}follow_joint_trajectory"))?, goals: Vec::new() })
    }

    /// Accepts the next goal. [`FollowJointTrajectoryServer::refuse`] or
    /// [`FollowJointTrajectoryServer::ended`] ends it later.
    pub(crate) fn next(&mut self, number: u64) -> Option<FollowJointTrajectory::Goal> {
        let (id, goal, request) = self.server.next_goal()?;
        self.server.accept(&id, request);
        let joints = goal.trajectory.joint_names.clone();
        self.goals.push(ActiveGoal { number, id, joints, canceled: false });
        Some(goal)
    }

    /// Ends a goal that cannot be followed. The goal was accepted first, because only results can state a
    /// reason.
    pub(crate) fn refuse(&mut self, number: u64, refusal: Refusal) {
        self.end(number, GoalOutcome::Aborted, refusal);
    }

    /// Ends all goals, for this reason.
    pub(crate) fn abandon(&mut self, reason: &str) {
        while let Some(number) = self.goals.first().map(|goal| goal.number) {
            self.refuse(number, Refusal::invalid(reason));
        }
    }

    /// Whether a goal ended just now, and no client has requested its result yet.
    pub(crate) fn awaits_request(&self) -> bool {
        self.server.awaits_request()
    }

    /// Serves the clients, and marks the active goals to be canceled. Returns their numbers.
    pub(crate) fn take_cancellations(&mut self) -> Vec<u64> {
        let asked = self.server.serve_clients();
        let canceled = self.goals.iter_mut().filter(|goal| asked.contains(&goal.id));
        canceled
            .map(|goal| {
                goal.canceled = true;
                goal.number
            })
            .collect()
    }

    /// Ends a goal if it belongs to this controller, whose names of the scene's joints are in `joints`.
    pub(crate) fn ended(&mut self, number: u64, end: &GoalEnd, joints: &[CommandedJoint]) {
        let Some(goal) = self.goals.iter().find(|goal| goal.number == number) else { return };
        let named = |joint: &ScalarJointIndex| {
            let known = joints.iter().find(|known| known.target == *joint);
            known.map_or_else(String::new, |known| known.name.clone())
        };
        let (outcome, refusal) = match end {
            GoalEnd::Reached => (GoalOutcome::Succeeded, Refusal(SUCCESSFUL, String::new())),
            GoalEnd::Path { joint, error } => {
                let what = format!("joint '{}' was {error:.4} from its path", named(joint));
                (GoalOutcome::Aborted, Refusal(PATH_TOLERANCE_VIOLATED, what))
            }
            GoalEnd::End { joint, error } => {
                let what = format!("joint '{}' was {error:.4} from its end when the time had passed", named(joint));
                (GoalOutcome::Aborted, Refusal(GOAL_TOLERANCE_VIOLATED, what))
            }
            GoalEnd::Overflow { joint } => {
                let what =
                    format!("the velocities or accelerations of joint '{}' are too large to interpolate", named(joint));
                (GoalOutcome::Aborted, Refusal(INVALID_GOAL, what))
            }
            GoalEnd::Interrupted if goal.canceled => {
                (GoalOutcome::Canceled, Refusal(SUCCESSFUL, "canceled".to_owned()))
            }
            GoalEnd::Interrupted => {
                let what = "a command, another trajectory, a reset, a change of the world or a failed step ended it";
                (GoalOutcome::Aborted, Refusal(INVALID_GOAL, what.to_owned()))
            }
        };
        self.end(number, outcome, refusal);
    }

    fn end(&mut self, number: u64, outcome: GoalOutcome, Refusal(error_code, error_string): Refusal) {
        let Some(index) = self.goals.iter().position(|goal| goal.number == number) else { return };
        let goal = self.goals.swap_remove(index);
        self.server.finish(&goal.id, outcome, FollowJointTrajectory::Result { error_code, error_string });
    }

    /// Publishes the progress of a goal if it belongs to this controller.
    pub(crate) fn publish_feedback(&self, updates: &GoalFeedback, frame: &str) {
        let Some(goal) = self.goals.iter().find(|goal| goal.number == updates.number) else { return };
        let point = |values: Vec<(f64, f64)>| {
            let (positions, velocities) = values.into_iter().unzip();
            JointTrajectoryPoint { positions, velocities, ..JointTrajectoryPoint::default() }
        };
        let error = updates
            .desired
            .iter()
            .zip(&updates.actual)
            .map(|(wanted, is)| (wanted.0 - is.0, wanted.1 - is.1))
            .collect();
        let feedback = FollowJointTrajectory::Feedback {
            header: messages::header(updates.time_ns, frame),
            joint_names: goal.joints.clone(),
            desired: point(updates.desired.clone()),
            actual: point(updates.actual.clone()),
            error: point(error),
            ..FollowJointTrajectory::Feedback::default()
        };
        self.server.publish_feedback(&goal.id, feedback);
    }
}

/// The requirements of the goal in addition to its points. As the action defines, 0 selects the node's
/// default tolerance and -1 none, for each quantity separately.
pub(crate) fn goal_tolerances(
    number: u64,
    goal: &FollowJointTrajectory::Goal,
    joints: &[CommandedJoint],
) -> Result<GoalTolerances, Refusal> {
    if !goal.multi_dof_trajectory.points.is_empty() || !goal.multi_dof_trajectory.joint_names.is_empty() {
        return Err(Refusal::invalid("trajectories of joints with several degrees of freedom are not supported"));
    }
    let names = &goal.trajectory.joint_names;
    let path = tolerances(&goal.path_tolerance, "path_tolerance", names, joints)?;
    let end = tolerances(&goal.goal_tolerance, "goal_tolerance", names, joints)?;
    let tolerance = &goal.goal_time_tolerance;
    let time_tolerance_ns = match (u64::try_from(tolerance.sec), u64::from(tolerance.nanosec)) {
        // A goal without a time waits without a limit, as in ros2_control's joint_trajectory_controller.
        (Ok(0), 0) | (Err(_), _) => None,
        // At most 2^31 s.
        (Ok(sec), nanosec) => Some(sec * 1_000_000_000 + nanosec),
    };
    Ok(GoalTolerances { number, path, end, time_tolerance_ns })
}

/// One entry per joint of `names`; the node's own tolerance if the message has none. A joint with two
/// tolerances is refused, because either could be meant.
fn tolerances(
    given: &[JointTolerance],
    array: &str,
    names: &[String],
    joints: &[CommandedJoint],
) -> Result<Vec<Tolerance>, Refusal> {
    let mut all = vec![Tolerance::default(); names.len().min(joints.len())];
    let mut known = vec![false; all.len()];
    for JointTolerance { name, position, velocity, .. } in given {
        let Some(index) = names.iter().take(all.len()).position(|joint| joint == name) else {
            let suggestion = did_you_mean(name, names.iter().map(String::as_str));
            let what = format!("{array}: joint '{}' is not in the trajectory{suggestion}", shown(name));
            return Err(Refusal(INVALID_JOINTS, what));
        };
        if std::mem::replace(&mut known[index], true) {
            let what = format!("{array}: joint '{}' has two tolerances: give one", shown(name));
            return Err(Refusal::invalid(what));
        }
        if position.is_nan() || velocity.is_nan() {
            return Err(Refusal::invalid(format!("{array}: the tolerance of '{}' is not a number", shown(name))));
        }
        let limit = |value: f64| match value {
            0.0 => None,
            _ => Some(if value > 0.0 { value } else { f64::INFINITY }),
        };
        all[index] = Tolerance { position: limit(*position), velocity: limit(*velocity) };
    }
    Ok(all)
}
