"""The spatula slip: a soft-bubble gripper, its grip controller, robot_state_publisher and RViz.

ros2 launch isobar spatula_slip.launch.py [scene:=FILE] [urdf:=FILE]
    [stepping:=quasistatic] [step:=0.1] [real_time_factor:=1.0] [lockstep:=false] [record:=FILE.mcap]
    [use_rviz:=true] [state_publisher:=true] [namespace:=NAME]
"""

import os
import sys

# The shared parts of these launch files are in the same folder.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from task_launch import controller, task  # noqa: E402


def generate_launch_description():
    return task("spatula_slip.yaml", "wsg50_bubble_gripper.urdf", [controller("grip_controller", {})])
