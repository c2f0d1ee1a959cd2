"""The launch files: their arguments, those that they pass on, and a comparison with ROS 2's own launch
packages."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time

import launching
import pytest
from conftest import PATIENCE, ROOT

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
    log_path = tmp_path / "launch.log"
    command = [sys.executable, "-c", LAUNCH, str(path), *[f"{name}:={value}" for name, value in arguments.items()]]
    with log_path.open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        started = lambda: re.findall(r"\[INFO\] \[(\S+)-\d+\]: process started", log_path.read_text())
        deadline = time.monotonic() + PATIENCE
        while len(started()) < len(expected) or "loaded in" not in log_path.read_text():
            assert time.monotonic() < deadline and process.poll() is None, log_path.read_text()
            time.sleep(0.1)
        assert sorted(started()) == sorted(expected_one.executable for expected_one in expected)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    assert "process has died" not in log_path.read_text()


def test_paths_may_have_spaces_and_quotes(installed, tmp_path):
    folder = tmp_path / "my robot's folder"
    folder.mkdir()
    (folder / "a robot.urdf").write_text("<robot name='spaced'/>")
    path = installed / "share/isobar/launch" / f"{TASKS[0]}.launch.py"
    processes, _ = launching.evaluate(path, {"urdf": str(folder / "a robot.urdf"), "scene": str(folder / "a scene.yaml")})
    got = {process.executable: merged(process) for process in processes}
    assert got["robot_state_publisher"]["robot_description"] == "<robot name='spaced'/>"
    assert got["isobar_node"]["scene"] == str(folder / "a scene.yaml")
