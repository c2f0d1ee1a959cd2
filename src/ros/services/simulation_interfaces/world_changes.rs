//! Spawning, deleting and loading: changes of the world are made one after the other, each built by a
//! separate thread.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::build_world::{PresentWorld, Resource, Spawn, WorldChange, build_world};
use super::change_request::ChangeRequest;
#[cfg(isobar_spawn_entities)]
use super::change_request::SpawnBatch;
use super::codes::{FAILED, load, ok, refused};
use super::file_lists::{FileLists, world_resource};
use crate::ros::client::interfaces::simulation_interfaces::msg::{Result as Outcome, WorldResource};
#[cfg(isobar_spawn_entities)]
use crate::ros::client::interfaces::simulation_interfaces::srv::SpawnEntities;
use crate::ros::client::interfaces::simulation_interfaces::srv::{
    DeleteEntity, GetCurrentWorld, LoadWorld, ResetSimulation, SetSimulationState, SpawnEntity, UnloadWorld,
};
use crate::ros::client::{ClientError, Node, Request, Service};
use crate::ros::exchange::requests::ResetScope;
use crate::ros::scheduling::ordinary;
use crate::ros::services::context::{BuiltWorld, ServiceContext, WorldOrigin};

/// The largest number of waiting changes; further changes are refused.
const CHANGES_MAX: usize = 1000;
/// Stack of the building thread, as large as the main thread's, because parsing meshes and scenes is
/// recursive \[bytes\].
const STACK: usize = 8 << 20;

/// The refusal of a request with more spawns than [`CHANGES_MAX`] leaves.
#[cfg(isobar_spawn_entities)]
const TOO_MANY: &str = "more than 1000 changes of the world would be waiting: spawn fewer entities at once";

type BuildResult = Result<(BuiltWorld, String), Outcome>;

/// The progress of the present change.
enum Stage {
    Idle,
    /// A thread builds the world.
    Building(Receiver<BuildResult>, ChangeRequest),
    /// The world is handed over, but does not run yet.
    Entering(ChangeRequest, String),
}

/// The services that change the world.
pub(super) struct WorldChanges {
    spawn: Service<SpawnEntity::Service>,
    #[cfg(isobar_spawn_entities)]
    spawn_entities: Service<SpawnEntities::Service>,
    delete: Service<DeleteEntity::Service>,
    load: Service<LoadWorld::Service>,
    unload: Service<UnloadWorld::Service>,
    current: Service<GetCurrentWorld::Service>,
    file_lists: FileLists,
    queue: VecDeque<(WorldChange, ChangeRequest)>,
    stage: Stage,
    /// The world is built, and waits until requests about the present world are answered.
    built: Option<(BuildResult, ChangeRequest)>,
    frame: String,
}

impl WorldChanges {
    /// Offers the services; poses are in `frame`.
    pub(super) fn new(node: &mut Node, frame: &str) -> Result<Self, ClientError> {
        Ok(Self {
            spawn: node.service("~/spawn_entity")?,
            #[cfg(isobar_spawn_entities)]
            spawn_entities: node.service("~/spawn_entities")?,
            delete: node.service("~/delete_entity")?,
            load: node.service("~/load_world")?,
            unload: node.service("~/unload_world")?,
            current: node.service("~/get_current_world")?,
            file_lists: FileLists::new(node)?,
            queue: VecDeque::new(),
            stage: Stage::Idle,
            built: None,
            frame: frame.to_owned(),
        })
    }

    /// Whether a world is being loaded.
    pub(super) fn is_loading(&self) -> bool {
        let loads = |request: &ChangeRequest| matches!(request, ChangeRequest::Load(_) | ChangeRequest::Unload(_));
        match &self.stage {
            Stage::Building(_, request) | Stage::Entering(request, _) => loads(request),
            Stage::Idle => self.built.as_ref().is_some_and(|(_, request)| loads(request)),
        }
    }

    /// Whether the next world is handed over and does not run yet. Requests about either world wait until it
    /// runs.
    pub(super) fn is_entering(&self) -> bool {
        matches!(self.stage, Stage::Entering(..))
    }

    /// Whether the next world is built and waits to be handed over.
    pub(super) fn is_ready(&self) -> bool {
        self.built.is_some()
    }

    /// Takes a request to remove spawned and restore deleted entities; returns the request if there is
    /// nothing to do.
    pub(super) fn restore(
        &mut self,
        context: &ServiceContext,
        request: Request<ResetSimulation::Service>,
        scope: ResetScope,
        everything: bool,
    ) -> Option<Request<ResetSimulation::Service>> {
        if !self.needs_restoring(&context.world.origin, everything) {
            return Some(request);
        }
        self.enqueue(WorldChange::Restore { everything }, ChangeRequest::Reset(request, scope));
        None
    }

    /// Does the same as [`WorldChanges::restore`] with everything, for a stop.
    pub(super) fn stop(
        &mut self,
        context: &ServiceContext,
        request: Request<SetSimulationState::Service>,
    ) -> Option<Request<SetSimulationState::Service>> {
        if !self.needs_restoring(&context.world.origin, true) {
            return Some(request);
        }
        self.enqueue(WorldChange::Restore { everything: true }, ChangeRequest::Stop(request));
        None
    }

    fn needs_restoring(&self, origin: &WorldOrigin, everything: bool) -> bool {
        let changed = everything && !origin.original.models().eq(origin.source.models());
        let waits = self.built.is_some() || !self.queue.is_empty() || !matches!(self.stage, Stage::Idle);
        origin.exists && (waits || changed || !origin.spawned.is_empty())
    }

    fn enqueue(&mut self, change: WorldChange, request: ChangeRequest) {
        if self.queue.len() < CHANGES_MAX {
            self.queue.push_back((change, request));
        } else {
            request.refuse(refused(FAILED, format!("{CHANGES_MAX} changes of the world are waiting: try again later")));
        }
    }

    /// Takes requests.
    pub(super) fn take_all(&mut self, context: &ServiceContext) {
        while let Some(request) = self.spawn.next() {
            let asked = request.message();
            #[cfg(isobar_entity_resource)]
            let (uri, text) = (&asked.entity_resource.uri, &asked.entity_resource.resource_string);
            #[cfg(not(isobar_entity_resource))]
            let (uri, text) = (&asked.uri, &asked.resource_string);
            let spawn = Spawn {
                name: asked.name.clone(),
                allow_renaming: asked.allow_renaming,
                resource: Resource { uri: uri.clone(), text: text.clone() },
                namespace: asked.entity_namespace.clone(),
                pose: asked.initial_pose.clone(),
            };
            self.enqueue(WorldChange::Spawn(spawn), ChangeRequest::Spawn(request));
        }
        #[cfg(isobar_spawn_entities)]
        self.take_batches();
        while let Some(request) = self.delete.next() {
            self.enqueue(WorldChange::Delete(request.message().entity.clone()), ChangeRequest::Delete(request));
        }
        while let Some(request) = self.load.next() {
            let asked = request.message();
            #[cfg(isobar_world_resource)]
            let (uri, text) = (&asked.world_resource.uri, &asked.world_resource.resource_string);
            #[cfg(not(isobar_world_resource))]
            let (uri, text) = (&asked.uri, &asked.resource_string);
            let resource = Resource { uri: uri.clone(), text: text.clone() };
            self.enqueue(WorldChange::Load(resource), ChangeRequest::Load(request));
        }
        while let Some(request) = self.unload.next() {
            self.enqueue(WorldChange::Unload, ChangeRequest::Unload(request));
        }
        while let Some(request) = self.current.next() {
            let origin = &context.world.origin;
            let (result, world) = if origin.exists {
                (ok(), world_resource(&origin.uri, &origin.text))
            } else {
                (refused(load::NO_WORLD_LOADED, "no world is loaded"), WorldResource::default())
            };
            request.respond(GetCurrentWorld::Response { result, world });
        }
        self.file_lists.take_all(context.world.origin.source.folder(), &context.setup.packages);
    }

    #[cfg(isobar_spawn_entities)]
    fn take_batches(&mut self) {
        while let Some(request) = self.spawn_entities.next() {
            let asked = request.message().spawn_requests.clone();
            if asked.is_empty() || asked.len() + self.queue.len() > CHANGES_MAX {
                let result = if asked.is_empty() { ok() } else { refused(FAILED, TOO_MANY) };
                request.respond(SpawnEntities::Response { result, results: Vec::new() });
                continue;
            }
            let batch = SpawnBatch::new(request, asked.len());
            for (index, asked) in asked.into_iter().enumerate() {
                let resource = Resource { uri: asked.entity_resource.uri, text: asked.entity_resource.resource_string };
                let spawn = Spawn {
                    name: asked.name,
                    allow_renaming: asked.allow_renaming,
                    resource,
                    namespace: asked.entity_namespace,
                    pose: asked.initial_pose,
                };
                self.enqueue(WorldChange::Spawn(spawn), ChangeRequest::SpawnOneOf(batch.clone(), index));
            }
        }
    }

    /// Advances the present change. `quiet` is true if no request about the present world waits for its
    /// answer.
    pub(super) fn advance(&mut self, node: &mut Node, context: &mut ServiceContext, quiet: bool) {
        match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => self.begin(context),
            Stage::Building(receiver, request) => match receiver.try_recv() {
                Ok(built) => self.built = Some((built, request)),
                Err(TryRecvError::Empty) => self.stage = Stage::Building(receiver, request),
                Err(TryRecvError::Disconnected) => {
                    request.refuse(refused(
                        FAILED,
                        "the thread that builds the world has failed; the log of the node gives the reason",
                    ));
                }
            },
            Stage::Entering(request, name) if context.control.mailbox.worlds_settled() => {
                context.setup.publishers.keep_used();
                request.complete(name, context);
            }
            entering @ Stage::Entering(..) => self.stage = entering,
        }
        if !matches!(self.stage, Stage::Idle) || !quiet {
            return;
        }
        match self.built.take() {
            None => {}
            Some((Err(outcome), request)) => request.refuse(outcome),
            Some((Ok((world, name)), request)) => {
                let before = (context.control.mailbox.paused(), context.control.stopped);
                if matches!(request, ChangeRequest::Load(_) | ChangeRequest::Unload(_) | ChangeRequest::Stop(_)) {
                    context.control.set_paused(true);
                    context.control.stopped = true;
                }
                match context.enter(node, world) {
                    Ok(()) => self.stage = Stage::Entering(request, name),
                    Err(error) => {
                        if before != (context.control.mailbox.paused(), context.control.stopped) {
                            context.control.set_paused(before.0);
                            context.control.stopped = before.1;
                        }
                        request.refuse(refused(FAILED, format!("ROS 2 refuses a topic of the new world: {error}")));
                    }
                }
            }
        }
    }

    fn begin(&mut self, context: &ServiceContext) {
        if self.built.is_some() {
            return;
        }
        let Some((change, request)) = self.queue.pop_front() else { return };
        if matches!(change, WorldChange::Unload) && !context.world.origin.exists {
            return request.refuse(refused(load::NO_WORLD_LOADED, "no world is loaded"));
        }
        let world = &context.world;
        let mailbox = &context.control.mailbox;
        let present = PresentWorld {
            origin: world.origin.clone(),
            scene: world.scene.clone(),
            physics: context.parameters.physics(world.scene.joint_names()),
            // A world that is loaded begins anew, as with a reset.
            settings: match change {
                WorldChange::Load(_) | WorldChange::Unload => mailbox.settings(),
                _ => mailbox.settings_in_force(),
            },
            frame: self.frame.clone(),
            packages: context.setup.packages.clone(),
            scene_of_start: context.setup.scene.clone(),
            warnings: world.warnings.clone(),
        };
        let (sender, receiver) = channel();
        let build = move || {
            ordinary();
            // The receiver is dropped only when the node ends.
            let _ = sender.send(build_world(&present, change));
        };
        let thread = std::thread::Builder::new().name("building".to_owned()).stack_size(STACK).spawn(build);
        if let Err(error) = thread {
            // The receiver is notified when its sender is dropped.
            tracing::error!("the thread that builds worlds did not start: {error}");
        }
        self.stage = Stage::Building(receiver, request);
    }
}
