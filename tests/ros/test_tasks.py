"""The tasks, end to end: what their launch files start, run as processes; success is measured on published topics."""

import math

import pytest
from conftest import BEST_EFFORT, stamp_ns
from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64, String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A task on a loaded machine [s of real time].
LONG = 150.0
LOCKSTEP = {"lockstep": "true", "real_time_factor": "0.0"}


def until_done(listener, phases, what):
    over = lambda: phases and (phases[-1].data == "done" or phases[-1].data.startswith("failed"))
    listener.wait_until(over, what, LONG)
    assert phases[-1].data == "done", [phase.data for phase in phases]


def angle(q):
    return 2.0 * math.atan2(math.hypot(q.x, q.y, q.z), abs(q.w))


MODES = {
    "quasistatic": {"stepping": "quasistatic", "step": "0.1", **LOCKSTEP},
    "long steps": {"stepping": "quasistatic", "step": "0.4", **LOCKSTEP},
    "dynamic": {"stepping": "dynamic", "real_time_factor": "3.0"},
}


@pytest.mark.parametrize("mode", MODES)
def test_the_red_cube_is_put_on_the_stack(launch, listener, mode):
    phases = listener.listen(String, "/cell/task/phase", LATCHED)
    poses = listener.listen(PoseStamped, "/cell/isobar/pose/cube_red")
    stack = listener.listen(PoseStamped, "/cell/isobar/pose/stack_3_cube_80mm")
    grip = listener.listen(Float64, "/cell/task/grip_force")
    processes, left_out = launch("cube_stacking.launch.py", {"namespace": "cell", "use_rviz": "false", **MODES[mode]})
    assert [process.name for process in processes] == ["isobar", "keyframe_controller"]
    assert {process.package for process in left_out} == {"robot_state_publisher", "tf2_ros"}
    until_done(listener, phases, "the task")
    ended = stamp_ns(poses[-1])
    listener.wait_until(lambda: stamp_ns(poses[-1]) > ended and stamp_ns(stack[-1]) > ended, "poses after the end")
    cube, top = poses[-1].pose, stack[-1].pose
    assert math.dist((cube.position.x, cube.position.y, cube.position.z), (0.7, 0.0, 0.26)) < 0.003
    assert angle(cube.orientation) < math.radians(3) and angle(top.orientation) < math.radians(3)
    # 20 mm ahead of the cube's sides at 1000 N/m.
    assert abs(max(force.data for force in grip) - 20.0) < 2.0
    assert grip[-1].data < 0.01, "let go"


def test_the_spatula_slips_only_while_the_force_is_low(launch, listener):
    pitch = []
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    now = lambda: clock[-1].clock.sec + 1e-9 * clock[-1].clock.nanosec if clock else 0.0
    listener.node.create_subscription(Float64, "/isobar/output/pitch", lambda m: pitch.append((now(), m.data)), 50)
    commanded = listener.listen(Float64, "/grip_force/commanded")
    force = []
    listener.node.create_subscription(Float64, "/grip_force/measured", lambda m: force.append((now(), m.data)), 50)
    arguments = {"use_rviz": "false", "state_publisher": "false", "step": "0.002", **LOCKSTEP}
    processes, left_out = launch("spatula_slip.launch.py", arguments)
    assert [process.name for process in processes] == ["isobar", "grip_controller"] and not left_out
    # 16 N until 4.5 s, 1 N until 6 s, 16 N again.
    listener.wait_until(lambda: now() > 7.2, "7.2 s", LONG)
    assert {message.data for message in commanded} == {16.0, 1.0}
    between = lambda series, start, end: [value for time, value in series if start < time < end]
    moved = lambda start, end: between(pitch, start, end)[-1] - between(pitch, start, end)[0]
    # Friction that holds creeps at the scene's stiction tolerance at most: 1e-4 m/s at the patch's radius of a centimetre.
    creep = 0.01
    assert abs(moved(2.5, 4.4)) < 1.9 * creep, "16 N hold it"
    assert abs(moved(4.6, 5.9)) > 5 * 1.3 * creep, "at 1 N it turns"
    assert abs(moved(6.6, 7.2)) < 0.6 * creep, "and 16 N hold it again"
    print("pitch moved", moved(2.5, 4.4), moved(4.6, 5.9), moved(6.6, 7.2))
    held, slipping = between(force, 3.0, 4.4), between(force, 5.2, 5.9)
    assert abs(sum(held) / len(held) - 16.0) < 0.5 and abs(sum(slipping) / len(slipping) - 1.0) < 0.2
