"""The real node, started as a user would start it, and an rclpy node that listens. One ROS domain per run,
loopback only."""

import fcntl
import itertools
import math
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
import yaml


def take_domain():
    """A ROS domain for this run alone, so that nothing else on the machine is received, and its lock file.

    Demos and other test runs lock theirs in the same way (isobar_take_domain in scripts/lib/common.sh).
    """
    for domain in range(1, 101):
        try:
            lock = open(Path(tempfile.gettempdir()) / f"isobar_domain_{domain}.lock", "w")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return str(domain), lock
        except OSError:
            continue
    return str(1 + os.getpid() % 100), None


# A node that these tests start receives SIGHUP as from a terminal, also if they run under nohup: a new
# program inherits that a signal is ignored, and does not inherit a handler.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# Set before rclpy reads these variables.
if "ISOBAR_TEST_DOMAIN" in os.environ:
    os.environ["ROS_DOMAIN_ID"] = os.environ["ISOBAR_TEST_DOMAIN"]
else:
    os.environ["ROS_DOMAIN_ID"], DOMAIN_LOCK = take_domain()
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
# Humble has only this variable; later distributions warn of it.
if os.environ.get("ROS_DISTRO") == "humble":
    os.environ["ROS_LOCALHOST_ONLY"] = "1"

import launching  # noqa: E402
import rclpy  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParameters  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import QoSProfile, ReliabilityPolicy  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SCENES = Path(__file__).resolve().parent / "scenes"
# The longest wait for a condition [s]: long enough for a loaded machine. A passing test never waits this
# long.
PATIENCE = 30.0
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


# Skips that depend on the installed ROS: its distribution's launch system, which scripts/ros2-env leaves out,
# and the versions of simulation_interfaces.
EXPECTED_SKIPS = (
    "the package launch_ros is not installed",
    "before 2.1 all of a state is set",
    "this version spawns one at a time",
)


def require_all(report):
    """If ISOBAR_REQUIRE_ALL is set, an unexpected skip is a failure."""
    if os.environ.get("ISOBAR_REQUIRE_ALL", "0") in ("", "0") or report.outcome != "skipped":
        return
    if not any(reason in str(report.longrepr) for reason in EXPECTED_SKIPS):
        report.outcome = "failed"
        report.longrepr = f"skipped although ISOBAR_REQUIRE_ALL is set: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    require_all(report)
    return report


# The nodes of the present test: waits end when one of them dies.
RUNNING = []


class RunningNode:
    """The simulator's process; `log()` returns its output so far."""

    def __init__(self, folder, scene="press.yaml", parameters=(), scene_path=None, extra=(), wrapper=()):
        binary = Path(os.environ["ISOBAR_BIN"]) / "isobar_node"
        self.log_path = folder / "node.log"
        arguments = [*wrapper, str(binary), "--ros-args"]
        if scene is not None:
            arguments += ["-p", f"scene:={scene_path or SCENES / scene}"]
        for parameter in parameters:
            arguments += ["-p", parameter]
        arguments += extra
        with self.log_path.open("w") as log:
            self.process = subprocess.Popen(arguments, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT)

    def log(self):
        return self.log_path.read_text()

    def end(self, with_signal=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def end_all():
    """Ends the running processes in an orderly way: a killed node stays in the graph for 20 s and would get
    requests of the next test."""
    running = RUNNING[:]
    RUNNING.clear()
    for node in running:
        if node.process.poll() is None:
            node.process.send_signal(signal.SIGINT)
    for node in running:
        try:
            node.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            node.process.kill()
            node.process.wait()


class Controller:
    """A controller in lockstep: answers each state of `/joint_states` with `law(message)`, stamped as the
    state."""

    def __init__(self, law, states="/joint_states", commands="/joint_commands", name="controller"):
        self.node = rclpy.create_node(name)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.law = law
        self.states = []
        self.publisher = self.node.create_publisher(JointState, commands, 10)
        self.node.create_subscription(JointState, states, self.answer, 10)

    def answer(self, state):
        if self.states and stamp_ns(self.states[-1]) == stamp_ns(state):
            return
        self.states.append(state)
        command = self.law(state)
        if command is not None:
            command.header.stamp = state.header.stamp
            self.publisher.publish(command)

    def run(self, states, patience=PATIENCE):
        """Waits until it has received that many states."""
        deadline = time.monotonic() + patience
        while len(self.states) < states:
            assert time.monotonic() < deadline, f"{len(self.states)} states within {patience:.0f} s"
            self.executor.spin_once(timeout_sec=0.05)

    def end(self):
        self.executor.shutdown()
        self.node.destroy_node()


def stamp_ns(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


class Listener:
    """An rclpy node that stores the messages that it receives."""

    def __init__(self, name="listener"):
        self.node = rclpy.create_node(name)
        self.heard = {}
        self.clients = {}
        # The processes that know all subscriptions and clients of this node, or none.
        self.met = None

    def listen(self, kind, topic, qos=10):
        """The messages of a topic; they are complete from the next `meet`, `publisher` or `call` on."""
        messages = self.heard.setdefault(topic, [])
        self.node.create_subscription(kind, topic, messages.append, qos)
        self.met = None
        return messages

    def meet(self, node="/isobar"):
        """Waits until the node knows every publisher, subscription and client of this process.

        A process discovers the endpoints of another one in the order in which they were made. So a node that
        answers the newest client knows all earlier endpoints. Before that, its messages may not reach this
        process, and its answers may be lost.
        """
        client = self.node.create_client(GetParameters, f"{node}/get_parameters")
        answers, asked = [], -math.inf

        def answered():
            nonlocal asked
            if client.service_is_ready() and time.monotonic() - asked > 0.5:
                asked = time.monotonic()
                answers.append(client.call_async(GetParameters.Request()))
            return any(answer.done() for answer in answers)

        self.wait_until(answered, f"answer of {node}")
        self.node.destroy_client(client)
        self.met = [running.process.pid for running in RUNNING]

    def meet_once(self, node="/isobar"):
        """As `meet`, unless nothing was made and no process was started since the last one."""
        if self.met != [running.process.pid for running in RUNNING]:
            self.meet(node)

    def wait_until(self, condition, what, patience=PATIENCE):
        deadline = time.monotonic() + patience
        while not condition():
            self.spin_while_alive(what, deadline)

    def spin_while_alive(self, what, deadline):
        assert time.monotonic() < deadline, f"no {what} in time"
        for running in RUNNING:
            assert running.process.poll() is None, f"waiting for {what}, the node ended: {running.log()}"
        rclpy.spin_once(self.node, timeout_sec=0.05)

    def publish_until(self, publisher, message, condition, what):
        """Publishes twice a second until the condition holds: the other side may not know the publisher yet,
        or reports only some of the messages."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            publisher.publish(message)
            turn = time.monotonic() + 0.5
            while time.monotonic() < turn and not condition():
                self.spin_while_alive(what, deadline)

    def wait_for_time(self, messages, seconds):
        """Waits until the stamps of a topic have advanced by that much simulated time."""
        self.wait_until(lambda: messages, "messages")
        end = stamp_ns(messages[-1]) + round(seconds * 1e9)
        self.wait_until(lambda: stamp_ns(messages[-1]) >= end, f"{seconds} s of simulated time")

    def settled(self, query, what, node="/isobar"):
        """The result of a query of the graph once discovery is complete: once it was the same for 2 s."""
        self.meet(node)
        seen, since = None, time.monotonic()

        def stands():
            nonlocal seen, since
            now = query()
            if now != seen:
                seen, since = now, time.monotonic()
            return seen and time.monotonic() - since > 2.0

        self.wait_until(stands, what)
        return seen

    def spin_for(self, seconds):
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            rclpy.spin_once(self.node, timeout_sec=left)

    def fresh(self, topic, count=1):
        """Waits for `count` more messages, and returns the last one."""
        messages = self.heard[topic]
        wanted = len(messages) + count
        self.wait_until(lambda: len(messages) >= wanted, f"message on {topic}")
        return messages[-1]

    def publisher(self, kind, topic):
        publisher = self.node.create_publisher(kind, topic, 10)
        self.wait_until(lambda: publisher.get_subscription_count() > 0, f"subscriber of {topic}")
        self.meet()
        return publisher

    def wait_for(self, kind, topic, condition, what, qos=10):
        """The first message from now on that fulfils the condition."""
        found = []
        subscription = self.node.create_subscription(kind, topic, lambda m: condition(m) and found.append(m), qos)
        self.wait_until(lambda: found, what)
        self.node.destroy_subscription(subscription)
        return found[0]

    def set_parameter(self, name, value):
        """Sets a parameter of the node; returns its result, with the reason of a refusal."""
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        return self.call(SetParameters, "/isobar/set_parameters", request).results[0]

    def call(self, kind, service, request):
        if service not in self.clients:
            self.clients[service] = self.node.create_client(kind, service)
            self.met = None
        client = self.clients[service]
        self.wait_until(client.service_is_ready, f"service {service}")
        self.meet_once(service.rsplit("/", 1)[0])
        future = client.call_async(request)
        self.wait_until(future.done, f"answer of {service}")
        return future.result()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the output of the nodes to the report of a failure, or of a skip that counts as one."""
    report = yield
    require_all(report)
    if report.failed:
        for running in RUNNING:
            report.sections.append((str(running.log_path.name), running.log()[-4000:]))
    return report


@pytest.fixture(scope="session", autouse=True)
def ros():
    rclpy.init()
    yield
    rclpy.shutdown()


@pytest.fixture
def listener():
    listener = Listener()
    yield listener
    listener.node.destroy_node()


@pytest.fixture
def start(tmp_path):
    """Starts nodes, and ends each of them when the test is over."""
    RUNNING.clear()
    numbers = itertools.count()

    def start_node(**keywords):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        RUNNING.append(RunningNode(folder, **keywords))
        return RUNNING[-1]

    yield start_node
    end_all()


def client_starter(client, start, listener):
    """A function that starts a node and returns a `client` of its services, once they answer."""

    def make(**keywords):
        node = start(**keywords)
        started = client(listener)
        started.node = node
        started.wait()
        return started

    return make


class LaunchedProcess:
    """A process of a launch file; `log()` returns its output so far."""

    def __init__(self, command, folder):
        self.log_path = folder / f"{Path(command[0]).name}.log"
        with self.log_path.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def log(self):
        return self.log_path.read_text()

    end = RunningNode.end


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The package as CMakeLists.txt installs it, by links."""
    prefix = tmp_path_factory.mktemp("install")
    share, programs = prefix / "share/isobar", prefix / "lib/isobar"
    index = prefix / "share/ament_index/resource_index/packages"
    for folder in (share, programs, index):
        folder.mkdir(parents=True)
    (index / "isobar").touch()
    for folder in ("config", "launch", "meshes", "urdf"):
        (share / folder).symlink_to(ROOT / folder)
    for program in (ROOT / "controllers").iterdir():
        (programs / program.name).symlink_to(program)
    (programs / "isobar_node").symlink_to(Path(os.environ["ISOBAR_BIN"]) / "isobar_node")
    before = os.environ["AMENT_PREFIX_PATH"]
    os.environ["AMENT_PREFIX_PATH"] = f"{prefix}:{before}"
    yield prefix
    os.environ["AMENT_PREFIX_PATH"] = before


@pytest.fixture
def launch(installed, tmp_path):
    """Starts the processes of a launch file; returns those of this package, and those of others, which are
    left out."""
    RUNNING.clear()

    def launch_file(name, arguments):
        processes, _ = launching.evaluate(installed / "share/isobar/launch" / name, arguments)
        ours = [process for process in processes if process.package == "isobar"]
        RUNNING.extend(LaunchedProcess(process.command(installed, tmp_path), tmp_path) for process in ours)
        return ours, [process for process in processes if process.package != "isobar"]

    yield launch_file
    end_all()


@pytest.fixture
def heard_from_the_start(launch, listener, tmp_path):
    """Launches a paused simulation, and resumes it when all topics of interest have publishers and `ready`
    holds."""

    def start(name, arguments, ready=lambda: True, **parameters):
        paused = tmp_path / "paused.yaml"
        paused.write_text(yaml.safe_dump({"/**": {"ros__parameters": {"start_paused": True, **parameters}}}))
        started = launch(name, {"use_rviz": "false", "params_file": str(paused), **arguments})
        namespace = f"/{arguments['namespace']}" if "namespace" in arguments else ""
        there = lambda: all(listener.node.count_publishers(topic) for topic in listener.heard)
        listener.wait_until(there, "the topics")
        listener.wait_until(ready, "what is there before the first step")
        for process in started[0]:
            listener.meet(f"{namespace}/{process.name or process.executable.removesuffix('.py')}")
        request = SetBool.Request(data=False)
        assert listener.call(SetBool, f"{namespace}/isobar/pause", request).success
        return started

    return start
