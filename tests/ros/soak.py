"""A soak test of the node at full speed: controllers that come and go, entities spawned and deleted,
resets, a recording that is switched off and on, and a subscriber that never reads. Prints memory, threads,
endpoints and step time over the run.
scripts/soak runs it."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from conftest import BEST_EFFORT, PATIENCE, Listener, RunningNode  # noqa: E402
import rclpy  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, PointCloud2  # noqa: E402
from simulation_interfaces import srv  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from test_worlds import BRICK, resource  # noqa: E402

RESET_EVERY = 10
COUNTS = ("threads", "files", "endpoints")


class Soak:
    def __init__(self, folder, record):
        parameters = ["real_time_factor:=0.0", f"checkpoint:={folder / 'run.checkpoint'}", "checkpoint_period:=60.0"]
        if record:
            parameters.append(f"record:={folder / 'run.mcap'}")
        self.folder, self.record, self.recorded = folder, record, 0
        self.node = RunningNode(folder, parameters=parameters)
        self.listener = Listener("soak")
        self.clock = []
        self.listener.node.create_subscription(Clock, "/clock", self.hear_clock, BEST_EFFORT)
        self.status = None
        self.listener.node.create_subscription(DiagnosticArray, "/diagnostics", self.hear, 10)
        # Nothing ever spins this node: its queues stay full.
        self.deaf = rclpy.create_node("never_reads")
        for kind, topic in ((JointState, "/joint_states"), (PointCloud2, "/isobar/contact_patches")):
            self.deaf.create_subscription(kind, topic, lambda message: None, 10)
        self.steps, self.cycles = 0, 0

    def hear_clock(self, message):
        self.clock = [message]

    def hear(self, message):
        for status in message.status:
            if status.name.endswith("simulation"):
                self.status = {entry.key: entry.value for entry in status.values}
                self.steps += int(self.status["steps"])

    def endpoints(self):
        node = self.listener.node
        calls = (node.get_publisher_names_and_types_by_node, node.get_subscriber_names_and_types_by_node)
        calls += (node.get_service_names_and_types_by_node,)
        return sum(len(call("isobar", "/")) for call in calls)

    def sample(self):
        self.status = None
        self.listener.wait_until(lambda: self.status, "diagnostics")
        process = Path(f"/proc/{self.node.process.pid}")
        lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
        return {
            "steps": self.steps,
            "cycles": self.cycles,
            "recorded files": self.recorded,
            "memory [MB]": int(lines["VmRSS"].split()[0]) / 1024,
            "threads": int(lines["Threads"]),
            "files": len(os.listdir(process / "fd")),
            "endpoints": self.endpoints(),
            "step p50 [us]": float(self.status["step time p50 [us]"]),
            "step p99 [us]": float(self.status["step time p99 [us]"]),
        }

    def settled(self, first):
        """A sample with no more threads, files and endpoints than `first`, or the last sample before the time
        limit: files of earlier worlds are still being written for a while."""
        deadline = time.monotonic() + PATIENCE
        while True:
            row = self.sample()
            if all(row[count] <= first[count] for count in COUNTS) or time.monotonic() > deadline:
                return row

    def keep_disk_free(self):
        """Deletes all files but the two newest, and counts the deleted ones."""
        files = sorted(self.folder.glob("run*.mcap"), key=lambda file: file.stat().st_mtime)
        for file in files[:-2]:
            file.unlink()
            self.recorded += 1

    def cycle(self):
        """Adds a controller, which commands and pushes, and a brick, and removes both. Every tenth cycle also
        resets the simulation."""
        self.cycles += 1
        controller = rclpy.create_node(f"controller_{self.cycles}")
        commands = controller.create_publisher(JointState, "/joint_commands", 10)
        wrenches = controller.create_publisher(WrenchStamped, "/isobar/apply_wrench", 10)
        self.listener.wait_until(lambda: commands.get_subscription_count() > 0, "the node's subscription")
        for number in range(20):
            commands.publish(JointState(name=["slide", "turn"], position=[-0.01 * (number % 5), 0.1 * number]))
            wrench = WrenchStamped()
            wrench.header.frame_id, wrench.wrench.force.z = "pad", 0.5 * number
            wrenches.publish(wrench)
            self.listener.spin_for(0.005)
        request = resource(srv.SpawnEntity.Request(name="brick"), "", BRICK)
        request.initial_pose.pose.position.x, request.initial_pose.pose.position.z = 2.0, 0.06
        request.initial_pose.pose.orientation.w = 1.0
        spawned = self.listener.call(srv.SpawnEntity, "/isobar/spawn_entity", request)
        assert spawned.result.result == 1, spawned.result.error_message
        deleted = self.listener.call(srv.DeleteEntity, "/isobar/delete_entity", srv.DeleteEntity.Request(entity="brick"))
        assert deleted.result.result == 1, deleted.result.error_message
        if self.cycles % RESET_EVERY == 0:
            assert self.listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
        controller.destroy_node()
        if self.record:
            # Off in each odd cycle, on in each even one.
            on = self.cycles % 2 == 0
            answer = self.listener.call(SetBool, "/isobar/record", SetBool.Request(data=on))
            assert answer.success, answer.message
            self.keep_disk_free()


def run(steps, seconds, record, warm_up, cycles=0):
    """Rows of the table: after the warm-up, after each tenth of the steps, and at the end. At least `cycles`
    cycles follow the warm-up."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), record)
        try:
            began = time.monotonic()
            for _ in range(warm_up):
                soak.cycle()
            rows.append(min((soak.sample() for _ in range(3)), key=lambda row: (row["threads"], row["files"])))
            left = lambda: soak.steps < steps or soak.cycles < warm_up + cycles  # noqa: E731
            while left() and time.monotonic() - began < seconds:
                soak.cycle()
                if steps and soak.steps >= len(rows) * steps / 10:
                    rows.append(soak.sample())
            rows.append(soak.settled(rows[0]))
        finally:
            status = soak.node.end()
            soak.deaf.destroy_node()
            soak.listener.node.destroy_node()
        assert status == 0, f"the node ended with {status}"
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000, help="steps to take (10 million)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="real time after which it ends")
    parser.add_argument("--record", action="store_true", help="record to an MCAP file")
    options = parser.parse_args()
    rclpy.init()
    rows = run(options.steps, options.seconds, options.record, warm_up=20)
    rclpy.shutdown()
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(f"{value:.1f}" if isinstance(value, float) else str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
