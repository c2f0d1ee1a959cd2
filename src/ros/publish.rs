//! Snapshots become messages on topics, in a thread of their own.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use r2r::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use r2r::qos::{DurabilityPolicy, HistoryPolicy, ReliabilityPolicy};
use r2r::rosgraph_msgs::msg::Clock;
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::{Float64, String as Text};
use r2r::visualization_msgs::msg::MarkerArray;
use r2r::{Node, Publisher, QosProfile};

use super::exchange::{Mailbox, Parcel, ParcelReceiver, RunSettings};
use super::markers::MarkerWriter;
use super::messages;
use super::names;
use super::throttle::{Throttle, and_more};
use crate::io::outputs::Outputs;
use crate::math::{BodyIndex, GeometryIndex, IndexVec};
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// While nothing happens the clock is repeated, so that whoever comes late knows the time.
const CLOCK_REPEAT: Duration = Duration::from_millis(200);
/// No screen shows markers faster [Hz].
const MARKER_RATE_MAX: f64 = 30.0;

/// QoS of `joint_states` and of everything that a controller must not miss.
fn reliable(depth: usize) -> QosProfile {
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

/// All publishers, and the messages that they reuse.
pub(super) struct Publishers {
    world_frame: String,
    clock: Option<Publisher<Clock>>,
    joint_states: Publisher<JointState>,
    joint_message: JointState,
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
}

impl Publishers {
    /// Declares the topics of `scene` on `node`.
    pub(super) fn new(node: &mut Node, scene: &Scene, plan: PublishPlan) -> r2r::Result<Self> {
        let clock_qos = QosProfile { reliability: ReliabilityPolicy::BestEffort, ..reliable(1) };
        let clock = if plan.clock { Some(node.create_publisher("/clock", clock_qos)?) } else { None };
        let contact = scene.contact_bodies();
        let wrenches = body_topics(node, scene, contact, "~/wrench/", |_| reliable(10))?;
        let poses = body_topics(node, scene, scene.free_bodies(), "~/pose/", |_| reliable(10))?;
        let names = plan.outputs.outputs().iter().map(|output| output.name.as_str());
        let output_topics = names::topic_parts(names)
            .iter()
            .map(|name| node.create_publisher(&format!("~/output/{name}"), reliable(10)))
            .collect::<r2r::Result<Vec<_>>>()?;
        let joint_message = JointState { name: scene.joint_names().to_vec(), ..JointState::default() };
        let mut publishers = Self {
            world_frame: plan.world_frame,
            clock,
            joint_states: node.create_publisher("joint_states", reliable(10))?,
            joint_message,
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
            match parcels.filled.recv_timeout(CLOCK_REPEAT) {
                Ok(parcel) => {
                    self.publish(&parcel, &mailbox.settings());
                    // A queue that took the parcel has room for it on the way back.
                    let _ = parcels.spare.try_send(parcel);
                }
                Err(RecvTimeoutError::Timeout) => self.publish_clock(self.last_time_ns),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// The state first, then the clock: who waits for a time finds the state of that time.
    fn publish(&mut self, parcel: &Parcel, settings: &RunSettings) {
        let Parcel { due, snapshot } = parcel;
        if due.joint_states {
            self.publish_joint_states(snapshot);
        }
        if due.wrenches {
            self.publish_wrenches(snapshot);
        }
        if due.poses {
            self.publish_poses(snapshot);
        }
        if due.outputs {
            self.publish_outputs(snapshot);
        }
        self.publish_markers(snapshot, settings);
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
        let message = &mut self.joint_message;
        message.header.stamp = messages::time(snapshot.time_ns);
        message.position.clone_from(&snapshot.joint_position);
        message.velocity.clone_from(&snapshot.joint_velocity);
        message.effort.clone_from(&snapshot.joint_effort);
        note_failure(&mut self.failures, self.joint_states.publish(message));
    }

    fn publish_wrenches(&mut self, snapshot: &Snapshot) {
        for topic in &self.wrenches {
            let (Some(F_BBo_W), Some(X_WB)) = (snapshot.F_BBo_W.get(topic.body), snapshot.X_WB.get(topic.body)) else {
                continue;
            };
            let header = messages::header(snapshot.time_ns, &topic.frame);
            let message = WrenchStamped { header, wrench: messages::wrench_in_body(F_BBo_W, X_WB) };
            note_failure(&mut self.failures, topic.publisher.publish(&message));
        }
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

    fn publish_outputs(&mut self, snapshot: &Snapshot) {
        let values = self.outputs.evaluate(snapshot);
        for (topic, value) in self.output_topics.iter().zip(values) {
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
        if !matches!(self.markers.get_inter_process_subscription_count(), Ok(1..)) {
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
    let parts = names::topic_parts(bodies.iter().map(|body| scene.body_name(*body)));
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

/// Latched publishers of the robots' URDF texts; they serve late joiners for as long as the node lives.
pub(super) fn publish_descriptions(node: &mut Node, descriptions: &[(String, String)]) -> r2r::Result<()> {
    let qos = QosProfile { durability: DurabilityPolicy::TransientLocal, ..reliable(1) };
    let parts = names::topic_parts(descriptions.iter().map(|(model, _)| model.as_str()));
    for (number, ((_, urdf), part)) in descriptions.iter().zip(parts).enumerate() {
        let topic = if number == 0 { "robot_description".to_owned() } else { format!("{part}/robot_description") };
        node.create_publisher::<Text>(&topic, qos.clone())?.publish(&Text { data: urdf.clone() })?;
    }
    Ok(())
}
