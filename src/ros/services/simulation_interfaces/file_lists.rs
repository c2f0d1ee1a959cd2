//! Lists of the scenes that can be loaded and of the robots that can be spawned. Folders may be large and
//! disks slow, so a separate thread makes one list after the other.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use super::codes::{FAILED, ok, refused};
use crate::io::package::PackageMap;
use crate::io::scene_file::SceneSource;
use crate::ros::client::interfaces::simulation_interfaces::msg::{
    Resource, Result as Outcome, Spawnable, WorldResource,
};
use crate::ros::client::interfaces::simulation_interfaces::srv::{GetAvailableWorlds, GetSpawnables};
use crate::ros::client::{ClientError, Node, Request, Service, retry_responses};
use crate::ros::log::names::shown;
use crate::ros::scheduling::ordinary;

/// The largest number of files examined in a folder.
const FILES_MAX: usize = 500;
/// The largest size of a file that is considered a scene \[bytes\].
const SCENE_LENGTH_MAX: u64 = 1 << 20;
/// The largest number of waiting requests; further requests are refused.
const REQUESTS_MAX: usize = 16;
/// The interval at which the thread retries a response that could not be sent.
const RETRY_PERIOD: Duration = Duration::from_millis(20);

/// The folder of the scene, and the packages and folders that may be read.
struct SearchPaths {
    folder: PathBuf,
    packages: PackageMap,
}

/// A request for a list.
enum ListRequest {
    Spawnables(Request<GetSpawnables::Service>, SearchPaths),
    Worlds(Request<GetAvailableWorlds::Service>, SearchPaths),
}

/// The services.
pub(super) struct FileLists {
    available: Service<GetAvailableWorlds::Service>,
    spawnables: Service<GetSpawnables::Service>,
    /// The channel to the thread, once the thread runs.
    requests: Option<SyncSender<ListRequest>>,
}

impl FileLists {
    pub(super) fn new(node: &mut Node) -> Result<Self, ClientError> {
        let (available, spawnables) = (node.service("~/get_available_worlds")?, node.service("~/get_spawnables")?);
        Ok(Self { available, spawnables, requests: None })
    }

    /// Takes requests about the scene in that folder.
    pub(super) fn take_all(&mut self, folder: &Path, packages: &PackageMap) {
        let search_paths = || SearchPaths { folder: folder.to_path_buf(), packages: packages.clone() };
        while let Some(request) = self.spawnables.next() {
            self.enqueue(ListRequest::Spawnables(request, search_paths()));
        }
        while let Some(request) = self.available.next() {
            self.enqueue(ListRequest::Worlds(request, search_paths()));
        }
    }

    fn enqueue(&mut self, request: ListRequest) {
        let requests = self.requests.get_or_insert_with(|| {
            let (sender, receiver) = sync_channel(REQUESTS_MAX);
            let thread = std::thread::Builder::new().name("file lists".to_owned());
            if let Err(error) = thread.spawn(move || {
                ordinary();
                answer_requests(&receiver);
            }) {
                tracing::error!("the thread that lists files did not start: {error}");
            }
            sender
        });
        if let Err(error) = requests.try_send(request) {
            match error {
                TrySendError::Full(request) => {
                    request.refuse(format!("{REQUESTS_MAX} requests for lists are waiting: try again later"));
                }
                TrySendError::Disconnected(request) => {
                    request.refuse("the thread that lists files did not start: see the node's log".to_owned());
                }
            }
        }
    }
}

impl ListRequest {
    fn refuse(self, reason: String) {
        let result = refused(FAILED, reason);
        match self {
            Self::Spawnables(request, _) => {
                request.respond(GetSpawnables::Response { result, spawnables: Vec::new() });
            }
            Self::Worlds(request, _) => {
                request.respond(GetAvailableWorlds::Response { result, worlds: Vec::new() });
            }
        }
    }

    fn answer(self) {
        match self {
            Self::Spawnables(request, search_paths) => {
                let (files, unknown) = list(&search_paths, &request.message().sources, &[".urdf", ".sdf"]);
                let spawnables = files.iter().map(|file| spawnable(file)).collect();
                request.respond(GetSpawnables::Response { result: listed(&unknown), spawnables });
            }
            Self::Worlds(request, search_paths) => {
                let asked = request.message();
                let (files, unknown) = list(&search_paths, &asked.additional_sources, &[".yaml"]);
                let is_scene = |file: &&PathBuf| {
                    let short = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() <= SCENE_LENGTH_MAX);
                    short && SceneSource::read(file, &search_paths.packages).is_ok()
                };
                // Worlds have no tags here, so a filter that requires a tag leaves none.
                let wanted = files.iter().filter(|_| asked.filter.tags.is_empty()).filter(is_scene);
                let worlds = wanted.map(|file| world_resource(&address(file), "")).collect();
                let result = if unknown.is_empty() || asked.continue_on_error {
                    listed(&unknown)
                } else {
                    refused(FAILED, listed(&unknown).error_message)
                };
                request.respond(GetAvailableWorlds::Response { result, worlds });
            }
        }
    }
}

/// The thread's loop, until the node ends.
fn answer_requests(requests: &Receiver<ListRequest>) {
    loop {
        match requests.recv_timeout(RETRY_PERIOD) {
            Ok(request) => request.answer(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        retry_responses();
    }
}

/// A world given by its address or its text.
pub(super) fn world_resource(uri: &str, text: &str) -> WorldResource {
    let name = Path::new(uri).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    WorldResource {
        name,
        world_resource: Resource { uri: uri.to_owned(), resource_string: text.to_owned() },
        ..WorldResource::default()
    }
}

fn spawnable(file: &Path) -> Spawnable {
    let description = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    #[cfg(isobar_entity_resource)]
    let spawnable = Spawnable {
        entity_resource: Resource { uri: address(file), resource_string: String::new() },
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

fn listed(unknown: &[String]) -> Outcome {
    let mut result = ok();
    if !unknown.is_empty() {
        result.error_message = format!("these sources are not folders that may be read: {}", unknown.join(", "));
    }
    result
}

/// The files with one of these endings in the scene's folder, in the folder `urdf` beside it and in
/// `sources`. Also returns the sources that are not folders or may not be read.
fn list(search_paths: &SearchPaths, sources: &[String], endings: &[&str]) -> (Vec<PathBuf>, Vec<String>) {
    /// The largest number of sources named in an error message.
    const UNKNOWN_MAX: usize = 20;
    let SearchPaths { folder, packages } = search_paths;
    let mut unknown = Vec::new();
    let mut folders = vec![folder.clone(), folder.join("../urdf")];
    folders.retain(|folder| packages.is_within(folder));
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
        let ends = |path: &PathBuf| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending));
        let wanted = |path: &PathBuf| ends(path) && path.is_file();
        files.extend(entries.filter(wanted).filter_map(|path| path.canonicalize().ok()));
    }
    files.sort();
    files.dedup();
    (files, unknown)
}
