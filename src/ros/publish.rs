//! Snapshots become messages on topics, in a thread of their own.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use r2r::diagnostic_msgs::msg::DiagnosticArray;
use r2r::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use r2r::qos::{DurabilityPolicy, HistoryPolicy, ReliabilityPolicy};
use r2r::rcl_interfaces::msg::Log;
use r2r::rosgraph_msgs::msg::Clock;
use r2r::std_msgs::msg::Float64;
use r2r::visualization_msgs::msg::MarkerArray;
use r2r::{Node, Publisher, PublisherUntyped, QosProfile};

use super::diagnostics::Diagnostics;
use super::exchange::{Mailbox, RunSettings};
use super::log::{Line, take_lines};
use super::markers::MarkerWriter;
use super::messages;
use super::parameter_services::system_time;
use super::parcels::{Parcel, ParcelReceiver};
use super::throttle::{Throttle, and_more};
use super::topics::WorldTopics;
use crate::io::bag::write_contact_patches;
use crate::math::{RigidTransform, SpatialForce};
use crate::stepping::Snapshot;

/// While nothing happens the clock is repeated, so that whoever comes late knows the time.
const CLOCK_REPEAT: Duration = Duration::from_millis(200);
/// How often log lines are looked for, and diagnostics published.
const LOG_PERIOD: Duration = Duration::from_millis(50);
const DIAGNOSTICS_PERIOD: Duration = Duration::from_secs(1);
/// No screen shows markers faster [Hz].
const MARKER_RATE_MAX: f64 = 30.0;

/// QoS of `joint_states` and of everything that a controller must not miss.
pub(super) fn reliable(depth: usize) -> QosProfile {
    QosProfile {
        history: HistoryPolicy::KeepLast,
        depth,
        reliability: ReliabilityPolicy::Reliable,
        durability: DurabilityPolicy::Volatile,
        ..QosProfile::default()
    }
}

/// All publishers, and the messages that they reuse.
pub(super) struct Publishers {
    name: String,
    world_frame: String,
    clock: Option<Publisher<Clock>>,
    world: WorldTopics,
    /// Topics of worlds to come; they are here before the first parcel of their world.
    worlds: Receiver<WorldTopics>,
    external_efforts: Vec<f64>,
    contact_patches: PublisherUntyped,
    #[cfg(isobar_gazebo)]
    contacts: Publisher<r2r::ros_gz_interfaces::msg::Contacts>,
    patch_bytes: Vec<u8>,
    diagnostics_topic: Publisher<DiagnosticArray>,
    diagnostics: Diagnostics,
    diagnosed_at: Instant,
    rosout: Publisher<Log>,
    lines: Option<Receiver<Line>>,
    heard_at: Instant,
    #[cfg(isobar_tf2)]
    tf: Option<Publisher<r2r::tf2_msgs::msg::TFMessage>>,
    markers: Publisher<MarkerArray>,
    marker_writer: MarkerWriter,
    marker_message: MarkerArray,
    markers_at: Option<Instant>,
    /// Whether the newest state's markers were left out, as they would have come too soon.
    markers_owed: bool,
    last_time_ns: u64,
    failures: Throttle,
}

/// What is published of any world.
pub(super) struct PublishPlan {
    pub(super) world_frame: String,
    pub(super) clock: bool,
    pub(super) tf: bool,
}

impl Publishers {
    /// Declares the topics that do not depend on the world; `world` has the others, and `worlds` those of later worlds.
    pub(super) fn new(
        node: &mut Node,
        plan: PublishPlan,
        world: WorldTopics,
        worlds: Receiver<WorldTopics>,
    ) -> r2r::Result<Self> {
        let clock_qos = QosProfile { reliability: ReliabilityPolicy::BestEffort, ..reliable(1) };
        let clock = if plan.clock { Some(node.create_publisher("/clock", clock_qos)?) } else { None };
        if cfg!(not(isobar_tf2)) && plan.tf && !world.scene.free_bodies().is_empty() {
            tracing::warn!("/tf is missing: tf2_msgs was not installed when this node was built; see ~/pose/<body>");
        }
        let mut publishers = Self {
            name: node.name()?,
            world_frame: plan.world_frame,
            clock,
            world,
            worlds,
            external_efforts: Vec::new(),
            contact_patches: node.create_publisher_untyped(
                "~/contact_patches",
                "sensor_msgs/msg/PointCloud2",
                reliable(1),
            )?,
            #[cfg(isobar_gazebo)]
            contacts: node.create_publisher("~/contacts", reliable(1))?,
            patch_bytes: Vec::new(),
            diagnostics_topic: node.create_publisher("/diagnostics", reliable(10))?,
            diagnostics: Diagnostics::default(),
            diagnosed_at: Instant::now(),
            rosout: node.create_publisher("/rosout", reliable(1000))?,
            lines: take_lines(),
            heard_at: Instant::now(),
            #[cfg(isobar_tf2)]
            tf: if plan.tf { Some(node.create_publisher("/tf", reliable(100))?) } else { None },
            markers: node.create_publisher("~/contact_markers", reliable(1))?,
            marker_writer: MarkerWriter::default(),
            marker_message: MarkerArray::default(),
            markers_at: None,
            markers_owed: false,
            last_time_ns: 0,
            failures: Throttle::default(),
        };
        publishers.marker_writer.restart();
        Ok(publishers)
    }

    /// Publishes what arrives until the simulation's end of the queue is gone.
    pub(super) fn run(&mut self, parcels: &ParcelReceiver, mailbox: &Mailbox) {
        // A queue that took a parcel has room for it on the way back.
        let give_back = |parcel| drop(parcels.spare.try_send(parcel));
        let mut newest: Option<Box<Parcel>> = None;
        loop {
            match parcels.filled.recv_timeout(LOG_PERIOD) {
                Ok(parcel) => {
                    self.heard_at = Instant::now();
                    self.enter(parcel.world, mailbox);
                    self.publish(&parcel, &mailbox.settings());
                    newest.replace(parcel).map(give_back);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.heard_at.elapsed() >= CLOCK_REPEAT {
                        self.heard_at = Instant::now();
                        self.publish_clock(self.last_time_ns);
                    }
                    // What stands still is shown as it stands.
                    if let Some(parcel) = newest.as_ref().filter(|_| self.markers_owed) {
                        self.publish_markers(&parcel.snapshot, &mailbox.settings());
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

    /// Changes over to the topics of the world of that number.
    fn enter(&mut self, number: u64, mailbox: &Mailbox) {
        while self.world.number < number {
            let Ok(world) = self.worlds.try_recv() else {
                debug_assert!(false, "the topics of a world are sent before it is simulated");
                return;
            };
            self.world = world;
            self.marker_writer.restart();
            mailbox.world_published(self.world.number);
        }
    }

    fn publish_log(&mut self) {
        let Some(lines) = &self.lines else { return };
        while let Ok(Line { level, text }) = lines.try_recv() {
            // A zero would end the text on its way through C.
            let msg = text.replace('\0', "?");
            let log = Log { stamp: system_time(), level, name: self.name.clone(), msg, ..Log::default() };
            // A failure would log a line, and so on for ever.
            let _ = self.rosout.publish(&log);
        }
    }

    fn publish_diagnostics(&mut self, mailbox: &Mailbox) {
        let Some(health) = mailbox.health() else { return };
        let wanted = mailbox.settings().real_time_factor;
        let message = self.diagnostics.message(&self.name, &health, mailbox, wanted);
        note_failure(&mut self.failures, self.diagnostics_topic.publish(&message));
    }

    /// What is felt and seen first, then the state, then the clock: who answers a state or waits for a time finds what belongs to it.
    fn publish(&mut self, parcel: &Parcel, settings: &RunSettings) {
        let Parcel { due, snapshot, .. } = parcel;
        if due.joint_states {
            self.publish_external_torques(snapshot);
        }
        if due.wrenches {
            self.publish_wrenches(snapshot, &parcel.sensors);
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
        if let Some(recorder) = self.world.recorder.as_mut().filter(|_| !parcel.repeat) {
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
                values.extend(topic.joints.iter().filter_map(|joint| of_all.get(*joint)));
            }
            note_failure(&mut self.failures, topic.publisher.publish(&topic.message));
        }
    }

    fn publish_external_torques(&mut self, snapshot: &Snapshot) {
        if has_subscribers(self.world.external.publisher.get_inter_process_subscription_count()) {
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
        for (topic, F_B) in self.world.sensors.iter().zip(measured) {
            let header = messages::header(snapshot.time_ns, &topic.frame);
            // In the axes of its body already.
            let wrench = messages::wrench_in_body(F_B, &RigidTransform::identity());
            note_failure(&mut self.failures, topic.publisher.publish(&WrenchStamped { header, wrench }));
        }
    }

    fn publish_contact_patches(&mut self, snapshot: &Snapshot) {
        #[cfg(isobar_gazebo)]
        if has_subscribers(self.contacts.get_inter_process_subscription_count()) {
            let message = super::gazebo::contacts(snapshot, &self.world.scene, &self.world_frame);
            note_failure(&mut self.failures, self.contacts.publish(&message));
        }
        if !has_subscribers(self.contact_patches.get_inter_process_subscription_count()) {
            return;
        }
        self.patch_bytes.clear();
        write_contact_patches(&mut self.patch_bytes, snapshot, &self.world_frame, &self.world.pairs);
        note_failure(&mut self.failures, self.contact_patches.publish_raw(&self.patch_bytes));
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
        let transforms = self
            .world
            .poses
            .iter()
            .filter_map(|topic| {
                Some(r2r::geometry_msgs::msg::TransformStamped {
                    header: messages::header(snapshot.time_ns, &self.world_frame),
                    child_frame_id: topic.frame.clone(),
                    transform: messages::transform(snapshot.X_WB.get(topic.body)?),
                })
            })
            .collect();
        note_failure(&mut self.failures, tf.publish(&r2r::tf2_msgs::msg::TFMessage { transforms }));
    }

    fn publish_outputs(&mut self) {
        for (topic, value) in self.world.output_topics.iter().zip(self.world.outputs.values()) {
            note_failure(&mut self.failures, topic.publish(&Float64 { data: *value }));
        }
    }

    /// Markers are for eyes: at most 30 a second, none without a subscriber.
    fn publish_markers(&mut self, snapshot: &Snapshot, settings: &RunSettings) {
        let rate = settings.marker_rate.min(MARKER_RATE_MAX);
        let now = Instant::now();
        let early = |at: Instant| now.duration_since(at).as_secs_f64() * rate < 1.0;
        self.markers_owed = rate > 0.0 && self.markers_at.is_some_and(early);
        if rate <= 0.0 || self.markers_owed {
            return;
        }
        self.markers_at = Some(now);
        if !has_subscribers(self.markers.get_inter_process_subscription_count()) {
            self.marker_writer.restart();
            return;
        }
        let (names, message) = (&self.world.geometry_names, &mut self.marker_message);
        self.marker_writer.write(snapshot, names, &self.world_frame, settings.marker_pressure_max, message);
        note_failure(&mut self.failures, self.markers.publish(message));
    }
}

fn note_failure(failures: &mut Throttle, sent: r2r::Result<()>) {
    if let Err(error) = sent
        && let Some(kept_back) = failures.due(Instant::now())
    {
        tracing::warn!("a message could not be published: {error}{}", and_more(kept_back));
    }
}

/// Whether anyone listens; who cannot be asked counts as nobody.
fn has_subscribers(count: r2r::Result<usize>) -> bool {
    matches!(count, Ok(1..))
}
