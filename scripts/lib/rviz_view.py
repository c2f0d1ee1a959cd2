"""The published topics as RViz would show them: the displays, the scales and the camera of a .rviz file, with
every pose resolved through /tf and /tf_static. The result is a drawing for `isobar draw`.

It follows RViz's sources (branch jazzy) for the displays that the files of config/ use. A missing transform
is an error of the display, as in RViz, and its object is not drawn.
"""

import bisect
import json
import math

import numpy as np
import yaml
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

# RViz's defaults: the vertical field of view [rad], and colours.
FIELD_OF_VIEW = math.radians(45)
BACKGROUND = "48; 48; 48"
GRID = "160; 160; 164"
FORCE, TORQUE = "204; 51; 51", "204; 204; 51"
# The head of an arrow marker between two points over its length, if its message has none [-].
HEAD_SHARE = 0.23
SEGMENTS = 16
# Transforms that are kept for each frame.
HISTORY = 2000


def color(text):
    return [float(channel) / 255.0 for channel in text.split(";")]


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def rotation(x, y, z, w):
    """The rotation matrix of a quaternion of any length but zero."""
    x, y, z, w = np.array([x, y, z, w]) / math.sqrt(x * x + y * y + z * z + w * w)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose_of(position, orientation):
    p = np.array([position.x, position.y, position.z])
    q = np.array([orientation.x, orientation.y, orientation.z, orientation.w])
    return p, q


def composed(a, b):
    """X_AC = X_AB X_BC of positions and quaternions (x, y, z, w)."""
    (p, q), (r, s) = a, b
    v, w, u, t = q[:3], q[3], s[:3], s[3]
    return p + rotation(*q) @ r, np.append(w * u + t * v + np.cross(v, u), w * t - v @ u)


class Transforms:
    """The frames of /tf and /tf_static, as tf2 keeps them."""

    def __init__(self):
        self.fixed, self.moving = {}, {}

    def add(self, message, fixed):
        for entry in message.transforms:
            pose = pose_of(entry.transform.translation, entry.transform.rotation)
            parent, child = entry.header.frame_id, entry.child_frame_id
            if fixed:
                self.fixed[child] = (parent, pose)
            else:
                times, entries = self.moving.setdefault(child, ([], []))
                at = bisect.bisect(times, nanoseconds(entry.header.stamp))
                times.insert(at, nanoseconds(entry.header.stamp))
                entries.insert(at, (parent, pose))
                del times[:-HISTORY], entries[:-HISTORY]

    def reach(self, time):
        """Whether every frame that moves is known until a time."""
        return all(times[-1] >= time for times, _ in self.moving.values())

    def step(self, frame, time):
        """The parent of a frame, and its pose there, at a time; between two messages it is interpolated."""
        if frame in self.fixed:
            return self.fixed[frame]
        if frame not in self.moving:
            raise LookupError(f"no transform of frame '{frame}'")
        times, entries = self.moving[frame]
        at = bisect.bisect_left(times, time)
        if at == len(times):
            raise LookupError(f"no transform of frame '{frame}' as late as {1e-9 * time:.3f} s; the last one is of {1e-9 * times[-1]:.3f} s")
        if times[at] == time:
            return entries[at]
        if at == 0:
            raise LookupError(f"no transform of frame '{frame}' as early as {1e-9 * time:.3f} s")
        (_, (p, q)), (parent, (r, s)) = entries[at - 1], entries[at]
        share = (time - times[at - 1]) / (times[at] - times[at - 1])
        s = s if q @ s >= 0.0 else -s
        mean = q + share * (s - q)
        return parent, (p + share * (r - p), mean / np.linalg.norm(mean))

    def pose(self, frame, root, time):
        """The pose of a frame in the frame `root`: position and quaternion (x, y, z, w)."""
        pose, seen = (np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])), [frame]
        while seen[-1] != root:
            parent, step = self.step(seen[-1], time)
            pose = composed(step, pose)
            if parent in seen:
                raise LookupError(f"the frames {' > '.join(seen)} are a circle")
            seen.append(parent)
        return pose


def turned(profile):
    """Triangles of a solid of revolution about x, of (x, radius) points."""
    ring = [(math.cos(a), math.sin(a)) for a in np.linspace(0.0, 2.0 * math.pi, SEGMENTS + 1)]
    at = lambda k, i: (profile[k][0], profile[k][1] * ring[i][0], profile[k][1] * ring[i][1])
    triangles = []
    for k in range(len(profile) - 1):
        for i in range(SEGMENTS):
            a, b, c, d = at(k, i), at(k, i + 1), at(k + 1, i), at(k + 1, i + 1)
            triangles += [*([(a, c, b)] if profile[k][1] > 0.0 else []), *([(b, c, d)] if profile[k + 1][1] > 0.0 else [])]
    return np.array(triangles).reshape(-1, 3)


def arrow(start, direction, shaft, shaft_diameter, head, head_diameter):
    """Triangles of an arrow: `shaft` and `head` are lengths [m]."""
    x = direction / np.linalg.norm(direction)
    other = np.eye(3)[int(np.argmin(np.abs(x)))]
    y = np.cross(x, other) / np.linalg.norm(np.cross(x, other))
    profile = [(0, 0), (0, shaft_diameter / 2), (shaft, shaft_diameter / 2), (shaft, head_diameter / 2), (shaft + head, 0)]
    return start + turned(profile) @ np.array([x, y, np.cross(x, y)])


def ball(diameter):
    angles = np.linspace(-math.pi / 2, math.pi / 2, 9)
    return turned([(diameter / 2 * math.sin(a), max(0.0, diameter / 2 * math.cos(a)) if abs(a) < 1.57 else 0.0) for a in angles])


def surface(vertices, rgba, colors=None):
    content = {"vertices": np.round(vertices, 6).tolist(), "color": [float(channel) for channel in rgba]}
    return content if colors is None else {**content, "colors": np.round(colors, 4).tolist()}


def vectors(points):
    return np.array([(p.x, p.y, p.z) for p in points], dtype=float).reshape(-1, 3)


class View:
    """The displays of a .rviz file, subscribed with an rclpy node."""

    def __init__(self, node, path):
        manager = yaml.safe_load(path.read_text())["Visualization Manager"]
        self.options = manager["Global Options"]
        self.camera = manager["Views"]["Current"]
        self.root = self.options["Fixed Frame"]
        self.displays = [display for display in manager["Displays"] if display.get("Value", True)]
        self.transforms = Transforms()
        self.heard = {}
        self.errors = []
        self.held = False
        node.create_subscription(TFMessage, "/tf", lambda message: self.transforms.add(message, False), 100)
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_subscription(TFMessage, "/tf_static", lambda message: self.transforms.add(message, True), latched)
        kinds = {"RobotModel": (String, self.keep), "MarkerArray": (MarkerArray, self.mark), "Wrench": (WrenchStamped, self.measure)}
        for display in self.displays:
            kind = display["Class"].split("/")[-1]
            if kind in kinds:
                topic = display["Description Topic" if kind == "RobotModel" else "Topic"]
                qos = QoSProfile(depth=topic.get("Depth", 5))
                if topic.get("Durability Policy", "Volatile") == "Transient Local":
                    qos.durability = DurabilityPolicy.TRANSIENT_LOCAL
                if topic.get("Reliability Policy", "Reliable") == "Best Effort":
                    qos.reliability = ReliabilityPolicy.BEST_EFFORT
                message_kind, handle = kinds[kind]
                name = display["Name"]
                node.create_subscription(message_kind, topic["Value"], lambda m, name=name, handle=handle: handle(name, m), qos)

    def is_described(self):
        """Whether every robot display has its description."""
        return all(display["Name"] in self.heard for display in self.displays if display["Class"].endswith("RobotModel"))

    def keep(self, name, message):
        self.heard[name] = message

    def measure(self, name, message):
        self.heard.setdefault(name, []).append(message)
        del self.heard[name][:-HISTORY]

    def mark(self, name, message):
        markers = self.heard.setdefault(name, {})
        for marker in [] if self.held else message.markers:
            if marker.action == Marker.DELETEALL:
                markers.clear()
            elif marker.action == Marker.DELETE:
                markers.pop((marker.ns, marker.id), None)
            else:
                markers[marker.ns, marker.id] = marker

    def markers(self, name):
        return list(self.heard.get(name, {}).values())

    def time_of_markers(self):
        """The newest stamp of a marker [ns]; 0 before the first one with a stamp."""
        arrays = [display["Name"] for display in self.displays if display["Class"].endswith("MarkerArray")]
        return max([nanoseconds(marker.header.stamp) for name in arrays for marker in self.markers(name)], default=0)

    def hold_markers(self):
        """Keeps the present markers; later ones are ignored, so that all objects can be drawn at one time."""
        self.held = True

    def parts(self, time):
        """The objects that are drawn at a time [ns], each as (display, object, kind, content). `errors` lists
        those that cannot be drawn."""
        self.errors = []
        drawn = {"Grid": self.grid, "RobotModel": self.robot, "MarkerArray": self.array, "Wrench": self.wrench}
        found = []
        for display in self.displays:
            kind = display["Class"].split("/")[-1]
            found += [(display["Name"], *part) for part in drawn[kind](display, time)] if kind in drawn else []
        return found

    def resolved(self, name, what, frame, time):
        try:
            return self.transforms.pose(frame, self.root, time)
        except LookupError as error:
            self.errors.append(f"{name}: {what}: {error}")
            return None

    def grid(self, display, _):
        count, size = display.get("Plane Cell Count", 10), display.get("Cell Size", 1.0)
        back, line, alpha = color(self.background()), color(display.get("Color", GRID)), display.get("Alpha", 0.5)
        shade = [b + alpha * (c - b) for b, c in zip(back, line)]
        half = count * size / 2
        for k in range(count + 1):
            at = k * size - half
            for ends in (([at, -half, 0.0], [at, half, 0.0]), ([-half, at, 0.0], [half, at, 0.0])):
                yield "", "lines", {"from": ends[0], "to": ends[1], "color": shade}

    def robot(self, display, time):
        if display.get("TF Prefix"):
            raise ValueError("TF prefixes are not drawn")
        if display["Name"] not in self.heard:
            self.errors.append(f"{display['Name']}: no description")
            return
        text = self.heard[display["Name"]].data
        # The names of the links; their looks are the renderer's work.
        import xml.etree.ElementTree as ElementTree

        for link in [element.get("name") for element in ElementTree.fromstring(text).findall("link")]:
            pose = self.resolved(display["Name"], f"link '{link}'", link, time)
            if pose is not None:
                content = {"position": pose[0].tolist(), "orientation": pose[1].tolist()}
                yield link, "links", {"urdf": text, "alpha": display.get("Alpha", 1.0), "pose": content}

    def array(self, display, time):
        for marker in self.markers(display["Name"]):
            what = f"{marker.ns} {marker.id}"
            pose = self.resolved(display["Name"], what, marker.header.frame_id, nanoseconds(marker.header.stamp) or time)
            if pose is None:
                continue
            p, q = composed(pose, pose_of(marker.pose.position, marker.pose.orientation))
            scale = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
            rgba = [marker.color.r, marker.color.g, marker.color.b, marker.color.a]
            points, colors = vectors(marker.points), None
            if marker.type == Marker.TRIANGLE_LIST:
                points = points * scale
                if marker.colors:
                    colors = np.array([(c.r, c.g, c.b) for c in marker.colors])
                    rgba[3] *= min(c.a for c in marker.colors)
            elif marker.type == Marker.SPHERE_LIST:
                points = (points[:, None, :] + ball(scale[0])[None, :, :]).reshape(-1, 3)
            elif marker.type == Marker.ARROW and len(points) == 2:
                along = points[1] - points[0]
                length = float(np.linalg.norm(along))
                if length == 0.0:
                    continue
                head = min(scale[2], length) if scale[2] else HEAD_SHARE * length
                points = arrow(points[0], along, length - head, scale[0], head, scale[1])
            else:
                self.errors.append(f"{display['Name']}: {what}: marker type {marker.type} with {len(points)} points is not drawn")
                continue
            yield what, "surfaces", surface(p + points @ rotation(*q).T, rgba, colors)

    def wrench(self, display, time):
        messages = [m for m in self.heard.get(display["Name"], []) if nanoseconds(m.header.stamp) <= time]
        if not messages:
            self.errors.append(f"{display['Name']}: no message")
            return
        message = messages[-1]
        pose = self.resolved(display["Name"], "wrench", message.header.frame_id, nanoseconds(message.header.stamp))
        if pose is None:
            return
        width, R = display.get("Arrow Width", 0.5), rotation(*pose[1])
        values = [("force", message.wrench.force, "Force", FORCE), ("torque", message.wrench.torque, "Torque", TORQUE)]
        for what, vector, word, usual in values:
            along = R @ np.array([vector.x, vector.y, vector.z])
            length = float(np.linalg.norm(along)) * display.get(f"{word} Arrow Scale", 2.0)
            # RViz hides shorter ones. The proportions are those of its arrow of unit length.
            if length > width:
                triangles = arrow(pose[0], along, length, 0.1 * width, 0.3 * length, 0.2 * width)
                rgba = [*color(display.get(f"{word} Color", usual)), display.get("Alpha", 1.0)]
                yield what, "surfaces", surface(triangles, rgba)

    def background(self):
        return self.options.get("Background Color", BACKGROUND)

    def eye(self):
        """The eye of the orbiting camera, and the point that it looks at."""
        if self.camera.get("Target Frame", "<Fixed Frame>") not in ("<Fixed Frame>", self.root):
            raise ValueError("the camera's target frame is not the fixed frame")
        focus = np.array([self.camera["Focal Point"][axis] for axis in "XYZ"], dtype=float)
        pitch, yaw = self.camera["Pitch"], self.camera["Yaw"]
        back = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), math.sin(pitch)])
        return focus + self.camera["Distance"] * back, focus

    def drawing(self, parts, size):
        """The drawing of `parts` as text; `size` is in columns and rows."""
        eye, focus = self.eye()
        robots = {}
        for _, link, kind, content in parts:
            if kind == "links":
                key = (content["urdf"], content["alpha"])
                robots.setdefault(key, {})[link] = content["pose"]
        return json.dumps(
            {
                "size": list(size),
                "background": color(self.background()),
                "camera": {"eye": eye.tolist(), "target": focus.tolist(), "field_of_view": FIELD_OF_VIEW},
                "robots": [{"urdf": urdf, "alpha": alpha, "links": links} for (urdf, alpha), links in robots.items()],
                "surfaces": [content for *_, kind, content in parts if kind == "surfaces"],
                "lines": [content for *_, kind, content in parts if kind == "lines"],
            }
        )
