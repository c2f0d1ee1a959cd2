"""Topics, commands, refusals, parameters and the end of the node, in the scene scenes/press.yaml.

The press: a pad of 0.5 kg on a vertical slider (stiffness 2 kN/m, at most 40 N) 0.08 m above the ground, a
free arm, and a ball of 0.4 kg that rests on the ground. So the ground must push the ball with its weight, 0.4
* 9.81 = 3.924 N.
"""

import math
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BEST_EFFORT, PATIENCE
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

BALL_WEIGHT = 0.4 * 9.81


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def joint(message, name):
    index = message.name.index(name)
    return message.position[index], message.velocity[index], message.effort[index]


def settle(listener, condition, what, topic="joint_states"):
    """Waits until the newest message fulfils the condition."""
    messages = listener.heard[topic]
    listener.wait_until(lambda: messages and condition(messages[-1]), what)


def test_states_clock_and_outputs_tell_one_story(start, listener):
    start()
    states = listener.listen(JointState, "joint_states")
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    height = listener.listen(Float64, "/isobar/output/pad_height")
    listener.wait_until(lambda: len(states) > 100 and len(clock) > 100 and len(height) > 100, "states, clock and outputs")
    assert states[-1].name == ["slide", "turn"]
    for message in states:
        assert len(message.position) == len(message.velocity) == len(message.effort) == 2
        assert all(math.isfinite(x) for x in [*message.position, *message.velocity, *message.effort])
    stamps = [seconds(message.header.stamp) for message in states]
    assert all(a < b for a, b in zip(stamps, stamps[1:])), "stamps increase"
    times = [seconds(message.clock) for message in clock]
    assert all(a <= b for a, b in zip(times, times[1:])), "the clock never goes back"
    # Stamps are whole steps: nanoseconds without rounding.
    assert all(message.clock.nanosec % 1_000_000 == 0 for message in clock)
    # Held by 2 kN/m against its own weight of 4.9 N: it sinks 2.45 mm, and its effort is the weight.
    settle(listener, lambda message: abs(joint(message, "slide")[1]) < 1e-5, "rest")
    position, _, effort = joint(states[-1], "slide")
    assert abs(position + 0.5 * 9.81 / 2000) < 1e-5
    assert abs(effort - 0.5 * 9.81) < 1e-2
    listener.wait_until(lambda: abs(height[-1].data - position) < 1e-5, "the output at rest")


def test_real_time_factor_is_kept_and_can_be_changed(start, listener):
    start(parameters=["real_time_factor:=2.0"])
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)

    def kept(least, most=math.inf):
        """Whether one second of ten has a factor in this range: a busy machine delays some of them, and the
        simulation hurries after a delay."""
        found = []
        while len(found) < 10 and not any(least < factor < most for factor in found):
            listener.fresh("/clock", 5)
            before, wall = seconds(clock[-1].clock), time.monotonic()
            listener.spin_for(1.0)
            found.append((seconds(clock[-1].clock) - before) / (time.monotonic() - wall))
        assert least < found[-1] < most, found

    kept(1.4, 2.1)
    assert listener.set_parameter("real_time_factor", 0.25).successful
    kept(0.15, 0.27)
    # As fast as possible is much faster than real time in this scene.
    assert listener.set_parameter("real_time_factor", 0.0).successful
    kept(2.0)


def test_wrench_is_the_contact_force_on_the_body_in_its_own_axes(start, listener):
    start()
    wrenches = listener.listen(WrenchStamped, "/isobar/wrench/ball")
    poses = listener.listen(PoseStamped, "/isobar/pose/ball")
    pad = listener.listen(WrenchStamped, "/isobar/wrench/pad")

    def force_in_world():
        if not (wrenches and poses):
            return [0.0, 0.0, 0.0]
        q = poses[-1].pose.orientation
        f = wrenches[-1].wrench.force
        return rotate((q.w, q.x, q.y, q.z), (f.x, f.y, f.z))

    # The ground carries the ball: its force on the ball is the weight, upwards.
    listener.wait_until(lambda: abs(force_in_world()[2] - BALL_WEIGHT) < 0.01 * BALL_WEIGHT, "resting ball")
    assert wrenches[-1].header.frame_id == "ball"
    assert poses[-1].header.frame_id == "world"
    assert abs(poses[-1].pose.position.z - 0.05) < 2e-3
    listener.wait_until(lambda: pad, "wrench of the pad")
    assert pad[-1].wrench.force.z == 0.0, "the pad touches nothing"


def rotate(q, v):
    w, x, y, z = q
    u = (x, y, z)
    cross = lambda a, b: (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    t = tuple(2 * c for c in cross(u, v))
    return [v[i] + w * t[i] + cross(u, t)[i] for i in range(3)]


def test_commands_by_name_move_joints_and_press(start, listener):
    start()
    listener.listen(JointState, "joint_states")
    pad = listener.listen(WrenchStamped, "/isobar/wrench/pad")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[0.05]))
    settle(listener, lambda message: abs(joint(message, "slide")[0] - 0.05 + 0.00245) < 1e-4, "position")
    # A torque on the other joint: 0.2 N m against a damping of 0.1 N m s/rad ends at 2 rad/s.
    commands.publish(JointState(name=["turn"], effort=[0.2]))
    settle(listener, lambda message: abs(joint(message, "turn")[1] - 2.0) < 0.02, "speed")
    assert abs(joint(listener.heard["joint_states"][-1], "slide")[0] - 0.04755) < 1e-4, "the first command stands"
    # Down into the ground, as hard as the effort limit allows: 40 N and the weight.
    commands.publish(JointState(name=["slide"], position=[-0.2]))
    wanted = 40 + 0.5 * 9.81
    settle(listener, lambda message: abs(message.wrench.force.z - wanted) < 0.02 * wanted, "press", "/isobar/wrench/pad")
    # At the impact, the force passes through this value, too, and the damping brakes.
    settle(listener, lambda message: abs(joint(message, "slide")[2] + 40) < 1e-6, "the effort limit")
    settle(listener, lambda message: abs(message.wrench.force.z - wanted) < 0.02 * wanted, "press", "/isobar/wrench/pad")
    assert pad[-1].header.frame_id == "pad"


def test_newest_of_a_burst_of_commands_wins(start, listener):
    start()
    listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    for number in range(200):
        commands.publish(JointState(name=["slide"], position=[0.0004 * (number + 1)]))
    settle(listener, lambda message: abs(joint(message, "slide")[0] - 0.08 + 0.00245) < 1e-4, "last position")


BAD = {
    "minus infinity": (JointState(name=["slide"], position=[-math.inf]), "must be finite"),
    "infinity": (JointState(name=["turn"], effort=[math.inf]), "must be finite"),
    "unknown": (JointState(name=["slied"], position=[0.0]), "did you mean 'slide'"),
    "short": (JointState(name=["slide", "turn"], position=[0.0]), "2 names and 1 values"),
    "long": (JointState(name=["slide"], effort=[0.0, 1.0]), "1 names and 2 values"),
    "nameless": (JointState(position=[0.0]), "0 names and 1 values"),
    "twice": (JointState(name=["slide", "slide"], position=[0.0, 0.1]), "named twice"),
    "empty": (JointState(), "no values"),
}


def test_malformed_commands_are_reported_and_dropped(start, listener):
    node = start()
    states = listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[0.03]))
    settle(listener, lambda message: abs(joint(message, "slide")[0] - 0.02755) < 1e-4, "good position")
    for message, reason in BAD.values():
        # Two refusals of one kind within a second give one report, and a count in the next one.
        listener.publish_until(commands, message, lambda reason=reason: reason in node.log(), reason)
    before = len(states)
    listener.fresh("joint_states", 100)
    for message in states[before:]:
        assert all(math.isfinite(x) for x in [*message.position, *message.velocity, *message.effort])
        assert abs(joint(message, "slide")[0] - 0.02755) < 1e-3, "the last good command stands"
    assert node.process.poll() is None


def test_refusals_are_reported_at_most_once_a_second(start, listener):
    node = start()
    commands = listener.publisher(JointState, "joint_commands")
    began, reports = time.monotonic(), lambda: node.log().count("unknown joint 'nobody'")

    def reported_three_times():
        commands.publish(JointState(name=["nobody"], position=[0.0]))
        listener.spin_for(0.02)
        return reports() >= 3

    listener.wait_until(reported_three_times, "reports")
    # The first one comes at once.
    assert reports() <= 1 + (time.monotonic() - began), node.log()
    assert "more like it" in node.log()


def test_every_reason_is_reported_also_within_a_second(start, listener):
    """A bad trajectory just after another one for a different reason, and one for the same reason: each has
    its line, the last one when the second is over."""
    node = start()
    publisher = listener.publisher(JointTrajectory, "joint_trajectory")
    point = JointTrajectoryPoint(positions=[0.0])
    for name in ("slied", "trun"):
        publisher.publish(JointTrajectory(joint_names=[name], points=[point]))
    publisher.publish(JointTrajectory(joint_names=["slide"], points=[JointTrajectoryPoint(positions=[math.inf])]))
    lines = ("unknown joint 'slied'", "every number in 'positions' must be finite", "unknown joint 'trun'")
    listener.wait_until(lambda: all(line in node.log() for line in lines), "all three")
    forces = listener.publisher(WrenchStamped, "/isobar/apply_wrench")
    for frame, force in (("bal", 1.0), ("ball", 1e308), ("", 1.0), ("blal", 1.0)):
        message = WrenchStamped()
        message.header.frame_id, message.wrench.force.x = frame, force
        forces.publish(message)
    lines = ("unknown body 'bal'", "force is 1e308;", "no body:", "unknown body 'blal'")
    listener.wait_until(lambda: all(line in node.log() for line in lines), "all four")


def test_commands_beyond_limits_are_clamped_and_reported(start, listener):
    node = start()
    listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[7.0]))
    settle(listener, lambda message: abs(joint(message, "slide")[0] - 0.1 + 0.00245) < 1e-4, "limit")
    listener.wait_until(lambda: "position 7 of joint 'slide' exceeds its limit; 0.1 is used" in node.log(), "report")


def test_markers_show_patches_and_delete_them(start, listener):
    start()
    listener.listen(JointState, "joint_states")
    markers = listener.listen(MarkerArray, "/isobar/contact_markers")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[-0.2]))
    shown = lambda part: [m for array in markers for m in array.markers if part in m.ns and m.action == Marker.ADD]
    listener.wait_until(lambda: shown("pad/"), "marker of the pad")
    polygons = next(m for m in shown("pad/") if m.type == Marker.TRIANGLE_LIST)
    assert polygons.header.frame_id == "world"
    assert len(polygons.points) % 3 == 0 and len(polygons.points) == len(polygons.colors) > 0
    assert polygons.pose.orientation.w == 1.0 and polygons.scale.x == polygons.scale.y == polygons.scale.z == 1.0
    # The flat pad presses evenly; the ball presses most in the middle.
    ball = next(m for m in shown("ball/") if m.type == Marker.TRIANGLE_LIST)
    assert len({(c.r, c.g, c.b) for c in ball.colors}) > 1, "coloured by pressure"
    assert all(abs(p.z) < 0.03 for p in polygons.points), "at the ground"
    arrow = next(m for m in shown("pad/") if m.type == Marker.ARROW)
    assert len(arrow.points) == 2
    commands.publish(JointState(name=["slide"], position=[0.05]))
    deleted = lambda: {m.id for a in markers for m in a.markers if m.ns == polygons.ns and m.action == Marker.DELETE}
    listener.wait_until(lambda: deleted() == {polygons.id, arrow.id}, "deletion of the pad's markers")
    # For display: at most 30 a second. Up to ten were received before, and wait in the subscription's queue.
    before, began = len(markers), time.monotonic()
    listener.wait_until(lambda: len(markers) >= before + 100, "markers")
    assert len(markers) - before <= 30 * (time.monotonic() - began) + 12


def test_tf_carries_free_bodies(start, listener):
    tf2_msgs = pytest.importorskip("tf2_msgs.msg", reason="tf2_msgs is not installed")
    start()
    transforms = listener.listen(tf2_msgs.TFMessage, "/tf", 100)
    listener.wait_until(lambda: len(transforms) > 5, "transforms")
    transform = transforms[-1].transforms[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("world", "ball")
    assert abs(transform.transform.translation.z - 0.05) < 2e-3
    assert seconds(transforms[-1].transforms[0].header.stamp) > 0


def test_robot_description_is_latched_for_late_joiners(start, listener):
    start(parameters=["publish_robot_description:=true"])
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.wait_until(lambda: len(clock) > 10, "clock")
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    descriptions = listener.listen(String, "robot_description", latched)
    listener.wait_until(lambda: descriptions, "robot description")
    assert '<robot name="press"' in descriptions[0].data


def test_reset_starts_over_and_time_goes_on(start, listener):
    start()
    states = listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[0.09]))
    settle(listener, lambda message: joint(message, "slide")[0] > 0.08, "position")
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    settle(listener, lambda message: joint(message, "slide")[0] < 0.001, "initial position")
    stamps = [seconds(message.header.stamp) for message in states]
    assert all(a <= b for a, b in zip(stamps, stamps[1:])), "time never goes back"


def test_parameters_are_declared_described_and_checked(start, listener):
    start()
    names = listener.call(ListParameters, "/isobar/list_parameters", ListParameters.Request()).result.names
    assert {"scene", "real_time_factor", "marker_rate", "publish_robot_description"} <= set(names)
    described = listener.call(DescribeParameters, "/isobar/describe_parameters", DescribeParameters.Request(names=names))
    assert all(descriptor.description and descriptor.type for descriptor in described.descriptors)
    got = listener.call(GetParameters, "/isobar/get_parameters", GetParameters.Request(names=["real_time_factor"]))
    assert got.values[0].double_value == 1.0
    for name, value, reason in [
        ("real_time_factor", ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=-1.0), "out of range"),
        ("real_time_factor", ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="x"), "expected a number"),
        ("real_time_facotr", ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=1.0), "did you mean"),
        ("threads", ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=2.7), "a whole number"),
        ("threads", ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=-1.0), "out of range"),
        ("scene", ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="x"), "at the start"),
    ]:
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        result = listener.call(SetParameters, "/isobar/set_parameters", request).results[0]
        assert not result.successful and reason in result.reason, result


@pytest.mark.parametrize(
    "keywords, reason",
    [
        ({"scene": None}, "scene:=FILE.yaml"),
        ({"scene": "nowhere.yaml"}, "nowhere.yaml"),
        ({"parameters": ["real_time_facotr:=1.0"]}, "did you mean 'real_time_factor'?"),
        ({"parameters": ["real_time_factor:=fast"]}, "expected a number"),
    ],
)
def test_bad_starts_end_with_a_reason(start, keywords, reason):
    node = start(**keywords)
    assert node.process.wait(30) == 1
    assert reason in node.log()
    assert "panicked" not in node.log()


def test_use_sim_time_is_warned_about(start, listener):
    node = start(parameters=["use_sim_time:=true"])
    listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.fresh("/clock", 10)
    listener.wait_until(lambda: "use_sim_time" in node.log(), "warning")


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_node_cleanly(start, listener, with_signal):
    node = start()
    listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.fresh("/clock", 10)
    assert node.end(with_signal) == 0
    assert "panicked" not in node.log()


def test_topics_have_the_expected_quality_of_service(start, listener):
    start()
    listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.fresh("/clock", 3)
    expected = {"/clock": "BEST_EFFORT", "/joint_states": "RELIABLE", "/isobar/contact_markers": "RELIABLE"}
    for topic, reliability in expected.items():
        listener.wait_until(lambda topic=topic: listener.node.get_publishers_info_by_topic(topic), f"publisher of {topic}")
        (publisher,) = listener.node.get_publishers_info_by_topic(topic)
        assert publisher.qos_profile.reliability.name == reliability, topic


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["--scene", "x.yaml"], "argument '--scene': a parameter is given as --ros-args -p scene:=VALUE"),
        (["-p", "scene:=x.yaml"], "argument '-p': it belongs to the options of ROS: write --ros-args before it"),
        (["--ros-args", "--params_file", "x"], "argument '--params_file': ROS has no such option; did you mean '--params-file'?"),
    ],
)
def test_arguments_that_nothing_reads_end_the_start(arguments, meant):
    """Regression, observed on the built node: they were passed over in silence."""
    program = Path(os.environ["ISOBAR_BIN"]) / "isobar_node"
    ended = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 1 and meant in ended.stderr, ended.stderr
    assert subprocess.run([program, "--help"], capture_output=True, timeout=PATIENCE).returncode == 0


def test_a_node_under_nohup_ignores_a_terminal_that_closes(start, listener):
    node = start(wrapper=("nohup",))
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: states, "states")
    node.process.send_signal(signal.SIGHUP)
    listener.wait_for_time(states, 0.3)
    assert node.process.poll() is None and "shutting down" not in node.log()
    assert node.end() == 0
