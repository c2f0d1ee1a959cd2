//! The node as a whole: start, threads, signals, end.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use r2r::{Context, Node};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::answers::answer_again;
use super::controllers::{Controllers, lockstep_controllers};
use super::desk::{Desk, DeskWorld, Making, Origin};
use super::exchange::{Mailbox, SceneStepping};
use super::parameter_services::initial_value;
use super::parameters::Parameters;
use super::parcels::parcel_queue;
use super::publish::{PublishPlan, Publishers};
use super::recorder::Recording;
use super::simulation_thread::Runner;
use super::topics::{Kept, TopicPlan, WorldTopics, descriptions};
use crate::io::bag::{BagError, BagPlan};
use crate::io::package::PackageMap;
use crate::io::rates::Rates;
use crate::io::scene_file::{LoadedScene, SceneError, SceneSource};
use crate::stepping::{Simulation, SimulationError};

/// How long a spin waits for messages; also how late a stop may be noticed.
const SPIN_TIMEOUT: Duration = Duration::from_millis(20);

/// Why the node did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// ROS refused something.
    #[error("ROS 2: {0}")]
    Ros(#[from] r2r::Error),
    /// Values that parameters cannot take, one a line.
    #[error("{0}\nThe parameters are:\n{1}")]
    Parameters(String, String),
    /// No scene was named.
    #[error("no scene: give one with --ros-args -p scene:=FILE.yaml")]
    NoScene,
    /// The scene cannot be loaded.
    #[error(transparent)]
    Scene(Box<SceneError>),
    /// The scene cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The recording cannot be made.
    #[error("parameter 'record': {0}")]
    Record(#[from] BagError),
    /// The operating system refused a thread or a signal handler.
    #[error("operating system: {0}")]
    System(#[from] std::io::Error),
    /// The simulation ended itself, as it was asked to.
    #[error("{0}")]
    Aborted(String),
    /// A thread ended by itself, which is a defect.
    #[error("the {0} thread died; the lines above say why. Please report this")]
    ThreadDied(&'static str),
}

/// Runs the node until SIGINT or SIGTERM.
///
/// # Errors
/// Whatever keeps it from starting; a late command in lockstep that aborts; a thread that died.
pub fn run() -> Result<(), NodeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run_async())
}

async fn run_async() -> Result<(), NodeError> {
    // Before anything slow: a signal while a scene loads ends the program cleanly, too.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let node = Node::create(Context::create()?, "isobar", "")?;
    let (parameters, world) = World::load(&node)?;
    let mut session = Session::start(node, world, parameters)?;
    let died = tokio::select! {
        _ = interrupt.recv() => None,
        _ = terminate.recv() => None,
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

/// A loaded scene with the rates that it asks for.
struct World {
    source: SceneSource,
    loaded: LoadedScene,
    rates: Rates,
}

impl World {
    fn load(node: &Node) -> Result<(Parameters, Self), NodeError> {
        let given: Vec<_> = {
            let given = node.params.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            given.iter().map(|(name, parameter)| (name.clone(), initial_value(&parameter.value))).collect()
        };
        let mut parameters = Parameters::new(given.into_iter());
        let refuse =
            |parameters: &Parameters| NodeError::Parameters(parameters.problems().join("\n"), parameters.help());
        if !parameters.problems().is_empty() {
            return Err(refuse(&parameters));
        }
        if parameters.use_sim_time() {
            tracing::warn!("use_sim_time is true, but this node is the clock: it is ignored");
        }
        if parameters.text("scene").is_empty() {
            return Err(NodeError::NoScene);
        }
        let (source, loaded) = load_scene(&PathBuf::from(parameters.text("scene")))?;
        parameters.declare_scene(&loaded.scene);
        if !parameters.problems().is_empty() {
            return Err(refuse(&parameters));
        }
        parameters.start();
        Ok((parameters, Self { rates: Rates::from(&loaded.publish), source, loaded }))
    }
}

fn load_scene(path: &Path) -> Result<(SceneSource, LoadedScene), NodeError> {
    let started = Instant::now();
    let refused = |error| NodeError::Scene(Box::new(error));
    let source = SceneSource::read(path).map_err(refused)?;
    let loaded = source.build(&PackageMap::from_environment()).map_err(refused)?;
    for warning in &loaded.warnings {
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
    threads: Vec<JoinHandle<()>>,
    /// Those that write recordings.
    disks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    /// Owns the node, and hands it back at its end: publishers must not outlive it.
    spinning: Option<JoinHandle<Node>>,
    simulation_ended: oneshot::Receiver<()>,
    publishing_ended: oneshot::Receiver<()>,
    spinning_ended: oneshot::Receiver<()>,
}

impl Session {
    fn start(mut node: Node, world: World, parameters: Parameters) -> Result<Self, NodeError> {
        let World { source, mut loaded, rates } = world;
        let markers = loaded.publish.contact_markers;
        let settings = parameters.run_settings(&rates, markers);
        let physics = parameters.physics(loaded.scene.joint_names());
        // Before anyone shares the scene: what was given at the start holds from the start.
        let scene = Arc::make_mut(&mut loaded.scene);
        scene.set_gravity(physics.gravity_W);
        for (joint, (stiffness, damping)) in physics.gains.iter().enumerate() {
            scene.set_gains(joint, *stiffness, *damping);
        }
        let scene = loaded.scene.clone();
        let joints = scene.joint_names().len();
        let mailbox = Arc::new(Mailbox::new(joints, settings, parameters.flag("start_paused")));
        let disks = Arc::default();
        let mut recording = recording(&node, &parameters, &disks)?;
        let recorder = match &mut recording {
            Some(recording) => Some(recording.next(&loaded.scene, &loaded.outputs, &loaded.robot_descriptions)?),
            None => None,
        };
        let namespaces = parameters.flag("robot_namespaces");
        let plan = PublishPlan {
            world_frame: parameters.text("world_frame").to_owned(),
            clock: parameters.flag("publish_clock"),
            tf: parameters.flag("publish_tf"),
        };
        let topics = TopicPlan {
            outputs: loaded.outputs,
            force_torque: loaded.force_torque.clone(),
            namespaces: if namespaces { loaded.joint_groups.clone() } else { Vec::new() },
            recorder,
            descriptions: descriptions(parameters.flag("publish_robot_description"), &loaded.robot_descriptions),
        };
        let mut kept = Kept::new();
        let topics = WorldTopics::new(&mut node, &mut kept, 0, &scene, topics)?;
        let (topics_sender, topics_receiver) = channel();
        let mut publishers = Publishers::new(&mut node, plan, topics, topics_receiver)?;
        let lockstep = parameters.lockstep(lockstep_controllers(&loaded.joint_groups, namespaces));
        let controllers = Controllers::new(&mut node, &scene, &loaded.joint_groups, &parameters, mailbox.clone())?;
        let world = DeskWorld {
            number: 0,
            scene: scene.clone(),
            models: loaded.models,
            rates,
            markers,
            origin: Origin::file(parameters.text("scene"), source),
        };
        let making = Making { kept, topics: topics_sender, recording };
        let desk = Desk::new(&mut node, world, making, parameters, controllers, mailbox.clone())?;
        let stepping = SceneStepping { settings: loaded.settings, quasistatic: loaded.quasistatic };
        let simulation = Simulation::new(scene, loaded.initial, stepping.under(&settings))?;
        let mut runner = Runner::new(simulation, stepping, loaded.commands, &loaded.force_torque, lockstep);
        let (sender, receiver) = parcel_queue();

        let (for_simulation, for_publishing) = (mailbox.clone(), mailbox.clone());
        let (simulation, simulation_ended) = spawn("simulation", move || runner.run(&for_simulation, &sender))?;
        let (publishing, publishing_ended) = spawn("publishing", move || publishers.run(&receiver, &for_publishing))?;
        let threads = vec![simulation, publishing];
        let (spinning, spinning_ended) = spawn("spinning", move || spin(node, desk))?;
        Ok(Self {
            mailbox,
            threads,
            disks,
            spinning: Some(spinning),
            simulation_ended,
            publishing_ended,
            spinning_ended,
        })
    }

    fn end(&mut self) {
        self.mailbox.stop();
        let _node = self.spinning.take().and_then(|thread| thread.join().ok());
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so on stderr, and the caller reports it.
            let _ = thread.join();
        }
        for disk in self.disks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = disk.join();
        }
        let skipped = self.mailbox.counters.skipped.load(std::sync::atomic::Ordering::Relaxed);
        if skipped > 0 {
            tracing::info!("{skipped} snapshots were not published because publishing was behind");
        }
    }
}

fn recording(
    node: &Node,
    parameters: &Parameters,
    disks: &Arc<Mutex<Vec<JoinHandle<()>>>>,
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
    };
    Ok(Some(Recording::new(PathBuf::from(file), plan, disks.clone())))
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

/// Owns the node until the end.
fn spin(mut node: Node, mut desk: Desk) -> Node {
    while !desk.stopped() {
        node.spin_once(SPIN_TIMEOUT);
        desk.answer_all(&mut node);
        answer_again();
    }
    node
}
