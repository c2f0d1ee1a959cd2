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

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from isobar_control.keyframes import KeyframeError, Player, read_task
from isobar_control.motion import InverseKinematics
from isobar_control.process import LATCHED, Commands, Controller, quaternion, run
from isobar_control.robot import Chain, Robot
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

EXTERNAL_TORQUES = "external_torques"
# Measured forces pass a low pass of this time constant [s]: shorter than a guarded movement, longer than a rattle of contact.
FORCE_TIME_CONSTANT = 0.015
# Singular values of J below this are no support for an estimate of force [m or rad].
FORCE_SINGULAR = 0.02


class KeyframeController(Controller):
    def __init__(self):
        super().__init__("keyframe_controller")

        def parameter(name, default):
            return self.declare_parameter(name, default).value

        simulator = parameter("simulator", "isobar")
        path = parameter("keyframes", "")
        if not path:
            raise KeyframeError("say which keyframes to play: --ros-args -p keyframes:=FILE.yaml")
        with open(path, encoding="utf-8") as file:
            self.task = read_task(file.read())
        self.robot = None
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
        self.felt_force = self.create_publisher(WrenchStamped, "task/force", 10)
        self.grip_force = self.create_publisher(Float64, "task/grip_force", 10)
        self.commanded_pose = self.create_publisher(PoseStamped, "task/commanded_pose", 10)
        self.measured_pose = self.create_publisher(PoseStamped, "task/measured_pose", 10)

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

    def begin(self, state):
        if self.robot is None:
            return False
        names = [*self.chain.names, *self.task.gripper]
        missing = [name for name in names if name not in state]
        if missing:
            raise KeyframeError(f"joint_states has no {', '.join(missing)}: these keyframes are for another robot")
        self.kinematics = InverseKinematics(self.chain, [state[name][0] for name in self.chain.names])
        R, p, _ = self.chain.forward(self.kinematics.q)
        openings = [state[name][0] / factor for name, factor in self.task.gripper.items() if factor]
        self.player = Player(self.task, R, p, sum(openings) / len(openings) if openings else 0.0)
        self.targets = Commands(names, [state[name][0] for name in names], self.time)
        return True

    def tick(self, state, dt):
        positions = {name: position for name, (position, _) in state.items()}
        self.feel(positions, dt)
        target = self.player.tick(dt, self.force, self.grip)
        q, _ = self.kinematics.follow(target.R, target.p, dt)
        fingers = [factor * target.opening for factor in self.task.gripper.values()]
        self.targets.go([*q, *fingers], self.time, dt)
        self.tell(self.player.phase)
        felt = WrenchStamped(header=self.header(self.chain.all[0].parent))
        felt.wrench.force.x, felt.wrench.force.y, felt.wrench.force.z = (float(x) for x in self.force)
        self.felt_force.publish(felt)
        self.grip_force.publish(Float64(data=self.grip))
        R, p, _ = self.chain.forward(np.array([positions[name] for name in self.chain.names]))
        self.commanded_pose.publish(self.pose(target.R, target.p))
        self.measured_pose.publish(self.pose(R, p))

    def fill(self, message, state, time):
        message.name = self.targets.names
        message.position, message.velocity = (values.tolist() for values in self.targets.at(time))

    def pose(self, R, p):
        message = PoseStamped(header=self.header(self.chain.all[0].parent))
        place, turn = message.pose.position, message.pose.orientation
        place.x, place.y, place.z = (float(x) for x in p)
        turn.x, turn.y, turn.z, turn.w = (float(x) for x in quaternion(R))
        return message


if __name__ == "__main__":
    sys.exit(run(KeyframeController))
