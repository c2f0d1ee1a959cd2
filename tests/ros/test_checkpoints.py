"""Checkpoints of the node: a killed run continues with the same bits, and other files are refused by name."""

import signal

import pytest
from conftest import PATIENCE, RUNNING, stamp_ns
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


def wait_for_second(listener, node, condition):
    """Waits for the condition while only the second node has to be alive: the first one is dead."""
    kept = RUNNING[:]
    RUNNING[:] = [node]
    try:
        listener.wait_until(condition, "states of the second node")
    finally:
        RUNNING[:] = kept


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
            written.add(file.stat().st_ino)
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
    # It continues once its states are received.
    wait_for_second(listener, second, lambda: listener.node.get_publishers_info_by_topic(topic))
    go_on = listener.node.create_client(SetBool, "/isobar/pause")
    wait_for_second(listener, second, go_on.service_is_ready)
    answer = go_on.call_async(SetBool.Request(data=False))
    wait_for_second(listener, second, answer.done)
    wait_for_second(listener, second, lambda: states and stamp_ns(states[-1]) > max(before))
    after = by_stamp(states)
    common = sorted(set(before) & set(after))
    assert len(common) > 50 and min(after) > 0, f"{len(common)} states of both"
    different = [stamp for stamp in common if before[stamp] != after[stamp]]
    assert not different, f"{different[0]} ns: {before[different[0]]} and {after[different[0]]}"
    assert "the simulation continues from its checkpoint" in second.log()
    turn = position(states[-1], "turn")
    wait_for_second(listener, second, lambda: position(states[-1], "turn") > turn + 0.002)


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
    for content, reason in ((whole[: len(whole) // 2], "it is truncated"), (b"text", "no checkpoint of Isobar")):
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
    assert str(file) in second.log() and "to another scene" in second.log(), second.log()


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
