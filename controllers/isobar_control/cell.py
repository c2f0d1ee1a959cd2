"""Where the things of a cell stand: what a user measures once. Taken from a scene file's welded models. No ROS."""

from pathlib import Path

import numpy as np
import yaml

from .robot import MOVING, Robot, RobotError, rotation_rpy


def urdf_path(name, scene):
    if name.startswith("file://"):
        return Path(name[len("file://") :])
    if name.startswith("package://"):
        # A scene of this package lies in its folder config.
        return scene.parent.parent / name[len("package://") :].split("/", 1)[1]
    return scene.parent / name


def welded_frames(path):
    """R_WB, p_WB of each link that does not move, and (robot, R_WB, p_WB) of each model by its name."""
    scene = Path(path).resolve()
    frames, models = {"world": (np.eye(3), np.zeros(3))}, {}
    for model in yaml.safe_load(scene.read_text(encoding="utf-8"))["models"]:
        if "weld" not in model:
            continue
        weld = model["weld"] or {}
        parent = weld.get("parent", "world")
        if parent not in frames:
            raise RobotError(f"'{model['name']}' is welded to '{parent}', which moves or is not there")
        R_WP, p_WP = frames[parent]
        R_WB = R_WP @ rotation_rpy(*weld.get("rpy", [0.0, 0.0, 0.0]))
        p_WB = p_WP + R_WP @ np.array(weld.get("xyz", [0.0, 0.0, 0.0]), dtype=float)
        robot = Robot(urdf_path(model["urdf"], scene).read_text(encoding="utf-8"))
        models[model["name"]] = (robot, R_WB, p_WB)
        for link in robot.links:
            if not any(joint.kind in MOVING for joint in robot.above(link)):
                R_BL, p_BL = robot.pose(link, {})
                frames[model.get("prefix", "") + link] = (R_WB @ R_BL, p_WB + R_WB @ p_BL)
    return frames, models
