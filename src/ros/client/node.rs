//! The node of the client library: publishers, subscriptions, spinning.

use std::pin::Pin;
use std::sync::PoisonError;
use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt};
use r2r::qos::{DurabilityPolicy, HistoryPolicy, QosProfile, ReliabilityPolicy};

use super::endpoints::{Endpoints, InUse};
use super::environment;
use super::error::{ClientError, guarded, reason_of};
use super::interfaces::{Message, ServiceType};
use super::parameter_value::ParameterValue;
use super::remap::renamed_topics;
use super::service::Service;

/// The number of messages that a subscription keeps until they are taken: a message to each of many joints
/// may come at once, and none of them may be lost.
const MESSAGES_KEPT: usize = 1000;

fn refused(kind: &'static str, name: &str) -> impl FnOnce(r2r::Error) -> ClientError {
    move |reason| ClientError::Endpoint { kind, name: name.to_owned(), reason }
}

/// The end of the name of a node that is not known yet, though a publisher of it is.
pub(crate) const NAME_UNKNOWN: &str = "/_NODE_NAME_UNKNOWN_";

/// A publisher of a topic, as listed in the ROS graph.
pub(crate) struct RemotePublisher {
    /// The name of its node with the namespace.
    pub(crate) node: String,
    /// Whether it is reliable.
    pub(crate) reliable: bool,
    /// The type of its messages, as in `std_msgs/msg/String`.
    pub(crate) message_type: String,
}

/// The retention of a topic's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Qos {
    /// This many of the newest messages, until each subscriber has them.
    Reliable(usize),
    /// The newest message, sent once.
    BestEffort,
    /// The newest message, also for subscribers that come later.
    Latched,
    /// The log lines of the last 10 s, also for subscribers that come later, as in other ROS nodes.
    Log,
}

impl From<Qos> for QosProfile {
    fn from(qos: Qos) -> Self {
        if qos == Qos::Log {
            let lifespan = std::time::Duration::from_secs(10);
            return Self { lifespan, ..Self::from(Qos::Latched) }.keep_last(1000);
        }
        let (depth, reliability, durability) = match qos {
            Qos::Reliable(depth) => (depth, ReliabilityPolicy::Reliable, DurabilityPolicy::Volatile),
            Qos::BestEffort => (1, ReliabilityPolicy::BestEffort, DurabilityPolicy::Volatile),
            Qos::Latched | Qos::Log => (1, ReliabilityPolicy::Reliable, DurabilityPolicy::TransientLocal),
        };
        Self { history: HistoryPolicy::KeepLast, depth, reliability, durability, ..Self::default() }
    }
}

/// Calls `create`, which panics at arguments that ROS 2 refuses; the panic becomes an error.
fn without_panic<T>(create: impl FnOnce() -> r2r::Result<T>) -> Result<T, ClientError> {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let created = std::panic::catch_unwind(std::panic::AssertUnwindSafe(create));
    std::panic::set_hook(report);
    let reason = match created {
        Ok(created) => return Ok(created?),
        Err(reason) => reason,
    };
    Err(ClientError::Arguments(reason_of(&*reason)))
}

/// The ROS node. Its topics and services end some spins after their last clone is dropped.
pub(crate) struct Node {
    node: r2r::Node,
    endpoints: Endpoints,
}

impl Node {
    /// Starts the node `name`; arguments of the process may rename it.
    ///
    /// # Errors
    /// Arguments that ROS 2 refuses, or a fault of the environment.
    pub(crate) fn create(name: &str) -> Result<Self, ClientError> {
        super::arguments::check(std::env::args_os())?;
        let node = without_panic(|| r2r::Node::create(r2r::Context::create()?, name, "")).map_err(|error| {
            let fault = environment::fault(|name| std::env::var(name).ok(), environment::takes_files);
            fault.map_or(error, ClientError::Environment)
        })?;
        Ok(Self { node, endpoints: Endpoints::default() })
    }

    /// Its name without the namespace.
    pub(crate) fn name(&self) -> Result<String, ClientError> {
        Ok(self.node.name()?)
    }

    /// Its fully qualified name: the namespace, then the name.
    pub(crate) fn fully_qualified_name(&self) -> Result<String, ClientError> {
        Ok(self.node.fully_qualified_name()?)
    }

    /// Its namespace; `/` means none.
    pub(crate) fn namespace(&self) -> Result<String, ClientError> {
        Ok(self.node.namespace()?)
    }

    /// The topics that `arguments`, those of the process, rename: the old and the new full name of each.
    pub(crate) fn renamed_topics(
        &self,
        arguments: impl Iterator<Item = String>,
    ) -> Result<Vec<(String, String)>, ClientError> {
        Ok(renamed_topics(arguments, &self.name()?, &self.namespace()?))
    }

    /// The parameters that the process was started with.
    pub(crate) fn initial_parameters(&self) -> Vec<(String, ParameterValue)> {
        let given = self.node.params.lock().unwrap_or_else(PoisonError::into_inner);
        given.iter().map(|(name, parameter)| (name.clone(), (&parameter.value).into())).collect()
    }

    /// Declares a topic.
    pub(crate) fn publisher<T: Message + 'static>(
        &mut self,
        topic: &str,
        qos: Qos,
    ) -> Result<Publisher<T>, ClientError> {
        let publisher = self.node.create_publisher(topic, qos.into()).map_err(refused("topic", topic))?;
        let used = self.endpoints.publisher(&publisher);
        Ok(Publisher { publisher, _used: used })
    }

    /// Declares a topic whose messages of type `package/msg/Name` are already serialized.
    pub(crate) fn serialized_publisher(
        &mut self,
        topic: &str,
        message_type: &str,
        qos: Qos,
    ) -> Result<SerializedPublisher, ClientError> {
        let publisher = self.node.create_publisher_untyped(topic, message_type, qos.into());
        Ok(SerializedPublisher(publisher.map_err(refused("topic", topic))?))
    }

    /// Subscribes to a topic. Up to [`MESSAGES_KEPT`] messages wait to be taken.
    pub(crate) fn subscribe<T: Message + Send + 'static>(
        &mut self,
        topic: &str,
    ) -> Result<Subscription<T>, ClientError> {
        let qos = QosProfile { depth: MESSAGES_KEPT, ..QosProfile::default() };
        let messages = Box::pin(self.node.subscribe(topic, qos).map_err(refused("topic", topic))?);
        Ok(Subscription { messages, _used: self.endpoints.subscription::<T>(topic) })
    }

    /// Offers a service. It keeps up to a thousand requests while the node is busy.
    pub(crate) fn service<S: ServiceType + 'static>(&mut self, name: &str) -> Result<Service<S>, ClientError> {
        let requests = self.node.create_service(name, QosProfile::services_default().keep_last(1000));
        let requests = requests.map_err(refused("service", name))?;
        Ok(Service::new(requests, self.endpoints.service::<S>(name)))
    }

    /// The publishers of the topic with the full name `name`.
    pub(crate) fn publishers_of(&self, name: &str) -> Result<Vec<RemotePublisher>, ClientError> {
        let known = self.node.get_publishers_info_by_topic(name, false)?;
        let publishers = known.into_iter().map(|info| RemotePublisher {
            node: format!("{}/{}", info.node_namespace.trim_end_matches('/'), info.node_name),
            reliable: !matches!(info.qos_profile.reliability, ReliabilityPolicy::BestEffort),
            message_type: info.topic_type,
        });
        Ok(publishers.collect())
    }

    /// Waits at most `timeout` for messages and requests, and takes one of each topic and service.
    pub(crate) fn spin_once(&mut self, timeout: Duration) {
        self.node.spin_once(timeout);
        self.endpoints.close_unused(&mut self.node);
    }
}

/// A published topic. Clones share it.
#[derive(Clone)]
pub(crate) struct Publisher<T: Message> {
    publisher: r2r::Publisher<T>,
    _used: InUse,
}

impl<T: Message + 'static> Publisher<T> {
    /// Publishes a message.
    pub(crate) fn publish(&self, message: &T) -> Result<(), ClientError> {
        guarded(|| self.publisher.publish(message))
    }

    /// Whether there is a subscriber; false if that cannot be determined.
    pub(crate) fn has_subscribers(&self) -> bool {
        matches!(self.publisher.get_inter_process_subscription_count(), Ok(1..))
    }
}

/// A topic whose messages are already serialized.
pub(crate) struct SerializedPublisher(r2r::PublisherUntyped);

impl SerializedPublisher {
    /// Publishes a message in CDR.
    pub(crate) fn publish(&self, message: &[u8]) -> Result<(), ClientError> {
        Ok(self.0.publish_raw(message)?)
    }

    /// Whether there is a subscriber; false if that cannot be determined.
    pub(crate) fn has_subscribers(&self) -> bool {
        matches!(self.0.get_inter_process_subscription_count(), Ok(1..))
    }
}

/// Messages of a topic. Take all of them after every spin.
pub(crate) struct Subscription<T> {
    messages: Pin<Box<dyn Stream<Item = T> + Send>>,
    _used: InUse,
}

impl<T> Subscription<T> {
    /// The next message, if one has arrived.
    pub(crate) fn next(&mut self) -> Option<T> {
        self.messages.next().now_or_never().flatten()
    }
}

impl From<&r2r::ParameterValue> for ParameterValue {
    fn from(value: &r2r::ParameterValue) -> Self {
        match value {
            r2r::ParameterValue::NotSet => Self::NotSet,
            r2r::ParameterValue::Bool(value) => Self::Bool(*value),
            r2r::ParameterValue::Integer(value) => Self::Integer(*value),
            r2r::ParameterValue::Double(value) => Self::Number(*value),
            r2r::ParameterValue::String(value) => Self::Text(value.clone()),
            r2r::ParameterValue::DoubleArray(values) => Self::Numbers(values.clone()),
            r2r::ParameterValue::IntegerArray(values) => {
                Self::Numbers(values.iter().map(|value| *value as f64).collect())
            }
            other => Self::Other(other.type_name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_client_library_is_an_error_in_one_line() {
        let refused = without_panic(|| -> r2r::Result<()> { panic!("Couldn't parse it:\n  at {}", 7) });
        let text = refused.map_err(|error| error.to_string()).unwrap_err();
        assert_eq!(text, "the arguments after --ros-args are refused: Couldn't parse it: at 7");
        assert!(without_panic(|| Ok(1)).is_ok_and(|one| one == 1));
    }
}
