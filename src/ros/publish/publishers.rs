//! Publishes snapshots as messages on topics, in a separate thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::ros::client::interfaces::diagnostic_msgs::msg::DiagnosticArray;
use crate::ros::client::interfaces::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use crate::ros::client::interfaces::rcl_interfaces::msg::Log;
use crate::ros::client::interfaces::rosgraph_msgs::msg::Clock;
use crate::ros::client::interfaces::std_msgs::msg::Float64;
use crate::ros::client::interfaces::visualization_msgs::msg::MarkerArray;

#[cfg(isobar_tf2)]
use crate::io::bag::static_transforms;
use crate::io::bag::write_contact_patches;
use crate::math::{RigidTransform, SpatialForce};
use crate::recording::PushedBodies;
use crate::ros::client::messages::{self, system_time};
use crate::ros::client::{ClientError, Node, Publisher, Qos, SerializedPublisher};
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::exchange::settings::RunSettings;
use crate::ros::exchange::state_queue::{PublishedState, StateReceiver};
use crate::ros::log::rosout::{Line, publish_lines, take_lines};
use crate::ros::log::throttle::{Throttle, suppressed_suffix};
use crate::ros::publish::diagnostics::Diagnostics;
use crate::ros::publish::markers::MarkerWriter;
use crate::ros::publish::topics::WorldTopics;
#[cfg(isobar_tf2)]
use crate::ros::publish::transforms::TransformPublishers;
use crate::stepping::Snapshot;

/// The interval at which the clock is repeated while no state arrives, for nodes that start late.
const CLOCK_REPEAT: Duration = Duration::from_millis(200);
/// The intervals of checking for log lines and of publishing diagnostics.
const LOG_PERIOD: Duration = Duration::from_millis(50);
const DIAGNOSTICS_PERIOD: Duration = Duration::from_secs(1);
/// Markers are published at most at this rate, which is enough for a screen \[Hz\].
const MARKER_RATE_MAX: f64 = 30.0;

/// All publishers, and their reused messages.
pub(crate) struct Publishers {
    name: String,
    world_frame: String,
    clock: Option<Publisher<Clock>>,
    world: WorldTopics,
    /// Topics of later worlds, which arrive before the first state of their world.
    worlds: Receiver<WorldTopics>,
    external_efforts: Vec<f64>,
    external_wrench: Publisher<WrenchStamped>,
    pushed: PushedBodies,
    contact_patches: SerializedPublisher,
    #[cfg(isobar_gazebo)]
    contacts: Publisher<crate::ros::client::interfaces::ros_gz_interfaces::msg::Contacts>,
    patch_bytes: Vec<u8>,
    diagnostics_topic: Publisher<DiagnosticArray>,
    diagnostics: Diagnostics,
    diagnosed_at: Instant,
    rosout: Publisher<Log>,
    lines: Option<Receiver<Line>>,
    received_at: Instant,
    #[cfg(isobar_tf2)]
    tf: Option<TransformPublishers>,
    scene_markers: Publisher<MarkerArray>,
    markers: Publisher<MarkerArray>,
    marker_writer: MarkerWriter,
    marker_message: MarkerArray,
    markers_at: Option<Instant>,
    /// Whether the markers of the newest state are delayed by their rate.
    markers_pending: bool,
    last_time_ns: u64,
    failures: Throttle,
}

/// The settings of the publishers that do not depend on the world.
pub(crate) struct PublishPlan {
    pub(crate) world_frame: String,
    pub(crate) clock: bool,
    pub(crate) tf: bool,
}

impl Publishers {
    /// Declares the topics that do not depend on the world; `world` has the others, and `worlds` receives
    /// those of later worlds.
    pub(crate) fn new(
        node: &mut Node,
        plan: PublishPlan,
        world: WorldTopics,
        worlds: Receiver<WorldTopics>,
    ) -> Result<Self, ClientError> {
        let clock = if plan.clock { Some(node.publisher("/clock", Qos::BestEffort)?) } else { None };
        if cfg!(not(isobar_tf2)) && plan.tf {
            tracing::warn!(
                "/tf and /tf_static are missing: tf2_msgs was not installed when this node was built. Free bodies are on \
                 ~/pose/<body>; publish the poses of welded robots with static_transform_publisher"
            );
        }
        let mut publishers = Self {
            name: node.name()?,
            world_frame: plan.world_frame,
            clock,
            world,
            worlds,
            external_efforts: Vec::new(),
            external_wrench: node.publisher("~/external_wrench", Qos::Reliable(10))?,
            pushed: PushedBodies::default(),
            contact_patches: node.serialized_publisher(
                "~/contact_patches",
                "sensor_msgs/msg/PointCloud2",
                Qos::Reliable(1),
            )?,
            #[cfg(isobar_gazebo)]
            contacts: node.publisher("~/contacts", Qos::Reliable(1))?,
            patch_bytes: Vec::new(),
            diagnostics_topic: node.publisher("/diagnostics", Qos::Reliable(10))?,
            diagnostics: Diagnostics::default(),
            diagnosed_at: Instant::now(),
            rosout: node.publisher("/rosout", Qos::Log)?,
            lines: take_lines(),
            received_at: Instant::now(),
            #[cfg(isobar_tf2)]
            tf: if plan.tf { Some(TransformPublishers::new(node)?) } else { None },
            scene_markers: node.publisher("~/scene_markers", Qos::Latched)?,
            markers: node.publisher("~/contact_markers", Qos::Reliable(1))?,
            marker_writer: MarkerWriter::default(),
            marker_message: MarkerArray::default(),
            markers_at: None,
            markers_pending: false,
            last_time_ns: 0,
            failures: Throttle::default(),
        };
        publishers.marker_writer.restart();
        publishers.publish_latched();
        Ok(publishers)
    }

    /// Publishes arriving states until the simulation's end of the queue is dropped, or the node ends
    /// without the present step.
    pub(crate) fn run(&mut self, states: &StateReceiver, mailbox: &Mailbox) {
        let mut newest: Option<Box<PublishedState>> = None;
        loop {
            match states.filled.recv_timeout(LOG_PERIOD) {
                Ok(state) => {
                    self.received_at = Instant::now();
                    self.enter(state.world, mailbox);
                    self.publish(&state, &mailbox.settings());
                    if let Some(published) = newest.replace(state) {
                        states.give_back(published);
                    }
                }
                Err(RecvTimeoutError::Timeout) if mailbox.step_watch.is_abandoned() => return,
                Err(RecvTimeoutError::Timeout) => {
                    if self.received_at.elapsed() >= CLOCK_REPEAT && mailbox.settings().rates.clock > 0.0 {
                        self.received_at = Instant::now();
                        self.publish_clock(self.last_time_ns);
                    }
                    // The delayed markers of the newest state are published when no newer one arrives.
                    if let Some(state) = newest.as_ref().filter(|_| self.markers_pending) {
                        self.publish_markers(&state.snapshot, &mailbox.settings());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.publish_log();
            if self.diagnosed_at.elapsed() >= DIAGNOSTICS_PERIOD {
                self.diagnosed_at = Instant::now();
                self.publish_diagnostics(mailbox);
            }
        }
    }

    /// Switches to the topics of the world with that number.
    fn enter(&mut self, number: u64, mailbox: &Mailbox) {
        while self.world.number < number {
            let Ok(world) = self.worlds.try_recv() else {
                debug_assert!(false, "the topics of a world are sent before it is simulated");
                return;
            };
            self.world = world;
            self.pushed = PushedBodies::default();
            self.marker_writer.restart();
            self.publish_latched();
            mailbox.world_published(self.world.number);
        }
    }

    fn publish_log(&mut self) {
        let Some(lines) = &self.lines else { return };
        publish_lines(lines, |Line { level, text }| {
            // A NUL character would end the text in C.
            let msg = text.replace('\0', "?");
            let log = Log { stamp: system_time(), level, name: self.name.clone(), msg, ..Log::default() };
            self.rosout.publish(&log)
        });
    }

    fn publish_diagnostics(&mut self, mailbox: &Mailbox) {
        // Before the first report, which comes after the first second of steps, a step or a disk may stall.
        let health = mailbox.health().unwrap_or_default();
        let wanted = mailbox.settings().real_time_factor;
        let message = self.diagnostics.message(&self.name, &health, mailbox, wanted);
        note_failure(&mut self.failures, self.diagnostics_topic.publish(&message));
    }

    /// Sensors and contacts come first, then the joint states, then the clock. A controller that answers a
    /// state, or waits for a time, has then received everything that belongs to it.
    fn publish(&mut self, state: &PublishedState, settings: &RunSettings) {
        let PublishedState { due, snapshot, .. } = state;
        self.diagnostics.note(snapshot);
        if due.joint_states {
            self.publish_external_torques(snapshot);
        }
        if due.wrenches {
            self.publish_wrenches(snapshot, &state.sensors);
        }
        if due.poses {
            self.publish_poses(snapshot);
        }
        if due.outputs || self.world.recorder.is_some() {
            self.world.outputs.evaluate(snapshot);
        }
        if due.outputs {
            self.publish_outputs();
        }
        if due.contact_patches {
            self.publish_contact_patches(snapshot);
        }
        if due.joint_states {
            self.publish_joint_states(snapshot);
        }
        self.publish_markers(snapshot, settings);
        if let Some(recorder) = self.world.recorder.as_mut().filter(|_| !state.repeat) {
            recorder.record(*due, snapshot, self.world.outputs.values());
        }
        self.last_time_ns = snapshot.time_ns;
        if due.clock {
            self.publish_clock(snapshot.time_ns);
        }
    }

    fn publish_clock(&mut self, time_ns: u64) {
        if let Some(clock) = &self.clock {
            let sent = clock.publish(&Clock { clock: messages::time(time_ns) });
            note_failure(&mut self.failures, sent);
        }
    }

    fn publish_joint_states(&mut self, snapshot: &Snapshot) {
        let stamp = messages::time(snapshot.time_ns);
        for topic in &mut self.world.joint_states {
            topic.message.header.stamp = stamp.clone();
            for (values, of_all) in [
                (&mut topic.message.position, &snapshot.joint_position),
                (&mut topic.message.velocity, &snapshot.joint_velocity),
                (&mut topic.message.effort, &snapshot.joint_effort),
            ] {
                values.clear();
                values.extend(topic.joints.iter().filter_map(|joint| of_all.as_slice().get(*joint)));
            }
            note_failure(&mut self.failures, topic.publisher.publish(&topic.message));
        }
    }

    fn publish_external_torques(&mut self, snapshot: &Snapshot) {
        if self.world.external.publisher.has_subscribers() {
            let Self { world: WorldTopics { paths, scene, external, .. }, external_efforts, failures, .. } = self;
            paths.contact_efforts(scene, &snapshot.X_WB, &snapshot.F_BBo_W, external_efforts);
            external.message.header.stamp = messages::time(snapshot.time_ns);
            external.message.effort.clone_from(external_efforts);
            note_failure(failures, external.publisher.publish(&external.message));
        }
    }

    fn publish_wrenches(&mut self, snapshot: &Snapshot, measured: &[SpatialForce]) {
        for topic in &self.world.wrenches {
            let (Some(F_BBo_W), Some(X_WB)) = (snapshot.F_BBo_W.get(topic.body), snapshot.X_WB.get(topic.body)) else {
                continue;
            };
            let header = messages::header(snapshot.time_ns, &topic.frame);
            let message = WrenchStamped { header, wrench: messages::wrench_in_body(F_BBo_W, X_WB) };
            note_failure(&mut self.failures, topic.publisher.publish(&message));
        }
        for (body, F_BBo_W, X_WB) in self.pushed.select(snapshot) {
            let header = messages::header(snapshot.time_ns, self.world.scene.body_name(body));
            let message = WrenchStamped { header, wrench: messages::wrench_in_body(F_BBo_W, X_WB) };
            note_failure(&mut self.failures, self.external_wrench.publish(&message));
        }
        for (topic, F_B) in self.world.sensors.iter().zip(measured) {
            let header = messages::header(snapshot.time_ns, &topic.frame);
            // The wrench is already in the axes of its body.
            let wrench = messages::wrench_in_body(F_B, &RigidTransform::identity());
            note_failure(&mut self.failures, topic.publisher.publish(&WrenchStamped { header, wrench }));
        }
    }

    fn publish_contact_patches(&mut self, snapshot: &Snapshot) {
        #[cfg(isobar_gazebo)]
        if self.contacts.has_subscribers() {
            let message = crate::ros::publish::gazebo::contacts(snapshot, &self.world.scene, &self.world_frame);
            note_failure(&mut self.failures, self.contacts.publish(&message));
        }
        if !self.contact_patches.has_subscribers() {
            return;
        }
        self.patch_bytes.clear();
        write_contact_patches(&mut self.patch_bytes, snapshot, &self.world_frame, &self.world.pairs);
        note_failure(&mut self.failures, self.contact_patches.publish(&self.patch_bytes));
    }

    fn publish_poses(&mut self, snapshot: &Snapshot) {
        for topic in &self.world.poses {
            let Some(X_WB) = snapshot.X_WB.get(topic.body) else { continue };
            let header = messages::header(snapshot.time_ns, &self.world_frame);
            let sent = topic.publisher.publish(&PoseStamped { header, pose: messages::pose(X_WB) });
            note_failure(&mut self.failures, sent);
        }
        #[cfg(isobar_tf2)]
        self.publish_tf(snapshot);
    }

    #[cfg(isobar_tf2)]
    fn publish_tf(&mut self, snapshot: &Snapshot) {
        let Some(tf) = self.tf.as_ref().filter(|_| !self.world.poses.is_empty()) else { return };
        let poses = self.world.poses.iter();
        let bodies = poses.filter_map(|topic| Some((topic.frame.as_str(), snapshot.X_WB.get(topic.body)?)));
        note_failure(&mut self.failures, tf.publish_free(snapshot.time_ns, &self.world_frame, bodies));
    }

    /// Publishes the messages that stay valid while the world exists.
    fn publish_latched(&mut self) {
        let sent = self.scene_markers.publish(&self.world.scene_markers);
        note_failure(&mut self.failures, sent);
        #[cfg(isobar_tf2)]
        if let Some(tf) = &self.tf {
            let transforms = static_transforms(&self.world.scene, &self.world_frame);
            note_failure(&mut self.failures, tf.publish_fixed(self.last_time_ns, &transforms));
        }
    }

    fn publish_outputs(&mut self) {
        for (topic, value) in self.world.output_topics.iter().zip(self.world.outputs.values()) {
            note_failure(&mut self.failures, topic.publish(&Float64 { data: *value }));
        }
    }

    /// Publishes at most 30 marker messages per second, and none without a subscriber.
    fn publish_markers(&mut self, snapshot: &Snapshot, settings: &RunSettings) {
        let rate = settings.marker_rate.min(MARKER_RATE_MAX);
        let now = Instant::now();
        let early = |at: Instant| now.duration_since(at).as_secs_f64() * rate < 1.0;
        self.markers_pending = rate > 0.0 && self.markers_at.is_some_and(early);
        if rate <= 0.0 || self.markers_pending {
            return;
        }
        self.markers_at = Some(now);
        if !self.markers.has_subscribers() {
            self.marker_writer.restart();
            return;
        }
        let (names, message) = (&self.world.geometry_names, &mut self.marker_message);
        self.marker_writer.write(snapshot, names, &self.world_frame, settings.marker_pressure_max, message);
        note_failure(&mut self.failures, self.markers.publish(message));
    }
}

fn note_failure(failures: &mut Throttle, sent: Result<(), ClientError>) {
    if let Err(error) = sent
        && let Some(suppressed) = failures.due(Instant::now())
    {
        tracing::warn!("a message could not be published: {error}{}", suppressed_suffix(suppressed));
    }
}
