//! Snapshots become messages on topics, in a thread of their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use r2r::diagnostic_msgs::msg::DiagnosticArray;
use r2r::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use r2r::qos::{DurabilityPolicy, HistoryPolicy, ReliabilityPolicy};
use r2r::rcl_interfaces::msg::Log;
use r2r::rosgraph_msgs::msg::Clock;
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::{Float64, String as Text};
use r2r::visualization_msgs::msg::MarkerArray;
use r2r::{Node, Publisher, PublisherUntyped, QosProfile};

use super::diagnostics::Diagnostics;
use super::exchange::{Mailbox, RunSettings};
use super::log::{Line, take_lines};
use super::markers::MarkerWriter;
use super::messages;
use super::parameter_services::system_time;
use super::parcels::{Parcel, ParcelReceiver};
use super::recorder::Recorder;
use super::throttle::{Throttle, and_more};
use crate::io::bag::{ContactPairs, description_topics, write_contact_patches};
use crate::io::outputs::Outputs;
use crate::io::scene_file::JointGroup;
use crate::io::topic_names;
use crate::math::{BodyIndex, GeometryIndex, IndexVec, JointIndex, RigidTransform, SpatialForce};
use crate::scene::Scene;
use crate::stepping::{JointPaths, Snapshot};

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

/// A topic that belongs to a body.
struct BodyTopic<T: r2r::WrappedTypesupport> {
    body: BodyIndex,
    frame: String,
    publisher: Publisher<T>,
}

/// Joint states of some joints.
struct JointTopic {
    joints: Vec<usize>,
    message: JointState,
    publisher: Publisher<JointState>,
}

/// All publishers, and the messages that they reuse.
pub(super) struct Publishers {
    name: String,
    scene: Arc<Scene>,
    world_frame: String,
    clock: Option<Publisher<Clock>>,
    joint_states: Vec<JointTopic>,
    external: JointTopic,
    paths: JointPaths,
    external_efforts: Vec<f64>,
    sensors: Vec<BodyTopic<WrenchStamped>>,
    pairs: ContactPairs,
    contact_patches: PublisherUntyped,
    /// Serves who comes late.
    _contact_pairs: Publisher<Text>,
    patch_bytes: Vec<u8>,
    recorder: Option<Recorder>,
    diagnostics_topic: Publisher<DiagnosticArray>,
    diagnostics: Diagnostics,
    diagnosed_at: Instant,
    rosout: Publisher<Log>,
    lines: Option<Receiver<Line>>,
    heard_at: Instant,
    wrenches: Vec<BodyTopic<WrenchStamped>>,
    poses: Vec<BodyTopic<PoseStamped>>,
    #[cfg(isobar_tf2)]
    tf: Option<Publisher<r2r::tf2_msgs::msg::TFMessage>>,
    outputs: Outputs,
    output_topics: Vec<Publisher<Float64>>,
    markers: Publisher<MarkerArray>,
    marker_writer: MarkerWriter,
    marker_message: MarkerArray,
    geometry_names: IndexVec<GeometryIndex, String>,
    markers_at: Option<Instant>,
    last_time_ns: u64,
    failures: Throttle,
}

/// What is published of a scene.
pub(super) struct PublishPlan {
    pub(super) world_frame: String,
    pub(super) clock: bool,
    pub(super) tf: bool,
    pub(super) outputs: Outputs,
    /// Joints with a force-torque sensor.
    pub(super) force_torque: Vec<JointIndex>,
    /// Models with topics of their own.
    pub(super) namespaces: Vec<JointGroup>,
    pub(super) recorder: Option<Recorder>,
}

impl Publishers {
    /// Declares the topics of `scene` on `node`.
    pub(super) fn new(node: &mut Node, scene: &Arc<Scene>, plan: PublishPlan) -> r2r::Result<Self> {
        let clock_qos = QosProfile { reliability: ReliabilityPolicy::BestEffort, ..reliable(1) };
        let latched = QosProfile { durability: DurabilityPolicy::TransientLocal, ..reliable(1) };
        let clock = if plan.clock { Some(node.create_publisher("/clock", clock_qos)?) } else { None };
        let contact = scene.contact_bodies();
        let wrenches = body_topics(node, scene, contact, "~/wrench/", |_| reliable(10))?;
        let poses = body_topics(node, scene, scene.free_bodies(), "~/pose/", |_| reliable(10))?;
        let names = plan.outputs.outputs().iter().map(|output| output.name.as_str());
        let output_topics = topic_names::topic_parts(names)
            .iter()
            .map(|name| node.create_publisher(&format!("~/output/{name}"), reliable(10)))
            .collect::<r2r::Result<Vec<_>>>()?;
        let everything = JointGroup {
            model: String::new(),
            joints: (0..scene.joints().len()).collect(),
            names: scene.joint_names().to_vec(),
        };
        let mut joint_states = vec![JointTopic::new(node, &everything, "joint_states")?];
        let parts = topic_names::topic_parts(plan.namespaces.iter().map(|group| group.model.as_str()));
        for (group, part) in plan.namespaces.iter().zip(parts) {
            joint_states.push(JointTopic::new(node, group, &format!("{part}/joint_states"))?);
        }
        let pairs = ContactPairs::new(scene);
        let contact_pairs: Publisher<Text> = node.create_publisher("~/contact_pairs", latched)?;
        contact_pairs.publish(&Text { data: pairs.to_json() })?;
        let mut publishers = Self {
            name: node.name()?,
            world_frame: plan.world_frame,
            clock,
            joint_states,
            external: JointTopic::new(node, &everything, "~/external_joint_torques")?,
            paths: JointPaths::new(scene.model()),
            external_efforts: Vec::new(),
            sensors: sensor_topics(node, scene, &plan.force_torque)?,
            pairs,
            contact_patches: node.create_publisher_untyped(
                "~/contact_patches",
                "sensor_msgs/msg/PointCloud2",
                reliable(1),
            )?,
            _contact_pairs: contact_pairs,
            patch_bytes: Vec::new(),
            recorder: plan.recorder,
            diagnostics_topic: node.create_publisher("/diagnostics", reliable(10))?,
            diagnostics: Diagnostics::default(),
            diagnosed_at: Instant::now(),
            rosout: node.create_publisher("/rosout", reliable(1000))?,
            lines: take_lines(),
            heard_at: Instant::now(),
            wrenches,
            poses,
            #[cfg(isobar_tf2)]
            tf: if plan.tf { Some(node.create_publisher("/tf", reliable(100))?) } else { None },
            outputs: plan.outputs,
            output_topics,
            markers: node.create_publisher("~/contact_markers", reliable(1))?,
            marker_writer: MarkerWriter::default(),
            marker_message: MarkerArray::default(),
            geometry_names: scene.geometries().iter().map(|geometry| geometry.name.clone()).collect(),
            markers_at: None,
            last_time_ns: 0,
            failures: Throttle::default(),
            scene: scene.clone(),
        };
        publishers.marker_writer.restart();
        if cfg!(not(isobar_tf2)) && plan.tf && !scene.free_bodies().is_empty() {
            tracing::warn!("/tf is missing: tf2_msgs was not installed when this node was built; see ~/pose/<body>");
        }
        Ok(publishers)
    }

    /// Publishes what arrives until the simulation's end of the queue is gone.
    pub(super) fn run(&mut self, parcels: &ParcelReceiver, mailbox: &Mailbox) {
        loop {
            match parcels.filled.recv_timeout(LOG_PERIOD) {
                Ok(parcel) => {
                    self.heard_at = Instant::now();
                    self.publish(&parcel, &mailbox.settings());
                    // A queue that took the parcel has room for it on the way back.
                    let _ = parcels.spare.try_send(parcel);
                }
                Err(RecvTimeoutError::Timeout) if self.heard_at.elapsed() >= CLOCK_REPEAT => {
                    self.heard_at = Instant::now();
                    self.publish_clock(self.last_time_ns);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.publish_log();
            if self.diagnosed_at.elapsed() >= DIAGNOSTICS_PERIOD {
                self.diagnosed_at = Instant::now();
                self.publish_diagnostics(mailbox);
            }
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

    /// The state first, then the clock: who waits for a time finds the state of that time.
    fn publish(&mut self, parcel: &Parcel, settings: &RunSettings) {
        let Parcel { due, snapshot, .. } = parcel;
        if due.joint_states {
            self.publish_joint_states(snapshot);
        }
        if due.wrenches {
            self.publish_wrenches(snapshot, &parcel.sensors);
        }
        if due.poses {
            self.publish_poses(snapshot);
        }
        if due.outputs || self.recorder.is_some() {
            self.outputs.evaluate(snapshot);
        }
        if due.outputs {
            self.publish_outputs();
        }
        if due.contact_patches {
            self.publish_contact_patches(snapshot);
        }
        self.publish_markers(snapshot, settings);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !parcel.repeat) {
            recorder.record(*due, snapshot, self.outputs.values());
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
        for topic in &mut self.joint_states {
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
        if has_subscribers(self.external.publisher.get_inter_process_subscription_count()) {
            let Self { paths, scene, external_efforts, external, .. } = self;
            paths.contact_efforts(scene, &snapshot.X_WB, &snapshot.F_BBo_W, external_efforts);
            external.message.header.stamp = stamp;
            external.message.effort.clone_from(external_efforts);
            note_failure(&mut self.failures, self.external.publisher.publish(&self.external.message));
        }
    }

    fn publish_wrenches(&mut self, snapshot: &Snapshot, measured: &[SpatialForce]) {
        for topic in &self.wrenches {
            let (Some(F_BBo_W), Some(X_WB)) = (snapshot.F_BBo_W.get(topic.body), snapshot.X_WB.get(topic.body)) else {
                continue;
            };
            let header = messages::header(snapshot.time_ns, &topic.frame);
            let message = WrenchStamped { header, wrench: messages::wrench_in_body(F_BBo_W, X_WB) };
            note_failure(&mut self.failures, topic.publisher.publish(&message));
        }
        for (topic, F_B) in self.sensors.iter().zip(measured) {
            let header = messages::header(snapshot.time_ns, &topic.frame);
            // In the axes of its body already.
            let wrench = messages::wrench_in_body(F_B, &RigidTransform::identity());
            note_failure(&mut self.failures, topic.publisher.publish(&WrenchStamped { header, wrench }));
        }
    }

    fn publish_contact_patches(&mut self, snapshot: &Snapshot) {
        if !has_subscribers(self.contact_patches.get_inter_process_subscription_count()) {
            return;
        }
        self.patch_bytes.clear();
        write_contact_patches(&mut self.patch_bytes, snapshot, &self.world_frame, &self.pairs);
        note_failure(&mut self.failures, self.contact_patches.publish_raw(&self.patch_bytes));
    }

    fn publish_poses(&mut self, snapshot: &Snapshot) {
        for topic in &self.poses {
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
        let Some(tf) = self.tf.as_ref().filter(|_| !self.poses.is_empty()) else { return };
        let transforms = self
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
        for (topic, value) in self.output_topics.iter().zip(self.outputs.values()) {
            note_failure(&mut self.failures, topic.publish(&Float64 { data: *value }));
        }
    }

    /// Markers are for eyes: at most 30 a second, none without a subscriber.
    fn publish_markers(&mut self, snapshot: &Snapshot, settings: &RunSettings) {
        let rate = settings.marker_rate.min(MARKER_RATE_MAX);
        let now = Instant::now();
        let early = |at: Instant| now.duration_since(at).as_secs_f64() * rate < 1.0;
        if rate <= 0.0 || self.markers_at.is_some_and(early) {
            return;
        }
        self.markers_at = Some(now);
        if !has_subscribers(self.markers.get_inter_process_subscription_count()) {
            self.marker_writer.restart();
            return;
        }
        let (names, message) = (&self.geometry_names, &mut self.marker_message);
        self.marker_writer.write(snapshot, names, &self.world_frame, settings.marker_pressure_max, message);
        note_failure(&mut self.failures, self.markers.publish(message));
    }
}

fn body_topics<T: r2r::WrappedTypesupport + 'static>(
    node: &mut Node,
    scene: &Scene,
    bodies: &[BodyIndex],
    prefix: &str,
    qos: impl Fn(BodyIndex) -> QosProfile,
) -> r2r::Result<Vec<BodyTopic<T>>> {
    let parts = topic_names::topic_parts(bodies.iter().map(|body| scene.body_name(*body)));
    bodies
        .iter()
        .zip(parts)
        .map(|(&body, part)| {
            let publisher = node.create_publisher(&format!("{prefix}{part}"), qos(body))?;
            Ok(BodyTopic { body, frame: scene.body_name(body).to_owned(), publisher })
        })
        .collect()
}

fn note_failure(failures: &mut Throttle, sent: r2r::Result<()>) {
    if let Err(error) = sent
        && let Some(kept_back) = failures.due(Instant::now())
    {
        tracing::warn!("a message could not be published: {error}{}", and_more(kept_back));
    }
}

fn sensor_topics(node: &mut Node, scene: &Scene, joints: &[JointIndex]) -> r2r::Result<Vec<BodyTopic<WrenchStamped>>> {
    let model = scene.model();
    let parts = topic_names::topic_parts(joints.iter().map(|joint| model.joints()[*joint].name.as_str()));
    joints
        .iter()
        .zip(parts)
        .map(|(joint, part)| {
            let body = model.joints()[*joint].child;
            let publisher = node.create_publisher(&format!("~/force_torque/{part}"), reliable(10))?;
            Ok(BodyTopic { body, frame: scene.body_name(body).to_owned(), publisher })
        })
        .collect()
}

impl JointTopic {
    fn new(node: &mut Node, group: &JointGroup, topic: &str) -> r2r::Result<Self> {
        let message = JointState { name: group.names.clone(), ..JointState::default() };
        Ok(Self { joints: group.joints.clone(), message, publisher: node.create_publisher(topic, reliable(10))? })
    }
}

/// Whether anyone listens; who cannot be asked counts as nobody.
fn has_subscribers(count: r2r::Result<usize>) -> bool {
    matches!(count, Ok(1..))
}

/// Latched publishers of the robots' URDF texts; they serve late joiners for as long as the node lives.
pub(super) fn publish_descriptions(node: &mut Node, descriptions: &[(String, String)]) -> r2r::Result<()> {
    let qos = QosProfile { durability: DurabilityPolicy::TransientLocal, ..reliable(1) };
    let topics = description_topics(descriptions.iter().map(|(model, _)| model.as_str()));
    for ((_, urdf), topic) in descriptions.iter().zip(topics) {
        node.create_publisher::<Text>(&topic, qos.clone())?.publish(&Text { data: urdf.clone() })?;
    }
    Ok(())
}
