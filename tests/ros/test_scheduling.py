"""Real-time scheduling: threads with priority and processors as the parameters request, and refusals that
name the missing permission."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import PATIENCE
from sensor_msgs.msg import JointState

RAISED = {"simulation", "publishing", "spinning"}


def permitted():
    """Whether this user may use SCHED_FIFO."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def tasks(process, name=None):
    """The threads of a process, all or those of that name."""
    found = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            if name is None or (task / "comm").read_text().strip() == name:
                found.append(task)
        except FileNotFoundError:
            # It has ended since.
            continue
    return found


def threads(process):
    """Policy, priority and processors of each thread, by its name."""
    found = {}
    for task in tasks(process):
        number = int(task.name)
        try:
            scheduling = os.sched_getscheduler(number), os.sched_getparam(number).sched_priority, os.sched_getaffinity(number)
            found.setdefault((task / "comm").read_text().strip(), []).append(scheduling)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def is_ordinary(found):
    """Whether all threads but those of a step have the scheduling of this process."""
    ordinary = os.SCHED_OTHER, 0, os.sched_getaffinity(0)
    return all(name in RAISED or other == ordinary for name, others in found.items() for other in others)


def test_the_threads_of_a_step_have_the_priority_and_the_processors(start, listener, tmp_path):
    cpu = min(os.sched_getaffinity(0))
    priority = 30 if permitted() else 0
    record = tmp_path / "run.mcap"
    parameters = [f"realtime_priority:={priority}.0", f"cpus:={cpu}", f"record:={record}"]
    node = start(parameters=parameters)
    listener.listen(JointState, "joint_states")
    listener.fresh("joint_states")
    listener.wait_until(lambda: RAISED | {"recording"} <= set(threads(node.process)), "threads")
    found = threads(node.process)
    policy = os.SCHED_FIFO if priority else os.SCHED_OTHER
    for name in RAISED:
        assert found[name] == [(policy, priority, {cpu})], name
    assert is_ordinary(found), found
    # The thread that writes the file of the next world is started by one that is raised.
    srv = pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
    first = {task.name for task in tasks(node.process, "recording")}
    listener.call(srv.DeleteEntity, "/isobar/delete_entity", srv.DeleteEntity.Request(entity="ball"))
    listener.wait_until(lambda: {task.name for task in tasks(node.process, "recording")} - first, "another recording thread")
    # A thread changes its scheduling as its first act.
    listener.wait_until(lambda: is_ordinary(threads(node.process)), "ordinary scheduling of that thread")


def test_memory_is_locked_or_the_limit_is_named(start):
    node = start(parameters=["lock_memory:=true", "start_paused:=true"])
    status = Path(f"/proc/{node.process.pid}/status")
    while True:
        if node.process.poll() is not None:
            assert node.process.returncode == 1 and "memlock unlimited" in node.log(), node.log()
            return
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        if int(lines.get("VmLck", "0 kB").split()[0]) > 0:
            return


@pytest.mark.skipif(not shutil.which("setpriv"), reason="the program setpriv is not installed")
def test_a_missing_permission_ends_the_node_with_the_remedy(start):
    without = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"] if os.getuid() == 0 else []
    node = start(parameters=["realtime_priority:=99"], wrapper=["prlimit", "--rtprio=0", *without])
    assert node.process.wait(PATIENCE) == 1
    log = node.log()
    assert "realtime_priority" in log and "priority 99" in log and "limit is 0" in log and "rtprio 99" in log, log


@pytest.mark.parametrize(
    ("parameter", "reasons"),
    [
        ("cpus:=1023", ["processor 1023", "may use"]),
        ("cpus:=two", ["'two'", "list of processors"]),
        ("realtime_priority:=0.5", ["0.5", "whole number"]),
        ("realtime_priority:=100", ["100", "99"]),
    ],
)
def test_values_that_cannot_be_used_are_named(start, parameter, reasons):
    node = start(parameters=[parameter])
    assert node.process.wait(PATIENCE) == 1
    assert all(reason in node.log() for reason in reasons), node.log()
