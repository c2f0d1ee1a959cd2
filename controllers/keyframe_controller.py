#!/usr/bin/env python3
"""Plays Cartesian keyframes with an arm and its gripper, as a separate ROS 2 process, like a user's
controller.

A task file (parameter `task`; docs/reference/task-files.md explains its keys) gives the path of the tool, the
targets of the gripper, and the measured forces that end a movement. The parameter `urdf` names the robot.
Without it, the topic `robot_description` describes the robot. If keyframes are in frames of other bodies in
the cell, the parameter `scene` names a scene file. The robot is then the welded model with the tool, and the
file gives the poses of the other bodies, like a calibration. Each command carries the stamp of the state that
it answers, so the same process also serves a simulator in lockstep.

Topics (relative; `simulator` is a parameter, default `isobar`):
  in   joint_states              sensor_msgs/JointState; its stamps are the controller's time
  in   robot_description         std_msgs/String, unless `urdf` or `scene` names a file
  in   <simulator>/wrench/<link> geometry_msgs/WrenchStamped of the links that the task names, in their axes
  in   <simulator>/external_joint_torques
                                 sensor_msgs/JointState, if the task has `touch: external_torques`
  out  joint_commands            sensor_msgs/JointState: positions, velocities, and the efforts of fingers
                                 that close by force
  out  task/phase                std_msgs/String, latched: the present keyframe, `done`, or `failed: ...`
  out  task/force                geometry_msgs/WrenchStamped, the contact force on the tool [N]
  out  task/grip_force           std_msgs/Float64, the grip force [N]
  out  task/load                 std_msgs/Float64, the tool's downward force on the fingers [N]
  out  task/commanded_pose, task/measured_pose
                                 geometry_msgs/PoseStamped of the tool
Forces and poses of task/ are in the robot's root frame or, with `scene`, in the world.
"""

import math
import sys

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from isobar_control.cell import cell_of_robot, cell_of_scene
from isobar_control.player import Measurement, Player
from isobar_control.process import LATCHED, Commands, Controller, quaternion, run
from isobar_control.robot import Robot
from isobar_control.task import EXTERNAL_TORQUES, TaskError, read_task
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

# A tick is divided if it is longer than the period by more than this part of the period [-].
PART_ROUNDING = 0.5


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class KeyframeController(Controller):
    def __init__(self):
        super().__init__("keyframe_controller")

        def parameter(name):
            return self.declare_parameter(name, "").value

        simulator = self.declare_parameter("simulator", "isobar").value
        path, scene, urdf = parameter("task"), parameter("scene"), parameter("urdf")
        if not path:
            raise TaskError("name the task to play: --ros-args -p task:=FILE.yaml")
        self.task = read_task(read(path))
        self.cell = None
        self.frame = "world" if scene else None
        self.forces, self.torques = {}, {}
        self.gripped = None
        if scene:
            self.cell = cell_of_scene(scene, self.task.tool)
        elif urdf:
            self.describe(read(urdf))
        else:
            self.create_subscription(String, "robot_description", lambda message: self.describe(message.data), LATCHED)
        for link in self.task.sensing_bodies():
            topic = f"{simulator}/wrench/{link}"
            self.create_subscription(WrenchStamped, topic, lambda message, link=link: self.on_wrench(link, message), 10)
        if self.task.touch == EXTERNAL_TORQUES:
            self.create_subscription(JointState, f"{simulator}/external_joint_torques", self.on_torques, 10)
        self.force = self.create_publisher(WrenchStamped, "task/force", 10)
        self.grip_force = self.create_publisher(Float64, "task/grip_force", 10)
        self.load = self.create_publisher(Float64, "task/load", 10)
        self.commanded_pose = self.create_publisher(PoseStamped, "task/commanded_pose", 10)
        self.measured_pose = self.create_publisher(PoseStamped, "task/measured_pose", 10)

    def describe(self, text):
        # In a world with several robots the topic describes only one. A robot without the tool is not the
        # task's robot.
        robot = Robot(text)
        if self.cell is None and self.task.tool in robot.links:
            self.cell = cell_of_robot(robot)

    def on_wrench(self, link, message):
        force = message.wrench.force
        self.forces[link] = np.array([force.x, force.y, force.z])

    def on_torques(self, message):
        self.torques = dict(zip(message.name, message.effort))

    def measurement(self, state):
        positions = {name: position for name, (position, _) in state.items()}
        velocities = {name: velocity for name, (_, velocity) in state.items()}
        return Measurement(positions, velocities, self.forces, self.torques)

    def begin(self, state):
        if self.cell is None:
            return False
        fingers = [finger.joint for finger in self.task.fingers]
        missing = [name for name in [*self.task.joints, *fingers] if name not in state]
        if missing:
            raise TaskError(f"joint_states has no {', '.join(missing)}: start the scene with the task's robot")
        self.player = Player(self.task, self.cell, self.measurement(state).positions)
        self.frame = self.frame or self.player.chain.all[0].parent
        # Fingers under force control follow efforts, not positions.
        self.fingers = [] if self.player.grip else fingers
        names = [*self.player.chain.names, *self.fingers]
        self.targets = Commands(names, [state[name][0] for name in names], self.time)
        return True

    def tick(self, state, dt):
        measured, player = self.measurement(state), self.player
        # A long step of the simulation is divided, so that a keyframe can end within it.
        parts = max(1, math.ceil(dt / self.period - PART_ROUNDING))
        for _ in range(parts):
            player.tick(measured, dt / parts)
        openings = [finger.factor * player.opening for finger in self.task.fingers] if self.fingers else []
        self.targets.go([*player.arm.q, *openings], self.time, dt)
        self.publish_phase(player.phase)
        force = WrenchStamped(header=self.header(self.frame))
        force.wrench.force.x, force.wrench.force.y, force.wrench.force.z = (float(x) for x in player.force)
        self.force.publish(force)
        self.grip_force.publish(Float64(data=player.felt))
        self.load.publish(Float64(data=player.load))
        R, p, _ = player.chain.forward(np.array([state[name][0] for name in player.chain.names]))
        self.commanded_pose.publish(self.pose(*player.target))
        self.measured_pose.publish(self.pose(R, p))

    def fill(self, message, state, time):
        positions, velocities = (values.tolist() for values in self.targets.at(time))
        message.name, message.position, message.velocity = self.targets.names, positions, velocities
        if self.player.grip:
            names = [finger.joint for finger in self.task.fingers]
            dt = 0.0 if self.gripped is None else self.time - self.gripped
            self.gripped = self.time
            # Fingers without stiffness ignore positions. The commanded velocity of zero damps them.
            message.name = [*self.targets.names, *names]
            message.position = [*positions, *(state[name][0] for name in names)]
            message.velocity = [*velocities, *(0.0 for _ in names)]
            message.effort = [*(0.0 for _ in positions), *self.player.efforts(self.measurement(state), dt)]

    def pose(self, R, p):
        message = PoseStamped(header=self.header(self.frame))
        position, orientation = message.pose.position, message.pose.orientation
        position.x, position.y, position.z = (float(x) for x in p)
        orientation.x, orientation.y, orientation.z, orientation.w = (float(x) for x in quaternion(R))
        return message


if __name__ == "__main__":
    sys.exit(run(KeyframeController))
