"""What the controllers share: a robot's kinematics from its URDF, differential inverse kinematics, keyframes. No ROS in here."""
