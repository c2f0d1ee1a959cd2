"""Real-time scheduling: threads with priority and processors as the parameters request, and refusals that
name the missing permission."""

import os
import re
import resource
import shutil
import time
from pathlib import Path

import pytest
from conftest import PATIENCE
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

RAISED = {"simulation", "publishing", "spinning"}
# Threads of Fast DDS that receive, that send what is sent later, and that keep its times.
MIDDLEWARE = re.compile(r"dds\.(udp|shm|ev|asyn)\.[\d.]+$")


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
    """Whether all threads but those of a step have the scheduling of this process. Of the middleware, which
    gives no other name to a thread of its own, one is raised too, and one that checks its files is not."""
    ordinary = os.SCHED_OTHER, 0, os.sched_getaffinity(0)
    raised = [name for name, others in found.items() for other in others if other != ordinary]
    return raised.count("isobar_node") <= 1 and all(name in RAISED | {"isobar_node"} or MIDDLEWARE.match(name) for name in raised)


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
    if os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp") == "rmw_fastrtps_cpp":
        # They start with the node, before its parameters can be read.
        middleware = {name: others for name, others in found.items() if MIDDLEWARE.match(name)}
        assert {name.split(".")[1] for name in middleware} >= {"udp", "ev"}, found
        assert all(other == (policy, priority, {cpu}) for others in middleware.values() for other in others), middleware
    process_id = node.process.pid
    assert os.sched_getscheduler(process_id) == os.SCHED_OTHER and os.sched_getaffinity(process_id) == os.sched_getaffinity(0)
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
    deadline = time.monotonic() + PATIENCE
    while node.process.poll() is None:
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        if int(lines.get("VmLck", "0 kB").split()[0]) > 0:
            return
        assert time.monotonic() < deadline, f"neither locked nor refused: {node.log()}"
        time.sleep(0.01)
    assert node.process.returncode == 1 and "memlock unlimited" in node.log(), node.log()


def without(capability):
    """The program that takes a capability from root; other users do not have it."""
    return ["setpriv", "--bounding-set", f"-{capability}", "--inh-caps", f"-{capability}"] if os.getuid() == 0 else []


@pytest.mark.skipif(not shutil.which("setpriv"), reason="the program setpriv is not installed")
def test_a_limit_of_locked_memory_is_refused_at_the_start(start):
    """Also a limit far above the memory of the node at its start, which a later allocation would exceed."""
    _, largest = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    limit = 1 << 40 if largest == resource.RLIM_INFINITY else largest
    node = start(parameters=["lock_memory:=true"], wrapper=["prlimit", f"--memlock={limit}:{limit}", *without("ipc_lock")])
    assert node.process.wait(PATIENCE) == 1
    assert "memlock unlimited" in node.log() and f"may lock {limit} bytes" in node.log(), node.log()


@pytest.mark.skipif(not permitted(), reason="this user may not use SCHED_FIFO")
def test_threads_with_a_priority_on_one_processor_take_turns(start, listener):
    """Steps without a pause: under SCHED_FIFO their thread would never leave the processor to the others."""
    cpu = max(os.sched_getaffinity(0))
    start(parameters=["realtime_priority:=10", f"cpus:={cpu}", "real_time_factor:=0.0"])
    states = listener.listen(JointState, "joint_states")
    listener.wait_for_time(states, 1.0)
    for _ in range(5):
        assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success


@pytest.mark.skipif(not shutil.which("setpriv"), reason="the program setpriv is not installed")
def test_a_missing_permission_ends_the_node_with_the_remedy(start):
    node = start(parameters=["realtime_priority:=99"], wrapper=["prlimit", "--rtprio=0", *without("sys_nice")])
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
