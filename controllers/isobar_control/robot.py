"""Kinematics of a robot from its URDF: poses of links, and the Jacobian of a chain. SI units.

Rotations are 3 x 3 matrices R_AB, positions p_AB: frame B in frame A. The base frame is the root link of the
URDF.
"""

import math
import xml.etree.ElementTree as ElementTree

import numpy as np

# Speed limit of joints for which the file gives none [rad/s] or [m/s]. It is never reached.
SPEED_UNLIMITED = 1e9
MOVING = {"revolute", "continuous", "prismatic"}


class RobotError(ValueError):
    """A URDF or a name that cannot be used."""


def rotation_rpy(roll, pitch, yaw):
    """R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_about(axis, angle):
    """Rodrigues' formula; `axis` has length 1."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    d = 1.0 - c
    return np.array(
        [
            [c + x * x * d, x * y * d - z * s, x * z * d + y * s],
            [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
            [z * x * d - y * s, z * y * d + x * s, c + z * z * d],
        ]
    )


def rotation_vector(R):
    """The rotation vector: the axis times the angle [rad], from 0 to pi."""
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = math.sqrt(w @ w), 0.5 * (np.trace(R) - 1.0)
    angle = math.atan2(sine, cosine)
    if angle > math.pi - 1e-3:
        # Near half turns w vanishes. The symmetric part of R is cos I + (1 - cos) a a^T.
        aa = (0.5 * (R + R.T) - cosine * np.eye(3)) / (1.0 - cosine)
        axis = aa[:, int(np.argmax(np.diag(aa)))]
        axis = axis / np.linalg.norm(axis)
        return angle * (axis if axis @ w >= 0.0 else -axis)
    return w * (angle / sine if sine > 1e-12 else 1.0)


def vector_of(text, default):
    return np.array([float(number) for number in text.split()] if text else default)


class Joint:
    """One joint of a URDF: frame J of the joint in its parent link P, axis, limits."""

    def __init__(self, element):
        self.name = element.get("name")
        self.kind = element.get("type")
        self.parent = element.find("parent").get("link")
        self.child = element.find("child").get("link")
        origin = element.find("origin")
        pose = origin.attrib if origin is not None else {}
        self.p_PJ = vector_of(pose.get("xyz"), [0.0, 0.0, 0.0])
        self.R_PJ = rotation_rpy(*vector_of(pose.get("rpy"), [0.0, 0.0, 0.0]))
        axis = element.find("axis")
        self.axis = vector_of(axis.get("xyz") if axis is not None else None, [1.0, 0.0, 0.0])
        if self.kind in MOVING:
            self.axis = self.axis / np.linalg.norm(self.axis)
        limit = element.find("limit")
        limits = limit.attrib if limit is not None else {}
        bounded = self.kind in {"revolute", "prismatic"}
        self.lower = float(limits.get("lower", 0.0)) if bounded else -math.inf
        self.upper = float(limits.get("upper", 0.0)) if bounded else math.inf
        self.speed = float(limits.get("velocity", 0.0)) or SPEED_UNLIMITED
        mimic = element.find("mimic")
        # (leader, factor, offset)
        self.mimic = None
        if mimic is not None:
            self.mimic = (mimic.get("joint"), float(mimic.get("multiplier", 1.0)), float(mimic.get("offset", 0.0)))

    def pose(self, q):
        """R_PC, p_PC: the child link in the parent link."""
        if self.kind == "prismatic":
            return self.R_PJ, self.p_PJ + self.R_PJ @ (self.axis * q)
        if self.kind in MOVING:
            return self.R_PJ @ rotation_about(self.axis, q), self.p_PJ
        return self.R_PJ, self.p_PJ


class Robot:
    """The tree of links and joints of a URDF."""

    def __init__(self, text):
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise RobotError(f"the robot description is not XML: {error}") from error
        joints = [Joint(element) for element in root.findall("joint")]
        self.joints = {joint.name: joint for joint in joints}
        self.parent_joint = {joint.child: joint for joint in joints}
        self.links = [element.get("name") for element in root.findall("link")]

    def above(self, link):
        """The joints from the base to the link."""
        if link not in self.links:
            raise RobotError(f"the robot has no link '{link}'; there are {', '.join(self.links)}")
        joints = []
        while link in self.parent_joint:
            joints.append(self.parent_joint[link])
            link = joints[-1].parent
        return joints[::-1]

    def position(self, joint, positions):
        """The position of a joint from measured `positions` by name; a mimic joint follows its leader."""
        if joint.kind not in MOVING:
            return 0.0
        if joint.mimic is not None and joint.name not in positions:
            leader, factor, offset = joint.mimic
            return factor * positions[leader] + offset
        return positions[joint.name]

    def pose(self, link, positions):
        """R_BL, p_BL of a link in the base, joint positions by name."""
        R, p = np.eye(3), np.zeros(3)
        for joint in self.above(link):
            R_PC, p_PC = joint.pose(self.position(joint, positions))
            R, p = R @ R_PC, p + R @ p_PC
        return R, p


class Chain:
    """The joints that move one link, the tip, and the Jacobian of a frame T in it.

    T has the pose `R_LT`, `p_LT` in the link. By default T is the link's own frame. Poses are in the frame in
    which the robot's root has the pose `base`, by default in the root's own frame.
    """

    def __init__(self, robot, tip, R_LT=None, p_LT=None, base=None):
        self.tip = tip
        self.base = base if base is not None else (np.eye(3), np.zeros(3))
        self.all = robot.above(tip)
        self.joints = [joint for joint in self.all if joint.kind != "fixed"]
        for joint in self.joints:
            if joint.kind not in MOVING or joint.mimic is not None:
                raise RobotError(f"joint '{joint.name}' above '{tip}' is a mimic joint or has several axes: choose another tool")
        if not self.joints:
            raise RobotError(f"no joint moves '{tip}': choose another tool")
        self.names = [joint.name for joint in self.joints]
        self.lower = np.array([joint.lower for joint in self.joints])
        self.upper = np.array([joint.upper for joint in self.joints])
        self.speed = np.array([joint.speed for joint in self.joints])

        # The constant transforms between joints, and after the last: R_PJ, p_PJ.
        self.fixed, R, p = [], np.eye(3), np.zeros(3)
        for joint in self.all:
            R, p = R @ joint.R_PJ, p + R @ joint.p_PJ
            if joint.kind != "fixed":
                self.fixed.append((R, p))
                R, p = np.eye(3), np.zeros(3)
        self.last = (R if R_LT is None else R @ R_LT, p if p_LT is None else p + R @ p_LT)

    def forward(self, q):
        """R, p of T, and J: the rows of its (angular, linear) velocity, one column for each joint."""
        R, p = self.base
        axes, origins = np.empty((2, len(self.joints), 3))
        for i, joint in enumerate(self.joints):
            R_PJ, p_PJ = self.fixed[i]
            p = p + R @ p_PJ
            R = R @ R_PJ
            axes[i], origins[i] = R @ joint.axis, p
            if joint.kind == "prismatic":
                p = p + q[i] * axes[i]
            else:
                R = R @ rotation_about(joint.axis, q[i])
        p = p + R @ self.last[1]
        R = R @ self.last[0]
        J = np.zeros((6, len(self.joints)))
        for i, joint in enumerate(self.joints):
            (ax, ay, az), (rx, ry, rz) = axes[i], p - origins[i]
            if joint.kind == "prismatic":
                J[3:, i] = axes[i]
            else:
                J[:, i] = ax, ay, az, ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
        return R, p, J
