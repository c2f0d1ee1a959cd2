"""The spatula scene with its grip controller, robot_state_publisher and RViz.

ros2 launch isobar spatula_slip.launch.py [scene:=FILE] [real_time_factor:=1.0] [use_rviz:=true] [namespace:=NAME]
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    share = FindPackageShare("isobar")
    scene = LaunchConfiguration("scene")
    urdf = PathJoinSubstitution([share, "urdf", "wsg50_bubble_gripper.urdf"])
    # Topics of the simulator's own lie under its full name.
    namespace = LaunchConfiguration("namespace")
    simulator = PythonExpression(["('", namespace, "'.strip('/') + '/isobar').lstrip('/')"])
    on_simulated_time = {"use_sim_time": True}
    return LaunchDescription(
        [
            DeclareLaunchArgument("scene", default_value=PathJoinSubstitution([share, "config", "spatula_slip.yaml"])),
            DeclareLaunchArgument("real_time_factor", default_value="1.0", description="0 is as fast as possible"),
            DeclareLaunchArgument("use_rviz", default_value="true"),
            DeclareLaunchArgument("namespace", default_value=""),
            GroupAction(
                [
                    PushRosNamespace(namespace),
                    Node(
                        package="isobar",
                        executable="isobar_node",
                        name="isobar",
                        output="screen",
                        # The simulator is the clock: it must not wait for one.
                        parameters=[
                            {
                                "scene": ParameterValue(scene, value_type=str),
                                "real_time_factor": ParameterValue(LaunchConfiguration("real_time_factor"), value_type=float),
                            }
                        ],
                        on_exit=Shutdown(),
                    ),
                    Node(
                        package="isobar",
                        executable="grip_controller.py",
                        name="grip_controller",
                        output="screen",
                        parameters=[on_simulated_time, {"simulator": ParameterValue(simulator, value_type=str)}],
                    ),
                    Node(
                        package="robot_state_publisher",
                        executable="robot_state_publisher",
                        parameters=[
                            on_simulated_time,
                            {"robot_description": ParameterValue(Command(["cat ", urdf]), value_type=str)},
                        ],
                    ),
                    # Where the scene welds the gripper.
                    Node(
                        package="tf2_ros",
                        executable="static_transform_publisher",
                        arguments="--z 0.25 --pitch -1.57 --frame-id world --child-frame-id gripper".split(),
                    ),
                ]
            ),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", PathJoinSubstitution([share, "config", "isobar.rviz"])],
                parameters=[on_simulated_time],
                condition=IfCondition(LaunchConfiguration("use_rviz")),
            ),
        ]
    )
