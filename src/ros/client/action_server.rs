//! An action server built from the three services and two topics of an action. Goals expire, cancellations
//! are answered at once, and no message from a client ends the node; the action server of r2r guarantees none
//! of the three.

use std::time::{Duration, Instant};

use super::error::ClientError;
use super::interfaces::ActionType;
use super::interfaces::action_msgs::msg::{GoalInfo, GoalStatus, GoalStatusArray};
use super::interfaces::action_msgs::srv::CancelGoal;
use super::interfaces::unique_identifier_msgs::msg::UUID;
use super::messages::system_time;
use super::node::{Node, Publisher, Qos};
use super::service::{Request, Service};

// The constants of action_msgs/GoalStatus.
const UNKNOWN: i8 = 0;
const EXECUTING: i8 = 2;
const CANCELING: i8 = 3;
// The constants of action_msgs/CancelGoal.
const CANCEL_REJECTED: i8 = 1;
const CANCEL_UNKNOWN: i8 = 2;
const CANCEL_TERMINATED: i8 = 3;

/// The time for which a result is kept for clients that have not requested it yet.
const RESULT_KEPT: Duration = Duration::from_secs(60);
/// The time within which the client of a goal that has ended requests its result.
const REQUEST_WAIT: Duration = Duration::from_millis(500);
/// The largest number of goals kept, including finished ones.
const GOALS_MAX: usize = 100;

/// The end of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoalOutcome {
    Succeeded = 4,
    Canceled = 5,
    Aborted = 6,
}

/// The UUID of a goal.
pub(crate) type GoalId = Vec<u8>;

struct Goal<T: ActionType> {
    info: GoalInfo,
    status: i8,
    result: Option<(T::Result, Instant)>,
    waiting: Vec<Request<T::GetResult>>,
    /// Whether a client has received the result.
    delivered: bool,
}

/// The server's end of an action.
pub(crate) struct ActionServer<T: ActionType + 'static> {
    goal_requests: Service<T::SendGoal>,
    result_requests: Service<T::GetResult>,
    cancel_requests: Service<CancelGoal::Service>,
    feedback: Publisher<T::FeedbackMessage>,
    status: Publisher<GoalStatusArray>,
    goals: Vec<Goal<T>>,
}

impl<T: ActionType + 'static> ActionServer<T> {
    /// Offers the action `name`.
    pub(crate) fn new(node: &mut Node, name: &str) -> Result<Self, ClientError> {
        let server = Self {
            goal_requests: node.service(&format!("{name}/_action/send_goal"))?,
            result_requests: node.service(&format!("{name}/_action/get_result"))?,
            cancel_requests: node.service(&format!("{name}/_action/cancel_goal"))?,
            feedback: node.publisher(&format!("{name}/_action/feedback"), Qos::Reliable(10))?,
            status: node.publisher(&format!("{name}/_action/status"), Qos::Latched)?,
            goals: Vec::new(),
        };
        server.publish_status();
        Ok(server)
    }

    /// The next requested goal. A goal that reuses an id, or comes while too many are active, is rejected.
    pub(crate) fn next_goal(&mut self) -> Option<(GoalId, T::Goal, Request<T::SendGoal>)> {
        while let Some(request) = self.goal_requests.next() {
            let (id, goal) = T::destructure_goal_request_msg(request.message().clone());
            if self.index_of(&id.uuid).is_none() && self.make_room() {
                return Some((id.uuid, goal, request));
            }
            self.reject(request);
        }
        None
    }

    /// Accepts a goal.
    pub(crate) fn accept(&mut self, id: &GoalId, request: Request<T::SendGoal>) {
        let stamp = system_time();
        let info = GoalInfo { goal_id: UUID { uuid: id.clone() }, stamp: stamp.clone() };
        self.goals.push(Goal { info, status: EXECUTING, result: None, waiting: Vec::new(), delivered: false });
        request.respond(T::make_goal_response_msg(true, stamp));
        self.publish_status();
    }

    /// Rejects a goal.
    pub(crate) fn reject(&self, request: Request<T::SendGoal>) {
        request.respond(T::make_goal_response_msg(false, system_time()));
    }

    /// Publishes the progress of a goal.
    pub(crate) fn publish_feedback(&self, id: &GoalId, feedback: T::Feedback) {
        if let Err(error) = self.feedback.publish(&T::make_feedback_msg(UUID { uuid: id.clone() }, feedback)) {
            tracing::debug!("feedback of a goal: {error}");
        }
    }

    /// Ends a goal.
    pub(crate) fn finish(&mut self, id: &GoalId, outcome: GoalOutcome, result: T::Result) {
        let Some(index) = self.index_of(id) else { return };
        let goal = &mut self.goals[index];
        goal.status = outcome as i8;
        goal.delivered = !goal.waiting.is_empty();
        for request in goal.waiting.drain(..) {
            request.respond(T::make_result_response_msg(goal.status, result.clone()));
        }
        goal.result = Some((result, Instant::now()));
        self.publish_status();
    }

    /// Answers requests for results and cancellations, and drops old results. Returns the goals to cancel:
    /// every cancellation is granted.
    pub(crate) fn serve_clients(&mut self) -> Vec<GoalId> {
        let mut canceled = Vec::new();
        while let Some(request) = self.cancel_requests.next() {
            let response = self.cancel(&request.message().goal_info, &mut canceled);
            request.respond(response);
        }
        while let Some(request) = self.result_requests.next() {
            let id = T::destructure_result_request_msg(request.message().clone());
            let Some(index) = self.index_of(&id.uuid) else {
                request.respond(T::make_result_response_msg(UNKNOWN, T::Result::default()));
                continue;
            };
            let goal = &mut self.goals[index];
            match &goal.result {
                Some((result, _)) => {
                    request.respond(T::make_result_response_msg(goal.status, result.clone()));
                    goal.delivered = true;
                }
                None if goal.waiting.len() < GOALS_MAX => goal.waiting.push(request),
                None => tracing::debug!("too many requests wait for the result of one goal: this one gets no response"),
            }
        }
        let before = self.goals.len();
        self.goals.retain(|goal| goal.result.as_ref().is_none_or(|(_, since)| since.elapsed() < RESULT_KEPT));
        if self.goals.len() < before || !canceled.is_empty() {
            self.publish_status();
        }
        canceled
    }

    /// Whether a goal ended just now, and no client has requested its result yet.
    pub(crate) fn awaits_request(&self) -> bool {
        let awaits = |goal: &Goal<T>| {
            !goal.delivered && goal.result.as_ref().is_some_and(|(_, since)| since.elapsed() < REQUEST_WAIT)
        };
        self.goals.iter().any(awaits)
    }

    /// A request cancels the goal with its id, and all goals that were accepted up to its stamp. A request
    /// without id and stamp cancels all goals.
    fn cancel(&mut self, asked: &GoalInfo, canceled: &mut Vec<GoalId>) -> CancelGoal::Response {
        let without_id = asked.goal_id.uuid.iter().all(|byte| *byte == 0);
        let stamp = (asked.stamp.sec, asked.stamp.nanosec);
        let mut response = CancelGoal::Response::default();
        for goal in &mut self.goals {
            let named = goal.info.goal_id == asked.goal_id;
            let early = stamp != (0, 0) && (goal.info.stamp.sec, goal.info.stamp.nanosec) <= stamp;
            if goal.status == EXECUTING && (named || early || (without_id && stamp == (0, 0))) {
                goal.status = CANCELING;
                response.goals_canceling.push(goal.info.clone());
                canceled.push(goal.info.goal_id.uuid.clone());
            }
        }
        if response.goals_canceling.is_empty() {
            response.return_code = match self.index_of(&asked.goal_id.uuid) {
                Some(index) if self.goals[index].result.is_some() => CANCEL_TERMINATED,
                Some(_) => CANCEL_REJECTED,
                None if without_id => 0,
                None => CANCEL_UNKNOWN,
            };
        }
        response
    }

    fn index_of(&self, id: &[u8]) -> Option<usize> {
        self.goals.iter().position(|goal| goal.info.goal_id.uuid == id)
    }

    /// Whether another goal fits. The oldest result is dropped to make room.
    fn make_room(&mut self) -> bool {
        if self.goals.len() >= GOALS_MAX
            && let Some(oldest) = self.goals.iter().position(|goal| goal.result.is_some())
        {
            self.goals.remove(oldest);
        }
        self.goals.len() < GOALS_MAX
    }

    fn publish_status(&self) {
        let status = |goal: &Goal<T>| GoalStatus { goal_info: goal.info.clone(), status: goal.status };
        let status_list = self.goals.iter().map(status).collect();
        if let Err(error) = self.status.publish(&GoalStatusArray { status_list }) {
            tracing::debug!("status of goals: {error}");
        }
    }
}
