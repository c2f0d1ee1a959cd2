//! What the node is asked for, and who answers.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use r2r::Node;
use r2r::std_srvs::srv::{SetBool, Trigger};

use super::answers::answer;
use super::controllers::{Controllers, lockstep_controllers};
use super::exchange::{Mailbox, ResetScope, SceneStepping};
use super::parameter_services::{ParameterServices, Requests, next, serve};
use super::parameters::{Parameters, SceneDefaults};
use super::recorder::Recording;
#[cfg(isobar_simulation)]
use super::standard::Standard;
use super::steps::{StepFailure, Steps};
use super::topics::{Kept, TopicPlan, WorldTopics, descriptions};
use super::world::{Carried, NewWorld};
use crate::io::rates::Rates;
use crate::io::scene_file::{LoadedScene, SceneModel, SceneSource};
use crate::scene::Scene;
use crate::stepping::Simulation;

/// The world that is simulated, as far as requests are about it.
pub(super) struct DeskWorld {
    /// How many there were before.
    pub(super) number: u64,
    pub(super) scene: Arc<Scene>,
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) models: Vec<SceneModel>,
    pub(super) rates: Rates,
    pub(super) markers: f64,
    pub(super) origin: Origin,
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

/// Where the world comes from.
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
#[derive(Clone)]
pub(super) struct Origin {
    /// The scene file's address, or its text.
    pub(super) uri: String,
    pub(super) text: String,
    /// As it was read, and as it is now.
    pub(super) original: Arc<SceneSource>,
    pub(super) source: SceneSource,
    /// The models that were spawned.
    pub(super) spawned: Vec<String>,
    /// Whether there is a world at all.
    pub(super) exists: bool,
}

impl Origin {
    /// A scene file.
    pub(super) fn file(uri: &str, source: SceneSource) -> Self {
        Self {
            uri: uri.to_owned(),
            text: String::new(),
            original: Arc::new(source.clone()),
            source,
            spawned: Vec::new(),
            exists: true,
        }
    }
}

/// What another world is made with.
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(super) struct Making {
    pub(super) kept: Kept,
    /// To the publishing thread.
    pub(super) topics: Sender<WorldTopics>,
    pub(super) recording: Option<Recording>,
}

/// Another world, made and ready to be entered.
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(super) struct MadeWorld {
    pub(super) loaded: LoadedScene,
    pub(super) defaults: SceneDefaults,
    pub(super) simulation: Simulation,
    pub(super) carried: Option<Carried>,
    pub(super) origin: Origin,
}

/// All that requests are about.
pub(super) struct Office {
    pub(super) parameters: Parameters,
    pub(super) controllers: Controllers,
    pub(super) control: Control,
    pub(super) world: DeskWorld,
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) making: Making,
}

impl Office {
    /// Publishes, listens and answers for another world from now on, and hands it to the simulation thread.
    ///
    /// # Errors
    /// ROS refuses a topic; the world stays as it was then.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) fn enter(&mut self, node: &mut Node, made: MadeWorld) -> r2r::Result<()> {
        let MadeWorld { loaded, defaults, simulation, carried, origin } = made;
        let number = self.world.number + 1;
        let scene = loaded.scene.clone();
        let recorder = self.making.recording.as_mut().and_then(|recording| {
            let next = recording.next(&scene, &loaded.outputs, &loaded.robot_descriptions);
            next.map_err(|error| tracing::error!("{error}. The new world is not recorded")).ok()
        });
        let namespaces = self.parameters.flag("robot_namespaces");
        let plan = TopicPlan {
            outputs: loaded.outputs,
            force_torque: loaded.force_torque.clone(),
            namespaces: if namespaces { loaded.joint_groups.clone() } else { Vec::new() },
            recorder,
            descriptions: descriptions(self.parameters.flag("publish_robot_description"), &loaded.robot_descriptions),
        };
        let topics = WorldTopics::new(node, &mut self.making.kept, number, &scene, plan)?;
        self.parameters.redeclare_scene(&defaults, carried.is_some());
        self.controllers.enter(node, &scene, &loaded.joint_groups, &self.parameters)?;
        // Who would read them ends with this thread.
        let _ = self.making.topics.send(topics);
        let (rates, markers) = (Rates::from(&loaded.publish), loaded.publish.contact_markers);
        self.world = DeskWorld { number, scene, models: loaded.models, rates, markers, origin };
        let physics = self.parameters.physics(self.world.scene.joint_names());
        let mailbox = &self.control.mailbox;
        mailbox.set_world(NewWorld {
            number,
            simulation,
            stepping: SceneStepping { settings: loaded.settings, quasistatic: loaded.quasistatic },
            commands: loaded.commands,
            force_torque: loaded.force_torque,
            controllers: lockstep_controllers(&loaded.joint_groups, namespaces),
            physics: physics.clone(),
            carried,
        });
        mailbox.set_settings(self.parameters.run_settings(&rates, markers), physics);
        Ok(())
    }
}

/// All that the spinning thread listens to.
pub(super) struct Desk {
    office: Office,
    parameter_services: ParameterServices,
    reset: Requests<Trigger::Service>,
    pause: Requests<SetBool::Service>,
    step: Requests<Trigger::Service>,
    #[cfg(isobar_simulation)]
    standard: Standard,
}

/// Parts of the node that need a package: whether it was installed, what they are, and its name.
const PARTS: [(bool, &str, &str); 3] = [
    (cfg!(isobar_simulation), "the standard control of simulators is", "simulation_interfaces, 1.1 or later,"),
    (cfg!(isobar_control), "the action follow_joint_trajectory is", "control_msgs"),
    (cfg!(isobar_gazebo), "~/contacts is", "ros_gz_interfaces"),
];

impl Desk {
    /// Offers the services.
    pub(super) fn new(
        node: &mut Node,
        world: DeskWorld,
        making: Making,
        parameters: Parameters,
        controllers: Controllers,
        mailbox: Arc<Mailbox>,
    ) -> r2r::Result<Self> {
        for (there, what, package) in PARTS {
            if !there {
                tracing::info!("{what} missing: {package} was not installed when this node was built");
            }
        }
        let control = Control { mailbox, steps: Steps::default(), stopped: false };
        Ok(Self {
            parameter_services: ParameterServices::new(node)?,
            reset: serve(node, "~/reset")?,
            pause: serve(node, "~/pause")?,
            step: serve(node, "~/step")?,
            #[cfg(isobar_simulation)]
            standard: Standard::new(node, parameters.text("world_frame"))?,
            office: Office { parameters, controllers, control, world, making },
        })
    }

    /// Whether there is nothing to answer any more.
    pub(super) fn stopped(&self) -> bool {
        self.office.control.mailbox.stopped()
    }

    /// Takes and answers everything that has come.
    pub(super) fn answer_all(&mut self, node: &mut Node) {
        let Office { parameters, controllers, control, world, .. } = &mut self.office;
        controllers.take_all();
        if self.parameter_services.answer_all(parameters) {
            let settings = parameters.run_settings(&world.rates, world.markers);
            control.mailbox.set_settings(settings, parameters.physics(world.scene.joint_names()));
            controllers.set_modes(parameters);
        }
        self.answer_triggers();
        #[cfg(isobar_simulation)]
        self.standard.answer_all(node, &mut self.office);
        #[cfg(not(isobar_simulation))]
        let _ = node;
        let control = &mut self.office.control;
        control.steps.settle(&control.mailbox);
    }

    fn answer_triggers(&mut self) {
        let control = &mut self.office.control;
        while let Some(request) = next(&mut self.reset) {
            control.mailbox.request_reset(ResetScope { state: true, time: false });
            let message = "the simulation starts over at its next step; time goes on".to_owned();
            answer(request, Trigger::Response { success: true, message });
        }
        while let Some(request) = next(&mut self.pause) {
            let paused = request.message.data;
            if !paused && !self.office.world.origin.exists {
                let message = "there is no world: load one first".to_owned();
                answer(request, SetBool::Response { success: false, message });
                continue;
            }
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
