#!/usr/bin/env python3
"""The cost of the ROS layer, the speed of lockstep, and the node as a controller sees it. Needs the node:
. scripts/ros2-env, then build it.

  lockstep  steps per second with an rclpy controller that answers each state, in the scene of the node's
            tests; several runs.
  joins     the longest pause of joint_states at 1 kHz while a ROS process joins, with each transport of
            Fast DDS; --runs is the number of joins. A hole is a pause of more than 250 ms.
  clouds    how many point clouds of several sizes arrive over shared memory and over UDP.
  round_trip  the age of the command of each step [steps], and the time from a command to the state that
            shows it [us], at 1 kHz: in real time and in lockstep, with rclpy's executors and a controller in
            Rust (cargo build --release --features ros --example round_trip). --figure FILE draws it,
            --settings compares settings of the node.
  layer     the node's own time per step on the step thread [us], from /diagnostics, in real time, with joint
            states and commands at 1 kHz, and markers of the spatula scene's contact (about 150 faces) at
            30 Hz, all of which are received.

    ISOBAR_BIN=target/.../release python tests/bench/ros_node.py [WHAT] [--runs N] [--seconds S]
"""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))

import rclpy  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from rclpy.experimental import EventsExecutor  # noqa: E402
from sensor_msgs.msg import JointState, PointCloud2  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# Force that holds the spatula [N].
GRIP = {"left_finger_sliding_joint": 16.0, "right_finger_sliding_joint": -16.0}


# Environments that are compared: of the node, and of the processes that listen and join. Within a machine
# Fast DDS prefers shared memory; the range LOCALHOST fixes its transports, so that no other setting selects
# them.
SUBNET = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
UDP = {**SUBNET, "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}
PROFILE = {
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",
    "FASTRTPS_DEFAULT_PROFILES_FILE": str(ROOT / "config/dds/udp_on_this_machine.xml"),
}
SHARED_MEMORY = {**PROFILE, "FASTRTPS_DEFAULT_PROFILES_FILE": str(ROOT / "config/dds/shared_memory_on_this_machine.xml")}
ENVIRONMENTS = {
    "LOCALHOST": ({}, {}),
    "SUBNET": (SUBNET, SUBNET),
    "SUBNET, node with UDPv4": (UDP, SUBNET),
    "SUBNET, all with UDPv4": (UDP, UDP),
    "udp_on_this_machine.xml for all": (PROFILE, PROFILE),
    "shared_memory_on_this_machine.xml for all": (SHARED_MEMORY, SHARED_MEMORY),
}
# A process that joins, and subscribes a moment later, like a slow start. The port that it receives data on
# has then been idle for a while.
JOINS = """
import sys, time, rclpy
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("joining")
time.sleep(float(sys.argv[1]))
heard = []
node.create_subscription(JointState, "joint_states", heard.append, 10)
deadline = time.monotonic() + 30.0
while len(heard) < 100 and time.monotonic() < deadline:
    rclpy.spin_once(node, timeout_sec=0.1)
node.destroy_node()
rclpy.shutdown()
"""
# A process that listens to every state until a line arrives on stdin, and then prints stamps and arrivals
# [ms].
HEARS = """
import select, sys, time, rclpy
from rclpy.experimental import EventsExecutor
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("hears", start_parameter_services=False, enable_rosout=False)
executor, heard = EventsExecutor(), []
executor.add_node(node)
stamp = lambda m: m.header.stamp.sec * 1000 + m.header.stamp.nanosec // 1_000_000
node.create_subscription(JointState, "joint_states", lambda m: heard.append((stamp(m), time.monotonic() * 1e3)), 1000)
while not select.select([sys.stdin], [], [], 0.0)[0]:
    executor.spin_once(timeout_sec=0.02)
for message in heard:
    print(*message)
executor.shutdown()
node.destroy_node()
rclpy.shutdown()
"""


# Publishes point clouds of the given size at 30 Hz for 10 s, and prints their number.
CLOUDS = """
import sys, time, rclpy
from sensor_msgs.msg import PointCloud2
rclpy.init()
node = rclpy.create_node("clouds")
publisher, cloud, count = node.create_publisher(PointCloud2, "clouds", 1), PointCloud2(data=bytes(int(sys.argv[1]))), 0
due = time.monotonic()
end = due + 10.0
while time.monotonic() < end:
    publisher.publish(cloud)
    count, due = count + 1, due + 1.0 / 30.0
    time.sleep(max(0.0, due - time.monotonic()))
print(count)
"""


def start(scene, *parameters, environment=None, log=subprocess.DEVNULL, wrapper=()):
    binary = Path(os.environ["ISOBAR_BIN"]) / "isobar_node"
    arguments = [*wrapper, str(binary), "--ros-args", "-p", f"scene:={scene}"]
    for parameter in parameters:
        arguments += ["-p", parameter]
    return subprocess.Popen(arguments, stderr=log, cwd=ROOT, env={**os.environ, **(environment or {})})


def stop(process):
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0


class Client:
    """Answers every state with a command."""

    def __init__(self):
        # Without parameter services and rosout, because every entity costs time at each wake-up.
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


def joins(count, only):
    """For each environment: the pauses of joint_states while processes join, one after the other."""
    chosen = {name: both for name, both in ENVIRONMENTS.items() if only in name}
    for name, (of_node, of_others) in chosen.items():
        others = {**os.environ, **of_others}
        with tempfile.TemporaryFile("w+") as log:
            process = start("tests/ros/scenes/press.yaml", "joint_state_rate:=1000.0", environment=of_node, log=log)
            hears = subprocess.Popen([sys.executable, "-c", HEARS], env=others, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            time.sleep(3.0)
            began = []
            for run in range(count):
                began.append(time.monotonic() * 1e3)
                # The pauses before subscribing spread over the period with which Fast DDS checks its ports.
                subprocess.run([sys.executable, "-c", JOINS, str(1.0 + 2.0 * run / count)], env=others, check=True)
                time.sleep(0.5)
            began.append(time.monotonic() * 1e3)
            heard = [tuple(map(float, line.split())) for line in hears.communicate("end\n", timeout=60)[0].splitlines()]
            stop(process)
            log.seek(0)
            skipped = [line for line in log if "were not published" in line]
        pairs = list(zip(heard, heard[1:]))
        of_join = [[pair for pair in pairs if start <= pair[1][1] < end] for start, end in zip(began, began[1:])]
        holes = [max(later[1] - earlier[1] for earlier, later in join) for join in of_join]
        lost = [sum(later[0] - earlier[0] - 1 for earlier, later in join) for join in of_join]
        print(
            f"joins, {name}: {sum(hole > 250.0 for hole in holes)} of {count} with a hole above 250 ms; longest [ms]: "
            f"median {statistics.median(holes):.0f}, largest {max(holes):.0f}; states lost: {sum(lost):.0f}; {skipped}",
            flush=True,
        )


def clouds(only):
    """How many large messages arrive, over shared memory and over UDP with the discovery range SUBNET, or
    with an environment of all processes."""
    rclpy.init()
    node, heard = rclpy.create_node("hears_clouds"), []
    node.create_subscription(PointCloud2, "clouds", heard.append, 1)
    for size in (100_000, 300_000, 500_000, 1_000_000, 2_400_000):
        for name, environment in [(only, {})] if only else [("shared memory", {}), ("UDPv4", UDP)]:
            heard.clear()
            command = [sys.executable, "-c", CLOUDS, str(size)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
            while process.poll() is None:
                rclpy.spin_once(node, timeout_sec=0.05)
            print(f"clouds of {size} bytes, {name}: {len(heard)} of {process.stdout.read().strip()} arrived", flush=True)
    node.destroy_node()
    rclpy.shutdown()


CONTROLLERS = {
    "rclpy, single-threaded executor": [sys.executable, str(ROOT / "tests/bench/round_trip_controller.py"), "single"],
    "rclpy, events executor": [sys.executable, str(ROOT / "tests/bench/round_trip_controller.py"), "events"],
    "Rust, r2r": [str(Path(os.environ.get("ISOBAR_BIN", "")) / "examples/round_trip")],
}
MODES = {"real time": [], "lockstep": ["lockstep:=true", "real_time_factor:=0.0"]}


def answered(parameters, command, seconds, environment=None, wrapper=()):
    """Returns the measurements of a controller, which starts first, so that it does not disturb the node."""
    controller = subprocess.Popen([*command, str(seconds)], stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    time.sleep(1.0)
    scene = "tests/ros/scenes/press.yaml"
    process = start(scene, "joint_state_rate:=1000.0", *parameters, environment=environment, wrapper=wrapper)
    found = json.loads(controller.communicate(timeout=120)[0])
    stop(process)
    return {**found, "seconds": seconds}


def merged(runs):
    """All runs as one: ages, round trips, states and missed states. Rates and shares are of each run."""
    age = {}
    for run in runs:
        for steps, count in run["age"].items():
            age[int(steps)] = age.get(int(steps), 0) + count
    return {
        "age": dict(sorted(age.items())),
        "round_trip": sorted(time for run in runs for time in run["round_trip"]),
        "states": sum(run["states"] for run in runs),
        "missed": sum(run["missed"] for run in runs),
        "rates": [run["states"] / run["seconds"] for run in runs],
        # The share of commands that act in the very next step, of each run.
        "shares": [run["age"].get("1", 0) / max(run["states"], 1) for run in runs],
    }


def described(what, found):
    times = found["round_trip"]
    at = lambda share: times[min(int(share * len(times)), len(times) - 1)] if times else math.nan
    share = statistics.median(found["shares"])
    worst = max(found["age"], default=0)
    return (
        f"| {what} | {share:.2%} | {worst} | {at(0.5):.0f} | {at(0.99):.0f} | {times[-1] if times else math.nan:.0f} "
        f"| {statistics.median(found['rates']):.0f} | {found['missed']} of {found['states']} |"
    )


HEAD = """| | commands in the next step | oldest [steps] | round trip p50 [us] | p99 [us] | largest [us] | states/s | lost |
|---|---|---|---|---|---|---|---|"""


FIFO = ["chrt", "-f", "50"]
# The settings of --settings, in real time with the controller in Rust: parameters of the node, the
# environment of both, and the prefixes of the commands that start the node and the controller.
SETTINGS = {
    "as it is": ([], {}, [], []),
    "`realtime_priority: 50`": (["realtime_priority:=50"], {}, [], []),
    "`chrt -f 50` for the node": ([], {}, FIFO, []),
    "`realtime_priority: 50`, `chrt -f 50` for the controller": (["realtime_priority:=50"], {}, [], FIFO),
    "`chrt -f 50` for both": ([], {}, FIFO, FIFO),
    "and `lock_memory`": (["lock_memory:=true"], {}, FIFO, FIFO),
    "and a processor for each": (["cpus:=1"], {}, [*FIFO, "taskset", "-c", "1"], [*FIFO, "taskset", "-c", "0"]),
    "and `config/dds`": ([], PROFILE, FIFO, FIFO),
}


def round_trip(runs, seconds, figure, settings, prefix):
    """The runs of all controllers and modes, or of all settings, alternate, so that all see the same load."""
    if settings:
        rust = CONTROLLERS["Rust, r2r"]
        cases = {
            name: (parameters, [*before, *rust], environment, wrapper)
            for name, (parameters, environment, wrapper, before) in SETTINGS.items()
        }
    else:
        cases = {
            f"{controller}, {mode}": (parameters, [*prefix, *command], {}, prefix)
            for mode, parameters in MODES.items()
            for controller, command in CONTROLLERS.items()
        }
    found = {case: [] for case in cases}
    for _ in range(runs):
        for case, (parameters, command, environment, wrapper) in cases.items():
            found[case].append(answered(parameters, command, seconds, environment, wrapper))
    found = {case: merged(of_case) for case, of_case in found.items()}
    print(f"load average {os.getloadavg()[0]:.1f}", HEAD, sep="\n")
    for case, of_case in found.items():
        print(described(case, of_case))
    if figure:
        draw(found, figure)


def draw(found, file):
    """Histograms of the time from a command to the state that shows it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = len(found) // len(MODES)
    figure, axes = plt.subplots(len(MODES), columns, figsize=(4.0 * columns, 2.6 * len(MODES)), squeeze=False)
    for axis, (case, of_case) in zip(axes.flat, found.items()):
        edges = [10.0 * 1.15**k for k in range(70)]
        axis.hist(of_case["round_trip"], bins=edges, color="#1a73d9")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlim(30.0, 1e5)
        axis.set_title(case, fontsize=9)
        axis.set_xlabel("from a command to the state that shows it [us]", fontsize=8)
        axis.set_ylabel("commands", fontsize=8)
        axis.tick_params(labelsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["lockstep", "layer", "joins", "clouds", "round_trip"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--figure", type=Path, help="round_trip: file of the histograms")
    parser.add_argument("--only", default="", help="joins, clouds: environments whose names contain this")
    parser.add_argument("--prefix", default="", help="round_trip: prefix of the commands that start node and controllers, such as chrt -f 50")
    parser.add_argument("--settings", action="store_true", help="round_trip: compare settings instead of controllers")
    arguments = parser.parse_args()
    if arguments.what == "clouds":
        # Before rclpy reads it.
        os.environ.update(next(of_all for name, (_, of_all) in ENVIRONMENTS.items() if arguments.only in name) if arguments.only else SUBNET)
        clouds(arguments.only)
        return
    rclpy.init()
    if arguments.what in (None, "lockstep"):
        rates = [lockstep(arguments.seconds) for _ in range(arguments.runs)]
        print("lockstep [steps/s]: median", round(statistics.median(rates)), "of", [round(rate) for rate in rates])
    if arguments.what in (None, "layer"):
        for _ in range(arguments.runs):
            print("layer:", {key: round(number, 3) for key, number in layer(arguments.seconds).items()})
    if arguments.what == "joins":
        joins(arguments.runs, arguments.only)
    if arguments.what == "round_trip":
        round_trip(arguments.runs, arguments.seconds, arguments.figure, arguments.settings, arguments.prefix.split())
    rclpy.shutdown()


if __name__ == "__main__":
    main()
