"""A disk that does not answer, imitated by a library that lets no write to the node's files return: the
simulation continues, the log says it once, diagnostics say it, and the node ends. Worlds load from that disk
as slowly as a test needs."""

import os
import shutil
import signal
import subprocess
import time

import pytest
import rclpy
from conftest import PATIENCE, RUNNING, SCENES, stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

# The end of a complete MCAP file.
MCAP_END = b"\x89MCAP0\r\n"

# Reads, writes, new files and renames in the folder $STALLED wait while the folder has a file `stall`. A
# thread waits, when it looks at the clock, while there is a file `stall_` with its name.
LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(const char *path) {
    const char *folder = getenv("STALLED");
    if (folder == NULL || strncmp(path, folder, strlen(folder)) != 0) return;
    char stall[PATH_MAX];
    snprintf(stall, sizeof stall, "%s/stall", folder);
    while (access(stall, F_OK) == 0) usleep(10000);
}

static void wait_for_file(int file) {
    char link[64], path[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 1) > 0) wait_for_disk(path);
}

ssize_t write(int file, const void *data, size_t length) {
    wait_for_file(file);
    return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(file, data, length);
}

ssize_t writev(int file, const struct iovec *data, int count) {
    wait_for_file(file);
    return ((ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev"))(file, data, count);
}

ssize_t read(int file, void *data, size_t length) {
    wait_for_file(file);
    return ((ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(file, data, length);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (flags & O_CREAT) wait_for_disk(path);
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    const char *folder = getenv("STALLED");
    char name[17] = "", stall[PATH_MAX];
    prctl(PR_GET_NAME, name);
    snprintf(stall, sizeof stall, "%s/stall_%s", folder, name);
    // The middleware looks at the clock while it holds locks that other threads need.
    Dl_info caller, program;
    int own = dladdr(__builtin_return_address(0), &caller) && dladdr((void *)getauxval(AT_ENTRY), &program)
        && caller.dli_fbase == program.dli_fbase;
    while (own && folder != NULL && access(stall, F_OK) == 0) usleep(10000);
    if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, now);
}

int rename(const char *from, const char *to) {
    wait_for_disk(from);
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


@pytest.fixture
def disk(tmp_path):
    """A folder, and the command that starts a program for which the folder can stall."""
    compiler = shutil.which("gcc") or pytest.skip("gcc is not installed")
    source, library, folder = tmp_path / "stalled.c", tmp_path / "stalled.so", tmp_path / "disk"
    folder.mkdir()
    source.write_text(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    # After the libraries that are preloaded already.
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    return folder, ["env", f"LD_PRELOAD={preload}", f"STALLED={folder}"]


def value_of(message, key):
    return next(entry.value for entry in message.status[0].values if entry.key == key)


# The lines of the log about each kind of file.
KINDS = {
    "recording": ("record:={}/run.mcap", "messages beyond a short queue are not recorded"),
    "checkpoint": ("checkpoint:={}/run.checkpoint", "no checkpoint is written until it does"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_does_not_answer_is_reported_once_and_stops_nothing(start, listener, disk, kind):
    folder, wrapper = disk
    parameter, consequence = KINDS[kind]
    node = start(parameters=[parameter.format(folder), "checkpoint_period:=0.05"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    reports = listener.listen(DiagnosticArray, "/diagnostics", 100)
    listener.wait_until(lambda: len(states) > 100 and reports and "run." in str(list(folder.iterdir())), "the file")
    (folder / "stall").touch()
    listener.wait_until(lambda: f"{kind}: the disk has not answered for" in node.log(), "the line")
    silent = lambda: "the disk has not answered for" in value_of(reports[-1], kind)  # noqa: E731
    listener.wait_until(lambda: silent() and reports[-1].status[0].message.startswith(f"{kind}: the disk"), "diagnostics")
    assert consequence in node.log()
    # The queue of 512 instants to record is full before that. Lost ones are warned about only until the stall
    # is noticed.
    listener.wait_for_time(states, 3.0)
    warned = node.log().count("the disk is too slow")
    heard = len(reports)
    listener.wait_until(lambda: len(reports) > heard + 3, "reports")
    assert node.log().count("the disk has not answered") == 1 and node.log().count("the disk is too slow") == warned, node.log()
    before = stamp_ns(states[-1])
    (folder / "stall").unlink()
    listener.wait_until(lambda: f"{kind}: the disk answers again" in node.log(), "the end of the stall")
    listener.wait_until(lambda: not silent() and stamp_ns(states[-1]) > before, "diagnostics of a disk that answers")
    assert node.end() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_node_ends_although_its_disk_does_not_answer(start, listener, disk, kind):
    folder, wrapper = disk
    parameter, _ = KINDS[kind]
    node = start(parameters=[parameter.format(folder), "checkpoint_period:=0.05"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100 and "run." in str(list(folder.iterdir())), "the file")
    (folder / "stall").touch()
    assert node.end() == 0
    assert "the node ends without the rest of its recording or checkpoint" in node.log(), node.log()


def test_further_signals_do_not_cut_the_files_short(start, listener, disk):
    """A launch file that ends, or a second ctrl-c, sends them while the files are completed."""
    folder, wrapper = disk
    parameters = [f"record:={folder}/run.mcap", f"checkpoint:={folder}/run.checkpoint", "checkpoint_period:=0.05"]
    node = start(parameters=parameters, wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100 and (folder / "run.checkpoint").exists(), "the files")
    (folder / "stall").touch()
    node.process.send_signal(signal.SIGINT)
    RUNNING.clear()
    listener.wait_until(lambda: "shutting down" in node.log(), "the line")
    for again in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        node.process.send_signal(again)
    assert node.process.poll() is None
    # The disk answers before it is given up, after 5 s.
    (folder / "stall").unlink()
    assert node.process.wait(PATIENCE) == 0
    assert "the rest of its recording" not in node.log() and node.log().count("shutting down") == 1, node.log()
    assert (folder / "run.mcap").read_bytes().endswith(MCAP_END), "its index is written"
    assert (folder / "run.checkpoint").exists() and not (folder / "run.checkpoint.partial").exists()


def test_a_step_that_takes_long_is_reported_and_does_not_hold_the_end(start, listener, disk):
    """Regression, observed on the built node: a quasistatic step of overlapping bodies took two minutes, in
    which resets and changes of the world had no answer, and nothing said why."""
    folder, wrapper = disk
    node = start(parameters=[f"record:={folder}/run.mcap"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    listener.wait_until(lambda: len(states) > 100 and reports, "states")
    (folder / "stall_simulation").touch()
    reported = lambda: "the present step has taken" in reports[-1].status[0].message  # noqa: E731
    listener.wait_until(lambda: reported() and "the present step has taken" in node.log(), "diagnostics and the line")
    assert node.log().count("the present step has taken") == 1
    (folder / "stall_simulation").unlink()
    listener.wait_until(lambda: "the long step has ended" in node.log(), "its end")
    # The signal comes when the thread stands: between two steps it would end first.
    (folder / "stall_simulation").touch()
    listener.wait_until(lambda: node.log().count("the present step has taken") == 2, "the second warning")
    assert node.end() == 0
    assert "the node ends without it" in node.log()
    assert (folder / "run.mcap").read_bytes().endswith(MCAP_END), "the recording is complete"


def test_a_first_step_that_takes_long_is_reported(start, listener, disk):
    """Regression, observed on the built node: before the first second of steps there were no diagnostics, and
    nothing was logged."""
    folder, wrapper = disk
    (folder / "stall_simulation").touch()
    node = start(wrapper=wrapper)
    reports = listener.listen(DiagnosticArray, "/diagnostics")
    reported = lambda: reports and "the present step has taken" in reports[-1].status[0].message  # noqa: E731
    listener.wait_until(lambda: reported() and "the present step has taken" in node.log(), "diagnostics and the line")
    assert node.log().count("the present step has taken") == 1
    (folder / "stall_simulation").unlink()
    listener.wait_until(lambda: not reported() and "the long step has ended" in node.log(), "its end")


def test_a_node_that_is_loading_its_scene_ends_with_a_signal(start, disk):
    """Regression, observed on the built node: signals had no effect until the scene was loaded."""
    folder, wrapper = disk
    (folder / "scene.yaml").write_text(WORLD.format(folder=folder))
    (folder / "stall").touch()
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        node = start(scene_path=folder / "scene.yaml", wrapper=wrapper)
        deadline = time.monotonic() + PATIENCE
        while f"loading {folder}/scene.yaml" not in node.log() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert node.end(end) == 0
        assert "before the scene is loaded" in node.log(), node.log()


def test_requests_that_wait_for_a_long_step_are_limited(start, listener, disk):
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    folder, wrapper = disk
    node = start(wrapper=wrapper)
    # Keeps all answers until they are taken.
    client = listener.node.create_client(srv.GetEntities, "/isobar/get_entities", qos_profile=QoSProfile(depth=2000))
    listener.wait_until(client.service_is_ready, "the service")
    listener.meet()
    (folder / "stall_simulation").touch()
    answers = []
    for _ in range(1010):
        answers.append(client.call_async(srv.GetEntities.Request()))
        rclpy.spin_once(listener.node, timeout_sec=0)
    listener.wait_until(lambda: any(answer.done() for answer in answers), "refusals")
    refused = [answer.result().result for answer in answers if answer.done()]
    assert all("1000 requests wait for the end of the present step" in result.error_message for result in refused), refused[0]
    assert len(refused) <= 10
    (folder / "stall_simulation").unlink()
    listener.wait_until(lambda: sum(answer.done() for answer in answers) >= 1000, "the other answers")
    assert node.end() == 0


def test_the_file_of_another_world_is_created_while_services_answer(start, listener, disk):
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    folder, wrapper = disk
    node = start(parameters=[f"record:={folder}/run.mcap"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    (folder / "stall").touch()
    request = srv.DeleteEntity.Request(entity="ball")
    assert listener.call(srv.DeleteEntity, "/isobar/delete_entity", request).result.result == 1
    assert "run_2.mcap" not in node.log()
    (folder / "stall").unlink()
    listener.wait_until(lambda: f"recording to {folder}/run_2.mcap" in node.log(), "the second file")
    assert node.end() == 0
    assert all((folder / name).read_bytes().endswith(MCAP_END) for name in ("run.mcap", "run_2.mcap"))


def test_a_recording_that_is_switched_while_the_disk_does_not_answer_says_so(start, listener, disk):
    folder, wrapper = disk
    node = start(parameters=[f"record:={folder}/run.mcap"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    (folder / "stall").touch()
    answer = listener.call(SetBool, "/isobar/record", SetBool.Request(data=False))
    assert not answer.success and "the disk has not answered for" in answer.message, answer
    (folder / "stall").unlink()
    listener.wait_until(lambda: "run.mcap is complete; the recording is off" in node.log(), "the end of the file")
    assert node.end() == 0


def test_a_checkpoint_that_cannot_be_read_is_reported_and_stops_nothing(start, listener, disk):
    """Its file is on a disk that does not answer: the answer says so after 5 s, commands and services go on,
    and the node ends."""
    folder, wrapper = disk
    node = start(parameters=[f"checkpoint:={folder}/run.checkpoint"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100, "states")
    assert listener.call(Trigger, "/isobar/save_checkpoint", Trigger.Request()).success
    (folder / "stall").touch()
    restore = listener.node.create_client(Trigger, "/isobar/restore_checkpoint")
    pause = listener.node.create_client(SetBool, "/isobar/pause")
    listener.wait_until(lambda: restore.service_is_ready() and pause.service_is_ready(), "the services")
    listener.meet()
    restored = restore.call_async(Trigger.Request())
    for paused in (True, False):
        answered = pause.call_async(SetBool.Request(data=paused))
        listener.wait_until(answered.done, "an answer")
        assert answered.result().success and not restored.done()
    listener.wait_until(restored.done, "the refusal")
    assert not restored.result().success and "the disk has not answered" in restored.result().message, restored.result()
    again = restore.call_async(Trigger.Request())
    listener.wait_until(again.done, "the next refusal")
    assert not again.result().success, again.result()
    (folder / "stall").unlink()
    # The thread that still read the file is finished before another one starts.
    def succeeds():
        third = restore.call_async(Trigger.Request())
        listener.wait_until(third.done, "an answer")
        return third.result().success

    listener.wait_until(succeeds, "a checkpoint that is restored")
    (folder / "stall").touch()
    restore.call_async(Trigger.Request())
    assert node.end() == 0


WORLD = "models: [{{ name: other, urdf: {folder}/other.urdf, free: {{}} }}]\n"


@pytest.fixture
def other_world(disk):
    """The disk, and a world on it whose only body has another name."""
    folder, wrapper = disk
    (folder / "other.urdf").write_text((SCENES / "ball.urdf").read_text().replace("ball", "other"))
    (folder / "other.yaml").write_text(WORLD.format(folder=folder))
    return folder, wrapper


LOADING = 5


def test_states_that_are_set_while_a_world_loads_are_refused_and_change_nothing(start, listener, other_world):
    """The file of the world is on a disk that does not answer, so it loads as long as the test needs."""
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import Worlds, resource

    folder, wrapper = other_world
    start(parameters=[f"file_access:={folder}"], wrapper=wrapper)
    worlds = Worlds(listener)
    worlds.wait()
    states = listener.listen(JointState, "joint_states")
    (folder / "stall").touch()
    load = listener.node.create_client(srv.LoadWorld, "/isobar/load_world")
    listener.wait_until(load.service_is_ready, "the service")
    listener.meet()
    loaded = load.call_async(resource(srv.LoadWorld.Request(), uri=f"{folder}/other.yaml"))
    listener.wait_until(lambda: worlds.state() == LOADING, "loading")
    for state in (1, 2, 0):
        refused = worlds.set_state(state)
        assert refused.result == 3 and "being loaded" in refused.error_message, refused
    assert worlds.state() == LOADING and not loaded.done()
    # The present world goes on as it was.
    listener.wait_for_time(states, 0.1)
    assert worlds.names().entities == ["press", "ball"]
    (folder / "stall").unlink()
    listener.wait_until(loaded.done, "the world")
    assert loaded.result().result.result == 1 and worlds.state() == 0
    assert worlds.names().entities == ["other"]


def test_states_that_are_set_before_a_new_world_runs_are_those_of_the_new_world(start, listener, other_world):
    """The thread that publishes stands still, so that the new world is handed over and does not run yet."""
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    from test_worlds import Worlds, resource

    folder, wrapper = other_world
    node = start(parameters=[f"file_access:={folder}"], wrapper=wrapper)
    worlds = Worlds(listener)
    worlds.wait()
    load = listener.node.create_client(srv.LoadWorld, "/isobar/load_world")
    change = listener.node.create_client(srv.SetSimulationState, "/isobar/set_simulation_state")
    query = listener.node.create_client(srv.GetEntities, "/isobar/get_entities")
    clients = (load, change, query)
    listener.wait_until(lambda: all(client.service_is_ready() for client in clients), "the services")
    listener.meet()
    (folder / "stall_publishing").touch()
    loaded = load.call_async(resource(srv.LoadWorld.Request(), uri=f"{folder}/other.yaml"))
    topic = "/isobar/wrench/other"
    listener.wait_until(lambda: listener.node.get_publishers_info_by_topic(topic), "the topics of the new world")
    request = srv.SetSimulationState.Request()
    request.state.state = 2
    changed, entities = change.call_async(request), query.call_async(srv.GetEntities.Request())
    # Each answer shows that the node has taken the requests before it.
    assert [worlds.state() for _ in range(3)] == [LOADING] * 3
    assert not loaded.done() and not changed.done() and not entities.done(), (loaded.done(), changed.done(), entities.done())
    (folder / "stall_publishing").unlink()
    listener.wait_until(lambda: loaded.done() and changed.done() and entities.done(), "answers")
    assert loaded.result().result.result == 1 and changed.result().result.result == 1, changed.result()
    assert entities.result().entities == ["other"] and worlds.state() == 2
    assert node.process.poll() is None
