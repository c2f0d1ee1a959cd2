"""The profiles of config/dds: Fast DDS takes them, and processes with a profile hear each other."""

import os
import subprocess
import sys

import pytest
from conftest import PATIENCE, ROOT

PROFILES = sorted((ROOT / "config/dds").glob("*.xml"))
LISTENS = """
import sys, time, rclpy
from sensor_msgs.msg import JointState
rclpy.init()
node, heard = rclpy.create_node("listens"), []
node.create_subscription(JointState, "joint_states", heard.append, 10)
deadline = time.monotonic() + float(sys.argv[1])
while len(heard) < 100 and time.monotonic() < deadline:
    rclpy.spin_once(node, timeout_sec=0.1)
node.destroy_node()
rclpy.shutdown()
print(len(heard))
"""


@pytest.mark.skipif(os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp") != "rmw_fastrtps_cpp", reason="for Fast DDS only")
@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_processes_with_a_profile_hear_each_other(start, profile):
    variables = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT", "FASTRTPS_DEFAULT_PROFILES_FILE": str(profile)}
    node = start(wrapper=["env", *[f"{name}={value}" for name, value in variables.items()]])
    command = [sys.executable, "-c", LISTENS, str(PATIENCE)]
    listener = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    assert int(listener.stdout) >= 100, node.log()
    assert "XML" not in node.log() + listener.stderr, node.log()
