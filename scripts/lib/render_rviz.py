"""Runs a task and draws the published topics as its RViz configuration shows them, to DOCS/ros/TASK.png."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_state_publisher import RobotStatePublisher
from rviz_view import View, nanoseconds
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

ROOT = Path(__file__).resolve().parents[2]
# The robot of each task, the keyframe of the picture, and the simulated time after its start [s]. The grip
# controller has no keyframes.
TASKS = {
    "cube_stacking": ("iiwa14_wsg50", "over the stack", 1.6),
    "iiwa_demo": ("iiwa14_wsg50", "press the foam", 2.0),
    "jaco_demo": ("j2s7s300", "carry", 1.5),
    "pancake_flip": ("j2n6_bubble_gripper", "raise", 1.9),
    "spatula_slip": ("wsg50_bubble_gripper", None, 4.0),
}
# The longest time of a task [s of real time].
PATIENCE = 600.0


def processes(task, binaries):
    """The command lines of the simulator, which starts paused, and of the controller."""
    scene = ROOT / f"config/{task}.yaml"
    given = [f"scene:={scene}", "lockstep:=true", "real_time_factor:=0.0", "start_paused:=true", "publish_robot_description:=true"]
    node = [str(binaries / "isobar_node"), "--ros-args", *[word for name in given for word in ("-p", name)]]
    robot, phase, _ = TASKS[task]
    if phase is None:
        return [node, [sys.executable, str(ROOT / "controllers/grip_controller.py")]]
    # The keyframes of the pancake flip are in frames of the stove and of the stand.
    cell = f"scene:={scene}" if task == "pancake_flip" else f"urdf:={ROOT / 'urdf' / robot}.urdf"
    arguments = ["--ros-args", "-p", f"task:={ROOT / 'config/tasks' / task}.yaml", "-p", cell]
    return [node, [sys.executable, str(ROOT / "controllers/keyframe_controller.py"), *arguments]]


def wait(node, condition, what, running):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"no {what} within {PATIENCE:.0f} s")
        for process in running:
            if process.poll() is not None:
                raise SystemExit(f"{process.args[0]} ended while waiting for {what}")
        rclpy.spin_once(node, timeout_sec=0.1)


def moment(node, view, running, phase, after):
    """Lets the simulation run to `after` seconds into a keyframe, and returns the stamp of the next markers
    [ns], when all transforms of that time are known."""
    now, start = [0], [None if phase else 0]

    def state(message):
        now[0] = nanoseconds(message.header.stamp)

    def keyframe(message):
        if message.data == phase and start[0] is None:
            start[0] = now[0]

    node.create_subscription(JointState, "joint_states", state, 100)
    node.create_subscription(String, "task/phase", keyframe, QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    client = node.create_client(SetBool, "isobar/pause")
    wait(node, lambda: client.service_is_ready() and node.count_publishers("joint_states") and node.count_subscribers("joint_states") > 2, "the node", running)
    answer = client.call_async(SetBool.Request(data=False))
    wait(node, answer.done, "the start", running)
    found = []

    def there():
        stamp = view.time_of_markers()
        if not found and start[0] is not None and stamp >= start[0] + 1e9 * after:
            view.hold_markers()
            found.append(stamp)
        return found and view.transforms.reach(found[0])

    wait(node, there, "markers", running)
    return found[0]


def picture(task, folder, size):
    node = rclpy.create_node("render_rviz")
    binaries = Path(os.environ["ISOBAR_BIN"])
    running = [subprocess.Popen(command, cwd=ROOT) for command in processes(task, binaries)]
    try:
        RobotStatePublisher(node)
        view = View(node, ROOT / f"config/rviz/{task}.rviz")
        _, phase, after = TASKS[task]
        parts = view.parts(moment(node, view, running, phase, after))
    finally:
        for process in reversed(running):
            process.send_signal(signal.SIGINT)
            process.wait(30)
        node.destroy_node()
    for error in view.errors:
        print(f"{task}: {error}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        drawing = Path(scratch) / "drawing.json"
        drawing.write_text(view.drawing(parts, size))
        out = folder / f"{task}.png"
        subprocess.run([binaries / "isobar", "draw", drawing, "--package", f"isobar={ROOT}", "--out", out], check=True, cwd=ROOT)
    return not view.errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; all if none is given")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/ros", help="the folder of the pictures")
    parser.add_argument("--size", default="960x800", help="columns x rows; the view in a window of 1280 x 900")
    arguments = parser.parse_args()
    if unknown := set(arguments.tasks) - set(TASKS):
        parser.error(f"no task {', '.join(unknown)}; there are {', '.join(TASKS)}")
    columns, rows = (int(side) for side in arguments.size.split("x"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    rclpy.init()
    good = [picture(task, arguments.out, (columns, rows)) for task in arguments.tasks or TASKS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
