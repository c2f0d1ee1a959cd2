"""Pictures of each task as RViz shows it, from published messages alone: robot, objects, contact patches and
arrows are in them, at the positions that other topics give."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml
from conftest import ROOT, stamp_ns
from geometry_msgs.msg import PoseStamped
from PIL import Image
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

pytest.importorskip("tf2_msgs.msg", reason="tf2_msgs is not installed")
for folder in ("controllers", "scripts/lib"):
    sys.path.insert(0, str(ROOT / folder))
from isobar_control.cell import urdf_path, welded_frames  # noqa: E402
from isobar_control.robot import Robot  # noqa: E402
from robot_state_publisher import RobotStatePublisher  # noqa: E402
from rviz_view import FIELD_OF_VIEW, View  # noqa: E402

SIZE = (320, 270)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LOCKSTEP = {"lockstep": "true", "real_time_factor": "0.0", "use_rviz": "false", "state_publisher": "false"}
# The arguments of the launch file, the keyframe of the picture, and the gripper's links: how their names
# begin, and one of them.
TASKS = {
    "cube_stacking": ({"stepping": "quasistatic", "step": "0.1"}, "lift", "wsg50", "wsg50_left_finger"),
    "iiwa_demo": ({"stepping": "quasistatic", "step": "0.02"}, "press the foam", "wsg50", "wsg50_left_finger"),
    "jaco_demo": ({"stepping": "quasistatic", "step": "0.02"}, "lift", "j2s7s300_link_finger", "j2s7s300_link_finger_1"),
    "pancake_flip": ({"step": "0.004"}, "lift", ("left_finger", "right_finger"), "left_finger_bubble"),
    "spatula_slip": ({"step": "0.002"}, None, ("left_finger", "right_finger"), "left_finger_bubble"),
}
# Without keyframes: 16 N are reached after a second [s].
GRIPPED = 1.5


def drawn(view, parts, folder):
    """The picture of `parts`: rows, columns, and colours from 0 to 255."""
    file, out = folder / "drawing.json", folder / "drawing.png"
    file.write_text(view.drawing(parts, SIZE))
    program = os.path.join(os.environ["ISOBAR_BIN"], "isobar")
    subprocess.run([program, "draw", file, "--out", out, "--package", f"isobar={ROOT}"], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return np.asarray(Image.open(out)).astype(int)


def visible(view, parts, wanted, folder):
    """The pixels (column, row) that change when the wanted parts are left out."""
    kept = [part for part in parts if not wanted(part)]
    assert len(kept) < len(parts), "there is no such part"
    changed = np.abs(drawn(view, parts, folder) - drawn(view, kept, folder)).max(axis=2) > 8
    rows, columns = np.nonzero(changed)
    return np.stack([columns, rows], axis=1)


def on_screen(view, point):
    """The pixel of a point, by the camera's closed form."""
    eye, focus = view.eye()
    forward = (focus - eye) / np.linalg.norm(focus - eye)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    offset = np.asarray(point) - eye
    scale = 0.5 * SIZE[1] / math.tan(0.5 * FIELD_OF_VIEW) / (offset @ forward)
    return np.array([0.5 * SIZE[0] + scale * (offset @ right), 0.5 * SIZE[1] - scale * (offset @ np.cross(right, forward))]), scale


@pytest.fixture
def shown(heard_from_the_start, listener):
    """The view of a task in the middle of it, its parts, and the poses of the objects and of a gripper's link
    by other topics than /tf."""

    def run(task):
        frames = RobotStatePublisher(listener.node)
        view = View(listener.node, ROOT / f"config/rviz/{task}.rviz")
        given, phase, _, link = TASKS[task]
        phases = listener.listen(String, "/task/phase", LATCHED) if phase else []
        states = listener.listen(JointState, "/joint_states", 100)
        scene = ROOT / f"config/{task}.yaml"
        poses = {}
        for model in yaml.safe_load(scene.read_text())["models"]:
            if "free" in model:
                robot = Robot(urdf_path(model["urdf"], scene).read_text())
                root = model.get("prefix", "") + next(name for name in robot.links if name not in robot.parent_joint)
                poses[model["name"]] = listener.listen(PoseStamped, f"/isobar/pose/{root}", 100)
        # The description arrives at any time after the topics are there.
        described = lambda: frames.robot is not None and view.is_described()
        heard_from_the_start(f"{task}.launch.py", {**given, **LOCKSTEP}, described, publish_robot_description=True)
        start = lambda: states and (any(m.data == phase for m in phases) if phase else stamp_ns(states[-1]) > 1e9 * GRIPPED)
        listener.wait_until(start, f"keyframe {phase}", 150.0)
        begun = stamp_ns(states[-1]) + 200_000_000
        listener.wait_until(lambda: view.time_of_markers() >= begun, "markers")
        view.hold_markers()
        at = view.time_of_markers()
        listener.wait_until(lambda: view.transforms.reach(at), "transforms of that time")
        last = lambda messages: [message for message in messages if stamp_ns(message) <= at][-1]
        positions = {name: last(messages).pose.position for name, messages in poses.items()}
        places = {name: np.array([p.x, p.y, p.z]) for name, p in positions.items()}
        joints = last(states)
        joints = dict(zip(joints.name, joints.position))
        _, welded = welded_frames(scene)
        (robot, (R, p)), *_ = [(robot, base) for robot, base in welded.values() if link in robot.links]
        places["gripper"] = p + R @ robot.pose(link, joints)[1]
        return view, view.parts(at), places

    return run


@pytest.mark.parametrize("task", TASKS)
def test_rviz_shows_robot_objects_patches_and_arrows(shown, listener, tmp_path, task):
    view, parts, places = shown(task)
    assert view.errors == []
    gripper = TASKS[task][2]
    seen = {"gripper": lambda part: part[0] == "Robot" and part[1].startswith(gripper)}
    for name in {part[1].rsplit(" ", 1)[0] for part in parts if part[0] == "Scene"}:
        seen[name] = lambda part, name=name: part[0] == "Scene" and part[1].rsplit(" ", 1)[0] == name
    assert set(places) <= set(seen), "each object that moves is a marker"
    seen["patches"] = lambda part: part[0] == "Contact patches" and part[1].endswith(" 0")
    seen["arrows"] = lambda part: part[0].startswith("Force on")
    for name, wanted in seen.items():
        pixels = visible(view, parts, wanted, tmp_path)
        # A line across a twentieth of the picture.
        assert len(pixels) >= SIZE[0] // 20, f"{name} is seen in {len(pixels)} pixels"
        if name in places:
            at, scale = on_screen(view, places[name])
            away = np.linalg.norm(pixels + 0.5 - at, axis=1).min() / scale
            # Half of the largest object, a part of which may be hidden.
            assert away < 0.1, f"{name} is seen {away:.3f} m beside its place"


def test_what_is_not_on_tf_is_an_error_and_not_drawn(shown):
    view, parts, _ = shown("spatula_slip")
    for name, message in list(view.heard.items()):
        for marker in view.markers(name) if isinstance(message, dict) else []:
            marker.header.frame_id += "_unknown"
    kinds = lambda parts: {part[0] for part in parts}
    left = view.parts(view.time_of_markers())
    assert kinds(parts) - kinds(left) == {"Scene", "Contact patches"}
    assert any("spatula_unknown" in error for error in view.errors) and any("world_unknown" in error for error in view.errors)
    del view.transforms.fixed[view.transforms.step("left_finger_bubble", view.time_of_markers())[0]]
    left = view.parts(view.time_of_markers())
    assert not [part for part in left if part[:2] == ("Robot", "left_finger_bubble")]
    assert any("left_finger_bubble" in error for error in view.errors)
