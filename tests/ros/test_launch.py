"""The launch files: their arguments, those that they pass on, and a comparison with ROS 2's own launch
packages."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import launching
import pytest
from conftest import PATIENCE, ROOT, RUNNING

TASKS = sorted(path.name.removesuffix(".launch.py") for path in (ROOT / "launch").glob("*.launch.py"))
TASKS = [task for task in TASKS if (ROOT / "config" / f"{task}.yaml").exists()]
ARGUMENTS = {"scene", "stepping", "step", "real_time_factor", "lockstep", "record", "use_rviz", "namespace"}
# Runs a launch file as `ros2 launch` does; that command is in a separate package.
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
arguments = [argument.split(":=") for argument in sys.argv[2:]]
source = PythonLaunchDescriptionSource(sys.argv[1])
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""
# A launch file that includes the one for MoveIt, and has an argument of its own with a common name.
INCLUDING = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    source = PythonLaunchDescriptionSource("{inner}")
    arguments = {{"robot": "iiwa14_wsg50", "move_group": "false", "namespace": "cell"}}
    return LaunchDescription([
        DeclareLaunchArgument("use_rviz", default_value="mine"),
        IncludeLaunchDescription(source, launch_arguments=arguments.items()),
        LogInfo(msg=["afterwards use_rviz is ", LaunchConfiguration("use_rviz")]),
    ])
"""


@contextmanager
def launched(path, arguments, log_path):
    """A launch file under ROS 2's launch system, and its output so far."""
    with log_path.open("w") as log:
        process = subprocess.Popen([sys.executable, "-c", LAUNCH, str(path), *arguments], stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process, log_path.read_text
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def until(condition, process, log):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline and process.poll() is None, log()
        time.sleep(0.1)


def merged(process):
    return {name: value for entry in process.parameters if isinstance(entry, dict) for name, value in entry.items()}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_its_arguments_and_hands_them_on(installed, task):
    path = installed / "share/isobar/launch" / f"{task}.launch.py"
    processes, values = launching.evaluate(path, {})
    assert ARGUMENTS <= set(values)
    names = {process.executable for process in processes}
    assert {"isobar_node", "robot_state_publisher", "rviz2"} < names
    arguments = {"stepping": "quasistatic", "step": "0.05", "real_time_factor": "0.5", "namespace": "cell", "scene": "/my.yaml"}
    processes, _ = launching.evaluate(path, {**arguments, "use_rviz": "false", "state_publisher": "false", "lockstep": "true"})
    node, controller = processes
    got = merged(node)
    assert got["scene"] == "/my.yaml" and got["stepping"] == "quasistatic" and got["lockstep"] is True
    assert got["step"] == 0.05 and got["real_time_factor"] == 0.5 and "use_sim_time" not in got
    assert "publish_robot_description" not in got, "params_file sets it, and no other node publishes one"
    assert node.namespace == controller.namespace == "/cell"
    assert merged(controller)["use_sim_time"] is True
    # The description in a file agrees with its contents.
    usage = (ROOT / "launch" / f"{task}.launch.py").read_text().split('"""')[1]
    assert set(re.findall(r"(\w+):=", usage)) <= set(values)


@pytest.mark.parametrize("task", [*TASKS, "isobar"])
def test_only_arguments_that_are_given_go_before_the_parameters_file(installed, task):
    path = installed / "share/isobar/launch" / f"{task}.launch.py"
    mine = {"params_file": "/mine.yaml", "use_rviz": "false"}
    scene = {"scene": "/my.yaml"}
    alone = {} if task == "isobar" else {"state_publisher": "false"}
    processes, _ = launching.evaluate(path, {**mine, **scene, **alone})
    assert processes[0].parameters == ["/mine.yaml", scene]
    processes, _ = launching.evaluate(path, {**mine, **scene, **alone, "lockstep": "false", "real_time_factor": "0.0"})
    assert processes[0].parameters == ["/mine.yaml", {**scene, "lockstep": False, "real_time_factor": 0.0}]
    if task != "isobar":
        processes, _ = launching.evaluate(path, {**mine, **scene})
        assert processes[0].parameters[1] == {**scene, "publish_robot_description": False}, "robot_state_publisher does"


@pytest.mark.parametrize("task", [*TASKS, "isobar"])
def test_without_a_prefix_that_of_ros2_launch_applies(installed, task):
    path = installed / "share/isobar/launch" / f"{task}.launch.py"
    for given, prefix in [({}, None), ({"launch_prefix": "chrt -f 50"}, "chrt -f 50")]:
        processes, _ = launching.evaluate(path, {"scene": "/my.yaml", **given})
        assert [process.prefix for process in processes if process.executable == "isobar_node"] == [prefix]


@pytest.mark.parametrize("task", TASKS)
def test_files_that_a_task_names_are_there(installed, task):
    processes, values = launching.evaluate(installed / "share/isobar/launch" / f"{task}.launch.py", {})
    for name in {"scene", "urdf", "task"} & set(values):
        assert os.path.exists(values[name]), values[name]
    for process in processes:
        assert process.package != "isobar" or os.access(installed / "lib/isobar" / process.executable, os.X_OK)


@pytest.mark.skipif(not importlib.util.find_spec("launch_ros"), reason="the package launch_ros is not installed")
@pytest.mark.parametrize("task", TASKS)
def test_ros_launch_starts_the_same_processes(installed, tmp_path, task):
    path = installed / "share/isobar/launch" / f"{task}.launch.py"
    arguments = {"use_rviz": "false", "state_publisher": "false", "namespace": "cell", "lockstep": "true"}
    expected, _ = launching.evaluate(path, arguments)
    given = [f"{name}:={value}" for name, value in arguments.items()]
    with launched(path, given, tmp_path / "launch.log") as (process, log):
        started = lambda: re.findall(r"\[INFO\] \[(\S+)-\d+\]: process started", log())
        until(lambda: len(started()) >= len(expected) and "loaded in" in log(), process, log)
        assert sorted(started()) == sorted(expected_one.executable for expected_one in expected)
    assert "process has died" not in log()


def environment(pid):
    with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
        return file.read().split("\0")


@pytest.mark.parametrize("task", [TASKS[0], "isobar"])
def test_a_prefix_starts_the_node_and_no_other_process(launch, listener, task):
    scene = {"scene": str(ROOT / "config/iiwa_demo.yaml")}
    processes, _ = launch(f"{task}.launch.py", {"use_rviz": "false", "launch_prefix": "env ISOBAR_PREFIXED='a b'", **scene})
    listener.meet()
    prefixed = ["ISOBAR_PREFIXED=a b" in environment(running.process.pid) for running in RUNNING]
    assert prefixed == [process.executable == "isobar_node" for process in processes] and any(prefixed)


@pytest.mark.skipif(not importlib.util.find_spec("launch_ros"), reason="the package launch_ros is not installed")
@pytest.mark.parametrize("arguments", [["launch_prefix:=env ISOBAR_PREFIXED=1"], ["launch-prefix:=env ISOBAR_PREFIXED=1"]])
def test_ros_launch_starts_the_node_with_its_prefix(installed, tmp_path, arguments):
    path = installed / "share/isobar/launch/isobar.launch.py"
    given = [f"scene:={ROOT / 'config/iiwa_demo.yaml'}", *arguments]
    with launched(path, given, tmp_path / "launch.log") as (process, log):
        until(lambda: "loaded in" in log(), process, log)
        # Its name is that of the prefix.
        (pid,) = re.findall(r"process started with pid \[(\d+)\]", log())
        assert "ISOBAR_PREFIXED=1" in environment(pid)
    assert "process has died" not in log()


@pytest.mark.skipif(not importlib.util.find_spec("launch_ros"), reason="the package launch_ros is not installed")
def test_ros_launch_starts_the_simulator_for_moveit(installed, tmp_path, monkeypatch, listener):
    """Included in another file, as docs/how-to/moveit.md shows. Only its start matters of
    robot_state_publisher, so another program takes its place."""
    fake = tmp_path / "fake"
    program = fake / "lib/robot_state_publisher/robot_state_publisher"
    index = fake / "share/ament_index/resource_index/packages/robot_state_publisher"
    for file in (program, index):
        file.parent.mkdir(parents=True)
        file.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{fake}:{os.environ['AMENT_PREFIX_PATH']}")
    own = tmp_path / "own.launch.py"
    own.write_text(INCLUDING.format(inner=installed / "share/isobar/launch/moveit.launch.py"))
    with launched(own, [], tmp_path / "launch.log") as (process, log):
        until(lambda: "loaded in" in log(), process, log)
        listener.meet("/cell/isobar")
        actions = "/cell/robot/follow_joint_trajectory/_action/status"
        listener.wait_until(lambda: listener.node.count_publishers(actions), "the action")
        started = re.findall(r"\[INFO\] \[(\S+)-\d+\]: process started", log())
        assert sorted(started) == ["isobar_node", "robot_state_publisher"]
        assert "afterwards use_rviz is mine" in log()
    assert "process has died [pid" not in log().replace("robot_state_publisher-2]: process has died", "")


def test_paths_may_have_spaces_and_quotes(installed, tmp_path):
    folder = tmp_path / "my robot's folder"
    folder.mkdir()
    (folder / "a robot.urdf").write_text("<robot name='spaced'/>")
    path = installed / "share/isobar/launch" / f"{TASKS[0]}.launch.py"
    processes, _ = launching.evaluate(path, {"urdf": str(folder / "a robot.urdf"), "scene": str(folder / "a scene.yaml")})
    got = {process.executable: merged(process) for process in processes}
    assert got["robot_state_publisher"]["robot_description"] == "<robot name='spaced'/>"
    assert got["isobar_node"]["scene"] == str(folder / "a scene.yaml")
