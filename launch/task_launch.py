"""What the tasks' launch files share: isobar.launch.py, a controller, robot_state_publisher and RViz."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import Command, LaunchConfiguration, NotSubstitution, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# Handed on to isobar.launch.py as they are, with their defaults here and there.
HANDED_ON = {
    "stepping": ("", "dynamic or quasistatic; empty: the scene's"),
    "step": ("0.0", "step [s]; 0 takes the scene's"),
    "real_time_factor": ("1.0", "0 is as fast as possible"),
    "lockstep": ("false", "take turns with the controller"),
    "record": ("", "MCAP file"),
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


def keyframe_controller():
    """Plays the launch argument `keyframes` with the robot of the launch argument `urdf`."""
    return controller("keyframe_controller", {"keyframes": text("keyframes"), "urdf": text("urdf")})


def task(scene, urdf, base, controllers, keyframes=None):
    """A scene of config/, the robot of urdf/ that is controlled, `base`: static_transform_publisher's arguments for its root, and
    where its keyframes are."""
    arguments = [
        DeclareLaunchArgument("scene", default_value=shared("config", scene), description="scene file (YAML)"),
        DeclareLaunchArgument("urdf", default_value=shared("urdf", urdf), description="the robot that is controlled"),
        DeclareLaunchArgument("state_publisher", default_value="true", description="start robot_state_publisher"),
    ]
    if keyframes:
        arguments.append(DeclareLaunchArgument("keyframes", default_value=keyframes, description="what the robot does (YAML)"))
    for name, (value, meaning) in HANDED_ON.items():
        arguments.append(DeclareLaunchArgument(name, default_value=value, description=meaning))
    handed_on = {name: LaunchConfiguration(name) for name in ["scene", *HANDED_ON]}
    handed_on["publish_robot_description"] = NotSubstitution(LaunchConfiguration("state_publisher"))
    simulator = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(shared("launch", "isobar.launch.py")), launch_arguments=handed_on.items()
    )
    robot_state_publisher = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        parameters=[
            {
                "use_sim_time": True,
                "robot_description": ParameterValue(Command(["cat ", LaunchConfiguration("urdf")]), value_type=str),
            }
        ],
        condition=IfCondition(LaunchConfiguration("state_publisher")),
    )
    where = Node(
        package="tf2_ros",
        executable="static_transform_publisher",
        arguments=base.split(),
        condition=IfCondition(LaunchConfiguration("state_publisher")),
    )
    around = GroupAction([PushRosNamespace(LaunchConfiguration("namespace")), *controllers, robot_state_publisher, where])
    return LaunchDescription([*arguments, simulator, around])
