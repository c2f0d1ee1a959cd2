//! The topics of a world: those of its joints, bodies, outputs and sensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::names;
use crate::recording::Outputs;
use crate::ros::client::interfaces::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use crate::ros::client::interfaces::sensor_msgs::msg::JointState;
use crate::ros::client::interfaces::std_msgs::msg::{Float64, String as Text};
use crate::ros::client::interfaces::visualization_msgs::msg::MarkerArray;

use crate::io::bag::{ContactPairs, description_topics};
use crate::io::scene_file::JointGroup;
use crate::math::{BodyIndex, GeometryIndex, IndexVec, JointIndex};
use crate::ros::client::interfaces::Message;
use crate::ros::client::{ClientError, Node, Publisher, Qos};
use crate::ros::recording::recorder::Recorder;
use crate::scene::Scene;
use crate::stepping::JointPaths;

/// A topic that belongs to a body.
pub(crate) struct BodyTopic<T: Message> {
    pub(crate) body: BodyIndex,
    pub(crate) frame: String,
    pub(crate) publisher: Publisher<T>,
}

/// Joint states of some joints.
pub(crate) struct JointTopic {
    pub(crate) joints: Vec<usize>,
    pub(crate) message: JointState,
    pub(crate) publisher: Publisher<JointState>,
}

/// The parts of a scene that are published.
pub(crate) struct TopicPlan {
    pub(crate) outputs: Outputs,
    /// Joints with a force-torque sensor.
    pub(crate) force_torque: Vec<JointIndex>,
    /// Models with topics of their own, and the prefixes of these.
    pub(crate) namespaces: Vec<(String, JointGroup)>,
    /// Topics of the URDF texts, and the texts.
    pub(crate) descriptions: Vec<(String, String)>,
    /// The markers of tables, objects and tools.
    pub(crate) scene_markers: MarkerArray,
}

/// The topics of the models' URDF texts, if requested, with the texts.
pub(crate) fn descriptions(wanted: bool, models: &[(String, String)]) -> Vec<(String, String)> {
    let topics = description_topics(models.iter().map(|(model, _)| model.as_str()));
    let named = topics.into_iter().zip(models).map(|(topic, (_, urdf))| (topic, urdf.clone()));
    named.filter(|_| wanted).collect()
}

/// The publishers of one world, and the data of the world that they need.
pub(crate) struct WorldTopics {
    /// The number of the world.
    pub(crate) number: u64,
    pub(crate) scene: Arc<Scene>,
    pub(crate) joint_states: Vec<JointTopic>,
    pub(crate) external: JointTopic,
    pub(crate) paths: JointPaths,
    pub(crate) sensors: Vec<BodyTopic<WrenchStamped>>,
    pub(crate) pairs: ContactPairs,
    pub(crate) wrenches: Vec<BodyTopic<WrenchStamped>>,
    pub(crate) poses: Vec<BodyTopic<PoseStamped>>,
    pub(crate) outputs: Outputs,
    pub(crate) output_topics: Vec<Publisher<Float64>>,
    pub(crate) geometry_names: IndexVec<GeometryIndex, String>,
    /// Messages that are published once.
    texts: Vec<(Publisher<Text>, Text)>,
    /// Set before the world is published, if it is recorded.
    pub(crate) recorder: Option<Recorder>,
    pub(crate) scene_markers: MarkerArray,
}

impl WorldTopics {
    /// The topics of `scene`. Publishers of topics that the previous world also had are reused. Nothing is
    /// published yet.
    ///
    /// # Errors
    /// ROS refuses a topic; the topics created before it are removed.
    pub(crate) fn new(
        node: &mut Node,
        publishers: &mut PublisherPool,
        number: u64,
        scene: &Arc<Scene>,
        plan: TopicPlan,
    ) -> Result<Self, ClientError> {
        let made = Self::declare(node, publishers, number, scene, plan);
        if made.is_err() {
            publishers.forget(number);
        }
        made
    }

    fn declare(
        node: &mut Node,
        publishers: &mut PublisherPool,
        number: u64,
        scene: &Arc<Scene>,
        plan: TopicPlan,
    ) -> Result<Self, ClientError> {
        publishers.number = number;
        let wrenches = body_topics(node, scene, scene.contact_bodies(), "~/wrench/", &mut publishers.wrenches, number)?;
        let poses = body_topics(node, scene, scene.free_bodies(), "~/pose/", &mut publishers.poses, number)?;
        let names = plan.outputs.outputs().iter().map(|output| output.name.as_str());
        let output_topics = names::topic_parts(names)
            .iter()
            .map(|name| publishers.numbers.publisher(node, number, &format!("~/output/{name}"), Qos::Reliable(10)))
            .collect::<Result<Vec<_>, ClientError>>()?;
        let everything = JointGroup {
            model: String::new(),
            joints: (0..scene.joints().len()).collect(),
            names: scene.joint_names().to_vec(),
        };
        let mut joint_topic = |group: &JointGroup, topic: &str| {
            let message = JointState { name: group.names.clone(), ..JointState::default() };
            let publisher = publishers.joints.publisher(node, number, topic, Qos::Reliable(10))?;
            Ok::<_, ClientError>(JointTopic { joints: group.joints.clone(), message, publisher })
        };
        let mut joint_states = vec![joint_topic(&everything, "joint_states")?];
        for (prefix, group) in &plan.namespaces {
            joint_states.push(joint_topic(group, &format!("{prefix}joint_states"))?);
        }
        let external = joint_topic(&everything, "~/external_joint_torques")?;
        let pairs = ContactPairs::new(scene);
        let latched_texts = [("~/contact_pairs".to_owned(), pairs.to_json())].into_iter().chain(plan.descriptions);
        let texts = latched_texts
            .map(|(topic, data)| {
                // A NUL character would end the text in C, and the client library panics at it.
                let data = data.replace('\0', "?");
                Ok((publishers.texts.publisher(node, number, &topic, Qos::Latched)?, Text { data }))
            })
            .collect::<Result<Vec<_>, ClientError>>()?;
        Ok(Self {
            number,
            joint_states,
            external,
            paths: JointPaths::new(scene.model()),
            sensors: sensor_topics(node, scene, &plan.force_torque, &mut publishers.wrenches, number)?,
            pairs,
            wrenches,
            poses,
            outputs: plan.outputs,
            output_topics,
            geometry_names: scene.geometries().iter().map(|geometry| geometry.name.clone()).collect(),
            scene_markers: plan.scene_markers,
            texts,
            recorder: None,
            scene: scene.clone(),
        })
    }

    /// Publishes the texts, which stay valid while the world exists.
    pub(crate) fn publish_texts(&self) {
        for (publisher, text) in &self.texts {
            if let Err(error) = publisher.publish(text) {
                tracing::warn!("a text could not be published: {error}");
            }
        }
    }
}

/// A publisher, the world that it was made for, and the last world that uses it.
struct PooledPublisher<T: Message> {
    made: u64,
    used: u64,
    publisher: Publisher<T>,
}

/// Publishers of one type by topic.
struct PublishersByTopic<T: Message>(BTreeMap<String, PooledPublisher<T>>);

impl<T: Message + 'static> PublishersByTopic<T> {
    fn publisher(&mut self, node: &mut Node, world: u64, topic: &str, qos: Qos) -> Result<Publisher<T>, ClientError> {
        if let Some(pooled) = self.0.get_mut(topic) {
            pooled.used = world;
            return Ok(pooled.publisher.clone());
        }
        let publisher = node.publisher(topic, qos)?;
        self.0.insert(topic.to_owned(), PooledPublisher { made: world, used: world, publisher: publisher.clone() });
        Ok(publisher)
    }

    /// Drops the publishers that the world does not use; those in use elsewhere end later.
    fn keep_used(&mut self, world: u64) {
        self.0.retain(|_, pooled| pooled.used >= world);
    }

    /// Drops the publishers that were made for a world that is not entered.
    fn forget(&mut self, world: u64) {
        self.0.retain(|_, pooled| pooled.made < world);
        self.0.values_mut().for_each(|pooled| pooled.used = pooled.used.min(world.saturating_sub(1)));
    }
}

/// Publishers of all worlds, so that a topic of two worlds continues without interruption.
pub(crate) struct PublisherPool {
    number: u64,
    joints: PublishersByTopic<JointState>,
    wrenches: PublishersByTopic<WrenchStamped>,
    poses: PublishersByTopic<PoseStamped>,
    numbers: PublishersByTopic<Float64>,
    texts: PublishersByTopic<Text>,
}

impl PublisherPool {
    pub(crate) fn new() -> Self {
        Self {
            number: 0,
            joints: PublishersByTopic(BTreeMap::new()),
            wrenches: PublishersByTopic(BTreeMap::new()),
            poses: PublishersByTopic(BTreeMap::new()),
            numbers: PublishersByTopic(BTreeMap::new()),
            texts: PublishersByTopic(BTreeMap::new()),
        }
    }

    /// Drops the publishers that the newest world does not use. Call it once that world is published.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) fn keep_used(&mut self) {
        self.joints.keep_used(self.number);
        self.wrenches.keep_used(self.number);
        self.poses.keep_used(self.number);
        self.numbers.keep_used(self.number);
        self.texts.keep_used(self.number);
    }

    /// Drops the publishers that were made for the world with that number, which is not entered.
    pub(crate) fn forget(&mut self, world: u64) {
        self.joints.forget(world);
        self.wrenches.forget(world);
        self.poses.forget(world);
        self.numbers.forget(world);
        self.texts.forget(world);
        self.number = world.saturating_sub(1);
    }
}

fn body_topics<T: Message + 'static>(
    node: &mut Node,
    scene: &Scene,
    bodies: &[BodyIndex],
    prefix: &str,
    publishers: &mut PublishersByTopic<T>,
    world: u64,
) -> Result<Vec<BodyTopic<T>>, ClientError> {
    let parts = names::topic_parts(bodies.iter().map(|body| scene.body_name(*body)));
    bodies
        .iter()
        .zip(parts)
        .map(|(&body, part)| {
            let publisher = publishers.publisher(node, world, &format!("{prefix}{part}"), Qos::Reliable(10))?;
            Ok(BodyTopic { body, frame: scene.body_name(body).to_owned(), publisher })
        })
        .collect()
}

fn sensor_topics(
    node: &mut Node,
    scene: &Scene,
    joints: &[JointIndex],
    publishers: &mut PublishersByTopic<WrenchStamped>,
    world: u64,
) -> Result<Vec<BodyTopic<WrenchStamped>>, ClientError> {
    let model = scene.model();
    let parts = names::topic_parts(joints.iter().map(|joint| model.joints()[*joint].name.as_str()));
    joints
        .iter()
        .zip(parts)
        .map(|(joint, part)| {
            let body = model.joints()[*joint].child;
            let publisher = publishers.publisher(node, world, &format!("~/force_torque/{part}"), Qos::Reliable(10))?;
            Ok(BodyTopic { body, frame: scene.body_name(body).to_owned(), publisher })
        })
        .collect()
}
