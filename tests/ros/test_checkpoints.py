"""Checkpoints of the node: a killed run continues with the same bits, and other files are refused by name."""

import signal

import pytest
from conftest import PATIENCE, RUNNING, SCENES, stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import GetParameters
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

# The longest wait for a killed node to leave the graph, which it does when its lease ends, after 20 s [s].
LEASE = 60.0


def bits(state):
    return tuple(state.name), tuple(state.position), tuple(state.velocity), tuple(state.effort)


def by_stamp(states):
    return {stamp_ns(state): bits(state) for state in states}


def position(state, joint):
    return state.position[state.name.index(joint)]


def wait_without_nodes(listener, condition):
    """Waits for the condition while no node has to be alive."""
    dead = RUNNING[:]
    RUNNING.clear()
    listener.wait_until(condition, "end of the lease", LEASE)
    RUNNING.extend(dead)


def test_a_node_that_was_killed_goes_on_where_it_was(start, listener, tmp_path):
    """Held positions, an active trajectory and the scene's own commands continue; states have the same
    bits."""
    file = tmp_path / "run.checkpoint"
    arguments = {"scene": "swing.yaml", "parameters": [f"checkpoint:={file}", "checkpoint_period:=0.05"]}
    first = start(**arguments)
    states = listener.listen(JointState, "/joint_states", 1000)
    publisher = listener.publisher(JointTrajectory, "/joint_trajectory")
    point = JointTrajectoryPoint(positions=[3.0])
    point.time_from_start.sec = 60
    trajectory = JointTrajectory(joint_names=["turn"], points=[point])
    moves = lambda: states and position(states[-1], "turn") > 0.005  # noqa: E731
    publisher.publish(trajectory)
    listener.wait_until(moves, "motion")
    written = set()

    def is_rewritten():
        if file.exists():
            written.add((file.stat().st_ino, file.stat().st_mtime_ns))
        return len(written) >= 3

    listener.wait_until(is_rewritten, "checkpoints")
    assert listener.set_parameter("checkpoint_period", 0.0).successful
    known = len(states)
    listener.wait_until(lambda: len(states) > known + 300, "more states")
    first.end(signal.SIGKILL)
    topic = "/joint_states"
    gone = lambda: not listener.node.get_publishers_info_by_topic(topic)  # noqa: E731
    wait_without_nodes(listener, gone)
    before = by_stamp(states)
    states.clear()
    arguments["parameters"].append("start_paused:=true")
    second = start(**arguments)
    RUNNING[:] = [second]
    # It continues once it knows this subscription; no checkpoint has changed until then.
    assert listener.call(SetBool, "/isobar/pause", SetBool.Request(data=False)).success
    listener.wait_until(lambda: states and stamp_ns(states[-1]) > max(before), "states of the second node")
    after = by_stamp(states)
    common = sorted(set(before) & set(after))
    assert len(common) > 50 and min(after) > 0, f"{len(common)} states of both"
    different = [stamp for stamp in common if before[stamp] != after[stamp]]
    assert not different, f"{different[0]} ns: {before[different[0]]} and {after[different[0]]}"
    assert "the simulation continues from its checkpoint" in second.log()
    turn = position(states[-1], "turn")
    listener.wait_until(lambda: position(states[-1], "turn") > turn + 0.002, "motion along the trajectory")


def test_services_save_and_restore(start, listener, tmp_path):
    file = tmp_path / "run.checkpoint"
    node = start(scene="swing.yaml", parameters=[f"checkpoint:={file}"])
    states = listener.listen(JointState, "/joint_states", 1000)
    listener.wait_until(lambda: len(states) > 100, "states")
    missing = listener.call(Trigger, "/isobar/restore_checkpoint", Trigger.Request())
    assert not missing.success and str(file) in missing.message, missing.message
    saved = listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request())
    assert saved.success and str(file) in saved.message and file.exists(), saved.message
    known = stamp_ns(states[-1])
    listener.wait_until(lambda: stamp_ns(states[-1]) > known + 200_000_000, "later states")
    first = by_stamp(states)
    states.clear()
    assert listener.set_parameter("gravity", [0.0, 0.0, -5.0]).successful
    restored = listener.call(Trigger, "/isobar/restore_checkpoint", Trigger.Request())
    assert restored.success, restored.message
    # States from before the jump back may still arrive.
    jumps = lambda: [i for i in range(1, len(states)) if stamp_ns(states[i]) < stamp_ns(states[i - 1])]  # noqa: E731
    listener.wait_until(lambda: jumps() and max(first) < stamp_ns(states[-1]), "states after the checkpoint")
    second = by_stamp(states[jumps()[-1] :])
    common = sorted(set(first) & set(second))
    assert len(common) > 50
    assert all(first[stamp] == second[stamp] for stamp in common)
    # Bad files are refused by name, and the simulation continues.
    whole = file.read_bytes()
    for content, reason in ((whole[: len(whole) // 2], "it is truncated"), (b"text", "it is not a checkpoint of Isobar")):
        file.write_bytes(content)
        refused = listener.call(Trigger, "/isobar/restore_checkpoint", Trigger.Request())
        assert not refused.success and str(file) in refused.message and reason in refused.message, refused.message
    now = stamp_ns(states[-1])
    listener.wait_until(lambda: stamp_ns(states[-1]) > now + 50_000_000, "states after refusals")
    assert node.end() == 0


def test_without_a_file_the_services_say_how_to_name_one(start, listener):
    start()
    for service in ("save", "restore"):
        answer = listener.call(Trigger, f"/isobar/{service}_checkpoint", Trigger.Request())
        assert not answer.success and "checkpoint:=FILE" in answer.message, answer.message


@pytest.mark.parametrize("content", [b"no checkpoint", b"ISOBAR-C\x01\x00"])
def test_a_node_does_not_begin_with_a_broken_checkpoint(start, tmp_path, content):
    """The file does not change."""
    file = tmp_path / "broken.checkpoint"
    file.write_bytes(content)
    node = start(parameters=[f"checkpoint:={file}", "checkpoint_period:=0.01"])
    assert node.process.wait(PATIENCE) != 0
    log = node.log()
    assert str(file) in log and "remove the file or name another one" in log, log
    assert file.read_bytes() == content


def test_a_checkpoint_of_another_scene_is_refused_by_name(start, listener, tmp_path):
    file = tmp_path / "run.checkpoint"
    first = start(scene="swing.yaml", parameters=[f"checkpoint:={file}"])
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert first.end() == 0
    second = start(scene="two_presses.yaml", parameters=[f"checkpoint:={file}"])
    assert second.process.wait(PATIENCE) != 0
    assert str(file) in second.log() and second.log().count("to another scene") == 1, second.log()


def test_a_checkpoint_of_a_changed_scene_file_is_refused_with_the_difference(start, listener, tmp_path):
    """Gravity, gains, the commands over time and the start of a body, each in a file that differs in it
    alone."""
    text = (SCENES / "swing.yaml").read_text().replace("urdf: ", f"urdf: {SCENES}/")
    scene, file = tmp_path / "scene.yaml", tmp_path / "run.checkpoint"
    scene.write_text(text)
    first = start(scene_path=scene, parameters=[f"checkpoint:={file}", "gravity:=[0.0, 0.0, -5.0]"])
    assert listener.set_parameter("gains.slide.stiffness", 1500.0).successful
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert first.end() == 0
    for old, new, what in [
        ("step:", "gravity: [0, 0, -8]\nstep:", "gravity"),
        ("stiffness: 2000", "stiffness: 1500", "actuator of joint 'slide'"),
        ("period: 0.7", "period: 0.8", "schedule of commands of joint 'slide'"),
        ("xyz: [0.5", "xyz: [0.6", "initial state of joint"),
    ]:
        assert old in text
        scene.write_text(text.replace(old, new, 1))
        refused = start(scene_path=scene, parameters=[f"checkpoint:={file}"])
        assert refused.process.wait(PATIENCE) != 0
        assert f"its {what}" in refused.log() and "differs from that of this scene" in refused.log(), refused.log()
    scene.write_text(text)
    # Values that the run changed are those of the checkpoint.
    last = start(scene_path=scene, parameters=[f"checkpoint:={file}"])
    RUNNING[:] = [last]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in last.log(), "start")
    said = lambda: "parameter 'gains.slide.stiffness' now has the value of the checkpoint" in last.log()  # noqa: E731
    listener.wait_until(said, "the gain of the run")


def test_a_checkpoint_after_a_change_of_mode_and_another_world_is_restored(start, listener, tmp_path):
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import resource

    file = tmp_path / "run.checkpoint"
    first = start(scene="swing.yaml", parameters=[f"checkpoint:={file}"])
    assert listener.set_parameter("stepping", "quasistatic").successful
    assert listener.set_parameter("step", 0.01).successful
    request = resource(srv.LoadWorld.Request(), str(SCENES / "swing.yaml"), "")
    assert listener.call(srv.LoadWorld, "/isobar/load_world", request).result.result == 1
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    again = listener.call(Trigger, "/isobar/restore_checkpoint", Trigger.Request())
    assert again.success, again.message
    assert first.end() == 0
    second = start(scene="swing.yaml", parameters=[f"checkpoint:={file}"])
    RUNNING[:] = [second]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in second.log(), "start")
    assert second.end() == 0


def test_a_checkpoint_sets_the_step_and_the_mode_of_the_node(start, listener, tmp_path):
    """Regression, observed on the built node: those given at the start had no effect, but were the values of
    the parameters."""
    file = tmp_path / "run.checkpoint"
    first = start(scene="swing.yaml", parameters=[f"checkpoint:={file}", "step:=0.002"])
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert first.end() == 0
    second = start(scene="swing.yaml", parameters=[f"checkpoint:={file}", "step:=0.005", "stepping:=quasistatic"])
    RUNNING[:] = [second]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in second.log(), "start")
    names = ["step", "stepping"]
    step, stepping = listener.call(GetParameters, "/isobar/get_parameters", GetParameters.Request(names=names)).values
    assert (step.double_value, stepping.string_value) == (0.002, "")
    for name in names:
        assert f"parameter '{name}' now has the value of the checkpoint" in second.log(), second.log()
    # After a reset, too.
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    states = listener.listen(JointState, "joint_states", 100)
    assert listener.set_parameter("joint_state_rate", 1000.0).successful
    listener.wait_until(lambda: len(states) > 20, "states")
    assert stamp_ns(states[-1]) - stamp_ns(states[-2]) == 2_000_000


MASSLESS = """<robot name="m"><link name="base"/><link name="a"/><joint name="j" type="revolute"><parent link="base"/>
<child link="a"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="10" velocity="5"/></joint></robot>"""


def test_a_checkpoint_after_a_refused_mode_can_be_started_from(start, listener, tmp_path):
    """Regression, observed on the built node: the checkpoint had the mode that the reset could not take."""
    (tmp_path / "massless.urdf").write_text(MASSLESS)
    scene, file = tmp_path / "massless.yaml", tmp_path / "run.checkpoint"
    actuators = "{ j: { stiffness: 100, damping: 1 } }"
    scene.write_text(
        f"step: 0.01\nstepping: quasistatic\nmodels: [{{ name: m, urdf: massless.urdf, weld: {{}}, actuators: {actuators} }}]\n"
    )
    first = start(scene_path=scene, parameters=[f"checkpoint:={file}"])
    assert listener.set_parameter("stepping", "dynamic").successful
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: "The reset keeps the previous stepping settings" in first.log(), "the reason")
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert first.end() == 0
    second = start(scene_path=scene, parameters=[f"checkpoint:={file}"])
    RUNNING[:] = [second]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in second.log(), "start")


def test_a_disk_that_takes_no_checkpoints_is_reported_once_and_in_diagnostics(start, listener, tmp_path):
    """The simulation continues, and so do the attempts."""
    folder = tmp_path / "disk"
    folder.mkdir()
    node = start(scene="swing.yaml", parameters=[f"checkpoint:={folder}/run.checkpoint", "checkpoint_period:=0.02"])
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    checkpoint = lambda: next((v.value for v in reports[-1].status[0].values if v.key == "checkpoint"), "") if reports else ""  # noqa: E731
    listener.wait_until(lambda: "after the reset" in checkpoint(), "checkpoints")
    folder.rename(tmp_path / "gone")
    listener.wait_until(lambda: "not written" in checkpoint(), "report")
    listener.wait_until(lambda: "no checkpoint is written" in reports[-1].status[0].message, "the warning")
    known = len(reports)
    listener.wait_until(lambda: len(reports) > known + 2, "reports")
    assert node.log().count("cannot write the checkpoint") == 1, node.log()
    folder.mkdir()
    listener.wait_until(lambda: "checkpoints are written again" in node.log(), "success")
    listener.wait_until(lambda: "after the reset" in checkpoint(), "checkpoints")
    assert node.end() == 0


def test_a_period_without_a_file_is_warned_about(start, listener):
    node = start(parameters=["checkpoint_period:=0.5"])
    listener.wait_until(lambda: "'checkpoint_period' has no effect without a file" in node.log(), "warning")
    assert listener.set_parameter("checkpoint_period", 0.0).successful
    assert listener.set_parameter("checkpoint_period", 1.0).successful
    listener.wait_until(lambda: node.log().count("has no effect without a file") == 2, "second warning")
    refused = listener.set_parameter("checkpoint_period", 1e-300)
    assert not refused.successful and "1e-9" in refused.reason.replace("0.000000001", "1e-9"), refused.reason


def test_spawned_and_deleted_entities_come_back_with_a_checkpoint(start, listener, tmp_path):
    """A second node has the first one's brick where it was, and not the deleted ball. After later changes of
    its own world it refuses the file by name."""
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import BRICK, resource

    file = tmp_path / "run.checkpoint"
    parameters = [f"checkpoint:={file}", "start_paused:=true"]
    first = start(parameters=parameters)
    request = resource(srv.SpawnEntity.Request(name="brick"), "", BRICK)
    request.initial_pose.pose.position.x, request.initial_pose.pose.position.z = 2.0, 3.0
    request.initial_pose.pose.orientation.w = 1.0
    assert listener.call(srv.SpawnEntity, "/isobar/spawn_entity", request).result.result == 1
    delete = srv.DeleteEntity.Request(entity="ball")
    assert listener.call(srv.DeleteEntity, "/isobar/delete_entity", delete).result.result == 1
    assert listener.call(srv.StepSimulation, "/isobar/step_simulation", srv.StepSimulation.Request(steps=100)).result.result == 1
    pose = lambda: listener.call(srv.GetEntityState, "/isobar/get_entity_state", srv.GetEntityState.Request(entity="brick"))  # noqa: E731
    before = pose()
    assert before.result.result == 1 and before.state.pose.position.z < 3.0, "it falls"
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert first.end() == 0
    second = start(parameters=parameters)
    RUNNING[:] = [second]
    entities = lambda: listener.call(srv.GetEntities, "/isobar/get_entities", srv.GetEntities.Request()).entities  # noqa: E731
    assert entities() == ["press", "brick"], second.log()
    assert pose().state == before.state
    assert "entities spawned: brick; entities deleted: ball" in second.log()
    # Another world refuses the file, with both lists.
    delete = srv.DeleteEntity.Request(entity="brick")
    assert listener.call(srv.DeleteEntity, "/isobar/delete_entity", delete).result.result == 1
    refused = listener.call(Trigger, "/isobar/restore_checkpoint", Trigger.Request())
    assert not refused.success
    assert "made with entities spawned: brick; entities deleted: ball" in refused.message, refused.message
    assert "the world has entities spawned: none; entities deleted: ball" in refused.message, refused.message
    # A reset of everything restores the entities of the scene file.
    assert listener.call(srv.ResetSimulation, "/isobar/reset_simulation", srv.ResetSimulation.Request()).result.result == 1
    assert entities() == ["press", "ball"]
    assert second.end() == 0


def test_another_world_keeps_the_periodic_checkpoint_of_the_scene(start, listener, tmp_path):
    """The file stays one that the same start accepts. The log says so once, and so do diagnostics; the
    service writes it all the same, and the message about another world names both."""
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import resource

    file = tmp_path / "run.checkpoint"
    arguments = {"scene": "swing.yaml", "parameters": [f"checkpoint:={file}", "checkpoint_period:=0.02", f"file_access:={SCENES}"]}
    first = start(**arguments)
    states = listener.listen(JointState, "/joint_states", 1000)
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    listener.wait_until(file.exists, "a checkpoint")

    def enter(scene):
        request = resource(srv.LoadWorld.Request(), str(SCENES / scene), "")
        assert listener.call(srv.LoadWorld, "/isobar/load_world", request).result.result == 1
        assert listener.call(SetBool, "/isobar/pause", SetBool.Request(data=False)).success

    enter("two_presses.yaml")
    said = lambda: first.log().count("the file is kept as it is while the world is not that of the parameter 'scene'")  # noqa: E731
    listener.wait_until(said, "the line")
    kept = file.read_bytes()
    warned = "no checkpoint is written: the world is not that of the parameter 'scene'"
    listener.wait_until(lambda: warned in (reports[-1].status[0].message if reports else ""), "diagnostics")
    listener.wait_for_time(states, 0.2)
    refused = listener.call(Trigger, "/isobar/restore_checkpoint", Trigger.Request())
    assert not refused.success and "belongs to another scene" in refused.message, refused.message
    assert "made in" in refused.message and "swing.yaml" in refused.message and "two_presses.yaml" in refused.message
    assert said() == 1 and file.read_bytes() == kept
    # The world of the scene again, by another path.
    enter("../scenes/swing.yaml")
    listener.wait_until(lambda: file.read_bytes() != kept, "checkpoints of the scene again")
    enter("two_presses.yaml")
    listener.wait_until(lambda: said() == 2, "the line about the next other world")
    assert first.end() == 0
    second = start(**arguments)
    RUNNING[:] = [second]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in second.log(), "start")
    enter("two_presses.yaml")
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert second.end() == 0
    third = start(**arguments)
    assert third.process.wait(PATIENCE) == 1
    assert "it was made in" in third.log() and "two_presses.yaml: start with that scene" in third.log(), third.log()


def test_one_file_is_not_both_a_recording_and_a_checkpoint(start, tmp_path):
    """Regression, observed on the built node: the first checkpoint replaced the recording."""
    node = start(parameters=[f"record:={tmp_path}/run", f"checkpoint:={tmp_path}/run"])
    assert node.process.wait(PATIENCE) == 1
    assert f"name one file, {tmp_path}/run" in node.log() and not (tmp_path / "run").exists(), node.log()
    # The same file by another path.
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (f"{tmp_path}/link/run", f"{tmp_path}/0/../run"):
        node = start(parameters=[f"record:={tmp_path}/run", f"checkpoint:={path}"])
        assert node.process.wait(PATIENCE) == 1
        assert f"name one file, {path}" in node.log() and not (tmp_path / "run").exists(), node.log()


def test_two_nodes_do_not_share_a_file_of_checkpoints(start, listener, tmp_path):
    """Regression, observed on the built node: two nodes overwrote each other's checkpoints."""
    file = tmp_path / "run.checkpoint"
    first = start(parameters=[f"checkpoint:={file}", "checkpoint_period:=0.1"])
    states = listener.listen(JointState, "joint_states")
    listener.wait_for_time(states, 0.3)
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (file, tmp_path / "link" / "run.checkpoint"):
        second = start(parameters=[f"checkpoint:={path}"], extra=["-r", "__node:=other"])
        assert second.process.wait(PATIENCE) == 1
        assert f"parameter 'checkpoint': another node uses {path}: end that node, or name another file" in second.log()
        RUNNING.remove(second)
    listener.wait_for_time(states, 0.2)
    assert first.end() == 0
    assert [path.name for path in tmp_path.glob("run.*")] == ["run.checkpoint"]
    # A node that was killed leaves no lock.
    third = start(parameters=[f"checkpoint:={file}"])
    RUNNING[:] = [third]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in third.log(), "start")
    third.process.kill()
    third.process.wait()
    fourth = start(parameters=[f"checkpoint:={file}"])
    RUNNING[:] = [fourth]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in fourth.log(), "start")


@pytest.mark.parametrize(
    ("parameter", "reason"),
    [
        ("checkpoint:=/nonexistent/x", "parameter 'checkpoint': cannot write the checkpoint /nonexistent/x"),
        ("checkpoint:={folder}", "not a regular file"),
        ("record:={folder}", "is a folder: name a file"),
        ("record:=/dev/null", "/dev/null is not a regular file"),
        ("record:=/nonexistent/x.mcap", "cannot write /nonexistent/x.mcap"),
        ("world_frame:=/map", "parameter 'world_frame': a frame must have a name"),
        ("world_frame:=''", "parameter 'world_frame': a frame must have a name"),
        ("joint_state_rate:=-0.5", "parameter 'joint_state_rate': a rate must be 0 (never), -1 (the scene's) or above 0"),
        ("pose_rate:=.nan", "parameter 'pose_rate': NaN is out of range"),
        ("gravity:=[0.0, 0.0, 1.0e+308]", "parameter 'gravity': 1e308 is out of range"),
    ],
)
def test_files_and_values_that_cannot_be_used_end_the_start_with_the_reason(start, tmp_path, parameter, reason):
    folder = tmp_path / "folder"
    folder.mkdir()
    node = start(parameters=[parameter.format(folder=folder)])
    assert node.process.wait(PATIENCE) == 1
    assert reason in node.log(), node.log()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "folder"] and not list(folder.iterdir())


@pytest.mark.parametrize(
    ("left", "right", "topics"),
    # The second pair has equal names in topics, so that the topics of the second robot change.
    [("left", "right", ("/right", "/right")), ("arm-1", "arm_1", ("/arm_1_2", "/arm_1"))],
)
def test_a_trajectory_stays_that_of_its_robot(start, listener, tmp_path, left, right, topics):
    """The first robot is gone when the checkpoint is made, so that the next node numbers the topics of the
    second one differently. A command for another joint of this robot ends the trajectory."""
    text = (SCENES / "two_presses.yaml").read_text().replace("urdf: ", f"urdf: {SCENES}/")
    scene = tmp_path / "two_presses.yaml"
    scene.write_text(text.replace("name: left", f"name: {left}").replace("name: right", f"name: {right}"))
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    arguments = {"scene_path": scene, "parameters": ["robot_namespaces:=true", f"checkpoint:={tmp_path}/run.checkpoint"]}
    first = start(**arguments)
    states = listener.listen(JointState, f"{topics[0]}/joint_states", 1000)
    publisher = listener.publisher(JointTrajectory, f"{topics[0]}/joint_trajectory")
    assert listener.call(srv.DeleteEntity, "/isobar/delete_entity", srv.DeleteEntity.Request(entity=left)).result.result == 1
    point = JointTrajectoryPoint(positions=[0.08])
    point.time_from_start.sec = 30
    publisher.publish(JointTrajectory(joint_names=["slide"], points=[point]))
    listener.wait_for_time(states, 4.0)
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    assert first.end() == 0
    second = start(**arguments)
    RUNNING[:] = [second]
    listener.wait_until(lambda: "the simulation continues from its checkpoint" in second.log(), "start")
    if topics[1] != topics[0]:
        states = listener.listen(JointState, f"{topics[1]}/joint_states", 1000)
    commands = listener.publisher(JointState, f"{topics[1]}/joint_commands")
    del states[:]

    def travel(seconds):
        listener.wait_for_time(states, seconds)
        return abs(position(states[-1], "slide") - position(states[0], "slide"))

    # From rest to 0.08 m in 30 s: 1.8 mm/s after 4 s, and more later.
    assert travel(1.0) > 1e-3
    commands.publish(JointState(name=["turn"], effort=[0.0]))
    listener.wait_for_time(states, 1.0)
    del states[:]
    assert travel(2.0) < 1e-3
    assert second.end() == 0
