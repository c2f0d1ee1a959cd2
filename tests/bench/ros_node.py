#!/usr/bin/env python3
"""The cost of the ROS layer, and the speed of lockstep. Needs the node: . scripts/ros2-env, then build it.

  lockstep  steps per second with an rclpy controller that answers each state, in the scene of the node's
            tests; several runs.
  layer     the node's own time per step on the step thread [us], from /diagnostics, in real time, with joint
            states and commands at 1 kHz, and markers of the spatula scene's contact (about 150 faces) at
            30 Hz, all of which are received.

    ISOBAR_BIN=target/.../release python tests/bench/ros_node.py [lockstep|layer] [--runs N] [--seconds S]
"""

import argparse
import os
import signal
import statistics
import subprocess
import time
from pathlib import Path

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))

import rclpy  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from rclpy.experimental import EventsExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# Force that holds the spatula [N].
GRIP = {"left_finger_sliding_joint": 16.0, "right_finger_sliding_joint": -16.0}


def start(scene, *parameters):
    binary = Path(os.environ["ISOBAR_BIN"]) / "isobar_node"
    arguments = [str(binary), "--ros-args", "-p", f"scene:={scene}"]
    for parameter in parameters:
        arguments += ["-p", parameter]
    return subprocess.Popen(arguments, stderr=subprocess.DEVNULL, cwd=ROOT)


def stop(process):
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0


class Client:
    """Answers states, and stores all other messages."""

    def __init__(self):
        # A fast controller does without these entities, because each costs time at every wake-up.
        self.node = rclpy.create_node("bench", start_parameter_services=False, enable_rosout=False)
        # This executor takes far less time per message than the others.
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.states = 0
        self.command = JointState()
        self.publisher = self.node.create_publisher(JointState, "joint_commands", 10)
        self.node.create_subscription(JointState, "joint_states", self.answer, 10)

    def answer(self, state):
        self.states += 1
        if not self.command.name:
            self.command.name = list(state.name)
            self.command.effort = [GRIP.get(name, 0.0) for name in state.name]
        self.command.header.stamp = state.header.stamp
        self.publisher.publish(self.command)

    def spin(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.05)

    def end(self):
        self.executor.shutdown()
        self.node.destroy_node()


def lockstep(seconds):
    process = start("tests/ros/scenes/press.yaml", "lockstep:=true", "real_time_factor:=0.0")
    client = Client()
    client.spin(2.0)
    before, began, used = client.states, time.monotonic(), (cpu_seconds(os.getpid()), cpu_seconds(process.pid))
    client.spin(seconds)
    steps, lasted = client.states - before, time.monotonic() - began
    ours, nodes = (cpu_seconds(pid) - was for pid, was in zip((os.getpid(), process.pid), used))
    client.end()
    stop(process)
    print(f"lockstep: {steps / lasted:.0f} steps/s; CPU time a step: controller {ours / steps * 1e6:.0f} us, node {nodes / steps * 1e6:.0f} us")
    return steps / lasted


def cpu_seconds(pid):
    """User and system time of a process, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def value(message, key):
    return float(next(entry.value for entry in message.status[0].values if entry.key == key))


def layer(seconds):
    process = start("config/spatula_slip.yaml", "joint_state_rate:=1000.0", "marker_rate:=30.0")
    client = Client()
    reports, faces = [], []
    client.node.create_subscription(DiagnosticArray, "/diagnostics", reports.append, 10)
    triangles = lambda array: sum(len(m.points) // 3 for m in array.markers if m.type == Marker.TRIANGLE_LIST)
    client.node.create_subscription(MarkerArray, "/isobar/contact_markers", lambda array: faces.append(triangles(array)), 10)
    client.spin(2.0)
    del reports[:], faces[:]
    client.spin(seconds)
    client.end()
    stop(process)
    median = lambda key: statistics.median(value(report, key) for report in reports)
    return {
        "node's own time a step p50 [us]": median("node's own time a step p50 [us]"),
        "node's own time a step p99 [us]": median("node's own time a step p99 [us]"),
        "step p50 [us]": median("step time p50 [us]"),
        "contact faces": median("contact faces"),
        "marker arrays a second": len(faces) / seconds,
        "real-time factor": median("real-time factor"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["lockstep", "layer"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    rclpy.init()
    if arguments.what in (None, "lockstep"):
        rates = [lockstep(arguments.seconds) for _ in range(arguments.runs)]
        print("lockstep [steps/s]: median", round(statistics.median(rates)), "of", [round(rate) for rate in rates])
    if arguments.what in (None, "layer"):
        for _ in range(arguments.runs):
            print("layer:", {key: round(number, 3) for key, number in layer(arguments.seconds).items()})
    rclpy.shutdown()


if __name__ == "__main__":
    main()
