//! Ends topics and services that are not used any more. r2r ends a subscription or a service only when
//! something arrives for it after its stream was dropped, and never ends a client. Therefore each of these
//! topics receives an empty message, and each service a request with default values. A separate node sends
//! these requests, and its clients end with it.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use r2r::qos::QosProfile;

use super::interfaces::{Message, ServiceType};

/// The time between two attempts.
const RETRY_PERIOD: Duration = Duration::from_millis(10);
/// An endpoint that still exists after this many attempts is given up.
const ATTEMPTS_MAX: u32 = 500;
/// The name of the node that calls the services to be ended.
const CLOSING_NODE: &str = "isobar_closing";

/// Marks a topic or service as in use: its owner and each clone of it hold one.
pub(super) type InUse = Arc<()>;

/// The nodes that are needed to end an endpoint.
struct Nodes<'a> {
    node: &'a mut r2r::Node,
    caller: &'a mut Option<r2r::Node>,
}

/// Tries to end an endpoint; true if it has ended, or the last attempt has failed.
type Close = Box<dyn FnMut(&mut Nodes<'_>, bool) -> bool + Send>;

struct Endpoint {
    used: Weak<()>,
    close: Close,
    attempts: u32,
}

/// All publishers, subscriptions and services of a node.
#[derive(Default)]
pub(super) struct Endpoints {
    endpoints: Vec<Endpoint>,
    /// The node that calls the services to be ended, while there are any.
    caller: Option<r2r::Node>,
    tried: Option<Instant>,
}

impl Endpoints {
    /// Registers a publisher, which is ended once the result is dropped.
    pub(super) fn publisher<T: Message + 'static>(&mut self, publisher: &r2r::Publisher<T>) -> InUse {
        let publisher = publisher.clone();
        self.note(Box::new(move |nodes, _| {
            nodes.node.destroy_publisher(publisher.clone());
            true
        }))
    }

    /// Registers a subscription to `topic`, which is ended once the result is dropped.
    pub(super) fn subscription<T: Message + Send + 'static>(&mut self, topic: &str) -> InUse {
        let topic = topic.to_owned();
        let mut sender: Option<r2r::Publisher<T>> = None;
        let mut most = 0;
        self.note(Box::new(move |nodes, last| {
            if sender.is_none() {
                sender = nodes.node.create_publisher(&topic, QosProfile::default()).ok();
            }
            let Some(publisher) = &sender else { return true };
            let subscriptions = publisher.get_inter_process_subscription_count().unwrap_or(0);
            if subscriptions < most || last {
                sender.take().into_iter().for_each(|publisher| nodes.node.destroy_publisher(publisher));
                return true;
            }
            most = subscriptions;
            // The next attempt publishes again, also after a failure.
            let _ = publisher.publish(&T::default());
            false
        }))
    }

    /// Registers the service `name`, which is ended once the result is dropped.
    pub(super) fn service<S: ServiceType + 'static>(&mut self, name: &str) -> InUse {
        let name = name.to_owned();
        let mut client: Option<r2r::Client<S>> = None;
        let mut called = false;
        self.note(Box::new(move |nodes, last| {
            let Some(caller) = nodes.caller else { return true };
            if client.is_none() {
                client = caller.create_client(&name, QosProfile::services_default()).ok();
            }
            let Some(client) = &client else { return true };
            let Ok(available) = r2r::Node::is_available(client) else { return true };
            caller.spin_once(Duration::ZERO);
            let is_there = matches!(available.now_or_never(), Some(Ok(())));
            if is_there && !last {
                called = true;
                // The service ends instead of answering.
                drop(client.request(&S::Request::default()));
            }
            last || (called && !is_there)
        }))
    }

    fn note(&mut self, close: Close) -> InUse {
        let used = Arc::new(());
        self.endpoints.push(Endpoint { used: Arc::downgrade(&used), close, attempts: 0 });
        used
    }

    /// Continues to end the endpoints that are no longer used. Call it after each spin of `node`.
    pub(super) fn close_unused(&mut self, node: &mut r2r::Node) {
        let unused = |endpoint: &Endpoint| endpoint.used.strong_count() == 0;
        if !self.endpoints.iter().any(unused) {
            self.caller = None;
            return;
        }
        if self.tried.is_some_and(|tried| tried.elapsed() < RETRY_PERIOD) {
            return;
        }
        self.tried = Some(Instant::now());
        if self.caller.is_none() {
            let namespace = node.namespace().unwrap_or_default();
            let made = r2r::Context::create().and_then(|context| r2r::Node::create(context, CLOSING_NODE, &namespace));
            self.caller = made.inspect_err(|error| tracing::debug!("{CLOSING_NODE}: {error}")).ok();
        }
        let mut nodes = Nodes { node, caller: &mut self.caller };
        self.endpoints.retain_mut(|endpoint| {
            if !unused(endpoint) {
                return true;
            }
            endpoint.attempts += 1;
            !(endpoint.close)(&mut nodes, endpoint.attempts >= ATTEMPTS_MAX)
        });
    }
}
