"""The files and the launch file for MoveIt, and a client that sends the goals of MoveIt's simple controller
manager: trajectories of a group's joints with positions, velocities and accelerations, from the present state
at time zero, to the action that moveit_controllers.yaml names."""

import math
import time
import xml.etree.ElementTree as ET

import launching
import pytest
import yaml
from action_msgs.msg import GoalStatus
from conftest import PATIENCE, ROOT
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ROBOTS = ["iiwa14_wsg50", "j2s7s300"]


def parsed(robot):
    """The URDF, the SRDF, and the YAML files by their stems."""
    folder = ROOT / "config/moveit" / robot
    loaded = {path.stem: yaml.safe_load(path.read_text()) for path in folder.glob("*.yaml")}
    return ET.parse(ROOT / f"urdf/{robot}.urdf").getroot(), ET.parse(folder / f"{robot}.srdf").getroot(), loaded


def joints_of(urdf):
    return {joint.get("name"): joint for joint in urdf.findall("joint")}


def moving(urdf):
    return {name: joint for name, joint in joints_of(urdf).items() if joint.get("type") in ("revolute", "continuous", "prismatic")}


def groups(urdf, srdf):
    """The moving joints of each group, and its links."""
    by_child = {joint.find("child").get("link"): joint for joint in joints_of(urdf).values()}
    found = {}
    for group in srdf.findall("group"):
        joints = [joints_of(urdf)[joint.get("name")] for joint in group.findall("joint")]
        for chain in group.findall("chain"):
            link = chain.get("tip_link")
            while link != chain.get("base_link"):
                joints.insert(0, by_child[link])
                link = by_child[link].find("parent").get("link")
        names = [joint.get("name") for joint in joints if joint.get("name") in moving(urdf)]
        found[group.get("name")] = names, {joint.find("child").get("link") for joint in joints}
    return found


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_srdf_names_links_and_joints_of_the_robot(robot):
    urdf, srdf, _ = parsed(robot)
    links = {link.get("name") for link in urdf.findall("link")}
    assert srdf.get("name") == urdf.get("name") == robot
    found = groups(urdf, srdf)
    assert set(found) == {"arm", "gripper"}
    (arm, arm_links), (gripper, gripper_links) = found["arm"], found["gripper"]
    assert sorted(arm + gripper) == sorted(moving(urdf)), "each moving joint is in one group"
    assert not arm_links & gripper_links
    (end,) = srdf.findall("end_effector")
    assert end.get("group") == "gripper" and end.get("parent_group") == "arm" and end.get("parent_link") in arm_links
    for pair in srdf.findall("disable_collisions"):
        assert {pair.get("link1"), pair.get("link2")} <= links and pair.get("link1") != pair.get("link2")


@pytest.mark.parametrize("robot", ROBOTS)
def test_named_states_have_every_joint_of_their_group_within_its_limits(robot):
    urdf, srdf, _ = parsed(robot)
    found, joints = groups(urdf, srdf), moving(urdf)
    states = {state.get("name"): state for state in srdf.findall("group_state")}
    assert set(states) == {"home", "upright", "open", "closed"}
    for state in states.values():
        values = {joint.get("name"): float(joint.get("value")) for joint in state.findall("joint")}
        assert list(values) == found[state.get("group")][0]
        for name, value in values.items():
            limit = joints[name].find("limit")
            assert float(limit.get("lower", "-inf")) <= value <= float(limit.get("upper", "inf")), (state.get("name"), name)


@pytest.mark.parametrize("robot", ROBOTS)
def test_limits_and_controllers_agree_with_the_robot(robot):
    urdf, srdf, loaded = parsed(robot)
    joints = moving(urdf)
    limits = loaded["joint_limits"]["joint_limits"]
    assert list(limits) == list(joints)
    for name, entry in limits.items():
        limit = joints[name].find("limit")
        assert entry["has_velocity_limits"] and entry["has_acceleration_limits"]
        assert isinstance(entry["max_velocity"], float) and isinstance(entry["max_acceleration"], float)
        assert 0.0 < entry["max_velocity"] <= float(limit.get("velocity")) * (1.0 + 1e-9)
        stated = limit.get("{https://drake.mit.edu}acceleration")
        assert 0.0 < entry["max_acceleration"] <= float(stated or "inf")
    manager = loaded["moveit_controllers"]["moveit_simple_controller_manager"]
    (controller,) = manager["controller_names"]
    assert manager[controller]["type"] == "FollowJointTrajectory" and manager[controller]["joints"] == list(joints)
    assert set(loaded["kinematics"]) <= set(groups(urdf, srdf))


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_launch_file_gives_moveit_the_robot_and_the_simulator_its_action(installed, robot):
    path = installed / "share/isobar/launch/moveit.launch.py"
    processes, values = launching.evaluate(path, {"robot": robot})
    by_name = {process.executable: process for process in processes}
    assert set(by_name) == {"isobar_node", "robot_state_publisher", "move_group"}
    given = {}
    for entry in by_name["move_group"].parameters:
        given |= entry
    urdf, srdf, loaded = parsed(robot)
    assert ET.fromstring(given["robot_description"]).get("name") == robot
    assert ET.fromstring(given["robot_description_semantic"]).get("name") == robot
    assert given["robot_description_planning"] == loaded["joint_limits"] and given["robot_description_kinematics"] == loaded["kinematics"]
    assert given["use_sim_time"] is True and given["planning_pipelines"] == ["ompl"]
    assert given["moveit_controller_manager"].endswith("MoveItSimpleControllerManager")
    file, parameters = by_name["isobar_node"].parameters
    assert yaml.safe_load(open(file))["/**"]["ros__parameters"]["robot_namespaces"] is True
    scene = yaml.safe_load(open(parameters["scene"]))
    (model,) = [model for model in scene["models"] if model["urdf"].endswith(f"/{robot}.urdf")]
    assert [model["name"]] == given["moveit_simple_controller_manager"]["controller_names"]
    alone, _ = launching.evaluate(path, {"robot": robot, "move_group": "false", "scene": "/my.yaml"})
    assert [process.executable for process in alone] == ["isobar_node", "robot_state_publisher"]
    assert alone[0].parameters[1]["scene"] == "/my.yaml"


def test_namespace_and_prefix_apply_and_arguments_do_not_reach_other_files(installed):
    path = installed / "share/isobar/launch/moveit.launch.py"
    processes, values = launching.evaluate(path, {"namespace": "cell", "launch_prefix": "env X=1", "use_rviz": "true"})
    assert {process.executable: process.namespace for process in processes} == {
        name: "/cell" for name in ("isobar_node", "robot_state_publisher", "move_group", "rviz2")
    }
    assert {process.executable for process in processes if process.prefix == "env X=1"} == {"isobar_node"}
    assert {process.prefix for process in processes} == {"env X=1", None}
    # isobar.launch.py is included with a scene, and without RViz.
    assert values["use_rviz"] == "true" and values["scene"] == ""


def test_a_robot_without_files_is_refused_by_name(installed):
    with pytest.raises(ValueError, match="pr2.*iiwa14_wsg50, j2s7s300"):
        launching.evaluate(installed / "share/isobar/launch/moveit.launch.py", {"robot": "pr2"})


action = pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")
from control_msgs.msg import JointTolerance  # noqa: E402

FollowJointTrajectory = action.FollowJointTrajectory
Codes = FollowJointTrajectory.Result


def rest_to_rest(names, begin, end, seconds, count=20):
    """Points of the quintic from rest to rest, as a time parameterization of MoveIt gives them: evenly
    spaced, the first one at time zero at the present state, with positions, velocities and
    accelerations."""
    message = JointTrajectory(joint_names=list(names))
    message.header.frame_id = "world"
    for k in range(count + 1):
        s = k / count
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        rate = 30.0 * s * s * (1.0 - s) ** 2 / seconds
        change = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / seconds**2
        point = JointTrajectoryPoint()
        for a, b in zip(begin, end):
            point.positions.append(a + (b - a) * share)
            point.velocities.append((b - a) * rate)
            point.accelerations.append((b - a) * change)
        ns = round(s * seconds * 1e9)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(ns, 1_000_000_000)
        message.points.append(point)
    return message


class MoveIt:
    """Plans are replaced by `rest_to_rest`; execution is that of MoveIt's simple controller manager."""

    def __init__(self, listener, robot):
        self.listener = listener
        urdf, srdf, loaded = parsed(robot)
        self.groups = {name: joints for name, (joints, _) in groups(urdf, srdf).items()}
        self.states = {
            state.get("name"): [float(joint.get("value")) for joint in state.findall("joint")] for state in srdf.findall("group_state")
        }
        self.continuous = {name for name, joint in moving(urdf).items() if joint.get("type") == "continuous"}
        manager = loaded["moveit_controllers"]["moveit_simple_controller_manager"]
        (name,) = manager["controller_names"]
        self.client = ActionClient(listener.node, FollowJointTrajectory, f"/{name}/{manager[name]['action_ns']}")
        assert self.client.wait_for_server(PATIENCE)
        listener.listen(JointState, "/joint_states")
        listener.fresh("/joint_states")

    def positions(self, group):
        state = self.listener.fresh("/joint_states")
        known = dict(zip(state.name, state.position))
        return [known[joint] for joint in self.groups[group]]

    def plan(self, group, end, seconds):
        return rest_to_rest(self.groups[group], self.positions(group), end, seconds)

    def execute(self, trajectory, **fields):
        goal = FollowJointTrajectory.Goal(trajectory=trajectory, **fields)
        deadline = time.monotonic() + PATIENCE
        while True:
            # An answer is lost if the node has not discovered this client yet; a second goal replaces the
            # first.
            sent = self.client.send_goal_async(goal)
            answer = time.monotonic() + 5.0
            while not sent.done() and time.monotonic() < answer:
                self.listener.spin_for(0.02)
            if sent.done():
                assert sent.result().accepted
                return sent.result(), sent.result().get_result_async()
            assert time.monotonic() < deadline, "no answer to a goal"

    def outcome(self, result):
        self.listener.wait_until(result.done, "result")
        return result.result().status, result.result().result


@pytest.fixture(params=ROBOTS)
def moveit(request, launch, listener):
    launch("moveit.launch.py", {"robot": request.param, "move_group": "false", "real_time_factor": "4.0"})
    return MoveIt(listener, request.param)


def tolerances(names, position):
    return [JointTolerance(name=name, position=position) for name in names]


# Three joints are 0.3 rad away from `home`, which stays clear of the table.
def nearby(moveit):
    return [value + (0.3 if k in (0, 4, 6) else 0.0) for k, value in enumerate(moveit.states["home"])]


def test_plans_of_arm_and_gripper_are_executed(moveit):
    for group, end in [("arm", nearby(moveit)), ("gripper", moveit.states["open"]), ("arm", moveit.states["home"])]:
        names = moveit.groups[group]
        # The impedance of the scene follows within 5 mrad and 5 mm.
        goal = {"goal_tolerance": tolerances(names, 0.01), "path_tolerance": tolerances(names, 0.1)}
        _, result = moveit.execute(moveit.plan(group, end, 2.0), **goal)
        status, answer = moveit.outcome(result)
        assert (status, answer.error_code) == (GoalStatus.STATUS_SUCCEEDED, Codes.SUCCESSFUL), answer
        assert max(abs(a - b) for a, b in zip(moveit.positions(group), end)) < 0.02


def test_a_plan_that_counts_turns_otherwise_makes_no_turn(moveit):
    """MoveIt counts continuous joints from -pi to pi. The Jaco's first one stands above pi at `home`."""
    names, begin, end = moveit.groups["arm"], moveit.positions("arm"), nearby(moveit)
    turns = [math.tau if name in moveit.continuous else 0.0 for name in names]
    plan = rest_to_rest(names, [a - turn for a, turn in zip(begin, turns)], [b - turn for b, turn in zip(end, turns)], 2.0)
    _, result = moveit.execute(plan, path_tolerance=tolerances(names, 0.1))
    status, answer = moveit.outcome(result)
    assert (status, answer.error_code) == (GoalStatus.STATUS_SUCCEEDED, Codes.SUCCESSFUL), answer
    assert max(abs(a - b) for a, b in zip(moveit.positions("arm"), end)) < 0.02


def test_a_plan_that_is_stopped_or_replaced_leaves_a_state_to_plan_from(moveit):
    handle, result = moveit.execute(moveit.plan("arm", nearby(moveit), 20.0))
    begin = moveit.states["home"]
    moveit.listener.wait_until(lambda: abs(moveit.positions("arm")[0] - begin[0]) > 0.02, "motion")
    canceled = handle.cancel_goal_async()
    moveit.listener.wait_until(canceled.done, "answer to the cancellation")
    assert moveit.outcome(result)[0] == GoalStatus.STATUS_CANCELED
    _, replaced = moveit.execute(moveit.plan("arm", nearby(moveit), 20.0))
    _, result = moveit.execute(moveit.plan("arm", moveit.states["home"], 1.0))
    assert moveit.outcome(replaced)[0] == GoalStatus.STATUS_ABORTED
    status, answer = moveit.outcome(result)
    assert (status, answer.error_code) == (GoalStatus.STATUS_SUCCEEDED, Codes.SUCCESSFUL), answer


def test_plans_that_cannot_be_executed_are_aborted_with_the_reason(moveit):
    names = moveit.groups["arm"]
    _, result = moveit.execute(JointTrajectory(joint_names=names))
    status, answer = moveit.outcome(result)
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, Codes.INVALID_GOAL) and "no points" in answer.error_string
    unknown = moveit.plan("arm", moveit.states["home"], 1.0)
    unknown.joint_names[0] = "panda_joint1"
    status, answer = moveit.outcome(moveit.execute(unknown)[1])
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, Codes.INVALID_JOINTS), answer
    # No impedance follows a step within a millionth of a radian.
    jump = moveit.plan("arm", nearby(moveit), 0.02)
    goal = FollowJointTrajectory.Goal(goal_tolerance=tolerances(names, 1e-6))
    goal.goal_time_tolerance.nanosec = 1_000_000
    _, result = moveit.execute(jump, goal_tolerance=goal.goal_tolerance, goal_time_tolerance=goal.goal_time_tolerance)
    status, answer = moveit.outcome(result)
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, Codes.GOAL_TOLERANCE_VIOLATED), answer
    assert all(math.isfinite(value) for value in moveit.positions("arm"))
