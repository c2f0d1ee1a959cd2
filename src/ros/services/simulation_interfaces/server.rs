//! The services and the action of simulation_interfaces. Requests are answered in a fixed order.

use super::codes::{self, FAILED, INVALID_POSE, ok, refused};
use super::entities::{Entities, EntityInfos, find, read_pose, read_twist};
use super::steps::{self, StepServices};
use super::world_changes::WorldChanges;
use crate::ros::client::interfaces::simulation_interfaces::msg::{
    Bounds, EntityInfo, EntityState, Result as Outcome, SimulationState, SimulatorFeatures,
};
use crate::ros::client::interfaces::simulation_interfaces::srv::{
    GetEntities, GetEntitiesStates, GetEntityBounds, GetEntityInfo, GetEntityState, GetSimulationState,
    GetSimulatorFeatures, ResetSimulation, SetEntityInfo, SetEntityState, SetSimulationState,
};

use crate::ros::client::{ClientError, Node, Service};
use crate::ros::exchange::requests::{NewBodyState, REQUESTS_MAX, ResetScope};
use crate::ros::log::names::shown;
use crate::ros::services::context::{CurrentWorld, ServiceContext, SimulationControl};

/// A response that waits for the next step boundary.
struct Waiting {
    /// The state request for which it waits.
    number: u64,
    then: Box<dyn FnOnce(&Entities<'_>) + Send>,
}

/// The services, and the requests in progress.
pub(crate) struct SimulationInterfaces {
    features: Service<GetSimulatorFeatures::Service>,
    get_state: Service<GetSimulationState::Service>,
    set_state: Service<SetSimulationState::Service>,
    steps: StepServices,
    reset: Service<ResetSimulation::Service>,
    entities: Service<GetEntities::Service>,
    entities_states: Service<GetEntitiesStates::Service>,
    get_entity_state: Service<GetEntityState::Service>,
    set_entity_state: Service<SetEntityState::Service>,
    get_entity_info: Service<GetEntityInfo::Service>,
    set_entity_info: Service<SetEntityInfo::Service>,
    entity_bounds: Service<GetEntityBounds::Service>,
    waiting: Vec<Waiting>,
    world_changes: WorldChanges,
    infos: EntityInfos,
    frame: String,
}

impl SimulationInterfaces {
    /// Creates all services and actions; poses are in `frame`.
    pub(crate) fn new(node: &mut Node, frame: &str) -> Result<Self, ClientError> {
        Ok(Self {
            features: node.service("~/get_simulator_features")?,
            get_state: node.service("~/get_simulation_state")?,
            set_state: node.service("~/set_simulation_state")?,
            steps: StepServices::new(node)?,
            reset: node.service("~/reset_simulation")?,
            entities: node.service("~/get_entities")?,
            entities_states: node.service("~/get_entities_states")?,
            get_entity_state: node.service("~/get_entity_state")?,
            set_entity_state: node.service("~/set_entity_state")?,
            get_entity_info: node.service("~/get_entity_info")?,
            set_entity_info: node.service("~/set_entity_info")?,
            entity_bounds: node.service("~/get_entity_bounds")?,
            waiting: Vec::new(),
            world_changes: WorldChanges::new(node, frame)?,
            infos: EntityInfos::default(),
            frame: frame.to_owned(),
        })
    }

    /// Ends all goals, because the node ends. Returns whether clients have yet to request their results.
    pub(crate) fn end_goals(&mut self) -> bool {
        self.steps.end_goals()
    }

    /// Takes and answers all requests that have arrived.
    pub(crate) fn answer_all(&mut self, node: &mut Node, context: &mut ServiceContext) {
        while let Some(request) = self.features.next() {
            let features = SimulatorFeatures {
                features: codes::FEATURES.to_vec(),
                spawn_formats: vec!["urdf".to_owned(), "sdf".to_owned()],
                custom_info: format!(
                    "Isobar {}; docs/reference/ros.md describes its interpretation of the standard",
                    env!("CARGO_PKG_VERSION")
                ),
            };
            request.respond(GetSimulatorFeatures::Response { features });
        }
        while let Some(request) = self.get_state.next() {
            let state = SimulationState { state: self.state(context) };
            request.respond(GetSimulationState::Response { state, result: ok() });
        }
        self.world_changes.take_all(context);
        self.world_changes.advance(node, context, self.waiting.is_empty());
        if self.world_changes.is_entering() {
            return;
        }
        if self.world_changes.is_ready() {
            // The next world is entered after all requests about the present one are answered.
            self.finish_waiting(&context.control, &context.world);
            return;
        }
        self.infos.keep(context.world.loaded_as, &context.world.models);
        self.change_state(context);
        self.steps.answer_all(context);
        let ServiceContext { control, world, .. } = context;
        self.answer_queries(control, world);
        self.change_entities(control, world);
        self.finish_waiting(control, world);
    }

    fn state(&self, context: &ServiceContext) -> u8 {
        match context.world.origin.exists {
            _ if self.world_changes.is_loading() => codes::LOADING_WORLD,
            true => steps::state(&context.control),
            false => codes::NO_WORLD,
        }
    }

    /// Whether another request may wait for a step boundary.
    fn has_room(&self) -> Result<(), Outcome> {
        if self.waiting.len() < REQUESTS_MAX {
            return Ok(());
        }
        Err(refused(FAILED, format!("{REQUESTS_MAX} requests wait for the end of the present step: try again later")))
    }

    /// Calls `then` at the next step boundary, after `placement`.
    fn at_boundary(
        &mut self,
        control: &SimulationControl,
        placement: Option<NewBodyState>,
        then: impl FnOnce(&Entities<'_>) + Send + 'static,
    ) {
        self.waiting.push(Waiting { number: control.mailbox.request_state(placement), then: Box::new(then) });
    }

    fn finish_waiting(&mut self, control: &SimulationControl, world: &CurrentWorld) {
        let done = control.mailbox.state_requests_answered();
        if self.waiting.first().is_none_or(|waiting| waiting.number > done) {
            return;
        }
        let states = control.mailbox.body_states();
        let entities = Entities { world, infos: &self.infos, states: &states, frame: &self.frame };
        // State requests are numbered in the order in which they came.
        let ready = self.waiting.iter().take_while(|waiting| waiting.number <= done).count();
        for waiting in self.waiting.drain(..ready) {
            (waiting.then)(&entities);
        }
    }

    fn change_state(&mut self, context: &mut ServiceContext) {
        while let Some(request) = self.set_state.next() {
            let (wanted, present) = (request.message().state.state, self.state(context));
            if [codes::NO_WORLD, codes::LOADING_WORLD].contains(&present) && wanted != codes::QUITTING {
                let problem = match present {
                    codes::NO_WORLD => "there is no world: load one first",
                    _ => "a world is being loaded: ask again when it is loaded",
                };
                let result = refused(codes::INCORRECT_STATE, problem);
                request.respond(SetSimulationState::Response { result });
                continue;
            }
            if wanted != codes::QUITTING
                && let Err(result) = self.has_room()
            {
                request.respond(SetSimulationState::Response { result });
                continue;
            }
            let stops = wanted == codes::STOPPED && present != wanted;
            let Some(request) = (if stops { self.world_changes.stop(context, request) } else { Some(request) }) else {
                continue;
            };
            let control = &mut context.control;
            match steps::change(control, wanted) {
                // The new state applies from the next step boundary on.
                Ok(()) if control.mailbox.quitting() => request.respond(SetSimulationState::Response { result: ok() }),
                Ok(()) => self.at_boundary(control, None, move |_| {
                    request.respond(SetSimulationState::Response { result: ok() });
                }),
                Err(result) => request.respond(SetSimulationState::Response { result }),
            }
        }
        while let Some(request) = self.reset.next() {
            if let Err(result) = self.has_room() {
                request.respond(ResetSimulation::Response { result });
                continue;
            }
            let scope = match request.message().scope {
                codes::SCOPE_DEFAULT => codes::SCOPE_ALL,
                scope => scope,
            };
            let has = |bit: u8| scope & bit != 0;
            let everything = scope == codes::SCOPE_ALL;
            let spawned = has(codes::SCOPE_SPAWNED);
            let scope = ResetScope { state: has(codes::SCOPE_STATE), time: has(codes::SCOPE_TIME) };
            let request =
                if spawned { self.world_changes.restore(context, request, scope, everything) } else { Some(request) };
            let Some(request) = request else { continue };
            let control = &mut context.control;
            if scope != ResetScope::default() {
                control.mailbox.request_reset(scope);
            }
            let known = has(codes::SCOPE_STATE | codes::SCOPE_TIME | codes::SCOPE_SPAWNED);
            self.at_boundary(control, None, move |_| {
                let result = if known {
                    ok()
                } else {
                    refused(
                        codes::UNSUPPORTED,
                        "the scope has no known bit: use 1 for time, 2 for state, 4 for spawned",
                    )
                };
                request.respond(ResetSimulation::Response { result });
            });
        }
    }

    fn answer_queries(&mut self, control: &SimulationControl, world: &CurrentWorld) {
        while let Some(request) = self.entities.next() {
            if let Err(result) = self.has_room() {
                request.respond(GetEntities::Response { result, ..Default::default() });
                continue;
            }
            self.at_boundary(control, None, move |at| {
                let (result, entities) = match at.select(&request.message().filters) {
                    Ok(models) => (ok(), models.iter().map(|model| model.name.clone()).collect()),
                    Err(result) => (result, Vec::new()),
                };
                request.respond(GetEntities::Response { result, entities });
            });
        }
        while let Some(request) = self.entities_states.next() {
            if let Err(result) = self.has_room() {
                request.respond(GetEntitiesStates::Response { result, ..Default::default() });
                continue;
            }
            self.at_boundary(control, None, move |at| {
                let (result, entities, states) = match at.select(&request.message().filters) {
                    Ok(models) => {
                        let names = models.iter().map(|model| model.name.clone()).collect();
                        (ok(), names, models.iter().map(|model| at.state(model)).collect())
                    }
                    Err(result) => (result, Vec::new(), Vec::new()),
                };
                request.respond(GetEntitiesStates::Response { result, entities, states });
            });
        }
        while let Some(request) = self.get_entity_state.next() {
            if let Err(result) = self.has_room() {
                request.respond(GetEntityState::Response { result, ..Default::default() });
                continue;
            }
            self.at_boundary(control, None, move |at| {
                let found = find(at.world, &request.message().entity).map(|model| at.state(model));
                let (result, state) = parts(found, EntityState::default());
                request.respond(GetEntityState::Response { result, state });
            });
        }
        while let Some(request) = self.entity_bounds.next() {
            if let Err(result) = self.has_room() {
                request.respond(GetEntityBounds::Response { result, ..Default::default() });
                continue;
            }
            self.at_boundary(control, None, move |at| {
                let found = find(at.world, &request.message().entity).map(|model| at.bounds(model));
                let (result, bounds) = parts(found, Bounds::default());
                request.respond(GetEntityBounds::Response { result, bounds });
            });
        }
        while let Some(request) = self.get_entity_info.next() {
            let found = find(world, &request.message().entity).map(|model| self.infos.info(model));
            let (result, info) = parts(found, EntityInfo::default());
            request.respond(GetEntityInfo::Response { result, info });
        }
    }

    fn change_entities(&mut self, control: &SimulationControl, world: &CurrentWorld) {
        while let Some(request) = self.set_entity_info.next() {
            let found = find(world, &request.message().entity);
            let set = found.and_then(|model| self.infos.set(model, request.message().info.clone()));
            request.respond(SetEntityInfo::Response { result: set.err().unwrap_or_else(ok) });
        }
        while let Some(request) = self.set_entity_state.next() {
            match self.has_room().and_then(|()| self.placement(request.message(), world)) {
                Ok(placement) => self.at_boundary(control, Some(placement), move |_| {
                    request.respond(SetEntityState::Response { result: ok() });
                }),
                Err(result) => request.respond(SetEntityState::Response { result }),
            }
        }
    }

    /// The pose and velocity that a request gives to a free body.
    fn placement(&self, request: &SetEntityState::Request, world: &CurrentWorld) -> Result<NewBodyState, Outcome> {
        let model = find(world, &request.entity)?;
        let state = &request.state;
        if !["", "world", self.frame.as_str()].contains(&state.header.frame_id.as_str()) {
            let frame = shown(&state.header.frame_id);
            return Err(refused(
                INVALID_POSE,
                format!("frame '{frame}' is not supported: give states in '{}'", self.frame),
            ));
        }
        #[cfg(isobar_set_parts)]
        let (pose, twist) = (request.set_pose, request.set_twist);
        #[cfg(not(isobar_set_parts))]
        let (pose, twist) = (true, true);
        let X_WB = pose.then(|| read_pose(&state.pose)).transpose()?;
        let V_WB = twist.then(|| read_twist(&state.twist)).transpose()?;
        if !model.is_free {
            return Err(refused(FAILED, format!("entity '{}' is welded and cannot be moved", shown(&model.name))));
        }
        Ok(NewBodyState { body: model.root, X_WB, V_WB })
    }
}

/// A value with a successful result, or a default value with a result that states the reason.
fn parts<T>(found: Result<T, Outcome>, blank: T) -> (Outcome, T) {
    match found {
        Ok(value) => (ok(), value),
        Err(result) => (result, blank),
    }
}
