//! Requests to change the world, and their responses.

#[cfg(isobar_spawn_entities)]
use std::sync::{Arc, Mutex, PoisonError};

use super::codes::ok;
use super::file_lists::world_resource;
use crate::ros::client::Request;
use crate::ros::client::interfaces::simulation_interfaces::msg::{Result as Outcome, WorldResource};
use crate::ros::client::interfaces::simulation_interfaces::srv::{
    DeleteEntity, LoadWorld, ResetSimulation, SetSimulationState, SpawnEntity, UnloadWorld,
};
#[cfg(isobar_spawn_entities)]
use crate::ros::client::interfaces::simulation_interfaces::{msg::SpawnResult, srv::SpawnEntities};
use crate::ros::exchange::requests::ResetScope;
use crate::ros::services::context::ServiceContext;

/// A request that changes the world and waits for its response.
pub(super) enum ChangeRequest {
    Spawn(Request<SpawnEntity::Service>),
    #[cfg(isobar_spawn_entities)]
    SpawnOneOf(Arc<Mutex<SpawnBatch>>, usize),
    Delete(Request<DeleteEntity::Service>),
    Reset(Request<ResetSimulation::Service>, ResetScope),
    Stop(Request<SetSimulationState::Service>),
    Load(Request<LoadWorld::Service>),
    Unload(Request<UnloadWorld::Service>),
}

impl ChangeRequest {
    /// Responds that the change was not made.
    pub(super) fn refuse(self, result: Outcome) {
        match self {
            Self::Spawn(request) => {
                request.respond(SpawnEntity::Response { result, entity_name: String::new() });
            }
            #[cfg(isobar_spawn_entities)]
            Self::SpawnOneOf(batch, index) => {
                SpawnBatch::finish(&batch, index, SpawnResult { result, entity_name: String::new() });
            }
            Self::Delete(request) => request.respond(DeleteEntity::Response { result }),
            Self::Reset(request, _) => request.respond(ResetSimulation::Response { result }),
            Self::Stop(request) => request.respond(SetSimulationState::Response { result }),
            Self::Load(request) => request.respond(LoadWorld::Response { result, world: WorldResource::default() }),
            Self::Unload(request) => request.respond(UnloadWorld::Response { result }),
        }
    }

    /// Responds that the change was made and its world runs.
    pub(super) fn complete(self, entity_name: String, context: &ServiceContext) {
        let reset = |scope: ResetScope| {
            if scope != ResetScope::default() {
                context.control.mailbox.request_reset(scope);
            }
        };
        let result = ok();
        match self {
            Self::Spawn(request) => request.respond(SpawnEntity::Response { result, entity_name }),
            #[cfg(isobar_spawn_entities)]
            Self::SpawnOneOf(batch, index) => {
                SpawnBatch::finish(&batch, index, SpawnResult { result, entity_name });
            }
            Self::Delete(request) => request.respond(DeleteEntity::Response { result }),
            Self::Reset(request, scope) => {
                reset(scope);
                request.respond(ResetSimulation::Response { result });
            }
            Self::Stop(request) => {
                reset(ResetScope { state: true, time: true });
                request.respond(SetSimulationState::Response { result });
            }
            Self::Load(request) => {
                let origin = &context.world.origin;
                request.respond(LoadWorld::Response { result, world: world_resource(&origin.uri, &origin.text) });
            }
            Self::Unload(request) => request.respond(UnloadWorld::Response { result }),
        }
    }
}

/// Several spawns of one request, answered together.
#[cfg(isobar_spawn_entities)]
pub(super) struct SpawnBatch {
    request: Option<Request<SpawnEntities::Service>>,
    results: Vec<SpawnResult>,
    left: usize,
}

#[cfg(isobar_spawn_entities)]
impl SpawnBatch {
    /// The `count` spawns of `request`.
    pub(super) fn new(request: Request<SpawnEntities::Service>, count: usize) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { request: Some(request), results: vec![SpawnResult::default(); count], left: count }))
    }

    fn finish(batch: &Mutex<Self>, index: usize, result: SpawnResult) {
        let mut batch = batch.lock().unwrap_or_else(PoisonError::into_inner);
        batch.results[index] = result;
        batch.left -= 1;
        if batch.left > 0 {
            return;
        }
        let results = std::mem::take(&mut batch.results);
        let failed = results.iter().filter(|result| result.result.result != super::codes::OK).count();
        let result = match failed {
            0 => ok(),
            _ => super::codes::refused(
                super::codes::ENTITIES_SPAWN_FAILED,
                format!("{failed} of {} were not spawned", results.len()),
            ),
        };
        if let Some(request) = batch.request.take() {
            request.respond(SpawnEntities::Response { result, results });
        }
    }
}
