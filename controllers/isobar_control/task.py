"""The file of a task: arm, tool, gripper and keyframes. docs/reference/task-files.md explains the keys. No
ROS.

The program reads the same files by the same rules (src/experiments/keyframes/task.rs).
"""

import math
from dataclasses import dataclass, field

import numpy as np
import yaml

EXTERNAL_TORQUES = "external_torques"
SENSES = ("grip", "load", "touch")
# A vector with a length of at most this has no direction [-].
DIRECTION_MIN = 1e-9


class TaskError(ValueError):
    """A task file that cannot be used."""


def unknown(found, known, where):
    if not isinstance(found, dict):
        raise TaskError(f"{where}: {found!r} is not a list of keys with values")
    for name in found:
        if name not in known:
            raise TaskError(f"{where}: unknown key '{name}'; there are {', '.join(sorted(known))}")


def vector(value, where):
    try:
        out = np.array(value, dtype=float)
    except (TypeError, ValueError):
        out = np.array([])
    if out.shape != (3,) or not np.isfinite(out).all():
        raise TaskError(f"{where}: {value!r} is not three numbers")
    return out


def direction(value, where):
    out = vector(value, where)
    if not np.linalg.norm(out) > DIRECTION_MIN:
        raise TaskError(f"{where}: {value!r} has no direction")
    return out / np.linalg.norm(out)


def number(value, where, lowest=-math.inf):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < lowest:
        raise TaskError(f"{where}: {value!r} is not a number" + (f" of at least {lowest}" if lowest > -math.inf else ""))
    return float(value)


def positive(value, where):
    if number(value, where) <= 0.0:
        raise TaskError(f"{where} must be positive")
    return float(value)


def part_linear(s):
    return s


def part_cubic(s):
    return s * s * (3.0 - 2.0 * s)


def part_quintic(s):
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


# The fraction of the path as a function of the fraction of the duration.
TIME_SCALINGS = {"linear": part_linear, "cubic": part_cubic, "quintic": part_quintic}


def time_scaling(value, where):
    if value not in TIME_SCALINGS:
        raise TaskError(f"{where}: unknown time_scaling '{value}'; there are {', '.join(TIME_SCALINGS)}")
    return TIME_SCALINGS[value]


@dataclass
class Finger:
    joint: str
    factor: float
    pad: str | None = None


@dataclass
class ForceControl:
    """Force control of two fingers that close against each other; task.rs describes the numbers
    (ForceControl)."""

    axis: np.ndarray
    stiffness: float
    centering: float
    ramp: float
    integral: float
    holds: float


@dataclass
class Condition:
    """A measured force: `sense` is grip, load or touch; `limit` a force [N] or, for load, a range."""

    sense: str
    limit: float | tuple
    along: np.ndarray | None = None
    duration: float = 0.0


@dataclass
class Keyframe:
    name: str
    duration: float
    frame: str | None = None
    xyz: np.ndarray | None = None
    by: np.ndarray | None = None
    circle: dict | None = None
    rpy: np.ndarray | None = None
    point: np.ndarray = field(default_factory=lambda: np.zeros(3))
    time_scaling: object = None
    open: float | None = None
    close: float | None = None
    press: dict | None = None
    until: Condition | None = None
    needs: Condition | None = None
    from_touch: bool = False
    event: str | None = None


@dataclass
class Task:
    joints: list
    speed: float
    tool: str
    tool_xyz: np.ndarray
    tool_rpy: np.ndarray
    frame: str | None
    fingers: list
    force_control: ForceControl | None
    touch: list | str | None
    retries: int
    keyframes: list

    def sensing_bodies(self):
        """The bodies whose contact forces are measured: pads, then those of `touch`; each once."""
        touch = self.touch if isinstance(self.touch, list) else []
        return list(dict.fromkeys([*[finger.pad for finger in self.fingers if finger.pad], *touch]))


def read_condition(entry, where):
    unknown(entry, {*SENSES, "along", "for"}, where)
    found = [sense for sense in SENSES if sense in entry]
    if len(found) != 1:
        raise TaskError(f"{where}: a condition has one of grip, load and touch")
    (sense,) = found
    if "along" in entry and sense != "touch":
        raise TaskError(f"{where}: `along` is for `touch` only: remove it")
    along = direction(entry["along"], f"{where}, along") if "along" in entry else None
    limit = entry[sense]
    if sense == "load":
        if not isinstance(limit, list) or len(limit) != 2 or not number(limit[0], where) < number(limit[1], where):
            raise TaskError(f"{where}, load: {limit!r} is not a range [lowest, highest]")
        limit = (float(limit[0]), float(limit[1]))
    else:
        limit = positive(limit, f"{where}, {sense}")
    return Condition(sense, limit, along, number(entry.get("for", 0.0), f"{where}, for", 0.0))


def read_keyframe(entry, index, task):
    where = f"keyframe {index + 1}"
    if not isinstance(entry, dict) or "name" not in entry or "duration" not in entry:
        raise TaskError(f"{where}: a keyframe has at least `name` and `duration`")
    where = f"keyframe '{entry['name']}'"
    unknown(entry, set(Keyframe.__dataclass_fields__), where)
    keyframe = Keyframe(str(entry["name"]), positive(entry["duration"], f"{where}: duration"))
    keyframe.frame = entry.get("frame")
    for name in ("xyz", "by", "rpy", "point"):
        if name in entry:
            setattr(keyframe, name, vector(entry[name], f"{where}, {name}"))
    if sum(name in entry for name in ("xyz", "by", "circle")) > 1:
        raise TaskError(f"{where}: xyz, by and circle exclude each other: keep one")
    if any(name in entry for name in ("xyz", "by", "circle", "rpy")) and not (keyframe.frame or task.frame):
        raise TaskError(f"{where}: name the frame of its pose: `frame`")
    if "circle" in entry:
        circle = entry["circle"]
        unknown(circle, {"centre", "axis", "turns"}, f"{where}, circle")
        keyframe.circle = {
            "centre": vector(circle.get("centre"), f"{where}, centre"),
            "axis": direction(circle.get("axis", [0, 0, 1]), f"{where}, axis"),
            "angle": 2.0 * math.pi * number(circle.get("turns", 1), f"{where}, turns"),
        }
    if "press" in entry:
        press = entry["press"]
        unknown(press, {"along", "force"}, f"{where}, press")
        along, force = direction(press.get("along"), f"{where}, along"), number(press.get("force"), f"{where}, force", 0.0)
        keyframe.press = {"along": along, "force": force}
        if not task.touch:
            raise TaskError(f"{where}: press needs `touch`")
    if "time_scaling" in entry:
        keyframe.time_scaling = time_scaling(entry["time_scaling"], where)
    read_grip(keyframe, entry, where, task)
    for name in ("until", "needs"):
        if name in entry:
            condition = read_condition(entry[name], f"{where}, {name}")
            sensed = any(finger.pad for finger in task.fingers) if condition.sense == "grip" else task.touch
            if not sensed:
                raise TaskError(f"{where}: grip needs fingers with a pad; touch and load need `touch`")
            setattr(keyframe, name, condition)
    if keyframe.needs and keyframe.needs.duration:
        raise TaskError(f"{where}: needs: `for` belongs to `until`")
    keyframe.from_touch, keyframe.event = bool(entry.get("from_touch", False)), entry.get("event")
    return keyframe


def read_grip(keyframe, entry, where, task):
    if "open" in entry and "close" in entry:
        raise TaskError(f"{where}: open and close exclude each other: keep one")
    if "open" in entry:
        keyframe.open = number(entry["open"], f"{where}, open")
    if "close" in entry:
        keyframe.close = positive(entry["close"], f"{where}: close")
        if task.force_control is None:
            raise TaskError(f"{where}: close needs the gripper's force_control")
        if keyframe.close <= task.force_control.holds:
            raise TaskError(f"{where}: close must be above the holding force of force_control")


def read_gripper(content):
    unknown(content, {"fingers", "force_control"}, "gripper")
    fingers = []
    for entry in content.get("fingers") or []:
        unknown(entry, {"joint", "factor", "pad"}, "gripper, fingers")
        fingers.append(Finger(entry["joint"], number(entry["factor"], f"gripper, {entry['joint']}"), entry.get("pad")))
        if fingers[-1].factor == 0.0:
            raise TaskError("gripper: factors must not be zero")
    control = content.get("force_control")
    if control is None:
        return fingers, None
    unknown(control, set(ForceControl.__dataclass_fields__), "gripper, force_control")
    if len(fingers) != 2 or not all(finger.pad for finger in fingers):
        raise TaskError("gripper: force control is for two fingers with a pad each")
    gains = {name: positive(control[name], f"force_control: {name}") for name in ForceControl.__dataclass_fields__ if name != "axis"}
    return fingers, ForceControl(vector(control["axis"], "force_control, axis"), **gains)


def read_touch(content):
    if content is None or content == EXTERNAL_TORQUES:
        return content
    if not isinstance(content, dict):
        raise TaskError(f"touch: {content!r} is neither {EXTERNAL_TORQUES} nor links")
    unknown(content, {"links"}, "touch")
    return list(content["links"])


def read_task(text):
    """A task from the text of a YAML file."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise TaskError(f"not YAML: {error}") from error
    try:
        unknown(content, {"arm", "tool", "frame", "time_scaling", "gripper", "touch", "retries", "keyframes"}, "file")
        arm, tool = content["arm"], content["tool"]
        unknown(arm, {"joints", "speed"}, "arm")
        unknown(tool, {"body", "xyz", "rpy"}, "tool")
        fingers, control = read_gripper(content.get("gripper") or {})
        speed = positive(arm.get("speed", 1.0), "arm: speed")
        if speed > 1.0 or not arm["joints"]:
            raise TaskError("arm: joints must be named, and speed must be above 0 and at most 1")
        place = [vector(tool.get(name, [0, 0, 0]), f"tool, {name}") for name in ("xyz", "rpy")]
        retries = int(number(content.get("retries", 0), "retries", 0))
        head = [list(arm["joints"]), speed, tool["body"], *place, content.get("frame"), fingers, control]
        task = Task(*head, read_touch(content.get("touch")), retries, [])
        common = time_scaling(content.get("time_scaling", "quintic"), "file")
        if not content["keyframes"]:
            raise TaskError("keyframes: there must be at least one")
        task.keyframes = [read_keyframe(entry, index, task) for index, entry in enumerate(content["keyframes"])]
        for keyframe in task.keyframes:
            keyframe.time_scaling = keyframe.time_scaling or common
    except KeyError as error:
        raise TaskError(f"key {error} is missing") from error
    return task
