"""External wrenches from other nodes: the press deflects by force over stiffness, for the duration of the
wrench."""

import math

import pytest
from conftest import stamp_ns
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

STIFFNESS = 2000.0  # of the slide, in press.yaml [N/m]


def wrench(body, force_z, torque_z=0.0):
    message = WrenchStamped()
    message.header.frame_id = body
    message.wrench.force.z, message.wrench.torque.z = force_z, torque_z
    return message


def slide(state):
    return state.position[state.name.index("slide")]


def still(states):
    return len(states) > 60 and abs(slide(states[-1]) - slide(states[-50])) < 1e-9


def test_a_wrench_acts_for_its_time(start, listener):
    start(parameters=["apply_wrench_duration:=1000.0"])
    states = listener.listen(JointState, "/joint_states", 1000)
    publisher = listener.publisher(WrenchStamped, "/isobar/apply_wrench")
    listener.wait_until(lambda: still(states), "rest")
    rest = slide(states[-1])
    expected = rest + 10.0 / STIFFNESS
    publisher.publish(wrench("pad", 10.0))
    listener.wait_until(lambda: abs(slide(states[-1]) - expected) < 1e-6, "equilibrium under the force")
    # The acting wrench is published in the body's axes.
    acting = listener.wait_for(WrenchStamped, "/isobar/external_wrench", lambda message: True, "the wrench")
    assert acting.header.frame_id == "pad" and acting.wrench.force.z == pytest.approx(10.0)
    pushes = listener.listen(WrenchStamped, "/isobar/external_wrench", 1000)
    # A newer wrench replaces it, and ends after 0.2 s.
    assert listener.set_parameter("apply_wrench_duration", 0.2).successful
    states.clear()
    publisher.publish(wrench("pad", 5.0))
    listener.wait_until(lambda: states and abs(slide(states[-1]) - rest) < 1e-6, "return")
    listener.wait_until(lambda: pushes and pushes[-1].wrench.force.z == 0.0, "the end of the push")
    assert min(slide(state) for state in states) > rest - 1e-3
    assert stamp_ns(states[-1]) - stamp_ns(states[0]) >= 150_000_000


@pytest.mark.parametrize(
    "message, reason",
    [
        (wrench("pda", 1.0), "did you mean 'pad'?"),
        (wrench("", 1.0), "name one in header.frame_id"),
        (wrench("world", 1.0), "unknown body 'world'"),
        (wrench("pad", math.nan), "must be finite"),
        (wrench("pad", 1e300), "must be finite and at most"),
    ],
    ids=["typo", "none", "world", "nan", "huge"],
)
def test_a_wrench_that_makes_no_sense_is_dropped_with_the_reason(start, listener, message, reason):
    node = start()
    states = listener.listen(JointState, "/joint_states", 1000)
    publisher = listener.publisher(WrenchStamped, "/isobar/apply_wrench")
    listener.wait_until(lambda: still(states), "rest")
    rest = slide(states[-1])
    listener.publish_until(publisher, message, lambda: reason in node.log(), reason)
    listener.fresh("/joint_states", 20)
    assert slide(states[-1]) == pytest.approx(rest, abs=1e-9)


def test_a_wrench_that_no_step_can_follow_is_dropped_and_the_commands_stay(start, listener):
    """A torque of 1e9 Nm on a ball of 0.4 kg. The command for the slide, which is not at fault, stays."""
    node = start()
    states = listener.listen(JointState, "/joint_states", 1000)
    commands = listener.publisher(JointState, "/joint_commands")
    publisher = listener.publisher(WrenchStamped, "/isobar/apply_wrench")
    listener.publish_until(commands, JointState(name=["slide"], position=[-0.02]), lambda: states and abs(slide(states[-1]) + 0.02) < 0.004, "the slide")
    listener.publish_until(publisher, wrench("ball", 0.0, 1e9), lambda: "The wrenches of ~/apply_wrench are dropped" in node.log(), "report")
    now = stamp_ns(states[-1])
    listener.wait_until(lambda: stamp_ns(states[-1]) > now + 200_000_000, "later states")
    assert "halted" not in node.log() and "Withdrawn" not in node.log(), node.log()
    assert abs(slide(states[-1]) + 0.02) < 0.004
