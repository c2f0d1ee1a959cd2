"""docs/reference/ros.md lists the interfaces of the running node, and no others."""

import importlib.util
import re

import pytest
from conftest import BEST_EFFORT, ROOT, SCENES
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.node import NodeNameNonExistentError
from rosgraph_msgs.msg import Clock

TYPES = {1: "boolean", 2: "integer", 3: "double", 4: "string", 8: "double array"}


def tables():
    """The rows of each table of the page, by their first heading."""
    found, rows, heading = {}, None, None
    for line in (ROOT / "docs" / "reference" / "ros.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            heading = None
        elif heading is None:
            heading, rows = cells[0], found.setdefault(cells[0] + (" QoS" if "QoS" in cells else ""), [])
        elif not set(cells[0]) <= set("-"):
            rows.append([cell.strip("`") for cell in cells])
    return found


def pattern(name):
    """A documented name as a pattern of full names."""
    full = name.replace("~/", "/isobar/") if name.startswith("~/") else name
    full = full if full.startswith("/") else f"/{full}"
    return re.compile(re.sub(r"<[a-z]+>", r"[^/]+", full) + "$")


def compare(documented, running):
    """Both lists are of (name, type)."""
    rows = [(pattern(name), name, kind) for name, kind in documented]
    for name, kind in running:
        # A row without a placeholder is matched before one with a placeholder.
        fits = sorted((row for row in rows if row[0].match(name)), key=lambda row: "<" in row[1])
        assert fits, f"{name} [{kind}] is not documented"
        assert fits[0][2] == kind, f"{name} is {kind}, not {fits[0][2]}"
    for row, name, kind in rows:
        assert any(row.match(other) for other, _ in running), f"{name} is documented, but does not exist"


# Optional packages: without one of them the node lacks a part.
OPTIONAL = ("tf2_msgs", "control_msgs", "ros_gz_interfaces", "simulation_interfaces")


def documented_names(heading):
    """The rows of a table, and the interfaces of the page's actions; without those of packages that are not
    installed."""
    rows = [row[:3] for row in tables()[heading]]
    for name, kind, *_ in tables()["action"]:
        if heading == "service":
            rows.append([f"{name}/_action/send_goal", f"{kind}_SendGoal", ""])
            rows.append([f"{name}/_action/get_result", f"{kind}_GetResult", ""])
            rows.append([f"{name}/_action/cancel_goal", "action_msgs/srv/CancelGoal", ""])
        elif heading == "topic QoS":
            rows.append([f"{name}/_action/feedback", f"{kind}_FeedbackMessage", "reliable, volatile"])
            rows.append([f"{name}/_action/status", "action_msgs/msg/GoalStatusArray", "reliable, latched"])
    missing = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]
    actions = [row[0] for row in tables()["action"] if row[1].split("/")[0] in missing]
    gone = lambda row: row[1].split("/")[0] in missing or any(row[0].startswith(f"{action}/") for action in actions)
    return [row for row in rows if not gone(row)]


def discovered(listener, query, prefix="/isobar"):
    """The result of a query of the node's names and types once discovery is complete."""

    def names():
        try:
            return [(name, kinds[0]) for name, kinds in query("isobar", "/")]
        except NodeNameNonExistentError:
            return None

    return listener.settled(names, "the node's names", prefix)


@pytest.fixture
def graph(start, listener, tmp_path):
    """A node with everything switched on: two robots, a free body, outputs, a sensor."""
    text = (SCENES / "two_presses.yaml").read_text().replace("urdf: press.urdf", f"urdf: {SCENES / 'press.urdf'}")
    text += f"  - {{ name: ball, urdf: {SCENES / 'ball.urdf'}, free: {{ xyz: [0.5, 0, 0.0499] }} }}\n"
    text += "outputs: { height: { joint_position: { joint: left_slide } } }\nforce_torque: [left_slide]\n"
    scene = tmp_path / "all.yaml"
    scene.write_text(text)
    start(
        scene_path=scene,
        parameters=["robot_namespaces:=true", "publish_robot_description:=true"],
    )
    listener.listen(Clock, "/clock", BEST_EFFORT)
    listener.fresh("/clock", 50)
    return listener.node


def test_topics_are_those_of_the_page(graph, listener):
    published = discovered(listener, graph.get_publisher_names_and_types_by_node)
    rows = documented_names("topic QoS")
    compare([(row[0], row[1]) for row in rows], published)
    subscribed = discovered(listener, graph.get_subscriber_names_and_types_by_node)
    compare([(row[0], row[1]) for row in documented_names("topic")], subscribed)
    for name, _ in published:
        row = min((row for row in rows if pattern(row[0]).match(name)), key=lambda row: "<" in row[0])
        reliability, durability = row[2].split(", ")
        infos = [info for info in graph.get_publishers_info_by_topic(name) if info.node_name == "isobar"]
        assert infos[0].qos_profile.reliability.name == reliability.upper().replace(" ", "_"), name
        assert infos[0].qos_profile.durability.name == {"latched": "TRANSIENT_LOCAL"}.get(durability, "VOLATILE"), name


def test_services_are_those_of_the_page(graph, listener):
    running = discovered(listener, graph.get_service_names_and_types_by_node)
    compare([(row[0], row[1]) for row in documented_names("service")], running)


def test_parameters_are_those_of_the_page(graph, listener):
    names = listener.call(ListParameters, "/isobar/list_parameters", ListParameters.Request()).result.names
    described = listener.call(
        DescribeParameters, "/isobar/describe_parameters", DescribeParameters.Request(names=names)
    ).descriptors
    values = listener.call(GetParameters, "/isobar/get_parameters", GetParameters.Request(names=names)).values
    rows = [(re.compile(re.sub(r"<[a-z]+>", ".+", row[0].replace(".", r"\.")) + "$"), row) for row in tables()["parameter"]]
    given = {"scene", "robot_namespaces", "publish_robot_description"}
    for descriptor, value in zip(described, values):
        fits = [row for compiled, row in rows if compiled.match(descriptor.name)]
        assert fits, f"{descriptor.name} is not documented"
        name, kind, default, changes, _ = fits[0]
        assert TYPES[descriptor.type] == kind, name
        assert descriptor.read_only == (changes == "at the start"), name
        if default != "the scene's" and name not in given:
            shown = {"boolean": str(value.bool_value).lower(), "double": str(value.double_value)}
            assert shown.get(kind, f"'{value.string_value}'") == default, name
    for compiled, row in rows:
        assert any(compiled.match(name) for name in names), f"{row[0]} is documented, but does not exist"
