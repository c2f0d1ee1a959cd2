"""Transforms of the tasks: one tree that is rooted in the world, from live topics and from a recording, and
the markers drawn in it."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

tf2_msgs = pytest.importorskip("tf2_msgs.msg", reason="tf2_msgs is not installed")
rosbags = pytest.importorskip("rosbags.highlevel", reason="rosbags is not installed")

sys.path.insert(0, str(ROOT / "controllers"))
from isobar_control.robot import Robot  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TASKS = ["cube_stacking", "iiwa_demo", "jaco_demo", "pancake_flip", "spatula_slip"]


def edges(transforms):
    return [(transform.header.frame_id, transform.child_frame_id) for transform in transforms]


def links(urdf):
    """The edges that robot_state_publisher makes of a description."""
    return [(joint.parent, joint.child) for joint in Robot(urdf).joints.values()]


def assert_one_tree(found):
    children = [child for _, child in found]
    assert len(children) == len(set(children)), "a frame has one parent"
    parent = {child: parent for parent, child in found}
    for frame in parent:
        path = [frame]
        while path[-1] in parent:
            path.append(parent[path[-1]])
            assert len(path) <= len(parent) + 1, f"{path} is a cycle"
        assert path[-1] == "world", f"{path} does not end in the world"
    return set(children)


@pytest.mark.parametrize("task", TASKS)
def test_live_transforms_and_the_robots_links_are_one_tree(start, listener, task):
    start(scene_path=ROOT / f"config/{task}.yaml", parameters=["real_time_factor:=0.1", "publish_robot_description:=true"])
    moving = listener.listen(tf2_msgs.TFMessage, "/tf", 100)
    fixed = listener.listen(tf2_msgs.TFMessage, "/tf_static", LATCHED)
    descriptions = listener.listen(String, "/robot_description", LATCHED)
    markers = listener.listen(MarkerArray, "/isobar/scene_markers", LATCHED)
    listener.wait_until(lambda: moving and fixed and descriptions and markers, "transforms, the description and markers")
    found = edges(moving[-1].transforms) + edges(fixed[-1].transforms)
    frames = assert_one_tree(found + links(descriptions[-1].data))
    first, *drawn = markers[-1].markers
    assert first.action == Marker.DELETEALL and drawn
    for marker in drawn:
        assert marker.header.frame_id in frames | {"world"} and marker.frame_locked and marker.points
    # Each object that can be moved is drawn.
    free = {transform.child_frame_id for transform in moving[-1].transforms}
    assert free <= {marker.header.frame_id for marker in drawn}


@pytest.mark.parametrize("task", TASKS)
def test_transforms_of_a_recording_are_one_tree(tmp_path, task):
    file = tmp_path / "run.mcap"
    binary = os.path.join(os.environ["ISOBAR_BIN"], "isobar")
    scene = ROOT / f"config/{task}.yaml"
    subprocess.run([binary, "run", scene, "--duration", "0.02", "--record", file, "--quiet"], check=True, cwd=ROOT, timeout=120)
    found, description = set(), ""
    with rosbags.AnyReader([file]) as reader:
        for connection, _, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            if connection.topic in ("/tf", "/tf_static"):
                found |= set(edges(message.transforms))
            elif connection.topic == "/robot_description":
                description = message.data
    assert_one_tree(sorted(found) + links(description))
