"""A scene file of the bodies that heap.rs has written, for a picture.

    cargo bench --bench heap -- 100 rigid 1e-3 2 heap --bodies=out/heap.csv
    python tests/bench/heap_scene.py out/heap.csv.rigid.end > out/heap.yaml
    isobar render out/heap.yaml --out heap.png
"""

import math
import sys

COLORS = {
    "box": [0.75, 0.55, 0.3],
    "sphere": [0.9, 0.5, 0.1],
    "cylinder": [0.3, 0.55, 0.75],
    "capsule": [0.4, 0.7, 0.45],
    "ellipsoid": [0.7, 0.4, 0.6],
}


def rpy(w, x, y, z):
    """Roll, pitch and yaw of a quaternion [rad]."""
    sine = max(-1.0, min(1.0, 2 * (w * y - z * x)))
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return roll, math.asin(sine), math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def main():
    size, *lines = open(sys.argv[1]).read().split()
    width, high = float(size.split(",")[0]), 0.03
    beside = 0.5 * (width + 0.01)
    print("models:")
    for name, x, y, angle in [("left", -beside, 0, 1.5708), ("back", 0, beside, 0), ("right", beside, 0, 1.5708)]:
        pose = f"{{ xyz: [{x}, {y}, {0.5 * high}], rpy: [0, 0, {angle}] }}"
        print(f"  - {{ name: {name}, box: [{width}, 0.01, {high}], weld: {pose}, color: [0.6, 0.6, 0.6] }}")
    for number, line in enumerate(lines):
        kind, *numbers = line.split(",")
        x, y, z, mass, *pose = map(float, numbers)
        shape = {
            "box": f"box: [{2 * x}, {2 * y}, {2 * z}]",
            "sphere": f"sphere: {x}",
            "cylinder": f"cylinder: {{ radius: {x}, length: {2 * z} }}",
            "capsule": f"capsule: {{ radius: {x}, length: {2 * z} }}",
            "ellipsoid": f"ellipsoid: [{x}, {y}, {z}]",
        }[kind]
        at = ", ".join(f"{x:.6f}" for x in pose[:3])
        turn = ", ".join(f"{x:.6f}" for x in rpy(*pose[3:]))
        print(f"  - {{ name: body_{number}, {shape}, mass: {mass}, color: {COLORS[kind]}, free: {{ xyz: [{at}], rpy: [{turn}] }} }}")


if __name__ == "__main__":
    main()
