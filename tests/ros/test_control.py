"""What the controllers share, without ROS: kinematics, differential inverse kinematics, keyframes and their guards."""

import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "controllers"))
from isobar_control.cell import welded_frames  # noqa: E402
from isobar_control.keyframes import KeyframeError, Player, read_task  # noqa: E402
from isobar_control.motion import InverseKinematics  # noqa: E402
from isobar_control.robot import Chain, Robot, RobotError, rotation_about, rotation_rpy, rotation_vector  # noqa: E402
from isobar_control.tool_task import Grip, ToolPlayer, read_tool_task  # noqa: E402

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
        # Of the order of h squared and of the rounding of 1e-16 / h.
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
    kinematics = InverseKinematics(chain, q)
    R, p, _ = chain.forward(q)
    for tick in range(200):
        part = tick / 200
        goal = rotation_rpy(0.1 * part, -0.1 * part, 0.2 * part) @ R, p + np.array([-0.05, 0.05, 0.03]) * part
        kinematics.follow(*goal, 0.01)
    assert max(kinematics.error(*goal)) < 1e-6


def test_limits_and_speeds_hold_and_what_is_left_is_done_by_the_others():
    chain, _ = chain_of("iiwa14_wsg50.urdf")
    # The elbow is out to the side, so that the arm has a joint to spare; the second may not go where the path wants it to.
    q = np.array([-1.2, 0.9, 1.57, -1.6, -1.0, 0.9, 0.4])
    chain.upper[1] = q[1] + 0.005
    kinematics = InverseKinematics(chain, q)
    R, p, _ = chain.forward(q)
    before = q
    for tick in range(400):
        now, velocity = kinematics.follow(R, p + np.array([0.02, 0.0, -0.02]) * min(tick / 300, 1.0), 0.01)
        assert (now <= chain.upper).all() and (now >= chain.lower).all()
        assert (np.abs(now - before) <= chain.speed * 0.01 * (1 + 1e-9)).all()
        before = now
    assert abs(before[1] - chain.upper[1]) < 1e-3, "the path leads to the limit"
    assert max(kinematics.error(R, p + np.array([0.02, 0.0, -0.02]))) < 1e-6


def test_out_of_reach_and_singular_it_stays_calm():
    chain, q = chain_of("iiwa14_wsg50.urdf")
    kinematics = InverseKinematics(chain, q)
    R, p, _ = chain.forward(q)
    far = np.array([3.0, 0.0, 1.0])
    before, largest = q, 0.0
    for tick in range(1500):
        now, _ = kinematics.follow(R, p + (far - p) * min(tick / 500, 1.0), 0.01)
        assert np.isfinite(now).all() and (now <= chain.upper).all() and (now >= chain.lower).all()
        if tick > 1400:
            largest = max(largest, np.abs(now - before).max())
        before = now
    # Stretched towards the goal, as far as its hand that must not turn lets it; and it does not swing there.
    assert np.linalg.norm(chain.forward(before)[1] - np.array([0, 0, 0.36])) > 0.8
    assert largest < 0.01


TASK = """
tip: tip
gripper: { left: -1, right: 1 }
feel: { grip: [left, right], touch: [hand] }
keys:
  - { name: go, for: 1, to: [0.1, 0, 0], open: 0.04 }
  - { name: down, for: 2, by: [0, 0, -0.2], until: { touch: 3 } }
  - { name: press, for: 2, press: { along: [0, 0, -1], force: 10 } }
"""


def play(text, force_of, grip=0.0, ticks=1000, dt=0.01):
    player = Player(read_task(text), np.eye(3), np.zeros(3), 0.0)
    targets, force = [], np.zeros(3)
    for _ in range(ticks):
        targets.append(player.tick(dt, force, grip))
        targets[-1].phase = player.phase
        force = force_of(targets[-1].p)
    return player, targets


def wall(p):
    """A floor at z = -0.05 of 2000 N/m."""
    return np.array([0.0, 0.0, max(0.0, -2000.0 * (p[2] + 0.05))])


def test_a_guard_ends_a_movement_and_a_force_is_held():
    player, targets = play(TASK, wall)
    assert player.phase == "done"
    assert np.abs(targets[99].p - [0.1, 0, 0]).max() < 1e-9 and abs(targets[99].opening - 0.04) < 1e-9
    assert abs(wall(targets[-1].p)[2] - 10.0) < 0.1
    heights = np.array([target.p[2] for target in targets])
    # 3 N, and what it moves within a tick.
    assert min(target.p[2] for target in targets if target.phase == "down") > -0.05 - 3 / 2000 - 0.2 * 1.5 / 2 * 0.01
    assert np.abs(np.diff(heights)).max() < 0.2 * 1.5 / 2 * 0.01 + 1e-9, "no jumps from key to key"


def test_a_contact_that_does_not_come_fails_the_task():
    player, _ = play(TASK, lambda p: np.zeros(3))
    assert player.ended and player.phase == "failed: down: 0.00 N of touch, not 3 N within 2 s"


def test_what_touches_before_does_not_count():
    player, _ = play(TASK, lambda p: np.array([0.0, 0.0, 50.0]))
    assert player.phase.startswith("failed: down")


def test_a_grip_that_is_missing_fails_the_task():
    text = "{ tip: tip, gripper: { left: 1 }, feel: { grip: [left] }, keys: [ { name: hold, for: 1, needs: { grip: 5 } } ] }"
    assert play(text, wall, grip=4.0)[0].phase.startswith("failed: hold: 4.00 N of grip, not 5 N")
    assert play(text, wall, grip=6.0)[0].phase == "done"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("[", "not YAML"),
        ("{ tip: a }", "at least `tip` and `keys`"),
        ("{ tip: a, keys: [ { name: b } ] }", "at least `name` and `for`"),
        ("{ tip: a, keys: [ { name: b, for: 1, too: [0, 0, 0] } ] }", "unknown key 'too'"),
        ("{ tip: a, keys: [ { name: b, for: 1, to: [0, 0] } ] }", "not three numbers"),
        ("{ tip: a, keys: [ { name: b, for: -1 } ] }", "at least 0.001"),
        ("{ tip: a, keys: [ { name: b, for: 1, until: { grip: 1 } } ] }", "needs `feel: grip`"),
        ("{ tip: a, keys: [ { name: b, for: 1, to: [0, 0, 0], by: [0, 0, 0] } ] }", "exclude each other"),
    ],
)
def test_mistakes_in_keyframes_are_told(text, reason):
    with pytest.raises(KeyframeError, match=reason.replace("[", "\\[")):
        read_task(text)


def test_mistakes_in_robots_are_told():
    with pytest.raises(RobotError, match="no link 'tipp'"):
        Chain(Robot((ROOT / "urdf/iiwa14.urdf").read_text()), "tipp")
    with pytest.raises(RobotError, match="not XML"):
        Robot("<robot")


def test_shipped_keyframes_name_links_and_joints_of_their_robots():
    robots = {"cube_stacking": "iiwa14_wsg50", "iiwa_demo": "iiwa14_wsg50", "jaco_demo": "j2s7s300"}
    for name, urdf in robots.items():
        task = read_task((ROOT / f"config/keyframes/{name}.yaml").read_text())
        robot = Robot((ROOT / f"urdf/{urdf}.urdf").read_text())
        assert set(task.gripper) <= set(robot.joints)
        assert {task.tip, *task.grip, *(task.touch if isinstance(task.touch, list) else [])} <= set(robot.links)


TOOL_TASK = """
arm: { joints: [a], speed: 0.9 }
tool: { body: gripper, xyz: [0, 0, 0] }
fingers: { joints: [l, r], pads: [lp, rp], axis: [0, 1, 0], open: 0.04, stiffness: 300, centering: 600, force: 25, ramp: 25,
           integral: 2, holds: 15, load: [0.4, 1.4], retries: 2 }
keyframes:
  - { name: reach, frame: table, xyz: [0, 0, 0.1], duration: 1, grip: open }
  - { name: grasp, duration: 2, grip: closed, until: { grip: 0.3 } }
  - { name: down, frame: table, xyz: [0, 0, -0.1], duration: 2, grip: closed, until: { touch: 1 } }
  - { name: slide, frame: table, xyz: [0.1, 0, 0.02], duration: 1, grip: closed, from_touch: true }
"""


def play_tool(force_of, load_of, dt=0.01):
    frames = {"table": (np.eye(3), np.array([0.5, 0.0, 0.3]))}
    player = ToolPlayer(read_tool_task(TOOL_TASK), frames, np.eye(3), np.array([0.5, 0.0, 0.5]))
    path, phases = [], []
    for _ in range(3000):
        R, p = player.target(dt)
        player.moved(R, p, 1.0, load_of(p), force_of(player), dt)
        path.append(p)
        if not phases or phases[-1] != player.phase:
            phases.append(player.phase)
        if player.ended:
            break
    return player, np.array(path), phases


def test_a_tool_goes_down_until_it_touches_and_slides_from_there():
    # The table is 20 mm lower than the cell says.
    load = lambda p: 500.0 * max(0.0, 0.28 - p[2]) - 0.8
    player, path, phases = play_tool(lambda player: 25.0 if player.keyframe.grip == "closed" else 0.0, load)
    assert phases == ["reach", "grasp", "down", "slide", "done"]
    # 1 N at 500 N/m, and what the filter and a tick take at 0.1 m/s.
    assert 0.28 - 0.002 - 0.1 * 0.05 < player.touch_height < 0.28
    assert np.abs(path[-1] - [0.6, 0.0, player.touch_height + 0.02]).max() < 1e-9
    assert np.abs(np.diff(path, axis=0)).max() < 0.01, "no jumps"


def test_a_grasp_that_does_not_hold_is_tried_again_and_given_up():
    player, _, phases = play_tool(lambda player: 5.0, lambda p: 0.0)
    assert phases[:-1] == ["reach", "grasp"] * 3 and player.retries == 2
    assert phases[-1].startswith("failed: grasp: the grasp does not hold: pad force 5.0 N")


def test_a_grip_closes_to_its_force_and_keeps_the_middle():
    fingers = read_tool_task(TOOL_TASK).fingers
    grip = Grip(fingers)
    # Pads that feel 90 % of the efforts: the integral makes up for it.
    efforts = [0.0, 0.0]
    for _ in range(2000):
        pads = [np.array([0.0, -0.9 * efforts[0], 0.0]), np.array([0.0, -0.9 * efforts[1], 0.0])]
        efforts = grip.efforts(True, [(0.0, 0.0), (0.0, 0.0)], pads, 0.005)
    assert abs(grip.felt(pads) - 25.0) < 0.1
    pushed = grip.efforts(True, [(0.01, 0.0), (0.01, 0.0)], pads, 0.005)
    assert pushed[0] < efforts[0] and pushed[1] < efforts[1], "back to the middle"
    opened = grip.efforts(False, [(0.0, 0.0), (0.0, 0.0)], pads, 0.005)
    assert opened == [-12.0, 12.0], "300 N/m times 40 mm"


def test_frames_of_a_cell_are_those_of_its_welded_models():
    frames, models = welded_frames(ROOT / "config/iiwa_demo.yaml")
    assert np.abs(frames["table"][1] - [0.4, 0.0, 0.75]).max() < 1e-12
    assert np.abs(frames["iiwa_base"][1] - [0.0, 0.0, 0.75]).max() < 1e-12
    assert "iiwa_link_1" not in frames and "cube" not in frames and set(models) == {"table", "robot"}
