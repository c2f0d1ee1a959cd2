//! What the node is asked for, and who answers.

use std::sync::Arc;

use r2r::Node;
use r2r::std_srvs::srv::{SetBool, Trigger};

use super::controllers::Controllers;
use super::exchange::{Mailbox, ResetScope};
use super::parameter_services::{ParameterServices, Requests, answer, next, serve};
use super::parameters::Parameters;
#[cfg(isobar_simulation)]
use super::standard::Standard;
use super::steps::{StepFailure, Steps};
use crate::io::rates::Rates;
use crate::io::scene_file::SceneModel;
use crate::scene::Scene;

/// The world that is simulated, as far as requests are about it.
pub(super) struct DeskWorld {
    pub(super) scene: Arc<Scene>,
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) models: Vec<SceneModel>,
    pub(super) rates: Rates,
    pub(super) markers: f64,
}

/// Whether and how far the simulation goes, for all services that ask.
pub(super) struct Control {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) steps: Steps,
    /// Whether it is paused at its start, after a reset of everything.
    pub(super) stopped: bool,
}

impl Control {
    /// Pauses, or goes on.
    pub(super) fn set_paused(&mut self, paused: bool) {
        self.stopped = false;
        self.steps.set_paused(paused, &self.mailbox);
    }
}

/// All that the spinning thread listens to.
pub(super) struct Desk {
    parameters: Parameters,
    parameter_services: ParameterServices,
    controllers: Controllers,
    control: Control,
    world: DeskWorld,
    reset: Requests<Trigger::Service>,
    pause: Requests<SetBool::Service>,
    step: Requests<Trigger::Service>,
    #[cfg(isobar_simulation)]
    standard: Standard,
}

impl Desk {
    /// Offers the services.
    pub(super) fn new(
        node: &mut Node,
        world: DeskWorld,
        parameters: Parameters,
        controllers: Controllers,
        mailbox: Arc<Mailbox>,
    ) -> r2r::Result<Self> {
        if cfg!(not(isobar_simulation)) {
            tracing::info!(
                "the services of simulation_interfaces are missing: it was not installed when this node was built"
            );
        }
        Ok(Self {
            parameter_services: ParameterServices::new(node)?,
            reset: serve(node, "~/reset")?,
            pause: serve(node, "~/pause")?,
            step: serve(node, "~/step")?,
            #[cfg(isobar_simulation)]
            standard: Standard::new(node, parameters.text("world_frame"))?,
            control: Control { mailbox, steps: Steps::default(), stopped: false },
            parameters,
            controllers,
            world,
        })
    }

    /// Whether there is nothing to answer any more.
    pub(super) fn stopped(&self) -> bool {
        self.control.mailbox.stopped()
    }

    /// Takes and answers everything that has come.
    pub(super) fn answer_all(&mut self) {
        self.controllers.take_all();
        if self.parameter_services.answer_all(&mut self.parameters) {
            let settings = self.parameters.run_settings(&self.world.rates, self.world.markers);
            let physics = self.parameters.physics(self.world.scene.joint_names());
            self.control.mailbox.set_settings(settings, physics);
            self.controllers.set_modes(&self.parameters);
        }
        self.answer_triggers();
        #[cfg(isobar_simulation)]
        self.standard.answer_all(&mut self.control, &self.world);
        self.control.steps.settle(&self.control.mailbox);
    }

    fn answer_triggers(&mut self) {
        let control = &mut self.control;
        while let Some(request) = next(&mut self.reset) {
            control.mailbox.request_reset(ResetScope { state: true, time: false });
            let message = "the simulation starts over at its next step; time goes on".to_owned();
            answer(request, Trigger::Response { success: true, message });
        }
        while let Some(request) = next(&mut self.pause) {
            let paused = request.message.data;
            control.set_paused(paused);
            let message = if paused { "paused after the present step" } else { "running" }.to_owned();
            answer(request, SetBool::Response { success: true, message });
        }
        while let Some(request) = next(&mut self.step) {
            control.stopped = false;
            let ended = Box::new(move |taken: Result<u64, StepFailure>| {
                let (success, message) = match taken {
                    Ok(_) => (true, "one step taken".to_owned()),
                    Err(failure) => (false, failure.to_string()),
                };
                answer(request, Trigger::Response { success, message });
            });
            let _ticket = control.steps.ask(&control.mailbox, 1, ended);
        }
    }
}
