//! The spinning thread: it takes and answers all messages and requests from other nodes.

use std::sync::Arc;

use crate::ros::checkpoints::services::{CheckpointServices, PERIOD_WITHOUT_FILE};
use crate::ros::client::{ClientError, Node};
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::exchange::step_requests::StepRequests;
use crate::ros::services::context::{CurrentWorld, ServiceContext, SimulationControl, WorldSetup};
use crate::ros::services::graph_watch::GraphWatch;
use crate::ros::services::parameters::{ParameterServices, Parameters};
use crate::ros::services::pause_step_reset::PauseStepReset;
#[cfg(isobar_simulation)]
use crate::ros::services::simulation_interfaces::SimulationInterfaces;
use crate::ros::subscriptions::controllers::Controllers;
use crate::ros::subscriptions::wrenches::WrenchSubscription;

/// All services, and their shared data.
pub(crate) struct ServiceServer {
    context: ServiceContext,
    parameter_services: ParameterServices,
    pause_step_reset: PauseStepReset,
    checkpoints: CheckpointServices,
    wrenches: WrenchSubscription,
    graph: GraphWatch,
    #[cfg(isobar_simulation)]
    simulation_interfaces: SimulationInterfaces,
}

/// Optional parts of the node: whether the package was installed, the name of the part, and the name of the
/// package.
const PARTS: [(bool, &str, &str); 3] = [
    (cfg!(isobar_simulation), "the standard control of simulators is", "simulation_interfaces, 1.1 or later,"),
    (cfg!(isobar_control), "the action follow_joint_trajectory is", "control_msgs"),
    (cfg!(isobar_gazebo), "~/contacts is", "ros_gz_interfaces"),
];

impl ServiceServer {
    /// Offers the services.
    pub(crate) fn new(
        node: &mut Node,
        world: CurrentWorld,
        setup: WorldSetup,
        parameters: Parameters,
        controllers: Controllers,
        mailbox: Arc<Mailbox>,
    ) -> Result<Self, ClientError> {
        for (installed, part, package) in PARTS {
            if !installed {
                tracing::info!("{part} missing: {package} was not installed when this node was built");
            }
        }
        let control = SimulationControl { mailbox, steps: StepRequests::default(), stopped: false };
        Ok(Self {
            parameter_services: ParameterServices::new(node)?,
            pause_step_reset: PauseStepReset::new(node)?,
            checkpoints: CheckpointServices::new(node)?,
            wrenches: WrenchSubscription::new(node)?,
            graph: GraphWatch::new(node)?,
            #[cfg(isobar_simulation)]
            simulation_interfaces: SimulationInterfaces::new(node, parameters.text("world_frame"))?,
            context: ServiceContext { parameters, controllers, control, world, setup },
        })
    }

    /// Whether the node is ending.
    pub(crate) fn stopped(&self) -> bool {
        self.context.control.mailbox.stopped()
    }

    /// Ends the goals of clients, which would wait for their results. Returns whether some clients have yet
    /// to request theirs.
    pub(crate) fn end(&mut self) -> bool {
        let awaits = self.context.controllers.end_goals();
        #[cfg(isobar_simulation)]
        let awaits = self.simulation_interfaces.end_goals() || awaits;
        awaits
    }

    /// Takes and answers all messages and requests that have arrived.
    pub(crate) fn answer_all(&mut self, node: &mut Node) {
        let ServiceContext { parameters, controllers, control, world, .. } = &mut self.context;
        controllers.take_all();
        self.graph.check(node, controllers.topic_prefixes());
        self.wrenches.take_all(&world.scene, &control.mailbox);
        let joints = world.scene.joint_names();
        // Checkpoints come first: a change of another parameter would otherwise set the old gravity again.
        let restored = self.checkpoints.answer_all(&control.mailbox, parameters, world);
        if self.parameter_services.answer_all(parameters) || restored {
            let settings = parameters.run_settings(&world.rates, world.markers);
            let before = control.mailbox.settings().checkpoint_period_ns;
            if before == 0 && settings.checkpoint_period_ns > 0 && parameters.text("checkpoint").is_empty() {
                tracing::warn!("{PERIOD_WITHOUT_FILE}");
            }
            let physics = parameters.physics(joints);
            let mut stiffened = controllers.set_modes(&parameters.control_modes(joints), &physics.gains);
            // A checkpoint has its own commands.
            stiffened.retain(|joint| !restored && !world.scheduled.contains(joint));
            control.mailbox.set_settings(settings, physics, &stiffened);
        }
        self.pause_step_reset.answer_all(&mut self.context);
        #[cfg(isobar_simulation)]
        self.simulation_interfaces.answer_all(node, &mut self.context);
        let control = &mut self.context.control;
        control.steps.answer_ended(&control.mailbox);
    }
}
