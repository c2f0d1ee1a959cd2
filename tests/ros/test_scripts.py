"""The scripts: the ROS 2 and the domain that they use, and tests that must not be skipped."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE, ROOT


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
