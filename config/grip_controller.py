#!/usr/bin/env python3
"""Grip force control of two opposed fingers, as a user's controller would do it: a ROS 2 process of its own.

Reads the contact wrench of both pads, follows a square wave of grip force, and commands finger efforts: the wanted force
fed forward, and an integral of the measured error. Runs on simulated time.

Topics (relative to the simulator, parameter `simulator`, default `isobar`):
  in   /<simulator>/wrench/<pad>   geometry_msgs/WrenchStamped, contact wrench on the pad in the pad's axes
  out  joint_commands              sensor_msgs/JointState, efforts [N]
  out  grip_force/commanded, grip_force/measured   std_msgs/Float64 [N]
"""

import sys

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

# The control period [s of simulated time].
PERIOD = 0.005
# A measurement older than this is no measurement [s]: the integral then rests.
MEASUREMENT_AGE_MAX = 0.05


def square_wave(time, low, high, period, duty):
    """`high` for the first `duty` of each period, `low` for the rest."""
    return high if time % period < duty * period else low


class Finger:
    """One finger: its joint, the sign of its closing effort, and its force loop."""

    def __init__(self, joint, sign, axis):
        self.joint = joint
        self.sign = sign
        self.axis = axis
        self.measured = None
        self.stamp = 0.0
        self.integral = 0.0

    def on_wrench(self, message):
        force = message.wrench.force
        self.measured = abs(getattr(force, self.axis))
        self.stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec

    def effort(self, now, wanted, gain, limit):
        """Closing effort [N]: feed-forward plus integral; the integral rests without contact."""
        touching = self.measured is not None and now - self.stamp < MEASUREMENT_AGE_MAX and self.measured > 0.0
        if touching:
            self.integral += gain * (wanted - self.measured) * PERIOD
            self.integral = max(-limit, min(limit, self.integral))
        return self.sign * (wanted + self.integral)


class GripController(Node):
    def __init__(self):
        on_simulated_time = Parameter("use_sim_time", Parameter.Type.BOOL, True)
        super().__init__("grip_controller", parameter_overrides=[on_simulated_time])

        def parameter(name, default):
            return self.declare_parameter(name, default).value

        simulator = parameter("simulator", "isobar")
        self.low = parameter("force_low", 1.0)
        self.high = parameter("force_high", 16.0)
        self.period = parameter("period", 6.0)
        self.duty = parameter("duty", 0.75)
        self.gain = parameter("integral_gain", 2.0)
        # Feed-forward is close already: the loop trims, and cannot let go or crush.
        self.trim = parameter("integral_limit", 0.8)
        axis = parameter("force_axis", "y")
        joints = parameter("joints", ["left_finger_sliding_joint", "right_finger_sliding_joint"])
        pads = parameter("pads", ["left_finger_bubble", "right_finger_bubble"])
        signs = parameter("closing_signs", [1.0, -1.0])
        self.fingers = [Finger(joint, sign, axis) for joint, sign in zip(joints, signs)]
        for finger, pad in zip(self.fingers, pads):
            self.create_subscription(WrenchStamped, f"/{simulator}/wrench/{pad}", finger.on_wrench, 10)
        self.commands = self.create_publisher(JointState, "joint_commands", 10)
        self.commanded = self.create_publisher(Float64, "grip_force/commanded", 10)
        self.measured = self.create_publisher(Float64, "grip_force/measured", 10)
        self.create_timer(PERIOD, self.control)

    def control(self):
        now = self.get_clock().now().nanoseconds * 1e-9
        wanted = square_wave(now, self.low, self.high, self.period, self.duty)
        message = JointState()
        message.header.stamp = self.get_clock().now().to_msg()
        message.name = [finger.joint for finger in self.fingers]
        message.effort = [finger.effort(now, wanted, self.gain, self.trim) for finger in self.fingers]
        self.commands.publish(message)
        self.commanded.publish(Float64(data=wanted))
        known = [finger.measured for finger in self.fingers if finger.measured is not None]
        if known:
            self.measured.publish(Float64(data=sum(known) / len(known)))


def main():
    rclpy.init()
    try:
        rclpy.spin(GripController())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
