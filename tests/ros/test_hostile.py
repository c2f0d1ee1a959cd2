"""Malformed and hostile messages and requests while a control loop runs, and subscribers that never read."""

import math
import random
import sys

import pytest
from conftest import Controller, stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters, SetParametersAtomically
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

MESSAGES = 9000
REQUESTS = 1000
NUMBERS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, sys.float_info.max, 0.0, -0.0, 1e9]
NAMES = ["", "slied", "slide\n", "slide/../turn", "package://../../etc/passwd", "é" * 300, "%s%n", "x" * 100_000, "turn "]


def value_of(message, key):
    return float(next(entry.value for entry in message.status[0].values if entry.key == key))


def assert_steps_between_answers(seen):
    """No run of 200 answers comes without a state in between: requests do not block the loop. `seen` is the
    number of states that were received before each answer."""
    assert all(later > earlier for earlier, later in zip(seen, seen[200:])), seen


def numbers(chance, length):
    return [chance.choice(NUMBERS) for _ in range(length)]


def bad_command(chance):
    """A command that must be refused: an unknown name, an infinite number, arrays of different lengths, or a
    repeated name."""
    kind = chance.randrange(4)
    if kind == 0:
        names = [chance.choice(NAMES)]
        return JointState(name=names, position=numbers(chance, 1))
    if kind == 1:
        array = chance.choice(["position", "velocity", "effort"])
        return JointState(name=["slide", "turn"], **{array: [math.inf, chance.choice(NUMBERS)]})
    if kind == 2:
        return JointState(name=["slide"], position=numbers(chance, chance.choice([2, 3, 5000])))
    return JointState(name=["slide"] * chance.choice([2, 1000]), position=[])


def bad_trajectory(chance):
    kind = chance.randrange(3)
    if kind == 0:
        return JointTrajectory(joint_names=[chance.choice(NAMES)], points=[JointTrajectoryPoint(positions=[0.0])])
    point = JointTrajectoryPoint(positions=[chance.choice([math.nan, math.inf, 1e308])])
    point.time_from_start.sec = chance.choice([-(2**31), -1, 0, 2**31 - 1])
    if kind == 1:
        return JointTrajectory(joint_names=["slide"], points=[point])
    good = JointTrajectoryPoint(positions=[0.0])
    return JointTrajectory(joint_names=["slide"], points=[good] * chance.choice([2, 2000]))


def bad_group(chance):
    if chance.randrange(2):
        return Float64MultiArray(data=numbers(chance, chance.choice([0, 1, 3, 5000])))
    return Float64MultiArray(data=[-math.inf, 0.0])


def bad_value(chance):
    value = ParameterValue(type=chance.randrange(12))
    value.double_value = chance.choice(NUMBERS[:3])
    value.integer_value = chance.choice([-(2**63), 2**63 - 1])
    value.string_value = chance.choice(NAMES)
    value.double_array_value = numbers(chance, chance.choice([0, 2, 3000]))
    return value


def request(chance):
    """A service, and a request that changes nothing."""
    names = [chance.choice([*NAMES, "gravity", "real_time_factor"]) for _ in range(chance.randrange(4))]
    kind = chance.randrange(5)
    if kind == 0:
        return GetParameters, "get_parameters", GetParameters.Request(names=names)
    if kind == 1:
        return DescribeParameters, "describe_parameters", DescribeParameters.Request(names=names)
    if kind == 2:
        depth = chance.choice([0, 1, 2**64 - 1])
        return ListParameters, "list_parameters", ListParameters.Request(prefixes=names, depth=depth)
    unknown = [Parameter(name=chance.choice(NAMES), value=bad_value(chance))]
    nan = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=math.nan)
    refused = unknown + [Parameter(name="gains.slide.stiffness", value=nan)]
    if kind == 3:
        return SetParameters, "set_parameters", SetParameters.Request(parameters=refused)
    return SetParametersAtomically, "set_parameters_atomically", SetParametersAtomically.Request(parameters=refused)


def test_ten_thousand_hostile_messages_change_nothing(start, listener):
    node = start()
    chance = random.Random(1)
    states = listener.listen(JointState, "joint_states")
    deep = QoSProfile(depth=1000)
    topics = {
        JointState: ("joint_commands", bad_command),
        JointTrajectory: ("joint_trajectory", bad_trajectory),
        Float64MultiArray: ("position_commands", bad_group),
    }
    publishers = {kind: listener.node.create_publisher(kind, topic, deep) for kind, (topic, _) in topics.items()}
    for publisher in publishers.values():
        listener.wait_until(lambda: publisher.get_subscription_count() > 0, "subscriber")
    clients = {}
    answers, seen = [], []
    good = JointState(name=["slide"], position=[0.05])
    arrived = lambda: states and abs(states[-1].position[0] - 0.04755) < 1e-4
    listener.publish_until(publishers[JointState], good, arrived, "the good command")
    del states[:]
    for number in range(MESSAGES):
        kind = chance.choice(list(topics))
        message = topics[kind][1](chance)
        if number % 10 == 0:
            # Bytes that are not a message of the type: some are changed, and the end is cut off.
            data = bytearray(serialize_message(message))
            for _ in range(chance.randrange(1, 6)):
                data[chance.randrange(4, len(data)) if len(data) > 4 else 0] = chance.randrange(256)
            publishers[kind].publish(bytes(data[: chance.randrange(4, len(data) + 1)]))
        else:
            publishers[kind].publish(message)
        if number % (MESSAGES // REQUESTS) == 0:
            service, name, asked = request(chance)
            if name not in clients:
                clients[name] = listener.node.create_client(service, f"/isobar/{name}", qos_profile=deep)
                listener.wait_until(clients[name].service_is_ready, name)
                listener.meet()
            # A service keeps a limited number of requests, so only a few are in flight at once.
            listener.wait_until(lambda: sum(not answer.done() for answer in answers) < 8, "answers")
            answers.append(clients[name].call_async(asked))
            answers[-1].add_done_callback(lambda _: seen.append(len(states)))
        if number % 8 == 0:
            listener.spin_for(0.004)
    assert node.process.poll() is None, node.log()
    listener.wait_until(lambda: all(answer.done() for answer in answers), "an answer to each request")
    assert len(answers) >= REQUESTS
    assert_steps_between_answers(seen)
    for answer in answers:
        results = getattr(answer.result(), "results", None) or [getattr(answer.result(), "result", None)]
        assert not any(getattr(result, "successful", False) for result in results)
    # Corrupted bytes may by chance make a valid command; it must then be handled as one.
    assert all(math.isfinite(x) for state in states for x in [*state.position, *state.velocity, *state.effort])
    publishers[JointState].publish(JointState(name=["slide", "turn"], position=[0.02, 0.0], velocity=[0.0, 0.0], effort=[0.0, 0.0]))
    listener.wait_until(lambda: abs(states[-1].position[0] - 0.02 + 0.00245) < 1e-3, "the next good command")
    listener.wait_for(DiagnosticArray, "/diagnostics", lambda m: value_of(m, "commands rejected") > MESSAGES / 2, "count")
    assert "panicked" not in node.log()


def test_subscribers_that_never_read_hold_nothing_up(start, listener):
    """More clouds than the queues of both sides keep: a publisher that waits would stop."""
    depth = 1000
    start(parameters=["contact_patch_rate:=1000.0"])
    sleeper = Controller(lambda state: None, name="sleeper")
    for kind, topic in [(PointCloud2, "/isobar/contact_patches"), (MarkerArray, "/isobar/contact_markers")]:
        sleeper.node.create_subscription(kind, topic, lambda message: None, QoSProfile(depth=depth))
        listener.wait_until(lambda: listener.node.get_subscriptions_info_by_topic(topic), "the subscriber")
    states = listener.listen(JointState, "joint_states")
    listener.meet()
    listener.wait_for_time(states, 3 * depth / 1000.0)
    assert listener.set_parameter("real_time_factor", 2.0).successful, "still responsive"
    sleeper.end()


def test_a_step_slower_than_real_time_is_reported_and_answered(start, listener):
    # No machine simulates at the requested thousand times real time.
    start(parameters=["real_time_factor:=1000.0"])
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    listener.wait_until(lambda: reports and "slower than requested" in reports[-1].status[0].message, "report")
    assert listener.set_parameter("real_time_factor", 1.0).successful
    listener.wait_until(lambda: "slower" not in reports[-1].status[0].message, "recovery")


def mutated(chance, text):
    """`text` with some parts removed, doubled, or replaced by parts of another kind."""
    for _ in range(chance.randrange(1, 5)):
        at, length = chance.randrange(len(text)), chance.randrange(1, 20)
        middle = chance.choice(["", text[at : at + length] * 2, "nan", "-1e308", "&a;", "<", "\0", "é" * 50, "../" * 20])
        text = text[:at] + middle + text[at + length :]
    return text.replace("\0", "?")


def standard_request(chance, srv, brick, resource):
    """A service of simulation_interfaces, and a request to it, which is nearly always invalid."""
    name, number = chance.choice([*NAMES, "ball", "press"]), chance.choice(NUMBERS)
    kind = chance.randrange(9)
    if kind < 3:
        asked = srv.SpawnEntity.Request(name=chance.choice([name, "a", "b"]), allow_renaming=bool(chance.randrange(2)))
        asked.entity_namespace = chance.choice(["", "", "a/b", *NAMES])
        asked.initial_pose.pose.position.x = chance.choice([5.0, 6.0, number])
        texts = [mutated(chance, brick), "<robot>" * 3000, brick.replace("box size", "mesh filename"), "x" * 1_000_000]
        uris = ["", "", "", "package://../../etc/passwd", "/dev/zero", "/proc/self/environ", name]
        return "spawn_entity", srv.SpawnEntity, resource(asked, chance.choice(uris), chance.choice(texts))
    if kind == 3:
        asked = srv.SetEntityState.Request(entity=name)
        asked.state.pose.position.z = asked.state.twist.linear.z = chance.choice(NUMBERS[:7])
        asked.state.pose.orientation.w = number
        if hasattr(asked, "set_pose"):
            asked.set_pose = asked.set_twist = True
        return "set_entity_state", srv.SetEntityState, asked
    if kind == 4:
        asked = srv.GetEntities.Request()
        asked.filters.filter = chance.choice(["(" * 1000, "(a*)*" * 100 + "b", "[", "\\", "x{99999}", name])
        asked.filters.bounds.type = chance.randrange(256)
        return "get_entities", srv.GetEntities, asked
    if kind == 5:
        texts = [mutated(chance, "models: [{ name: a, urdf: x.urdf, free: {} }]"), "&a [*a]", "[" * 10_000, "models: [*a]"]
        uris = ["", "", "package://../../etc/passwd", "/etc/passwd", name]
        return "load_world", srv.LoadWorld, resource(srv.LoadWorld.Request(), chance.choice(uris), chance.choice(texts))
    if kind == 6:
        return "step_simulation", srv.StepSimulation, srv.StepSimulation.Request(steps=chance.choice([0, 1, 2**64 - 1]))
    if kind == 7:
        return "delete_entity", srv.DeleteEntity, srv.DeleteEntity.Request(entity=chance.choice(NAMES))
    sources = [chance.choice([*NAMES, "/proc", "/"]) for _ in range(3)]
    return "get_spawnables", srv.GetSpawnables, srv.GetSpawnables.Request(sources=sources)


def test_hostile_requests_of_the_standard_services_are_answered(start, listener):
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import BRICK, Worlds, resource

    node = start()
    worlds = Worlds(listener)
    worlds.wait()
    chance = random.Random(2)
    states = listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")
    clients, answers, seen = {}, [], []
    for number in range(600):
        name, kind, asked = standard_request(chance, srv, BRICK, resource)
        if name not in clients:
            clients[name] = listener.node.create_client(kind, f"/isobar/{name}", qos_profile=QoSProfile(depth=1000))
            listener.wait_until(clients[name].service_is_ready, name)
            listener.meet()
        listener.wait_until(lambda: sum(not answer.done() for answer in answers[-50:]) < 8, "answers")
        answers.append(clients[name].call_async(asked))
        answers[-1].add_done_callback(lambda _: seen.append(len(states)))
        commands.publish(JointState(name=["slide"], position=[0.0001 * number]))
        listener.spin_for(0.004)
    listener.wait_until(lambda: all(answer.done() for answer in answers), "an answer to each request")
    for answer in answers:
        result = answer.result().result
        assert len(result.error_message) < 5000 and "root:" not in result.error_message
    entities = worlds.names().entities
    assert entities[:2] == ["press", "ball"], entities
    # Valid entities that were spawned are deleted again; the control loop has never stopped.
    assert worlds.call("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_SPAWNED).result.result == 1
    assert worlds.names().entities == ["press", "ball"]
    assert all(math.isfinite(x) for state in states for x in [*state.position, *state.velocity, *state.effort])
    listener.wait_until(lambda: abs(states[-1].position[0] - 0.0599 + 0.00245) < 1e-3, "the last command")
    stamps = [stamp_ns(state) for state in states]
    assert stamps == sorted(stamps)
    assert_steps_between_answers(seen)
    assert node.process.poll() is None and "panicked" not in node.log()
