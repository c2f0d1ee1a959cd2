"""Any scene, optionally with RViz. Start robot_state_publisher and controllers separately, on simulated time.

ros2 launch isobar isobar.launch.py scene:=FILE [params_file:=FILE]
    [stepping:=quasistatic] [step:=0.1] [real_time_factor:=1.0] [threads:=2] [lockstep:=false]
    [record:=FILE.mcap] [publish_robot_description:=true] [use_rviz:=false] [rviz_config:=FILE]
    [namespace:=NAME]
    [realtime_priority:=50] [cpus:=2,3] [lock_memory:=true] [launch_prefix:="chrt -f 50"]

A parameter whose argument is not given has the value of params_file, or else the node's default.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

# Arguments that become parameters of the node if they are given: type and meaning.
PARAMETERS = {
    "stepping": (str, "dynamic, quasistatic, spook or continuous"),
    "step": (float, "step [s]"),
    "real_time_factor": (float, "0 is as fast as possible"),
    "threads": (float, "threads of dynamic steps"),
    "lockstep": (bool, "take turns with the controllers"),
    "record": (str, "MCAP file"),
    "realtime_priority": (float, "SCHED_FIFO priority, 1 to 99, of the threads that step, publish and receive"),
    "cpus": (str, "processors of these threads, such as 2,3"),
    "lock_memory": (bool, "keep the node's memory out of the swap"),
    "publish_robot_description": (bool, "false if robot_state_publisher does it"),
}


def simulator(context):
    """The node, with the parameters that are given."""
    given = {"scene": ParameterValue(LaunchConfiguration("scene"), value_type=str)}
    for name, (kind, _) in PARAMETERS.items():
        if LaunchConfiguration(name).perform(context):
            given[name] = ParameterValue(LaunchConfiguration(name), value_type=kind)
    return [
        Node(
            package="isobar",
            executable="isobar_node",
            name="isobar",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            # Without a prefix, that of `ros2 launch --launch-prefix` applies.
            prefix=LaunchConfiguration("launch_prefix").perform(context) or None,
            # The simulator publishes the clock and must not wait for one.
            parameters=[ParameterFile(LaunchConfiguration("params_file")), given],
            on_exit=Shutdown(),
        )
    ]


def generate_launch_description():
    share = FindPackageShare("isobar")
    optional = [
        DeclareLaunchArgument(name, default_value="", description=f"{meaning}; empty: the value of params_file or the node's default")
        for name, (_, meaning) in PARAMETERS.items()
    ]
    return LaunchDescription(
        [
            DeclareLaunchArgument("scene", description="scene file (YAML)"),
            DeclareLaunchArgument(
                "params_file",
                default_value=PathJoinSubstitution([share, "config", "isobar_parameters.yaml"]),
                description="parameters of the node; given arguments override it",
            ),
            *optional,
            DeclareLaunchArgument("use_rviz", default_value="false"),
            DeclareLaunchArgument(
                "rviz_config",
                default_value=PathJoinSubstitution([share, "config", "isobar.rviz"]),
                description="RViz's displays and view",
            ),
            DeclareLaunchArgument("namespace", default_value=""),
            DeclareLaunchArgument("launch_prefix", default_value="", description="a program that starts the node, such as chrt -f 50"),
            OpaqueFunction(function=simulator),
            Node(
                package="rviz2",
                executable="rviz2",
                # The topics of its configuration are relative.
                namespace=LaunchConfiguration("namespace"),
                arguments=["-d", LaunchConfiguration("rviz_config")],
                parameters=[{"use_sim_time": True}],
                condition=IfCondition(LaunchConfiguration("use_rviz")),
            ),
        ]
    )
