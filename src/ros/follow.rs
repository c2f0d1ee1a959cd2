//! The action FollowJointTrajectory of control_msgs: trajectories with tolerances, feedback and a result.

use std::time::Duration;

use r2r::Node;
use r2r::control_msgs::action::FollowJointTrajectory;
use r2r::control_msgs::msg::JointTolerance;
use r2r::trajectory_msgs::msg::JointTrajectoryPoint;

use super::action::{ActionServer, GoalId, Outcome};
use super::command::CommandedJoint;
use super::messages;
use super::names::{did_you_mean, shown};
use super::trajectory::{GoalEnd, GoalFeedback, GoalTerms, Tolerance, TrajectoryError};

// The constants of FollowJointTrajectory.
const SUCCESSFUL: i32 = 0;
const INVALID_GOAL: i32 = -1;
const INVALID_JOINTS: i32 = -2;
const OLD_HEADER_TIMESTAMP: i32 = -3;
const PATH_TOLERANCE_VIOLATED: i32 = -4;
const GOAL_TOLERANCE_VIOLATED: i32 = -5;

/// Why a goal was refused, with its code.
pub(super) struct Refusal(pub(super) i32, pub(super) String);

impl Refusal {
    pub(super) fn invalid(what: impl Into<String>) -> Self {
        Self(INVALID_GOAL, what.into())
    }
}

impl From<TrajectoryError> for Refusal {
    fn from(error: TrajectoryError) -> Self {
        let joints = matches!(
            error,
            TrajectoryError::UnknownJoint { .. } | TrajectoryError::DuplicateJoint { .. } | TrajectoryError::NoJoints
        );
        Self(if joints { INVALID_JOINTS } else { INVALID_GOAL }, error.to_string())
    }
}

/// A goal under way.
struct Under {
    number: u64,
    id: GoalId,
    joints: Vec<String>,
    canceled: bool,
}

/// The action of one controller.
pub(super) struct Follow {
    server: ActionServer<FollowJointTrajectory::Action>,
    goals: Vec<Under>,
}

impl Follow {
    /// Offers the action in front of whose name `prefix` stands.
    pub(super) fn new(node: &mut Node, prefix: &str) -> r2r::Result<Self> {
        Ok(Self { server: ActionServer::new(node, &format!("{prefix}follow_joint_trajectory"))?, goals: Vec::new() })
    }

    /// Takes the next goal on. It is followed with [`Follow::refuse`], or ends with news.
    pub(super) fn next(&mut self, number: u64) -> Option<FollowJointTrajectory::Goal> {
        let (id, goal, request) = self.server.next_goal()?;
        self.server.accept(&id, request);
        let joints = goal.trajectory.joint_names.clone();
        self.goals.push(Under { number, id, joints, canceled: false });
        Some(goal)
    }

    /// Ends a goal that cannot be followed. It was accepted, since only results say why.
    pub(super) fn refuse(&mut self, number: u64, refusal: Refusal) {
        self.end(number, Outcome::Aborted, refusal);
    }

    /// Ends all goals: the joints are gone.
    pub(super) fn abandon(&mut self) {
        while let Some(number) = self.goals.first().map(|goal| goal.number) {
            self.refuse(number, Refusal::invalid("its robot was deleted"));
        }
    }

    /// Whether a goal that is under way is to be given up.
    pub(super) fn take_cancellations(&mut self) -> bool {
        let asked = self.server.serve_clients();
        let mut any = false;
        for goal in self.goals.iter_mut().filter(|goal| asked.contains(&goal.id)) {
            (goal.canceled, any) = (true, true);
        }
        any
    }

    /// Passes on how a goal ended, if it is one of this controller.
    pub(super) fn ended(&mut self, number: u64, end: &GoalEnd) {
        let Some(goal) = self.goals.iter().find(|goal| goal.number == number) else { return };
        let (outcome, refusal) = match end {
            GoalEnd::Reached => (Outcome::Succeeded, Refusal(SUCCESSFUL, String::new())),
            GoalEnd::Path { joint, error } => {
                let what = format!("joint '{joint}' was {error:.4} from its path");
                (Outcome::Aborted, Refusal(PATH_TOLERANCE_VIOLATED, what))
            }
            GoalEnd::End { joint, error } => {
                let what = format!("joint '{joint}' was {error:.4} from its end when the time was over");
                (Outcome::Aborted, Refusal(GOAL_TOLERANCE_VIOLATED, what))
            }
            GoalEnd::Old => {
                let what = "the last point is in the past: stamp trajectories with simulated time, or with zero";
                (Outcome::Aborted, Refusal(OLD_HEADER_TIMESTAMP, what.to_owned()))
            }
            GoalEnd::Interrupted if goal.canceled => (Outcome::Canceled, Refusal(SUCCESSFUL, "canceled".to_owned())),
            GoalEnd::Interrupted => {
                let what = "a command, another trajectory or a reset took its place";
                (Outcome::Aborted, Refusal(INVALID_GOAL, what.to_owned()))
            }
        };
        self.end(number, outcome, refusal);
    }

    fn end(&mut self, number: u64, outcome: Outcome, Refusal(error_code, error_string): Refusal) {
        let Some(place) = self.goals.iter().position(|goal| goal.number == number) else { return };
        let goal = self.goals.swap_remove(place);
        self.server.finish(&goal.id, outcome, FollowJointTrajectory::Result { error_code, error_string });
    }

    /// Passes on how far a goal has come, if it is one of this controller.
    pub(super) fn tell(&self, news: &GoalFeedback, frame: &str) {
        let Some(goal) = self.goals.iter().find(|goal| goal.number == news.number) else { return };
        let point = |values: Vec<(f64, f64)>| {
            let (positions, velocities) = values.into_iter().unzip();
            JointTrajectoryPoint { positions, velocities, ..JointTrajectoryPoint::default() }
        };
        let error =
            news.desired.iter().zip(&news.actual).map(|(wanted, is)| (wanted.0 - is.0, wanted.1 - is.1)).collect();
        let feedback = FollowJointTrajectory::Feedback {
            header: messages::header(news.time_ns, frame),
            joint_names: goal.joints.clone(),
            desired: point(news.desired.clone()),
            actual: point(news.actual.clone()),
            error: point(error),
            ..FollowJointTrajectory::Feedback::default()
        };
        self.server.tell(&goal.id, feedback);
    }
}

/// What the goal asks for beyond its points. As the action says, 0 is the node's own tolerance and -1 none.
pub(super) fn terms(
    number: u64,
    goal: &FollowJointTrajectory::Goal,
    joints: &[CommandedJoint],
) -> Result<GoalTerms, Refusal> {
    if !goal.multi_dof_trajectory.points.is_empty() || !goal.multi_dof_trajectory.joint_names.is_empty() {
        return Err(Refusal::invalid("joints with several degrees of freedom follow no trajectories here"));
    }
    let names = &goal.trajectory.joint_names;
    let path = tolerances(&goal.path_tolerance, "path_tolerance", names, joints)?;
    let end = tolerances(&goal.goal_tolerance, "goal_tolerance", names, joints)?;
    let patience = &goal.goal_time_tolerance;
    let patience = match (u64::try_from(patience.sec), patience.nanosec) {
        (Ok(0), 0) => None,
        (Ok(sec), nanosec) => Some(Duration::from_secs(sec) + Duration::from_nanos(nanosec.into())),
        (Err(_), _) => None,
    };
    Ok(GoalTerms {
        number,
        path,
        end: end.into_iter().map(|tolerance| tolerance.unwrap_or(Tolerance::ANY)).collect(),
        patience_ns: patience.map(|patience| u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX)),
    })
}

/// One entry a joint of `names`; `None` where none is given.
fn tolerances(
    given: &[JointTolerance],
    array: &str,
    names: &[String],
    joints: &[CommandedJoint],
) -> Result<Vec<Option<Tolerance>>, Refusal> {
    let mut all = vec![None; names.len().min(joints.len())];
    for JointTolerance { name, position, velocity, .. } in given {
        let Some(place) = names.iter().take(all.len()).position(|joint| joint == name) else {
            let suggestion = did_you_mean(name, names.iter().map(String::as_str));
            let what = format!("{array}: joint '{}' is not in the trajectory{suggestion}", shown(name));
            return Err(Refusal(INVALID_JOINTS, what));
        };
        if position.is_nan() || velocity.is_nan() {
            return Err(Refusal::invalid(format!("{array}: a number is not a number")));
        }
        let limit = |value: f64| if value > 0.0 { value } else { f64::INFINITY };
        // Nothing said of either leaves the node's own.
        let said = *position != 0.0 || *velocity != 0.0;
        all[place] = said.then(|| Tolerance { position: limit(*position), velocity: limit(*velocity) });
    }
    Ok(all)
}
