#!/usr/bin/env python3
"""Drake's steps from states of our pancake flip, with polygons and with triangle fans: the cost of contact
for its solver, and a comparison with our steps.

    python3 tests/bench/drake_flip_steps.py                        # Drake's default solver
    python3 tests/bench/drake_flip_steps.py --approximation tamsi  # the solver named in the paper
    python3 tests/bench/drake_flip_steps.py --refinement 2 --markdown
    python3 tests/bench/drake_flip_steps.py --golden tests/golden/pancake_flip/steps.json  # for a test

How to read it: tests/bench/flip_states.rs runs our controller and writes positions and velocities at the
start of steps, the actuators' efforts during the step, and the velocities at its end. Drake takes the same
step from each state, with our actuators' efforts as forces: MultibodyPlant's discrete update, called from
Python, in plants with polygons, with triangles and without contact, in turn. Contact geometry is
QueryObject.ComputeContactSurfaces alone. The rest of a step, minus the rest of the plant without contact, is
the cost of contact: its Jacobians and the solver. Everything is repeated `--rounds` times. The table has the
means over the states of the shortest times. Our run has about one point between rigid bodies per step, and
Drake's steps have none, so velocities are compared only at states without such points. Compare ratios, not
machines. Drake is optional: `pip install drake`.
"""

import argparse
import json
import pathlib
import statistics
import time

from drake_polygons import KINDS, begin, flip_plant, leave_out_all_pairs, place, print_table, query, read_states, representation

PLANTS = (*KINDS, "no contact")
GOLDEN_STATES = 30  # at most


class Plant:
    """The scene with one kind of faces, or without contact."""

    def __init__(self, kind, options, surfaces):
        import numpy as np

        self.kind = kind if kind in KINDS else KINDS[0]
        self.diagram, self.plant, self.context = flip_plant(options.refinement, surfaces, self.kind, options.approximation)
        self.plant_context = self.plant.GetMyMutableContextFromRoot(self.context)
        if kind not in KINDS:
            leave_out_all_pairs(self.diagram, self.context)
        port = self.plant.get_applied_generalized_force_input_port()
        self.force = port.FixValue(self.plant_context, np.zeros(self.plant.num_velocities()))

    @staticmethod
    def generalized(plant, of):
        """Generalized velocities of the joints' and free bodies' velocities."""
        import numpy as np

        v = np.zeros(plant.num_velocities())
        for name, velocity in of["joints"].items():
            v[plant.GetJointByName(name).velocity_start()] = velocity
        for index in plant.GetFloatingBaseBodies():
            body = plant.get_body(index)
            start = body.floating_velocities_start_in_v()
            v[start : start + 6] = of["bodies"][body.name()]
        return v

    def prepare(self, state):
        """Sets the state, and the efforts of the actuators."""
        place(self.plant, self.plant_context, state)
        self.plant.SetVelocities(self.plant_context, self.generalized(self.plant, state["velocities"]))
        efforts = {"joints": state["efforts"], "bodies": {name: [0.0] * 6 for name in state["poses"]}}
        self.force.GetMutableData().set_value(self.generalized(self.plant, efforts))

    def find(self, state):
        """Faces, and the time of contact geometry alone [s]."""
        self.prepare(state)
        found = query(self.diagram, self.context)
        start = time.perf_counter()
        surfaces = found.ComputeContactSurfaces(representation(self.kind))
        return sum(surface.num_faces() for surface in surfaces), time.perf_counter() - start

    def step(self, state):
        """Velocities at the end of the step, and its computing time [s]."""
        self.prepare(state)
        start = time.perf_counter()
        updated = self.diagram.EvalUniquePeriodicDiscreteUpdate(self.context)
        took = time.perf_counter() - start
        return updated.get_vector(0).CopyToVector()[self.plant.num_positions() :], took


def measure(options):
    """Returns the samples of each plant, our states, our velocities at the ends of the steps, and the mean
    faces of our run. A sample is (faces, shortest time of contact geometry [s], shortest time of the step
    [s], velocities at the end)."""
    geometries, states, run_faces = read_states(options.refinement, options.every)
    plants = {name: Plant(name, options, geometries) for name in PLANTS}
    samples = {name: [[0, float("inf"), float("inf"), None] for _ in states] for name in PLANTS}
    for number in range(options.rounds):
        for i, state in enumerate(states):
            for name in PLANTS if (i + number) % 2 == 0 else reversed(PLANTS):
                sample = samples[name][i]
                sample[0], took = plants[name].find(state)
                sample[1] = min(sample[1], took)
                sample[3], took = plants[name].step(state)
                sample[2] = min(sample[2], took)
    plant = plants[PLANTS[0]].plant
    if options.golden:
        write_golden(options.golden, samples, states, plant)
    return samples, states, [Plant.generalized(plant, state["next"]) for state in states], run_faces


def without_points(states):
    """The indices of the states in which no rigid bodies touch."""
    return [i for i, state in enumerate(states) if state["run_faces"] == sum(kept for _, kept in state["polygons"].values())]


def compare_velocities(samples, states, ours):
    """A line with the differences between Drake's velocities at the ends of the steps and ours."""
    import numpy as np

    rows = []
    for i in without_points(states):
        polygons, triangles, _ = (np.array(samples[name][i][3]) for name in PLANTS)
        rows.append([np.abs(polygons - ours[i]).max(), np.abs(triangles - polygons).max(), np.abs(ours[i]).max()])
    drake, kinds, size = np.array(rows).T
    return (
        f"velocities at the ends of {len(rows)} steps without points, [m/s] and [rad/s], largest of a step: Drake's minus ours {np.median(drake):.1e} "
        f"(median), {np.percentile(drake, 99):.1e} (99 %), {drake.max():.1e} (largest); medians of triangles minus polygons {np.median(kinds):.1e}, "
        f"and of ours {np.median(size):.1e}"
    )


def write_golden(file, samples, states, plant):
    """Some of the states, evenly taken from those without points, and Drake's velocities at the ends of the
    steps."""
    import importlib.metadata

    chosen = without_points(states)
    names = list(states[0]["joints"])
    free = [plant.get_body(index).name() for index in plant.GetFloatingBaseBodies()]

    def velocities(v):
        joints = {name: v[plant.GetJointByName(name).velocity_start()] for name in names}
        starts = {name: plant.GetBodyByName(name).floating_velocities_start_in_v() for name in free}
        return {"joints": joints, "bodies": {name: list(v[start : start + 6]) for name, start in starts.items()}}

    steps = []
    for i in chosen[:: -(-len(chosen) // GOLDEN_STATES)]:
        state = states[i]
        step = {key: state[key] for key in ("time", "keyframe", "joints", "efforts")}
        step["poses"] = {name: state["poses"][name] for name in free}
        step["velocities"] = velocities(Plant.generalized(plant, state["velocities"]))
        steps.append(step | {"next": {kind: velocities(samples[kind][i][3]) for kind in KINDS}})
    lines = ",\n".join(json.dumps(step) for step in steps)
    version = importlib.metadata.version("drake")
    pathlib.Path(file).write_text(f'{{"drake": "{version}", "steps": [\n{lines}\n]}}\n')
    print(f"{len(steps)} steps written to {file}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--refinement", type=float, default=1.0, help="refinement of the scene's edge lengths")
    parser.add_argument("--rounds", type=int, default=3, help="number of measurements of each time")
    parser.add_argument("--every", type=int, default=25, help="number of steps between two states")
    parser.add_argument("--approximation", default="lagged", choices=["lagged", "similar", "tamsi", "sap"])
    parser.add_argument("--golden", metavar="FILE", help="write some of the states and Drake's steps from them")
    options = parser.parse_args()
    begin()
    samples, states, ours, run_faces = measure(options)
    at_states = statistics.fmean(state["run_faces"] for state in states)
    print(f"pancake flip, refinement {options.refinement:g}, Drake {options.approximation}: {len(states)} states, rounds: {options.rounds}")
    print(f"faces of our solver: {run_faces:.1f} in all steps, {at_states:.1f} at these states")
    print(compare_velocities(samples, states, ours))
    mean = {name: [statistics.fmean(sample[k] for sample in samples[name]) for k in range(3)] for name in PLANTS}
    rest = {name: mean[name][2] - mean[name][1] for name in PLANTS}
    quantities = {
        "faces of contact surfaces, mean": {name: mean[name][0] for name in KINDS},
        "measured: whole step [us]": {name: mean[name][2] * 1e6 for name in PLANTS},
        "measured: contact geometry alone [us]": {name: mean[name][1] * 1e6 for name in PLANTS},
        "subtracted: step minus contact geometry [us]": {name: rest[name] * 1e6 for name in PLANTS},
        "subtracted again: Jacobians and solver of the contact [us]": {name: (rest[name] - rest[PLANTS[2]]) * 1e6 for name in KINDS},
    }
    rows = []
    for text, of in quantities.items():
        numbers = [f"{of[name]:.1f}" if name in of else "" for name in PLANTS]
        rows.append([text, *numbers[:2], f"{of['triangle'] / of['polygon']:.2f}", numbers[2]])
    print_table(["", "polygons", "triangles", "ratio", "without contact"], rows, options.markdown)


if __name__ == "__main__":
    main()
