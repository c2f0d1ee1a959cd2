"""Kinematics of a robot from its URDF, differential inverse kinematics, task files and their player. ROS is
in process.py only."""
