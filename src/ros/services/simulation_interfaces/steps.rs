//! States of the simulation, and steps on request.

use std::sync::mpsc::{Receiver, channel};

use crate::ros::client::interfaces::simulation_interfaces::action::SimulateSteps;
use crate::ros::client::interfaces::simulation_interfaces::msg::Result as Outcome;
use crate::ros::client::interfaces::simulation_interfaces::srv::StepSimulation;

use super::codes::{
    ALREADY_THERE, FAILED, INCORRECT_TRANSITION, PAUSED, PLAYING, QUITTING, STOPPED, TRANSITION_ERROR, ok, refused,
};
use crate::ros::client::{ActionServer, ClientError, GoalId, GoalOutcome, Node, Service};
use crate::ros::exchange::requests::ResetScope;
use crate::ros::exchange::step_requests::StepFailure;
use crate::ros::services::context::{ServiceContext, SimulationControl};

/// Feedback that is more steps behind than this skips some of them.
const FEEDBACK_BEHIND_MAX: u64 = 100;

/// A goal of the action in progress.
struct StepGoal {
    id: GoalId,
    steps: u64,
    /// The number of steps in the last published feedback.
    reported: u64,
    /// The id of its request for steps; `None` if that was refused.
    request_id: Option<u64>,
    ended: Receiver<Result<u64, StepFailure>>,
}

/// The state, as a constant of SimulationState.
pub(super) fn state(control: &SimulationControl) -> u8 {
    match (control.mailbox.paused(), control.stopped) {
        _ if control.mailbox.quitting() => QUITTING,
        (true, true) => STOPPED,
        (true, false) => PAUSED,
        // No step is taken until a reset.
        (false, _) if control.mailbox.halted().is_some() => PAUSED,
        (false, _) => PLAYING,
    }
}

/// Changes the state.
pub(super) fn change(control: &mut SimulationControl, wanted: u8) -> Result<(), Outcome> {
    if wanted == state(control) {
        return Err(refused(ALREADY_THERE, "the simulation is in this state already"));
    }
    match wanted {
        PLAYING => {
            if let Some(reason) = control.mailbox.halted() {
                return Err(refused(TRANSITION_ERROR, format!("{reason}. Reset the simulation first")));
            }
            control.set_paused(false);
        }
        PAUSED => control.set_paused(true),
        STOPPED => {
            control.set_paused(true);
            control.stopped = true;
            control.mailbox.request_reset(ResetScope { state: true, time: true });
        }
        QUITTING => control.mailbox.quit(),
        _ => {
            let what = "the state can be set to stopped, playing, paused or quitting; use ~/load_world to load a world";
            return Err(refused(INCORRECT_TRANSITION, what));
        }
    }
    Ok(())
}

/// Whether steps can be requested, or the reason why not.
fn check_paused(control: &SimulationControl) -> Result<(), Outcome> {
    match state(control) {
        PAUSED if !control.mailbox.paused() => {
            let reason = control.mailbox.halted().unwrap_or_default();
            Err(refused(FAILED, format!("{reason}. Reset the simulation first")))
        }
        PAUSED => Ok(()),
        STOPPED => Err(refused(FAILED, "the simulation is stopped: pause it first")),
        _ => Err(refused(FAILED, "the simulation is running: pause it first")),
    }
}

fn outcome(ended: Result<u64, StepFailure>) -> Outcome {
    match ended {
        Ok(_) => ok(),
        Err(failure) => refused(FAILED, failure.to_string()),
    }
}

/// The service and the action for steps.
pub(super) struct StepServices {
    step: Service<StepSimulation::Service>,
    simulate_steps: ActionServer<SimulateSteps::Action>,
    goals: Vec<StepGoal>,
}

impl StepServices {
    /// Offers the service and the action.
    pub(super) fn new(node: &mut Node) -> Result<Self, ClientError> {
        Ok(Self {
            step: node.service("~/step_simulation")?,
            simulate_steps: ActionServer::new(node, "~/simulate_steps")?,
            goals: Vec::new(),
        })
    }

    /// Ends all goals, because the node ends. Returns whether clients have yet to request their results.
    pub(super) fn end_goals(&mut self) -> bool {
        let _ = self.simulate_steps.serve_clients();
        for goal in std::mem::take(&mut self.goals) {
            let result = refused(FAILED, "the node ends");
            self.simulate_steps.finish(&goal.id, GoalOutcome::Aborted, SimulateSteps::Result { result });
        }
        self.simulate_steps.awaits_request()
    }

    /// Takes and answers all requests that have arrived.
    pub(super) fn answer_all(&mut self, context: &mut ServiceContext) {
        let exists = context.world.origin.exists;
        let control = &mut context.control;
        let check_paused = |control: &SimulationControl| match exists {
            true => check_paused(control),
            false => Err(refused(FAILED, "there is no world: load one first")),
        };
        while let Some(request) = self.step.next() {
            if let Err(result) = check_paused(control) {
                request.respond(StepSimulation::Response { result });
                continue;
            }
            let steps = request.message().steps;
            let ended = move |ended| request.respond(StepSimulation::Response { result: outcome(ended) });
            let _id = control.steps.request(&control.mailbox, steps, Box::new(ended));
        }
        while let Some((id, goal, request)) = self.simulate_steps.next_goal() {
            self.simulate_steps.accept(&id, request);
            if let Err(result) = check_paused(control) {
                self.simulate_steps.finish(&id, GoalOutcome::Aborted, SimulateSteps::Result { result });
                continue;
            }
            let (sender, ended) = channel();
            // The receiver is dropped when the goal has ended.
            let end = Box::new(move |end| drop(sender.send(end)));
            let request_id = control.steps.request(&control.mailbox, goal.steps, end);
            self.goals.push(StepGoal { id, steps: goal.steps, reported: 0, request_id, ended });
        }
        for id in self.simulate_steps.serve_clients() {
            let canceled = self.goals.iter().find(|goal| goal.id == id).and_then(|goal| goal.request_id);
            if let Some(id) = canceled {
                control.steps.withdraw(id, &control.mailbox);
            }
        }
        control.steps.answer_ended(&control.mailbox);
        let Self { goals, simulate_steps, .. } = self;
        goals.retain_mut(|goal| {
            let ended = goal.ended.try_recv().ok();
            let taken = match &ended {
                Some(Ok(taken) | Err(StepFailure::Withdrawn { taken })) => Some(*taken),
                Some(Err(_)) => None,
                None => goal.request_id.and_then(|id| control.steps.progress(id, &control.mailbox)),
            };
            if let Some(taken) = taken {
                goal.reported = goal.reported.max(taken.saturating_sub(FEEDBACK_BEHIND_MAX));
                while goal.reported < taken {
                    goal.reported += 1;
                    let (completed_steps, remaining_steps) = (goal.reported, goal.steps - goal.reported);
                    simulate_steps
                        .publish_feedback(&goal.id, SimulateSteps::Feedback { completed_steps, remaining_steps });
                }
            }
            let Some(ended) = ended else { return true };
            let how = match &ended {
                Ok(_) => GoalOutcome::Succeeded,
                Err(StepFailure::Withdrawn { .. }) => GoalOutcome::Canceled,
                Err(_) => GoalOutcome::Aborted,
            };
            simulate_steps.finish(&goal.id, how, SimulateSteps::Result { result: outcome(ended) });
            false
        });
    }
}
