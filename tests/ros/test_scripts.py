"""The scripts: the ROS 2 and the domain that they use, and tests that must not be skipped."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import PATIENCE, ROOT, take_domain


def bash(text, **environment):
    """Runs a script with the project's functions; returns its output, errors included."""
    environment = {**os.environ, "ISOBAR_ROOT": str(ROOT), **environment}
    lines = f'. "{ROOT}/scripts/lib/common.sh"; . "{ROOT}/scripts/lib/wheels.sh"\n{text}'
    done = subprocess.run(["bash", "-c", lines], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout + done.stderr


def test_two_runs_take_two_domains(tmp_path):
    text = 'isobar_take_domain; echo "first $ROS_DOMAIN_ID"; (ROS_DOMAIN_ID=7; isobar_take_domain; echo "second $ROS_DOMAIN_ID")'
    said = bash(text, ROS_DOMAIN_ID="7", TMPDIR=str(tmp_path))
    assert "first 7\n" in said and "second 1\n" in said and "another run has ROS domain 7: this one is in 1" in said


def test_test_runs_take_domains_of_their_own_and_scripts_leave_them(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (first, lock), (second, other) = take_domain(), take_domain()
    assert (first, second) == ("1", "2") and lock and other
    said = bash('isobar_take_domain; echo "script $ROS_DOMAIN_ID"', ROS_DOMAIN_ID="2", TMPDIR=str(tmp_path))
    assert "script 3\n" in said and "another run has ROS domain 2" in said, said


def test_the_prefix_of_another_checkout_is_left(tmp_path):
    other = tmp_path / "other/.ros2"
    (other / "jazzy").mkdir(parents=True)
    (other / "jazzy/.isobar_complete").touch()
    paths = f"{other}/jazzy/lib:/kept:{other}/interfaces/lib"
    environment = {name: paths for name in ("LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "PYTHONPATH")}
    environment |= {"PATH": f"{other}/jazzy/bin:{os.environ['PATH']}", "VIRTUAL_ENV": f"{other}/jazzy", "ROS_DISTRO": "jazzy"}
    text = 'isobar_leave_prefix "$VIRTUAL_ENV"; env'
    left = dict(line.split("=", 1) for line in bash(text, **environment).splitlines() if "=" in line)
    assert left["AMENT_PREFIX_PATH"] == left["LD_LIBRARY_PATH"] == left["PYTHONPATH"] == "/kept"
    assert str(other) not in left["PATH"] and "VIRTUAL_ENV" not in left and "ROS_DISTRO" not in left
    script = (ROOT / "scripts/ros2-env").read_text()
    assert 'isobar_leave_prefix "$VIRTUAL_ENV"' in script


def test_a_distribution_that_cannot_be_built_with_is_named(tmp_path):
    text = f'. "{ROOT}/scripts/ros2-env" || echo refused'
    said = bash(text, ROS_DISTRO="kilted", AMENT_PREFIX_PATH=str(tmp_path), VIRTUAL_ENV="")
    assert "refused" in said and "Kilted" in said and "r2r" in said


def test_a_skip_fails_where_nothing_may_be_skipped(tmp_path):
    skips = [
        "import pytest\n\ndef test_nothing():\n    pytest.skip('something is missing')\n",
        "import pytest\npytest.importorskip('no_such_package_at_all', reason='no_such_package_at_all is not installed')\n",
    ]
    for number, text in enumerate(skips):
        test = tmp_path / f"test_skip_{number}.py"
        test.write_text(text)
        for required, status in (("1", 1), ("0", 0)):
            environment = {**os.environ, "ISOBAR_REQUIRE_ALL": required, "PYTHONPATH": f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"}
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", test]
            done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
            # Pytest's own status 2 is a collection that failed, 5 one that found nothing.
            expected = {status, 2} if required == "1" else {0, 5}
            assert done.returncode in expected, done.stdout + done.stderr


def test_a_sourced_ros_is_taken(tmp_path):
    """The set-up in a checkout of its own: it makes no prefix."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    tools = tmp_path / ".ros2/venv/bin"
    tools.mkdir(parents=True)
    (tools / "python").symlink_to(sys.executable)
    (tools.parent / ".isobar_complete").touch()
    text = f'isobar_make_prefix() {{ echo "a prefix"; return 1; }}\n. "{tmp_path}/scripts/ros2-env"; echo "python $ISOBAR_PYTHON"'
    said = bash(text, ROS_DISTRO="jazzy", AMENT_PREFIX_PATH="/opt/ros/jazzy", VIRTUAL_ENV="")
    assert "using ROS 2 jazzy from the environment" in said and f"python {tools}/python" in said, said
    assert "too many arguments" not in said and not (tmp_path / ".ros2/jazzy").exists(), said


@pytest.mark.parametrize("distribution, alone", [("humble", "1"), ("jazzy", "")])
def test_humble_stays_on_this_machine_by_its_own_variable(tmp_path, distribution, alone):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    tools = tmp_path / ".ros2/venv/bin"
    tools.mkdir(parents=True)
    (tools / "python").symlink_to(sys.executable)
    (tools.parent / ".isobar_complete").touch()
    text = f'. "{tmp_path}/scripts/ros2-env"; echo "alone=$ROS_LOCALHOST_ONLY range=$ROS_AUTOMATIC_DISCOVERY_RANGE"'
    unset = {"ROS_LOCALHOST_ONLY": "", "ROS_AUTOMATIC_DISCOVERY_RANGE": ""}
    said = bash(text, ROS_DISTRO=distribution, AMENT_PREFIX_PATH=f"/opt/ros/{distribution}", VIRTUAL_ENV="", **unset)
    assert f"alone={alone} range=LOCALHOST" in said, said


def test_a_sourced_environment_finds_the_programs():
    said = bash('. "$ISOBAR_ROOT/scripts/ros2-env"; echo "target $(isobar_target_dir)"; echo "path $PATH"; command -v ros2')
    lines = dict(line.split(" ", 1) for line in said.splitlines() if line.startswith(("target ", "path ")))
    folders = lines["path"].split(":")
    assert f"{lines['target']}/release" in folders, said
    assert said.splitlines()[-1].endswith("/ros2"), said


def test_a_checkout_that_is_left_has_no_programs_on_the_path(tmp_path):
    (tmp_path / "other/.ros2/jazzy").mkdir(parents=True)
    (tmp_path / "other/.ros2/jazzy/.isobar_complete").touch()
    programs = f"{tmp_path}/other/target/ros-jazzy-1/release:{tmp_path}/other/scripts/lib/bin"
    text = 'isobar_leave_prefix "$VIRTUAL_ENV"; echo "path $PATH"'
    said = bash(text, PATH=f"{programs}:{os.environ['PATH']}", VIRTUAL_ENV=f"{tmp_path}/other/.ros2/jazzy")
    assert str(tmp_path) not in said, said


def test_the_node_answers_help_and_version():
    node = Path(os.environ["ISOBAR_BIN"]) / "isobar_node"
    said = {}
    for option in ("--help", "--version"):
        done = subprocess.run([node, option], capture_output=True, text=True, timeout=PATIENCE, check=True)
        said[option] = done.stdout
    assert "Usage: isobar_node --ros-args -p scene:=FILE.yaml" in said["--help"]
    assert all(f"  {name} " in said["--help"] for name in ("scene", "real_time_factor", "record", "file_access"))
    assert said["--version"].startswith("isobar_node ")


def test_the_substitute_for_the_command_line_plays_a_recording(tmp_path):
    isobar = Path(os.environ["ISOBAR_BIN"]) / "isobar"
    file = tmp_path / "drop.mcap"
    subprocess.run([isobar, "run", ROOT / "config/drop.yaml", "--duration", "0.5", "--record", file, "--quiet"], check=True, timeout=PATIENCE)
    ros2 = ROOT / "scripts/lib/bin/ros2"
    listed = subprocess.run([sys.executable, ros2, "bag", "info", file], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    played = subprocess.run([sys.executable, ros2, "bag", "play", file], capture_output=True, text=True, timeout=PATIENCE)
    assert played.returncode == 0, played.stderr
    topics = sum(line.startswith("Topic: ") for line in listed.splitlines())
    assert topics > 0 and f"played {topics} topics" in played.stdout, listed + played.stdout
    refused = subprocess.run([sys.executable, ros2, "launch", "isobar"], capture_output=True, text=True, timeout=PATIENCE)
    assert refused.returncode != 0 and "install ROS 2 Jazzy" in refused.stderr
