//! An action server made of the three services and two topics that an action is, so that goals expire, cancellations are
//! answered at once, and nothing that a client sends ends the node.

use std::time::{Duration, Instant};

use r2r::action_msgs::msg::{GoalInfo, GoalStatus, GoalStatusArray};
use r2r::action_msgs::srv::CancelGoal;
use r2r::qos::{DurabilityPolicy, QosProfile};
use r2r::unique_identifier_msgs::msg::UUID;
use r2r::{Node, Publisher, ServiceRequest, WrappedActionTypeSupport};

use super::answers::answer;
use super::parameter_services::{Requests, next, serve, system_time};
use super::publish::reliable;

// The constants of action_msgs/GoalStatus.
const UNKNOWN: i8 = 0;
const EXECUTING: i8 = 2;
const CANCELING: i8 = 3;
// The constants of action_msgs/CancelGoal.
const CANCEL_REJECTED: i8 = 1;
const CANCEL_UNKNOWN: i8 = 2;
const CANCEL_TERMINATED: i8 = 3;

/// How long a result is kept for who has not asked for it yet.
const RESULT_KEPT: Duration = Duration::from_secs(60);
/// Goals that are kept, finished ones among them; no client has so many.
const GOALS_MAX: usize = 100;

/// How a goal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded = 4,
    Canceled = 5,
    Aborted = 6,
}

/// Who a goal is.
pub(super) type GoalId = Vec<u8>;

struct Goal<T: WrappedActionTypeSupport> {
    info: GoalInfo,
    status: i8,
    result: Option<(T::Result, Instant)>,
    waiting: Vec<ServiceRequest<T::GetResult>>,
}

/// The server's end of an action.
pub(super) struct ActionServer<T: WrappedActionTypeSupport + 'static> {
    goal_requests: Requests<T::SendGoal>,
    result_requests: Requests<T::GetResult>,
    cancel_requests: Requests<CancelGoal::Service>,
    feedback: Publisher<T::FeedbackMessage>,
    status: Publisher<GoalStatusArray>,
    goals: Vec<Goal<T>>,
}

impl<T: WrappedActionTypeSupport + 'static> ActionServer<T> {
    /// Offers the action `name`.
    pub(super) fn new(node: &mut Node, name: &str) -> r2r::Result<Self> {
        let latched = QosProfile { durability: DurabilityPolicy::TransientLocal, ..reliable(1) };
        let server = Self {
            goal_requests: serve(node, &format!("{name}/_action/send_goal"))?,
            result_requests: serve(node, &format!("{name}/_action/get_result"))?,
            cancel_requests: serve(node, &format!("{name}/_action/cancel_goal"))?,
            feedback: node.create_publisher(&format!("{name}/_action/feedback"), reliable(10))?,
            status: node.create_publisher(&format!("{name}/_action/status"), latched)?,
            goals: Vec::new(),
        };
        server.publish_status();
        Ok(server)
    }

    /// The next goal that is asked for. Those that reuse an id, or come when too many are under way, are rejected.
    pub(super) fn next_goal(&mut self) -> Option<(GoalId, T::Goal, ServiceRequest<T::SendGoal>)> {
        while let Some(request) = next(&mut self.goal_requests) {
            let (id, goal) = T::destructure_goal_request_msg(request.message.clone());
            if self.place(&id.uuid).is_none() && self.make_room() {
                return Some((id.uuid, goal, request));
            }
            self.reject(request);
        }
        None
    }

    /// Takes a goal on.
    pub(super) fn accept(&mut self, id: &GoalId, request: ServiceRequest<T::SendGoal>) {
        let stamp = system_time();
        let info = GoalInfo { goal_id: UUID { uuid: id.clone() }, stamp: stamp.clone() };
        self.goals.push(Goal { info, status: EXECUTING, result: None, waiting: Vec::new() });
        answer(request, T::make_goal_response_msg(true, stamp));
        self.publish_status();
    }

    /// Refuses a goal.
    pub(super) fn reject(&self, request: ServiceRequest<T::SendGoal>) {
        answer(request, T::make_goal_response_msg(false, system_time()));
    }

    /// Tells how far a goal has come.
    pub(super) fn tell(&self, id: &GoalId, feedback: T::Feedback) {
        if let Err(error) = self.feedback.publish(&T::make_feedback_msg(UUID { uuid: id.clone() }, feedback)) {
            tracing::debug!("feedback of a goal: {error}");
        }
    }

    /// Ends a goal.
    pub(super) fn finish(&mut self, id: &GoalId, outcome: Outcome, result: T::Result) {
        let Some(place) = self.place(id) else { return };
        let goal = &mut self.goals[place];
        goal.status = outcome as i8;
        for request in goal.waiting.drain(..) {
            answer(request, T::make_result_response_msg(goal.status, result.clone()));
        }
        goal.result = Some((result, Instant::now()));
        self.publish_status();
    }

    /// Answers who asks for results, and forgets old ones. Returns the goals whose cancellation was asked for and is
    /// granted, as every one is.
    pub(super) fn serve_clients(&mut self) -> Vec<GoalId> {
        let mut canceled = Vec::new();
        while let Some(request) = next(&mut self.cancel_requests) {
            let response = self.cancel(&request.message.goal_info, &mut canceled);
            answer(request, response);
        }
        while let Some(request) = next(&mut self.result_requests) {
            let id = T::destructure_result_request_msg(request.message.clone());
            let Some(place) = self.place(&id.uuid) else {
                answer(request, T::make_result_response_msg(UNKNOWN, T::Result::default()));
                continue;
            };
            let goal = &mut self.goals[place];
            match &goal.result {
                Some((result, _)) => answer(request, T::make_result_response_msg(goal.status, result.clone())),
                None if goal.waiting.len() < GOALS_MAX => goal.waiting.push(request),
                None => tracing::debug!("too many wait for the result of a goal"),
            }
        }
        let before = self.goals.len();
        self.goals.retain(|goal| goal.result.as_ref().is_none_or(|(_, since)| since.elapsed() < RESULT_KEPT));
        if self.goals.len() < before || !canceled.is_empty() {
            self.publish_status();
        }
        canceled
    }

    /// A goal without id means all that were accepted up to its stamp; without stamp, too, simply all.
    fn cancel(&mut self, asked: &GoalInfo, canceled: &mut Vec<GoalId>) -> CancelGoal::Response {
        let nobody = asked.goal_id.uuid.iter().all(|byte| *byte == 0);
        let stamp = (asked.stamp.sec, asked.stamp.nanosec);
        let mut response = CancelGoal::Response::default();
        for goal in &mut self.goals {
            let named = goal.info.goal_id == asked.goal_id;
            let early = stamp != (0, 0) && (goal.info.stamp.sec, goal.info.stamp.nanosec) <= stamp;
            if goal.status == EXECUTING && (named || early || (nobody && stamp == (0, 0))) {
                goal.status = CANCELING;
                response.goals_canceling.push(goal.info.clone());
                canceled.push(goal.info.goal_id.uuid.clone());
            }
        }
        if response.goals_canceling.is_empty() {
            response.return_code = match self.place(&asked.goal_id.uuid) {
                Some(place) if self.goals[place].result.is_some() => CANCEL_TERMINATED,
                Some(_) => CANCEL_REJECTED,
                None if nobody => 0,
                None => CANCEL_UNKNOWN,
            };
        }
        response
    }

    fn place(&self, id: &[u8]) -> Option<usize> {
        self.goals.iter().position(|goal| goal.info.goal_id.uuid == id)
    }

    /// Whether another goal fits; the oldest result makes place.
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
