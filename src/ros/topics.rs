//! The topics of a world: those of its joints, bodies, outputs and sensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use r2r::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use r2r::qos::{DurabilityPolicy, QosProfile};
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::{Float64, String as Text};
use r2r::{Node, Publisher, WrappedTypesupport};

use super::publish::reliable;
use super::recorder::Recorder;
use crate::io::bag::{ContactPairs, description_topics};
use crate::io::outputs::Outputs;
use crate::io::scene_file::JointGroup;
use crate::io::topic_names;
use crate::math::{BodyIndex, GeometryIndex, IndexVec, JointIndex};
use crate::scene::Scene;
use crate::stepping::JointPaths;

/// A topic that belongs to a body.
pub(super) struct BodyTopic<T: WrappedTypesupport> {
    pub(super) body: BodyIndex,
    pub(super) frame: String,
    pub(super) publisher: Publisher<T>,
}

/// Joint states of some joints.
pub(super) struct JointTopic {
    pub(super) joints: Vec<usize>,
    pub(super) message: JointState,
    pub(super) publisher: Publisher<JointState>,
}

/// What is published of a scene.
pub(super) struct TopicPlan {
    pub(super) outputs: Outputs,
    /// Joints with a force-torque sensor.
    pub(super) force_torque: Vec<JointIndex>,
    /// Models with topics of their own.
    pub(super) namespaces: Vec<JointGroup>,
    pub(super) recorder: Option<Recorder>,
    /// Topics of URDF texts, and the texts.
    pub(super) descriptions: Vec<(String, String)>,
}

/// The topics of the models' URDF texts, if they are wanted, with the texts.
pub(super) fn descriptions(wanted: bool, models: &[(String, String)]) -> Vec<(String, String)> {
    let topics = description_topics(models.iter().map(|(model, _)| model.as_str()));
    let named = topics.into_iter().zip(models).map(|(topic, (_, urdf))| (topic, urdf.clone()));
    named.filter(|_| wanted).collect()
}

/// The publishers of one world, and what they need of it.
pub(super) struct WorldTopics {
    /// Which world it is.
    pub(super) number: u64,
    pub(super) scene: Arc<Scene>,
    pub(super) joint_states: Vec<JointTopic>,
    pub(super) external: JointTopic,
    pub(super) paths: JointPaths,
    pub(super) sensors: Vec<BodyTopic<WrenchStamped>>,
    pub(super) pairs: ContactPairs,
    pub(super) wrenches: Vec<BodyTopic<WrenchStamped>>,
    pub(super) poses: Vec<BodyTopic<PoseStamped>>,
    pub(super) outputs: Outputs,
    pub(super) output_topics: Vec<Publisher<Float64>>,
    pub(super) geometry_names: IndexVec<GeometryIndex, String>,
    pub(super) recorder: Option<Recorder>,
}

impl WorldTopics {
    /// The topics of `scene`; those that the world before had, too, stay as they are.
    pub(super) fn new(
        node: &mut Node,
        kept: &mut Kept,
        number: u64,
        scene: &Arc<Scene>,
        plan: TopicPlan,
    ) -> r2r::Result<Self> {
        let latched = QosProfile { durability: DurabilityPolicy::TransientLocal, ..reliable(1) };
        kept.number = number;
        let wrenches = body_topics(node, scene, scene.contact_bodies(), "~/wrench/", &mut kept.wrenches, number)?;
        let poses = body_topics(node, scene, scene.free_bodies(), "~/pose/", &mut kept.poses, number)?;
        let names = plan.outputs.outputs().iter().map(|output| output.name.as_str());
        let output_topics = topic_names::topic_parts(names)
            .iter()
            .map(|name| kept.numbers.publisher(node, number, &format!("~/output/{name}"), reliable(10)))
            .collect::<r2r::Result<Vec<_>>>()?;
        let everything = JointGroup {
            model: String::new(),
            joints: (0..scene.joints().len()).collect(),
            names: scene.joint_names().to_vec(),
        };
        let mut joint_topic = |group: &JointGroup, topic: &str| {
            let message = JointState { name: group.names.clone(), ..JointState::default() };
            let publisher = kept.joints.publisher(node, number, topic, reliable(10))?;
            r2r::Result::Ok(JointTopic { joints: group.joints.clone(), message, publisher })
        };
        let mut joint_states = vec![joint_topic(&everything, "joint_states")?];
        let parts = topic_names::topic_parts(plan.namespaces.iter().map(|group| group.model.as_str()));
        for (group, part) in plan.namespaces.iter().zip(parts) {
            joint_states.push(joint_topic(group, &format!("{part}/joint_states"))?);
        }
        let external = joint_topic(&everything, "~/external_joint_torques")?;
        let pairs = ContactPairs::new(scene);
        let latched_texts = [("~/contact_pairs".to_owned(), pairs.to_json())].into_iter().chain(plan.descriptions);
        for (topic, data) in latched_texts {
            kept.texts.publisher(node, number, &topic, latched.clone())?.publish(&Text { data })?;
        }
        Ok(Self {
            number,
            joint_states,
            external,
            paths: JointPaths::new(scene.model()),
            sensors: sensor_topics(node, scene, &plan.force_torque, &mut kept.wrenches, number)?,
            pairs,
            wrenches,
            poses,
            outputs: plan.outputs,
            output_topics,
            geometry_names: scene.geometries().iter().map(|geometry| geometry.name.clone()).collect(),
            recorder: plan.recorder,
            scene: scene.clone(),
        })
    }
}

/// Publishers of one type by topic, each with the last world that uses it.
struct KeptTopics<T: WrappedTypesupport>(BTreeMap<String, (u64, Publisher<T>)>);

impl<T: WrappedTypesupport + 'static> KeptTopics<T> {
    fn publisher(&mut self, node: &mut Node, world: u64, topic: &str, qos: QosProfile) -> r2r::Result<Publisher<T>> {
        if let Some((used, publisher)) = self.0.get_mut(topic) {
            *used = world;
            return Ok(publisher.clone());
        }
        let publisher = node.create_publisher::<T>(topic, qos)?;
        self.0.insert(topic.to_owned(), (world, publisher.clone()));
        Ok(publisher)
    }

    fn destroy_unused(&mut self, node: &mut Node, world: u64) {
        let (used, unused) = std::mem::take(&mut self.0).into_iter().partition(|(_, (last, _))| *last >= world);
        self.0 = used;
        let unused: BTreeMap<String, (u64, Publisher<T>)> = unused;
        for (_, (_, publisher)) in unused {
            node.destroy_publisher(publisher);
        }
    }
}

/// The publishers that the worlds share, whose topics then go on without a gap.
pub(super) struct Kept {
    number: u64,
    joints: KeptTopics<JointState>,
    wrenches: KeptTopics<WrenchStamped>,
    poses: KeptTopics<PoseStamped>,
    numbers: KeptTopics<Float64>,
    texts: KeptTopics<Text>,
}

impl Kept {
    pub(super) fn new() -> Self {
        Self {
            number: 0,
            joints: KeptTopics(BTreeMap::new()),
            wrenches: KeptTopics(BTreeMap::new()),
            poses: KeptTopics(BTreeMap::new()),
            numbers: KeptTopics(BTreeMap::new()),
            texts: KeptTopics(BTreeMap::new()),
        }
    }

    /// Takes down the topics that the newest world does not have. Call it when that world is published.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) fn destroy_unused(&mut self, node: &mut Node) {
        self.joints.destroy_unused(node, self.number);
        self.wrenches.destroy_unused(node, self.number);
        self.poses.destroy_unused(node, self.number);
        self.numbers.destroy_unused(node, self.number);
        self.texts.destroy_unused(node, self.number);
    }
}

fn body_topics<T: WrappedTypesupport + 'static>(
    node: &mut Node,
    scene: &Scene,
    bodies: &[BodyIndex],
    prefix: &str,
    kept: &mut KeptTopics<T>,
    world: u64,
) -> r2r::Result<Vec<BodyTopic<T>>> {
    let parts = topic_names::topic_parts(bodies.iter().map(|body| scene.body_name(*body)));
    bodies
        .iter()
        .zip(parts)
        .map(|(&body, part)| {
            let publisher = kept.publisher(node, world, &format!("{prefix}{part}"), reliable(10))?;
            Ok(BodyTopic { body, frame: scene.body_name(body).to_owned(), publisher })
        })
        .collect()
}

fn sensor_topics(
    node: &mut Node,
    scene: &Scene,
    joints: &[JointIndex],
    kept: &mut KeptTopics<WrenchStamped>,
    world: u64,
) -> r2r::Result<Vec<BodyTopic<WrenchStamped>>> {
    let model = scene.model();
    let parts = topic_names::topic_parts(joints.iter().map(|joint| model.joints()[*joint].name.as_str()));
    joints
        .iter()
        .zip(parts)
        .map(|(joint, part)| {
            let body = model.joints()[*joint].child;
            let publisher = kept.publisher(node, world, &format!("~/force_torque/{part}"), reliable(10))?;
            Ok(BodyTopic { body, frame: scene.body_name(body).to_owned(), publisher })
        })
        .collect()
}
