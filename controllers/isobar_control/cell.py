"""The poses of the bodies in a robot cell, from a scene file's welded models or from the robot alone. In a
real cell, a user measures them once.

No ROS.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from .robot import MOVING, Robot, RobotError, rotation_rpy

ORIGIN = (np.eye(3), np.zeros(3))


@dataclass
class Cell:
    """A robot, the pose (R, p) of its root in the world, and those of all fixed links, by name."""

    robot: Robot
    base: tuple
    frames: dict


def times(X_AB, X_BC):
    """The pose of C in A."""
    (R_AB, p_AB), (R_BC, p_BC) = X_AB, X_BC
    return R_AB @ R_BC, p_AB + R_AB @ p_BC


def resting_links(robot, base, prefix=""):
    """The poses of the robot's fixed links."""
    links = [link for link in robot.links if not any(joint.kind in MOVING for joint in robot.above(link))]
    return {prefix + link: times(base, robot.pose(link, {})) for link in links}


def cell_of_robot(robot):
    """A robot whose root is the world."""
    return Cell(robot, ORIGIN, {"world": ORIGIN, **resting_links(robot, ORIGIN)})


def urdf_path(name, scene):
    if name.startswith("file://"):
        return Path(name[len("file://") :])
    if name.startswith("package://"):
        # A scene of this package lies in its folder config.
        return scene.parent.parent / name[len("package://") :].split("/", 1)[1]
    return scene.parent / name


def welded_frames(path):
    """The poses of all fixed links, and (robot, pose of its root) by the names of welded models."""
    scene = Path(path).resolve()
    frames, models = {"world": ORIGIN}, {}
    for model in yaml.safe_load(scene.read_text(encoding="utf-8"))["models"]:
        if "weld" not in model:
            continue
        weld = model["weld"] or {}
        parent = weld.get("parent", "world")
        if parent not in frames:
            raise RobotError(f"'{model['name']}' is welded to '{parent}', which moves or does not exist: name a fixed link")
        place = rotation_rpy(*weld.get("rpy", [0.0, 0.0, 0.0])), np.array(weld.get("xyz", [0.0, 0.0, 0.0]), dtype=float)
        base = times(frames[parent], place)
        robot = Robot(urdf_path(model["urdf"], scene).read_text(encoding="utf-8"))
        models[model["name"]] = (robot, base)
        frames.update(resting_links(robot, base, model.get("prefix", "")))
    return frames, models


def cell_of_scene(path, body):
    """The cell of a scene file, with the welded robot that has this body."""
    frames, models = welded_frames(path)
    for robot, base in models.values():
        if body in robot.links:
            return Cell(robot, base, frames)
    raise RobotError(f"no welded robot of {path} has the link '{body}': weld the robot, or correct the tool's body")
