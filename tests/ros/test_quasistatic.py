"""Quasistatic steps in the node: the same topics, a change of mode at a reset, a failure that leaves the last
good state."""

import struct

import pytest
from conftest import PATIENCE, SCENES, stamp_ns
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState, PointCloud2
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

WEIGHT = 0.5 * 9.81
STIFFNESS = 2000.0
# The position of the slide at which the pad of 4 cm touches the ground [m].
TOUCH = -0.08
STEP_NS = 20_000_000
QUASISTATIC = ["stepping:=quasistatic", "step:=0.02"]


def slide(message):
    index = message.name.index("slide")
    return message.position[index], message.velocity[index], message.effort[index]


def test_positions_are_followed_and_everything_is_published(start, listener):
    node = start(parameters=QUASISTATIC)
    states = listener.listen(JointState, "joint_states")
    pad = listener.listen(WrenchStamped, "/isobar/wrench/pad")
    sensor = listener.listen(WrenchStamped, "/isobar/force_torque/slide")
    clouds = listener.listen(PointCloud2, "/isobar/contact_patches")
    markers = listener.listen(MarkerArray, "/isobar/contact_markers")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[0.05]))
    lifted = 0.05 - WEIGHT / STIFFNESS
    listener.wait_until(lambda: states and abs(slide(states[-1])[0] - lifted) < 1e-6, "the command")
    assert abs(slide(states[-1])[2] - WEIGHT) < 1e-3, "the actuator holds the weight"
    assert all(stamp_ns(state) % STEP_NS == 0 for state in states)
    listener.wait_until(lambda: sensor and abs(sensor[-1].wrench.force.z - WEIGHT) < 1e-3, "the sensor")
    # The command is 1 cm below the ground. The force is 20 N of the spring plus the weight, and slightly less
    # because the pad sinks in by a fraction of a millimetre.
    commands.publish(JointState(name=["slide"], position=[TOUCH - 0.01]))
    listener.wait_until(lambda: abs(slide(states[-1])[0] - TOUCH) < 1e-3, "the ground")
    listener.wait_until(lambda: pad[-1].wrench.force.z > 1.0, "wrench of the pad")
    # Impedances have no time constant: it is at rest after a few steps.
    listener.wait_for_time(states, 0.3)
    position, velocity, effort = slide(states[-1])
    assert abs(velocity) < 1e-6 and abs(effort - STIFFNESS * (TOUCH - 0.01 - position)) < 1e-3
    rests = stamp_ns(states[-1])
    listener.wait_until(lambda: stamp_ns(pad[-1]) >= rests and clouds and stamp_ns(clouds[-1]) >= rests, "both at rest")
    force, cloud = pad[-1].wrench.force.z, clouds[-1]
    assert abs(force - (WEIGHT - effort)) < 0.05, "the spring and the weight press"
    offsets = {field.name: field.offset for field in cloud.fields}
    # On the ground there are the pad's patch at x = 0 and the ball's at x = 0.5.
    pressed = 0.0
    for point in range(cloud.width):
        read = lambda name: struct.unpack_from("<f", cloud.data, point * cloud.point_step + offsets[name])[0]
        if abs(read("x")) < 0.2:
            pressed += abs(read("pressure") * read("area") * read("normal_z"))
    assert abs(pressed - force) < 0.02 * force
    listener.wait_until(lambda: any(message.markers for message in markers), "markers")
    assert node.process.poll() is None


def test_gravity_and_gains_hold_from_the_next_step_on(start, listener):
    start(parameters=QUASISTATIC)
    states = listener.listen(JointState, "joint_states")
    at = lambda position: lambda: states and abs(slide(states[-1])[0] - position) < 1e-6
    listener.wait_until(at(-WEIGHT / STIFFNESS), "the sag")
    assert listener.set_parameter("gains.slide.stiffness", 1000.0).successful
    listener.wait_until(at(-WEIGHT / 1000.0), "twice the sag")
    assert listener.set_parameter("gravity", [0.0, 0.0, -9.81 / 2]).successful
    listener.wait_until(at(-WEIGHT / 2000.0), "half the weight")


def test_the_mode_changes_at_a_reset(start, listener):
    node = start(parameters=QUASISTATIC)
    # Two messages are compared, so none may be lost.
    states = listener.listen(JointState, "joint_states", 1000)
    listener.wait_until(lambda: len(states) > 5, "quasistatic steps")
    assert abs(stamp_ns(states[-1]) - stamp_ns(states[-2])) == STEP_NS
    assert listener.set_parameter("stepping", "dynamic").successful
    assert listener.set_parameter("step", 0.0).successful
    assert "did you mean 'dynamic'" in listener.set_parameter("stepping", "dynamik").reason
    assert not listener.set_parameter("step", 1e-9).successful
    listener.fresh("joint_states", 3)
    assert stamp_ns(states[-1]) - stamp_ns(states[-2]) == STEP_NS, "not before the reset"
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: "dynamic steps of 0.001 s" in node.log(), "the change")
    listener.wait_until(lambda: stamp_ns(states[-1]) % STEP_NS != 0, "steps of the scene's own length")
    times = [stamp_ns(state) for state in states]
    assert times == sorted(set(times)), "no stamp twice or back"
    assert listener.set_parameter("stepping", "quasistatic").successful
    assert listener.set_parameter("step", 0.05).successful
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: "quasistatic steps of 0.05 s" in node.log(), "the change back")


def test_steps_that_are_too_long_for_their_mode_are_refused(start, listener):
    """Regression, observed on the built node: dynamic steps of 1 s were taken."""
    first = start()
    refused = listener.set_parameter("step", 1.0)
    assert not refused.successful and "too long for dynamic steps, which take at most 0.1 s" in refused.reason, refused
    values = {"step": 0.5, "stepping": "quasistatic"}
    both = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
    request = SetParametersAtomically.Request(parameters=both)
    result = listener.call(SetParametersAtomically, "/isobar/set_parameters_atomically", request).result
    assert result.successful, result
    assert "a step of 0.5 s" in listener.set_parameter("stepping", "dynamic").reason
    assert listener.set_parameter("step", 0.0).successful and listener.set_parameter("stepping", "dynamic").successful
    assert first.end() == 0
    node = start(parameters=["step:=0.5"])
    assert node.process.wait(PATIENCE) == 1
    assert "parameter 'step': a step of 0.5 s is too long for dynamic steps" in node.log(), node.log()


def test_without_support_the_last_good_state_stays_and_the_body_is_named(start, listener, tmp_path):
    text = (SCENES / "press.yaml").read_text().replace("ground: {}\n", "quasistatic: { inertia: none }\n")
    for urdf in ("press.urdf", "ball.urdf"):
        text = text.replace(f"urdf: {urdf}", f"urdf: {SCENES / urdf}")
    scene = tmp_path / "unsupported.yaml"
    scene.write_text(text)
    node = start(scene_path=scene, parameters=QUASISTATIC)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: "nothing holds 'ball'" in node.log(), "the error")
    assert "last good state" in node.log()
    assert node.process.poll() is None
    # The simulation continues after a change of mode at a reset.
    assert listener.set_parameter("stepping", "dynamic").successful
    assert listener.set_parameter("step", 0.001).successful
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: states and stamp_ns(states[-1]) > 100_000_000, "dynamic steps")


BOUNCING = """<robot name="bouncing"><link name="bouncing">
  <inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.05"/></geometry>
    <drake:proximity_properties><isobar:restitution value="0.5"/></drake:proximity_properties></collision>
</link></robot>"""


def test_positions_stand_when_bodies_are_placed_spawned_and_deleted(start, listener):
    """Regression, observed on the built node: a joint whose last message had no position moved to its initial
    position, and with another stepping mode pending the whole world started again, in that mode."""
    pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import BRICK, Worlds

    node = start(parameters=QUASISTATIC)
    states = listener.listen(JointState, "joint_states", 1000)
    worlds = Worlds(listener)
    worlds.wait()
    commands = listener.publisher(JointState, "joint_commands")
    lifted = lambda: states and abs(slide(states[-1])[0] - (0.05 - WEIGHT / STIFFNESS)) < 1e-6
    commands.publish(JointState(name=["slide"], position=[0.05]))
    listener.wait_until(lifted, "the command")
    commands.publish(JointState(name=["slide"], effort=[0.0]))
    listener.wait_for_time(states, 0.2)
    assert lifted(), "the last position stands"
    assert listener.set_parameter("stepping", "dynamic").successful
    assert listener.set_parameter("step", 0.001).successful
    before = len(states)
    assert worlds.place("ball", (0.5, 0.0, 0.06)).result == 1
    assert worlds.spawn("brick", text=BRICK, position=(2.0, 0.0, 0.05)).result.result == 1
    refused = worlds.spawn("bouncing", text=BOUNCING, position=(3.0, 0.0, 0.05)).result
    assert refused.result != 1 and "restitution" in refused.error_message, refused
    assert worlds.call("DeleteEntity", entity="ball").result.result == 1
    listener.wait_for_time(states, 0.2)
    times = [stamp_ns(state) for state in states[before:]]
    assert times == sorted(times) and all(time % STEP_NS == 0 for time in times), times
    assert all(abs(slide(state)[0] - slide(states[before])[0]) < 1e-6 for state in states[before:])
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: "dynamic steps of 0.001 s" in node.log(), "the change, which waited for the reset")
