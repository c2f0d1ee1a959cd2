"""Shared parts of the tasks' launch files: isobar.launch.py, a controller, robot_state_publisher and RViz."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# Arguments that are passed to isobar.launch.py if they are given: default and meaning.
HANDED_ON = {
    "stepping": ("", "dynamic, quasistatic, spook or continuous; empty: the scene's"),
    "step": ("", "step [s]; empty: the scene's"),
    "real_time_factor": ("", "0 is as fast as possible; empty: 1"),
    "lockstep": ("", "take turns with the controller; empty: no"),
    "record": ("", "MCAP file; empty: none"),
    "launch_prefix": ("", "a program that starts the node, such as chrt -f 50; empty: none"),
    "use_rviz": ("true", "show the scene"),
    "namespace": ("", "of all topics of this scene"),
}


def shared(folder, file):
    return PathJoinSubstitution([FindPackageShare("isobar"), folder, file])


def text(name):
    return ParameterValue(LaunchConfiguration(name), value_type=str)


def controller(name, parameters):
    """A controller of this package, in the scene's namespace."""
    return Node(package="isobar", executable=f"{name}.py", name=name, output="screen", parameters=[{"use_sim_time": True, **parameters}])


def keyframe_controller(robot="urdf"):
    """Plays the launch argument `task` with the robot of the launch argument `urdf` or `scene`."""
    return controller("keyframe_controller", {"task": text("task"), robot: text(robot)})


def simulator(context):
    """isobar.launch.py with the arguments that are given."""
    values = {name: LaunchConfiguration(name).perform(context) for name in ["scene", "rviz_config", *HANDED_ON]}
    given = {name: value for name, value in values.items() if value}
    if LaunchConfiguration("state_publisher").perform(context).lower() in {"true", "1"}:
        given["publish_robot_description"] = "false"
    source = PythonLaunchDescriptionSource(shared("launch", "isobar.launch.py"))
    # In a group of its own, the arguments do not reach other launch files.
    return [GroupAction([IncludeLaunchDescription(source, launch_arguments=given.items())])]


def task(scene, urdf, controllers, task_file=None):
    """A scene of config/, the robot of urdf/ that is controlled, and the file of the keyframes."""
    arguments = [
        DeclareLaunchArgument("scene", default_value=shared("config", scene), description="scene file (YAML)"),
        DeclareLaunchArgument("urdf", default_value=shared("urdf", urdf), description="the robot that is controlled"),
        DeclareLaunchArgument(
            "rviz_config", default_value=shared("config/rviz", scene.replace(".yaml", ".rviz")), description="RViz's displays and view"
        ),
        DeclareLaunchArgument("state_publisher", default_value="true", description="start robot_state_publisher"),
    ]
    if task_file:
        arguments.append(DeclareLaunchArgument("task", default_value=task_file, description="the keyframes of the robot (YAML)"))
    for name, (value, meaning) in HANDED_ON.items():
        arguments.append(DeclareLaunchArgument(name, default_value=value, description=meaning))
    robot_state_publisher = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        parameters=[
            {
                "use_sim_time": True,
                "robot_description": ParameterValue(Command(['cat "', LaunchConfiguration("urdf"), '"']), value_type=str),
            }
        ],
        condition=IfCondition(LaunchConfiguration("state_publisher")),
    )
    around = GroupAction([PushRosNamespace(LaunchConfiguration("namespace")), *controllers, robot_state_publisher])
    return LaunchDescription([*arguments, OpaqueFunction(function=simulator), around])
