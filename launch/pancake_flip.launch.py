"""The pancake flip: a Jaco takes a spatula and turns a pancake; its controller, robot_state_publisher, RViz.

ros2 launch isobar pancake_flip.launch.py [scene:=FILE] [urdf:=FILE] [task:=FILE]
    [stepping:=quasistatic] [step:=0.1] [real_time_factor:=1.0] [lockstep:=false] [record:=FILE.mcap]
    [use_rviz:=true] [state_publisher:=true] [namespace:=NAME]
"""

import os
import sys

# The shared parts of these launch files are in the same folder.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from task_launch import keyframe_controller, shared, task  # noqa: E402


def generate_launch_description():
    # Its keyframes are in frames of the stove and of the stand.
    flip = keyframe_controller("scene")
    return task("pancake_flip.yaml", "j2n6_bubble_gripper.urdf", [flip], shared("config/tasks", "pancake_flip.yaml"))
