"""Any scene, with RViz if wanted. Start robot_state_publisher and controllers beside it, on simulated time.

ros2 launch isobar isobar.launch.py scene:=FILE [params_file:=FILE] [stepping:=''] [step:=0.0] [real_time_factor:=1.0]
    [lockstep:=false] [record:=FILE.mcap] [use_rviz:=false] [namespace:=NAME]
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    share = FindPackageShare("isobar")

    def argument(name, kind):
        return ParameterValue(LaunchConfiguration(name), value_type=kind)

    return LaunchDescription(
        [
            DeclareLaunchArgument("scene", description="scene file (YAML)"),
            DeclareLaunchArgument(
                "params_file",
                default_value=PathJoinSubstitution([share, "config", "isobar_parameters.yaml"]),
                description="parameters of the node; the arguments here go before it",
            ),
            DeclareLaunchArgument("stepping", default_value="", description="dynamic or quasistatic; empty: the scene's"),
            DeclareLaunchArgument("step", default_value="0.0", description="step [s]; 0 takes the scene's"),
            DeclareLaunchArgument("real_time_factor", default_value="1.0", description="0 is as fast as possible"),
            DeclareLaunchArgument("lockstep", default_value="false", description="take turns with the controllers"),
            DeclareLaunchArgument("record", default_value="", description="MCAP file"),
            DeclareLaunchArgument(
                "publish_robot_description", default_value="true", description="false where robot_state_publisher does it"
            ),
            DeclareLaunchArgument("use_rviz", default_value="false"),
            DeclareLaunchArgument("namespace", default_value=""),
            Node(
                package="isobar",
                executable="isobar_node",
                name="isobar",
                namespace=LaunchConfiguration("namespace"),
                output="screen",
                # The simulator is the clock: it must not wait for one.
                parameters=[
                    ParameterFile(LaunchConfiguration("params_file")),
                    {
                        "scene": argument("scene", str),
                        "stepping": argument("stepping", str),
                        "step": argument("step", float),
                        "real_time_factor": argument("real_time_factor", float),
                        "lockstep": argument("lockstep", bool),
                        "record": argument("record", str),
                        "publish_robot_description": argument("publish_robot_description", bool),
                    },
                ],
                on_exit=Shutdown(),
            ),
            Node(
                package="rviz2",
                executable="rviz2",
                # The topics of its configuration are relative.
                namespace=LaunchConfiguration("namespace"),
                arguments=["-d", PathJoinSubstitution([share, "config", "isobar.rviz"])],
                parameters=[{"use_sim_time": True}],
                condition=IfCondition(LaunchConfiguration("use_rviz")),
            ),
        ]
    )
