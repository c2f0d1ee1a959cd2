#!/usr/bin/env python3
"""Grip force control of two opposed fingers, as a separate ROS 2 process, like a user's controller.

Follows a square wave of grip force. The wanted force is fed forward to both fingers, an integral of the error
of the measured pad force corrects it, and a weak spring keeps the fingers centred. The stamps of the joint
states give the controller's time, and each command carries the stamp of the state that it answers, so the
same process also serves a simulator in lockstep.

Topics (relative; `simulator` is a parameter, default `isobar`):
  in   <simulator>/wrench/<pad>   geometry_msgs/WrenchStamped, contact wrench on the pad in the pad's axes
  in   joint_states                sensor_msgs/JointState
  out  joint_commands              sensor_msgs/JointState, efforts [N]
  out  grip_force/commanded, grip_force/measured   std_msgs/Float64 [N]
"""

import sys

from geometry_msgs.msg import WrenchStamped
from isobar_control.process import after_sensors, run, seconds
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

# The control period [s]; a state that arrives earlier is answered with the last command.
PERIOD = 0.005
# A measurement older than this is not used [s], and the integral stops.
MEASUREMENT_AGE_MAX = 0.05
# After a change of the wanted force the pads swing, so the integral waits for this time [s].
SETTLING = 0.25


def square_wave(time, low, high, period, duty):
    """`high` for the first `duty` of each period, `low` for the rest."""
    return high if time % period < duty * period else low


class Finger:
    """One finger: its joint, the sign of its closing effort, and its measurements."""

    def __init__(self, joint, sign, axis):
        self.joint = joint
        self.sign = sign
        self.axis = axis
        self.force = 0.0
        self.stamp = float("-inf")
        self.position = 0.0
        self.velocity = 0.0

    def on_wrench(self, message):
        self.force = abs(getattr(message.wrench.force, self.axis))
        self.stamp = seconds(message.header.stamp)


class GripController(Node):
    def __init__(self):
        super().__init__("grip_controller")

        def parameter(name, default):
            return self.declare_parameter(name, default).value

        simulator = parameter("simulator", "isobar")
        self.low = parameter("force_low", 1.0)
        self.high = parameter("force_high", 16.0)
        self.period = parameter("period", 6.0)
        self.duty = parameter("duty", 0.75)
        # The gain of the integral of the force error [1/s], and the largest integral as a part of the wanted
        # force [-]. This limit keeps the integral from opening the grip or crushing the object.
        self.gain = parameter("integral_gain", 2.0)
        self.trim = parameter("integral_limit", 0.3)
        # The stiffness and damping that hold the middle between the fingers in place, without effect on the
        # grip force [N/m, N s/m].
        self.centering_stiffness = parameter("centering_stiffness", 50.0)
        self.centering_damping = parameter("centering_damping", 5.0)
        axis = parameter("force_axis", "y")
        joints = parameter("joints", ["left_finger_sliding_joint", "right_finger_sliding_joint"])
        pads = parameter("pads", ["left_finger_bubble", "right_finger_bubble"])
        signs = parameter("closing_signs", [1.0, -1.0])
        self.fingers = [Finger(joint, sign, axis) for joint, sign in zip(joints, signs)]
        for finger, pad in zip(self.fingers, pads):
            self.create_subscription(WrenchStamped, f"{simulator}/wrench/{pad}", finger.on_wrench, 10)
        self.create_subscription(JointState, "joint_states", after_sensors(self, self.on_joint_states), 10)
        self.commands = self.create_publisher(JointState, "joint_commands", 10)
        self.commanded = self.create_publisher(Float64, "grip_force/commanded", 10)
        self.measured = self.create_publisher(Float64, "grip_force/measured", 10)
        self.wanted = None
        self.changed = 0.0
        self.integral = 0.0
        self.controlled = float("-inf")
        self.command = JointState(name=[finger.joint for finger in self.fingers])

    def on_joint_states(self, message):
        for finger in self.fingers:
            index = message.name.index(finger.joint)
            finger.position = message.position[index]
            finger.velocity = message.velocity[index]
        now = seconds(message.header.stamp)
        # Stamps are whole steps, so a state that is early by up to a tenth of a period counts.
        if now - self.controlled >= 0.9 * PERIOD:
            self.controlled = now
            self.control(now)
        self.command.header.stamp = message.header.stamp
        self.commands.publish(self.command)

    def trimmed(self, now, wanted, measured):
        """The closing effort [N]: the wanted force, plus the integral of its error once the grip has
        settled."""
        if wanted != self.wanted:
            self.wanted, self.changed, self.integral = wanted, now, 0.0
        elif now - self.changed > SETTLING and measured is not None:
            self.integral += self.gain * (wanted - measured) * PERIOD
            self.integral = max(-self.trim * wanted, min(self.trim * wanted, self.integral))
        return wanted + self.integral

    def control(self, now):
        wanted = square_wave(now, self.low, self.high, self.period, self.duty)
        fresh = all(now - finger.stamp < MEASUREMENT_AGE_MAX for finger in self.fingers)
        measured = sum(finger.force for finger in self.fingers) / len(self.fingers) if fresh else None
        effort = self.trimmed(now, wanted, measured)
        middle = sum(finger.position for finger in self.fingers) / len(self.fingers)
        drift = sum(finger.velocity for finger in self.fingers) / len(self.fingers)
        back = -self.centering_stiffness * middle - self.centering_damping * drift
        self.command.effort = [finger.sign * effort + back for finger in self.fingers]
        self.commanded.publish(Float64(data=wanted))
        if measured is not None:
            self.measured.publish(Float64(data=measured))


if __name__ == "__main__":
    sys.exit(run(GripController))
