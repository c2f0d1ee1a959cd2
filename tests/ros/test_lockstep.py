"""Lockstep: the simulation and its controllers take turns, at any load of the machine."""

import math
import sys
import time

import pytest
import rclpy
from conftest import PATIENCE, ROOT, Controller, stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

sys.path.insert(0, str(ROOT / "controllers"))
from isobar_control.process import after_sensors  # noqa: E402

LOCKSTEP = ["lockstep:=true", "real_time_factor:=0.0"]


def law(state):
    """A control law whose answer depends on every bit of the state: it presses, and swings the arm."""
    time_s = stamp_ns(state) * 1e-9
    slide = -0.08 - 0.02 * math.sin(40 * time_s) - 0.3 * (state.position[0] + 0.08)
    return JointState(name=["slide", "turn"], position=[slide, 0.0], effort=[0.0, 0.5 * math.cos(9 * state.position[1])])


def run(start, states, parameters=(), **keywords):
    node = start(parameters=[*LOCKSTEP, *parameters], **keywords)
    controller = Controller(law)
    try:
        controller.run(states)
    finally:
        controller.end()
    return node, controller.states


def bits(states):
    return [(stamp_ns(state), *[x.hex() for x in [*state.position, *state.velocity, *state.effort]]) for state in states]


def test_two_runs_are_equal_bit_by_bit(start):
    first_node, first = run(start, 400)
    assert first_node.end() == 0
    # The second run is disturbed: its controller is slow at times.
    second_node = start(parameters=LOCKSTEP)
    calls = []

    def slow(state):
        calls.append(state)
        if len(calls) % 100 == 50:
            time.sleep(0.05)
        return law(state)

    controller = Controller(slow)
    controller.run(400)
    controller.end()
    assert second_node.end() == 0
    assert [stamp_ns(state) for state in first[:400]] == [1_000_000 * k for k in range(400)], "each state once"
    assert bits(first[:400]) == bits(controller.states[:400])


def test_a_state_comes_after_the_measurements_of_its_step(start, listener):
    """A controller that uses wrenches, as a user would write it, has the wrench of the same time with every
    state."""
    start(parameters=[*LOCKSTEP, "wrench_rate:=1000.0"])
    node = rclpy.create_node("feeling")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    wrenches, pairs = [], []
    commands = node.create_publisher(JointState, "joint_commands", 10)

    def answer(state):
        if pairs and pairs[-1][0] == stamp_ns(state):
            return
        pairs.append((stamp_ns(state), stamp_ns(wrenches[-1]) if wrenches else None))
        command = law(state)
        command.header.stamp = state.header.stamp
        commands.publish(command)

    # The state is subscribed first: an executor that finds both messages would handle the state first.
    node.create_subscription(JointState, "joint_states", after_sensors(node, answer), 10)
    node.create_subscription(WrenchStamped, "isobar/wrench/pad", wrenches.append, 10)
    # The first answer is given when the node knows both subscriptions.
    listener.meet()
    deadline = time.monotonic() + PATIENCE
    while len(pairs) < 400:
        assert time.monotonic() < deadline, len(pairs)
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    node.destroy_node()
    assert [felt for _, felt in pairs[1:]] == [state for state, _ in pairs[1:]]


def test_nothing_moves_without_the_right_stamp(start, listener):
    node = start(parameters=LOCKSTEP)
    states = listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    listener.wait_until(lambda: len(states) > 2, "the first state, repeated")
    assert {stamp_ns(state) for state in states} == {0}
    answer = JointState(name=["slide"], position=[0.01])
    answer.header.stamp.nanosec = 5_000_000
    commands.publish(answer)
    listener.wait_until(lambda: "a later state" in node.log(), "refusal of an early command")
    answer.header.stamp.nanosec = 0
    commands.publish(answer)
    listener.wait_until(lambda: stamp_ns(states[-1]) == 1_000_000, "the second state")
    # Refusals of one kind within a second are one report.
    listener.publish_until(commands, answer, lambda: "earlier state" in node.log(), "refusal of a late command")
    listener.spin_for(0.3)
    assert stamp_ns(states[-1]) == 1_000_000


def test_a_late_command_holds_the_simulation(start, listener):
    node, states = run(start, 20, parameters=["lockstep_timeout:=0.1"])
    listener.wait_until(lambda: "the simulation waits" in node.log(), "report")
    late = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(late) > 3, "states")
    assert len({stamp_ns(state) for state in late}) == 1, "the same state, repeated"
    assert node.process.poll() is None


def test_a_late_command_continues_under_the_last_one(start, listener):
    node, states = run(start, 20, parameters=["lockstep_timeout:=0.05", "lockstep_on_timeout:=continue"])
    listener.wait_until(lambda: "the last command is used" in node.log(), "report")
    late = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len({stamp_ns(state) for state in late}) > 3, "steps")


def test_a_late_command_aborts(start):
    node, states = run(start, 20, parameters=["lockstep_timeout:=0.1", "lockstep_on_timeout:=abort"])
    assert node.process.wait(30) == 1
    assert "no command with the stamp of t = 0.0" in node.log() and "panicked" not in node.log()


@pytest.mark.parametrize("with_two", [True, False])
def test_several_controllers_in_namespaces_are_all_waited_for(start, listener, with_two):
    start(scene="two_presses.yaml", parameters=[*LOCKSTEP, "robot_namespaces:=true"])

    def hold(state):
        return JointState(name=["slide"], position=[0.01])

    left = Controller(hold, "/left/joint_states", "/left/joint_commands", "left_controller")
    right = Controller(hold, "/right/joint_states", "/right/joint_commands", "right_controller")
    try:
        deadline = time.monotonic() + (30 if with_two else 1.0)
        while len(left.states) < 50 and time.monotonic() < deadline:
            left.executor.spin_once(timeout_sec=0.01)
            if with_two:
                right.executor.spin_once(timeout_sec=0.01)
        if with_two:
            assert len(left.states) >= 50
            assert left.states[-1].name == ["slide", "turn"], "names as in the robot's own file"
        else:
            assert {stamp_ns(state) for state in left.states} <= {0}
    finally:
        left.end()
        right.end()


def test_what_a_run_waits_for_is_said(start, listener):
    node = start(parameters=["lockstep:=true"])
    listener.wait_until(lambda: "waits for a message on joint_commands" in node.log(), "what is waited for")
    waiting = lambda message: "with the stamp of the present state" in message.status[0].message
    listener.wait_for(DiagnosticArray, "/diagnostics", waiting, "what is waited for in diagnostics")
    listener.spin_for(1.5)
    assert node.log().count("waits for a message") == 1


def test_the_robot_whose_command_is_missing_is_named(start, listener):
    """Regression, observed on the built node: the lines named the common topic, which is not awaited."""
    node = start(scene="two_presses.yaml", parameters=[*LOCKSTEP, "robot_namespaces:=true", "lockstep_timeout:=0.2"])
    both = "waits for a message on left/joint_commands and right/joint_commands with its stamp"
    listener.wait_until(lambda: both in node.log(), "what is waited for")
    hold = lambda state: JointState(name=["slide"], position=[0.01])
    right = Controller(hold, "/right/joint_states", "/right/joint_commands", "right_controller")
    left = Controller(lambda state: hold(state) if stamp_ns(state) == 0 else None, "/left/joint_states", "/left/joint_commands", "left_controller")
    try:

        def named():
            left.executor.spin_once(timeout_sec=0.01)
            right.executor.spin_once(timeout_sec=0.01)
            return "within 0.2 s on left/joint_commands; the simulation waits" in node.log()

        listener.wait_until(named, "the robot that is missing")
    finally:
        left.end()
        right.end()


def test_a_step_for_which_no_command_comes_is_answered(start, listener):
    """Paused: the step is taken if the state has its command, else the answer says what is missing."""
    node = start(parameters=["lockstep:=true", "start_paused:=true"])
    step = lambda: listener.call(Trigger, "/isobar/step", Trigger.Request())  # noqa: E731
    for _ in range(2):
        answer = step()
        assert not answer.success and "joint_commands with the stamp of t = 0.000000 s" in answer.message, answer.message
    controller = Controller(lambda state: JointState(name=["slide"], position=[0.01]))
    try:

        def taken():
            # The controller answers the state that a refused step has published again.
            controller.executor.spin_once(timeout_sec=0.05)
            return step().success

        listener.wait_until(taken, "a step")
    finally:
        controller.end()
    answer = step()
    assert not answer.success and "start the controller" in answer.message, answer.message
    assert listener.call(SetBool, "/isobar/pause", SetBool.Request(data=False)).success
    assert node.process.poll() is None
