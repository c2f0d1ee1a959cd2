"""Starts the node, listens to its contact markers, and draws one instant of them to a PNG."""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import rclpy
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from visualization_msgs.msg import Marker, MarkerArray

ROOT = Path(__file__).resolve().parents[2]
# The extra real time for the node to reach the wanted time [s].
PATIENCE = 60.0


def receive(topic, at, part):
    """The markers of the first message at or after simulated time `at`: {pair: (triangles, colours,
    arrow)}."""
    node = rclpy.create_node("render_contact_markers")
    found = {}

    def on_markers(array):
        for marker in array.markers:
            stamp = marker.header.stamp.sec + 1e-9 * marker.header.stamp.nanosec
            if stamp < at or part not in marker.ns or marker.action != Marker.ADD:
                continue
            points = np.array([(p.x, p.y, p.z) for p in marker.points])
            entry = found.setdefault(marker.ns, {})
            if marker.type == Marker.TRIANGLE_LIST:
                entry["triangles"] = points.reshape(-1, 3, 3)
                entry["colors"] = np.array([(c.r, c.g, c.b) for c in marker.colors]).reshape(-1, 3, 3)
            elif marker.type == Marker.ARROW:
                entry["arrow"] = points

    node.create_subscription(MarkerArray, topic, on_markers, 1)
    deadline = time.monotonic() + at + PATIENCE
    while not found and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    return {pair: entry for pair, entry in found.items() if len(entry.get("triangles", []))}


def refine(triangles, colors, rounds):
    """Splits each triangle into four, so that flat colours follow the pressure inside it."""
    for _ in range(rounds):
        middle = lambda values: (values + np.roll(values, -1, axis=1)) / 2
        parts = []
        for values in (triangles, colors):
            m = middle(values)
            corner = lambda i: np.stack([values[:, i], m[:, i], m[:, i - 1]], axis=1)
            parts.append(np.concatenate([corner(0), corner(1), corner(2), m]))
        triangles, colors = parts
    return triangles, colors


def draw(patches, path):
    figure = plt.figure(figsize=(5.2 * len(patches), 4.0), constrained_layout=True)
    for number, (pair, entry) in enumerate(sorted(patches.items()), start=1):
        axis = figure.add_subplot(1, len(patches), number, projection="3d", computed_zorder=False)
        millimetres = entry["triangles"] * 1e3
        triangles, colors = refine(millimetres, entry["colors"], 3)
        axis.add_collection3d(Poly3DCollection(triangles, facecolors=colors.mean(axis=1), edgecolors="none", clip_on=False))
        edges, corners = polygon_edges(millimetres)
        for a, b in edges:
            axis.plot(*np.stack([corners[a], corners[b]]).T, color="0.15", linewidth=0.5)
        low, high = millimetres.min(axis=(0, 1)), millimetres.max(axis=(0, 1))
        center, half = (low + high) / 2, (high - low).max() / 2
        # As large as the patch in each direction, so that it fills the picture; not thinner than a third of
        # its length.
        halves = np.maximum((high - low) / 2, half / 3) * 1.05
        if "arrow" in entry:
            start, tip = entry["arrow"] * 1e3
            direction = (tip - start) / max(np.linalg.norm(tip - start), 1e-9) * half
            axis.quiver(*start, *direction, color="black", linewidth=1.5, arrow_length_ratio=0.15)
            axis.view_init(*view_along(direction))
        for set_limits, c, h in zip((axis.set_xlim, axis.set_ylim, axis.set_zlim), center, halves):
            set_limits(c - h, c + h)
        axis.set_box_aspect(halves, zoom=1.1)
        for one_axis in (axis.xaxis, axis.yaxis, axis.zaxis):
            one_axis.set_major_locator(plt.MaxNLocator(4))
        axis.set_xlabel("x [mm]", labelpad=12)
        axis.set_ylabel("y [mm]")
        axis.set_zlabel("z [mm]")
        axis.set_title(pair, fontsize=9)
    figure.suptitle("Contact patches, coloured by pressure (blue: none, red: largest); arrow: direction of the net force")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight", pad_inches=0.3)


def polygon_edges(triangles):
    """Edges of the polygons: those of the triangles, without the diagonals that fans have inside.

    A fan's triangles follow each other and share their first corner.
    """
    edges, corners = [], []
    start = 0
    while start < len(triangles):
        end = start + 1
        while end < len(triangles) and (triangles[end][0] == triangles[start][0]).all() and (
            triangles[end][1] == triangles[end - 1][2]
        ).all():
            end += 1
        ring = [triangles[start][0], triangles[start][1], *(triangle[2] for triangle in triangles[start:end])]
        base = len(corners)
        corners.extend(ring)
        edges.extend((base + i, base + (i + 1) % len(ring)) for i in range(len(ring)))
        start = end
    return edges, corners


def view_along(direction):
    """Elevation and azimuth [degrees] that look at the patch from 35 degrees beside its force."""
    x, y, z = direction / np.linalg.norm(direction)
    azimuth = np.degrees(np.arctan2(y, x))
    return np.degrees(np.arcsin(np.clip(z, -1, 1))) * 0.6 + 20, azimuth + 35


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("png", type=Path)
    parser.add_argument("--scene", type=Path, default=ROOT / "config" / "spatula_slip.yaml")
    parser.add_argument("--at", type=float, default=2.0, help="simulated time [s]")
    parser.add_argument("--pair", default="", help="draw only pairs whose name contains this")
    arguments = parser.parse_args()
    command = [Path(os.environ["ISOBAR_BIN"]) / "isobar_node", "--ros-args", "-p", f"scene:={arguments.scene}"]
    rclpy.init()
    node = subprocess.Popen(command)
    try:
        patches = receive("/isobar/contact_markers", arguments.at, arguments.pair)
    finally:
        node.send_signal(signal.SIGINT)
        status = node.wait(30)
    if not patches:
        print(f"no contact markers at t = {arguments.at} s: choose another --at or --pair", file=sys.stderr)
        return 1
    draw(patches, arguments.png)
    print(f"{arguments.png}: " + ", ".join(f"{pair} ({len(entry['triangles'])} triangles)" for pair, entry in patches.items()))
    return status


if __name__ == "__main__":
    sys.exit(main())
