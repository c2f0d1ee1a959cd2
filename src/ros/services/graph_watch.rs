//! Faults of the ROS graph that ROS does not report: another node of the same name, publishers of commands
//! whose messages do not arrive, and other publishers of the states that this node publishes.

use std::time::{Duration, Instant};

use crate::ros::client::{ClientError, NAME_UNKNOWN, Node, RemotePublisher};
use crate::ros::subscriptions::controllers::COMMAND_TOPICS;

/// The time between two checks of the graph.
const PERIOD: Duration = Duration::from_secs(1);
/// A publisher without a name is reported after this number of checks. The name of its node arrives
/// separately, and never if the publisher belongs to no ROS node.
const CHECKS_WITHOUT_NAME: u32 = 5;
/// Every node has a publisher on this topic.
const EVERY_NODE: &str = "/parameter_events";

/// A fault, which is reported when it appears.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// Several nodes have the name of this one.
    SameName,
    /// The messages of a best-effort publisher do not reach a reliable subscription.
    BestEffort { topic: String, node: String },
    /// Messages of another type do not reach a subscription.
    OtherType { topic: String, node: String, found: String, wanted: &'static str },
    /// Subscribers of a topic of this node also receive the messages of another one.
    SecondSource { topic: String, node: String },
}

/// The faults that are known.
pub(crate) struct GraphWatch {
    looked_at: Instant,
    name: String,
    namespace: String,
    /// The topics that arguments rename: the old and the new full name of each.
    renamed: Vec<(String, String)>,
    /// The faults of the last check, each with the checks in which it was found without a break.
    known: Vec<(Fault, u32)>,
}

impl GraphWatch {
    pub(crate) fn new(node: &Node) -> Result<Self, ClientError> {
        let (name, namespace) = (node.fully_qualified_name()?, node.namespace()?);
        let renamed = node.renamed_topics(std::env::args())?;
        Ok(Self { looked_at: Instant::now(), name, namespace, renamed, known: Vec::new() })
    }

    /// Checks the graph once per period, and logs new faults. `prefixes` are those of the topics of
    /// controllers, without the namespace.
    pub(crate) fn check<'a>(&mut self, node: &Node, prefixes: impl Iterator<Item = &'a str>) {
        if self.looked_at.elapsed() < PERIOD {
            return;
        }
        self.looked_at = Instant::now();
        // After a failure, for example while the node ends, the next check tries again.
        let publishers = |topic: &str| node.publishers_of(topic).unwrap_or_default();
        let mut found = faults_of_name(&self.name, &publishers(EVERY_NODE));
        let mut commands = vec![(format!("{}/apply_wrench", self.name), "geometry_msgs/msg/WrenchStamped")];
        let mut states = vec!["/clock".to_owned()];
        for prefix in prefixes {
            let full = |topic: &str| format!("{}/{prefix}{topic}", self.namespace.trim_end_matches('/'));
            commands.extend(COMMAND_TOPICS.map(|(topic, wanted)| (full(topic), wanted)));
            states.push(full("joint_states"));
        }
        for (full, wanted) in commands {
            let topic = self.new_name(full);
            found.extend(faults_of_topic(&topic, wanted, &publishers(&topic)));
        }
        for full in states {
            let topic = self.new_name(full);
            found.extend(second_sources(&self.name, &topic, &publishers(&topic)));
        }
        self.known = counted(&self.known, found);
        let new = self.known.iter().filter(|(fault, checks)| *checks == checks_until_reported(fault));
        new.for_each(|(fault, _)| self.report(fault));
    }

    /// The name under which a topic is in the graph.
    fn new_name(&self, full: String) -> String {
        let renamed = self.renamed.iter().find(|(from, _)| *from == full);
        renamed.map_or(full, |(_, to)| to.clone())
    }

    fn report(&self, fault: &Fault) {
        match fault {
            Fault::SameName => tracing::warn!(
                "another node is called {}, too, or was killed less than 20 s ago: its services, parameters and topics \
                 cannot be distinguished from those of this one. If it runs, end one of them, or start it with --ros-args \
                 -r __ns:=/NAMESPACE or -r __node:=NAME",
                self.name
            ),
            Fault::BestEffort { topic, node } => tracing::warn!(
                "messages of {node} on {topic} do not arrive: its publisher is best-effort, and commands are taken from \
                 reliable publishers only. Create it with the reliability policy RELIABLE"
            ),
            Fault::OtherType { topic, node, found, wanted } => tracing::warn!(
                "messages of {node} on {topic} do not arrive: they are {found}, and this topic takes {wanted}"
            ),
            Fault::SecondSource { topic, node } => tracing::warn!(
                "{node} publishes {topic}, too: subscribers receive its messages between those of {}. End one of the two, \
                 rename the topic of one with --ros-args -r {topic}:=NAME, or use two ROS domains (ROS_DOMAIN_ID)",
                self.name
            ),
        }
    }
}

/// The faults that were found, each with its number of checks without a break.
fn counted(known: &[(Fault, u32)], found: Vec<Fault>) -> Vec<(Fault, u32)> {
    let before = |fault: &Fault| known.iter().find(|(known, _)| known == fault).map_or(0, |(_, checks)| *checks);
    let mut counted: Vec<(Fault, u32)> = Vec::with_capacity(found.len());
    for fault in found {
        if counted.iter().all(|(other, _)| *other != fault) {
            let checks = before(&fault).saturating_add(1);
            counted.push((fault, checks));
        }
    }
    counted
}

fn checks_until_reported(fault: &Fault) -> u32 {
    match fault {
        Fault::SameName => 1,
        Fault::BestEffort { node, .. } | Fault::OtherType { node, .. } | Fault::SecondSource { node, .. } => {
            if node.ends_with(NAME_UNKNOWN) { CHECKS_WITHOUT_NAME } else { 1 }
        }
    }
}

fn faults_of_name(own: &str, publishers: &[RemotePublisher]) -> Vec<Fault> {
    let same = publishers.iter().filter(|publisher| publisher.node == own).count();
    if same > 1 { vec![Fault::SameName] } else { Vec::new() }
}

/// Publishers of commands that are not heard; messages on `topic` have the type `wanted`.
fn faults_of_topic(topic: &str, wanted: &'static str, publishers: &[RemotePublisher]) -> Vec<Fault> {
    let fault = |publisher: &RemotePublisher| {
        let (topic, node) = (topic.to_owned(), publisher.node.clone());
        match publisher {
            RemotePublisher { message_type, .. } if message_type != wanted => {
                Some(Fault::OtherType { topic, node, found: message_type.clone(), wanted })
            }
            RemotePublisher { reliable: false, .. } => Some(Fault::BestEffort { topic, node }),
            _ => None,
        }
    };
    publishers.iter().filter_map(fault).collect()
}

/// Other publishers of a topic that the node `own` publishes. A node of the same name is another fault.
fn second_sources(own: &str, topic: &str, publishers: &[RemotePublisher]) -> Vec<Fault> {
    if publishers.iter().all(|publisher| publisher.node != own) {
        return Vec::new();
    }
    let others = publishers.iter().filter(|publisher| publisher.node != own);
    others.map(|publisher| Fault::SecondSource { topic: topic.to_owned(), node: publisher.node.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "sensor_msgs/msg/JointState";

    fn publisher(node: &str, reliable: bool) -> RemotePublisher {
        RemotePublisher { node: node.to_owned(), reliable, message_type: COMMAND.to_owned() }
    }

    #[test]
    fn two_nodes_of_one_name_and_unheard_publishers_are_faults() {
        let all = [publisher("/isobar", true), publisher("/arm/isobar", true)];
        assert_eq!(faults_of_name("/isobar", &all), []);
        assert_eq!(
            faults_of_name("/isobar", &[publisher("/isobar", true), publisher("/isobar", true)]),
            [Fault::SameName]
        );
        let both = [publisher("/loud", true), publisher("/quiet", false)];
        let (topic, node) = ("/joint_commands".to_owned(), "/quiet".to_owned());
        assert_eq!(faults_of_topic(&topic, COMMAND, &both), [Fault::BestEffort { topic: topic.clone(), node }]);
        let wanted = "trajectory_msgs/msg/JointTrajectory";
        let (node, found) = ("/loud".to_owned(), COMMAND.to_owned());
        assert_eq!(
            faults_of_topic(&topic, wanted, &both[..1]),
            [Fault::OtherType { topic: topic.clone(), node, found, wanted }]
        );
    }

    /// The name of a node may arrive a second after its publishers.
    #[test]
    fn a_publisher_is_reported_once_and_by_its_name() {
        let fault = |node: &str| Fault::BestEffort { topic: "/joint_commands".to_owned(), node: node.to_owned() };
        let unknown = fault(NAME_UNKNOWN);
        let mut known = Vec::new();
        let mut reports = |found: &Fault| {
            known = counted(&known, vec![found.clone(), found.clone()]);
            known.iter().filter(|(fault, checks)| *checks == checks_until_reported(fault)).count()
        };
        let named = fault("/quiet");
        assert_eq!([&unknown, &named, &named].map(&mut reports), [0, 1, 0]);
        assert_eq!([&unknown; 6].map(&mut reports), [0, 0, 0, 0, 1, 0], "no node of ROS");
    }

    #[test]
    fn another_publisher_of_the_states_is_a_fault() {
        let (own, other) = (publisher("/isobar", true), publisher("/player", false));
        let topic = "/clock".to_owned();
        assert_eq!(second_sources("/isobar", &topic, &[publisher("/isobar", true)]), []);
        assert_eq!(second_sources("/isobar", &topic, &[publisher("/player", true)]), [], "this one has no clock");
        let node = "/player".to_owned();
        assert_eq!(second_sources("/isobar", &topic, &[own, other]), [Fault::SecondSource { topic, node }]);
    }
}
