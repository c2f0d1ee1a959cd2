"""RViz's configurations: the camera of each task sees its robot and its objects, and every displayed topic
exists. Without ROS and RViz."""

import importlib.util
import math
import sys
from importlib.machinery import SourceFileLoader

import numpy as np
import pytest
import yaml
from conftest import ROOT

sys.path.insert(0, str(ROOT / "controllers"))
from isobar_control.cell import urdf_path, welded_frames  # noqa: E402
from isobar_control.robot import Robot  # noqa: E402

TASKS = {
    "cube_stacking": "wsg50_grasp",
    "iiwa_demo": "wsg50_grasp",
    "jaco_demo": "j2s7s300_end_effector",
    "pancake_flip": "gripper",
    "spatula_slip": "left_finger_bubble",
}
# The vertical field of view of RViz's camera [rad], which is Ogre's default, and the smallest ratio of width
# to height of the picture in a window of the files' size [-].
FIELD_OF_VIEW = math.radians(45)
ASPECT = 1.0
# The names that a configuration may use, from the documentation of rviz_default_plugins and rviz_common
# (jazzy).
TOPIC = {"Value", "Depth", "Durability Policy", "Filter size", "History Policy", "Reliability Policy"}
KNOWN = {
    "rviz_default_plugins/Grid": {
        "Alpha", "Cell Size", "Color", "Line Style", "Normal Cell Count", "Offset", "Plane", "Plane Cell Count", "Reference Frame",
    },
    "rviz_default_plugins/RobotModel": {
        "Alpha", "Collision Enabled", "Description File", "Description Source", "Description Topic", "Links", "Mass Properties",
        "TF Prefix", "Update Interval", "Visual Enabled",
    },
    "rviz_default_plugins/MarkerArray": {"Namespaces", "Topic"},
    "rviz_default_plugins/TF": {
        "Filter (blacklist)", "Filter (whitelist)", "Frame Timeout", "Frames", "Marker Scale", "Show Arrows", "Show Axes", "Show Names",
        "Tree", "Update Interval",
    },
    "rviz_default_plugins/Wrench": {
        "Accept NaN Values", "Alpha", "Arrow Width", "Force Arrow Scale", "Force Color", "History Length", "Topic",
        "Torque Arrow Scale", "Torque Color",
    },
}  # fmt: skip
ORBIT = {"Distance", "Enable Stereo Rendering", "Focal Point", "Focal Shape Fixed Size", "Focal Shape Size", "Invert Z Axis", "Name"}
ORBIT |= {"Class", "Near Clip Distance", "Pitch", "Target Frame", "Value", "Yaw"}
WINDOW = {"Displays", "Height", "Hide Left Dock", "Hide Right Dock", "QMainWindow State", "Views", "Width", "X", "Y"}


def files():
    return [ROOT / "config/isobar.rviz", *sorted((ROOT / "config/rviz").glob("*.rviz"))]


def camera(path):
    """The eye, and the directions to the right, up, and forward, in the world."""
    view = yaml.safe_load(path.read_text())["Visualization Manager"]["Views"]["Current"]
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"], dtype=float)
    pitch, yaw = view["Pitch"], view["Yaw"]
    back = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), math.sin(pitch)])
    right = np.cross(-back, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return focus + view["Distance"] * back, right, np.cross(right, -back), -back


def on_screen(path, point):
    """The position of a point in the picture: -1 to 1 across and up; infinite behind the camera."""
    eye, right, up, forward = camera(path)
    depth = float((point - eye) @ forward)
    half = math.tan(0.5 * FIELD_OF_VIEW) * depth
    return (float((point - eye) @ right) / (half * ASPECT), float((point - eye) @ up) / half) if depth > 0.0 else (math.inf, math.inf)


def places(task):
    """The robot's root and gripper, and all free objects, at the start of the scene: by name, in the
    world."""
    scene = ROOT / f"config/{task}.yaml"
    models = yaml.safe_load(scene.read_text())["models"]
    frames, welded = welded_frames(scene)
    found = {}
    for model in models:
        if "free" in model:
            found[model["name"]] = np.array(model["free"]["xyz"], dtype=float)
        robot, base = welded.get(model["name"], (None, None))
        if robot and TASKS[task] in robot.links:
            joints = {**dict.fromkeys(robot.joints, 0.0), **model.get("joints", {})}
            for link in (TASKS[task], robot.links[0]):
                R, p = robot.pose(link, joints)
                found[link] = base[1] + base[0] @ p
    return found


def test_the_files_have_the_content_that_the_script_writes(tmp_path):
    loader = SourceFileLoader("make_views", str(ROOT / "scripts/make_views"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_views", loader))
    loader.exec_module(module)
    module.main(tmp_path)
    for path in files():
        assert path.read_text() == (tmp_path / path.relative_to(ROOT / "config")).read_text(), path


@pytest.mark.parametrize("task", TASKS)
def test_the_camera_sees_the_gripper_the_objects_and_the_robots_root(task):
    seen = places(task)
    assert len(seen) >= 3 and TASKS[task] in seen
    for name, point in seen.items():
        across, up = on_screen(ROOT / f"config/rviz/{task}.rviz", point)
        # Objects have a size, so their origins must stay away from the rim.
        assert max(abs(across), abs(up)) < 0.9, f"{name} at {point} is at {across:.2f}, {up:.2f}"


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_names_and_scales_are_those_that_rviz_knows(path):
    content = yaml.safe_load(path.read_text())
    manager = content["Visualization Manager"]
    for display in manager["Displays"]:
        known = KNOWN[display["Class"]] | {"Class", "Name", "Value", "Enabled"}
        assert set(display) <= known, (display["Name"], set(display) - known)
        for key in ("Topic", "Description Topic"):
            assert set(display.get(key, {})) <= TOPIC
        if display["Class"].endswith("Wrench"):
            # An arrow is drawn only when it is longer than its width: from 3 N on or below, and the tasks'
            # grips are of 4 to 25 N. Its shaft is a tenth as thick as the width, and that is more than a
            # pixel of a picture with 800 rows at the distance of the focal point.
            assert display["Arrow Width"] / display["Force Arrow Scale"] <= 3.0
            pixel = 2.0 * manager["Views"]["Current"]["Distance"] * math.tan(0.5 * FIELD_OF_VIEW) / 800
            assert 0.1 * display["Arrow Width"] > pixel
    assert set(manager["Views"]["Current"]) <= ORBIT
    assert set(content["Window Geometry"]) <= WINDOW
    assert {"Hide Left Dock", "Hide Right Dock", "Height", "Width"} <= set(content["Window Geometry"])


@pytest.mark.parametrize("task", TASKS)
def test_arrows_are_at_links_of_the_scene(task):
    scene = ROOT / f"config/{task}.yaml"
    models = yaml.safe_load(scene.read_text())["models"]
    robots = [(model.get("prefix", ""), Robot(urdf_path(model["urdf"], scene).read_text())) for model in models]
    links = {prefix + link for prefix, robot in robots for link in robot.links}
    displays = yaml.safe_load((ROOT / f"config/rviz/{task}.rviz").read_text())["Visualization Manager"]["Displays"]
    shown = [display["Topic"]["Value"].split("/")[-1] for display in displays if display["Class"].endswith("Wrench")]
    assert shown and set(shown) <= links
