"""Stands in for ROS 2's robot_state_publisher, which PyPI does not have: the links of the robot on /tf and
/tf_static, from the latched robot_description and the joint_states of its namespace."""

import sys
from pathlib import Path

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "controllers"))
from isobar_control.process import quaternion  # noqa: E402
from isobar_control.robot import MOVING, Robot  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def transform(joint, q, stamp):
    R, p = joint.pose(q)
    message = TransformStamped()
    message.header.stamp = stamp
    message.header.frame_id, message.child_frame_id = joint.parent, joint.child
    message.transform.translation.x, message.transform.translation.y, message.transform.translation.z = map(float, p)
    q = message.transform.rotation
    q.x, q.y, q.z, q.w = map(float, quaternion(np.asarray(R)))
    return message


class RobotStatePublisher:
    """Publishes on the given rclpy node."""

    def __init__(self, node):
        self.robot = None
        self.moving = node.create_publisher(TFMessage, "/tf", 100)
        self.fixed = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        node.create_subscription(String, "robot_description", self.describe, LATCHED)
        node.create_subscription(JointState, "joint_states", self.move, 100)

    def describe(self, message):
        self.robot = Robot(message.data)
        still = [joint for joint in self.robot.joints.values() if joint.kind not in MOVING]
        self.fixed.publish(TFMessage(transforms=[transform(joint, 0.0, TransformStamped().header.stamp) for joint in still]))

    def move(self, message):
        if self.robot is None:
            return
        positions = dict(zip(message.name, message.position))
        known = lambda joint: joint.name in positions or (joint.mimic and joint.mimic[0] in positions)
        joints = [joint for joint in self.robot.joints.values() if joint.kind in MOVING and known(joint)]
        moved = [transform(joint, self.robot.position(joint, positions), message.header.stamp) for joint in joints]
        if moved:
            self.moving.publish(TFMessage(transforms=moved))
