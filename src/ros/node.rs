//! The node as a whole: start, threads, signals, end.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::io::bag::BagPlan;
use crate::io::checkpoint_file;
use crate::io::package::PackageMap;
use crate::io::scene_file::{LoadedScene, SceneSource, SourceChanges};
use crate::recording::Rates;
use crate::ros::checkpoints::file::checkpoint_queue;
use crate::ros::checkpoints::lock::{CheckpointLock, canonical, lock_checkpoint};
use crate::ros::checkpoints::node_state::NodeState;
use crate::ros::checkpoints::services::PERIOD_WITHOUT_FILE;
use crate::ros::client::{Node, ParameterValue, check_command_line, retry_responses};
use crate::ros::commands::standing_command::StandingCommand;
use crate::ros::exchange::disk_watch::STALLED_AFTER;
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::exchange::settings::{Mode, Physics, RunSettings, SceneStepping, warn_of_unused};
use crate::ros::exchange::state_queue::state_queue;
use crate::ros::exchange::step_watch::LONG;
use crate::ros::log::causes::with_causes;
use crate::ros::log::names::shown;
use crate::ros::node_error::NodeError;
use crate::ros::publish::publishers::{PublishPlan, Publishers};
use crate::ros::publish::scene_markers::scene_markers;
use crate::ros::publish::topics::{PublisherPool, TopicPlan, WorldTopics, descriptions};
use crate::ros::recording::recorder::Recording;
use crate::ros::runtime::simulation_thread::{SimulationSetup, SimulationThread};
use crate::ros::services::context::{CurrentWorld, WorldOrigin, WorldSetup, namespaced};
use crate::ros::services::parameters::Parameters;
use crate::ros::services::server::ServiceServer;
use crate::ros::subscriptions::controllers::{ControllerOptions, Controllers, topic_prefixes};
use crate::scene::SceneSignature;
use crate::stepping::{Checkpoint, CheckpointError, Simulation, SimulationError, schedules};

/// The name of the node, unless arguments rename it.
pub const NODE_NAME: &str = "isobar";

/// The longest wait of a spin for messages, and so the longest delay of a stop.
const SPIN_TIMEOUT: Duration = Duration::from_millis(20);

/// Stack of the thread that loads the scene, as large as the main thread's, because parsing meshes and scenes
/// is recursive \[bytes\].
const LOADING_STACK: usize = 8 << 20;

/// The name of the thread that writes checkpoints.
const CHECKPOINTS: &str = "checkpoints";

/// At the end, the time between two checks whether other threads have ended.
const END_WAIT: Duration = Duration::from_millis(10);

/// The command line of the node, and the parameters that do not depend on the scene.
pub fn usage() -> String {
    let parameters = Parameters::new(std::iter::empty()).help();
    format!(
        "The ROS 2 node of Isobar: simulates a scene, takes joint commands, publishes joint states and contacts\n\n\
         Usage: isobar_node --ros-args -p scene:=FILE.yaml [-p PARAMETER:=VALUE] [-r NAME:=NAME] [--params-file FILE.yaml]\n\n\
         Options:\n  -h, --help     Print help\n  -V, --version  Print version\n\n\
         Parameters:\n{parameters}"
    )
}

/// Runs the node until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// The node cannot start, a late command in lockstep aborts, or a thread died.
pub fn run() -> Result<(), NodeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run_async())
}

async fn run_async() -> Result<(), NodeError> {
    // Installed before anything slow, so that a signal during loading also ends the program cleanly.
    let mut signals = Signals::new()?;
    let known = Parameters::new(std::iter::empty());
    let names: Vec<&str> = known.iter().map(|(declaration, _)| declaration.name.as_str()).collect();
    let arguments: Vec<_> = std::env::args_os().collect();
    check_command_line(arguments.into_iter(), names.into_iter()).map_err(NodeError::Argument)?;
    let node = scheduled(Node::create(NODE_NAME)?)?;
    let given = node.initial_parameters();
    // Loading may take long. Its thread ends with the process.
    let (sender, loaded) = oneshot::channel();
    let load = move || drop(sender.send(World::load(given)));
    std::thread::Builder::new().name("loading".to_owned()).stack_size(LOADING_STACK).spawn(load)?;
    let (parameters, world) = tokio::select! {
        () = signals.next() => {
            tracing::info!("shutting down before the scene is loaded");
            return Ok(());
        }
        loaded = loaded => loaded.map_err(|_| NodeError::ThreadDied("loading"))??,
    };
    let mut session = Session::start(node, world, parameters)?;
    let died = tokio::select! {
        () = signals.next() => None,
        _ = &mut session.simulation_ended => Some("simulation"),
        _ = &mut session.publishing_ended => Some("publishing"),
        _ = &mut session.spinning_ended => Some("spinning"),
    };
    tracing::info!("shutting down");
    session.end();
    match (session.mailbox.failure(), died) {
        (Some(reason), _) => Err(NodeError::Aborted(reason)),
        (None, Some(_)) if session.mailbox.quitting() => Ok(()),
        (None, Some(thread)) => Err(NodeError::ThreadDied(thread)),
        (None, None) => Ok(()),
    }
}

/// The signals that end the node.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// Of a terminal that closes; `None` if `nohup` started this process.
    hang_up: Option<Signal>,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
    }

    async fn next(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = hang_up => {}
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Whether this process was started with SIGHUP ignored.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// The node, made anew with the scheduling that its parameters request, if they do: the middleware's threads
/// start with it, and inherit the scheduling of the thread that makes it.
fn scheduled(node: Node) -> Result<Node, NodeError> {
    let parameters = Parameters::new(node.initial_parameters().into_iter());
    // Values that parameters cannot take are refused with all others, at loading.
    if !parameters.problems().is_empty() {
        return Ok(node);
    }
    let scheduling = parameters.scheduling()?;
    if scheduling.is_ordinary() {
        return Ok(node);
    }
    drop(node);
    Ok(scheduling.of_threads_from(|| Node::create(NODE_NAME))??)
}

/// A loaded scene with its publishing rates.
struct World {
    origin: WorldOrigin,
    loaded: LoadedScene,
    /// The checkpoint to continue from.
    checkpoint: Option<Checkpoint>,
    /// The lock on its file.
    lock: Option<CheckpointLock>,
    rates: Rates,
    /// The packages and folders that services read files from.
    packages: PackageMap,
}

impl World {
    /// Reads the scene with the parameters that the process was started with.
    fn load(given: Vec<(String, ParameterValue)>) -> Result<(Parameters, Self), NodeError> {
        let mut parameters = Parameters::new(given.into_iter());
        let refuse =
            |parameters: &Parameters| NodeError::Parameters(parameters.problems().join("\n"), parameters.help());
        if !parameters.problems().is_empty() {
            return Err(refuse(&parameters));
        }
        if parameters.use_sim_time() {
            tracing::warn!("use_sim_time is ignored, because this node publishes the clock: leave it false here");
        }
        if parameters.text("scene").is_empty() {
            return Err(NodeError::NoScene);
        }
        let packages = PackageMap::from_environment();
        let (source, mut loaded) = load_scene(&PathBuf::from(parameters.text("scene")), &packages)?;
        let folder = source.folder().to_path_buf();
        let given = std::env::split_paths(parameters.text("file_access")).filter(|path| !path.as_os_str().is_empty());
        let folders = [folder.join("../urdf"), folder].into_iter().chain(packages.used_folders()).chain(given);
        let packages = packages.clone().within(folders);
        let mut origin = WorldOrigin { is_of_start: true, ..WorldOrigin::file(parameters.text("scene"), source) };
        check_record(Path::new(parameters.text("record")))?;
        let file = PathBuf::from(parameters.text("checkpoint"));
        let record = parameters.text("record");
        if !record.is_empty() && !file.as_os_str().is_empty() && canonical(Path::new(record)) == canonical(&file) {
            return Err(NodeError::OneFile { file });
        }
        let lock = lock_checkpoint(&file)?;
        let checkpoint = read_checkpoint(&file)?;
        if let Some(checkpoint) = &checkpoint {
            loaded = restore_entities(checkpoint, &file, &mut origin, &packages)?.unwrap_or(loaded);
        }
        parameters.declare_scene(&loaded.scene, SceneStepping::of(&loaded));
        let mode = Mode::named(parameters.text("stepping"));
        warn_of_unused(&loaded, &SceneStepping::of(&loaded).with(mode, 0).stepping);
        if !parameters.problems().is_empty() {
            return Err(refuse(&parameters));
        }
        parameters.start();
        Ok((parameters, Self { rates: Rates::from(&loaded.publish), origin, loaded, checkpoint, lock, packages }))
    }
}

fn load_scene(path: &Path, packages: &PackageMap) -> Result<(SceneSource, LoadedScene), NodeError> {
    let started = Instant::now();
    tracing::info!("loading {}", path.display());
    let refused = |error| NodeError::Scene(Box::new(error));
    let source = SceneSource::read(path, packages).map_err(refused)?;
    let loaded = source.build(packages).map_err(refused)?;
    for warning in loaded.short_warnings() {
        tracing::warn!("{warning}");
    }
    let scene = &loaded.scene;
    tracing::info!(
        "{}: {} joints, {} free bodies, {} collision geometries, loaded in {:.0} ms",
        path.display(),
        scene.joint_names().len(),
        scene.free_bodies().len(),
        scene.geometries().len(),
        started.elapsed().as_secs_f64() * 1e3
    );
    Ok((source, loaded))
}

/// The running threads.
struct Session {
    mailbox: Arc<Mailbox>,
    simulation: Option<JoinHandle<()>>,
    publishing: Option<JoinHandle<()>>,
    /// The threads that write recordings.
    disks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    /// Owns the node, and returns it at its end: publishers must not outlive it.
    spinning: Option<JoinHandle<Node>>,
    simulation_ended: oneshot::Receiver<()>,
    publishing_ended: oneshot::Receiver<()>,
    spinning_ended: oneshot::Receiver<()>,
    /// Held until the node ends.
    _lock: Option<CheckpointLock>,
}

impl Session {
    fn start(mut node: Node, world: World, mut parameters: Parameters) -> Result<Self, NodeError> {
        let World { origin, mut loaded, checkpoint, lock, rates, packages } = world;
        let markers = loaded.publish.contact_markers;
        let mut settings = parameters.run_settings(&rates, markers);
        let physics = parameters.physics(loaded.scene.joint_names());
        let joints = loaded.scene.joint_names().len();
        let stepping = SceneStepping::of(&loaded);
        let checkpoints = PathBuf::from(parameters.text("checkpoint"));
        if settings.checkpoint_period_ns > 0 && checkpoints.as_os_str().is_empty() {
            tracing::warn!("{PERIOD_WITHOUT_FILE}");
        }
        let scheduling = parameters.scheduling()?;
        let (start, initial) = (loaded.scene.clone(), loaded.initial.clone());
        let begin =
            |settings: &RunSettings| Simulation::new(start.clone(), initial.clone(), stepping.with_settings(settings));
        let schedules = schedules(&loaded.scene, &loaded.commands, &loaded.wrenches);
        let (simulation, restored) = match checkpoint {
            Some(checkpoint) => {
                let refused = |source| match NodeState::read(checkpoint.attachment()) {
                    Ok(Some(NodeState { world, .. }))
                        if matches!(source, CheckpointError::Scene { .. })
                            && !world.is_empty()
                            && world != origin.name() =>
                    {
                        NodeError::OtherScene {
                            world: shown(&world),
                            source: checkpoint_file::refused(&checkpoints, source),
                        }
                    }
                    _ => NodeError::Checkpoint(checkpoint_file::refused(&checkpoints, source)),
                };
                let (simulation, state) = restore(&checkpoint, &settings, &schedules, begin)?.map_err(refused)?;
                parameters.set_physics(start.joint_names(), &Physics::of(simulation.scene()));
                if let Some(state) = &state
                    && stepping.with_settings(&settings) != simulation.settings()
                {
                    parameters.set_stepping(state.mode, state.step_ns);
                    settings = parameters.run_settings(&rates, markers);
                }
                (simulation, state)
            }
            None => {
                let mut simulation = begin(&settings)?;
                // Values given at the start apply from the first step.
                physics.apply(&mut simulation)?;
                (simulation, None)
            }
        };
        let scene = simulation.scene().clone();
        loaded.scene = scene.clone();
        let mailbox = Arc::new(Mailbox::new(joints, settings, parameters.flag("start_paused")));
        let disks = Arc::default();
        let mut recording = recording(&node, &parameters, &disks, &mailbox)?;
        let recorder = match &mut recording {
            Some(recording) => Some(recording.first(&loaded.scene, &loaded.outputs, &loaded.robot_descriptions)?),
            None => None,
        };
        let namespaces = parameters.flag("robot_namespaces");
        let plan = PublishPlan {
            world_frame: parameters.text("world_frame").to_owned(),
            clock: parameters.flag("publish_clock"),
            tf: parameters.flag("publish_tf"),
        };
        let topics = TopicPlan {
            scene_markers: scene_markers(&loaded, parameters.text("world_frame")),
            outputs: loaded.outputs,
            force_torque: loaded.force_torque.clone(),
            namespaces: namespaced(&topic_prefixes(&loaded.joint_groups, namespaces, &[]), &loaded.joint_groups),
            descriptions: descriptions(parameters.flag("publish_robot_description"), &loaded.robot_descriptions),
        };
        let mut publisher_pool = PublisherPool::new();
        let mut topics = WorldTopics::new(&mut node, &mut publisher_pool, 0, &scene, topics)?;
        topics.recorder = recorder;
        topics.publish_texts();
        let (topics_sender, topics_receiver) = channel();
        let mut publishers = Publishers::new(&mut node, plan, topics, topics_receiver)?;
        let modes = parameters.control_modes(scene.joint_names());
        let gains = parameters.physics(scene.joint_names()).gains;
        let options =
            ControllerOptions { lockstep: parameters.flag("lockstep"), namespaces, modes: &modes, gains: &gains };
        let controllers = Controllers::new(&mut node, &scene, &loaded.joint_groups, options, mailbox.clone())?;
        let lockstep = parameters.lockstep(controllers.awaited_topics());
        let source = origin.for_checkpoints();
        let (models, warnings) = (loaded.models, loaded.warnings.into());
        let scheduled = loaded.commands.joints.iter().map(|schedule| schedule.joint).collect();
        let (number, loaded_as, now) = (0, 0, scene.clone());
        let world = CurrentWorld { number, loaded_as, scene: now, models, rates, markers, origin, scheduled, warnings };
        let scene = PathBuf::from(parameters.text("scene"));
        let setup = WorldSetup { publishers: publisher_pool, topics: topics_sender, recording, packages, scene };
        let server = ServiceServer::new(&mut node, world, setup, parameters, controllers, mailbox.clone())?;
        if let Some(state) = &restored {
            let commands = StandingCommand::read(&state.commands, joints).map_err(CheckpointError::from);
            let commands = commands.map_err(|source| checkpoint_file::refused(&checkpoints, source))?;
            mailbox.restore_commands(0, commands, None);
        }
        let mut sender = None;
        if !checkpoints.as_os_str().is_empty() {
            let (to_disk, disk) = checkpoint_queue(&checkpoints, mailbox.clone());
            sender = Some(to_disk);
            let writing = std::thread::Builder::new().name(CHECKPOINTS.to_owned()).spawn(move || disk.run())?;
            disks.lock().unwrap_or_else(PoisonError::into_inner).push(writing);
        }
        let simulation_setup = SimulationSetup {
            simulation,
            stepping,
            schedule: loaded.commands,
            wrenches: loaded.wrenches,
            force_torque: loaded.force_torque,
            source,
            lockstep,
            checkpoints: sender,
            restored,
        };
        let (sender, receiver) = state_queue();

        let (for_simulation, for_publishing) = (mailbox.clone(), mailbox.clone());
        scheduling.lock_memory()?;
        let started = scheduling.of_threads_from(|| {
            let simulation = spawn("simulation", move || {
                SimulationThread::new(simulation_setup, &for_simulation, &sender).run();
            })?;
            let publishing = spawn("publishing", move || publishers.run(&receiver, &for_publishing))?;
            Ok::<_, std::io::Error>((simulation, publishing, spawn("spinning", move || spin(node, server))?))
        })?;
        let ((simulation, simulation_ended), (publishing, publishing_ended), (spinning, spinning_ended)) = started?;
        Ok(Self {
            mailbox,
            simulation: Some(simulation),
            publishing: Some(publishing),
            disks,
            spinning: Some(spinning),
            simulation_ended,
            publishing_ended,
            spinning_ended,
            _lock: lock,
        })
    }

    fn end(&mut self) {
        let began = Instant::now();
        self.mailbox.stop();
        let _node = self.spinning.take().and_then(|thread| thread.join().ok());
        self.wait_for_step(began);
        if let Some(publishing) = self.publishing.take() {
            // A thread that panicked has written to stderr, and the caller reports it.
            let _ = publishing.join();
        }
        self.wait_for_disks(began);
        let skipped = self.mailbox.counters.skipped.load(std::sync::atomic::Ordering::Relaxed);
        if skipped > 0 {
            tracing::info!("{skipped} snapshots were not published because publishing was behind");
        }
    }

    /// Waits until the present step has ended, unless it takes long. `began` is the time at which the node
    /// began to end.
    fn wait_for_step(&mut self, began: Instant) {
        let Some(simulation) = self.simulation.take() else { return };
        let watch = &self.mailbox.step_watch;
        while !simulation.is_finished() {
            if began.elapsed() >= LONG
                && let Some(since) = watch.late(Instant::now())
            {
                tracing::error!(
                    "the present step has taken {:.0} s so far: the node ends without it, and without a checkpoint of its end",
                    since.as_secs_f64()
                );
                watch.abandon();
                return;
            }
            std::thread::sleep(END_WAIT);
        }
        // As for the publishing thread.
        let _ = simulation.join();
    }

    /// Waits until recordings and checkpoints are written, unless a disk does not answer. `began` is the time
    /// at which the node began to end.
    fn wait_for_disks(&self, began: Instant) {
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        let [recording, checkpoint] = [&self.mailbox.recording.disk, &self.mailbox.checkpoint.disk];
        loop {
            // The simulation thread, which a long step keeps, would end the thread of the checkpoints.
            let ends = |disk: &JoinHandle<()>| {
                disk.thread().name() != Some(CHECKPOINTS) || !self.mailbox.step_watch.is_abandoned()
            };
            disks.retain(|disk| !disk.is_finished() && ends(disk));
            if disks.is_empty() {
                return;
            }
            // If one disk has stalled, the other one still has this time to finish.
            let stalled = recording.stalled().or(checkpoint.stalled());
            if let Some(stalled) = stalled.filter(|_| began.elapsed() >= STALLED_AFTER) {
                tracing::error!(
                    "the disk has not answered for {:.0} s: the node ends without the rest of its recording or \
                     checkpoint",
                    stalled.as_secs_f64()
                );
                return;
            }
            std::thread::sleep(END_WAIT);
        }
    }
}

/// The checkpoint `file`, if it exists.
fn read_checkpoint(file: &Path) -> Result<Option<Checkpoint>, NodeError> {
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    if !file.exists() {
        checkpoint_file::check_writable(file).map_err(NodeError::CheckpointOutput)?;
        return Ok(None);
    }
    Ok(Some(checkpoint_file::read(file)?))
}

/// Refuses a folder or a device as the file of the recording: `/tmp` would be recorded as `/tmp_2`.
fn check_record(file: &Path) -> Result<(), NodeError> {
    match std::fs::metadata(file) {
        Ok(found) if !found.is_file() => {
            let kind = if found.is_dir() { "a folder" } else { "not a regular file" };
            Err(NodeError::RecordKind { file: file.to_path_buf(), kind })
        }
        // A file that exists is not overwritten. If a file cannot be created, it is refused at its creation.
        _ => Ok(()),
    }
}

/// The world with the entities of a checkpoint; `None` if they are those of the scene file.
fn restore_entities(
    checkpoint: &Checkpoint,
    file: &Path,
    origin: &mut WorldOrigin,
    packages: &PackageMap,
) -> Result<Option<LoadedScene>, NodeError> {
    let entities = NodeState::entities_of(checkpoint)
        .map_err(|error| NodeError::Checkpoint(checkpoint_file::refused(file, error.into())))?;
    if entities.has_models_of(&SourceChanges::default()) {
        return Ok(None);
    }
    let refused = |reason| NodeError::Entities { file: file.to_path_buf(), entities: entities.summary(), reason };
    origin.source.apply(&entities, packages).map_err(|error| refused(with_causes(&error)))?;
    let loaded = origin.source.build(packages).map_err(|error| refused(with_causes(&error)))?;
    origin.spawned.extend(entities.added_names().map(str::to_owned));
    tracing::info!("the world is that of the checkpoint: {}", entities.summary());
    Ok(Some(loaded))
}

/// The simulation that continues from a checkpoint in its stepping mode, and the rest of the node's state if
/// a node made the checkpoint.
type Restored = Result<(Simulation, Option<NodeState>), CheckpointError>;

fn restore(
    checkpoint: &Checkpoint,
    settings: &RunSettings,
    schedules: &SceneSignature,
    begin: impl Fn(&RunSettings) -> Result<Simulation, SimulationError>,
) -> Result<Restored, NodeError> {
    let state = match NodeState::read(checkpoint.attachment()) {
        Ok(state) => state,
        Err(error) => return Ok(Err(error.into())),
    };
    let then =
        state.as_ref().map_or(*settings, |state| RunSettings { mode: state.mode, step_ns: state.step_ns, ..*settings });
    let mut simulation = begin(&then)?;
    let restored = checkpoint.check_schedules(schedules).and_then(|()| simulation.restore(checkpoint));
    if let Err(error) = restored {
        return Ok(Err(error));
    }
    let offset_ns = state.as_ref().map_or(0, |state| state.time_offset_ns);
    let time = (offset_ns + checkpoint.time_ns()) as f64 * 1e-9;
    tracing::info!("the simulation continues from its checkpoint, at {time:.4} s");
    Ok(Ok((simulation, state)))
}

fn recording(
    node: &Node,
    parameters: &Parameters,
    disks: &Arc<Mutex<Vec<JoinHandle<()>>>>,
    mailbox: &Mailbox,
) -> Result<Option<Recording>, NodeError> {
    let file = parameters.text("record");
    if file.is_empty() {
        return Ok(None);
    }
    let namespace = node.namespace()?;
    let plan = BagPlan {
        node: node.fully_qualified_name()?,
        namespace: if namespace == "/" { String::new() } else { namespace },
        world_frame: parameters.text("world_frame").to_owned(),
        renamed: node.renamed_topics(std::env::args())?,
    };
    Ok(Some(Recording::new(PathBuf::from(file), plan, disks.clone(), mailbox.recording.clone())))
}

/// A named thread, and a receiver that wakes when the thread ends for any reason.
fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<(JoinHandle<T>, oneshot::Receiver<()>)> {
    let (alive, ended) = oneshot::channel::<()>();
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _alive = alive;
        body()
    })?;
    Ok((thread, ended))
}

/// Takes and answers messages and requests until the node stops; then returns the ROS node.
fn spin(mut node: Node, mut server: ServiceServer) -> Node {
    while !server.stopped() {
        node.spin_once(SPIN_TIMEOUT);
        server.answer_all(&mut node);
        retry_responses();
    }
    // A request for a result may still be on its way; `end` answers it.
    while server.end() {
        node.spin_once(SPIN_TIMEOUT);
    }
    retry_responses();
    node
}
