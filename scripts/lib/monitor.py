"""The demo's monitor: unpauses the simulation when all processes listen, shows a live line while it runs,
then a plot and a table."""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

# Simulated time between samples [s].
SAMPLE = 0.01
# The run fails if the clock stands still for this long, or if a topic is missing at the start for this long
# [s].
PATIENCE = 30.0
# The interval between steps of the paused simulation at the start [s]: late processes were discovered within
# 3 s, which are 30 steps.
REQUEST = 0.1
# A request without an answer after this time is sent again [s].
ANSWER = 1.0
# The first part of a phase, which the means of the table leave out because the grip has not settled.
SETTLED = 0.5

TOPICS = {
    "commanded": "/grip_force/commanded",
    "measured": "/grip_force/measured",
    "pitch": "/isobar/output/pitch",
    "area": "/isobar/output/contact_area",
    "faces": "/isobar/output/contact_faces",
}
# The plot needs these topics.
NEEDED = ("commanded", "measured", "pitch", "area")


class Monitor(Node):
    def __init__(self):
        super().__init__("demo_monitor")
        self.time = None
        self.latest = dict.fromkeys(TOPICS, float("nan"))
        self.samples = {name: [] for name in ("time", *TOPICS)}
        self.create_subscription(Clock, "/clock", self.on_clock, QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
        for name, topic in TOPICS.items():
            self.create_subscription(Float64, topic, lambda message, name=name: self.on_value(name, message), 10)
        self.step = self.create_client(Trigger, "/isobar/step")
        self.pause = self.create_client(SetBool, "/isobar/pause")

    def unheard(self):
        """The topics of the plot from which no message has arrived yet."""
        clock = ["/clock"] if self.time is None else []
        return clock + [TOPICS[name] for name in NEEDED if self.latest[name] != self.latest[name]]

    def on_value(self, name, message):
        self.latest[name] = message.data

    def on_clock(self, message):
        self.time = message.clock.sec + 1e-9 * message.clock.nanosec
        times = self.samples["time"]
        if not times or self.time - times[-1] >= SAMPLE:
            times.append(self.time)
            for name in TOPICS:
                self.samples[name].append(self.latest[name])


def alive(pid):
    """Whether a process runs. A process that has ended but was not waited for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for_all(monitor, processes):
    """Waits until the node, the controller and the monitor receive each other's messages; returns a problem,
    or None.

    A publisher that is known here may be unknown to other processes. So the paused simulation takes single
    steps until the controller's answer to one has arrived: then the state and the forces have reached the
    controller, and the answer has come back.
    """
    deadline = time.monotonic() + PATIENCE
    asked = 0.0
    while unheard := monitor.unheard():
        rclpy.spin_once(monitor, timeout_sec=0.05)
        now = time.monotonic()
        if not all(alive(pid) for pid in processes):
            return "a process ended unexpectedly"
        if now > deadline:
            return f"nothing was received on {', '.join(unheard)} for {PATIENCE:.0f} s"
        if now - asked > REQUEST and monitor.step.service_is_ready() and all(map(monitor.count_publishers, unheard)):
            asked = now
            monitor.step.call_async(Trigger.Request())
    return None


def let_go(monitor, processes):
    """Ends the pause; returns a problem, or None. The node sends no answer to a client that it does not know
    yet, so the request is repeated."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and all(alive(pid) for pid in processes):
        if monitor.pause.service_is_ready():
            answer = monitor.pause.call_async(SetBool.Request(data=False))
            rclpy.spin_until_future_complete(monitor, answer, timeout_sec=ANSWER)
            if answer.done():
                return None if answer.result().success else answer.result().message
        rclpy.spin_once(monitor, timeout_sec=0.05)
    return "the simulation could not be unpaused"


def watch(monitor, seconds, processes):
    """Spins until `seconds` of simulated time; returns the mean real-time factor, or None with a message."""
    start_wall = last_wall = progress_wall = time.monotonic()
    start_time = last_time = monitor.time
    live = sys.stdout.isatty()
    while monitor.time < seconds:
        rclpy.spin_once(monitor, timeout_sec=0.05)
        now = time.monotonic()
        for pid in processes:
            if not alive(pid):
                print(f"\nprocess {pid} ended unexpectedly", file=sys.stderr)
                return None
        if now - last_wall < (0.2 if live else 1.0):
            continue
        factor = (monitor.time - last_time) / (now - last_wall)
        if monitor.time > last_time:
            progress_wall = now
        line = live_line(monitor, factor)
        print(f"\r{line}" if live else line, end="" if live else "\n", flush=True)
        last_time, last_wall = monitor.time, now
        if now - progress_wall > PATIENCE:
            print(f"\nthe clock has not moved for {PATIENCE:.0f} s", file=sys.stderr)
            return None
    if live:
        print()
    return (monitor.time - start_time) / max(time.monotonic() - start_wall, 1e-9)


def live_line(monitor, factor):
    value = monitor.latest
    faces = "" if value["faces"] != value["faces"] else f"   faces {value['faces']:4.0f}"
    return (
        f"t {monitor.time:7.2f} s   real-time factor {factor:4.2f}{faces}   "
        f"grip {value['measured']:5.2f} of {value['commanded']:4.1f} N   "
        f"pitch {value['pitch']:+.4f} rad   area {value['area'] * 1e4:5.2f} cm2 "
    )


def phases(samples):
    """Spans of equal commanded force: (force, first index, end index)."""
    commanded = samples["commanded"]
    spans = []
    for index, force in enumerate(commanded):
        if force != force:
            continue
        if spans and spans[-1][0] == force and spans[-1][2] == index:
            spans[-1][2] = index + 1
        else:
            spans.append([force, index, index + 1])
    return [span for span in spans if span[2] - span[1] >= 5]


def finite(values):
    return [value for value in values if value == value]


def table(samples, factor):
    lines = [
        f"{'commanded':>10} {'from':>7} {'to':>7} {'measured':>10} {'pitch start':>12} {'pitch end':>11} {'slip':>9} {'area':>9} {'faces':>6}",
        f"{'[N]':>10} {'[s]':>7} {'[s]':>7} {'[N]':>10} {'[rad]':>12} {'[rad]':>11} {'[rad/s]':>9} {'[cm2]':>9} {'':>6}",
    ]
    for force, first, end in phases(samples):
        settled = slice(first + int(SETTLED * (end - first)), end)
        start, stop = samples["time"][first], samples["time"][end - 1]
        pitch = samples["pitch"][first:end]
        mean = {name: statistics.fmean(finite(samples[name][settled]) or [float("nan")]) for name in TOPICS}
        slip = (pitch[-1] - pitch[0]) / max(stop - start, 1e-9)
        lines.append(
            f"{force:10.2f} {start:7.2f} {stop:7.2f} {mean['measured']:10.3f} {pitch[0]:12.4f} {pitch[-1]:11.4f} "
            f"{slip:9.4f} {mean['area'] * 1e4:9.3f} {mean['faces']:6.0f}"
        )
    lines.append(f"measured force, area and faces: mean of the last half of the phase; mean real-time factor {factor:.2f}")
    return "\n".join(lines)


def plot(samples, path):
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(9, 7.5), constrained_layout=True)
    times = samples["time"]
    axes[0].step(times, samples["commanded"], where="post", color="0.35", linestyle="--", label="commanded")
    axes[0].plot(times, samples["measured"], color="tab:red", linewidth=1.2, label="measured (mean of both pads)")
    axes[0].set_ylabel("grip force [N]")
    axes[0].legend(loc="best")
    axes[1].plot(times, samples["pitch"], color="tab:blue")
    axes[1].set_ylabel("spatula pitch [rad]")
    axes[2].plot(times, [area * 1e4 for area in samples["area"]], color="tab:green")
    axes[2].set_ylabel("contact area [cm$^2$]")
    axes[2].set_xlabel("simulated time [s]")
    for axis in axes:
        axis.grid(alpha=0.3)
    axes[0].set_title("A soft-bubble gripper holds a spatula, and lets it slip")
    figure.savefig(path, dpi=130)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=12.0, help="simulated time to watch")
    parser.add_argument("--out", type=Path, required=True, help="folder for the plot and the table")
    parser.add_argument("--watch", type=int, nargs="*", default=[], help="processes that must stay alive")
    arguments = parser.parse_args()
    rclpy.init()
    monitor = Monitor()
    amiss = wait_for_all(monitor, arguments.watch) or let_go(monitor, arguments.watch)
    if amiss:
        print(amiss, file=sys.stderr)
        return 1
    factor = watch(monitor, arguments.seconds, arguments.watch)
    if factor is None:
        return 1
    summary = table(monitor.samples, factor)
    (arguments.out / "summary.txt").write_text(summary + "\n")
    plot(monitor.samples, arguments.out / "grip.png")
    print(f"\n{summary}\n\nplot: {os.path.relpath(arguments.out / 'grip.png')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
