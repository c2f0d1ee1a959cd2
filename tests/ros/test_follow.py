"""The action FollowJointTrajectory of control_msgs: tolerances, feedback, cancellation, preemption."""

import math

import pytest
from action_msgs.msg import GoalStatus
from conftest import PATIENCE, RUNNING
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectoryPoint

action = pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")
from control_msgs.msg import JointTolerance  # noqa: E402

FollowJointTrajectory = action.FollowJointTrajectory
Codes = FollowJointTrajectory.Result


def trajectory(*points, names=("slide",)):
    """Points are (time, position)."""
    message = JointTrajectory(joint_names=list(names))
    for time, position in points:
        point = JointTrajectoryPoint(positions=[position] * len(names))
        point.time_from_start.sec = int(time)
        point.time_from_start.nanosec = int(time % 1 * 1e9)
        message.points.append(point)
    return message


class Client:
    def __init__(self, listener, name="/follow_joint_trajectory"):
        self.listener = listener
        self.client = ActionClient(listener.node, FollowJointTrajectory, name)
        assert self.client.wait_for_server(PATIENCE)
        listener.listen(JointState, "joint_states")
        listener.meet()
        listener.fresh("joint_states")

    def send(self, message, **fields):
        return Goal(self, FollowJointTrajectory.Goal(trajectory=message, **fields))


class Goal:
    def __init__(self, client, goal):
        self.listener, self.feedback = client.listener, []
        sent = client.client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        self.listener.wait_until(sent.done, "answer to the goal")
        self.handle = sent.result()
        assert self.handle.accepted
        self.future = self.handle.get_result_async()

    def result(self):
        self.listener.wait_until(self.future.done, "result")
        return self.future.result().status, self.future.result().result

    def cancel(self):
        answer = self.handle.cancel_goal_async()
        self.listener.wait_until(answer.done, "answer to the cancellation")
        return answer.result().goals_canceling


def tolerance(position, name="slide"):
    return JointTolerance(name=name, position=position)


def test_a_goal_is_followed_with_feedback_and_reached(start, listener):
    # Feedback that arrives after the result is lost. The run is slow, so that some arrives before.
    start(parameters=["real_time_factor:=0.25"])
    client = Client(listener)
    # The slide sinks by 2.45 mm under its own weight.
    goal = client.send(trajectory((0.5, 0.05), (1.0, 0.08)), path_tolerance=[tolerance(0.05)], goal_tolerance=[tolerance(0.004)])
    status, result = goal.result()
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Codes.SUCCESSFUL)
    listener.wait_until(lambda: abs(listener.heard["joint_states"][-1].position[0] - 0.08) < 0.01, "the last point")
    assert len(goal.feedback) >= 3
    for feedback in goal.feedback:
        assert feedback.joint_names == ["slide"]
        error = feedback.desired.positions[0] - feedback.actual.positions[0]
        assert abs(feedback.error.positions[0] - error) < 1e-12
    wanted = [feedback.desired.positions[0] for feedback in goal.feedback]
    assert wanted == sorted(wanted) and -0.003 < wanted[0] < 0.08


def test_tolerances_end_goals(start, listener):
    start()
    client = Client(listener)
    status, result = client.send(trajectory((0.05, 0.1)), path_tolerance=[tolerance(1e-4)]).result()
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Codes.PATH_TOLERANCE_VIOLATED)
    assert "slide" in result.error_string
    fields = {"goal_tolerance": [tolerance(1e-3)]}
    goal = FollowJointTrajectory.Goal(trajectory=trajectory((0.3, 0.05)), **fields)
    goal.goal_time_tolerance.nanosec = 200_000_000
    status, result = Goal(client, goal).result()
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Codes.GOAL_TOLERANCE_VIOLATED)
    # A velocity that is not reached within its tolerance fails, too.
    fast = JointTolerance(name="slide", position=-1.0, velocity=1e-6)
    status, result = client.send(trajectory((0.3, 0.1)), path_tolerance=[fast]).result()
    assert result.error_code == Codes.PATH_TOLERANCE_VIOLATED


def test_goals_are_canceled_and_preempted(start, listener):
    start()
    client = Client(listener)
    slow = trajectory((20.0, 0.1))
    goal = client.send(slow)
    listener.wait_until(lambda: goal.feedback, "feedback")
    assert goal.cancel()
    status, result = goal.result()
    assert status == GoalStatus.STATUS_CANCELED and result.error_string == "canceled"
    here = listener.fresh("joint_states").position[0]
    listener.wait_for_time(listener.heard["joint_states"], 0.3)
    assert abs(listener.fresh("joint_states").position[0] - here) < 0.005, "held where it was"
    first = client.send(slow)
    second = client.send(slow)
    status, result = first.result()
    assert status == GoalStatus.STATUS_ABORTED and "ended it" in result.error_string
    commands = listener.publisher(JointState, "joint_commands")

    def commanded():
        commands.publish(JointState(name=["slide"], position=[0.01]))
        return second.future.done()

    listener.wait_until(commanded, "end of the second goal")
    assert second.result()[0] == GoalStatus.STATUS_ABORTED
    third = client.send(slow)
    while not third.feedback:
        # A command that was on its way ended it.
        if third.future.done():
            third = client.send(slow)
        listener.wait_until(lambda: third.feedback or third.future.done(), "feedback")
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    assert third.result()[0] == GoalStatus.STATUS_ABORTED
    assert not third.cancel()


def test_a_cancellation_leaves_the_next_goal_alone(start, listener):
    """Regression, observed on the built node: a goal that was sent just after the cancellation of another one
    was ended by it in half of the cases."""
    start()
    client = Client(listener)
    for number in range(10):
        first = client.send(trajectory((30.0, 0.02)))
        listener.spin_for(0.05)
        canceled = first.handle.cancel_goal_async()
        second = client.send(trajectory((0.1, 0.01 + 0.001 * number)))
        status, result = second.result()
        assert status == GoalStatus.STATUS_SUCCEEDED, result
        listener.wait_until(canceled.done, "answer to the cancellation")
        assert first.result()[0] in (GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


def test_goals_end_with_the_node(start, listener):
    """Regression, observed on the built node: their clients waited for ever."""
    node = start()
    client = Client(listener)
    goal = client.send(trajectory((30.0, 0.02)))
    listener.spin_for(0.5)
    RUNNING.clear()
    assert node.end() == 0
    status, result = goal.result()
    assert status == GoalStatus.STATUS_ABORTED and result.error_string == "the node ends", (status, result)


def test_malformed_goals_are_aborted_with_their_reason(start, listener):
    node = start()
    client = Client(listener)
    good = trajectory((1.0, 0.0))
    nan = trajectory((1.0, math.nan))
    old = trajectory((0.001, 0.0))
    old.header.stamp.nanosec = 1
    listener.wait_until(lambda: listener.heard["joint_states"][-1].header.stamp.nanosec > 10_000_000, "time")
    twice = [tolerance(1.0), tolerance(0.5)]
    multi = FollowJointTrajectory.Goal(trajectory=good)
    multi.multi_dof_trajectory.points.append(MultiDOFJointTrajectoryPoint())
    for goal, code, reason in [
        (FollowJointTrajectory.Goal(), Codes.INVALID_GOAL, "no points"),
        (FollowJointTrajectory.Goal(trajectory=nan), Codes.INVALID_GOAL, "must be finite"),
        (FollowJointTrajectory.Goal(trajectory=trajectory((1.0, 9.0))), Codes.INVALID_GOAL, "beyond its limits"),
        (FollowJointTrajectory.Goal(trajectory=trajectory((2.0, 0.0), (1.0, 0.0))), Codes.INVALID_GOAL, "later"),
        (FollowJointTrajectory.Goal(trajectory=trajectory((1.0, 0.0), names=["slied"])), Codes.INVALID_JOINTS, "'slide'"),
        (FollowJointTrajectory.Goal(trajectory=good, path_tolerance=[tolerance(1.0, "x" * 100_000)]), Codes.INVALID_JOINTS, "x"),
        (FollowJointTrajectory.Goal(trajectory=good, goal_tolerance=[tolerance(math.nan)]), Codes.INVALID_GOAL, "number"),
        (FollowJointTrajectory.Goal(trajectory=old), Codes.OLD_HEADER_TIMESTAMP, "past"),
        (multi, Codes.INVALID_GOAL, "degrees of freedom"),
        (FollowJointTrajectory.Goal(trajectory=good, path_tolerance=twice), Codes.INVALID_GOAL, "path_tolerance: joint 'slide' has two"),
        (FollowJointTrajectory.Goal(trajectory=good, goal_tolerance=twice), Codes.INVALID_GOAL, "goal_tolerance: joint 'slide' has two"),
    ]:
        status, result = Goal(client, goal).result()
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, code), result
        assert reason in result.error_string and len(result.error_string) < 1000
    assert node.process.poll() is None and "panicked" not in node.log()


def test_each_robot_has_its_own(start, listener):
    start(scene="two_presses.yaml", parameters=["robot_namespaces:=true"])
    client = Client(listener, "/left/follow_joint_trajectory")
    status, result = client.send(trajectory((0.3, 0.05))).result()
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Codes.SUCCESSFUL)
    state = listener.fresh("joint_states")
    position = dict(zip(state.name, state.position))
    assert position["left_slide"] > 0.04 and position["right_slide"] < 0.01


def test_lockstep_refuses_goals(start, listener):
    start(parameters=["lockstep:=true"])
    status, result = Client(listener).send(trajectory((0.3, 0.05))).result()
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Codes.INVALID_GOAL)


def test_a_tolerance_of_velocity_leaves_that_of_position_to_the_node(start, listener):
    start(parameters=["trajectory_tolerance:=0.0001"])
    fast = JointTolerance(name="slide", position=0.0, velocity=100.0)
    status, result = Client(listener).send(trajectory((0.05, 0.1)), path_tolerance=[fast]).result()
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Codes.PATH_TOLERANCE_VIOLATED)


def test_a_goal_without_a_time_waits_for_its_end(start, listener):
    """The goal waits as in ros2_control's joint_trajectory_controller with its default `goal_time` of 0. The
    slide sinks by 2.45 mm under its own weight, until its actuator is stiff enough."""
    start(parameters=["real_time_factor:=20.0"])
    goal = FollowJointTrajectory.Goal(trajectory=trajectory((0.3, 0.05)), goal_tolerance=[tolerance(1e-4)])
    goal = Goal(Client(listener), goal)
    states = listener.heard["joint_states"]
    listener.wait_for_time(states, 15.0)
    assert not goal.future.done()
    # The sag is 0.05 mm then.
    assert listener.set_parameter("gains.slide.stiffness", 1e5).successful
    status, result = goal.result()
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Codes.SUCCESSFUL), result
