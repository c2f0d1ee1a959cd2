#!/usr/bin/env python3
"""Drake's steps from states of our pancake flip, with polygons and with triangle fans: what contact costs its solver, and whether they are our steps.

    python3 tests/bench/drake_flip_steps.py                        # Drake's default solver
    python3 tests/bench/drake_flip_steps.py --approximation tamsi  # the one of the paper's comparison
    python3 tests/bench/drake_flip_steps.py --refinement 2 --markdown

How to read it: tests/bench/flip_states.rs runs our controller and writes down positions and velocities at which steps begin, what the actuators
did during the step, and the velocities at its end. Drake takes the same step from each state, with our actuators' efforts as forces:
MultibodyPlant's discrete update, called from Python, in plants with polygons, with triangles and without contact, by turns. Contact geometry is
QueryObject.ComputeContactSurfaces alone. What is left of a step without it, less the same of the plant without contact, is what contact
costs: its Jacobians and the solver. All is done `--rounds` times; of each state the shortest time counts, and the table has the means of these.
Our steps have about one point between rigid bodies a step, which Drake's have not, and our joints follow their commands within the step; the
velocities are compared where no such point is. Compare ratios, not machines. Drake is optional: `pip install drake`.
"""

import argparse
import os
import statistics
import sys
import time

from drake_polygons import KINDS, flip_plant, place, print_table, query, read_states, representation

PLANTS = (*KINDS, "no contact")


class Plant:
    """The scene with one kind of faces, or without contact."""

    def __init__(self, kind, options, surfaces):
        import numpy as np
        from pydrake.geometry import CollisionFilterDeclaration, GeometrySet, Role

        self.kind = kind if kind in KINDS else KINDS[0]
        self.diagram, self.plant, self.context = flip_plant(options.refinement, surfaces, self.kind, options.approximation)
        self.plant_context = self.plant.GetMyMutableContextFromRoot(self.context)
        if kind not in KINDS:
            scene_graph = self.diagram.GetSubsystemByName("scene_graph")
            filters = scene_graph.collision_filter_manager(scene_graph.GetMyMutableContextFromRoot(self.context))
            geometries = GeometrySet(scene_graph.model_inspector().GetAllGeometryIds(Role.kProximity))
            filters.Apply(CollisionFilterDeclaration().ExcludeWithin(geometries))
        port = self.plant.get_applied_generalized_force_input_port()
        self.force = port.FixValue(self.plant_context, np.zeros(self.plant.num_velocities()))

    def velocities(self, of):
        """Generalized velocities of our joints' and bodies' velocities."""
        import numpy as np

        v = np.zeros(self.plant.num_velocities())
        for name, velocity in of["joints"].items():
            v[self.plant.GetJointByName(name).velocity_start()] = velocity
        for index in self.plant.GetFloatingBaseBodies():
            body = self.plant.get_body(index)
            start = body.floating_velocities_start_in_v()
            v[start : start + 6] = of["bodies"][body.name()]
        return v

    def prepare(self, state):
        """The state, and what the actuators do."""
        place(self.plant, self.plant_context, state)
        self.plant.SetVelocities(self.plant_context, self.velocities(state["velocities"]))
        efforts = {"joints": state["efforts"], "bodies": {name: [0.0] * 6 for name in state["poses"]}}
        self.force.GetMutableData().set_value(self.velocities(efforts))

    def find(self, state):
        """Faces, and the time of contact geometry alone [s]."""
        self.prepare(state)
        found = query(self.diagram, self.context)
        start = time.perf_counter()
        surfaces = found.ComputeContactSurfaces(representation(self.kind))
        return sum(surface.num_faces() for surface in surfaces), time.perf_counter() - start

    def step(self, state):
        """Velocities at the end of the step, and the time it took [s]."""
        self.prepare(state)
        start = time.perf_counter()
        updated = self.diagram.EvalUniquePeriodicDiscreteUpdate(self.context)
        took = time.perf_counter() - start
        return updated.get_vector(0).CopyToVector()[self.plant.num_positions() :], took


def measure(options):
    """Name of a plant -> state by state (faces, shortest time of contact geometry, of the whole step [s], velocities at the end); our states; our
    velocities at their ends; mean faces of our run."""
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
    return samples, states, [plants[PLANTS[0]].velocities(state["next"]) for state in states], run_faces


def compare_velocities(samples, states, ours):
    """A line about how far Drake's velocities at the ends of the steps are from ours."""
    import numpy as np

    rows = []
    for i, state in enumerate(states):
        if state["run_faces"] == sum(kept for _, kept in state["polygons"].values()):
            polygons, triangles, _ = (np.array(samples[name][i][3]) for name in PLANTS)
            rows.append([np.abs(polygons - ours[i]).max(), np.abs(triangles - polygons).max(), np.abs(ours[i]).max()])
    drake, kinds, size = (np.median(column) for column in np.array(rows).T)
    return (
        f"velocities at the ends of {len(rows)} steps without points, [m/s] and [rad/s], largest of a step, medians: Drake's less ours {drake:.1e}, "
        f"with triangles less with polygons {kinds:.1e}, ours {size:.1e}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--refinement", type=float, default=1.0, help="how many times finer than the scene's the edges are")
    parser.add_argument("--rounds", type=int, default=3, help="how often times are measured")
    parser.add_argument("--every", type=int, default=25, help="every how many steps a state is taken")
    parser.add_argument("--approximation", default="lagged", choices=["lagged", "similar", "tamsi", "sap"])
    options = parser.parse_args()
    try:
        import pydrake  # noqa: F401
    except ImportError:
        sys.exit("Drake is not installed, and only this comparison needs it: `pip install drake` (in a virtual environment).")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
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
        "subtracted: step less contact geometry [us]": {name: rest[name] * 1e6 for name in PLANTS},
        "subtracted again: Jacobians and solver of the contact [us]": {name: (rest[name] - rest[PLANTS[2]]) * 1e6 for name in KINDS},
    }
    rows = []
    for text, of in quantities.items():
        numbers = [f"{of[name]:.1f}" if name in of else "" for name in PLANTS]
        rows.append([text, *numbers[:2], f"{of['triangle'] / of['polygon']:.2f}", numbers[2]])
    print_table(["", "polygons", "triangles", "ratio", "without contact"], rows, options.markdown)


if __name__ == "__main__":
    main()
