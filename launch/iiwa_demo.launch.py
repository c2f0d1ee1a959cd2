"""The iiwa's demonstration: a path in the air, a touch, a held force; with its controller,
robot_state_publisher and RViz.

ros2 launch isobar iiwa_demo.launch.py [scene:=FILE] [urdf:=FILE] [task:=FILE]
    [stepping:=quasistatic] [step:=0.1] [real_time_factor:=1.0] [lockstep:=false] [record:=FILE.mcap]
    [use_rviz:=true] [state_publisher:=true] [namespace:=NAME]
"""

import os
import sys

# The shared parts of these launch files are in the same folder.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from task_launch import keyframe_controller, shared, task  # noqa: E402


def generate_launch_description():
    return task("iiwa_demo.yaml", "iiwa14_wsg50.urdf", [keyframe_controller()], shared("config/tasks", "iiwa_demo.yaml"))
