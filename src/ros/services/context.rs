//! Shared data of the services: parameters, controllers, the running simulation and its world.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::io::package::PackageMap;
use crate::io::scene_file::{JointGroup, LoadedScene, SceneModel, SceneSource};
use crate::math::ScalarJointIndex;
use crate::recording::Rates;
use crate::ros::client::{ClientError, Node};
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::exchange::settings::{Mode, SceneStepping};
use crate::ros::exchange::step_requests::StepRequests;
use crate::ros::exchange::world::{NewWorld, SharedJoints, WorldSource};
use crate::ros::log::names::shown;
use crate::ros::publish::scene_markers::scene_markers;
use crate::ros::publish::topics::{PublisherPool, TopicPlan, WorldTopics, descriptions};
use crate::ros::recording::recorder::Recording;
use crate::ros::services::parameters::{Parameters, SceneDefaults};
use crate::ros::subscriptions::controllers::Controllers;
use crate::scene::Scene;
use crate::stepping::Simulation;

/// The world that is simulated.
pub(crate) struct CurrentWorld {
    /// The number of worlds before it.
    pub(crate) number: u64,
    /// The number of the first of its versions: that of the world as it was loaded.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) loaded_as: u64,
    pub(crate) scene: Arc<Scene>,
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) models: Vec<SceneModel>,
    pub(crate) rates: Rates,
    /// Rate of the contact markers [Hz of real time].
    pub(crate) markers: f64,
    pub(crate) origin: WorldOrigin,
    /// The joints that the scene itself commands.
    pub(crate) scheduled: Vec<ScalarJointIndex>,
    /// The warnings about its scene.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) warnings: Arc<[String]>,
}

/// The run state of the simulation.
pub(crate) struct SimulationControl {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) steps: StepRequests,
    /// Whether it is paused at its start, after a reset of everything.
    pub(crate) stopped: bool,
}

impl SimulationControl {
    /// Pauses or resumes.
    pub(crate) fn set_paused(&mut self, paused: bool) {
        self.stopped = false;
        self.steps.set_paused(paused, &self.mailbox);
    }
}

/// The source of a world.
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
#[derive(Clone)]
pub(crate) struct WorldOrigin {
    /// The scene file's address; empty if the scene came as a text.
    pub(crate) uri: String,
    pub(crate) text: String,
    /// The scene as it was read, and the present scene.
    pub(crate) original: Arc<SceneSource>,
    pub(crate) source: SceneSource,
    /// The spawned models.
    pub(crate) spawned: Vec<String>,
    /// Whether there is a world.
    pub(crate) exists: bool,
    /// Whether the scene file is that of the parameter `scene`.
    pub(crate) is_of_start: bool,
}

impl WorldOrigin {
    /// A scene file.
    pub(crate) fn file(uri: &str, source: SceneSource) -> Self {
        Self {
            uri: uri.to_owned(),
            text: String::new(),
            original: Arc::new(source.clone()),
            source,
            spawned: Vec::new(),
            exists: true,
            is_of_start: false,
        }
    }

    /// The name of the world in messages.
    pub(crate) fn name(&self) -> String {
        if self.uri.is_empty() { "a scene that was given as a text".to_owned() } else { shown(&self.uri) }
    }

    /// As checkpoints describe it.
    pub(crate) fn for_checkpoints(&self) -> WorldSource {
        let entities = self.source.changes().to_bytes();
        WorldSource { name: self.name(), is_of_start: self.is_of_start, entities }
    }
}

/// The settings for a new world's topics and recording.
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(crate) struct WorldSetup {
    pub(crate) publishers: PublisherPool,
    /// The channel to the publishing thread.
    pub(crate) topics: Sender<WorldTopics>,
    pub(crate) recording: Option<Recording>,
    /// The packages and folders that services read files from.
    pub(crate) packages: PackageMap,
    /// The file of the parameter `scene`.
    pub(crate) scene: PathBuf,
}

/// A world that was built and can be entered.
#[cfg_attr(not(isobar_simulation), allow(dead_code))]
pub(crate) struct BuiltWorld {
    pub(crate) loaded: LoadedScene,
    pub(crate) defaults: SceneDefaults,
    pub(crate) simulation: Simulation,
    /// The mode and the length \[ns\] of its steps.
    pub(crate) chosen: (Mode, u64),
    pub(crate) carryover: Option<SharedJoints>,
    pub(crate) origin: WorldOrigin,
}

/// The models with topics of their own, if there are any, with the prefixes of these. The first of `prefixes`
/// is that of all joints.
pub(crate) fn namespaced(prefixes: &[String], groups: &[JointGroup]) -> Vec<(String, JointGroup)> {
    prefixes.iter().skip(1).cloned().zip(groups.iter().cloned()).collect()
}

/// Shared data of all services.
pub(crate) struct ServiceContext {
    pub(crate) parameters: Parameters,
    pub(crate) controllers: Controllers,
    pub(crate) control: SimulationControl,
    pub(crate) world: CurrentWorld,
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) setup: WorldSetup,
}

impl ServiceContext {
    /// Creates the topics and subscriptions of another world, and hands it to the simulation thread. All
    /// steps that can fail come first, and nothing changes until they have succeeded.
    ///
    /// # Errors
    /// ROS refuses a topic; the present world continues unchanged.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) fn enter(&mut self, node: &mut Node, built: BuiltWorld) -> Result<(), ClientError> {
        let BuiltWorld { loaded, defaults, simulation, chosen, carryover, origin } = built;
        let number = self.world.number + 1;
        let scene = loaded.scene.clone();
        let prefixes = self.controllers.prefixes(&loaded.joint_groups, carryover.is_some());
        let plan = TopicPlan {
            scene_markers: scene_markers(&loaded, self.parameters.text("world_frame")),
            outputs: loaded.outputs.clone(),
            force_torque: loaded.force_torque.clone(),
            namespaces: namespaced(&prefixes, &loaded.joint_groups),
            descriptions: descriptions(self.parameters.flag("publish_robot_description"), &loaded.robot_descriptions),
        };
        let mut topics = WorldTopics::new(node, &mut self.setup.publishers, number, &scene, plan)?;
        let controllers = self.controllers.subscribe(node, prefixes).inspect_err(|_| {
            self.setup.publishers.forget(number);
        })?;
        // No step from here on can fail.
        let recording = self.setup.recording.as_mut();
        topics.recorder =
            recording.and_then(|recording| recording.next(&scene, &loaded.outputs, &loaded.robot_descriptions));
        topics.publish_texts();
        self.parameters.redeclare_scene(&defaults, carryover.is_some());
        let stepping = SceneStepping::of(&loaded);
        self.parameters.set_scene_stepping(stepping);
        let modes = self.parameters.control_modes(scene.joint_names());
        let physics = self.parameters.physics(scene.joint_names());
        let before = self.controllers.enter(controllers, &scene, &loaded.joint_groups, &modes, &physics.gains);
        // The receiver is dropped only when the node ends.
        let _ = self.setup.topics.send(topics);
        let source = origin.for_checkpoints();
        let (rates, markers) = (Rates::from(&loaded.publish), loaded.publish.contact_markers);
        let (models, warnings) = (loaded.models, loaded.warnings.into());
        let scheduled = loaded.commands.joints.iter().map(|schedule| schedule.joint).collect();
        let loaded_as = if carryover.is_some() { self.world.loaded_as } else { number };
        self.world = CurrentWorld { number, loaded_as, scene, models, rates, markers, origin, scheduled, warnings };
        let mailbox = &self.control.mailbox;
        let joints = self.world.scene.joint_names().len();
        let indices = carryover.as_ref().map(|carryover| carryover.joints().to_vec());
        let next = NewWorld {
            number,
            simulation,
            chosen,
            stepping,
            commands: loaded.commands,
            wrenches: loaded.wrenches,
            force_torque: loaded.force_torque,
            source,
            controllers: self.controllers.awaited_topics(),
            carryover,
        };
        mailbox.set_world(number, joints, indices.as_deref(), &before, physics.clone(), next);
        mailbox.set_settings(self.parameters.run_settings(&rates, markers), physics, &[]);
        Ok(())
    }
}
