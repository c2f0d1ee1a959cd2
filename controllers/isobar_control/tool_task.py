"""A task with a tool in two soft fingers, read from YAML and played by what the pads feel. No ROS.

The file (config/tasks) places a frame of the tool, given in the body that holds it, in frames of the cell. The fingers open by position and
close by force. What ends a keyframe, besides its time: `grip` (the pads hold for that long), `load` (they have carried the tool's
weight for that long), `touch` (the vertical force on them has changed by that much). A grasp that does not hold is tried again.
"""

import math
from types import SimpleNamespace

import numpy as np
import yaml

from .keyframes import KeyframeError
from .robot import rotation_about, rotation_rpy, rotation_vector

# Of the vertical force on the pads [s].
FILTER_TIME = 0.02
# So far from its end a keyframe may end [m] or [rad]; until then it goes on for OVERTIME times its duration at most.
POSE_TOLERANCE = 2e-3
OVERTIME = 3.0
# Of the grip: the integral is at most this part of the wanted force, and counts from this part of it on [-]; springs are damped by
# this time times their stiffness [s].
INTEGRAL_LIMIT = 0.3
SETTLED = 0.7
DAMPING_TIME = 0.02


def read_tool_task(text):
    try:
        content = yaml.safe_load(text)
        task = SimpleNamespace(**{part: SimpleNamespace(**content[part]) for part in ("arm", "tool", "fingers")})
        task.keyframes = [SimpleNamespace(**keyframe) for keyframe in content["keyframes"]]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise KeyframeError(f"not a task of arm, tool, fingers and keyframes: {error}") from error
    for keyframe in task.keyframes:
        defaults = {"frame": None, "xyz": [0, 0, 0], "rpy": [0, 0, 0], "point": [0, 0, 0], "until": None, "from_touch": False}
        keyframe.__dict__.update({name: value for name, value in defaults.items() if name not in keyframe.__dict__})
        if not keyframe.duration > 0.0 or keyframe.grip not in ("open", "closed"):
            raise KeyframeError(f"keyframe '{keyframe.name}': duration must be positive, and grip open or closed")
    return task


class Grip:
    """Efforts of two fingers: open by position, closed by force with an integral of the measured error."""

    def __init__(self, fingers):
        self.fingers = fingers
        self.axis = np.array(fingers.axis, dtype=float)
        self.force = self.integral = 0.0

    def felt(self, pads):
        """How hard the pads are pressed, the mean of both [N]; `pads` are their forces in their own axes."""
        return 0.5 * float((pads[1] - pads[0]) @ self.axis)

    def efforts(self, closed, states, pads, dt):
        """For the next `dt` [s]; `states` are (position, velocity) of the fingers."""
        fingers = self.fingers
        spring = lambda stiffness, error, velocity: stiffness * (error - DAMPING_TIME * velocity)
        if not closed:
            self.force = self.integral = 0.0
            targets = (-fingers.open, fingers.open)
            return [spring(fingers.stiffness, target - q, v) for target, (q, v) in zip(targets, states)]
        self.force = min(self.force + fingers.ramp * dt, fingers.force)
        felt = self.felt(pads)
        if felt > SETTLED * fingers.force:
            limit = INTEGRAL_LIMIT * fingers.force
            self.integral = min(max(self.integral + fingers.integral * (self.force - felt) * dt, -limit), limit)
        middle, drift = (0.5 * (states[0][i] + states[1][i]) for i in (0, 1))
        back, close = spring(fingers.centering, -middle, drift), self.force + self.integral
        return [close + back, -close + back]


class ToolPlayer:
    """Plays a task. Poses are in the robot's base frame, which stands upright; `frames`: R, p of each frame of the cell in it."""

    def __init__(self, task, frames, R, p):
        self.task, self.frames = task, frames
        self.R, self.p = R, p
        self.load = self.touch_height = 0.0
        self.retries = 0
        self.phase = ""
        self.ended = False
        for keyframe in task.keyframes:
            if keyframe.frame is not None and keyframe.frame not in frames:
                raise KeyframeError(f"keyframe '{keyframe.name}': the cell has no frame '{keyframe.frame}'")
        self.begin(0)

    def begin(self, number):
        self.number, self.path_time, self.elapsed, self.held = number, 0.0, 0.0, 0.0
        self.start = self.R, self.p
        self.load_before = self.load
        if number >= len(self.task.keyframes):
            self.end("done")
        else:
            self.phase = self.task.keyframes[number].name

    def end(self, phase):
        self.phase, self.ended = phase, True

    @property
    def keyframe(self):
        return self.task.keyframes[min(self.number, len(self.task.keyframes) - 1)]

    def finish(self):
        """R, p of the tool at the end of the keyframe."""
        keyframe = self.keyframe
        if keyframe.frame is None:
            return self.start
        R_F, p_F = self.frames[keyframe.frame]
        R_FT = rotation_rpy(*keyframe.rpy)
        p = p_F + R_F @ (np.array(keyframe.xyz, dtype=float) - R_FT @ np.array(keyframe.point, dtype=float))
        if keyframe.from_touch:
            p = p + np.array([0.0, 0.0, self.touch_height - p_F[2]])
        return R_F @ R_FT, p

    def target(self, dt):
        """R, p of the tool a time `dt` [s] later: its point moves in a straight line, at constant speed where it is to touch."""
        keyframe = self.keyframe
        x = min((self.path_time + dt) / keyframe.duration, 1.0)
        part = x if "touch" in (keyframe.until or {}) else x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        (R0, p0), (R1, p1) = self.start, self.finish()
        point = np.array(keyframe.point, dtype=float)
        turn = rotation_vector(R1 @ R0.T)
        angle = float(np.linalg.norm(turn))
        R = rotation_about(turn / angle, part * angle) @ R0 if angle > 1e-12 else R0
        begin, finish = p0 + R0 @ point, p1 + R1 @ point
        return R, begin + part * (finish - begin) - R @ point

    def moved(self, R, p, part, load, force, dt):
        """The tool is now commanded at R, p after that part of the way; `load` and `force`: vertical and closing force felt [N]."""
        self.load += (load - self.load) * dt / (FILTER_TIME + dt)
        if self.ended:
            return
        self.R, self.p = R, p
        self.path_time += dt * part
        self.elapsed += dt
        self.decide(force, dt)

    def decide(self, force, dt):
        keyframe, fingers = self.keyframe, self.task.fingers
        (kind, value), = (keyframe.until or {None: math.inf}).items()
        late = self.elapsed > (1.0 + OVERTIME) * keyframe.duration
        met = {
            "grip": force >= fingers.holds,
            "load": fingers.load[0] <= -self.load <= fingers.load[1],
            "touch": self.load - self.load_before > value,
            None: False,
        }[kind]
        self.held = self.held + dt if met else 0.0
        if keyframe.grip == "closed" and kind != "grip" and force < fingers.holds:
            self.try_again(force)
        elif met and (kind == "touch" or self.held >= value):
            if kind == "touch":
                self.touch_height = self.p[2]
            self.begin(self.number + 1)
        elif self.path_time >= keyframe.duration - 1e-9 or late:
            self.run_out(kind, force, late)

    def run_out(self, kind, force, late):
        """A keyframe's time is over."""
        name = self.keyframe.name
        if kind in ("grip", "load"):
            self.try_again(force)
            return
        if kind == "touch":
            self.end(f"failed: {name}: it touched nothing")
            return
        R, p = self.finish()
        error = max(np.abs(rotation_vector(R @ self.R.T)).max(), np.abs(p - self.p).max())
        if error <= POSE_TOLERANCE:
            self.begin(self.number + 1)
        elif late:
            self.end(f"failed: {name}: out of reach by {error:.1e} m or rad")

    def try_again(self, force):
        if self.retries >= self.task.fingers.retries:
            what = f"the grasp does not hold: pad force {force:.1f} N, load {-self.load:.2f} N, after {self.retries} retries"
            self.end(f"failed: {self.keyframe.name}: {what}")
            return
        self.retries += 1
        self.begin(0)
