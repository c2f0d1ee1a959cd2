#!/usr/bin/env python3
"""Takes a tool with two soft fingers and works with it, by what the pads feel: the pancake flip, as a ROS 2 process of its own.

A file of keyframes (parameter `task`, see isobar_control/tool_task.py) says where the tool goes in frames of the cell; where those are is taken
from the scene file (parameter `scene`), as a user's calibration would say it. The arm is commanded by positions and velocities, the
fingers by efforts.

Topics (relative; `simulator` is a parameter, default `isobar`):
  in   joint_states                     sensor_msgs/JointState; its stamps are the controller's time
  in   <simulator>/wrench/<pad>         geometry_msgs/WrenchStamped, in the pad's own axes
  out  joint_commands                   sensor_msgs/JointState
  out  task/phase                       std_msgs/String, latched: the keyframe at hand, `done`, or `failed: ...`
  out  task/grip_force, task/load       std_msgs/Float64 [N]: mean force of the pads, vertical force on both
"""

import sys

import numpy as np
from geometry_msgs.msg import WrenchStamped
from isobar_control.cell import welded_frames
from isobar_control.keyframes import KeyframeError
from isobar_control.motion import InverseKinematics
from isobar_control.process import Commands, Controller, run
from isobar_control.robot import Chain, rotation_rpy
from isobar_control.tool_task import Grip, ToolPlayer, read_tool_task
from std_msgs.msg import Float64


class PancakeController(Controller):
    def __init__(self):
        super().__init__("pancake_controller")

        def parameter(name, default):
            return self.declare_parameter(name, default).value

        simulator = parameter("simulator", "isobar")
        task, scene = parameter("task", ""), parameter("scene", "")
        if not task or not scene:
            raise KeyframeError("say what to do and where: --ros-args -p task:=FILE.yaml -p scene:=FILE.yaml")
        with open(task, encoding="utf-8") as file:
            self.work = read_tool_task(file.read())
        frames, models = welded_frames(scene)
        holds = [entry for entry in models.values() if self.work.tool.body in entry[0].links]
        if not holds:
            raise KeyframeError(f"no welded robot of the scene has the body '{self.work.tool.body}'")
        self.robot, R_WB, p_WB = holds[0]
        self.upright = R_WB
        # In the robot's base frame.
        self.frames = {name: (R_WB.T @ R, R_WB.T @ (p - p_WB)) for name, (R, p) in frames.items()}
        tool = self.work.tool
        self.chain = Chain(self.robot, tool.body, rotation_rpy(*getattr(tool, "rpy", [0, 0, 0])), np.array(tool.xyz, dtype=float))
        self.chain.speed = self.chain.speed * self.work.arm.speed
        self.grip = Grip(self.work.fingers)
        self.pads = [np.zeros(3), np.zeros(3)]
        self.gripped = None
        for i, pad in enumerate(self.work.fingers.pads):
            topic = f"{simulator}/wrench/{pad}"
            self.create_subscription(WrenchStamped, topic, lambda message, i=i: self.on_wrench(i, message), 10)
        self.grip_force = self.create_publisher(Float64, "task/grip_force", 10)
        self.load = self.create_publisher(Float64, "task/load", 10)

    def on_wrench(self, i, message):
        force = message.wrench.force
        self.pads[i] = np.array([force.x, force.y, force.z])

    def begin(self, state):
        missing = [name for name in [*self.chain.names, *self.work.fingers.joints] if name not in state]
        if missing:
            raise KeyframeError(f"joint_states has no {', '.join(missing)}: this task is for another robot")
        q = [state[name][0] for name in self.chain.names]
        self.kinematics = InverseKinematics(self.chain, q)
        R, p, _ = self.chain.forward(self.kinematics.q)
        self.player = ToolPlayer(self.work, self.frames, R, p)
        self.targets = Commands(self.chain.names, q, self.time)
        return True

    def tick(self, state, dt):
        positions = {name: position for name, (position, _) in state.items()}
        pads = zip(self.work.fingers.pads, self.pads)
        load = sum((self.robot.pose(pad, positions)[0] @ force)[2] for pad, force in pads)
        felt = self.grip.felt(self.pads)
        if not self.player.ended:
            R, p = self.player.target(dt)
            q, _ = self.kinematics.follow(R, p, dt)
            self.targets.go(q, self.time, dt)
            R, p, _ = self.chain.forward(q)
            self.player.moved(R, p, self.kinematics.part, load, felt, dt)
        else:
            self.targets.go(self.kinematics.q, self.time, dt)
        self.tell(self.player.phase)
        self.grip_force.publish(Float64(data=felt))
        self.load.publish(Float64(data=float(load)))

    def fill(self, message, state, time):
        fingers = self.work.fingers.joints
        states = [state[name] for name in fingers]
        dt = 0.0 if self.gripped is None else self.time - self.gripped
        self.gripped = self.time
        efforts = self.grip.efforts(self.player.keyframe.grip == "closed", states, self.pads, dt)
        positions, velocities = self.targets.at(time)
        message.name = [*self.targets.names, *fingers]
        # Fingers without stiffness pass over positions; their velocity of zero is damping.
        message.position = [*positions.tolist(), *(position for position, _ in states)]
        message.velocity = [*velocities.tolist(), 0.0, 0.0]
        message.effort = [*[0.0] * len(positions), *efforts]


if __name__ == "__main__":
    sys.exit(run(PancakeController))
