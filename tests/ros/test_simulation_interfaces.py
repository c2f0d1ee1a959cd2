"""The services and the action of simulation_interfaces: states, steps, resets, entities."""

import math

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from conftest import BEST_EFFORT, PATIENCE, SCENES, client_starter
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

action = pytest.importorskip("simulation_interfaces.action", reason="simulation_interfaces is not installed")
from simulation_interfaces import srv  # noqa: E402
from simulation_interfaces.msg import (  # noqa: E402
    Bounds,
    EntityCategory,
    EntityInfo,
    Result,
    SimulationState,
    SimulatorFeatures,
    TagsFilter,
)

STEP_NS = 1_000_000
# A settled scene is at rest within this tolerance [m].
AT_REST = 1e-4


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


class Simulator:
    """Calls of the standard services."""

    def __init__(self, listener):
        self.listener = listener
        self.clock = listener.listen(Clock, "/clock", BEST_EFFORT)

    def wait(self):
        """Waits until it answers."""
        self.listener.meet()

    def call(self, name, **fields):
        kind = getattr(srv, name)
        service = "".join("_" + c.lower() if c.isupper() else c for c in name)[1:]
        return self.listener.call(kind, f"/isobar/{service}", kind.Request(**fields))

    def state(self):
        return self.call("GetSimulationState").state.state

    def set_state(self, state):
        return self.call("SetSimulationState", state=SimulationState(state=state)).result

    def entity(self, name):
        answer = self.call("GetEntityState", entity=name)
        assert answer.result.result == Result.RESULT_OK, answer.result
        return answer.state

    def time(self):
        """Simulated time of the present state, by a service: a clock message may still be on its way."""
        return nanoseconds(self.entity("ball").header.stamp)

    def place(self, entity, position=(0.5, 0.0, 1.0), orientation=(0.0, 0.0, 0.0, 1.0), linear=(0.0, 0.0, 0.0), frame=""):
        request = srv.SetEntityState.Request(entity=entity)
        request.state.header.frame_id = frame
        pose, twist = request.state.pose, request.state.twist
        pose.position.x, pose.position.y, pose.position.z = position
        pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w = orientation
        twist.linear.x, twist.linear.y, twist.linear.z = linear
        if hasattr(request, "set_pose"):
            request.set_pose = request.set_twist = True
        return self.listener.call(srv.SetEntityState, "/isobar/set_entity_state", request).result

    def names(self, **filters):
        request = srv.GetEntities.Request()
        for key, value in filters.items():
            setattr(request.filters, key, value)
        return self.listener.call(srv.GetEntities, "/isobar/get_entities", request)


@pytest.fixture
def simulator(start, listener):
    return client_starter(Simulator, start, listener)


def test_features_are_reported(simulator):
    features = simulator().call("GetSimulatorFeatures").features
    assert {
        SimulatorFeatures.ENTITY_STATE_GETTING,
        SimulatorFeatures.ENTITY_STATE_SETTING,
        SimulatorFeatures.SIMULATION_RESET_TIME,
        SimulatorFeatures.SIMULATION_STATE_PAUSE,
        SimulatorFeatures.STEP_SIMULATION_ACTION,
    } <= set(features.features)
    assert SimulatorFeatures.NAMED_POSES not in features.features
    assert "Isobar" in features.custom_info


def test_states_follow_each_other_as_the_standard_says(simulator):
    simulator = simulator()
    S, codes = SimulationState, srv.SetSimulationState.Response
    assert simulator.state() == S.STATE_PLAYING
    assert simulator.set_state(S.STATE_PLAYING).result == codes.ALREADY_IN_TARGET_STATE
    assert simulator.set_state(S.STATE_PAUSED).result == Result.RESULT_OK
    before = simulator.time()
    simulator.listener.spin_for(0.2)
    assert simulator.time() == before > 0, "paused"
    assert simulator.state() == S.STATE_PAUSED
    assert simulator.set_state(S.STATE_STOPPED).result == Result.RESULT_OK
    assert (simulator.state(), simulator.time()) == (S.STATE_STOPPED, 0), "stopped is at the start"
    assert simulator.set_state(S.STATE_PAUSED).result == Result.RESULT_OK
    assert (simulator.state(), simulator.time()) == (S.STATE_PAUSED, 0)
    for impossible in (S.STATE_NO_WORLD, S.STATE_LOADING_WORLD, 77):
        assert simulator.set_state(impossible).result == codes.INCORRECT_TRANSITION
    assert simulator.set_state(S.STATE_PLAYING).result == Result.RESULT_OK
    simulator.listener.wait_until(lambda: simulator.time() > 0, "time")
    # The service ~/pause changes the same state.
    assert simulator.listener.call(SetBool, "/isobar/pause", SetBool.Request(data=True)).success
    assert simulator.state() == S.STATE_PAUSED
    assert simulator.set_state(S.STATE_QUITTING).result == Result.RESULT_OK
    assert simulator.node.process.wait(PATIENCE) == 0
    assert "panicked" not in simulator.node.log()


def test_steps_are_counted_and_refused_while_playing(simulator):
    simulator = simulator()
    refused = simulator.call("StepSimulation", steps=1).result
    assert refused.result == Result.RESULT_OPERATION_FAILED and "pause it first" in refused.error_message
    assert simulator.set_state(SimulationState.STATE_PAUSED).result == Result.RESULT_OK
    before = simulator.time()
    for steps in (1, 0, 250):
        assert simulator.call("StepSimulation", steps=steps).result.result == Result.RESULT_OK
    assert simulator.time() - before == 251 * STEP_NS
    assert simulator.state() == SimulationState.STATE_PAUSED
    too_many = simulator.call("StepSimulation", steps=2**64 - 1)
    assert too_many.result.result == Result.RESULT_OPERATION_FAILED
    assert simulator.time() - before == 251 * STEP_NS


class Goal:
    """A goal of the action, sent and followed."""

    def __init__(self, listener, steps):
        self.listener, self.feedback = listener, []
        self.client = ActionClient(listener.node, action.SimulateSteps, "/isobar/simulate_steps")
        assert self.client.wait_for_server(PATIENCE)
        listener.meet()
        request = action.SimulateSteps.Goal(steps=steps)
        sent = self.client.send_goal_async(request, feedback_callback=lambda m: self.feedback.append(m.feedback))
        listener.wait_until(sent.done, "answer to the goal")
        self.handle = sent.result()
        assert self.handle.accepted
        self.future = self.handle.get_result_async()

    def result(self):
        self.listener.wait_until(self.future.done, "result")
        return self.future.result()

    def cancel(self):
        answer = self.handle.cancel_goal_async()
        self.listener.wait_until(answer.done, "answer to the cancellation")
        return answer.result()


def test_the_action_steps_with_feedback(simulator, listener):
    simulator = simulator()
    playing = Goal(listener, 5).result()
    assert playing.status == GoalStatus.STATUS_ABORTED
    assert playing.result.result.result == Result.RESULT_OPERATION_FAILED
    assert simulator.set_state(SimulationState.STATE_PAUSED).result == Result.RESULT_OK
    before, steps = simulator.time(), 5000
    goal = Goal(listener, steps)
    result = goal.result()
    assert (result.status, result.result.result.result) == (GoalStatus.STATUS_SUCCEEDED, Result.RESULT_OK)
    # Feedback and results come on different channels: feedback that arrives after the result is lost.
    completed = [feedback.completed_steps for feedback in goal.feedback]
    assert completed and completed == sorted(set(completed)) and completed[-1] <= steps
    assert all(feedback.completed_steps + feedback.remaining_steps == steps for feedback in goal.feedback)
    assert simulator.time() - before == steps * STEP_NS
    nothing = Goal(listener, 0).result()
    assert (nothing.status, nothing.result.result.result) == (GoalStatus.STATUS_SUCCEEDED, Result.RESULT_OK)


def test_the_action_is_canceled_in_the_middle(simulator, listener):
    simulator = simulator()
    assert simulator.set_state(SimulationState.STATE_PAUSED).result == Result.RESULT_OK
    before = simulator.time()
    goal = Goal(listener, 10**12)
    listener.wait_until(lambda: goal.feedback, "feedback")
    assert goal.cancel().goals_canceling
    result = goal.result()
    assert result.status == GoalStatus.STATUS_CANCELED
    taken = simulator.time() - before
    assert f"canceled after {taken // STEP_NS} steps" in result.result.result.error_message
    listener.spin_for(0.2)
    assert simulator.time() - before == taken, "it stands"
    # The next one starts from there; pausing again and resuming end it.
    assert simulator.call("StepSimulation", steps=3).result.result == Result.RESULT_OK
    assert simulator.time() - before == taken + 3 * STEP_NS
    endless = Goal(listener, 10**12)
    listener.wait_until(lambda: endless.feedback, "feedback")
    assert simulator.set_state(SimulationState.STATE_PLAYING).result == Result.RESULT_OK
    result = endless.result()
    assert result.status == GoalStatus.STATUS_ABORTED and "interrupted" in result.result.result.error_message
    # Canceling a finished goal is answered too.
    assert not endless.cancel().goals_canceling
    assert simulator.node.process.poll() is None


def test_resets_are_by_scope(simulator, listener):
    simulator = simulator()
    scopes = srv.ResetSimulation.Request
    commands = listener.publisher(JointState, "joint_commands")
    states = listener.listen(JointState, "joint_states")

    def arrived():
        # The message is repeated, because the node may discover this publisher only after it has sent.
        commands.publish(JointState(name=["slide"], position=[0.09]))
        return states and states[-1].position[0] > 0.08

    listener.wait_until(arrived, "position")
    assert simulator.set_state(SimulationState.STATE_PAUSED).result == Result.RESULT_OK
    before = simulator.time()
    assert before > 0

    def reset(scope):
        result = simulator.call("ResetSimulation", scope=scope).result.result
        now = simulator.time()
        listener.wait_until(lambda: nanoseconds(states[-1].header.stamp) == now, "the state after the reset")
        return result, now, states[-1].position[0] > 0.08

    # The simulation is paused, so only the requested steps are taken between the resets.
    assert reset(scopes.SCOPE_TIME) == (Result.RESULT_OK, 0, True)
    assert simulator.call("StepSimulation", steps=7).result.result == Result.RESULT_OK
    assert simulator.time() == 7 * STEP_NS
    assert reset(scopes.SCOPE_STATE) == (Result.RESULT_OK, 8 * STEP_NS, False)
    assert reset(scopes.SCOPE_DEFAULT) == (Result.RESULT_OK, 0, False)
    assert simulator.call("ResetSimulation", scope=64).result.result == Result.RESULT_FEATURE_UNSUPPORTED
    assert simulator.state() == SimulationState.STATE_PAUSED


def test_entities_are_the_models(simulator):
    simulator = simulator()
    assert simulator.names().entities == ["press", "ball"]
    assert simulator.names(filter="^b.l+$").entities == ["ball"]
    assert simulator.names(filter="[[:digit:]]").entities == []
    bad = simulator.names(filter="(((")
    assert bad.result.result == Result.RESULT_OPERATION_FAILED and not bad.entities
    assert simulator.names(filter="(a{1000}){1000}").result.result == Result.RESULT_OPERATION_FAILED
    # A filter is read up to 4096 bytes; one byte more is refused with the limit.
    assert simulator.names(filter="ball|" + "x" * 4091).entities == ["ball"]
    long = simulator.names(filter="ball|" + "x" * 4092)
    assert long.result.result == Result.RESULT_OPERATION_FAILED and not long.entities
    assert "4097 bytes long; at most 4096" in long.result.error_message
    robots = [EntityCategory(category=EntityCategory.CATEGORY_ROBOT)]
    assert simulator.names(categories=robots).entities == ["press"]
    info = simulator.call("GetEntityInfo", entity="ball").info
    assert info.category.category == EntityCategory.CATEGORY_OBJECT and not info.tags
    info = EntityInfo(category=robots[0], description="a toy", tags=["round", "soft"])
    assert simulator.call("SetEntityInfo", entity="ball", info=info).result.result == Result.RESULT_OK
    assert simulator.call("GetEntityInfo", entity="ball").info == info
    assert simulator.names(categories=robots).entities == ["press", "ball"]
    both = ["round", "hard"]
    assert simulator.names(tags=TagsFilter(tags=both)).entities == ["ball"]
    assert simulator.names(tags=TagsFilter(tags=both, filter_mode=TagsFilter.FILTER_MODE_ALL)).entities == []
    for service in ("GetEntityState", "GetEntityInfo", "GetEntityBounds", "SetEntityInfo", "SetEntityState"):
        for name in ("bal", "", "x" * 100_000, "ball\n", "../ball"):
            result = simulator.call(service, entity=name).result
            assert result.result == Result.RESULT_NOT_FOUND and len(result.error_message) < 1000, service
    assert "did you mean 'ball'?" in simulator.call("GetEntityState", entity="bal").result.error_message
    long = EntityInfo(description="x" * 1_000_000)
    assert simulator.call("SetEntityInfo", entity="ball", info=long).result.result == Result.RESULT_OPERATION_FAILED


def test_bounds_of_entities(simulator):
    simulator = simulator()
    answer = simulator.call("GetEntityBounds", entity="ball")
    assert answer.bounds.type == Bounds.TYPE_BOX
    upper, lower = answer.bounds.points
    for corner, sign in ((upper, 1), (lower, -1)):
        assert all(abs(x - sign * 0.05) < 1e-9 for x in (corner.x, corner.y, corner.z)), "about its own origin"

    def vector(x, y=0.0, z=0.0):
        return type(upper)(x=x, y=y, z=z)

    ball = Bounds(type=Bounds.TYPE_SPHERE, points=[vector(0.7), vector(0.2)])
    assert simulator.names(bounds=ball).entities == ["ball"]
    box = Bounds(type=Bounds.TYPE_BOX, points=[vector(0.3, 0.3, 0.3), vector(-0.3, -0.3, -0.3)])
    assert simulator.names(bounds=box).entities == ["press"]
    hull = Bounds(type=Bounds.TYPE_CONVEX_HULL, points=[vector(0.0), vector(1.0), vector(0.0, 1.0)])
    assert simulator.names(bounds=hull).result.result == Result.RESULT_FEATURE_UNSUPPORTED
    for bad in ([], [vector(0.0)], [vector(math.nan), vector(1.0)], [vector(0.0), vector(-1.0)]):
        bounds = Bounds(type=Bounds.TYPE_SPHERE, points=bad)
        assert simulator.names(bounds=bounds).result.result == Result.RESULT_OPERATION_FAILED, bad


def test_states_of_entities_are_read_and_set(simulator, listener):
    simulator = simulator()
    assert simulator.set_state(SimulationState.STATE_PAUSED).result == Result.RESULT_OK
    assert abs(simulator.entity("ball").pose.position.z - 0.05) < 2e-3
    assert simulator.place("ball", (0.5, 0.0, 1.0), linear=(0.0, 0.3, 0.0)).result == Result.RESULT_OK
    placed = simulator.entity("ball")
    assert (placed.pose.position.z, placed.twist.linear.y) == (1.0, 0.3)
    # Free fall for 100 steps of dt: symplectic, so dz = -g dt^2 n (n + 1)/2.
    assert simulator.call("StepSimulation", steps=100).result.result == Result.RESULT_OK
    fallen = simulator.entity("ball")
    assert abs(fallen.pose.position.z - 1.0 + 9.81e-6 * 5050) < 1e-9
    assert abs(fallen.pose.position.y - 0.03) < 1e-9
    assert abs(fallen.acceleration.linear.z + 9.81) < 1e-6
    assert fallen.header.frame_id == "world"
    request = srv.GetEntitiesStates.Request()
    all_states = listener.call(srv.GetEntitiesStates, "/isobar/get_entities_states", request)
    assert all_states.entities == ["press", "ball"] and all_states.states[1] == fallen
    invalid = srv.SetEntityState.Response.INVALID_POSE
    assert simulator.place("ball", orientation=(0.0, 0.0, 0.0, 0.0)).result == invalid
    assert simulator.place("ball", orientation=(math.nan, 0.0, 0.0, 1.0)).result == invalid
    assert simulator.place("ball", position=(math.inf, 0.0, 0.0)).result == invalid
    assert simulator.place("ball", position=(1e9, 0.0, 0.0)).result == invalid
    assert simulator.place("ball", frame="nowhere").result == invalid
    assert simulator.place("ball", linear=(math.nan, 0.0, 0.0)).result == Result.RESULT_OPERATION_FAILED
    welded = simulator.place("press")
    assert welded.result == Result.RESULT_OPERATION_FAILED and "welded" in welded.error_message
    assert simulator.entity("ball") == fallen, "the refused requests have changed nothing"
    # A reset returns to the scene's start, not to the pose that was set.
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    listener.wait_until(lambda: abs(simulator.entity("ball").pose.position.z - 0.0499) < AT_REST, "the start")


@pytest.mark.skipif(not hasattr(srv.SetEntityState.Request, "set_pose"), reason="before 2.1 all of a state is set")
def test_parts_of_a_state_are_set(simulator, listener):
    simulator = simulator()
    assert simulator.set_state(SimulationState.STATE_PAUSED).result == Result.RESULT_OK
    assert simulator.place("ball", (0.5, 0.0, 1.0), linear=(0.0, 0.3, 0.0)).result == Result.RESULT_OK

    def place(**parts):
        request = srv.SetEntityState.Request(entity="ball", **parts)
        request.state.pose.position.z = 2.0
        request.state.twist.linear.y = -0.7
        # Fields that are not to be set may have any value.
        request.state.pose.orientation.w = 1.0 if request.set_pose else math.nan
        request.state.twist.linear.x = 0.0 if request.set_twist else math.inf
        result = listener.call(srv.SetEntityState, "/isobar/set_entity_state", request).result
        assert result.result == Result.RESULT_OK, result
        state = simulator.entity("ball")
        return state.pose.position.z, state.twist.linear.y

    assert place() == (1.0, 0.3)
    assert place(set_acceleration=True) == (1.0, 0.3)
    assert place(set_pose=True) == (2.0, 0.3)
    assert place(set_twist=True) == (2.0, -0.7)


def test_a_halted_simulation_is_not_said_to_run(simulator, listener, tmp_path):
    """Regression, observed on the built node: ~/pause with false answered "running", and so did the state."""
    text = (SCENES / "press.yaml").read_text().replace("urdf: ", f"urdf: {SCENES}/")
    scene = tmp_path / "halted.yaml"
    scene.write_text(text + "wrenches: { ball: { force: [0, 0, { table: [[0, 0], [0.1, 0], [0.2, 1.0e+300]] }] } }\n")
    simulator = simulator(scene_path=scene)
    listener.wait_until(lambda: "The simulation is halted" in simulator.node.log(), "the failed step")
    assert simulator.state() == SimulationState.STATE_PAUSED
    for pause, success in ((False, False), (True, True), (False, False)):
        answer = listener.call(SetBool, "/isobar/pause", SetBool.Request(data=pause))
        assert answer.success == success and (success or "Reset the simulation first" in answer.message), answer
    refused = simulator.call("StepSimulation", steps=1).result
    assert refused.result != Result.RESULT_OK, refused
    assert simulator.set_state(SimulationState.STATE_PLAYING).result != Result.RESULT_OK
    # After a reset it runs until the wrench acts again.
    assert listener.call(Trigger, "/isobar/reset", Trigger.Request()).success
    assert listener.call(SetBool, "/isobar/pause", SetBool.Request(data=False)).success
    assert simulator.set_state(SimulationState.STATE_STOPPED).result == Result.RESULT_OK


def test_entities_answer_while_lockstep_waits(simulator):
    simulator = simulator(parameters=["lockstep:=true"])
    assert simulator.place("ball").result == Result.RESULT_OK
    assert simulator.entity("ball").pose.position.z == 1.0
    assert simulator.time() == 0
    assert rclpy.ok()
