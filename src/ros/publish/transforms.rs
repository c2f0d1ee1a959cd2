//! Transforms for tf2: free bodies on `/tf`, the roots of welded models on `/tf_static`.

use crate::io::bag::StaticTransform;
use crate::math::RigidTransform;
use crate::ros::client::interfaces::geometry_msgs::msg::TransformStamped;
use crate::ros::client::interfaces::tf2_msgs::msg::TFMessage;
use crate::ros::client::{ClientError, Node, Publisher, Qos, messages};

/// The publishers of both topics.
pub(crate) struct TransformPublishers {
    changing: Publisher<TFMessage>,
    fixed: Publisher<TFMessage>,
}

impl TransformPublishers {
    /// Declares the topics.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        Ok(Self {
            changing: node.publisher("/tf", Qos::Reliable(100))?,
            fixed: node.publisher("/tf_static", Qos::Latched)?,
        })
    }

    /// Publishes the poses of free bodies: the name of each body's frame, and its pose in the world.
    pub(crate) fn publish_free<'a>(
        &self,
        time_ns: u64,
        world_frame: &str,
        bodies: impl Iterator<Item = (&'a str, &'a RigidTransform)>,
    ) -> Result<(), ClientError> {
        let transforms = bodies.map(|(body, X_WB)| stamped(time_ns, world_frame, body, X_WB)).collect();
        self.changing.publish(&TFMessage { transforms })
    }

    /// Publishes the transforms that never change, also for subscribers that come later.
    pub(crate) fn publish_fixed(&self, time_ns: u64, transforms: &[StaticTransform]) -> Result<(), ClientError> {
        let message = |weld: &StaticTransform| stamped(time_ns, &weld.parent, &weld.child, &weld.X_PC);
        self.fixed.publish(&TFMessage { transforms: transforms.iter().map(message).collect() })
    }
}

fn stamped(time_ns: u64, parent: &str, child: &str, X: &RigidTransform) -> TransformStamped {
    TransformStamped {
        header: messages::header(time_ns, parent),
        child_frame_id: child.to_owned(),
        transform: messages::transform(X),
    }
}
