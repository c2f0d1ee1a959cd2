"""What the heaps of the peers share: the bodies that heap.rs wrote, the run, and the row of a table."""

import argparse
import time

import numpy as np

THICK = 0.05  # of the walls [m]


def read(file):
    """The width of the box, its walls (centre and size), and the bodies (shape, half sizes, mass, position,
    quaternion with w first)."""
    size, *lines = open(file).read().split()
    width, high = map(float, size.split(","))
    beside, long = 0.5 * (width + THICK), width + 2 * THICK
    walls = [
        ([0, 0, -0.5 * THICK], [long, long, THICK]),
        ([-beside, 0, 0.5 * high], [THICK, width, high]),
        ([beside, 0, 0.5 * high], [THICK, width, high]),
        ([0, -beside, 0.5 * high], [long, THICK, high]),
        ([0, beside, 0.5 * high], [long, THICK, high]),
    ]
    bodies = []
    for line in lines:
        name, *numbers = line.split(",")
        x, y, z, mass, *pose = map(float, numbers)
        bodies.append((name, [x, y, z], mass, pose[:3], pose[3:]))
    return width, walls, bodies


def time_steps(step, count):
    """The processor times of `count` steps in this thread [us]; fewer if a step fails, with the reason."""
    times = []
    for number in range(count):
        start = time.thread_time()
        try:
            step(number)
        except RuntimeError as error:
            return times, f", ends after {number} steps: {str(error)[:80]}"
        times.append(1e6 * (time.thread_time() - start))
    return times, ""


def report(label, times, count, state, width, notes):
    """Prints a row: times of the second half and of the first, in which the bodies land. `state` has the
    speeds and the centres of the bodies."""
    speeds, centres = map(np.array, state)
    half, landing = np.array(times[count // 2 :] or [np.nan]), np.array(times[: count // 2])
    outside = max(0.0, np.abs(centres[:, :2]).max() - 0.5 * width, -centres[:, 2].min())
    print(
        f"{label} | {np.median(half):9.0f} {np.percentile(half, 99):9.0f} {half.max():9.0f} us | "
        f"landing {np.median(landing):9.0f} {np.percentile(landing, 99):9.0f} us | {notes} | "
        f"fastest {1e3 * speeds.max():.1f} mm/s, outside {1e3 * outside:.1f} mm",
        flush=True,
    )


def parser(text):
    """The arguments that all peers have."""
    made = argparse.ArgumentParser(description=text.split("\n")[0])
    made.add_argument("files", nargs="+")
    made.add_argument("--step", type=float, default=1e-3)
    made.add_argument("--seconds", type=float, default=2)
    return made
