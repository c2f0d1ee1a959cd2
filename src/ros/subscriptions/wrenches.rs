//! Wrenches on bodies from other nodes.

use std::time::Instant;

use crate::math::Vector3;
use crate::ros::client::interfaces::geometry_msgs::msg::{self, WrenchStamped};
use crate::ros::client::{ClientError, Node, Subscription};
use crate::ros::commands::wrench::check_wrench;
use crate::ros::exchange::counters::count;
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::log::throttle::{Throttle, and_more};
use crate::scene::Scene;

/// The topic, and the throttle of reports of refusals.
pub(crate) struct WrenchSubscription {
    wrenches: Subscription<WrenchStamped>,
    refusals: Throttle,
}

impl WrenchSubscription {
    /// Subscribes.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        Ok(Self { wrenches: node.subscribe("~/apply_wrench")?, refusals: Throttle::default() })
    }

    /// Takes all messages that have arrived, for the bodies of `scene`.
    pub(crate) fn take_all(&mut self, scene: &Scene, mailbox: &Mailbox) {
        while let Some(message) = self.wrenches.next() {
            let model = scene.model();
            let movable = model.bodies().iter_enumerated().filter(|(body, _)| !model.body_dofs(*body).is_empty());
            let bodies: Vec<_> = movable.map(|(body, properties)| (body, properties.name.as_str())).collect();
            let vector = |vector: &msg::Vector3| Vector3::new(vector.x, vector.y, vector.z);
            let (force, torque) = (vector(&message.wrench.force), vector(&message.wrench.torque));
            match check_wrench(&bodies, &message.header.frame_id, force, torque) {
                Ok((body, F_BBo_B)) => mailbox.apply_wrench(body, F_BBo_B),
                Err(error) => {
                    count(&mailbox.counters.rejected);
                    if let Some(suppressed) = self.refusals.due(Instant::now()) {
                        tracing::warn!("~/apply_wrench: {error}. The wrench was dropped{}", and_more(suppressed));
                    }
                }
            }
        }
    }
}
