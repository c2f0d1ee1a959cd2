"""What the controllers share: a robot's kinematics from its URDF, differential inverse kinematics, keyframes. ROS in process.py only."""
