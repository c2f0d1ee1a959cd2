#!/usr/bin/env python3
"""Contact queries of Drake and ours, on the same shapes, meshes and poses, in the same run on one core.

    python3 tests/bench/drake_contact_surface.py             # builds our benchmark if needed, runs both
    python3 tests/bench/drake_contact_surface.py --markdown  # the table of docs/results/contact-geometry.md

The cases are those of tests/bench/contact_surface.rs, whose header describes the motion and the times. Both
sides tessellate the shapes themselves from the same resolution hints and by the same rules, so the numbers of
faces are equal. Drake's time is QueryObject.ComputeContactSurfaces with polygons, called from Python, which
adds a few microseconds. It does not include setting the poses. Drake is optional: `pip install drake`.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = 300
ROUNDS = 5


def points_on_ball(count, radius):
    points = []
    for i in range(count):
        z = 1.0 - (2.0 * i + 1.0) / count
        ring, angle = math.sqrt(1.0 - z * z), i * math.pi * (3.0 - math.sqrt(5.0))
        points.append([radius * ring * math.cos(angle), radius * ring * math.sin(angle), radius * z])
    return points


def cases():
    """Yields (name, hint, A, B, p_AB), where A and B are (shape, modulus or None, hint)."""
    from pydrake.geometry import Box, Convex, Cylinder, Ellipsoid, HalfSpace, Sphere

    def hull(count):
        import numpy

        return Convex(points=numpy.array(points_on_ball(count, 0.05)).T, label="hull")

    for hint in [0.04, 0.02, 0.01]:
        bubble = (Ellipsoid(0.04165, 0.04165, 0.0625), 1e5, hint)
        yield "bubble on spatula handle", hint, bubble, (Cylinder(0.015, 0.11), 1e8, hint / 8.0), [0.0517, 0.0, 0.0]
    for hint in [0.02, 0.01, 0.005]:
        egg = (Ellipsoid(0.05, 0.03, 0.04), 1e5, hint)
        yield "ellipsoid on cylinder", hint, egg, (Cylinder(0.04, 0.1), 3e5, hint), [0.08, 0.0, 0.01]
    for hint in [0.02, 0.01, 0.005]:
        yield "sphere on half space", hint, (Sphere(0.05), 1e5, hint), (HalfSpace(), None, 1.0), [0.0, 0.0, -0.04]
    for hint in [0.02, 0.01, 0.005]:
        plate = (Box(0.4, 0.4, 0.02), None, 1.0)
        yield "pancake on coarse rigid plate", hint, (Ellipsoid(0.06, 0.06, 0.01), 1e4, hint), plate, [0.0, 0.0, -0.017]
    for count in [60, 240, 960]:
        a, b = (hull(count), 1e5, 1.0), (hull(count), 2e5, 1.0)
        yield "convex mesh on convex mesh", float(count), a, b, [0.06, 0.05, 0.02]


def pose(p_AB, i):
    from pydrake.math import RigidTransform, RollPitchYaw

    t = i / QUERIES * math.tau
    d = [math.sin(t), math.cos(t) - 1.0, math.sin(t)]
    p = [c + x * 1e-3 / math.sqrt(2.0) for c, x in zip(p_AB, d)]
    return RigidTransform(RollPitchYaw(0.002 * math.sin(t), 0.0, 0.003 * math.sin(t)), p)


def measure(a, b, p_AB):
    """(faces of a query, median over the rounds of the mean of a round [us])."""
    from pydrake.geometry import (
        AddCompliantHydroelasticProperties,
        AddRigidHydroelasticProperties,
        HydroelasticContactRepresentation,
        ProximityProperties,
    )
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
    from pydrake.multibody.tree import SpatialInertia
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    body = None
    for name, (shape, modulus, hint) in (("A", a), ("B", b)):
        properties = ProximityProperties()
        if modulus is None:
            AddRigidHydroelasticProperties(hint, properties)
        else:
            AddCompliantHydroelasticProperties(hint, modulus, properties)
        properties.AddProperty("material", "coulomb_friction", CoulombFriction(0.5, 0.5))
        body = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, name, properties)
        if name == "A":
            plant.WeldFrames(plant.world_frame(), body.body_frame())
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    scene_context = scene_graph.GetMyContextFromRoot(root)
    port = scene_graph.get_query_output_port()
    poses = [pose(p_AB, i) for i in range(QUERIES)]
    rounds = []
    for _ in range(ROUNDS + 1):
        faces, seconds = 0, 0.0
        for X_WB in poses:
            plant.SetFreeBodyPose(context, body, X_WB)
            query = port.Eval(scene_context)
            start = time.perf_counter()
            surfaces = query.ComputeContactSurfaces(HydroelasticContactRepresentation.kPolygon)
            seconds += time.perf_counter() - start
            faces += sum(surface.num_faces() for surface in surfaces)
        rounds.append(seconds * 1e6 / QUERIES)
    return faces / QUERIES, statistics.median(rounds[1:])


def ours():
    command = ["cargo", "bench", "--quiet", "--bench", "contact_surface", "--", "--json"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {(row["name"], row["hint"]): row for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    measured = ours()
    header = ["case", "hint or points", "faces", "Drake's", "warm us", "cold us", "Drake us", "warm us/face", "cold us/face"]
    header += ["Drake us/face", "Drake/warm", "Drake/cold"]
    rows = []
    for name, hint, a, b, p_AB in cases():
        row = measured[(name, hint)]
        faces, drake_us = measure(a, b, p_AB)
        warm_us, cold_us, count = row["warm_us"], row["cold_us"], row["faces"]
        numbers = [f"{hint:g}", f"{count:.1f}", f"{faces:.1f}", f"{warm_us:.1f}", f"{cold_us:.1f}", f"{drake_us:.1f}"]
        numbers += [f"{warm_us / count:.3f}", f"{cold_us / count:.3f}", f"{drake_us / faces:.2f}"]
        rows.append([name, *numbers, f"{drake_us / warm_us:.1f}", f"{drake_us / cold_us:.1f}"])
    if arguments.markdown:
        print("| " + " | ".join(header) + " |")
        print("|" + "---|" * len(header))
        for row in rows:
            print("| " + " | ".join(row) + " |")
    else:
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        for row in [header, *rows]:
            print("  ".join(text.rjust(width) for text, width in zip(row, widths)))


if __name__ == "__main__":
    main()
