"""Trajectories, group commands, control modes, and the effect of contact on joints."""

import json
import struct

import pytest
from builtin_interfaces.msg import Duration
from conftest import stamp_ns
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SAG = 0.5 * 9.81 / 2000


def joint(message, name):
    index = message.name.index(name)
    return message.position[index], message.velocity[index], message.effort[index]


def at(states, position, tolerance=1e-4):
    return lambda: bool(states) and abs(joint(states[-1], "slide")[0] - position) < tolerance


def point(seconds, positions, velocities=()):
    whole = int(seconds)
    time_from_start = Duration(sec=whole, nanosec=round((seconds - whole) * 1e9))
    return JointTrajectoryPoint(positions=positions, velocities=velocities, time_from_start=time_from_start)


def test_a_trajectory_is_followed_and_its_end_held(start, listener):
    node = start()
    states = listener.listen(JointState, "joint_states")
    trajectories = listener.publisher(JointTrajectory, "joint_trajectory")
    listener.wait_until(at(states, -SAG, 1e-5), "rest")
    # The slide begins at 0 and sinks by its sag.
    rested = len(states)
    points = [point(0.5, [0.04], [0.0]), point(1.0, [0.0], [0.0])]
    trajectories.publish(JointTrajectory(joint_names=["slide"], points=points))
    listener.wait_until(lambda: "trajectory done" in node.log(), "end of the trajectory")
    listener.wait_until(at(states, -SAG, 1e-4), "the last point, held")
    top = max(states[rested:], key=lambda state: joint(state, "slide")[0])
    # The actuator of 2 kN/m and 100 N s/m lags behind the cubic by some hundredths of a second.
    assert abs(joint(top, "slide")[0] - 0.04 + SAG) < 4e-3
    # From the first 2 mm on, which the cubic reaches within a tenth of a second.
    began = next(stamp_ns(state) for state in states[rested:] if joint(state, "slide")[0] > 0.002 - SAG)
    assert 0.3e9 < stamp_ns(top) - began < 0.7e9
    # A second trajectory replaces the first one before its end.
    trajectories.publish(JointTrajectory(joint_names=["slide"], points=[point(5.0, [0.09])]))
    listener.spin_for(0.2)
    trajectories.publish(JointTrajectory(joint_names=["slide"], points=[point(0.3, [-0.01])]))
    listener.wait_until(at(states, -0.01 - SAG), "the second trajectory")
    # A command ends a trajectory too.
    trajectories.publish(JointTrajectory(joint_names=["slide"], points=[point(5.0, [0.09])]))
    listener.spin_for(0.1)
    listener.publisher(JointState, "joint_commands").publish(JointState(name=["slide"], position=[0.02]))
    listener.wait_until(at(states, 0.02 - SAG), "the command")
    listener.wait_for_time(states, 0.3)
    assert at(states, 0.02 - SAG)()


def test_a_trajectory_starts_at_its_stamp_and_ends_without_points(start, listener):
    node = start()
    states = listener.listen(JointState, "joint_states")
    trajectories = listener.publisher(JointTrajectory, "joint_trajectory")
    listener.wait_until(at(states, -SAG, 1e-5), "rest")
    message = JointTrajectory(joint_names=["slide"], points=[point(20.0, [0.1])])
    start_ns = stamp_ns(states[-1]) + 3_000_000_000
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(start_ns, 1_000_000_000)
    trajectories.publish(message)
    listener.wait_until(lambda: joint(states[-1], "slide")[0] > 0.005, "movement")
    before = [joint(state, "slide")[0] for state in states if stamp_ns(state) < start_ns]
    assert max(abs(position + SAG) for position in before[-400:]) < 1e-4, "not before its time"
    trajectories.publish(JointTrajectory())
    listener.wait_until(lambda: "joint_trajectory: canceled" in node.log(), "the cancellation")
    listener.wait_for_time(states, 0.5)
    here = joint(states[-1], "slide")[0]
    listener.wait_for_time(states, 0.5)
    assert abs(joint(states[-1], "slide")[0] - here) < 1e-4 and here < 0.09
    assert "trajectory done" not in node.log()


def test_a_trajectory_that_cannot_be_followed_is_aborted(start, listener):
    node = start(parameters=["trajectory_tolerance:=0.02"])
    states = listener.listen(JointState, "joint_states")
    trajectories = listener.publisher(JointTrajectory, "joint_trajectory")
    # Into the ground, which it cannot reach.
    trajectories.publish(JointTrajectory(joint_names=["slide"], points=[point(1.0, [-0.19])]))
    listener.wait_until(lambda: "trajectory aborted: joint 'slide'" in node.log(), "report")
    listener.wait_for_time(states, 0.3)
    assert joint(states[-1], "slide")[0] > -0.1


def test_malformed_trajectories_are_reported_and_dropped(start, listener):
    node = start()
    trajectories = listener.publisher(JointTrajectory, "joint_trajectory")
    for message, reason in [
        (JointTrajectory(joint_names=["slied"], points=[point(1.0, [0.0])]), "did you mean 'slide'"),
        (JointTrajectory(joint_names=["slide"], points=[point(1.0, [float("nan")])]), "must be finite"),
        (JointTrajectory(joint_names=["slide"], points=[point(1.0, [7.0])]), "beyond its limits"),
        (JointTrajectory(joint_names=["slide"], points=[point(1.0, [0.0]), point(0.5, [0.0])]), "must be later"),
        (JointTrajectory(joint_names=["slide"], points=[point(1.0, [])]), "1 joints and 0 values"),
    ]:
        listener.publish_until(trajectories, message, lambda reason=reason: reason in node.log(), reason)


def test_group_commands_set_all_joints_in_order(start, listener):
    node = start()
    states = listener.listen(JointState, "joint_states")
    positions = listener.publisher(Float64MultiArray, "position_commands")
    efforts = listener.publisher(Float64MultiArray, "effort_commands")
    # Velocities alone first: the damping of 100 N s/m carries the pad's weight.
    velocities = listener.publisher(Float64MultiArray, "velocity_commands")
    velocities.publish(Float64MultiArray(data=[0.02 + 0.5 * 9.81 / 100, 0.0]))
    listener.wait_until(lambda: states and abs(joint(states[-1], "slide")[1] - 0.02) < 1e-4, "speed")
    velocities.publish(Float64MultiArray(data=[0.0, 0.0]))
    positions.publish(Float64MultiArray(data=[0.03, 0.0]))
    listener.wait_until(at(states, 0.03 - SAG), "position")
    efforts.publish(Float64MultiArray(data=[2.0, 0.2]))
    listener.wait_until(at(states, 0.03 - SAG + 2.0 / 2000), "position and feed-forward")
    listener.wait_until(lambda: abs(joint(states[-1], "turn")[1] - 2.0) < 0.02, "speed of the free arm")
    efforts.publish(Float64MultiArray(data=[1.0]))
    listener.wait_until(lambda: "1 values for 2 joints" in node.log(), "refusal")


def test_a_control_mode_chooses_the_quantity(start, listener):
    start(parameters=["control_modes.slide:=position"])
    states = listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    commands.publish(JointState(name=["slide"], position=[0.03], effort=[20.0]))
    listener.wait_until(at(states, 0.03 - SAG), "position without the effort")
    assert listener.set_parameter("control_modes.slide", "auto").successful
    commands.publish(JointState(name=["slide"], position=[0.03], effort=[20.0]))
    listener.wait_until(at(states, 0.03 - SAG + 0.01), "and with it")
    assert "not one of auto" in listener.set_parameter("control_modes.slide", "torque").reason


def test_contact_is_felt_in_the_joints(start, listener):
    start()
    states = listener.listen(JointState, "joint_states")
    torques = listener.listen(JointState, "/isobar/external_joint_torques")
    sensor = listener.listen(WrenchStamped, "/isobar/force_torque/slide")
    listener.wait_until(lambda: at(states, -SAG, 1e-5)() and torques and sensor, "rest")
    # The joint carries the pad: its weight, upwards, on the pad.
    listener.wait_until(lambda: abs(sensor[-1].wrench.force.z - 0.5 * 9.81) < 1e-2, "weight")
    assert sensor[-1].header.frame_id == "pad"
    assert list(torques[-1].name) == ["slide", "turn"] and list(torques[-1].effort) == [0.0, 0.0]
    listener.publisher(JointState, "joint_commands").publish(JointState(name=["slide"], position=[-0.2]))
    # Pressed down by 40 N, the limit: the ground pushes with 40 N and the weight, and the joint with -40 N.
    wanted = 40 + 0.5 * 9.81
    listener.wait_until(lambda: abs(torques[-1].effort[0] - wanted) < 0.02 * wanted, "torque of contact")
    listener.wait_until(lambda: abs(sensor[-1].wrench.force.z + 40) < 0.8, "force in the joint")
    assert torques[-1].effort[1] == 0.0


def test_contact_patches_are_points_with_all_that_acts(start, listener):
    start()
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    pairs = listener.listen(String, "/isobar/contact_pairs", latched)
    clouds = listener.listen(PointCloud2, "/isobar/contact_patches")
    listener.wait_until(lambda: pairs and clouds and clouds[-1].width > 0, "contact patches")
    names = {entry["id"]: {entry["a"], entry["b"]} for entry in json.loads(pairs[0].data)}
    cloud = clouds[-1]
    assert [field.name for field in cloud.fields][-1] == "pair" and cloud.header.frame_id == "world"
    for values in struct.iter_unpack("<14fI", bytes(cloud.data)):
        assert names[values[14]] == {"ball/sphere", "world/ground"}
        assert abs(values[2]) < 0.01 and values[7] > 0


def test_robots_have_namespaces_of_their_own(start, listener):
    start(scene="two_presses.yaml", parameters=["robot_namespaces:=true", "publish_robot_description:=true"])
    left, right = (listener.listen(JointState, f"/{side}/joint_states") for side in ("left", "right"))
    both = listener.listen(JointState, "/joint_states")
    commands = listener.publisher(JointState, "/left/joint_commands")
    commands.publish(JointState(name=["slide"], position=[0.03]))
    listener.wait_until(at(left, 0.03 - SAG), "the left one")
    listener.wait_until(at(right, -SAG), "the right one stays")
    listener.wait_until(lambda: both, "the states of both")
    assert list(both[-1].name) == ["left_slide", "left_turn", "right_slide", "right_turn"]
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    description = listener.listen(String, "/right/robot_description", latched)
    listener.wait_until(lambda: description, "description")


def test_contacts_are_one_wrench_a_pair_of_bodies(start, listener):
    messages = pytest.importorskip("ros_gz_interfaces.msg", reason="ros_gz_interfaces is not installed")
    start()
    heard = listener.listen(messages.Contacts, "/isobar/contacts", 1)
    weight = 0.4 * 9.81

    def rests():
        if not heard or len(heard[-1].contacts) != 1:
            return False
        return abs(heard[-1].contacts[0].wrenches[0].body_2_wrench.force.z - weight) < 0.01 * weight

    listener.wait_until(rests, "the ball at rest")
    message = heard[-1]
    contact = message.contacts[0]
    assert message.header.frame_id == "world"
    assert (contact.collision1.name, contact.collision2.name) == ("world", "ball")
    assert (contact.normals[0].z, contact.positions[0].z) == pytest.approx((1.0, 0.0), abs=2e-3)
    wrench = contact.wrenches[0]
    assert wrench.body_1_wrench.force.z == -wrench.body_2_wrench.force.z
    assert wrench.body_1_name.data == "world" and wrench.body_2_name.data == "ball"
