"""The hardware plugin JointStateTopicSystem, imitated for each tag of docs/how-to/ros2-control.md: the robot
moves, and no message is refused.

The plugin's messages, by its published source: `name` has all joints of the tag; each array has one value
for each joint that declares its interface, NaN until a controller claims it; the stamp is the node's time.
Commands are reliable with depth 1, states are read as sensor data."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from conftest import BEST_EFFORT, ROOT
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

PAGE = (ROOT / "docs/how-to/ros2-control.md").read_text()
TAGS = {name: ET.fromstring(text) for name, text in re.findall(r"^```xml (\w+)\.xml\n(.*?)^```$", PAGE, re.S | re.M)}
REMAPPINGS = [word for word in re.findall(r"-r (\S+)", PAGE)]
KINDS = ("position", "velocity", "effort")
# The goals of a controller, by joint [rad, m, N m].
GOALS = {"position": {"shoulder": 0.4, "elbow": -0.3, "finger": 0.03}, "effort": {"shoulder": 0.2, "elbow": 0.1}}


class Plugin:
    """The plugin and the controllers above it."""

    def __init__(self, node, tag):
        self.node = node
        param = {param.get("name"): param.text for param in tag.find("hardware").iter("param")}
        self.joints = [
            (joint.get("name"), [interface.get("name") for interface in joint.iter("command_interface")])
            for joint in tag.iter("joint")
        ]
        self.claimed = {}
        self.state, self.clock, self.written = None, None, 0
        self.publisher = node.create_publisher(JointState, param["joint_commands_topic"], QoSProfile(depth=1))
        node.create_subscription(JointState, param["joint_states_topic"], self.read, qos_profile_sensor_data)

    def read(self, message):
        self.state = dict(zip(message.name, message.position))

    def write(self, stamp):
        message = JointState(name=[name for name, _ in self.joints])
        message.header.stamp = stamp
        for name, interfaces in self.joints:
            for kind in interfaces:
                getattr(message, kind).append(self.claimed.get((name, kind), math.nan))
        self.publisher.publish(message)
        self.written += 1

    def claim(self, joints):
        for name, interfaces in self.joints:
            for kind in interfaces:
                if name in joints and kind in GOALS and name in GOALS[kind]:
                    self.claimed[name, kind] = GOALS[kind][name]


def counts(listener):
    message = listener.wait_for(DiagnosticArray, "/diagnostics", lambda message: True, "diagnostics")
    return {entry.key: entry.value for entry in message.status[0].values}


@pytest.mark.parametrize("lockstep", [False, True], ids=["real_time", "lockstep"])
@pytest.mark.parametrize("name", ["arm", "arm_and_gripper", "mimic_gripper", "effort", "lockstep"])
def test_the_robot_moves_and_no_message_is_refused(start, listener, name, lockstep):
    extra = [word for rule in REMAPPINGS for word in ("-r", rule)]
    parameters = ["lockstep:=true", "real_time_factor:=0.0"] if lockstep else []
    node = start(scene="cell.yaml", parameters=parameters, extra=extra)
    plugin = Plugin(listener.node, TAGS[name])
    if lockstep:
        # The plugin's time is that of /clock; one cycle each time that it advances.
        def cycle(message):
            if plugin.clock is None or message.clock != plugin.clock:
                plugin.clock = message.clock
                plugin.write(message.clock)

        listener.node.create_subscription(Clock, "/clock", cycle, BEST_EFFORT)
    else:
        listener.node.create_timer(0.01, lambda: plugin.write(listener.node.get_clock().now().to_msg()))
    listener.wait_until(lambda: plugin.state and plugin.written > 20, "cycles in which nothing is claimed")
    start_of = dict(plugin.state)
    assert all(abs(position) < 1e-6 for position in start_of.values()), "nothing is claimed yet"
    arm = {"shoulder", "elbow"} & {joint for joint, _ in plugin.joints}
    plugin.claim(arm)
    if arm:
        reached = lambda joint: abs(plugin.state[joint] - GOALS["position"][joint]) < 1e-3  # noqa: E731
        moves = lambda joint: plugin.state[joint] > 0.05  # noqa: E731
        arrived = moves if name == "effort" else reached
        joints = ["shoulder"] if name == "effort" else sorted(arm)
        listener.wait_until(lambda: all(map(arrived, joints)), "motion of the arm")
        assert abs(plugin.state["finger"]) < 1e-3, "the gripper is not claimed"
    if any(joint == "finger" for joint, _ in plugin.joints):
        plugin.claim({"finger"})
        closed = lambda: all(abs(plugin.state[joint] - 0.03) < 1e-3 for joint in ("finger", "finger_2"))  # noqa: E731
        listener.wait_until(closed, "motion of the gripper with the finger that mimics")
    values = counts(listener)
    assert values["commands rejected"] == "0", (values, node.log())
    assert "dropped" not in node.log()
    assert plugin.written > 20


def test_the_page_has_the_five_tags_and_no_topic_twice():
    assert list(TAGS) == ["arm", "arm_and_gripper", "mimic_gripper", "effort", "lockstep"]
    assert REMAPPINGS == ["joint_states:=robot_joint_states", "joint_commands:=robot_joint_commands"]
    # Elsewhere nothing remaps onto /joint_states, which is the broadcaster's.
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "launch").glob("*.py")]:
        assert not re.search(r":=/?joint_states\b", page.read_text()), page
    for tag in TAGS.values():
        param = {param.get("name"): param.text for param in tag.find("hardware").iter("param")}
        assert param["joint_commands_topic"] == "/robot_joint_commands" and param["joint_states_topic"] == "/robot_joint_states"
