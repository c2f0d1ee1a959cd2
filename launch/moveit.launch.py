"""A robot for MoveIt: the simulator with its action FollowJointTrajectory, robot_state_publisher, and
MoveIt's move_group with the files of config/moveit. Include it in a launch file of your own, with
move_group:=false if that starts one.

ros2 launch isobar moveit.launch.py [robot:=j2s7s300] [scene:=FILE] [move_group:=true] [use_rviz:=false]
    [params_file:=FILE] [real_time_factor:=1.0] [record:=FILE.mcap] [namespace:=NAME]
    [launch_prefix:="chrt -f 50"]
"""

import os

import yaml
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# The robots with files in config/moveit, and the scene of each; its model is called `robot`, like the
# controller of moveit_controllers.yaml.
SCENES = {"iiwa14_wsg50": "iiwa_demo.yaml", "j2s7s300": "jaco_demo.yaml"}
# Passed to isobar.launch.py if they are given.
HANDED_ON = ["params_file", "real_time_factor", "record", "namespace", "launch_prefix"]
# The planning pipeline of move_group: MoveIt's own adapters and OMPL.
PLANNING = {
    "planning_pipelines": ["ompl"],
    "default_planning_pipeline": "ompl",
    "ompl": {
        "planning_plugins": ["ompl_interface/OMPLPlanner"],
        "request_adapters": [
            "default_planning_request_adapters/ResolveConstraintFrames",
            "default_planning_request_adapters/ValidateWorkspaceBounds",
            "default_planning_request_adapters/CheckStartStateBounds",
            "default_planning_request_adapters/CheckStartStateCollision",
        ],
        "response_adapters": [
            "default_planning_response_adapters/AddTimeOptimalParameterization",
            "default_planning_response_adapters/ValidateSolution",
            "default_planning_response_adapters/DisplayMotionPath",
        ],
    },
    "publish_planning_scene": True,
    "publish_geometry_updates": True,
    "publish_state_updates": True,
    "publish_transforms_updates": True,
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def robot_parameters(share, robot):
    """The parameters of MoveIt that describe the robot: its URDF, its SRDF, kinematics and limits."""
    folder = os.path.join(share, "config", "moveit", robot)
    loaded = lambda name: yaml.safe_load(read(os.path.join(folder, name)))  # noqa: E731
    return {
        "robot_description": ParameterValue(read(os.path.join(share, "urdf", f"{robot}.urdf")), value_type=str),
        "robot_description_semantic": ParameterValue(read(os.path.join(folder, f"{robot}.srdf")), value_type=str),
        "robot_description_kinematics": loaded("kinematics.yaml"),
        "robot_description_planning": loaded("joint_limits.yaml"),
    }, loaded("moveit_controllers.yaml")


def start(context):
    share = FindPackageShare("isobar").perform(context)
    value = lambda name: LaunchConfiguration(name).perform(context)  # noqa: E731
    robot = value("robot")
    if robot not in SCENES:
        raise ValueError(f"robot:={robot} has no files in config/moveit; the robots are {', '.join(SCENES)}")
    scene = value("scene") or os.path.join(share, "config", SCENES[robot])
    given = {"scene": scene, "use_rviz": "false", **{name: value(name) for name in HANDED_ON if value(name)}}
    source = PythonLaunchDescriptionSource(os.path.join(share, "launch", "isobar.launch.py"))
    description, controllers = robot_parameters(share, robot)
    sim_time = {"use_sim_time": True}
    around = [
        PushRosNamespace(LaunchConfiguration("namespace")),
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[{**sim_time, "robot_description": description["robot_description"]}],
        ),
    ]
    if value("move_group").lower() in {"true", "1"}:
        parameters = [description, controllers, PLANNING, sim_time]
        around.append(Node(package="moveit_ros_move_group", executable="move_group", output="screen", parameters=parameters))
    if value("use_rviz").lower() in {"true", "1"}:
        around.append(Node(package="rviz2", executable="rviz2", name="rviz_moveit", parameters=[description, sim_time]))
    # In groups of their own: the arguments do not reach other launch files, and the namespace of the file
    # that includes this one applies to all.
    return [GroupAction([IncludeLaunchDescription(source, launch_arguments=given.items())]), GroupAction(around)]


def generate_launch_description():
    parameters = PathJoinSubstitution([FindPackageShare("isobar"), "config", "moveit", "parameters.yaml"])
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", default_value="iiwa14_wsg50", description=f"one of {', '.join(SCENES)}"),
            DeclareLaunchArgument("scene", default_value="", description="scene file whose robot is the model `robot`; empty: the robot's demonstration"),
            DeclareLaunchArgument("move_group", default_value="true", description="start MoveIt's move_group"),
            DeclareLaunchArgument("use_rviz", default_value="false", description="start RViz; add its MotionPlanning display"),
            DeclareLaunchArgument("params_file", default_value=parameters, description="parameters of the simulator; keep robot_namespaces"),
            DeclareLaunchArgument("real_time_factor", default_value="", description="0 is as fast as possible; empty: 1"),
            DeclareLaunchArgument("record", default_value="", description="MCAP file; empty: none"),
            DeclareLaunchArgument("namespace", default_value="", description="of all topics and actions"),
            DeclareLaunchArgument("launch_prefix", default_value="", description="a program that starts the simulator, such as chrt -f 50"),
            OpaqueFunction(function=start),
        ]
    )
