"""Time of a step against the number of bodies of a heap, for several programs.

    python tests/bench/heap_plot.py FILE OUT.svg

FILE has lines `program,material,bodies,median,p99` in microseconds, from heap.rs, mujoco_heap.py and
drake_heap.py. Needs the package matplotlib.
"""

import csv
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "heap"
import matplotlib.pyplot as plt

COLORS = {"Isobar": "#c2410c", "MuJoCo": "#2563eb", "Drake": "#15803d"}


def main(source, target):
    curves = defaultdict(list)
    for row in csv.DictReader(open(source)):
        curves[row["program"], row["material"]].append([float(row[name]) for name in ("bodies", "median", "p99")])
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, material in zip(axes, ("rigid", "soft")):
        for program, color in COLORS.items():
            points = sorted(curves[program, material])
            if points:
                bodies, medians, tails = zip(*points)
                axis.loglog(bodies, [t / 1e3 for t in medians], "o-", color=color, label=program)
                axis.fill_between(bodies, [t / 1e3 for t in medians], [t / 1e3 for t in tails], color=color, alpha=0.15)
        axis.set_title(f"{material} bodies")
        axis.set_xlabel("bodies")
        axis.set_xticks([10, 20, 40, 100], ["10", "20", "40", "100"])
        axis.minorticks_off()
        axis.grid(True, alpha=0.3)
        axis.legend(frameon=False)
    axes[0].set_ylabel("time of a step [ms]\nmedian to 99th percentile")
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
