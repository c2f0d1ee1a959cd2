//! Pausing, stepping, resetting and switching the recording through the services of std_srvs.

use crate::ros::client::interfaces::std_srvs::srv::{SetBool, Trigger};
use crate::ros::client::{ClientError, Node, Request, Service};
use crate::ros::exchange::health::{RecordingState, RecordingStatus};
use crate::ros::exchange::requests::ResetScope;
use crate::ros::exchange::step_requests::StepFailure;
use crate::ros::services::context::ServiceContext;

/// The services.
pub(crate) struct PauseStepReset {
    pause: Service<SetBool::Service>,
    step: Service<Trigger::Service>,
    reset: Service<Trigger::Service>,
    record: Service<SetBool::Service>,
    /// The request to switch the recording that waits for its outcome.
    switching: Option<(u64, Request<SetBool::Service>)>,
}

impl PauseStepReset {
    /// Offers the services.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        let (pause, record) = (node.service("~/pause")?, node.service("~/record")?);
        let (step, reset) = (node.service("~/step")?, node.service("~/reset")?);
        Ok(Self { pause, step, reset, record, switching: None })
    }

    /// Takes and answers all requests that have arrived.
    pub(crate) fn answer_all(&mut self, context: &mut ServiceContext) {
        let control = &mut context.control;
        let exists = context.world.origin.exists;
        let no_world = || Trigger::Response { success: false, message: "there is no world: load one first".to_owned() };
        while let Some(request) = self.reset.next() {
            if !exists {
                request.respond(no_world());
                continue;
            }
            control.mailbox.request_reset(ResetScope { state: true, time: false });
            let message = "the simulation restarts at its next step; time continues".to_owned();
            request.respond(Trigger::Response { success: true, message });
        }
        while let Some(request) = self.pause.next() {
            let paused = request.message().data;
            if !paused && !exists {
                let message = "there is no world: load one first".to_owned();
                request.respond(SetBool::Response { success: false, message });
                continue;
            }
            if let Some(reason) = control.mailbox.halted().filter(|_| !paused) {
                let message = format!("{reason}. Reset the simulation first");
                request.respond(SetBool::Response { success: false, message });
                continue;
            }
            control.set_paused(paused);
            let message = if paused { "paused after the present step" } else { "running" }.to_owned();
            request.respond(SetBool::Response { success: true, message });
        }
        self.switch_recording(&control.mailbox.recording);
        while let Some(request) = self.step.next() {
            if !exists {
                request.respond(no_world());
                continue;
            }
            control.stopped = false;
            let ended = Box::new(move |taken: Result<u64, StepFailure>| {
                let (success, message) = match taken {
                    Ok(_) => (true, "one step taken".to_owned()),
                    Err(failure) => (false, failure.to_string()),
                };
                request.respond(Trigger::Response { success, message });
            });
            let _id = control.steps.request(&control.mailbox, 1, ended);
        }
    }

    /// Switches the recording on or off: one request after the other, each answered when it is done.
    fn switch_recording(&mut self, status: &RecordingStatus) {
        let respond = |request: Request<SetBool::Service>, outcome: Result<String, String>| {
            let success = outcome.is_ok();
            let message = outcome.unwrap_or_else(|problem| problem);
            request.respond(SetBool::Response { success, message });
        };
        loop {
            if let Some((number, request)) = self.switching.take() {
                let Some(outcome) = status.switch_outcome(number) else {
                    self.switching = Some((number, request));
                    return;
                };
                respond(request, outcome);
            }
            let Some(request) = self.record.next() else { return };
            match status.state() {
                RecordingState::Off => {
                    respond(request, Err("no file: start the node with --ros-args -p record:=FILE.mcap".to_owned()));
                }
                RecordingState::Stopped(reason) => {
                    respond(
                        request,
                        Err(format!("the recording has ended: {reason}; restart the node to record again")),
                    );
                }
                RecordingState::File(_) | RecordingState::Paused => {
                    let on = request.message().data;
                    self.switching = Some((status.switch(on), request));
                }
            }
        }
    }
}
