"""Everything that arrives is heard, or refused with a reason: bursts, unheard publishers, nodes of one name,
commands without effect, commands that no step can follow."""

import math
import signal

import pytest
from conftest import BEST_EFFORT, PATIENCE, ROOT, SCENES, Controller, stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import GetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

# Longer than any burst of these tests.
DEEP = QoSProfile(depth=1000)


def position(state, joint):
    return state.position[state.name.index(joint)]


def diagnosed(messages, key):
    return next(entry.value for entry in messages[-1].status[0].values if entry.key == key)


def deep_publisher(listener, kind, topic):
    publisher = listener.node.create_publisher(kind, topic, DEEP)
    listener.wait_until(lambda: publisher.get_subscription_count() > 0, f"subscriber of {topic}")
    listener.meet()
    return publisher


def test_all_of_fifty_commands_at_once_are_heard(start, listener):
    """The node is stopped while they arrive. Refused commands are counted one by one. Of the others, the last
    one of each joint holds."""
    node = start(parameters=["gains.turn.stiffness:=5.0", "gains.turn.damping:=0.5"])
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    states = listener.listen(JointState, "/joint_states")
    publisher = deep_publisher(listener, JointState, "/joint_commands")
    listener.wait_until(lambda: reports and states, "states")
    rejected = int(diagnosed(reports, "commands rejected"))
    node.process.send_signal(signal.SIGSTOP)
    for number in range(50):
        publisher.publish(JointState(name=[f"missing_{number}"], position=[0.0]))
    for number in range(50):
        joint = ("slide", "turn")[number % 2]
        publisher.publish(JointState(name=[joint], position=[{48: -0.02, 49: 0.3}.get(number, 0.05)]))
    node.process.send_signal(signal.SIGCONT)
    listener.wait_until(lambda: int(diagnosed(reports, "commands rejected")) == rejected + 50, "50 refusals")
    # The slide sinks by 2.45 mm under its own weight.
    there = lambda: abs(position(states[-1], "slide") + 0.02) < 0.004 and abs(position(states[-1], "turn") - 0.3) < 0.02  # noqa: E731
    listener.wait_until(there, "the last targets")


def test_each_of_150_requests_at_once_is_answered(start, listener):
    node = start()
    client = listener.node.create_client(GetParameters, "/isobar/get_parameters", qos_profile=DEEP)
    listener.wait_until(client.service_is_ready, "service")
    listener.meet()
    node.process.send_signal(signal.SIGSTOP)
    answers = [client.call_async(GetParameters.Request(names=["step"])) for _ in range(150)]
    node.process.send_signal(signal.SIGCONT)
    listener.wait_until(lambda: all(answer.done() for answer in answers), "150 answers")


def test_an_unheard_publisher_and_a_node_of_the_same_name_are_named(start, listener):
    first = start()
    quiet = listener.node.create_publisher(JointState, "/joint_commands", BEST_EFFORT)
    listener.wait_until(lambda: "/listener on /joint_commands do not arrive" in first.log(), "warning")
    assert "another node is called" not in first.log()
    second = start()
    for node in (first, second):
        listener.wait_until(lambda node=node: "another node is called /isobar, too" in node.log(), "warning")
    listener.spin_for(2.5)
    assert first.log().count("do not arrive") == 1, "it is said once"
    assert first.log().count("another node is called") == 1
    listener.node.destroy_publisher(quiet)


def test_publishers_of_another_type_and_second_sources_of_states_are_named(start, listener):
    node = start()
    said = lambda text: lambda: text in node.log()  # noqa: E731
    publishers = [listener.node.create_publisher(String, "/joint_commands", 10)]
    listener.wait_until(said("/listener on /joint_commands do not arrive: they are std_msgs/msg/String"), "warning")
    assert "publishes" not in node.log()
    for kind, topic in ((Clock, "/clock"), (JointState, "/joint_states")):
        publishers.append(listener.node.create_publisher(kind, topic, 10))
        listener.wait_until(said(f"/listener publishes {topic}, too"), "warning")
    for publisher in publishers:
        listener.node.destroy_publisher(publisher)


def test_a_command_without_effect_is_refused_until_there_are_gains(start, listener):
    """`turn` has no gains at first."""
    node = start()
    states = listener.listen(JointState, "/joint_states")
    commands = listener.publisher(JointState, "/joint_commands")
    trajectories = listener.publisher(JointTrajectory, "/joint_trajectory")
    said = lambda text: lambda: text in node.log()  # noqa: E731
    listener.publish_until(commands, JointState(name=["turn"], position=[0.3]), said("gains.turn.stiffness"), "refusal")
    point = JointTrajectoryPoint(positions=[0.3])
    point.time_from_start.sec = 1
    trajectory = JointTrajectory(joint_names=["turn"], points=[point])
    listener.publish_until(trajectories, trajectory, said("joint 'turn' cannot follow it: its actuator has no stiffness"), "refusal")
    # The other joints of a message follow.
    both = JointState(name=["turn", "slide"], position=[0.3, -0.02])
    commands.publish(both)
    listener.wait_until(lambda: states and abs(position(states[-1], "slide") + 0.02) < 0.004, "the slide")
    listener.wait_until(said("the other joints follow"), "warning")
    assert abs(position(states[-1], "turn")) < 1e-3
    assert listener.set_parameter("gains.turn.stiffness", 5.0).successful
    assert listener.set_parameter("gains.turn.damping", 0.5).successful
    commands.publish(both)
    listener.wait_until(lambda: abs(position(states[-1], "turn") - 0.3) < 0.02, "the turn")


def test_values_that_no_control_mode_takes_are_refused(start, listener):
    """Regression, observed on the built node: they had no effect, and nothing said so."""
    node = start(scene="cell.yaml", parameters=["control_modes.shoulder:=effort"])
    commands = listener.publisher(JointState, "/joint_commands")
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    said = lambda text: lambda: text in node.log()  # noqa: E731
    message = JointState(name=["shoulder"], position=[0.3])
    listener.publish_until(commands, message, said("joint 'shoulder', whose control mode is effort"), "refusal")
    message = JointState(name=["finger_2"], position=[0.03])
    listener.publish_until(commands, message, said("joint 'finger_2', whose control mode is none"), "refusal")
    listener.wait_until(lambda: reports and int(diagnosed(reports, "commands rejected")) >= 2, "their count")
    # NaN is no command, and values of other joints act.
    count = node.log().count("whose control mode")
    states = listener.listen(JointState, "/joint_states")
    commands.publish(JointState(name=["shoulder", "finger_2"], position=[math.nan, math.nan]))
    commands.publish(JointState(name=["shoulder", "finger"], position=[0.3, 0.02]))
    listener.wait_until(lambda: states and abs(position(states[-1], "finger") - 0.02) < 1e-3, "the finger")
    assert abs(position(states[-1], "shoulder")) < 1e-6
    listener.spin_for(1.5)
    assert node.log().count("whose control mode") <= count + 2, node.log()


@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_a_goal_on_a_joint_without_stiffness_is_aborted_with_the_reason(start, listener, damping):
    """Regression, observed on the built node: with damping alone the goal succeeded, and nothing pulled the
    joint to it."""
    pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")
    from action_msgs.msg import GoalStatus
    from test_follow import Client, trajectory

    start(parameters=[f"gains.turn.damping:={damping}"])
    client = Client(listener)
    status, result = client.send(trajectory((0.2, 0.1), names=("turn",))).result()
    assert status == GoalStatus.STATUS_ABORTED and "gains.turn.stiffness" in result.error_string, result


def test_impossible_commands_do_not_halt_the_simulation(start, listener):
    """A position far beyond any turn is refused; an effort that no step can follow is withdrawn, and the
    joints are held."""
    node = start(scene="arm.yaml")
    states = listener.listen(JointState, "/joint_states")
    commands = listener.publisher(JointState, "/joint_commands")
    said = lambda text: lambda: text in node.log()  # noqa: E731
    for value in (1e8, -1e8):
        message = JointState(name=["shoulder"], position=[value])
        listener.publish_until(commands, message, said(f"position {value:.0f} of joint 'shoulder'"), "refusal")
    message = JointState(name=["shoulder", "elbow"], effort=[1e9, -1e9])
    listener.publish_until(commands, message, said("Withdrawn: effort 1e9 of joint 'shoulder'"), "report")
    assert "halted" not in node.log()
    now = stamp_ns(states[-1])
    listener.wait_until(lambda: stamp_ns(states[-1]) > now + 200_000_000, "later states")
    commands.publish(JointState(name=["shoulder", "elbow"], position=[0.3, -0.2]))
    there = lambda: abs(position(states[-1], "shoulder") - 0.3) < 0.05  # noqa: E731
    listener.wait_until(there, "the next command")


def test_a_position_for_a_joint_with_damping_alone_is_dropped_and_its_velocity_acts(start, listener):
    node = start(parameters=["gains.turn.damping:=3.0"])
    states = listener.listen(JointState, "/joint_states")
    commands = listener.publisher(JointState, "/joint_commands")
    refused = lambda: "no stiffness: set the parameter gains.turn.stiffness, or command its velocity or effort" in node.log()
    listener.publish_until(commands, JointState(name=["turn"], position=[0.5]), refused, "the refusal")
    commands.publish(JointState(name=["turn"], velocity=[0.5]))
    listener.wait_until(lambda: position(states[-1], "turn") > 0.1, "the velocity")


def test_a_wheel_that_has_turned_far_takes_positions(start, listener, tmp_path):
    """The wheel starts at 2e4 rad, and a command may lead up to 1e4 rad from where it is."""
    scene = tmp_path / "wheel.yaml"
    text = (SCENES / "arm.yaml").read_text().replace("urdf: ", f"urdf: {SCENES}/")
    scene.write_text(text.replace("    weld: {}\n", "    weld: {}\n    joints: { shoulder: 20000 }\n"))
    node = start(scene_path=scene)
    states = listener.listen(JointState, "/joint_states")
    commands = listener.publisher(JointState, "/joint_commands")
    commands.publish(JointState(name=["shoulder"], position=[20000.5]))
    listener.wait_until(lambda: states and abs(position(states[-1], "shoulder") - 20000.5) < 0.05, "the position")
    commands.publish(JointState(name=["shoulder"], position=[0.0]))
    listener.wait_until(lambda: "is more than 10000 from its position, 20000." in node.log(), "refusal")
    listener.wait_for_time(states, 0.3)
    assert abs(position(states[-1], "shoulder") - 20000.5) < 0.05


def test_a_name_that_is_too_long_is_named(start, tmp_path):
    long = "o" * 240
    scene = tmp_path / "long.yaml"
    scene.write_text((SCENES / "press.yaml").read_text().replace("urdf: ", f"urdf: {SCENES}/").replace("pad_height", long))
    node = start(scene_path=scene)
    assert node.process.wait(PATIENCE) != 0
    assert f"topic '~/output/{long}'" in node.log() and "shorten the names" in node.log(), node.log()


def test_in_lockstep_a_command_without_effect_answers_its_state(start):
    """`turn` has no gains, and the controller commands only its position: the run goes on all the same."""
    node = start(parameters=["lockstep:=true", "real_time_factor:=0.0"])
    controller = Controller(lambda state: JointState(name=["turn"], position=[0.3]))
    try:
        controller.run(20)
    finally:
        controller.end()
    assert "gains.turn.stiffness" in node.log()


def test_lockstep_without_joints_does_not_wait(start, listener):
    node = start(scene_path=ROOT / "config/drop.yaml", parameters=["lockstep:=true"])
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.wait_until(lambda: clock and clock[-1].clock.nanosec > 100_000_000, "simulated time")
    assert "no step waits for a command" in node.log()


def test_the_log_has_the_format_and_the_levels_of_ros(start, listener):
    """A later subscriber also receives the lines of the start."""
    node = start(extra=["--log-level", "warn", "-p", "use_sim_time:=true"])
    listener.wait_until(lambda: "use_sim_time" in node.log(), "warning")
    lines = [line for line in node.log().splitlines() if "isobar" in line]
    assert all(line.startswith("[WARN] [") and "] [isobar]: " in line for line in lines), node.log()
    assert "joints, " not in node.log(), "lines of the level info are left out"
    late = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listener.wait_for(Log, "/rosout", lambda line: "use_sim_time" in line.msg, "line of the start", qos=late)
