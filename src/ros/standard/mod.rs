//! The services and the action of simulation_interfaces.

mod codes;
mod entities;
mod making;
mod stepping;
mod worlds;

use r2r::Node;
use r2r::simulation_interfaces::action::SimulateSteps;
use r2r::simulation_interfaces::msg::{
    Bounds, EntityInfo, EntityState, Result as Outcome, SimulationState, SimulatorFeatures,
};
use r2r::simulation_interfaces::srv::{
    GetEntities, GetEntitiesStates, GetEntityBounds, GetEntityInfo, GetEntityState, GetSimulationState,
    GetSimulatorFeatures, ResetSimulation, SetEntityInfo, SetEntityState, SetSimulationState, StepSimulation,
};

use super::action::ActionServer;
use super::answers::answer;
use super::desk::{Control, DeskWorld, Office};
use super::exchange::{Placement, ResetScope};
use super::names::shown;
use super::parameter_services::{Requests, next, serve};
use codes::{FAILED, INVALID_POSE, ok, refused};
use entities::{Entities, Notes, find, read_pose, read_twist};
use stepping::StepGoal;
use worlds::Worlds;

/// What waits for a step boundary, and what it does then.
struct Waiting {
    /// The errand that it waits for.
    errand: u64,
    then: Box<dyn FnOnce(&Entities<'_>) + Send>,
}

/// The services, and what is under way.
pub(super) struct Standard {
    features: Requests<GetSimulatorFeatures::Service>,
    get_state: Requests<GetSimulationState::Service>,
    set_state: Requests<SetSimulationState::Service>,
    step: Requests<StepSimulation::Service>,
    reset: Requests<ResetSimulation::Service>,
    entities: Requests<GetEntities::Service>,
    entities_states: Requests<GetEntitiesStates::Service>,
    get_entity_state: Requests<GetEntityState::Service>,
    set_entity_state: Requests<SetEntityState::Service>,
    get_entity_info: Requests<GetEntityInfo::Service>,
    set_entity_info: Requests<SetEntityInfo::Service>,
    entity_bounds: Requests<GetEntityBounds::Service>,
    simulate_steps: ActionServer<SimulateSteps::Action>,
    goals: Vec<StepGoal>,
    waiting: Vec<Waiting>,
    worlds: Worlds,
    notes: Notes,
    frame: String,
}

impl Standard {
    /// Offers everything; poses are in `frame`.
    pub(super) fn new(node: &mut Node, frame: &str) -> r2r::Result<Self> {
        Ok(Self {
            features: serve(node, "~/get_simulator_features")?,
            get_state: serve(node, "~/get_simulation_state")?,
            set_state: serve(node, "~/set_simulation_state")?,
            step: serve(node, "~/step_simulation")?,
            reset: serve(node, "~/reset_simulation")?,
            entities: serve(node, "~/get_entities")?,
            entities_states: serve(node, "~/get_entities_states")?,
            get_entity_state: serve(node, "~/get_entity_state")?,
            set_entity_state: serve(node, "~/set_entity_state")?,
            get_entity_info: serve(node, "~/get_entity_info")?,
            set_entity_info: serve(node, "~/set_entity_info")?,
            entity_bounds: serve(node, "~/get_entity_bounds")?,
            simulate_steps: ActionServer::new(node, "~/simulate_steps")?,
            goals: Vec::new(),
            waiting: Vec::new(),
            worlds: Worlds::new(node, frame)?,
            notes: Notes::default(),
            frame: frame.to_owned(),
        })
    }

    /// Takes and answers everything that has come.
    pub(super) fn answer_all(&mut self, node: &mut Node, office: &mut Office) {
        while let Some(request) = next(&mut self.features) {
            let features = SimulatorFeatures {
                features: codes::FEATURES.to_vec(),
                spawn_formats: vec!["urdf".to_owned()],
                custom_info: format!(
                    "Isobar {}; docs/ros.md tells how it reads the standard",
                    env!("CARGO_PKG_VERSION")
                ),
            };
            answer(request, GetSimulatorFeatures::Response { features });
        }
        while let Some(request) = next(&mut self.get_state) {
            let state = SimulationState { state: self.state(office) };
            answer(request, GetSimulationState::Response { state, result: ok() });
        }
        self.worlds.take(office);
        self.worlds.advance(node, office, self.waiting.is_empty());
        if self.worlds.is_entering() {
            return;
        }
        if self.worlds.is_ready() {
            // The next world waits for the answers about this one.
            self.finish_waiting(&office.control, &office.world);
            return;
        }
        self.notes.keep(&office.world.models);
        self.change_state(office);
        self.take_steps(office);
        let Office { control, world, .. } = office;
        self.tell_of_entities(control, world);
        self.change_entities(control, world);
        self.finish_waiting(control, world);
    }

    fn state(&self, office: &Office) -> u8 {
        match office.world.origin.exists {
            _ if self.worlds.is_loading() => codes::LOADING_WORLD,
            true => stepping::state(&office.control),
            false => codes::NO_WORLD,
        }
    }

    /// Does something at the next step boundary, after `placement`.
    fn at_boundary(
        &mut self,
        control: &Control,
        placement: Option<Placement>,
        then: impl FnOnce(&Entities<'_>) + Send + 'static,
    ) {
        self.waiting.push(Waiting { errand: control.mailbox.ask(placement), then: Box::new(then) });
    }

    fn finish_waiting(&mut self, control: &Control, world: &DeskWorld) {
        let done = control.mailbox.errands_done();
        if self.waiting.first().is_none_or(|waiting| waiting.errand > done) {
            return;
        }
        let view = control.mailbox.view();
        let entities = Entities { world, notes: &self.notes, view: &view, frame: &self.frame };
        // Errands are numbered in the order in which they came.
        let ready = self.waiting.iter().take_while(|waiting| waiting.errand <= done).count();
        for waiting in self.waiting.drain(..ready) {
            (waiting.then)(&entities);
        }
    }

    fn change_state(&mut self, office: &mut Office) {
        while let Some(request) = next(&mut self.set_state) {
            let (wanted, present) = (request.message.state.state, self.state(office));
            if [codes::NO_WORLD, codes::LOADING_WORLD].contains(&present) && wanted != codes::QUITTING {
                let result = refused(codes::INCORRECT_STATE, "there is no world: load one first");
                answer(request, SetSimulationState::Response { result });
                continue;
            }
            let stops = wanted == codes::STOPPED && present != wanted;
            let Some(request) = (if stops { self.worlds.stop(office, request) } else { Some(request) }) else {
                continue;
            };
            let control = &mut office.control;
            match stepping::change(control, wanted) {
                // It is true from the next step boundary on.
                Ok(()) if control.mailbox.quitting() => answer(request, SetSimulationState::Response { result: ok() }),
                Ok(()) => self.at_boundary(control, None, move |_| {
                    answer(request, SetSimulationState::Response { result: ok() });
                }),
                Err(result) => answer(request, SetSimulationState::Response { result }),
            }
        }
        while let Some(request) = next(&mut self.reset) {
            let scope = match request.message.scope {
                codes::SCOPE_DEFAULT => codes::SCOPE_ALL,
                scope => scope,
            };
            let has = |bit: u8| scope & bit != 0;
            let everything = scope == codes::SCOPE_ALL;
            let spawned = has(codes::SCOPE_SPAWNED);
            let scope = ResetScope { state: has(codes::SCOPE_STATE), time: has(codes::SCOPE_TIME) };
            let request = if spawned { self.worlds.restore(office, request, scope, everything) } else { Some(request) };
            let Some(request) = request else { continue };
            let control = &mut office.control;
            if scope != ResetScope::default() {
                control.mailbox.request_reset(scope);
            }
            let known = has(codes::SCOPE_STATE | codes::SCOPE_TIME | codes::SCOPE_SPAWNED);
            self.at_boundary(control, None, move |_| {
                let result = if known { ok() } else { refused(codes::UNSUPPORTED, "no scope that is known here") };
                answer(request, ResetSimulation::Response { result });
            });
        }
    }

    fn tell_of_entities(&mut self, control: &Control, world: &DeskWorld) {
        while let Some(request) = next(&mut self.entities) {
            self.at_boundary(control, None, move |at| {
                let (result, entities) = match at.select(&request.message.filters) {
                    Ok(models) => (ok(), models.iter().map(|model| model.name.clone()).collect()),
                    Err(result) => (result, Vec::new()),
                };
                answer(request, GetEntities::Response { result, entities });
            });
        }
        while let Some(request) = next(&mut self.entities_states) {
            self.at_boundary(control, None, move |at| {
                let (result, entities, states) = match at.select(&request.message.filters) {
                    Ok(models) => {
                        let names = models.iter().map(|model| model.name.clone()).collect();
                        (ok(), names, models.iter().map(|model| at.state(model)).collect())
                    }
                    Err(result) => (result, Vec::new(), Vec::new()),
                };
                answer(request, GetEntitiesStates::Response { result, entities, states });
            });
        }
        while let Some(request) = next(&mut self.get_entity_state) {
            self.at_boundary(control, None, move |at| {
                let found = find(at.world, &request.message.entity).map(|model| at.state(model));
                let (result, state) = parts(found, EntityState::default());
                answer(request, GetEntityState::Response { result, state });
            });
        }
        while let Some(request) = next(&mut self.entity_bounds) {
            self.at_boundary(control, None, move |at| {
                let found = find(at.world, &request.message.entity).map(|model| at.bounds(model));
                let (result, bounds) = parts(found, Bounds::default());
                answer(request, GetEntityBounds::Response { result, bounds });
            });
        }
        while let Some(request) = next(&mut self.get_entity_info) {
            let found = find(world, &request.message.entity).map(|model| self.notes.info(model));
            let (result, info) = parts(found, EntityInfo::default());
            answer(request, GetEntityInfo::Response { result, info });
        }
    }

    fn change_entities(&mut self, control: &Control, world: &DeskWorld) {
        while let Some(request) = next(&mut self.set_entity_info) {
            let found = find(world, &request.message.entity);
            let set = found.and_then(|model| self.notes.set(model, request.message.info.clone()));
            answer(request, SetEntityInfo::Response { result: set.err().unwrap_or_else(ok) });
        }
        while let Some(request) = next(&mut self.set_entity_state) {
            match self.placement(&request.message, world) {
                Ok(placement) => self.at_boundary(control, Some(placement), move |_| {
                    answer(request, SetEntityState::Response { result: ok() });
                }),
                Err(result) => answer(request, SetEntityState::Response { result }),
            }
        }
    }

    /// What a request asks to be done to a free body.
    fn placement(&self, request: &SetEntityState::Request, world: &DeskWorld) -> Result<Placement, Outcome> {
        let model = find(world, &request.entity)?;
        let state = &request.state;
        if !["", "world", self.frame.as_str()].contains(&state.header.frame_id.as_str()) {
            let frame = shown(&state.header.frame_id);
            return Err(refused(INVALID_POSE, format!("frame '{frame}': states are given in '{}' here", self.frame)));
        }
        #[cfg(isobar_set_parts)]
        let (pose, twist) = (request.set_pose, request.set_twist);
        #[cfg(not(isobar_set_parts))]
        let (pose, twist) = (true, true);
        let X_WB = pose.then(|| read_pose(&state.pose)).transpose()?;
        let V_WB = twist.then(|| read_twist(&state.twist)).transpose()?;
        if !model.is_free {
            return Err(refused(FAILED, format!("entity '{}' is welded where it is", shown(&model.name))));
        }
        Ok(Placement { body: model.root, X_WB, V_WB })
    }
}

/// A value with a result that says it is there, or a blank with one that says why not.
fn parts<T>(found: Result<T, Outcome>, blank: T) -> (Outcome, T) {
    match found {
        Ok(value) => (ok(), value),
        Err(result) => (result, blank),
    }
}
