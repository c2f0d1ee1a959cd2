//! The node as a whole: start, threads, signals, end.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures::{FutureExt, Stream, StreamExt};
use r2r::sensor_msgs::msg::JointState;
use r2r::std_srvs::srv::Trigger;
use r2r::{Context, Node, QosProfile, ServiceRequest};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::command::{self, Clamped, CommandError, CommandMessage, CommandedJoint};
use super::exchange::{Mailbox, Rates, parcel_queue};
use super::parameters::{self, Parameters};
use super::publish::{PublishPlan, Publishers, publish_descriptions};
use super::simulation_thread::Runner;
use super::throttle::{Throttle, and_more};
use crate::io::package::PackageMap;
use crate::io::scene_file::{self, LoadedScene, SceneError};
use crate::scene::Scene;
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
    /// The operating system refused a thread or a signal handler.
    #[error("operating system: {0}")]
    System(#[from] std::io::Error),
    /// A thread ended by itself, which is a defect.
    #[error("the {0} thread died; the lines above say why. Please report this")]
    ThreadDied(&'static str),
}

/// Runs the node until SIGINT or SIGTERM.
///
/// # Errors
/// Whatever keeps it from starting; a thread that died.
pub fn run() -> Result<(), NodeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run_async())
}

async fn run_async() -> Result<(), NodeError> {
    // Before anything slow: a signal while a scene loads ends the program cleanly, too.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut node = Node::create(Context::create()?, "isobar", "")?;
    let parameters = Arc::new(Mutex::new(Parameters::new()));
    let (serve_parameters, changes) = node.make_derived_parameter_handler(parameters.clone())?;
    let world = World::load(&parameters)?;
    let mut session = Session::start(node, world, &parameters)?;
    let follow_changes = follow(changes, &parameters, &session);
    let parameter_services = tokio::spawn(serve_parameters);
    let died = tokio::select! {
        _ = interrupt.recv() => None,
        _ = terminate.recv() => None,
        () = follow_changes => None,
        _ = &mut session.simulation_ended => Some("simulation"),
        _ = &mut session.publishing_ended => Some("publishing"),
        _ = &mut session.spinning_ended => Some("spinning"),
    };
    tracing::info!("shutting down");
    parameter_services.abort();
    session.end();
    died.map_or(Ok(()), |thread| Err(NodeError::ThreadDied(thread)))
}

/// A loaded scene with the rates that it asks for.
struct World {
    loaded: LoadedScene,
    rates: Rates,
    marker_rate: f64,
}

impl World {
    fn load(parameters: &Mutex<Parameters>) -> Result<Self, NodeError> {
        let mut parameters = parameters.lock().unwrap_or_else(PoisonError::into_inner);
        if !parameters.problems().is_empty() {
            return Err(NodeError::Parameters(parameters.problems().join("\n"), parameters::help()));
        }
        if parameters.use_sim_time() {
            tracing::warn!("use_sim_time is true, but this node is the clock: it is ignored");
        }
        if parameters.text("scene").is_empty() {
            return Err(NodeError::NoScene);
        }
        let path = PathBuf::from(parameters.text("scene"));
        parameters.start();
        drop(parameters);
        let loaded = load_scene(&path)?;
        let publish = &loaded.publish;
        let rates = Rates {
            clock: publish.clock,
            joint_states: publish.joint_states,
            wrenches: publish.wrenches,
            poses: publish.tf,
            outputs: publish.wrenches,
        };
        Ok(Self { rates, marker_rate: publish.contact_markers, loaded })
    }
}

fn load_scene(path: &Path) -> Result<LoadedScene, NodeError> {
    let started = Instant::now();
    let loaded =
        scene_file::load(path, &PackageMap::from_environment()).map_err(|error| NodeError::Scene(Box::new(error)))?;
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
    Ok(loaded)
}

/// Takes over parameters that change while the node runs. Ends with the stream, which is never while the node lives.
fn follow<S: Stream<Item = (String, r2r::ParameterValue)>>(
    changes: S,
    parameters: &Arc<Mutex<Parameters>>,
    session: &Session,
) -> impl Future<Output = ()> + use<S> {
    let (parameters, mailbox) = (parameters.clone(), session.mailbox.clone());
    let (rates, marker_rate) = (session.rates, session.marker_rate);
    changes.for_each(move |(name, _)| {
        let parameters = parameters.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.set_settings(parameters.run_settings(&rates, marker_rate));
        tracing::info!("parameter '{name}' changed");
        futures::future::ready(())
    })
}

/// The running threads.
struct Session {
    mailbox: Arc<Mailbox>,
    rates: Rates,
    marker_rate: f64,
    threads: Vec<JoinHandle<()>>,
    /// Owns the node, and hands it back at its end: publishers must not outlive it.
    spinning: Option<JoinHandle<Node>>,
    simulation_ended: oneshot::Receiver<()>,
    publishing_ended: oneshot::Receiver<()>,
    spinning_ended: oneshot::Receiver<()>,
}

impl Session {
    fn start(mut node: Node, world: World, parameters: &Mutex<Parameters>) -> Result<Self, NodeError> {
        let World { loaded, rates, marker_rate } = world;
        let parameters = parameters.lock().unwrap_or_else(PoisonError::into_inner);
        let scene = loaded.scene.clone();
        let mailbox = Arc::new(Mailbox::new(scene.joint_names().len(), parameters.run_settings(&rates, marker_rate)));
        let plan = PublishPlan {
            world_frame: parameters.text("world_frame").to_owned(),
            clock: parameters.flag("publish_clock"),
            tf: parameters.flag("publish_tf"),
            outputs: loaded.outputs,
        };
        if parameters.flag("publish_robot_description") {
            publish_descriptions(&mut node, &loaded.robot_descriptions)?;
        }
        drop(parameters);
        let mut publishers = Publishers::new(&mut node, &scene, plan)?;
        let commands = node.subscribe::<JointState>("joint_commands", QosProfile::default())?;
        let resets = node.create_service::<Trigger::Service>("~/reset", QosProfile::services_default())?;
        let mut inbox = Inbox::new(&scene, mailbox.clone());
        let simulation = Simulation::new(scene, loaded.initial, loaded.settings)?;
        let mut runner = Runner::new(simulation, loaded.commands);
        let (sender, receiver) = parcel_queue();

        let (for_simulation, for_publishing, for_spinning) = (mailbox.clone(), mailbox.clone(), mailbox.clone());
        let (simulation, simulation_ended) = spawn("simulation", move || runner.run(&for_simulation, &sender))?;
        let (publishing, publishing_ended) = spawn("publishing", move || publishers.run(&receiver, &for_publishing))?;
        let (spinning, spinning_ended) =
            spawn("spinning", move || spin(node, commands, resets, &mut inbox, &for_spinning))?;
        Ok(Self {
            mailbox,
            rates,
            marker_rate,
            threads: vec![simulation, publishing],
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
        let skipped = self.mailbox.skipped.load(std::sync::atomic::Ordering::Relaxed);
        if skipped > 0 {
            tracing::info!("{skipped} snapshots were not published because publishing was behind");
        }
    }
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

/// Owns the node until the end. Streams are emptied after every spin: they keep their ten oldest messages and drop newer ones.
fn spin(
    mut node: Node,
    mut commands: impl Stream<Item = JointState> + Unpin,
    mut resets: impl Stream<Item = ServiceRequest<Trigger::Service>> + Unpin,
    inbox: &mut Inbox,
    mailbox: &Mailbox,
) -> Node {
    while !mailbox.stopped() {
        node.spin_once(SPIN_TIMEOUT);
        while let Some(Some(message)) = commands.next().now_or_never() {
            inbox.take(&message);
        }
        while let Some(Some(request)) = resets.next().now_or_never() {
            mailbox.request_reset();
            let message = "the simulation starts over at its next step; time goes on".to_owned();
            if let Err(error) = request.respond(Trigger::Response { success: true, message }) {
                tracing::warn!("~/reset could not be answered: {error}");
            }
        }
    }
    node
}

/// Checks commands and says what is wrong with them, each kind at most once a second.
struct Inbox {
    joints: Vec<CommandedJoint>,
    mailbox: Arc<Mailbox>,
    clamped: Vec<Clamped>,
    refusals: [Throttle; CommandError::KINDS],
    clamps: Throttle,
}

impl Inbox {
    fn new(scene: &Scene, mailbox: Arc<Mailbox>) -> Self {
        let model = scene.model();
        let joints = model
            .scalar_joints()
            .iter()
            .zip(scene.actuators())
            .map(|(joint, actuator)| {
                let joint = &model.joints()[*joint];
                CommandedJoint {
                    name: joint.name.clone(),
                    lower: joint.limits.lower,
                    upper: joint.limits.upper,
                    velocity: joint.limits.velocity,
                    effort: actuator.effort_limit.min(joint.limits.effort),
                }
            })
            .collect();
        Self {
            joints,
            mailbox,
            clamped: Vec::new(),
            refusals: std::array::from_fn(|_| Throttle::default()),
            clamps: Throttle::default(),
        }
    }

    fn take(&mut self, message: &JointState) {
        let JointState { name, position, velocity, effort, .. } = message;
        let message = CommandMessage { name, position, velocity, effort };
        let Self { joints, mailbox, clamped, .. } = self;
        clamped.clear();
        match mailbox.update_command(|standing| command::merge(joints, &message, standing, clamped)) {
            Ok(()) => self.report_clamped(),
            Err(error) => {
                if let Some(kept_back) = self.refusals[error.kind()].due(Instant::now()) {
                    tracing::warn!("joint_commands: {error}. The command was dropped{}", and_more(kept_back));
                }
            }
        }
    }

    fn report_clamped(&mut self) {
        let Some(Clamped { joint, array, asked, used }) = self.clamped.first() else { return };
        if let Some(kept_back) = self.clamps.due(Instant::now()) {
            let name = &self.joints[*joint].name;
            let more = and_more(kept_back);
            tracing::warn!(
                "joint_commands: {array} {asked} of joint '{name}' is beyond its limit; {used} is used{more}"
            );
        }
    }
}
