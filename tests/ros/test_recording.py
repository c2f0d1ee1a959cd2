"""Recordings: `rosbags`, which needs no ROS, reads the messages that were published."""

import math
import os
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from conftest import BEST_EFFORT, ROOT, SCENES, stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, PointCloud2
from std_srvs.srv import SetBool

rosbags = pytest.importorskip("rosbags.highlevel", reason="rosbags is not installed")

FIELDS = "x y z normal_x normal_y normal_z pressure area traction_x traction_y traction_z slip_x slip_y slip_z pair".split()


def read(path):
    """The messages of each topic, in the order of the file."""
    topics = {}
    with rosbags.AnyReader([Path(path)]) as reader:
        for connection in reader.connections:
            topics[connection.topic] = []
        for connection, time_ns, raw in reader.messages():
            topics[connection.topic].append((time_ns, reader.deserialize(raw, connection.msgtype)))
    return topics


def points(cloud):
    """The points of a cloud as dictionaries."""
    assert [field.name for field in cloud.fields] == FIELDS
    assert cloud.width * cloud.point_step == len(cloud.data) and not cloud.is_bigendian
    return [dict(zip(FIELDS, values)) for values in struct.iter_unpack("<14fI", bytes(cloud.data))]


def test_the_file_holds_the_messages_that_were_received(start, listener, tmp_path):
    file = tmp_path / "run.mcap"
    node = start(parameters=[f"record:={file}", "real_time_factor:=0.5"])
    states = listener.listen(JointState, "joint_states")
    ball = listener.listen(WrenchStamped, "/isobar/wrench/ball")
    clouds = listener.listen(PointCloud2, "/isobar/contact_patches")
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.wait_until(lambda: len(states) > 200 and len(clouds) > 5 and len(ball) > 100 and clock, "messages")
    assert node.end() == 0
    topics = read(file)
    kept = {time_ns: message for time_ns, message in topics["/joint_states"]}
    for message in states:
        twin = kept[stamp_ns(message)]
        assert list(twin.name) == list(message.name)
        for array in ("position", "velocity", "effort"):
            assert list(getattr(twin, array)) == list(getattr(message, array)), "every bit"
    kept = {time_ns: message for time_ns, message in topics["/isobar/wrench/ball"]}
    for message in ball:
        twin = kept[stamp_ns(message)].wrench
        for part in ("force", "torque"):
            for axis in "xyz":
                assert getattr(getattr(twin, part), axis) == getattr(getattr(message.wrench, part), axis)
    kept = {time_ns: message for time_ns, message in topics["/isobar/contact_patches"]}
    assert clouds and all(bytes(kept[stamp_ns(cloud)].data) == bytes(cloud.data) for cloud in clouds)
    seen = {message.clock.sec * 1_000_000_000 + message.clock.nanosec for message in clock}
    assert seen <= {time_ns for time_ns, _ in topics["/clock"]}
    assert '<robot name="press"' in topics["/robot_description"][0][1].data


def test_a_run_without_ros_records_the_same_kinds(tmp_path):
    file = tmp_path / "headless.mcap"
    binary = Path(os.environ["ISOBAR_BIN"]) / "isobar"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ROS", "AMENT", "LD_"))}
    subprocess.run(
        [binary, "run", SCENES / "press.yaml", "--duration", "0.5", "--record", file, "--quiet"],
        check=True,
        cwd=ROOT,
        env=environment,
    )
    topics = read(file)
    # 500 steps of 1 ms and the start; the default rates of a scene.
    counts = {topic: len(messages) for topic, messages in topics.items()}
    assert (counts["/clock"], counts["/joint_states"], counts["/isobar/wrench/pad"], counts["/tf"]) == (501, 251, 251, 51)
    transform = topics["/tf"][-1][1].transforms[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("world", "ball")
    # The ground carries the ball: its faces' tractions add up to the weight; it does not slip.
    pairs = topics["/isobar/contact_pairs"][0][1].data
    assert '"ball/sphere"' in pairs and '"world/ground"' in pairs
    faces = points(topics["/isobar/contact_patches"][-1][1])
    assert faces
    upwards = sum(face["traction_z"] * face["area"] for face in faces)
    assert abs(abs(upwards) - 0.4 * 9.81) < 0.02 * 0.4 * 9.81
    for face in faces:
        normal = (face["normal_x"], face["normal_y"], face["normal_z"])
        slip = (face["slip_x"], face["slip_y"], face["slip_z"])
        assert abs(sum(n * n for n in normal) - 1) < 1e-5
        assert abs(sum(n * s for n, s in zip(normal, slip))) < 1e-6 and math.hypot(*slip) < 1e-3
        assert face["pressure"] >= 0 and face["area"] > 0


def test_a_recording_that_cannot_be_made_ends_the_start(start):
    node = start(parameters=["record:=/nowhere/at/all.mcap"])
    assert node.process.wait(30) == 1
    assert "cannot write /nowhere/at/all.mcap" in node.log()


def test_no_file_is_overwritten_and_topics_are_recorded_under_their_own_names(start, listener, tmp_path):
    file = tmp_path / "run.mcap"
    file.write_text("kept")
    node = start(parameters=[f"record:={file}"], extra=["-r", "joint_states:=robot/states", "-r", "~/wrench/pad:=/pad"])
    states = listener.listen(JointState, "robot/states")
    listener.wait_until(lambda: len(states) > 10, "states")
    # The second signal, which launch sends, too, does not cut the end of the file short.
    node.process.send_signal(signal.SIGINT)
    assert node.end() == 0
    assert file.read_text() == "kept" and f"recording to {tmp_path / 'run_2.mcap'}; {file} exists already" in node.log()
    topics = read(tmp_path / "run_2.mcap")
    assert topics["/robot/states"] and topics["/pad"] and "/joint_states" not in topics


def test_a_reset_of_time_begins_a_new_file(start, listener, tmp_path):
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    node = start(parameters=[f"record:={tmp_path / 'run.mcap'}"])
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    request = srv.ResetSimulation.Request(scope=srv.ResetSimulation.Request.SCOPE_TIME)
    assert listener.call(srv.ResetSimulation, "/isobar/reset_simulation", request).result.result == 1
    del states[:]
    listener.wait_until(lambda: len(states) > 100, "states after the reset")
    assert node.end() == 0
    for name in ("run.mcap", "run_2.mcap"):
        topics = read(tmp_path / name)
        times = [time_ns for time_ns, _ in topics["/joint_states"]]
        assert times == sorted(times) and times[0] == 0 and len(times) > 50 and topics["/robot_description"], name


def test_a_recording_is_switched_off_and_on(start, listener, tmp_path):
    node = start(parameters=[f"record:={tmp_path / 'run.mcap'}"])
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    for on in (False, True):
        if on:
            listener.wait_until(lambda: "run.mcap is complete" in node.log(), "the end of the file")
            del states[:]
            listener.wait_until(lambda: len(states) > 100, "states that are not recorded")
        answer = listener.call(SetBool, "/isobar/record", SetBool.Request(data=on))
        assert answer.success, answer.message
    del states[:]
    listener.wait_until(lambda: len(states) > 100, "states that are recorded again")
    assert node.end() == 0
    first, second = (read(tmp_path / name) for name in ("run.mcap", "run_2.mcap"))
    assert len(first["/joint_states"]) > 50 and len(second["/joint_states"]) > 50 and second["/robot_description"]
    gap = second["/joint_states"][0][0] - first["/joint_states"][-1][0]
    # The states that were not recorded, 2 ms apart.
    assert gap > 100 * 2_000_000, gap
    assert not (tmp_path / "run_3.mcap").exists()


def test_a_recording_that_is_switched_on_after_a_reset_of_time_uses_the_file_that_it_names(start, listener, tmp_path):
    """Regression, observed on the built node: that file stayed empty, and the next one was recorded to."""
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    node = start(parameters=[f"record:={tmp_path / 'run.mcap'}"])
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    switch = lambda on: listener.call(SetBool, "/isobar/record", SetBool.Request(data=on))  # noqa: E731

    def set_state(state):
        request = srv.SetSimulationState.Request()
        request.state.state = state
        assert listener.call(srv.SetSimulationState, "/isobar/set_simulation_state", request).result.result == 1

    assert switch(False).success
    # Stopped, which sets the time to zero, then playing.
    set_state(0)
    answer = switch(True)
    assert answer.success and answer.message == f"recording to {tmp_path / 'run_2.mcap'}", answer
    set_state(1)
    del states[:]
    listener.wait_until(lambda: len(states) > 100, "states that are recorded")
    assert node.end() == 0
    topics = read(tmp_path / "run_2.mcap")
    assert len(topics["/joint_states"]) > 50 and topics["/robot_description"]
    assert not (tmp_path / "run_3.mcap").exists()


def test_without_a_file_the_service_says_how_to_name_one(start, listener):
    start()
    answer = listener.call(SetBool, "/isobar/record", SetBool.Request(data=True))
    assert not answer.success and "record:=FILE.mcap" in answer.message


def messages_of_a_cut_file(data):
    """The number of messages in the whole chunks of an MCAP file without an end."""
    at, messages = 8, 0
    while at + 9 <= len(data):
        kind, length = struct.unpack_from("<BQ", data, at)
        if at + 9 + length > len(data):
            break
        # A chunk: times, size, checksum, compression (none), and its records.
        if kind == 6:
            (compression,) = struct.unpack_from("<I", data, at + 9 + 28)
            inside, end = at + 9 + 32 + compression + 8, at + 9 + length
            while inside < end:
                record, size = struct.unpack_from("<BQ", data, inside)
                messages += record == 5
                inside += 9 + size
        at += 9 + length
    return messages


def test_a_killed_node_leaves_a_file_that_reads_to_its_last_flush(start, listener, tmp_path):
    file = tmp_path / "run.mcap"
    # Rates at which the library's chunk of 768 KiB is not full before the wait is over.
    kinds = ("clock", "joint_state", "wrench", "pose", "output", "contact_patch")
    node = start(parameters=[f"record:={file}", *(f"{kind}_rate:=10.0" for kind in kinds)])
    kept = lambda: file.exists() and messages_of_a_cut_file(file.read_bytes())  # noqa: E731
    listener.wait_until(lambda: kept() > 100, "messages on the disk")
    assert file.stat().st_size < 768 * 1024
    node.end(with_signal=signal.SIGKILL)
    # Whole records only: readers take the end of the file for the end of the data.
    data, at = file.read_bytes(), 8
    while at < len(data):
        at += 9 + struct.unpack_from("<Q", data, at + 1)[0]
    assert at == len(data)
    # As docs/how-to/record-and-replay.md reads it.
    mcap = pytest.importorskip("mcap.reader", reason="mcap is not installed")
    topics, messages = set(), 0
    with file.open("rb") as stream, pytest.raises(Exception):  # noqa: B017
        for _, channel, _ in mcap.NonSeekingReader(stream).iter_messages(log_time_order=False):
            topics.add(channel.topic)
            messages += 1
    assert messages > 100 and {"/joint_states", "/clock"} <= topics, (messages, topics)


def test_a_full_disk_is_reported_once_and_in_diagnostics(start, listener, tmp_path):
    # No file of the node may become longer than 6 MB: the system refuses to write on, as on a full disk.
    limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 6000; exec \"$@\"", "limited"]
    node = start(parameters=[f"record:={tmp_path / 'run.mcap'}", "real_time_factor:=0.0"], wrapper=limited)
    stopped = lambda message: "the recording has stopped" in message.status[0].message
    listener.wait_for(DiagnosticArray, "/diagnostics", stopped, "the end of the recording in diagnostics")
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100 and "The recording ends here" in node.log(), "states and the reason")
    # It was once said each second.
    listener.spin_for(2.5)
    assert node.log().count("The recording ends here") == 1
    assert "too slow" not in node.log().split("The recording ends here")[1]


@pytest.fixture
def recorded(start, listener, tmp_path):
    """A folder, a node that records to run.mcap in it, its states, and its services that take a bool."""
    folder = tmp_path / "disk"
    folder.mkdir()
    node = start(parameters=[f"record:={folder}/run.mcap"])
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    return folder, node, states, lambda service, on: listener.call(SetBool, f"/isobar/{service}", SetBool.Request(data=on))


def test_a_recording_whose_folder_is_gone_is_not_a_success(recorded, listener, tmp_path):
    folder, node, _, call = recorded
    switch = lambda on: call("record", on)  # noqa: E731
    answer = switch(True)
    assert answer.success and answer.message == f"recording to {folder}/run.mcap", answer
    folder.rename(tmp_path / "gone")
    listener.wait_until(lambda: "run.mcap was removed or renamed while it was written" in node.log(), "the line")
    answer = switch(False)
    assert not answer.success and "run.mcap was removed or renamed" in answer.message, answer
    folder.mkdir()
    answer = switch(True)
    assert answer.success and answer.message == f"recording to {folder}/run.mcap", answer
    answer = switch(False)
    assert answer.success and answer.message == f"{folder}/run.mcap is complete; the recording is off", answer
    (folder / "run.mcap").unlink()
    folder.rmdir()
    for _ in range(2):
        answer = switch(True)
        assert not answer.success and f"cannot write {folder}/run.mcap" in answer.message and "No such file" in answer.message, answer
    assert node.end() == 0
    assert read(tmp_path / "gone/run.mcap")["/joint_states"]


def test_every_file_begins_with_the_latched_messages(recorded, listener):
    """Also a file that is begun while the simulation is paused, and one that replaces a removed file."""
    folder, node, states, switch = recorded
    for service, on in [("pause", True), ("record", False), ("record", True), ("pause", False)]:
        assert switch(service, on).success, (service, on)
    heard = len(states)
    listener.wait_until(lambda: len(states) > heard + 200, "states of the second file")
    (folder / "run_2.mcap").unlink()
    assert switch("record", True).success
    heard = len(states)
    listener.wait_until(lambda: len(states) > heard + 200, "states of the third file")
    assert node.end() == 0
    kept = sorted(path.name for path in folder.iterdir())
    assert len(kept) == 2, kept
    for name in kept:
        topics = read(folder / name)
        for topic in ("/robot_description", "/isobar/contact_pairs", "/tf_static"):
            assert len(topics[topic]) == 1 and topics[topic][0][0] <= topics["/joint_states"][0][0], (name, topic)


def test_a_terminal_that_closes_ends_the_node_with_its_files_complete(recorded):
    folder, node, _, _ = recorded
    assert node.end(with_signal=signal.SIGHUP) == 0
    assert (folder / "run.mcap").read_bytes().endswith(b"\x89MCAP0\r\n")
