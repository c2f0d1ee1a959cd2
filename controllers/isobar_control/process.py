"""A controller as a process: answers joint states with joint commands, at its own pace or in lockstep."""

import signal
import sys
from collections import deque
from time import monotonic

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String

from .robot import RobotError
from .task import TaskError

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# The same state is not answered again within this time [s of real time].
REPEAT = 0.2
# A wait for messages ends at the latest after this time [s of real time].
WAIT = 0.5


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def quaternion(R):
    """(x, y, z, w) of a rotation matrix [Bar-Itzhack 2000]."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], 0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    return np.linalg.eigh(K / 3.0)[1][:, -1]


def after_sensors(node, callback):
    """A callback for states that calls `callback` after all messages of other topics that were sent before
    the state.

    The simulator sends the measured forces of a step before the state of that step, but an executor takes
    messages that have arrived in any order. It serves guard conditions after all subscriptions, so the
    state triggers a guard condition, which calls `callback`.
    """
    states = deque()

    def go():
        while states:
            callback(states.popleft())

    guard = node.create_guard_condition(go)

    def wait(state):
        states.append(state)
        guard.trigger()

    return wait


class Commands:
    """Joint positions from one tick to the next, linear in between."""

    def __init__(self, names, positions, time):
        self.names = names
        self.start = self.finish = np.array(positions, dtype=float)
        self.began, self.duration = time, 1.0

    def go(self, positions, time, duration):
        self.start, self.finish = self.finish, np.array(positions, dtype=float)
        self.began, self.duration = time, duration

    def at(self, time):
        part = min(max((time - self.began) / self.duration, 0.0), 1.0)
        return self.start + part * (self.finish - self.start), (self.finish - self.start) / self.duration


class Controller(Node):
    """Answers each joint state with a command that carries its stamp. The stamps are the controller's time.

    A controller has `begin(state)`, called with each state until it returns true; `tick(state, dt)`, called
    once a `period` [s], or with each state if states are farther apart; and `fill(message, state, time)`,
    which writes the command for the time at which the next state is due. `state` is a dictionary: (position,
    velocity) by joint.
    """

    def __init__(self, name):
        super().__init__(name)
        # The control period [s]; states within a period are answered with interpolated positions.
        self.period = self.declare_parameter("period", 0.01).value
        self.time = self.step = self.stamp = self.ticked = self.told = None
        self.begun = False
        self.message = None
        self.said = 0.0
        self.commands = self.create_publisher(JointState, "joint_commands", 10)
        self.phase = self.create_publisher(String, "task/phase", LATCHED)
        self.create_subscription(JointState, "joint_states", after_sensors(self, self.on_state), 10)

    def on_state(self, message):
        time = seconds(message.header.stamp)
        if time == self.time:
            # A simulator in lockstep repeats a state that has no answer yet.
            if self.begun and monotonic() - self.said > REPEAT:
                self.answer()
            return
        self.step = None if self.time is None else time - self.time
        self.time, self.stamp = time, message.header.stamp
        state = {name: (q, v) for name, q, v in zip(message.name, message.position, message.velocity)}
        if not self.begun:
            self.begun, self.ticked = self.begin(state), time
            if not self.begun:
                return
        elif self.step is not None and time - self.ticked > self.tick_length() - 0.5 * self.step:
            # A tick covers the time to the next one.
            dt = max(self.tick_length(), time - self.ticked)
            self.ticked = time
            self.tick(state, dt)
        self.message = JointState()
        self.message.header.stamp = self.stamp
        self.fill(self.message, state, time + (self.step or 0.0))
        self.answer()

    def tick_length(self):
        return max(self.period, self.step)

    def answer(self):
        self.commands.publish(self.message)
        self.said = monotonic()

    def header(self, frame):
        return Header(stamp=self.stamp, frame_id=frame)

    def publish_phase(self, phase):
        """Publishes and logs the phase of the task when it changes."""
        if phase == self.told:
            return
        self.told = phase
        self.phase.publish(String(data=phase))
        if phase.startswith("failed"):
            self.get_logger().error(f"{self.time:.3f} s: {phase}")
        else:
            self.get_logger().info(f"{self.time:.3f} s: {phase}")


def run(make):
    """Serves the callbacks of a controller until it ends; returns the exit status.

    SIGINT sets a mark and does not raise KeyboardInterrupt, which could come in the middle of a message that
    rclpy converts, and would end there as another error. Each wait has an end, so that the mark is seen even
    if no message comes any more.
    """
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    rclpy.init()
    try:
        executor = SingleThreadedExecutor()
        executor.add_node(make())
        while rclpy.ok() and not stopped:
            executor.spin_once(timeout_sec=WAIT)
    except ExternalShutdownException:
        pass
    except (TaskError, RobotError, OSError) as error:
        print(f"{sys.argv[0]}: {error}", file=sys.stderr)
        return 1
    except Exception:
        # A signal may shut ROS down while a callback publishes; any other exception is an error.
        if rclpy.ok() and not stopped:
            raise
    return 0
