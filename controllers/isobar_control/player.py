"""The controller of a task: it follows the keyframes and uses measured forces for its decisions. No ROS.

The equations are those of src/experiments/keyframes. tests/it/controllers.rs compares the commands of both.
"""

import math
from dataclasses import dataclass

import numpy as np

from .motion import DifferentialInverse
from .robot import Chain, rotation_about, rotation_rpy, rotation_vector
from .task import EXTERNAL_TORQUES, TaskError

# A keyframe ends when the arm is this near to its pose [m] or [rad]. An arm that is farther away at the end
# of the duration continues for at most OVERTIME times the duration.
POSE_TOLERANCE = 2e-3
OVERTIME = 3.0
# Contact forces pass a low-pass filter with this time constant before they are compared [s].
FILTER_TIME = 0.02
# Singular values of J below this part of the largest one are not used for an estimate of force [-].
FORCE_SINGULAR = 0.02
# For `press`: speed per force error [m/s/N], largest speed [m/s], and largest distance of the tool from its
# path [m].
PRESS_GAIN = 0.003
PRESS_SPEED_MAX = 0.03
PRESS_TRAVEL_MAX = 0.06
# For force control: the largest integral, and the force from which the integral starts, as parts of the
# wanted force [-]; the damping of the springs over their stiffness [s].
INTEGRAL_LIMIT = 0.3
SETTLED = 0.7
DAMPING_TIME = 0.02


def clamp(value, lowest, highest):
    return min(max(value, lowest), highest)


@dataclass
class Measurement:
    """Positions, velocities and contact torques of joints, by name; contact forces on bodies, by name, in
    their axes [N]."""

    positions: dict
    velocities: dict
    forces: dict
    external_torques: dict


class Grip:
    """Efforts of two fingers: open by position, closed by force with an integral of the measured error."""

    def __init__(self, fingers, control):
        self.fingers, self.control = fingers, control
        self.force = self.integral = 0.0

    def felt(self, forces):
        """The mean force that presses the pads [N]; `forces` are in the pads' axes."""
        along = [math.copysign(1.0, finger.factor) * float(f @ self.control.axis) for finger, f in zip(self.fingers, forces)]
        return 0.5 * sum(along)

    def efforts(self, opening, force, states, felt, dt):
        """The efforts for the next `dt` [s]: towards an opening [m] or, if that is None, closing with a force
        [N].

        `states` are (position, velocity) of the fingers.
        """
        control = self.control

        def spring(stiffness, error, velocity):
            return stiffness * (error - DAMPING_TIME * velocity)

        if opening is not None:
            self.force = self.integral = 0.0
            pairs = zip(self.fingers, states)
            return [spring(control.stiffness, finger.factor * opening - q, v) for finger, (q, v) in pairs]
        self.force = min(self.force + control.ramp * dt, force)
        if felt > SETTLED * force:
            limit = INTEGRAL_LIMIT * force
            self.integral = clamp(self.integral + control.integral * (self.force - felt) * dt, -limit, limit)
        middle, drift = (0.5 * (states[0][i] + states[1][i]) for i in (0, 1))
        back, close = spring(control.centering, -middle, drift), self.force + self.integral
        return [-math.copysign(1.0, finger.factor) * close + back for finger in self.fingers]


class Path:
    """The path of the tool in one keyframe, starting from R, p. Frame F of the keyframe: R_WF, p_WF."""

    def __init__(self, keyframe, frame, R, p, pressed, touch_height):
        self.keyframe, (self.R_WF, p_WF) = keyframe, frame
        # The press offset continues from keyframe to keyframe. Without `press` the path begins at the pressed
        # pose.
        self.pressed = pressed if keyframe.press else 0.0
        self.along = self.R_WF @ keyframe.press["along"] if keyframe.press else np.zeros(3)
        self.R = R
        self.start = p - self.along * self.pressed + R @ keyframe.point
        self.turn = np.zeros(3)
        if keyframe.rpy is not None:
            self.turn = rotation_vector(self.R_WF @ rotation_rpy(*keyframe.rpy) @ R.T)
        self.finish = self.start
        if keyframe.xyz is not None:
            self.finish = p_WF + self.R_WF @ keyframe.xyz
        elif keyframe.by is not None:
            self.finish = self.start + self.R_WF @ keyframe.by
        if keyframe.from_touch:
            self.finish = self.finish + np.array([0.0, 0.0, touch_height - p_WF[2]])
        if keyframe.circle:
            self.centre = p_WF + self.R_WF @ keyframe.circle["centre"]
            self.axis = self.R_WF @ keyframe.circle["axis"]

    def part(self, time):
        """Part of the path at a time since its start [s]."""
        return self.keyframe.time_scaling(clamp(time / self.keyframe.duration, 0.0, 1.0))

    def press(self, force, dt):
        """Moves the press offset for `dt` [s] if a force is held; `force` is the contact force on the tool
        [N]."""
        if self.keyframe.press:
            # The force on the tool is opposite to the direction in which the tool presses.
            missing = self.keyframe.press["force"] + float(force @ self.along)
            speed = clamp(PRESS_GAIN * missing, -PRESS_SPEED_MAX, PRESS_SPEED_MAX)
            self.pressed = clamp(self.pressed + speed * dt, -PRESS_TRAVEL_MAX, PRESS_TRAVEL_MAX)

    def at(self, part):
        """R, p of the tool at a part of the path."""
        angle = float(np.linalg.norm(self.turn))
        R = rotation_about(self.turn / angle, part * angle) @ self.R if angle > 1e-12 else self.R
        point = self.start + part * (self.finish - self.start)
        if self.keyframe.circle:
            turn = rotation_about(self.axis, part * self.keyframe.circle["angle"])
            point = self.centre + turn @ (self.start - self.centre)
        return R, point + self.along * self.pressed - R @ self.keyframe.point


class Player:
    """Plays a task in a cell. `phase` is the present keyframe, at the end `done`, or `failed: ` and the
    reason."""

    def __init__(self, task, cell, positions):
        self.task, self.cell = task, cell
        robot = cell.robot
        self.chain = Chain(robot, task.tool, rotation_rpy(*task.tool_rpy), task.tool_xyz, cell.base)
        self.body = Chain(robot, task.tool, base=cell.base)
        if self.chain.names != list(task.joints):
            raise TaskError(f"arm: list the joints that move '{task.tool}': {', '.join(self.chain.names)}")
        for link in task.sensing_bodies():
            robot.above(link)
        self.frames = [self.frame_of(keyframe) for keyframe in task.keyframes]
        self.arm = DifferentialInverse(self.chain, [positions[name] for name in self.chain.names], task.speed)
        self.grip = Grip(task.fingers, task.force_control) if task.force_control else None
        openings = [positions[finger.joint] / finger.factor for finger in task.fingers]
        # The wanted opening (None if a force is wanted), and the commanded opening.
        self.open = self.opening = self.opening_before = sum(openings) / max(len(openings), 1)
        self.close = self.opening_rate = 0.0
        # Contact force on the tool in world axes [N], grip force [N].
        self.force, self.felt = np.zeros(3), 0.0
        self.path, self.touch_height, self.retries = None, 0.0, 0
        self.phase, self.ended = "", False
        R, p, _ = self.chain.forward(self.arm.q)
        self.target = R, p
        self.begin(0)
        # The target of the fingers in this tick: opening or force as above.
        self.gripping = self.open, self.close

    def frame_of(self, keyframe):
        name = keyframe.frame or self.task.frame or "world"
        if name not in self.cell.frames:
            raise TaskError(f"keyframe '{keyframe.name}': the cell has no fixed frame '{name}'; there are {', '.join(self.cell.frames)}")
        return self.cell.frames[name]

    @property
    def load(self):
        """The downward force of the tool on the fingers that hold it [N]."""
        return -float(self.force[2])

    @property
    def keyframe(self):
        return self.task.keyframes[self.number]

    def begin(self, number):
        self.number, self.path_time, self.elapsed, self.held = number, 0.0, 0.0, 0.0
        self.force_before, self.opening_before = self.force, self.opening
        if number >= len(self.task.keyframes):
            self.end("done")
            return
        keyframe = self.keyframe
        R, p, _ = self.chain.forward(self.arm.q)
        pressed = self.path.pressed if self.path else 0.0
        self.path = Path(keyframe, self.frames[number], R, p, pressed, self.touch_height)
        if keyframe.open is not None:
            self.open = keyframe.open
        elif keyframe.close is not None:
            self.open, self.close = None, keyframe.close
        self.phase = keyframe.name

    def end(self, phase):
        self.phase, self.ended = phase, True

    def sense(self, measured, dt):
        """Reads the measurements taken `dt` [s] after the previous ones."""
        share = dt / (FILTER_TIME + dt)
        self.force = self.force + (self.contact_force(measured) - self.force) * share
        forces = [measured.forces.get(finger.pad, np.zeros(3)) for finger in self.task.fingers if finger.pad]
        if self.grip:
            self.felt = self.grip.felt(forces)
        else:
            least = min((float(np.linalg.norm(force)) for force in forces), default=0.0)
            self.felt = self.felt + (least - self.felt) * share

    def contact_force(self, measured):
        """The contact force on the tool, in world axes [N]."""
        if self.task.touch == EXTERNAL_TORQUES:
            names = self.body.names
            _, _, J = self.body.forward(np.array([measured.positions[name] for name in names]))
            tau = np.array([measured.external_torques.get(name, 0.0) for name in names])
            return wrench_of_torques(J, tau)[3:]
        force = np.zeros(3)
        for link in self.task.touch or []:
            R_BL, _ = self.cell.robot.pose(link, measured.positions)
            force = force + self.cell.base[0] @ R_BL @ measured.forces.get(link, np.zeros(3))
        return force

    def tick(self, measured, dt):
        """Advances by `dt` [s]. The commands are then in `arm.q`, `arm.speeds`, `opening` and
        `opening_rate`."""
        self.sense(measured, dt)
        self.gripping = self.open, self.close
        self.opening_rate = 0.0
        if self.ended:
            self.arm.speeds = np.zeros(len(self.arm.q))
            return
        self.path.press(self.force, dt)
        part = self.path.part(self.path_time)
        self.target = self.path.at(part)
        before = self.opening
        if self.open is not None:
            self.opening = self.opening_before + (self.open - self.opening_before) * part
        allowed = self.arm.advance(*self.target, dt)
        self.opening_rate = (self.opening - before) / dt
        self.path_time += dt * allowed
        self.elapsed += dt
        self.decide(dt)

    def efforts(self, measured, dt):
        """The efforts of fingers under force control, for the next `dt` [s]."""
        states = [(measured.positions[finger.joint], measured.velocities[finger.joint]) for finger in self.task.fingers]
        forces = [measured.forces.get(finger.pad, np.zeros(3)) for finger in self.task.fingers]
        open_to, force = self.gripping
        opening = None if open_to is None else self.opening
        return self.grip.efforts(opening, force, states, self.grip.felt(forces), dt)

    def is_met(self, condition):
        if condition.sense == "grip":
            return self.felt >= condition.limit
        if condition.sense == "load":
            return condition.limit[0] <= self.load <= condition.limit[1]
        return self.touched(condition) > condition.limit

    def touched(self, condition):
        change = self.force - self.force_before
        if condition.along is None:
            return float(np.linalg.norm(change))
        return float(change @ (self.path.R_WF @ condition.along))

    def decide(self, dt):
        """Decides whether the keyframe ends, fails, or continues."""
        keyframe = self.keyframe
        until = keyframe.until
        late = self.elapsed > (1.0 + OVERTIME) * keyframe.duration
        met = until is not None and self.is_met(until)
        self.held = self.held + dt if met else 0.0
        closing = until is not None and until.sense == "grip"
        if self.open is None and not closing and self.felt < self.task.force_control.holds:
            self.try_again()
        elif met and self.held >= until.duration:
            if until.sense == "touch":
                self.touch_height = float(self.chain.forward(self.arm.q)[1][2])
            self.finish()
        elif self.path_time >= keyframe.duration or late:
            self.run_out(until, late)

    def run_out(self, until, late):
        """Decides how the task continues when the time of a keyframe is over."""
        if until is not None:
            self.fail(until)
            return
        error = float(np.abs(self.arm.error(*self.path.at(1.0))).max())
        if error <= POSE_TOLERANCE:
            self.finish()
        elif late:
            self.end(f"failed: {self.phase}: out of reach by {error:.1e} m or rad")

    def finish(self):
        """Continues with the next keyframe if the condition at the end of this one is met."""
        needs = self.keyframe.needs
        if needs is not None and not self.is_met(needs):
            self.fail(needs)
        else:
            self.begin(self.number + 1)

    def fail(self, condition):
        if condition.sense == "touch":
            changed = f"{self.touched(condition):.2f} N, not by {condition.limit:g} N"
            self.end(f"failed: {self.phase}: the contact force changed by {changed}")
        else:
            self.try_again()

    def try_again(self):
        """Returns to the first keyframe, if retries are left."""
        if self.retries >= self.task.retries:
            what = f"grip force {self.felt:.1f} N, load {self.load:.2f} N, after {self.retries} retries"
            self.end(f"failed: {self.phase}: the grasp does not hold: {what}")
            return
        self.retries += 1
        self.begin(0)


def wrench_of_torques(J, tau):
    """The wrench F of least norm with tau = J^T F, without the directions of F that hardly affect the
    torques."""
    values, vectors = np.linalg.eigh(J @ J.T)
    moment = J @ tau
    wrench = np.zeros(6)
    for value, direction in zip(values, vectors.T):
        if value > FORCE_SINGULAR**2 * values[-1]:
            wrench += direction * (direction @ moment / value)
    return wrench
