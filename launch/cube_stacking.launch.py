"""Cube stacking: an iiwa 14 puts the red cube on the stack; keyframe controller, robot_state_publisher, RViz.

ros2 launch isobar cube_stacking.launch.py [scene:=FILE] [urdf:=FILE] [task:=FILE]
    [stepping:=quasistatic] [step:=0.1] [real_time_factor:=1.0] [lockstep:=false] [record:=FILE.mcap]
    [use_rviz:=true] [state_publisher:=true] [namespace:=NAME]
"""

import os
import sys

# The shared parts of these launch files are in the same folder.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from task_launch import keyframe_controller, shared, task  # noqa: E402


def generate_launch_description():
    return task("cube_stacking.yaml", "iiwa14_wsg50.urdf", [keyframe_controller()], shared("config/tasks", "cube_stacking.yaml"))
