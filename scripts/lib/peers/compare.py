"""Runs all scenes in all programs and writes the page. Called by scripts/compare_peers."""

import argparse
import math
import os
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import drake_peer
import isobar_peer
import mujoco_peer
import scenes as common

COLORS = {"Isobar": "#000000", "Drake": "#0072b2", "MuJoCo": "#d55e00"}


def write_files(scene, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for body in scene.bodies:
        (folder / f"{scene.name}_{body.name}.urdf").write_text(common.urdf(body.name, body.shape, scene.material))
    if scene.fingers:
        (folder / f"{scene.name}_fingers.urdf").write_text(common.fingers_urdf(scene))


def measure(scene, peers, folder, quick):
    """{program: [(step, error, time per simulated second)]}; an error message in place of numbers."""
    results = {}
    for name, run in peers.items():
        rows = []
        for step in scene.steps[1:3] if quick else scene.steps:
            try:
                states, cost = run(scene, step, folder)
                rows.append((step, scene.error(states), cost))
            except Exception as error:  # a program that cannot run a scene is a result
                rows.append((step, f"{type(error).__name__}: {str(error).splitlines()[0][:80]}", math.nan))
            print(f"{scene.name}, {name}, {1e3 * step:g} ms: {rows[-1][1]} at {rows[-1][2]:.4f} s/s", flush=True)
        results[name] = rows
    return results


def plot(scene, results, file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4.0))
    for name, rows in results.items():
        points = [(cost, max(error, 1e-16)) for _, error, cost in rows if not isinstance(error, str) and error == error]
        if points:
            axes.loglog(*zip(*points), "o-", color=COLORS[name], label=name)
    axes.set(title=scene.title, xlabel="processor time per simulated second [s]", ylabel=scene.unit)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def ahead(results, resolution):
    """Sentences on the programs with a smaller error, or the same error in less time, than Isobar."""
    valid = {
        name: [(row[0], max(row[1], resolution), row[2]) for row in rows if not isinstance(row[1], str) and row[1] == row[1]]
        for name, rows in results.items()
    }
    ours = valid.pop("Isobar")
    found = []
    for name, rows in valid.items():
        if not rows or not ours:
            continue
        best, own = min(rows, key=lambda row: row[1]), min(ours, key=lambda row: row[1])
        if best[1] < 0.9 * own[1]:
            found.append(f"the smallest error of {name} is {best[1]:.2g}, that of Isobar {own[1]:.2g}")
        quick = [row for row in rows if all(row[2] < 0.9 * our[2] for our in ours if our[1] <= 1.1 * row[1])]
        if quick:
            row = min(quick, key=lambda row: row[2])
            found.append(f"{name} reaches an error of {row[1]:.2g} in {row[2]:.3g} s per second, sooner than Isobar")
    return found


def page(measured, versions, command):
    text = ["# Isobar beside Drake and MuJoCo", "", "```", command, "```", ""]
    text += [f"Programs: {', '.join(versions)}. Machine: {platform.processor() or platform.machine()}, "
             f"{os.cpu_count()} cores, shared with other work. Times are processor times.", ""]
    text += ["## What the others do better", ""]
    lines = [f"- *{scene.title}*: {line}." for scene, results in measured for line in ahead(results, scene.resolution)]
    text += lines or ["- Nothing in these scenes."]
    for scene, results in measured:
        text += ["", f"## {scene.title[0].upper()}{scene.title[1:]}", "", f"![Error against time]({scene.name}.png)", ""]
        text += [f"| program | step [ms] | {scene.unit} | processor time per simulated second [s] |", "|---|---|---|---|"]
        for name, rows in results.items():
            for step, error, cost in rows:
                shown = error if isinstance(error, str) else f"{error:.2e}"
                text.append(f"| {name} | {1e3 * step:g} | {shown} | {cost:.4f} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--isobar", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    folder = (arguments.out / "urdf").resolve()
    peers = {
        "Isobar": lambda scene, step, urdfs: isobar_peer.run(scene, step, urdfs, arguments.isobar),
        "Drake": drake_peer.run,
        "MuJoCo": mujoco_peer.run,
    }
    measured = []
    for scene in common.SCENES:
        if arguments.only and arguments.only not in scene.name:
            continue
        write_files(scene, folder)
        results = measure(scene, peers, folder, arguments.quick)
        plot(scene, results, arguments.out / f"{scene.name}.png")
        measured.append((scene, results))
    versions = [isobar_peer.version(arguments.isobar), drake_peer.version(), mujoco_peer.version()]
    options = (f" --only {arguments.only}" if arguments.only else "") + (" --quick" if arguments.quick else "")
    (arguments.out / "peers.md").write_text(page(measured, versions, f"scripts/compare_peers{options}"))
    print(arguments.out / "peers.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
