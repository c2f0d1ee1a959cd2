#!/usr/bin/env python3
"""Drake on our own files: the spatula scene with the settings of config/spatula_slip.yaml, and the cost of a
step.

    python3 tests/bench/drake_spatula.py --duration 4.5                     # Drake alone
    python3 tests/bench/drake_spatula.py --duration 4.5 --isobar            # and ours after it, in one call
    python3 tests/bench/drake_spatula.py --duration 4.5 --isobar-csv out.csv  # and a recording made before

How to read the table: a step's cost is the wall-clock time of one 1 ms step, median and mean over all steps.
The first step (which builds caches) is left out. Both programs run on one core. Drake's contact faces are
polygons, as ours are. The pitch is asin(R_WS[2,1]): the angle of the spatula's y axis above the horizontal.
Drake is optional: `pip install drake`.
"""

import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEP = 0.001  # [s]


def grip_command(t):
    """Commanded grip force [N]: 16 N for three quarters of every 6 s, then 1 N."""
    return 1.0 + (15.0 if math.fmod(t, 6.0) < 4.5 else 0.0)


def build(urdf_dir, spatula_file, approximation, representation="polygon", read=pathlib.Path.read_text):
    """The scene in Drake, from the URDF texts that `read` makes of the files. Returns the diagram and the
    plant with their contexts, the spatula and the two finger joints."""
    from pydrake.geometry import HydroelasticContactRepresentation
    from pydrake.math import RigidTransform, RollPitchYaw
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import (
        AddMultibodyPlant,
        ContactModel,
        DiscreteContactApproximation,
        MultibodyPlantConfig,
    )
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=STEP,
        stiction_tolerance=1e-4,
        contact_model="hydroelastic",
        contact_surface_representation=representation,
        discrete_contact_approximation=approximation,
    )
    plant, _ = AddMultibodyPlant(config, builder)
    parser = Parser(plant)
    parser.package_map().AddPackageXml(str(urdf_dir.parent / "package.xml"))
    (gripper,) = parser.AddModelsFromString(read(urdf_dir / "wsg50_bubble_gripper.urdf"), "urdf")
    (spatula,) = parser.AddModelsFromString(read(urdf_dir / spatula_file), "urdf")
    X_WG = RigidTransform(RollPitchYaw(0, -1.57, 0), [0, 0, 0.25])
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("gripper", gripper), X_WG)
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    plant_context = plant.GetMyMutableContextFromRoot(context)
    body = plant.GetBodyByName("spatula", spatula)
    X_WS = RigidTransform(RollPitchYaw(-0.4, 0.0, 1.57), [0.35, 0, 0.25])
    plant.SetFreeBodyPose(plant_context, body, X_WS)
    left = plant.GetJointByName("left_finger_sliding_joint", gripper)
    right = plant.GetJointByName("right_finger_sliding_joint", gripper)
    left.set_translation(plant_context, -0.01)
    right.set_translation(plant_context, 0.01)
    return diagram, context, plant, plant_context, body, left, right


def run_drake(duration, spatula_file, approximation):
    """Steps Drake through `duration` seconds; returns the pitches, the last pad forces, the mean number of
    faces and the cost of every step."""
    import numpy as np
    from pydrake.systems.analysis import Simulator

    diagram, context, plant, plant_context, body, left, right = build(ROOT / "urdf", spatula_file, approximation)
    simulator = Simulator(diagram, context)
    simulator.set_target_realtime_rate(0)
    simulator.Initialize()
    port = plant.get_applied_generalized_force_input_port()
    force = np.zeros(plant.num_velocities())
    fixed = port.FixValue(plant_context, force)
    costs, faces, forces, pitches = [], [], [], {}
    for k in range(round(duration / STEP)):
        u = grip_command(k * STEP)
        force[left.velocity_start()], force[right.velocity_start()] = u, -u
        fixed.GetMutableData().set_value(force)
        start = time.perf_counter()
        simulator.AdvanceTo((k + 1) * STEP)
        costs.append(time.perf_counter() - start)
        if (k + 1) % 20 == 0 or k == 0:
            results = plant.get_contact_results_output_port().Eval(plant_context)
            surfaces = [results.hydroelastic_contact_info(i) for i in range(results.num_hydroelastic_contacts())]
            faces.append(sum(info.contact_surface().num_faces() for info in surfaces))
            forces = [abs(info.F_Ac_W().translational()[1]) for info in surfaces]
            R_WS = plant.EvalBodyPoseInWorld(plant_context, body).rotation().matrix()
            pitches[round((k + 1) * STEP, 6)] = math.asin(R_WS[2, 1])
    return {"costs": costs, "faces": statistics.fmean(faces), "forces": forces, "pitches": pitches}


def read_isobar(path):
    """The scene's named outputs of a recording of `isobar run`."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    pitches = {round(float(row["time"]), 6): float(row["pitch"]) for row in rows}
    last = rows[-1]
    return {
        "pitches": pitches,
        "faces": statistics.fmean(float(row["faces"]) for row in rows[1:]),
        "forces": [float(last["grip_force_left"]), float(last["grip_force_right"])],
    }


def run_isobar(duration, scene):
    """Runs our program on the scene. Returns the outputs of the recording, and the costs of the steps from
    its --timing file."""
    program = ROOT / "target" / "release" / "isobar"
    if not program.exists():
        sys.exit(f"{program} is missing: build it with `cargo build --release`")
    with tempfile.TemporaryDirectory() as folder:
        record, timing = pathlib.Path(folder) / "run.csv", pathlib.Path(folder) / "timing.csv"
        base = [str(program), "run", str(ROOT / "config" / scene), "--duration", str(duration), "--quiet"]
        subprocess.run([*base, "--csv", str(record)], check=True)
        subprocess.run([*base, "--timing", str(timing)], check=True)
        result = read_isobar(record)
        with open(timing) as file:
            result["costs"] = [float(line) for line in file if line.strip() and not line.startswith("#")]
    return result


def row(name, result):
    """One line of the table."""
    costs = result.get("costs", [])[1:]
    cost = f"{statistics.median(costs) * 1e6:9.1f} {statistics.fmean(costs) * 1e6:9.1f}" if costs else f"{'-':>9} {'-':>9}"
    pitch = list(result["pitches"].values())[-1]
    forces = " ".join(f"{abs(value):8.4f}" for value in result["forces"])
    return f"{name:<18} {cost} {result['faces']:7.1f} {pitch:12.6f}  {forces}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--duration", type=float, default=4.5, help="simulated time [s]")
    parser.add_argument("--approximation", default="lagged", choices=["lagged", "similar", "tamsi", "sap"])
    parser.add_argument("--physical", action="store_true", help="the spatula with a physical inertia")
    parser.add_argument("--isobar", action="store_true", help="run our program too and compare")
    parser.add_argument("--isobar-csv", type=pathlib.Path, help="compare with this recording of `isobar run`")
    options = parser.parse_args()
    try:
        import pydrake  # noqa: F401
    except ImportError:
        sys.exit("Drake is not installed, and only this comparison needs it: `pip install drake` (in a virtual environment).")
    spatula = "spatula.urdf" if options.physical else "spatula_published_inertia.urdf"
    scene = "spatula_slip_physical.yaml" if options.physical else "spatula_slip.yaml"
    print(f"{'':<18} {'median us':>9} {'mean us':>9} {'faces':>7} {'pitch rad':>12}  pad forces N", flush=True)
    drake = run_drake(options.duration, spatula, options.approximation)
    print(row(f"Drake {options.approximation}", drake), flush=True)
    ours = None
    if options.isobar:
        ours = run_isobar(options.duration, scene)
    elif options.isobar_csv:
        ours = read_isobar(options.isobar_csv)
    if ours is None:
        return
    print(row("Isobar", ours))
    common = sorted(set(drake["pitches"]) & set(ours["pitches"]))
    worst = max(abs(drake["pitches"][t] - ours["pitches"][t]) for t in common)
    print(f"largest pitch difference at {len(common)} times: {worst:.3e} rad")
    if ours.get("costs"):
        ratio = statistics.median(drake["costs"][1:]) / statistics.median(ours["costs"][1:])
        print(f"a step of ours is {ratio:.1f} times as fast (medians)")


if __name__ == "__main__":
    main()
