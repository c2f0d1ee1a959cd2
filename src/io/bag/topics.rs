//! The topics of a bag, and the messages of a snapshot for each.

use super::encode;
use super::point_cloud::{ContactPairs, write_contact_patches};
use super::schemas::MessageType;
use super::static_transforms::{StaticTransform, static_transforms};
use crate::math::{BodyIndex, Index, IndexVec};
use crate::names::topic_parts;
use crate::recording::{Due, Output, Outputs, PushedBodies};
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// A topic of a bag.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its full name.
    pub name: String,
    /// Its type.
    pub message: MessageType,
    /// The number of messages that a publisher keeps.
    pub depth: usize,
    /// Whether messages may be lost in transit.
    pub best_effort: bool,
    /// Whether a late subscriber gets the last message.
    pub latched: bool,
}

/// The contents of a bag and their names.
#[derive(Clone, Debug)]
pub struct BagPlan {
    /// The node's full name, in front of its private topics, as in `/isobar`.
    pub node: String,
    /// The namespace in front of relative topics; empty for the root, else as in `/arm`.
    pub namespace: String,
    /// Frame of poses, transforms and contact patches.
    pub world_frame: String,
    /// Rules that rename topics: the full name, and the full name that takes its place.
    pub renamed: Vec<(String, String)>,
}

impl Default for BagPlan {
    fn default() -> Self {
        Self {
            node: "/isobar".to_owned(),
            namespace: String::new(),
            world_frame: "world".to_owned(),
            renamed: Vec::new(),
        }
    }
}

/// A message of a batch: the index of its topic, and its end in the batch's bytes.
type Entry = (usize, usize);

/// Messages of one instant.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Simulated time \[ns\].
    pub time_ns: u64,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Batch {
    /// The messages: the index of the topic, and the bytes.
    pub fn messages(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let starts = std::iter::once(0).chain(self.entries.iter().map(|(_, end)| *end));
        starts.zip(&self.entries).map(|(start, (topic, end))| (*topic, &self.bytes[start..*end]))
    }

    /// Empties the batch and sets its time to `time_ns`.
    pub fn restart(&mut self, time_ns: u64) {
        self.time_ns = time_ns;
        self.bytes.clear();
        self.entries.clear();
    }

    fn push(&mut self, topic: usize, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.entries.push((topic, self.bytes.len()));
    }
}

/// A topic of a body.
#[derive(Debug)]
struct BodyTopic {
    body: BodyIndex,
    name: String,
    topic: usize,
}

/// Makes the messages of snapshots.
#[derive(Debug)]
pub struct BagEncoder {
    topics: Vec<Topic>,
    world_frame: String,
    joint_names: Vec<String>,
    pairs: ContactPairs,
    wrenches: Vec<BodyTopic>,
    body_names: Vec<String>,
    external_wrench: usize,
    pushed: PushedBodies,
    poses: Vec<BodyTopic>,
    outputs: Vec<usize>,
    descriptions: Vec<(usize, String)>,
    clock: usize,
    joint_states: usize,
    tf: usize,
    tf_static: usize,
    static_transforms: Vec<StaticTransform>,
    contact_patches: usize,
    contact_pairs: usize,
}

impl BagEncoder {
    /// The topics of `scene` under the names of `plan`; `descriptions` are names and URDF texts of its
    /// models.
    pub fn new(scene: &Scene, outputs: &Outputs, descriptions: &[(String, String)], plan: &BagPlan) -> Self {
        let BagPlan { node, namespace, world_frame, renamed } = plan;
        let mut topics = Vec::new();
        let mut add = |name: String, message, depth| {
            let latched = message == MessageType::String || name == "/tf_static";
            let best_effort = message == MessageType::Clock;
            let rule = renamed.iter().find(|(from, _)| *from == name);
            let name = rule.map_or(name, |(_, to)| to.clone());
            topics.push(Topic { name, message, depth, best_effort, latched });
            topics.len() - 1
        };
        let clock = add("/clock".to_owned(), MessageType::Clock, 1);
        let joint_states = add(format!("{namespace}/joint_states"), MessageType::JointState, 10);
        let tf = add("/tf".to_owned(), MessageType::TfMessage, 100);
        let tf_static = add("/tf_static".to_owned(), MessageType::TfMessage, 1);
        let contact_patches = add(format!("{node}/contact_patches"), MessageType::PointCloud2, 1);
        let contact_pairs = add(format!("{node}/contact_pairs"), MessageType::String, 1);
        let mut bodies = |bodies: &[BodyIndex], kind: &str, message| {
            let parts = topic_parts(bodies.iter().map(|body| scene.body_name(*body)));
            let topics = bodies.iter().zip(parts).map(|(&body, part)| {
                let topic = add(format!("{node}/{kind}/{part}"), message, 10);
                BodyTopic { body, name: scene.body_name(body).to_owned(), topic }
            });
            topics.collect::<Vec<_>>()
        };
        let wrenches = bodies(scene.contact_bodies(), "wrench", MessageType::WrenchStamped);
        let poses = bodies(scene.free_bodies(), "pose", MessageType::PoseStamped);
        let external_wrench = add(format!("{node}/external_wrench"), MessageType::WrenchStamped, 10);
        let body_names = scene.model().bodies().iter().map(|body| body.name.clone()).collect();
        let names = |output: &Output| output.name.clone();
        let names: Vec<String> = outputs.outputs().iter().map(names).collect();
        let outputs = topic_parts(names.iter().map(String::as_str))
            .into_iter()
            .map(|part| add(format!("{node}/output/{part}"), MessageType::Float64, 10))
            .collect();
        let descriptions = description_topics(descriptions.iter().map(|(model, _)| model.as_str()))
            .into_iter()
            .zip(descriptions)
            .map(|(name, (_, urdf))| (add(format!("{namespace}/{name}"), MessageType::String, 1), urdf.clone()))
            .collect();
        Self {
            topics,
            world_frame: world_frame.clone(),
            joint_names: scene.joint_names().to_vec(),
            pairs: ContactPairs::new(scene),
            wrenches,
            body_names,
            external_wrench,
            pushed: PushedBodies::default(),
            poses,
            outputs,
            descriptions,
            clock,
            joint_states,
            tf,
            tf_static,
            static_transforms: static_transforms(scene, world_frame),
            contact_patches,
            contact_pairs,
        }
    }

    /// The topics.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// Appends the constant messages: the robots' descriptions, the list of contact pairs, and the transforms
    /// of welded models.
    pub fn latched(&self, batch: &mut Batch) {
        let ns = batch.time_ns;
        let welds = self.static_transforms.iter().map(|weld| (weld.parent.as_str(), weld.child.as_str(), &weld.X_PC));
        batch.push(self.tf_static, |buffer| encode::transforms(buffer, ns, welds));
        for (topic, urdf) in &self.descriptions {
            batch.push(*topic, |buffer| encode::text(buffer, urdf));
        }
        batch.push(self.contact_pairs, |buffer| encode::text(buffer, &self.pairs.to_json()));
    }

    /// Appends the due messages of `snapshot`, with the clock last; `outputs` are the values of the scene's
    /// outputs.
    pub fn write(&mut self, due: Due, snapshot: &Snapshot, outputs: &[f64], batch: &mut Batch) {
        let ns = snapshot.time_ns;
        if due.joint_states {
            let values =
                [&snapshot.joint_position, &snapshot.joint_velocity, &snapshot.joint_effort].map(IndexVec::as_slice);
            batch.push(self.joint_states, |buffer| encode::joint_states(buffer, ns, &self.joint_names, values));
        }
        if due.wrenches {
            for BodyTopic { body, name, topic } in &self.wrenches {
                if let (Some(F_BBo_W), Some(X_WB)) = (snapshot.F_BBo_W.get(*body), snapshot.X_WB.get(*body)) {
                    batch.push(*topic, |buffer| encode::wrench(buffer, ns, name, F_BBo_W, X_WB));
                }
            }
            for (body, F_BBo_W, X_WB) in self.pushed.select(snapshot) {
                if let Some(name) = self.body_names.get(body.to_usize()) {
                    batch.push(self.external_wrench, |buffer| encode::wrench(buffer, ns, name, F_BBo_W, X_WB));
                }
            }
        }
        if due.poses {
            self.write_poses(snapshot, batch);
        }
        if due.outputs {
            for (topic, value) in self.outputs.iter().zip(outputs) {
                batch.push(*topic, |buffer| encode::number(buffer, *value));
            }
        }
        if due.contact_patches {
            batch.push(self.contact_patches, |buffer| {
                write_contact_patches(buffer, snapshot, &self.world_frame, &self.pairs);
            });
        }
        if due.clock {
            batch.push(self.clock, |buffer| encode::clock(buffer, ns));
        }
    }

    fn write_poses(&self, snapshot: &Snapshot, batch: &mut Batch) {
        let ns = snapshot.time_ns;
        for BodyTopic { body, topic, .. } in &self.poses {
            if let Some(X_WB) = snapshot.X_WB.get(*body) {
                batch.push(*topic, |buffer| encode::pose(buffer, ns, &self.world_frame, X_WB));
            }
        }
        if !self.poses.is_empty() && !snapshot.X_WB.is_empty() {
            let world = self.world_frame.as_str();
            let bodies = self.poses.iter().map(|pose| (world, pose.name.as_str(), &snapshot.X_WB[pose.body]));
            batch.push(self.tf, |buffer| encode::transforms(buffer, ns, bodies));
        }
    }
}

/// Topics of the models' URDF texts: the first is plain, the others are in the namespace of their model.
pub fn description_topics<'a>(models: impl Iterator<Item = &'a str>) -> Vec<String> {
    let parts = topic_parts(models);
    let name = |(number, part): (usize, String)| {
        if number == 0 { "robot_description".to_owned() } else { format!("{part}/robot_description") }
    };
    parts.into_iter().enumerate().map(name).collect()
}
