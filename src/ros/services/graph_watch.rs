//! Faults of the ROS graph that ROS does not report: another node of the same name, and publishers of
//! commands whose messages do not arrive.

use std::time::{Duration, Instant};

use crate::ros::client::{ClientError, Node, RemotePublisher};

/// The time between two checks of the graph.
const PERIOD: Duration = Duration::from_secs(1);
/// Every node has a publisher on this topic.
const EVERY_NODE: &str = "/parameter_events";

/// A fault, which is reported when it appears.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// Several nodes have the name of this one.
    SameName,
    /// The messages of a best-effort publisher do not reach a reliable subscription.
    BestEffort { topic: String, node: String },
}

/// The faults that are known.
pub(crate) struct GraphWatch {
    looked_at: Instant,
    name: String,
    namespace: String,
    /// The topics that arguments rename: the old and the new full name of each.
    renamed: Vec<(String, String)>,
    known: Vec<Fault>,
}

impl GraphWatch {
    pub(crate) fn new(node: &Node) -> Result<Self, ClientError> {
        let (name, namespace) = (node.fully_qualified_name()?, node.namespace()?);
        let renamed = node.renamed_topics(std::env::args())?;
        Ok(Self { looked_at: Instant::now(), name, namespace, renamed, known: Vec::new() })
    }

    /// Checks the graph once per period, and logs new faults. `topics` are the names of the command topics
    /// without the namespace.
    pub(crate) fn look(&mut self, node: &Node, topics: impl Iterator<Item = String>) {
        if self.looked_at.elapsed() < PERIOD {
            return;
        }
        self.looked_at = Instant::now();
        // After a failure, for example while the node ends, the next check tries again.
        let publishers = |topic: &str| node.publishers_of(topic).unwrap_or_default();
        let mut found = faults_of_name(&self.name, &publishers(EVERY_NODE));
        let commands = topics.map(|topic| format!("{}/{topic}", self.namespace.trim_end_matches('/')));
        for full in commands.chain([format!("{}/apply_wrench", self.name)]) {
            let renamed = self.renamed.iter().find(|(from, _)| *from == full);
            let topic = renamed.map_or(full, |(_, to)| to.clone());
            found.extend(faults_of_topic(&topic, &publishers(&topic)));
        }
        for fault in found.iter().filter(|fault| !self.known.contains(fault)) {
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
            }
        }
        self.known = found;
    }
}

fn faults_of_name(own: &str, publishers: &[RemotePublisher]) -> Vec<Fault> {
    let same = publishers.iter().filter(|publisher| publisher.node == own).count();
    if same > 1 { vec![Fault::SameName] } else { Vec::new() }
}

fn faults_of_topic(topic: &str, publishers: &[RemotePublisher]) -> Vec<Fault> {
    let unheard = publishers.iter().filter(|publisher| !publisher.reliable);
    unheard.map(|publisher| Fault::BestEffort { topic: topic.to_owned(), node: publisher.node.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_nodes_of_one_name_and_unheard_publishers_are_faults() {
        let publisher = |node: &str, reliable| RemotePublisher { node: node.to_owned(), reliable };
        let all = [publisher("/isobar", true), publisher("/arm/isobar", true)];
        assert_eq!(faults_of_name("/isobar", &all), []);
        assert_eq!(
            faults_of_name("/isobar", &[publisher("/isobar", true), publisher("/isobar", true)]),
            [Fault::SameName]
        );
        let both = [publisher("/loud", true), publisher("/quiet", false)];
        let expected = Fault::BestEffort { topic: "/joint_commands".to_owned(), node: "/quiet".to_owned() };
        assert_eq!(faults_of_topic("/joint_commands", &both), [expected]);
    }
}
