#!/usr/bin/env python3
"""Plays Cartesian keyframes with an arm and its gripper, as a user's controller would: a ROS 2 process of its own.

A file of keyframes (parameter `keyframes`, see isobar_control/keyframes.py) says where the tip goes, when the gripper closes, and
which measured force ends a movement. Differential inverse kinematics makes joint positions and velocities of it. Each
command carries the stamp of the state that it answers, so the same process also serves a simulator in lockstep.

Topics (relative; `simulator` is a parameter, default `isobar`):
  in   joint_states                           sensor_msgs/JointState; its stamps are the controller's time
  in   robot_description                      std_msgs/String, unless the parameter `urdf` names a file
  in   <simulator>/wrench/<link>              geometry_msgs/WrenchStamped of the links that feel, in their own axes
  in   <simulator>/external_joint_torques     sensor_msgs/JointState, if the task feels by the joints
  out  joint_commands                         sensor_msgs/JointState, positions and velocities
  out  task/phase                             std_msgs/String, latched: the key at hand, `done`, or `failed: ...`
  out  task/force                             geometry_msgs/WrenchStamped, the force on the tip in the robot's base axes [N]
  out  task/grip_force                        std_msgs/Float64 [N], the smallest of the pads' forces
  out  task/commanded_pose, task/measured_pose   geometry_msgs/PoseStamped of the tip in the robot's base frame
"""

import math
import sys
from time import monotonic

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped, WrenchStamped
from isobar_control.keyframes import KeyframeError, Player, read_task
from isobar_control.motion import InverseKinematics
from isobar_control.robot import Chain, Robot, RobotError
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Header, String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
EXTERNAL_TORQUES = "external_torques"
# Measured forces pass a low pass of this time constant [s]: shorter than a guarded movement, longer than a rattle of contact.
FORCE_TIME_CONSTANT = 0.015
# An answer to a state is not given again before this [s of real time].
REPEAT = 0.2
# Singular values of J below this are no support for an estimate of force [m or rad].
FORCE_SINGULAR = 0.02


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def quaternion(R):
    """(x, y, z, w) of a rotation matrix."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], 0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    return np.linalg.eigh(K / 3.0)[1][:, -1]


class Commands:
    """Joint positions from one tick to the next, linear in between."""

    def __init__(self, names, positions, time):
        self.names = names
        self.start = self.finish = np.array(positions, dtype=float)
        self.began, self.duration = time, 1.0

    def go(self, positions, time, duration):
        self.start, self.finish = self.finish, np.array(positions, dtype=float)
        self.began, self.duration = time, duration

    def at(self, time):
        part = min(max((time - self.began) / self.duration, 0.0), 1.0)
        return self.start + part * (self.finish - self.start), (self.finish - self.start) / self.duration


class KeyframeController(Node):
    def __init__(self):
        super().__init__("keyframe_controller")

        def parameter(name, default):
            return self.declare_parameter(name, default).value

        simulator = parameter("simulator", "isobar")
        # Of control [s]; states that come more often are answered with positions in between.
        self.period = parameter("period", 0.01)
        path = parameter("keyframes", "")
        if not path:
            raise KeyframeError("say which keyframes to play: --ros-args -p keyframes:=FILE.yaml")
        with open(path, encoding="utf-8") as file:
            self.task = read_task(file.read())
        self.robot = None
        self.player = None
        self.answered = None
        self.time = self.step = self.last = None
        self.said = 0.0
        self.wrenches = {}
        self.torques = {}
        self.force, self.grip = np.zeros(3), 0.0
        urdf = parameter("urdf", "")
        if urdf:
            with open(urdf, encoding="utf-8") as file:
                self.describe(file.read())
        else:
            self.create_subscription(String, "robot_description", lambda message: self.describe(message.data), LATCHED)
        by_joints = self.task.touch == EXTERNAL_TORQUES
        for link in {*self.task.grip, *([] if by_joints else self.task.touch)}:
            topic = f"{simulator}/wrench/{link}"
            self.create_subscription(WrenchStamped, topic, lambda message, link=link: self.on_wrench(link, message), 10)
        if by_joints:
            self.create_subscription(JointState, f"{simulator}/external_joint_torques", self.on_torques, 10)
        self.commands = self.create_publisher(JointState, "joint_commands", 10)
        self.phase = self.create_publisher(String, "task/phase", LATCHED)
        self.touch_force = self.create_publisher(WrenchStamped, "task/force", 10)
        self.grip_force = self.create_publisher(Float64, "task/grip_force", 10)
        self.commanded_pose = self.create_publisher(PoseStamped, "task/commanded_pose", 10)
        self.measured_pose = self.create_publisher(PoseStamped, "task/measured_pose", 10)
        self.create_subscription(JointState, "joint_states", self.on_state, 10)

    def describe(self, text):
        if self.robot is None:
            self.robot = Robot(text)
            self.chain = Chain(self.robot, self.task.tip)
            for link in [*self.task.grip, *(self.task.touch if self.task.touch != EXTERNAL_TORQUES else [])]:
                self.robot.above(link)

    def on_wrench(self, link, message):
        force = message.wrench.force
        self.wrenches[link] = np.array([force.x, force.y, force.z])

    def on_torques(self, message):
        self.torques = dict(zip(message.name, message.effort))

    def feel(self, positions, dt):
        """Takes over what is measured: the force on the tip in base axes and the smallest of the pads' forces."""
        share = 1.0 - math.exp(-dt / FORCE_TIME_CONSTANT)
        if self.task.touch == EXTERNAL_TORQUES:
            tau = np.array([self.torques.get(name, 0.0) for name in self.chain.names])
            _, _, J = self.chain.forward(np.array([positions[name] for name in self.chain.names]))
            # tau = J^T F
            force = np.linalg.pinv(J.T, rcond=FORCE_SINGULAR)[3:] @ tau
        else:
            force = np.zeros(3)
            for link in self.task.touch:
                force = force + self.robot.pose(link, positions)[0] @ self.wrenches.get(link, np.zeros(3))
        self.force = self.force + share * (force - self.force)
        pads = [np.linalg.norm(self.wrenches.get(link, np.zeros(3))) for link in self.task.grip]
        self.grip += share * (min(pads, default=0.0) - self.grip)

    def on_state(self, state):
        if self.robot is None:
            return
        time = seconds(state.header.stamp)
        if self.time is not None and time == self.time:
            # A simulator in lockstep repeats a state that nobody answered, or not yet.
            if monotonic() - self.said > REPEAT:
                self.answer(state)
            return
        if self.time is not None:
            self.step = time - self.time
        self.time, self.stamp = time, state.header.stamp
        positions = dict(zip(state.name, state.position))
        if self.player is None:
            self.begin(positions, time)
        elif self.step is not None and time - self.ticked > self.tick_length() - 0.5 * self.step:
            self.tick(positions, time)
        self.last = self.interpolated.at(time + (self.step or 0.0))
        self.answer(state)

    def tick_length(self):
        return max(self.period, self.step)

    def begin(self, positions, time):
        missing = [name for name in [*self.chain.names, *self.task.gripper] if name not in positions]
        if missing:
            raise KeyframeError(f"joint_states has no {', '.join(missing)}: these keyframes are for another robot")
        q = [positions[name] for name in self.chain.names]
        self.kinematics = InverseKinematics(self.chain, q)
        R, p, _ = self.chain.forward(self.kinematics.q)
        openings = [positions[name] / factor for name, factor in self.task.gripper.items() if factor]
        self.player = Player(self.task, R, p, sum(openings) / len(openings) if openings else 0.0)
        names = [*self.chain.names, *self.task.gripper]
        self.interpolated = Commands(names, [positions[name] for name in names], time)
        self.ticked = time

    def tick(self, positions, time):
        # A tick covers the time to the next one; the state at hand is a step before its command's end.
        dt = max(self.tick_length(), time - self.ticked)
        self.feel(positions, dt)
        target = self.player.tick(dt, self.force, self.grip)
        q, _ = self.kinematics.follow(target.R, target.p, dt)
        fingers = [factor * target.opening for factor in self.task.gripper.values()]
        self.interpolated.go([*q, *fingers], time, dt)
        self.ticked = time
        self.tell(target, positions)

    def tell(self, target, positions):
        if self.player.phase != self.answered:
            self.answered = self.player.phase
            self.phase.publish(String(data=self.answered))
            if self.answered.startswith("failed"):
                self.get_logger().error(f"{self.time:.3f} s: {self.answered}")
            else:
                self.get_logger().info(f"{self.time:.3f} s: {self.answered}")
        felt = WrenchStamped(header=self.header())
        felt.wrench.force.x, felt.wrench.force.y, felt.wrench.force.z = (float(x) for x in self.force)
        self.touch_force.publish(felt)
        self.grip_force.publish(Float64(data=self.grip))
        measured = self.chain.forward(np.array([positions[name] for name in self.chain.names]))
        self.commanded_pose.publish(self.pose(target.R, target.p))
        self.measured_pose.publish(self.pose(measured[0], measured[1]))

    def header(self):
        return Header(stamp=self.stamp, frame_id=self.chain.all[0].parent)

    def pose(self, R, p):
        message = PoseStamped(header=self.header())
        place, turn = message.pose.position, message.pose.orientation
        place.x, place.y, place.z = (float(x) for x in p)
        turn.x, turn.y, turn.z, turn.w = (float(x) for x in quaternion(R))
        return message

    def answer(self, state):
        message = JointState()
        message.header.stamp = state.header.stamp
        message.name = self.interpolated.names
        message.position, message.velocity = (values.tolist() for values in self.last)
        self.commands.publish(message)
        self.said = monotonic()


def main():
    rclpy.init()
    try:
        rclpy.spin(KeyframeController())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (KeyframeError, RobotError, OSError) as error:
        print(f"keyframe_controller: {error}", file=sys.stderr)
        return 1
    except Exception:
        # A signal shuts ROS down even under a callback that publishes; anything else is an error.
        if rclpy.ok():
            raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
