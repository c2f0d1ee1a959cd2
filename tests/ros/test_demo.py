"""The demo's monitor: the simulation stays paused until the node, the controller and the monitor receive each
other's messages."""

import sys

from conftest import BEST_EFFORT, ROOT, RUNNING, LaunchedProcess
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

# The largest simulated time while the controller does not receive the node's messages [s]: a hundred steps of
# a millisecond. The monitor requests ten steps per second, and this lasts one second here; the rest allows
# for a loaded machine.
STANDS = 0.1


def test_the_simulation_stands_until_the_controller_hears_it(start, listener, tmp_path):
    """The controller's publishers are known long before it receives messages of the node, as can happen on a
    loaded machine."""
    commands = listener.node.create_publisher(JointState, "/joint_commands", 10)
    forces = [listener.node.create_publisher(Float64, f"/grip_force/{name}", 10) for name in ("commanded", "measured")]
    clock = listener.listen(Clock, "/clock", BEST_EFFORT)
    now = lambda: clock[-1].clock.sec + 1e-9 * clock[-1].clock.nanosec if clock else 0.0
    node = start(scene_path=ROOT / "config/spatula_slip.yaml", parameters=["start_paused:=true"])
    program = [sys.executable, str(ROOT / "scripts/lib/monitor.py"), "--seconds", "1", "--out", str(tmp_path)]
    monitor = LaunchedProcess([*program, "--watch", str(node.process.pid)], tmp_path)
    RUNNING.append(monitor)
    listener.wait_until(lambda: all(force.get_subscription_count() for force in forces), "monitor")
    # The monitor requests steps only when it knows all publishers.
    listener.wait_until(lambda: now() > 0.0, "first step")
    listener.spin_for(1.0)
    assert now() < STANDS

    def answer(state):
        commands.publish(JointState(header=state.header, name=state.name, effort=[16.0, -16.0]))
        for force in forces:
            force.publish(Float64(data=16.0))

    # From here on the monitor may end, so the waits below do not require that it runs.
    RUNNING.remove(monitor)
    listener.node.create_subscription(JointState, "/joint_states", answer, 10)
    listener.wait_until(lambda: monitor.process.poll() is not None, "end of the monitor")
    assert monitor.process.returncode == 0, monitor.log()
    # The first phase of the table: 16 N from the start on.
    phase = (tmp_path / "summary.txt").read_text().splitlines()[2].split()
    assert float(phase[0]) == 16.0 and float(phase[1]) < 2 * STANDS
    assert (tmp_path / "grip.png").exists()
