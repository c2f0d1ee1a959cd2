//! States of the simulation, and steps on request.

use std::sync::mpsc::{Receiver, channel};

use r2r::simulation_interfaces::action::SimulateSteps;
use r2r::simulation_interfaces::msg::Result as Outcome;
use r2r::simulation_interfaces::srv::StepSimulation;

use super::Standard;
use super::codes::{
    ALREADY_THERE, FAILED, INCORRECT_TRANSITION, PAUSED, PLAYING, QUITTING, STOPPED, TRANSITION_ERROR, ok, refused,
};
use crate::ros::action::{self, GoalId};
use crate::ros::answers::answer;
use crate::ros::desk::{Control, Office};
use crate::ros::exchange::ResetScope;
use crate::ros::parameter_services::next;
use crate::ros::steps::StepFailure;

/// Further behind, feedback leaves steps out: nobody reads that many [steps].
const FEEDBACK_BEHIND_MAX: u64 = 100;

/// A goal of the action, under way.
pub(super) struct StepGoal {
    id: GoalId,
    steps: u64,
    told: u64,
    /// `None` when its steps were refused.
    ticket: Option<u64>,
    ended: Receiver<Result<u64, StepFailure>>,
}

/// The state, by the constants of SimulationState.
pub(super) fn state(control: &Control) -> u8 {
    match (control.mailbox.paused(), control.stopped) {
        _ if control.mailbox.quitting() => QUITTING,
        (true, true) => STOPPED,
        (true, false) => PAUSED,
        (false, _) => PLAYING,
    }
}

/// Changes the state.
pub(super) fn change(control: &mut Control, wanted: u8) -> Result<(), Outcome> {
    if wanted == state(control) {
        return Err(refused(ALREADY_THERE, "that is the present state"));
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
            let what = "a state may be set to stopped, playing, paused and quitting; worlds are loaded by ~/load_world";
            return Err(refused(INCORRECT_TRANSITION, what));
        }
    }
    Ok(())
}

/// Whether steps can be asked for, or why not.
fn check_paused(control: &Control) -> Result<(), Outcome> {
    match state(control) {
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

impl Standard {
    /// Steps on request, by the service and by the action.
    pub(super) fn take_steps(&mut self, office: &mut Office) {
        let exists = office.world.origin.exists;
        let control = &mut office.control;
        let check_paused = |control: &Control| match exists {
            true => check_paused(control),
            false => Err(refused(FAILED, "there is no world: load one first")),
        };
        while let Some(request) = next(&mut self.step) {
            if let Err(result) = check_paused(control) {
                answer(request, StepSimulation::Response { result });
                continue;
            }
            let steps = request.message.steps;
            let ended = move |ended| answer(request, StepSimulation::Response { result: outcome(ended) });
            let _ticket = control.steps.ask(&control.mailbox, steps, Box::new(ended));
        }
        while let Some((id, goal, request)) = self.simulate_steps.next_goal() {
            self.simulate_steps.accept(&id, request);
            if let Err(result) = check_paused(control) {
                self.simulate_steps.finish(&id, action::Outcome::Aborted, SimulateSteps::Result { result });
                continue;
            }
            let (sender, ended) = channel();
            // Whoever does not listen any more need not hear.
            let tell = Box::new(move |end| drop(sender.send(end)));
            let ticket = control.steps.ask(&control.mailbox, goal.steps, tell);
            self.goals.push(StepGoal { id, steps: goal.steps, told: 0, ticket, ended });
        }
        for id in self.simulate_steps.serve_clients() {
            let canceled = self.goals.iter().find(|goal| goal.id == id).and_then(|goal| goal.ticket);
            if let Some(ticket) = canceled {
                control.steps.withdraw(ticket, &control.mailbox);
            }
        }
        control.steps.settle(&control.mailbox);
        let Self { goals, simulate_steps, .. } = self;
        goals.retain_mut(|goal| {
            let ended = goal.ended.try_recv().ok();
            let taken = match &ended {
                Some(Ok(taken) | Err(StepFailure::Withdrawn { taken })) => Some(*taken),
                Some(Err(_)) => None,
                None => goal.ticket.and_then(|ticket| control.steps.progress(ticket, &control.mailbox)),
            };
            if let Some(taken) = taken {
                goal.told = goal.told.max(taken.saturating_sub(FEEDBACK_BEHIND_MAX));
                while goal.told < taken {
                    goal.told += 1;
                    let (completed_steps, remaining_steps) = (goal.told, goal.steps - goal.told);
                    simulate_steps.tell(&goal.id, SimulateSteps::Feedback { completed_steps, remaining_steps });
                }
            }
            let Some(ended) = ended else { return true };
            let how = match &ended {
                Ok(_) => action::Outcome::Succeeded,
                Err(StepFailure::Withdrawn { .. }) => action::Outcome::Canceled,
                Err(_) => action::Outcome::Aborted,
            };
            simulate_steps.finish(&goal.id, how, SimulateSteps::Result { result: outcome(ended) });
            false
        });
    }
}
