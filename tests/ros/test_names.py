"""Namespaces, remapping, topics that are switched off, rates, RViz's configuration, and the package as it is
installed."""

import math
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import BEST_EFFORT, PATIENCE, ROOT, stamp_ns
from geometry_msgs.msg import PoseStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from test_documented import OPTIONAL, discovered, pattern, tables
from visualization_msgs.msg import Marker, MarkerArray

# Names of the whole graph, independent of the namespace of the node.
ABSOLUTE = {"/clock", "/tf", "/tf_static", "/diagnostics", "/rosout", "/parameter_events"}


def published(listener, namespace="/"):
    by_node = listener.node.get_publisher_names_and_types_by_node
    prefix = f"{namespace.rstrip('/')}/isobar"
    return {name for name, _ in discovered(listener, lambda node, _: by_node(node, namespace), prefix)}


def test_names_follow_the_namespace_and_remappings(start, listener):
    # The names and the quality of service of ros2_control's topic-based hardware interface: commands are
    # reliable with depth 1, and states are read as sensor data.
    renamed = ["-r", "__ns:=/cell", "-r", "joint_commands:=robot_joint_commands", "-r", "joint_states:=robot_joint_states"]
    start(extra=renamed)
    states = listener.listen(JointState, "/cell/robot_joint_states", qos_profile_sensor_data)
    commands = listener.node.create_publisher(JointState, "/cell/robot_joint_commands", QoSProfile(depth=1))
    command = JointState(name=["slide", "turn"], position=[0.05, 0.0])
    moved = lambda: bool(states) and abs(states[-1].position[0] - 0.04755) < 1e-4
    listener.publish_until(commands, command, moved, "position")
    # The joints have velocity interfaces that are not claimed; later each joint has a different interface.
    command = JointState(name=["slide", "turn"], position=[0.03, 0.0], velocity=[math.nan, math.nan])
    moved = lambda: abs(states[-1].position[0] - 0.02755) < 1e-4
    listener.publish_until(commands, command, moved, "positions with unclaimed velocities")
    for joint, mode in [("slide", "position"), ("turn", "velocity")]:
        request = SetParameters.Request(parameters=[Parameter(f"control_modes.{joint}", value=mode).to_parameter_msg()])
        assert listener.call(SetParameters, "/cell/isobar/set_parameters", request).results[0].successful
    command = JointState(name=["slide", "turn"], position=[0.06], velocity=[0.5])
    moved = lambda: abs(states[-1].position[0] - 0.05755) < 1e-4
    listener.publish_until(commands, command, moved, "position of the one, velocity of the other")
    elsewhere = {name for name in published(listener, "/cell") if not name.startswith("/cell/")}
    assert elsewhere <= ABSOLUTE and "/clock" in elsewhere
    assert {"/cell/robot_joint_states", "/cell/isobar/contact_patches"} <= published(listener, "/cell")


def test_topics_are_switched_off_and_frames_named(start, listener):
    start(parameters=["publish_clock:=false", "publish_tf:=false", "world_frame:=map"])
    poses = listener.listen(PoseStamped, "/isobar/pose/ball")
    listener.wait_until(lambda: poses, "pose")
    assert poses[-1].header.frame_id == "map"
    assert not {"/clock", "/tf", "/tf_static"} & published(listener)
    assert "/isobar/contact_markers" in published(listener)


def test_rates_change_at_a_step_boundary(start, listener):
    start()
    states = listener.listen(JointState, "joint_states")
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)

    def spacing(count=10):
        """The time between the newest states [ns], if it is constant."""
        stamps = [stamp_ns(state) for state in states[-count:]]
        gaps = {later - earlier for earlier, later in zip(stamps, stamps[1:])}
        return gaps.pop() if len(stamps) == count and len(gaps) == 1 else None

    for rate, gap in [(50.0, 20_000_000), (1000.0, 1_000_000), (-1.0, 2_000_000)]:
        assert listener.set_parameter("joint_state_rate", rate).successful
        listener.wait_until(lambda: spacing() == gap, f"states at {rate} Hz")
    assert listener.set_parameter("joint_state_rate", 0.0).successful
    time_ns = lambda message: message.clock.sec * 1_000_000_000 + message.clock.nanosec
    listener.wait_until(lambda: time_ns(clock[-1]) > stamp_ns(states[-1]) + 500_000_000, "none, while time goes on")


def test_markers_start_over_after_a_time_without_subscribers_and_are_deleted_by_a_reset(start, listener):
    start()
    heard = []
    # Without a subscriber no markers are published, and the markers on a screen are unknown: the next message
    # clears them. A message of depth 1 may be overwritten before a new subscriber has it.
    cleared = 0
    for _ in range(10):
        del heard[:]
        subscription = listener.node.create_subscription(MarkerArray, "/isobar/contact_markers", heard.append, 10)
        listener.wait_until(lambda: len(heard) > 3, "markers")
        clears = [any(marker.action == Marker.DELETEALL for marker in array.markers) for array in heard]
        assert not any(clears[1:]), "once"
        cleared += clears[0]
        if cleared == 2:
            break
        listener.node.destroy_subscription(subscription)
        listener.spin_for(0.5)
    assert cleared == 2
    commands = listener.publisher(JointState, "joint_commands")
    of_pad = lambda action: {
        (marker.ns, marker.id) for array in heard for marker in array.markers if "pad/" in marker.ns and marker.action == action
    }
    pressing = JointState(name=["slide"], position=[-0.2])
    listener.publish_until(commands, pressing, lambda: of_pad(Marker.ADD), "marker of the pad")
    shown = of_pad(Marker.ADD)
    del heard[:]
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: of_pad(Marker.DELETE) == shown, "deletion of the pad's markers")


def test_markers_of_a_simulation_that_stands_are_those_of_its_last_state(start, listener):
    start()
    arrays = listener.listen(MarkerArray, "/isobar/contact_markers")
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.wait_until(lambda: len(arrays) > 2 and len(clock) > 50, "markers")
    assert listener.call(SetBool, "/isobar/pause", SetBool.Request(data=True)).success
    # A clock that runs has every time once.
    listener.wait_until(lambda: clock[-1].clock == clock[-2].clock == clock[-3].clock, "the clock that stands")
    now = clock[-1].clock.sec * 1_000_000_000 + clock[-1].clock.nanosec
    for _ in range(3):
        listener.wait_until(lambda: arrays[-1].markers and stamp_ns(arrays[-1].markers[-1]) == now, "markers of the state")
        # These steps come faster than markers are published.
        for _ in range(4):
            assert listener.call(Trigger, "/isobar/step", Trigger.Request()).success
        now += 4_000_000


def test_listeners_of_the_node_are_reliable(start, listener):
    start()
    listener.publisher(JointState, "joint_commands")
    for name, _ in discovered(listener, listener.node.get_subscriber_names_and_types_by_node):
        (info,) = [info for info in listener.node.get_subscriptions_info_by_topic(name) if info.node_name == "isobar"]
        quality = info.qos_profile.reliability.name, info.qos_profile.durability.name
        assert quality == ("RELIABLE", "VOLATILE"), name


@pytest.mark.parametrize("name", ["isobar.rviz", *(f"rviz/{path.name}" for path in (ROOT / "config/rviz").glob("*.rviz"))])
def test_rviz_shows_topics_that_the_node_has(name):
    config = yaml.safe_load((ROOT / "config" / name).read_text())["Visualization Manager"]
    assert config["Global Options"]["Fixed Frame"] == "world"
    documented = [(pattern(row[0]), row) for row in tables()["topic QoS"]]
    types = {"RobotModel": "String", "MarkerArray": "MarkerArray", "Wrench": "WrenchStamped"}
    for display in config["Displays"]:
        for key in ("Topic", "Description Topic"):
            if key in display:
                topic = display[key]["Value"]
                # Topics are relative, because RViz is started in the namespace of the node.
                assert not topic.startswith("/"), topic
                fits = [row for compiled, row in documented if compiled.match(f"/{topic}")]
                assert fits, topic
                assert fits[0][1].split("/")[-1] == types[display["Class"].split("/")[1]], topic
    assert {"Grid", "TF", "RobotModel", "MarkerArray"} <= {display["Class"].split("/")[1] for display in config["Displays"]}


# The type that a display subscribes to.
DISPLAYED = {
    "RobotModel": "std_msgs/msg/String",
    "MarkerArray": "visualization_msgs/msg/MarkerArray",
    "Wrench": "geometry_msgs/msg/WrenchStamped",
}


@pytest.mark.parametrize("path", sorted((ROOT / "config/rviz").glob("*.rviz")), ids=lambda path: path.stem)
def test_rvizs_subscriptions_fit_the_publishers_of_the_running_node(start, listener, path):
    """Of type and quality of service, for each display. RViz subscribes reliably, and to what is published
    from then on, unless the file says otherwise."""
    start(scene_path=ROOT / f"config/{path.stem}.yaml", parameters=["publish_robot_description:=true"])
    displays = yaml.safe_load(path.read_text())["Visualization Manager"]["Displays"]
    seen = 0
    for display in displays:
        for key in ("Topic", "Description Topic"):
            if key not in display:
                continue
            topic, asked = f"/{display[key]['Value']}", display[key]
            of_node = lambda: [i for i in listener.node.get_publishers_info_by_topic(topic) if i.node_name == "isobar"]  # noqa: B023, E731
            listener.wait_until(of_node, f"publisher of {topic}")
            (info,) = of_node()
            assert info.topic_type == DISPLAYED[display["Class"].split("/")[1]], topic
            reliable, kept = info.qos_profile.reliability.name, info.qos_profile.durability.name
            assert asked.get("Reliability Policy", "Reliable") == "Best Effort" or reliable == "RELIABLE", topic
            assert asked.get("Durability Policy", "Volatile") == "Volatile" or kept == "TRANSIENT_LOCAL", topic
            # A volatile display misses a message that was sent once, before it subscribed.
            assert kept == "VOLATILE" or asked.get("Durability Policy") == "Transient Local", topic
            seen += 1
    assert seen >= 4


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_cmake_installs_the_files_that_launch_files_look_for(tmp_path):
    # A stand-in for cargo that uses the programs already built.
    tools, build, prefix = tmp_path / "tools", tmp_path / "build", tmp_path / "install"
    tools.mkdir()
    cargo = tools / "cargo"
    programs = Path(os.environ["ISOBAR_BIN"])
    cargo.write_text(f'#!/bin/sh\nmkdir -p "$CARGO_TARGET_DIR/release"\ncp {programs}/isobar {programs}/isobar_node "$CARGO_TARGET_DIR/release"\n')
    cargo.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    for line in (["-S", ROOT, "-B", build, f"-DCMAKE_INSTALL_PREFIX={prefix}"], ["--build", build], ["--install", build]):
        done = subprocess.run(["cmake", *line], env=environment, capture_output=True, text=True, timeout=5 * PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
    share = prefix / "share" / "isobar"
    assert (prefix / "share/ament_index/resource_index/packages/isobar").exists() and (share / "package.xml").exists()
    for folder in ("config", "launch", "meshes", "urdf"):
        files = lambda root: {path.relative_to(root) for path in (root / folder).rglob("*") if "__pycache__" not in path.parts}
        assert files(ROOT) <= files(share), folder
    for program in (ROOT / "controllers").glob("*.py"):
        assert os.access(prefix / "lib/isobar" / program.name, os.X_OK), program.name
    assert {path.name for path in (ROOT / "controllers/isobar_control").glob("*.py")} == {
        path.name for path in (prefix / "lib/isobar/isobar_control").glob("*.py")
    }
    for program in ("isobar", "isobar_node"):
        assert os.access(prefix / "lib/isobar" / program, os.X_OK)


def test_the_package_names_the_packages_that_the_node_can_use():
    text = (ROOT / "package.xml").read_text()
    for name in OPTIONAL:
        assert f"<depend>{name}</depend>" in text, name


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("__ns:=/my-robot", "'/my-robot' is not a namespace: it must begin with /"),
        ("__node:=my-node", "'my-node' is not the name of a node"),
        ("joint_states:=robot-states", "'robot-states' is not the name of a topic or service"),
        ("joint_states", "FROM:=TO"),
        # Left to the client library, which logs a line and panics.
        ("joint_states:={nothing}", "the arguments after --ros-args are refused"),
    ],
)
def test_names_that_ros_refuses_are_named_with_their_rule(start, rule, reason):
    node = start(extra=["-r", rule])
    assert node.process.wait(PATIENCE) == 1
    lines = [line for line in node.log().splitlines() if line and "[rcl]" not in line]
    assert len(lines) == 1 and reason in lines[0] and "panicked" not in lines[0], lines
    assert rule in lines[0], lines


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        ("ROS_LOG_DIR=/proc/nowhere", "/proc/nowhere takes no files: set ROS_LOG_DIR"),
        ("ROS_SECURITY_ENABLE=true", "name a keystore with the keys of this node in ROS_SECURITY_KEYSTORE"),
    ],
)
def test_an_environment_in_which_ros_does_not_start_is_named(start, variable, reason):
    """ROS reports `RCL_RET_ERROR` and `error not set`."""
    node = start(wrapper=["env", variable, "ROS_SECURITY_STRATEGY=Enforce"])
    assert node.process.wait(PATIENCE) == 1
    assert reason in node.log() and "panicked" not in node.log(), node.log()
