"""Keyframes: a task as a list of poses of a robot's tip, read from YAML, and played with guards on measured forces. No ROS.

    tip: wsg50_grasp                     # the link that is moved
    gripper: { left_joint: -1, right_joint: 1 }      # joint position = factor * opening
    feel:                                # what is measured, besides joint positions
      grip: [left_finger, right_finger]  # links with a tactile pad: the smallest of their forces
      touch: external_torques            # or a list of links: the force by which the arm is pushed
    keys:
      - { name: above, for: 2.4, to: [0.5, 0, 0.2], open: 0.05 }

A key takes `for` seconds and may say, of the tip in the robot's base frame:

    to: [x, y, z]            where it ends; without it, it stays where it is commanded
    by: [x, y, z]            the same, relative to where the key before ended
    rpy: [r, p, y]           its orientation at the end [rad]; without it, as it is
    circle: { centre: [x, y, z], axis: [0, 0, 1], turns: 1 }
    open: d                  opening of the gripper at its end [m] or [rad]
    until: { touch: 3 }      ends as soon as that much force [N] is felt (or { grip: 3 }); if it is not, the task has failed. What
                             touches at the start of the key does not count for `touch`
    needs: { grip: 5 }       what must be felt at its end; if it is not, the task has failed
    press: { along: [0, 0, -1], force: 10 }          held force [N]: the tip gives way or follows along that direction

Positions and openings go from key to key as 3 s^2 - 2 s^3, so that they rest at each key.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import yaml

from .robot import rotation_about, rotation_rpy, rotation_vector

# Of `press`: speed for an error of force [m/s/N], the fastest [m/s], and how far from the path the tip may get [m].
PRESS_GAIN = 0.003
PRESS_SPEED_MAX = 0.03
PRESS_TRAVEL_MAX = 0.06
# Keys of a file and of its parts, all that are known.
FILE_KEYS = {"tip", "gripper", "feel", "keys"}
KEY_KEYS = {"name", "for", "to", "by", "rpy", "circle", "open", "until", "needs", "press"}
SENSES = {"touch", "grip"}


class KeyframeError(ValueError):
    """A file of keyframes that cannot be played."""


@dataclass
class Key:
    name: str
    duration: float
    to: np.ndarray | None = None
    by: np.ndarray | None = None
    R: np.ndarray | None = None
    circle: dict | None = None
    opening: float | None = None
    until: dict = field(default_factory=dict)
    needs: dict = field(default_factory=dict)
    press: dict | None = None


@dataclass
class Task:
    tip: str
    gripper: dict
    grip: list
    touch: list | str
    keys: list


def unknown(found, known, where):
    for name in found:
        if name not in known:
            raise KeyframeError(f"{where}: unknown key '{name}'; there are {', '.join(sorted(known))}")


def vector(value, where):
    try:
        out = np.array(value, dtype=float)
    except (TypeError, ValueError):
        out = np.array([])
    if out.shape != (3,) or not np.isfinite(out).all():
        raise KeyframeError(f"{where}: {value!r} is not three numbers")
    return out


def number(value, where, lowest=-math.inf):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < lowest:
        raise KeyframeError(f"{where}: {value!r} is not a number" + (f" of at least {lowest}" if lowest > -math.inf else ""))
    return float(value)


def felt(value, where):
    value = value or {}
    unknown(value, SENSES, where)
    return {sense: number(limit, f"{where}, {sense}", 0.0) for sense, limit in value.items()}


def read_key(entry, place):
    where = f"key {place + 1}"
    if not isinstance(entry, dict) or "name" not in entry or "for" not in entry:
        raise KeyframeError(f"{where}: a key has at least `name` and `for`")
    where = f"key '{entry['name']}'"
    unknown(entry, KEY_KEYS, where)
    if sum(name in entry for name in ("to", "by", "circle")) > 1:
        raise KeyframeError(f"{where}: `to`, `by` and `circle` exclude each other")
    key = Key(str(entry["name"]), number(entry["for"], f"{where}, for", 1e-3))
    key.to = vector(entry["to"], f"{where}, to") if "to" in entry else None
    key.by = vector(entry["by"], f"{where}, by") if "by" in entry else None
    key.R = rotation_rpy(*vector(entry["rpy"], f"{where}, rpy")) if "rpy" in entry else None
    key.opening = number(entry["open"], f"{where}, open") if "open" in entry else None
    key.until, key.needs = felt(entry.get("until"), f"{where}, until"), felt(entry.get("needs"), f"{where}, needs")
    if "circle" in entry:
        circle = entry["circle"]
        unknown(circle, {"centre", "axis", "turns"}, f"{where}, circle")
        axis = vector(circle.get("axis", [0, 0, 1]), f"{where}, axis")
        key.circle = {
            "centre": vector(circle.get("centre"), f"{where}, centre"),
            "axis": axis / np.linalg.norm(axis),
            "angle": 2.0 * math.pi * number(circle.get("turns", 1), f"{where}, turns"),
        }
    if "press" in entry:
        press = entry["press"]
        unknown(press, {"along", "force"}, f"{where}, press")
        along = vector(press.get("along"), f"{where}, along")
        key.press = {"along": along / np.linalg.norm(along), "force": number(press.get("force"), f"{where}, force", 0.0)}
    return key


def read_task(text):
    """A task from the text of a YAML file."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise KeyframeError(f"not YAML: {error}") from error
    if not isinstance(content, dict) or "tip" not in content or not content.get("keys"):
        raise KeyframeError("a file of keyframes has at least `tip` and `keys`")
    unknown(content, FILE_KEYS, "file")
    feel = content.get("feel") or {}
    unknown(feel, SENSES, "feel")
    keys = [read_key(entry, place) for place, entry in enumerate(content["keys"])]
    for key in keys:
        for sense in [*key.until, *key.needs, *(["touch"] if key.press else [])]:
            if not feel.get(sense):
                raise KeyframeError(f"key '{key.name}' needs `feel: {sense}`")
    gripper = {joint: number(factor, f"gripper, {joint}") for joint, factor in (content.get("gripper") or {}).items()}
    return Task(content["tip"], gripper, feel.get("grip") or [], feel.get("touch") or [], keys)


def smooth(s):
    return s * s * (3.0 - 2.0 * s)


@dataclass
class Target:
    """Where the tip is to be, and the gripper."""

    R: np.ndarray
    p: np.ndarray
    opening: float


class Player:
    """Plays a task from tick to tick. `phase` is the key at hand, at the end `done`, or `failed: ` and the reason."""

    def __init__(self, task, R, p, opening):
        self.task = task
        self.target = Target(R, p, opening)
        self.number = -1
        self.phase = ""
        self.ended = False
        # What is felt: force on the tip in base axes [N], smallest force of the pads [N].
        self.force = np.zeros(3)
        self.grip = 0.0
        self.pressed = 0.0
        self.next_key()

    @property
    def touch(self):
        """Force felt since the key began [N]."""
        return float(np.linalg.norm(self.force - self.tare))

    def next_key(self):
        self.number += 1
        self.elapsed = 0.0
        self.tare = self.force.copy()
        self.start = self.target
        if self.number >= len(self.task.keys):
            self.end("done")
            return
        key = self.task.keys[self.number]
        self.phase = key.name
        # Pressing goes on from key to key; without it, the path starts where the tip was pressed to.
        if not key.press:
            self.pressed = 0.0
        else:
            self.start = Target(self.start.R, self.start.p - self.pressed * key.press["along"], self.start.opening)
        R, p = self.start.R, self.start.p
        p_end = key.to if key.to is not None else p + key.by if key.by is not None else p
        self.finish = Target(R if key.R is None else key.R, p_end, self.start.opening if key.opening is None else key.opening)
        self.turn = rotation_vector(self.finish.R @ R.T)

    def end(self, phase):
        self.phase, self.ended = phase, True

    def senses(self):
        return {"touch": self.touch, "grip": self.grip}

    def feels(self, wanted):
        senses = self.senses()
        return all(senses[sense] >= limit for sense, limit in wanted.items())

    def tick(self, dt, force, grip):
        """The target a time `dt` [s] later, after what is felt now."""
        self.force, self.grip = np.asarray(force, dtype=float), float(grip)
        if self.ended:
            return self.target
        key = self.task.keys[self.number]
        stopped = bool(key.until) and self.feels(key.until)
        if stopped or self.elapsed >= key.duration - 1e-9:
            if key.until and not stopped:
                self.end(f"failed: {key.name}: {self.told(key.until)} within {key.duration:g} s")
            elif not self.feels(key.needs):
                self.end(f"failed: {key.name}: {self.told(key.needs)}")
            else:
                self.next_key()
            if self.ended:
                return self.target
            key = self.task.keys[self.number]
        self.elapsed += dt
        self.target = self.at(key, smooth(min(self.elapsed / key.duration, 1.0)), dt)
        return self.target

    def told(self, wanted):
        senses = self.senses()
        return " and ".join(f"{senses[sense]:.2f} N of {sense}, not {limit:g} N" for sense, limit in wanted.items())

    def at(self, key, part, dt):
        angle = float(np.linalg.norm(self.turn))
        R = self.start.R if angle < 1e-12 else rotation_about(self.turn / angle, part * angle) @ self.start.R
        p = self.start.p + part * (self.finish.p - self.start.p)
        if key.circle:
            centre = key.circle["centre"]
            p = centre + rotation_about(key.circle["axis"], part * key.circle["angle"]) @ (self.start.p - centre)
        if key.press:
            # The force on the tip is against the direction in which it presses.
            missing = key.press["force"] + float(self.force @ key.press["along"])
            speed = np.clip(PRESS_GAIN * missing, -PRESS_SPEED_MAX, PRESS_SPEED_MAX)
            self.pressed = float(np.clip(self.pressed + speed * dt, -PRESS_TRAVEL_MAX, PRESS_TRAVEL_MAX))
            p = p + self.pressed * key.press["along"]
        return Target(R, p, self.start.opening + part * (self.finish.opening - self.start.opening))
