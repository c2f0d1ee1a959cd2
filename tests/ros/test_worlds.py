"""Spawning, deleting, and loading worlds while the node runs, by simulation_interfaces."""

import math
import re
import signal
import threading
from pathlib import Path

import pytest
from conftest import SCENES, Controller, client_starter
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
from simulation_interfaces import srv  # noqa: E402
from simulation_interfaces.msg import Result, SimulationState  # noqa: E402
from test_simulation_interfaces import STEP_NS, Simulator, nanoseconds  # noqa: E402

OK = Result.RESULT_OK
codes = srv.SpawnEntity.Response

SDFORMAT_BRICK = """<sdf version="1.8"><model name="sdformat_brick"><link name="sdformat_brick_link"><inertial><mass>0.2</mass>
<inertia><ixx>1e-4</ixx><iyy>1e-4</iyy><izz>1e-4</izz></inertia></inertial>
<collision name="box"><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision></link></model></sdf>"""
BRICK = """<?xml version="1.0"?>
<robot name="brick">
  <link name="brick">
    <inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision name="box"><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
  </link>
</robot>"""
BOMB = (
    '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdefgh", "bcdefghi"))
    + ']><robot name="x"><link name="&i;"/></robot>'
)


def resource(request, uri="", text=""):
    """Fills the resource of a request of version 1 or 2."""
    for name in ("entity_resource", "world_resource"):
        if hasattr(request, name):
            setattr(getattr(request, name), "uri", uri)
            setattr(getattr(request, name), "resource_string", text)
            return request
    request.uri, request.resource_string = uri, text
    return request


class Worlds(Simulator):
    def spawn(self, name="", uri="", text="", position=(1.0, 0.0, 0.5), renaming=False, namespace="", w=1.0, frame=""):
        request = resource(srv.SpawnEntity.Request(name=name, allow_renaming=renaming), uri, text)
        request.entity_namespace = namespace
        request.initial_pose.header.frame_id = frame
        pose = request.initial_pose.pose
        pose.position.x, pose.position.y, pose.position.z = position
        pose.orientation.w = w
        return self.listener.call(srv.SpawnEntity, "/isobar/spawn_entity", request)

    def load(self, uri="", text=""):
        return self.listener.call(srv.LoadWorld, "/isobar/load_world", resource(srv.LoadWorld.Request(), uri, text))

    def topics(self):
        return {name for name, _ in self.listener.node.get_topic_names_and_types()}


@pytest.fixture
def worlds(start, listener):
    return client_starter(Worlds, start, listener)


def test_a_robot_of_text_is_spawned_falls_and_is_deleted(worlds, listener):
    worlds = worlds()
    states = listener.listen(JointState, "joint_states")
    commands = listener.publisher(JointState, "joint_commands")

    def arrived():
        commands.publish(JointState(name=["slide"], position=[0.08]))
        return states and states[-1].position[0] > 0.07

    listener.wait_until(arrived, "position")
    before = worlds.entity("press")
    assert worlds.set_state(SimulationState.STATE_PAUSED).result == OK
    stamp = worlds.time()
    answer = worlds.spawn("one", text=BRICK)
    assert (answer.result.result, answer.entity_name) == (OK, "one"), answer
    assert worlds.names().entities == ["press", "ball", "one"]
    placed = worlds.entity("one")
    assert (placed.pose.position.x, placed.pose.position.z) == (1.0, 0.5)
    # The existing models continue unchanged, and so does time.
    assert worlds.time() == stamp
    assert worlds.entity("press").pose == before.pose
    assert worlds.call("StepSimulation", steps=100).result.result == OK
    assert worlds.time() - stamp == 100 * STEP_NS
    assert abs(worlds.entity("one").pose.position.z - 0.5 + 9.81e-6 * 5050) < 1e-9
    now = worlds.time()
    listener.wait_until(lambda: nanoseconds(states[-1].header.stamp) == now, "the last state")
    assert states[-1].position[0] > 0.07 and len(states[-1].name) == 2, "the command stands"
    poses = listener.listen(PoseStamped, "/isobar/pose/brick")
    wrenches = listener.listen(WrenchStamped, "/isobar/wrench/brick")
    assert worlds.set_state(SimulationState.STATE_PLAYING).result == OK
    weight = 0.2 * 9.81
    listener.wait_until(lambda: poses and wrenches and abs(wrenches[-1].wrench.force.z - weight) < 0.05 * weight, "landing")
    assert poses[-1].header.frame_id == "world"
    assert abs(worlds.entity("one").pose.position.z - 0.05) < 2e-3, "it lies on the ground"
    stamps = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec for message in states]
    assert stamps == sorted(stamps)
    assert worlds.call("DeleteEntity", entity="one").result.result == OK
    assert worlds.names().entities == ["press", "ball"]
    listener.wait_until(lambda: not listener.node.get_publishers_info_by_topic("/isobar/pose/brick"), "end of its topics")
    assert worlds.call("DeleteEntity", entity="one").result.result == Result.RESULT_NOT_FOUND


def test_a_robot_is_spawned_from_a_file_and_commanded(worlds, listener):
    worlds = worlds(scene="two_presses.yaml", parameters=["robot_namespaces:=true"])
    file = str(SCENES / "press.urdf")
    answer = worlds.spawn("third", uri=file, position=(0.0, 4.0, 0.0))
    assert (answer.result.result, answer.entity_name) == (OK, "third")
    assert abs(worlds.entity("third").pose.position.y - 4.0) < 1e-12, "its root has no mass: it is welded"
    states = listener.listen(JointState, "/third/joint_states")
    listener.wait_until(lambda: states, "joint states of its own")
    assert list(states[-1].name) == ["slide", "turn"]
    commands = listener.publisher(JointState, "/third/joint_commands")

    def turns():
        commands.publish(JointState(name=["turn"], effort=[0.2]))
        return abs(states[-1].velocity[1] - 2.0) < 0.05

    listener.wait_until(turns, "its speed")
    # In the common topics its joints have the names of its URDF, which no other robot uses.
    everything = listener.listen(JointState, "/joint_states")
    listener.wait_until(lambda: everything, "joint states of all")
    assert {"left_slide", "right_slide", "slide"} == {name for name in everything[-1].name if "slide" in name}
    assert listener.set_parameter("gains.slide.stiffness", 500.0).successful
    again = worlds.spawn("third", uri=f"file://{file}", position=(0.0, 6.0, 0.0), renaming=True)
    assert (again.result.result, again.entity_name) == (OK, "third_2")
    listener.wait_until(lambda: "third_2_slide" in everything[-1].name, "the joints of the new one")
    assert abs(states[-1].velocity[1] - 2.0) < 0.05, "the first one goes on turning"
    # A namespace precedes the name and its topics.
    other = worlds.spawn("fourth", uri=file, position=(0.0, 8.0, 0.0), namespace="team")
    assert (other.result.result, other.entity_name) == (OK, "team/fourth")
    theirs = listener.listen(JointState, "/team/fourth/joint_states")
    listener.wait_until(lambda: theirs, "joint states in its namespace")
    assert list(theirs[-1].name) == ["slide", "turn"]


def test_a_robot_keeps_its_topics_when_another_is_deleted(worlds, listener):
    """Regression, observed on the built node: the topics of `arm-1`, `arm_1/`, became those of `arm_1`."""
    worlds = worlds(parameters=["robot_namespaces:=true"])
    file = str(SCENES / "press.urdf")
    for number, name in enumerate(["arm-1", "arm_1"]):
        assert worlds.spawn(name, uri=file, position=(0.0, 2.0 + 2.0 * number, 0.0)).result.result == OK
    states = listener.listen(JointState, "/arm_1_2/joint_states")
    commands = listener.publisher(JointState, "/arm_1_2/joint_commands")
    listener.wait_until(lambda: states, "joint states")
    assert worlds.call("DeleteEntity", entity="arm-1").result.result == OK
    listener.wait_until(lambda: not listener.node.get_publishers_info_by_topic("/arm_1/joint_states"), "end of its topics")

    def turns():
        commands.publish(JointState(name=["turn"], effort=[0.2]))
        return abs(states[-1].velocity[1] - 2.0) < 0.05

    listener.wait_until(turns, "the speed of the other one")
    assert worlds.spawn("arm-1", uri=file, position=(0.0, 2.0, 0.0)).result.result == OK
    back = listener.listen(JointState, "/arm_1/joint_states")
    listener.wait_until(lambda: back, "joint states of the robot that came back")
    assert abs(states[-1].velocity[1] - 2.0) < 0.05


def test_descriptions_of_entities_end_with_their_world(worlds):
    """Regression, observed on the built node: a `ball` of the next world was `the first ball`."""
    worlds = worlds(parameters=[f"file_access:={SCENES}"])
    info = worlds.call("GetEntityInfo", entity="ball").info
    info.description = "the first ball"
    assert worlds.call("SetEntityInfo", entity="ball", info=info).result.result == OK
    assert worlds.spawn("one", text=BRICK).result.result == OK
    assert worlds.call("GetEntityInfo", entity="ball").info.description == "the first ball"
    assert worlds.load(uri=str(SCENES / "swing.yaml")).result.result == OK
    assert worlds.call("GetEntityInfo", entity="ball").info.description == ""


def test_descriptions_follow_the_models(worlds, listener):
    worlds = worlds(parameters=["publish_robot_description:=true"])
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    assert worlds.spawn("one", text=BRICK).result.result == OK
    heard = listener.listen(String, "/one/robot_description", latched)
    listener.wait_until(lambda: heard, "its description")
    assert heard[0].data == BRICK


def test_spawning_in_lockstep_does_not_wait_for_controllers(worlds):
    worlds = worlds(parameters=["lockstep:=true"])
    assert worlds.spawn("one", text=BRICK).result.result == OK
    assert worlds.names().entities == ["press", "ball", "one"] and worlds.time() == 0


def test_a_controller_that_answers_once_goes_on_through_spawning_and_deleting(worlds):
    """Regression, observed on the built node: another world discarded its answer to the present state, and
    the run stood."""
    worlds = worlds(parameters=["lockstep:=true", "real_time_factor:=0.0"])
    controller = Controller(lambda state: JointState(name=["slide"], position=[0.02]))
    spinning = threading.Thread(target=controller.executor.spin, daemon=True)
    spinning.start()
    goes_on = lambda: worlds.listener.wait_until(lambda seen=len(controller.states): len(controller.states) > seen + 20, "states")
    try:
        goes_on()
        for number in range(6):
            assert worlds.spawn(f"brick_{number}", text=BRICK, position=(2.0, 0.0, 0.05)).result.result == OK
            goes_on()
            assert worlds.call("DeleteEntity", entity=f"brick_{number}").result.result == OK
            goes_on()
    finally:
        controller.end()


def test_names_and_addresses_are_checked(worlds):
    worlds = worlds(parameters=["file_access:=/"])

    def code(**keywords):
        answer = worlds.spawn(**keywords)
        assert len(answer.result.error_message) < 5000 and answer.entity_name == ""
        return answer.result.result

    assert code(name="ball", text=BRICK) == codes.NAME_NOT_UNIQUE
    nameless = BRICK.replace(' name="brick">\n  <link', ">\n  <link")
    for name in ("a b", "../x", "x" * 1000, "a\nb", "world", "é", "1x", "a/b"):
        assert code(name=name, text=BRICK) == codes.NAME_INVALID, name
    assert code(text=nameless) == codes.NAME_INVALID
    assert code(name="a") == codes.NO_RESOURCE
    assert code(name="a", text=BRICK, namespace="no good") == codes.NAMESPACE_INVALID
    assert code(name="a", text=BRICK, namespace="a//b") == codes.NAMESPACE_INVALID
    assert code(name="a", text=BRICK, w=0.0) == codes.INVALID_POSE
    assert code(name="a", text=BRICK, position=(math.nan, 0.0, 0.0)) == codes.INVALID_POSE
    assert code(name="a", text=BRICK, frame="nowhere") == codes.INVALID_POSE
    for foreign in ("<mujoco/>", "<sdf version='1.0'/>"):
        assert code(name="a", text=foreign) == codes.UNSUPPORTED_FORMAT, foreign
    for broken in ("<sdf version='1.8'/>", "<robot", "not xml", "<robot name='x'><link/></robot>", BOMB, "<a>" * 5000, BRICK.replace("0.2", "nan")):
        assert code(name="a", text=broken) == codes.RESOURCE_PARSE_ERROR, broken[:80]
    mesh = BRICK.replace('<box size="0.1 0.1 0.1"/>', '<mesh filename="ADDRESS"/>')
    tricks = ("package://../../etc/passwd", "package://isobar/../../../etc/passwd")
    for address in ("package://nowhere/x.stl", "missing.stl", "http://x/y.stl", *tricks):
        assert code(name="a", text=mesh.replace("ADDRESS", address)) == codes.MISSING_ASSETS, address
    passwords = mesh.replace("ADDRESS", "/etc/passwd")
    answer = worlds.spawn("a", text=passwords)
    assert answer.result.result == codes.UNSUPPORTED_ASSETS and "root:" not in answer.result.error_message
    for uri in ("nowhere.urdf", "package://nowhere/x.urdf", "package://../../../etc/passwd", "/dev/zero", "http://x/y", "/"):
        assert code(name="a", uri=uri) == Result.RESULT_NOT_FOUND, uri
    assert code(name="a", uri="/etc/passwd") == codes.UNSUPPORTED_FORMAT
    answer = worlds.spawn("a", uri="arm.urdf.xacro")
    assert answer.result.result == codes.UNSUPPORTED_FORMAT
    assert "xacro FILE.xacro > FILE.urdf" in answer.result.error_message, answer.result.error_message
    # A world that cannot take a step is refused, because it would halt the running simulation.
    weightless = BRICK.replace('"1e-4"', '"0"')
    assert code(name="a", text=weightless) == Result.RESULT_OPERATION_FAILED
    assert worlds.names().entities == ["press", "ball"]
    assert worlds.spawn(text=BRICK).entity_name == "brick"
    assert worlds.spawn(text=SDFORMAT_BRICK, position=(5.0, 0.0, 0.5)).entity_name == "sdformat_brick"
    assert worlds.spawn(text=BRICK, position=(2.0, 0.0, 0.5), renaming=True).entity_name == "brick_2"
    assert worlds.spawn(text=nameless, position=(3.0, 0.0, 0.5), renaming=True).entity_name == "entity"
    assert worlds.spawn("x", text=BRICK, position=(4.0, 0.0, 0.5), namespace="/a/b").entity_name == "a/b/x"
    assert worlds.node.process.poll() is None and "panicked" not in worlds.node.log()


@pytest.mark.skipif(not hasattr(srv, "SpawnEntities"), reason="this version spawns one at a time")
def test_several_are_spawned_at_once(worlds):
    worlds = worlds()
    one = srv.SpawnEntities.Request().spawn_requests
    from simulation_interfaces.msg import SpawnEntity

    for place, text in enumerate((BRICK, "<broken", BRICK)):
        request = SpawnEntity(name=f"brick{place}")
        request.entity_resource.resource_string = text
        request.initial_pose.pose.position.x = 1.0 + place
        one.append(request)
    answer = worlds.call("SpawnEntities", spawn_requests=one)
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert [result.result.result for result in answer.results] == [OK, codes.RESOURCE_PARSE_ERROR, OK]
    assert worlds.names().entities == ["press", "ball", "brick0", "brick2"]
    assert worlds.call("SpawnEntities", spawn_requests=[]).result.result == OK


def test_markers_of_the_scene_follow_the_models(worlds, listener):
    worlds = worlds()
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    heard = listener.listen(MarkerArray, "/isobar/scene_markers", latched)
    models = lambda: {marker.ns for marker in heard[-1].markers if marker.action == Marker.ADD}
    listener.wait_until(lambda: heard and models() == {"ball"}, "markers of the scene")
    assert worlds.spawn("brick", text=BRICK).result.result == OK
    listener.wait_until(lambda: models() == {"ball", "brick"}, "markers with the brick")
    assert worlds.call("DeleteEntity", entity="ball").result.result == OK
    listener.wait_until(lambda: models() == {"brick"}, "markers without the ball")
    # Each message deletes the markers before it.
    assert all(message.markers[0].action == Marker.DELETEALL for message in heard)


def test_a_warning_about_the_world_is_logged_once(worlds):
    """Regression, observed on the built node: 30 bricks at one place left 4,500 lines, 29 times the same."""
    worlds = worlds()
    for number, x in enumerate((1.0, 1.0, 3.0)):
        assert worlds.spawn(f"brick_{number}", text=BRICK, position=(x, 0.0, 0.5)).result.result == OK
    assert worlds.node.log().count("starts with its centre inside") == 1


def test_resets_remove_spawned_entities(worlds, listener):
    worlds = worlds()
    scopes = srv.ResetSimulation.Request
    assert worlds.spawn("one", text=BRICK).result.result == OK
    assert worlds.call("DeleteEntity", entity="ball").result.result == OK
    assert worlds.names().entities == ["press", "one"]
    assert "it is left out" not in worlds.node.log()
    before = worlds.entity("press").header.stamp
    assert worlds.call("ResetSimulation", scope=scopes.SCOPE_SPAWNED).result.result == OK
    assert worlds.names().entities == ["press"]
    after = worlds.entity("press").header.stamp
    assert (after.sec, after.nanosec) >= (before.sec, before.nanosec) > (0, 0), "time goes on"
    assert worlds.spawn("two", text=BRICK).result.result == OK
    assert worlds.call("ResetSimulation", scope=scopes.SCOPE_ALL).result.result == OK
    assert worlds.names().entities == ["press", "ball"]
    assert worlds.spawn("three", text=BRICK).result.result == OK
    assert worlds.set_state(SimulationState.STATE_STOPPED).result == OK
    assert worlds.names().entities == ["press", "ball"]
    assert worlds.state() == SimulationState.STATE_STOPPED and worlds.time() == 0


def test_a_checkpoint_is_kept_while_there_is_no_world(worlds, listener, tmp_path):
    file = tmp_path / "run.checkpoint"
    worlds = worlds(parameters=[f"checkpoint:={file}", "checkpoint_period:=0.05"])
    listener.wait_until(file.exists, "checkpoint")
    assert listener.set_parameter("checkpoint_period", 0.0).successful
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    saved = file.read_bytes()
    assert worlds.call("UnloadWorld").result.result == OK
    refused = listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request())
    assert not refused.success and "there is no world" in refused.message, refused
    assert listener.set_parameter("checkpoint_period", 0.05).successful
    assert worlds.node.end() == 0
    assert file.read_bytes() == saved and "no checkpoint was written" not in worlds.node.log()


def test_worlds_are_loaded_and_unloaded(worlds, listener):
    worlds = worlds(parameters=["file_access:=/"])
    loaded = srv.LoadWorld.Response
    current = worlds.call("GetCurrentWorld")
    assert current.result.result == OK and current.world.name == "press"
    assert worlds.set_state(SimulationState.STATE_PAUSED).result == OK
    for keywords, code in [
        ({}, loaded.NO_RESOURCE),
        ({"text": "<sdf/>"}, loaded.UNSUPPORTED_FORMAT),
        ({"text": "models: 3"}, loaded.RESOURCE_PARSE_ERROR),
        ({"text": "{" * 10000}, loaded.RESOURCE_PARSE_ERROR),
        ({"text": "models: [{ name: a, urdf: nowhere.urdf, weld: {} }]"}, loaded.MISSING_ASSETS),
        ({"uri": "nowhere.yaml"}, Result.RESULT_NOT_FOUND),
        ({"uri": "/etc/passwd"}, loaded.UNSUPPORTED_FORMAT),
        ({"text": "root:x " * 1000}, loaded.RESOURCE_PARSE_ERROR),
        ({"uri": "package://../../etc/passwd"}, Result.RESULT_NOT_FOUND),
    ]:
        answer = worlds.load(**keywords)
        assert answer.result.result == code, (keywords, answer.result)
    assert worlds.names().entities == ["press", "ball"], "the world that runs stays"
    answer = worlds.load(uri="two_presses.yaml")
    assert answer.result.result == OK and answer.world.name == "two_presses"
    assert worlds.state() == SimulationState.STATE_STOPPED
    assert worlds.names().entities == ["left", "right"]
    states = listener.listen(JointState, "joint_states")
    assert worlds.set_state(SimulationState.STATE_PLAYING).result == OK
    listener.wait_until(lambda: states and "left_slide" in states[-1].name, "joints of the new world")
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    assert worlds.call("UnloadWorld").result.result == OK
    assert worlds.state() == SimulationState.STATE_NO_WORLD
    assert worlds.names().entities == []
    assert worlds.call("GetCurrentWorld").result.result == srv.GetCurrentWorld.Response.NO_WORLD_LOADED
    assert worlds.call("UnloadWorld").result.result == srv.UnloadWorld.Response.NO_WORLD_LOADED
    assert worlds.set_state(SimulationState.STATE_PLAYING).result == Result.RESULT_INCORRECT_STATE
    assert worlds.call("StepSimulation", steps=1).result.result == Result.RESULT_OPERATION_FAILED
    assert worlds.spawn("one", text=BRICK).result.result == Result.RESULT_INCORRECT_STATE
    text = (SCENES / "press.yaml").read_text()
    assert worlds.load(text=text).result.result == OK
    assert worlds.call("GetCurrentWorld").world.world_resource.resource_string == text
    assert worlds.set_state(SimulationState.STATE_PLAYING).result == OK
    listener.wait_until(lambda: worlds.time() > 0, "time")
    assert "panicked" not in worlds.node.log()


def test_without_a_world_nothing_is_stepped_or_reset(worlds, listener):
    """Regression, observed on the built node: both answered success."""
    worlds = worlds()
    assert worlds.call("UnloadWorld").result.result == OK
    for service in ("step", "reset"):
        answer = listener.call(Trigger, f"/isobar/{service}", Trigger.Request())
        assert not answer.success and "there is no world" in answer.message, (service, answer)


def test_what_can_be_spawned_and_loaded_is_listed(worlds):
    worlds = worlds(parameters=["file_access:=/"])
    answer = worlds.call("GetSpawnables", sources=["package://nowhere", "../../../urdf"])
    uris = [getattr(item, "uri", None) or item.entity_resource.uri for item in answer.spawnables]
    assert answer.result.result == OK and "package://nowhere" in answer.result.error_message
    assert any(uri.endswith("/ball.urdf") for uri in uris) and any(uri.endswith("/spatula.urdf") for uri in uris)
    ball = next(uri for uri in uris if uri.endswith("/ball.urdf"))
    assert worlds.spawn("second", uri=ball).result.result == OK
    answer = worlds.call("GetAvailableWorlds")
    assert {"press", "two_presses"} <= {world.name for world in answer.worlds}
    assert all(re.match("file:///", world.world_resource.uri) for world in answer.worlds)
    failed = worlds.call("GetAvailableWorlds", additional_sources=["/nowhere"])
    assert failed.result.result == Result.RESULT_OPERATION_FAILED


def test_requests_for_lists_are_answered_by_one_thread_or_refused(worlds, listener):
    """A hundred at once, which arrive while the node is stopped."""
    worlds = worlds()
    assert worlds.call("GetAvailableWorlds").result.result == OK
    threads = lambda: len(list(Path(f"/proc/{worlds.node.process.pid}/task").iterdir()))
    before = threads()
    client = listener.node.create_client(srv.GetAvailableWorlds, "/isobar/get_available_worlds", qos_profile=QoSProfile(depth=1000))
    listener.wait_until(client.service_is_ready, "the service")
    listener.meet()
    worlds.node.process.send_signal(signal.SIGSTOP)
    answers = [client.call_async(srv.GetAvailableWorlds.Request()) for _ in range(100)]
    worlds.node.process.send_signal(signal.SIGCONT)
    most = []

    def answered():
        most.append(threads())
        return all(answer.done() for answer in answers)

    listener.wait_until(answered, "an answer to each request")
    results = [answer.result().result for answer in answers]
    listed = [result for result in results if result.result == OK]
    refused = [result for result in results if "16 requests for lists are waiting" in result.error_message]
    assert len(listed) + len(refused) == 100 and len(listed) >= 16 and refused, (len(listed), len(refused))
    assert max(most) <= before, (before, most)


def test_a_recording_goes_on_in_another_file(worlds, tmp_path):
    worlds = worlds(parameters=[f"record:={tmp_path / 'run.mcap'}"])
    assert worlds.spawn("one", text=BRICK).result.result == OK
    assert worlds.node.end() == 0
    for name in ("run.mcap", "run_2.mcap"):
        data = (tmp_path / name).read_bytes()
        assert data[:5] == data[-8:-3] == b"\x89MCAP", name
    assert b"/isobar/pose/brick" in (tmp_path / "run_2.mcap").read_bytes()
