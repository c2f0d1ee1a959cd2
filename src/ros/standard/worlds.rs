//! Spawning, deleting, loading: one change of the world after the other, each made by a thread of its own.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use r2r::simulation_interfaces::msg::{Resource as ResourceMessage, Result as Outcome, Spawnable, WorldResource};
use r2r::simulation_interfaces::srv::{
    DeleteEntity, GetAvailableWorlds, GetCurrentWorld, GetSpawnables, LoadWorld, ResetSimulation, SetSimulationState,
    SpawnEntity, UnloadWorld,
};
#[cfg(isobar_spawn_entities)]
use r2r::simulation_interfaces::{msg::SpawnResult, srv::SpawnEntities};
use r2r::{Node, ServiceRequest};

use super::codes::{FAILED, load, ok, refused};
use super::making::{Change, Present, Resource, Spawn, make};
use crate::io::package::PackageMap;
use crate::io::scene_file::SceneSource;
use crate::ros::answers::{answer, answer_again};
use crate::ros::desk::{MadeWorld, Office, Origin};
use crate::ros::exchange::ResetScope;
use crate::ros::names::shown;
use crate::ros::parameter_services::{Requests, next, serve};

/// Changes that wait; no client has so many under way.
const ORDERS_MAX: usize = 1000;
/// Meshes and scenes nest; the main thread has as much [bytes].
const STACK: usize = 8 << 20;
/// Files of a folder that are looked at.
const FILES_MAX: usize = 500;
/// A larger file is no scene that a person has written [bytes].
const SCENE_LENGTH_MAX: u64 = 1 << 20;

/// Who asked for a change, and hears how it went.
enum Asker {
    Spawn(ServiceRequest<SpawnEntity::Service>),
    #[cfg(isobar_spawn_entities)]
    SpawnSeveral(Arc<Mutex<Several>>, usize),
    Delete(ServiceRequest<DeleteEntity::Service>),
    Reset(ServiceRequest<ResetSimulation::Service>, ResetScope),
    Stop(ServiceRequest<SetSimulationState::Service>),
    Load(ServiceRequest<LoadWorld::Service>),
    Unload(ServiceRequest<UnloadWorld::Service>),
}

/// Several spawns, answered together.
#[cfg(isobar_spawn_entities)]
struct Several {
    request: Option<ServiceRequest<SpawnEntities::Service>>,
    results: Vec<SpawnResult>,
    left: usize,
}

type Made = Result<(MadeWorld, String), Outcome>;

/// Where the change at hand is.
enum Stage {
    Nothing,
    /// A thread makes the world.
    Making(Receiver<Made>, Asker),
    /// It is handed over, and not yet the one that runs.
    Entering(Asker, String),
}

/// The services that change the world.
pub(super) struct Worlds {
    spawn: Requests<SpawnEntity::Service>,
    #[cfg(isobar_spawn_entities)]
    spawn_several: Requests<SpawnEntities::Service>,
    delete: Requests<DeleteEntity::Service>,
    load: Requests<LoadWorld::Service>,
    unload: Requests<UnloadWorld::Service>,
    current: Requests<GetCurrentWorld::Service>,
    available: Requests<GetAvailableWorlds::Service>,
    spawnables: Requests<GetSpawnables::Service>,
    orders: VecDeque<(Change, Asker)>,
    stage: Stage,
    /// Made, and waiting until requests about the present world are answered.
    made: Option<(Made, Asker)>,
    frame: String,
    /// Lists of files that are being made.
    listing: Arc<Mutex<()>>,
}

impl Worlds {
    pub(super) fn new(node: &mut Node, frame: &str) -> r2r::Result<Self> {
        Ok(Self {
            spawn: serve(node, "~/spawn_entity")?,
            #[cfg(isobar_spawn_entities)]
            spawn_several: serve(node, "~/spawn_entities")?,
            delete: serve(node, "~/delete_entity")?,
            load: serve(node, "~/load_world")?,
            unload: serve(node, "~/unload_world")?,
            current: serve(node, "~/get_current_world")?,
            available: serve(node, "~/get_available_worlds")?,
            spawnables: serve(node, "~/get_spawnables")?,
            orders: VecDeque::new(),
            stage: Stage::Nothing,
            made: None,
            frame: frame.to_owned(),
            listing: Arc::default(),
        })
    }

    /// Whether a world is being loaded.
    pub(super) fn is_loading(&self) -> bool {
        let loads = |asker: &Asker| matches!(asker, Asker::Load(_) | Asker::Unload(_));
        match &self.stage {
            Stage::Making(_, asker) | Stage::Entering(asker, _) => loads(asker),
            Stage::Nothing => self.made.as_ref().is_some_and(|(_, asker)| loads(asker)),
        }
    }

    /// Whether the next world is handed over and does not run yet: nothing can be told of either until it does.
    pub(super) fn is_entering(&self) -> bool {
        matches!(self.stage, Stage::Entering(..))
    }

    /// Whether the next world is made, and waits to be handed over.
    pub(super) fn is_ready(&self) -> bool {
        self.made.is_some()
    }

    /// Takes a reset of what was spawned, if there is something to restore.
    pub(super) fn restore(
        &mut self,
        office: &Office,
        request: ServiceRequest<ResetSimulation::Service>,
        scope: ResetScope,
        everything: bool,
    ) -> Option<ServiceRequest<ResetSimulation::Service>> {
        if !self.needs_restoring(&office.world.origin, everything) {
            return Some(request);
        }
        self.order(Change::Restore { everything }, Asker::Reset(request, scope));
        None
    }

    /// As [`Worlds::restore`] with everything, for a stop.
    pub(super) fn stop(
        &mut self,
        office: &Office,
        request: ServiceRequest<SetSimulationState::Service>,
    ) -> Option<ServiceRequest<SetSimulationState::Service>> {
        if !self.needs_restoring(&office.world.origin, true) {
            return Some(request);
        }
        self.order(Change::Restore { everything: true }, Asker::Stop(request));
        None
    }

    fn needs_restoring(&self, origin: &Origin, everything: bool) -> bool {
        let changed = everything && !origin.original.models().eq(origin.source.models());
        let waits = self.made.is_some() || !self.orders.is_empty() || !matches!(self.stage, Stage::Nothing);
        origin.exists && (waits || changed || !origin.spawned.is_empty())
    }

    fn order(&mut self, change: Change, asker: Asker) {
        if self.orders.len() < ORDERS_MAX {
            self.orders.push_back((change, asker));
        } else {
            refuse(asker, refused(FAILED, "too many changes of the world are under way"));
        }
    }

    /// Takes requests.
    pub(super) fn take(&mut self, office: &Office) {
        while let Some(request) = next(&mut self.spawn) {
            let asked = &request.message;
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
            self.order(Change::Spawn(spawn), Asker::Spawn(request));
        }
        #[cfg(isobar_spawn_entities)]
        self.take_several();
        while let Some(request) = next(&mut self.delete) {
            self.order(Change::Delete(request.message.entity.clone()), Asker::Delete(request));
        }
        while let Some(request) = next(&mut self.load) {
            let asked = &request.message;
            #[cfg(isobar_world_resource)]
            let (uri, text) = (&asked.world_resource.uri, &asked.world_resource.resource_string);
            #[cfg(not(isobar_world_resource))]
            let (uri, text) = (&asked.uri, &asked.resource_string);
            let resource = Resource { uri: uri.clone(), text: text.clone() };
            self.order(Change::Load(resource), Asker::Load(request));
        }
        while let Some(request) = next(&mut self.unload) {
            self.order(Change::Unload, Asker::Unload(request));
        }
        while let Some(request) = next(&mut self.current) {
            let origin = &office.world.origin;
            let (result, world) = if origin.exists {
                (ok(), world_resource(origin))
            } else {
                (refused(load::NO_WORLD_LOADED, "no world is loaded"), WorldResource::default())
            };
            answer(request, GetCurrentWorld::Response { result, world });
        }
        self.take_lists(office);
    }

    #[cfg(isobar_spawn_entities)]
    fn take_several(&mut self) {
        while let Some(request) = next(&mut self.spawn_several) {
            let asked = request.message.spawn_requests.clone();
            if asked.is_empty() || asked.len() + self.orders.len() > ORDERS_MAX {
                let result = if asked.is_empty() { ok() } else { refused(FAILED, "too many spawns at once") };
                answer(request, SpawnEntities::Response { result, results: Vec::new() });
                continue;
            }
            let results = vec![SpawnResult::default(); asked.len()];
            let several = Arc::new(Mutex::new(Several { left: asked.len(), request: Some(request), results }));
            for (place, asked) in asked.into_iter().enumerate() {
                let resource = Resource { uri: asked.entity_resource.uri, text: asked.entity_resource.resource_string };
                let spawn = Spawn {
                    name: asked.name,
                    allow_renaming: asked.allow_renaming,
                    resource,
                    namespace: asked.entity_namespace,
                    pose: asked.initial_pose,
                };
                self.order(Change::Spawn(spawn), Asker::SpawnSeveral(several.clone(), place));
            }
        }
    }

    /// Lists of files are made aside: folders may be large, and disks slow.
    fn take_lists(&mut self, office: &Office) {
        let folder = office.world.origin.source.folder().to_path_buf();
        while let Some(request) = next(&mut self.spawnables) {
            let (folder, listing) = (folder.clone(), self.listing.clone());
            aside("listing", move || {
                let _one_at_a_time = listing.lock().unwrap_or_else(PoisonError::into_inner);
                let (files, unknown) = list(&folder, &request.message.sources, ".urdf");
                let spawnables = files.iter().map(|file| spawnable(file)).collect();
                answer(request, GetSpawnables::Response { result: listed(unknown), spawnables });
            });
        }
        while let Some(request) = next(&mut self.available) {
            let (folder, listing) = (folder.clone(), self.listing.clone());
            aside("listing", move || {
                let _one_at_a_time = listing.lock().unwrap_or_else(PoisonError::into_inner);
                let asked = &request.message;
                let (files, unknown) = list(&folder, &asked.additional_sources, ".yaml");
                let is_scene = |file: &&PathBuf| {
                    let short = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() <= SCENE_LENGTH_MAX);
                    short && SceneSource::read(file).is_ok()
                };
                // No world has tags here: a filter that wants one leaves none.
                let wanted = files.iter().filter(|_| asked.filter.tags.is_empty()).filter(is_scene);
                let worlds = wanted.map(|file| world_resource_of(&address(file), "")).collect();
                let result = if unknown.is_empty() || asked.continue_on_error {
                    listed(unknown)
                } else {
                    refused(FAILED, listed(unknown).error_message)
                };
                answer(request, GetAvailableWorlds::Response { result, worlds });
            });
        }
    }

    /// Goes on with the change at hand. `quiet` says that nothing waits for the present world.
    pub(super) fn advance(&mut self, node: &mut Node, office: &mut Office, quiet: bool) {
        match std::mem::replace(&mut self.stage, Stage::Nothing) {
            Stage::Nothing => self.begin(office),
            Stage::Making(receiver, asker) => match receiver.try_recv() {
                Ok(made) => self.made = Some((made, asker)),
                Err(TryRecvError::Empty) => self.stage = Stage::Making(receiver, asker),
                Err(TryRecvError::Disconnected) => {
                    refuse(asker, refused(FAILED, "making the world has failed; the node's log says why"));
                }
            },
            Stage::Entering(asker, name) if office.control.mailbox.worlds_settled() => {
                office.making.kept.destroy_unused(node);
                settle(asker, name, office);
            }
            entering @ Stage::Entering(..) => self.stage = entering,
        }
        if !matches!(self.stage, Stage::Nothing) || !quiet {
            return;
        }
        match self.made.take() {
            None => {}
            Some((Err(outcome), asker)) => refuse(asker, outcome),
            Some((Ok((world, name)), asker)) => {
                if matches!(asker, Asker::Load(_) | Asker::Unload(_) | Asker::Stop(_)) {
                    office.control.set_paused(true);
                    office.control.stopped = true;
                }
                match office.enter(node, world) {
                    Ok(()) => self.stage = Stage::Entering(asker, name),
                    Err(error) => {
                        refuse(asker, refused(FAILED, format!("ROS 2 refuses a topic of the new world: {error}")))
                    }
                }
            }
        }
    }

    fn begin(&mut self, office: &Office) {
        if self.made.is_some() {
            return;
        }
        let Some((change, asker)) = self.orders.pop_front() else { return };
        if matches!(change, Change::Unload) && !office.world.origin.exists {
            return refuse(asker, refused(load::NO_WORLD_LOADED, "no world is loaded"));
        }
        let world = &office.world;
        let present = Present {
            origin: world.origin.clone(),
            scene: world.scene.clone(),
            physics: office.parameters.physics(world.scene.joint_names()),
            settings: office.control.mailbox.settings(),
            frame: self.frame.clone(),
        };
        let (sender, receiver) = channel();
        // Whoever does not wait any more need not hear.
        aside("making", move || drop(sender.send(make(&present, change))));
        self.stage = Stage::Making(receiver, asker);
    }
}

/// Does something on a thread of its own.
fn aside(name: &str, body: impl FnOnce() + Send + 'static) {
    let body = || {
        body();
        while answer_again() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(body);
    if let Err(error) = thread {
        tracing::error!("{name}: {error}");
    }
}

/// The change was not made.
fn refuse(asker: Asker, result: Outcome) {
    match asker {
        Asker::Spawn(request) => {
            answer(request, SpawnEntity::Response { result, entity_name: String::new() });
        }
        #[cfg(isobar_spawn_entities)]
        Asker::SpawnSeveral(several, place) => {
            note(&several, place, SpawnResult { result, entity_name: String::new() })
        }
        Asker::Delete(request) => answer(request, DeleteEntity::Response { result }),
        Asker::Reset(request, _) => answer(request, ResetSimulation::Response { result }),
        Asker::Stop(request) => answer(request, SetSimulationState::Response { result }),
        Asker::Load(request) => answer(request, LoadWorld::Response { result, world: WorldResource::default() }),
        Asker::Unload(request) => answer(request, UnloadWorld::Response { result }),
    }
}

/// The change was made, and its world runs.
fn settle(asker: Asker, entity_name: String, office: &Office) {
    let reset = |scope: ResetScope| {
        if scope != ResetScope::default() {
            office.control.mailbox.request_reset(scope);
        }
    };
    match asker {
        Asker::Spawn(request) => answer(request, SpawnEntity::Response { result: ok(), entity_name }),
        #[cfg(isobar_spawn_entities)]
        Asker::SpawnSeveral(several, place) => note(&several, place, SpawnResult { result: ok(), entity_name }),
        Asker::Delete(request) => answer(request, DeleteEntity::Response { result: ok() }),
        Asker::Reset(request, scope) => {
            reset(scope);
            answer(request, ResetSimulation::Response { result: ok() });
        }
        Asker::Stop(request) => {
            reset(ResetScope { state: true, time: true });
            answer(request, SetSimulationState::Response { result: ok() });
        }
        Asker::Load(request) => {
            answer(request, LoadWorld::Response { result: ok(), world: world_resource(&office.world.origin) });
        }
        Asker::Unload(request) => answer(request, UnloadWorld::Response { result: ok() }),
    }
}

#[cfg(isobar_spawn_entities)]
fn note(several: &Mutex<Several>, place: usize, result: SpawnResult) {
    let mut several = several.lock().unwrap_or_else(PoisonError::into_inner);
    several.results[place] = result;
    several.left -= 1;
    if several.left > 0 {
        return;
    }
    let results = std::mem::take(&mut several.results);
    let failed = results.iter().filter(|result| result.result.result != super::codes::OK).count();
    let result = match failed {
        0 => ok(),
        _ => refused(super::codes::ENTITIES_SPAWN_FAILED, format!("{failed} of {} were not spawned", results.len())),
    };
    if let Some(request) = several.request.take() {
        answer(request, SpawnEntities::Response { result, results });
    }
}

fn world_resource(origin: &Origin) -> WorldResource {
    world_resource_of(&origin.uri, &origin.text)
}

fn world_resource_of(uri: &str, text: &str) -> WorldResource {
    let name = Path::new(uri).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    WorldResource {
        name,
        world_resource: ResourceMessage { uri: uri.to_owned(), resource_string: text.to_owned() },
        ..WorldResource::default()
    }
}

fn spawnable(file: &Path) -> Spawnable {
    let description = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    #[cfg(isobar_entity_resource)]
    let spawnable = Spawnable {
        entity_resource: ResourceMessage { uri: address(file), resource_string: String::new() },
        description,
        ..Spawnable::default()
    };
    #[cfg(not(isobar_entity_resource))]
    let spawnable = Spawnable { uri: address(file), description, ..Spawnable::default() };
    spawnable
}

fn address(file: &Path) -> String {
    format!("file://{}", file.display())
}

fn listed(unknown: Vec<String>) -> Outcome {
    let mut result = ok();
    if !unknown.is_empty() {
        result.error_message = format!("no folders: {}", unknown.join(", "));
    }
    result
}

/// The files with that ending in the scene's folder, in the folder `urdf` beside it and in `sources`; and those of the sources
/// that are no folders.
fn list(folder: &Path, sources: &[String], ending: &str) -> (Vec<PathBuf>, Vec<String>) {
    /// Nobody reads a longer list of what is wrong.
    const UNKNOWN_MAX: usize = 20;
    let packages = PackageMap::from_environment();
    let mut unknown = Vec::new();
    let mut folders = vec![folder.to_path_buf(), folder.join("../urdf")];
    for source in sources.iter().take(FILES_MAX) {
        match packages.resolve_folder(source, folder) {
            Some(found) => folders.push(found),
            None if unknown.len() < UNKNOWN_MAX => unknown.push(shown(source)),
            None => {}
        }
    }
    let mut files = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let entries = entries.flatten().take(FILES_MAX).map(|entry| entry.path());
        let wanted = |path: &PathBuf| path.to_string_lossy().ends_with(ending) && path.is_file();
        files.extend(entries.filter(wanted).filter_map(|path| path.canonicalize().ok()));
    }
    files.sort();
    files.dedup();
    (files, unknown)
}
