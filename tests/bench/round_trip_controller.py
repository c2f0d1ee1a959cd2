#!/usr/bin/env python3
"""A controller that answers each state of tests/ros/scenes/press.yaml and measures how old the command of
each step is. `ros_node.py round_trip` runs it; tests/bench/round_trip.rs is the same in Rust.

Each command is an effort on the joint `turn` that encodes the step number of the state that it answers. The
effort of a later state therefore shows which command acted in the step before it. Prints one JSON object:
`age`, a count for each number of steps from the answered state to the state that shows its command (1: the
command acted in the very next step), `round_trip`, microseconds from sending a command to the first state
that shows it, `states` and `missed`, received and lost ones.

    python round_trip_controller.py single|events SECONDS
"""

import json
import sys
import time
from collections import Counter

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from sensor_msgs.msg import JointState

JOINT = "turn"
STEP_NS = 1_000_000
# The effort for one step number [N m]: a power of two, so that it is exact, and too small to move anything.
UNIT = 2.0**-30
# Discovery and the first second after it are not measured.
WARM_UP = 1.0


class Controller:
    def __init__(self, node):
        self.publisher = node.create_publisher(JointState, "joint_commands", 10)
        self.command = JointState(name=[JOINT], effort=[0.0])
        self.age, self.round_trip = Counter(), []
        self.sent, self.first, self.last, self.shown, self.states, self.missed = {}, None, None, 0, 0, 0
        node.create_subscription(JointState, "joint_states", self.answer, 10)

    def answer(self, state):
        now = time.perf_counter()
        stamp = state.header.stamp
        step = (stamp.sec * 1_000_000_000 + stamp.nanosec) // STEP_NS
        if self.last is not None and step <= self.last:
            return
        self.command.header.stamp = stamp
        self.command.effort[0] = step * UNIT
        self.publisher.publish(self.command)
        shown = round(state.effort[state.name.index(JOINT)] / UNIT)
        self.sent[step] = time.perf_counter()
        began = self.sent.pop(shown, None)
        if self.first is None and shown > 0:
            self.first = now
        if self.first is not None and now - self.first > WARM_UP:
            self.states += 1
            self.missed += step - self.last - 1
            self.age[step - shown] += 1
            if shown != self.shown and began is not None:
                self.round_trip.append((now - began) * 1e6)
        self.last, self.shown = step, shown


def main():
    kind, seconds = sys.argv[1], float(sys.argv[2])
    rclpy.init()
    node = rclpy.create_node("round_trip", start_parameter_services=False, enable_rosout=False)
    executor = {"single": SingleThreadedExecutor, "events": EventsExecutor}[kind]()
    executor.add_node(node)
    controller = Controller(node)
    give_up = time.perf_counter() + 60.0
    ended = lambda: controller.first is not None and time.perf_counter() - controller.first > WARM_UP + seconds
    while not ended() and time.perf_counter() < give_up + seconds:
        executor.spin_once(timeout_sec=0.1)
    print(json.dumps({"age": controller.age, "round_trip": controller.round_trip, "states": controller.states, "missed": controller.missed}))
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
