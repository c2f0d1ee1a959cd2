//! Wrenches on bodies from other nodes.

use std::mem::{Discriminant, discriminant};
use std::time::Instant;

use crate::math::Vector3;
use crate::ros::client::interfaces::geometry_msgs::msg::{self, WrenchStamped};
use crate::ros::client::{ClientError, Node, Subscription};
use crate::ros::commands::wrench::{WrenchError, check_wrench};
use crate::ros::exchange::counters::count;
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::log::throttle::Reports;
use crate::scene::Scene;

/// The topic, and the reports of refusals.
pub(crate) struct WrenchSubscription {
    wrenches: Subscription<WrenchStamped>,
    refusals: Reports<Discriminant<WrenchError>>,
}

impl WrenchSubscription {
    /// Subscribes.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        Ok(Self { wrenches: node.subscribe("~/apply_wrench")?, refusals: Reports::default() })
    }

    /// Takes all messages that have arrived, for the bodies of `scene`.
    pub(crate) fn take_all(&mut self, scene: &Scene, mailbox: &Mailbox) {
        self.refusals.overdue(Instant::now()).iter().for_each(|line| tracing::warn!("{line}"));
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
                    let text = format!("~/apply_wrench: {error}. The wrench was dropped");
                    if let Some(line) = self.refusals.due(discriminant(&error), text, Instant::now()) {
                        tracing::warn!("{line}");
                    }
                }
            }
        }
    }
}
