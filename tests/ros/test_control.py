"""The keyframe controller without ROS: kinematics, differential inverse kinematics, task files, keyframes and
their guards."""

import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "controllers"))
from isobar_control.cell import Cell, cell_of_robot, cell_of_scene, welded_frames  # noqa: E402
from isobar_control.motion import LIMIT_MARGIN, DifferentialInverse  # noqa: E402
from isobar_control.player import Grip, Measurement, Player  # noqa: E402
from isobar_control.robot import Chain, Robot, RobotError, rotation_about, rotation_rpy, rotation_vector  # noqa: E402
from isobar_control.task import TaskError, read_task  # noqa: E402

ARMS = {
    "iiwa14_wsg50.urdf": ("wsg50_grasp", [0.2, 0.6, -0.3, -1.6, 0.1, 0.9, 0.4]),
    "j2s7s300.urdf": ("j2s7s300_end_effector", [3.0, 3.5, 0.1, 1.7, -0.1, 4.4, 0.2]),
    "j2n6s300.urdf": ("j2n6s300_end_effector", [0.4, -0.5, 1.5, 1.2, -1.2, 0.2]),
}


def chain_of(urdf):
    tip, q = ARMS[urdf]
    return Chain(Robot((ROOT / "urdf" / urdf).read_text()), tip), np.array(q)


@pytest.mark.parametrize("urdf", ARMS)
def test_jacobian_is_the_derivative_of_the_pose(urdf):
    chain, q = chain_of(urdf)
    _, _, J = chain.forward(q)
    h = 1e-6
    for column in range(len(q)):
        step = h * np.eye(len(q))[column]
        (R1, p1, _), (R0, p0, _) = chain.forward(q + step), chain.forward(q - step)
        numeric = np.concatenate([rotation_vector(R1 @ R0.T), p1 - p0]) / (2 * h)
        # The error is of the order of h squared plus the rounding, 1e-16 / h.
        assert np.abs(numeric - J[:, column]).max() < 1e-8


@pytest.mark.parametrize("urdf", ARMS)
def test_pose_of_a_link_is_that_of_the_chain(urdf):
    chain, q = chain_of(urdf)
    robot = Robot((ROOT / "urdf" / urdf).read_text())
    R, p, _ = chain.forward(q)
    R_link, p_link = robot.pose(chain.tip, dict(zip(chain.names, q)))
    assert np.abs(R - R_link).max() < 1e-14 and np.abs(p - p_link).max() < 1e-14


def test_rotation_vectors_of_all_angles():
    generator = np.random.default_rng(1)
    for angle in [0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-5, np.pi]:
        axis = generator.normal(size=3)
        axis /= np.linalg.norm(axis)
        found = rotation_vector(rotation_about(axis, angle))
        assert np.abs(rotation_about(found / (angle or 1.0), angle) - rotation_about(axis, angle)).max() < 1e-7


@pytest.mark.parametrize("urdf", ARMS)
def test_a_path_is_followed(urdf):
    chain, q = chain_of(urdf)
    arm = DifferentialInverse(chain, q)
    R, p, _ = chain.forward(q)
    for tick in range(200):
        part = tick / 200
        goal = rotation_rpy(0.1 * part, -0.1 * part, 0.2 * part) @ R, p + np.array([-0.05, 0.05, 0.03]) * part
        arm.advance(*goal, 0.01)
    # The joints move by less than 2 mrad per period. One Newton step leaves an error of half the square of
    # their sum, at a lever arm of one metre.
    assert np.abs(arm.error(*goal)).max() < 0.5 * (3 * 2e-3) ** 2


def test_a_long_period_takes_several_newton_steps():
    chain, q = chain_of("iiwa14_wsg50.urdf")
    arm = DifferentialInverse(chain, q)
    R, p, _ = chain.forward(q)
    assert arm.advance(R, p + np.array([-0.06, 0.04, 0.03]), 0.4) == 1.0
    assert np.abs(arm.error(R, p + np.array([-0.06, 0.04, 0.03]))).max() < 1e-4


def test_limits_and_speeds_hold_and_the_other_joints_do_the_rest():
    chain, _ = chain_of("iiwa14_wsg50.urdf")
    # The elbow is out to the side, so that the arm has a redundant joint; the second joint cannot follow the
    # path.
    q = np.array([-1.2, 0.9, 1.57, -1.6, -1.0, 0.9, 0.4])
    chain.upper[1] = q[1] + 0.005 + LIMIT_MARGIN
    arm = DifferentialInverse(chain, q)
    R, p, _ = chain.forward(q)
    before = q
    for tick in range(400):
        arm.advance(R, p + np.array([0.02, 0.0, -0.02]) * min(tick / 300, 1.0), 0.01)
        assert (arm.q <= chain.upper).all() and (arm.q >= chain.lower).all()
        assert (np.abs(arm.q - before) <= chain.speed * 0.01 * (1 + 1e-9)).all()
        before = arm.q
    assert abs(before[1] - chain.upper[1] + LIMIT_MARGIN) < 1e-3, "the path leads to the limit"
    # The error of one period is at most 0.07 mm; its square over an arm's length remains.
    assert np.abs(arm.error(R, p + np.array([0.02, 0.0, -0.02]))).max() < 1e-6


def test_out_of_reach_limits_and_speeds_hold():
    chain, q = chain_of("iiwa14_wsg50.urdf")
    arm = DifferentialInverse(chain, q)
    R, p, _ = chain.forward(q)
    far = np.array([3.0, 0.0, 1.0])
    before = q
    for tick in range(1500):
        arm.advance(R, p + (far - p) * min(tick / 500, 1.0), 0.01)
        assert np.isfinite(arm.q).all() and (arm.q <= chain.upper).all() and (arm.q >= chain.lower).all()
        assert (np.abs(arm.q - before) <= chain.speed * 0.01 * (1 + 1e-9)).all()
        before = arm.q
    # The arm is stretched towards the goal, as far as the fixed orientation of its hand permits.
    assert np.linalg.norm(chain.forward(before)[1] - np.array([0, 0, 0.36])) > 0.8


class Gantry:
    """Three sliding and three turning joints, whose tip `tool` can have any pose: a robot for tests of paths
    and guards."""

    TEXT = "".join(
        f'<link name="l{i}"/><joint name="{name}" type="{kind}"><parent link="{f"l{i - 1}" if i else "base"}"/>'
        f'<child link="l{i}"/><axis xyz="{axis}"/><limit lower="-3" upper="3" velocity="9" effort="9"/></joint>'
        for i, (name, kind, axis) in enumerate(
            [(f"{kind[0]}{axis}", kind, axis) for kind in ("prismatic", "revolute") for axis in ("1 0 0", "0 1 0", "0 0 1")]
        )
    )
    JOINTS = [f"{kind}{axis}" for kind in "pr" for axis in ("1 0 0", "0 1 0", "0 0 1")]

    def __init__(self):
        fingers = "".join(
            f'<link name="{name}"/><joint name="{name}_joint" type="prismatic"><parent link="l5"/><child link="{name}"/>'
            '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="9" effort="9"/></joint>'
            for name in ("left", "right")
        )
        self.robot = Robot(f'<robot name="gantry"><link name="base"/>{self.TEXT}{fingers}</robot>')

    def play(self, text, force_of, grip_of=lambda player: 0.0, ticks=3000, dt=0.01, frames=None):
        """The player at its end, the tool's commanded positions, and the keyframes in their order."""
        frames = {"base": (np.eye(3), np.zeros(3)), **(frames or {})}
        positions = {**dict.fromkeys(self.JOINTS, 0.0), "left_joint": 0.0, "right_joint": 0.0}
        cell = Cell(self.robot, (np.eye(3), np.zeros(3)), frames)
        player = Player(read_task(text), cell, positions)
        path, phases = [], [player.phase]
        while not player.ended and len(path) < ticks:
            p = player.chain.forward(player.arm.q)[1]
            path.append((player.phase, p))
            positions.update(zip(self.JOINTS, player.arm.q))
            grip = grip_of(player)
            # `grip` is both the mean of the closing forces and the smallest pad force.
            forces = {"l5": force_of(p), "left": np.array([0.0, -grip, 0.0]), "right": np.array([0.0, grip, 0.0])}
            player.tick(Measurement(positions, dict.fromkeys(positions, 0.0), forces, {}), dt)
            if phases[-1] != player.phase:
                phases.append(player.phase)
        return player, path, phases


HEAD = f"""
arm: {{ joints: {Gantry.JOINTS} }}
tool: {{ body: l5 }}
frame: base
time_scaling: cubic
touch: {{ links: [l5] }}
gripper: {{ fingers: [ {{ joint: left_joint, factor: -1, pad: left }}, {{ joint: right_joint, factor: 1, pad: right }} ] }}
"""
TASK = f"""{HEAD}
keyframes:
  - {{ name: go, duration: 1, xyz: [0.1, 0, 0], open: 0.04 }}
  - {{ name: down, duration: 2, by: [0, 0, -0.2], until: {{ touch: 3 }} }}
  - {{ name: press, duration: 2, press: {{ along: [0, 0, -1], force: 10 }} }}
"""


def wall(p):
    """A floor at z = -0.05 of 2000 N/m."""
    return np.array([0.0, 0.0, max(0.0, -2000.0 * (p[2] + 0.05))])


def test_a_guard_ends_a_movement_and_a_force_is_held():
    player, path, phases = Gantry().play(TASK, wall)
    assert phases == ["go", "down", "press", "done"]
    before = [p for phase, p in path if phase == "go"][-1]
    assert np.abs(before - [0.1, 0, 0]).max() < 1e-3 and abs(player.opening - 0.04) < 1e-3
    assert abs(wall(path[-1][1])[2] - 10.0) < 0.1
    # The depth at 3 N, and the motion within two ticks and the filter's 20 ms, at 0.15 m/s at most.
    assert min(p[2] for phase, p in path if phase == "down") > -0.05 - 3 / 2000 - 0.15 * 0.04
    assert np.abs(np.diff([p[2] for _, p in path])).max() < 0.15 * 0.01 + 1e-6, "no jumps from keyframe to keyframe"


def test_a_circle_closes_and_keeps_its_radius():
    text = f"{HEAD}keyframes: [ {{ name: round, duration: 4, circle: {{ centre: [0, 0, 0.1], axis: [1, 0, 0] }} }} ]"
    player, path, _ = Gantry().play(text, lambda p: np.zeros(3))
    assert player.phase == "done" and np.abs(path[-1][1]).max() < 1e-3
    distances = [np.linalg.norm(p - [0, 0, 0.1]) for _, p in path]
    assert max(distances) < 0.1 + 1e-6 and min(distances) > 0.1 - 1e-6
    assert max(p[1] for _, p in path) > 0.0999 and max(p[2] for _, p in path) > 0.1999


def test_a_contact_that_does_not_come_fails_the_task():
    player, _, _ = Gantry().play(TASK, lambda p: np.zeros(3))
    assert player.ended and player.phase == "failed: down: the contact force changed by 0.00 N, not by 3 N"


def test_a_force_that_was_there_before_does_not_count():
    player, _, _ = Gantry().play(TASK, lambda p: np.array([0.0, 0.0, 50.0]))
    assert player.phase.startswith("failed: down")


def test_a_grip_that_is_missing_fails_the_task():
    text = f"{HEAD}keyframes: [ {{ name: hold, duration: 1, needs: {{ grip: 5 }} }} ]"
    assert "grip force 4.0 N" in Gantry().play(text, wall, lambda player: 4.0)[0].phase
    assert Gantry().play(text, wall, lambda player: 6.0)[0].phase == "done"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("[", "not YAML"),
        ("{ arm: { joints: [a] } }", "key 'tool' is missing"),
        ("keyframes: [ { name: b } ]", "at least `name` and `duration`"),
        ("keyframes: []", "at least one"),
        ("keyframes: [ { name: b, duration: 1, xzy: [0, 0, 0] } ]", "unknown key 'xzy'"),
        ("keyframes: [ { name: b, duration: 1, xyz: [0, 0] } ]", "not three numbers"),
        ("keyframes: [ { name: b, duration: -1 } ]", "must be positive"),
        ("keyframes: [ { name: b, duration: 1, close: 5 } ]", "needs the gripper's force_control"),
        ("keyframes: [ { name: b, duration: 1, until: { grip: 1, touch: 1 } } ]", "one of grip, load and touch"),
        ("keyframes: [ { name: b, duration: 1, until: { load: [2, 1] } } ]", "not a range"),
        ("keyframes: [ { name: b, duration: 1, xyz: [0, 0, 0], by: [0, 0, 0] } ]", "exclude each other"),
        ("keyframes: [ { name: b, duration: 1, press: { along: [0, 0, 0], force: 1 } } ]", "has no direction"),
    ],
)
def test_mistakes_in_tasks_are_refused(text, reason):
    with pytest.raises(TaskError, match=reason.replace("[", "\\[")):
        read_task(f"{HEAD}{text}" if text.startswith("keyframes") else text)


def test_mistakes_in_robots_are_refused():
    with pytest.raises(RobotError, match="no link 'tipp'"):
        Chain(Robot((ROOT / "urdf/iiwa14.urdf").read_text()), "tipp")
    with pytest.raises(RobotError, match="not XML"):
        Robot("<robot")


def test_shipped_tasks_name_links_joints_and_frames_of_their_cells():
    tasks = sorted((ROOT / "config/tasks").glob("*.yaml"))
    assert len(tasks) >= 4
    for path in tasks:
        task = read_task(path.read_text())
        cell = cell_of_scene(ROOT / "config" / path.name, task.tool)
        Player(task, cell, dict.fromkeys(cell.robot.joints, 0.1))


def test_a_robot_alone_is_a_cell():
    task = read_task((ROOT / "config/tasks/iiwa_demo.yaml").read_text())
    cell = cell_of_robot(Robot((ROOT / "urdf/iiwa14_wsg50.urdf").read_text()))
    Player(task, cell, dict.fromkeys(cell.robot.joints, 0.1))
    other = cell_of_robot(Robot((ROOT / "urdf/iiwa14.urdf").read_text()))
    with pytest.raises(RobotError, match="no link 'wsg50_grasp'"):
        Player(task, other, dict.fromkeys(other.robot.joints, 0.1))


FORCE_CONTROL = "force_control: { axis: [0, 1, 0], stiffness: 300, centering: 600, ramp: 25, integral: 2, holds: 15 }"
TOOL_TASK = f"""{HEAD.replace("right } ] }", "right } ], " + FORCE_CONTROL + " }").replace("time_scaling: cubic", "retries: 2")}
keyframes:
  - {{ name: reach, frame: table, xyz: [0, 0, 0.1], duration: 1, open: 0.04 }}
  - {{ name: grasp, duration: 2, close: 25, until: {{ grip: 15, for: 0.3 }} }}
  - {{ name: down, frame: table, xyz: [0, 0, -0.1], duration: 2, time_scaling: linear, until: {{ touch: 1, along: [0, 0, 1] }} }}
  - {{ name: slide, frame: table, xyz: [0.1, 0, 0.02], duration: 1, from_touch: true }}
"""


def test_a_tool_goes_down_until_it_touches_and_slides_from_there():
    # The table is 20 mm lower than the cell says.
    load = lambda p: np.array([0.0, 0.0, 500.0 * max(0.0, 0.28 - p[2]) - 0.8])
    table = {"table": (np.eye(3), np.array([0.5, 0.0, 0.3]))}
    grip = lambda player: 25.0 if player.open is None else 0.0
    player, path, phases = Gantry().play(TOOL_TASK, load, grip, frames=table)
    assert phases == ["reach", "grasp", "down", "slide", "done"]
    # 1 N at 500 N/m, and the motion at 0.1 m/s: the filter's delay of 20 ms, two ticks, and as much again.
    assert 0.28 - 0.002 - 0.1 * 0.06 < player.touch_height < 0.28
    assert np.abs(path[-1][1] - [0.6, 0.0, player.touch_height + 0.02]).max() < 1e-3
    assert np.abs(np.diff([p for _, p in path], axis=0)).max() < 0.015, "no jumps"


def test_a_grasp_that_does_not_hold_is_tried_again_and_given_up():
    table = {"table": (np.eye(3), np.array([0.5, 0.0, 0.3]))}
    player, _, phases = Gantry().play(TOOL_TASK, lambda p: np.zeros(3), lambda player: 5.0, frames=table)
    assert phases[:-1] == ["reach", "grasp"] * 3 and player.retries == 2
    assert phases[-1].startswith("failed: grasp: the grasp does not hold: grip force 5.0 N")


def test_a_grip_closes_to_its_force_and_keeps_the_middle():
    task = read_task(TOOL_TASK)
    grip = Grip(task.fingers, task.force_control)
    still = [(0.0, 0.0), (0.0, 0.0)]
    # Pads that measure 90 % of the efforts: the integral corrects this.
    efforts = [0.0, 0.0]
    for _ in range(2000):
        pads = [np.array([0.0, -0.9 * efforts[0], 0.0]), np.array([0.0, -0.9 * efforts[1], 0.0])]
        efforts = grip.efforts(None, 25.0, still, grip.felt(pads), 0.005)
    assert abs(grip.felt(pads) - 25.0) < 0.1
    pushed = grip.efforts(None, 25.0, [(0.01, 0.0), (0.01, 0.0)], grip.felt(pads), 0.005)
    assert pushed[0] < efforts[0] and pushed[1] < efforts[1], "back to the middle"
    assert grip.efforts(0.04, 0.0, still, 0.0, 0.005) == [-12.0, 12.0], "300 N/m times 40 mm"


def test_frames_of_a_cell_are_those_of_its_welded_models():
    frames, models = welded_frames(ROOT / "config/iiwa_demo.yaml")
    assert np.abs(frames["table"][1] - [0.4, 0.0, 0.75]).max() < 1e-12
    assert np.abs(frames["iiwa_base"][1] - [0.0, 0.0, 0.75]).max() < 1e-12
    assert "iiwa_link_1" not in frames and "cube" not in frames and set(models) == {"table", "robot"}
