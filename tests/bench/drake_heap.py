"""The heap of heap.rs in Drake: the time of a step.

    cargo bench --bench heap -- 100 soft 1e-3 2 heap --bodies=FILE
    python tests/bench/drake_heap.py FILE [--step 1e-3] [--seconds 2] [--rigid]

Needs the packages drake and numpy. Soft bodies have the modulus and the dissipation of heap.rs, and the walls
are rigid. With --rigid all shapes are rigid: Drake then takes one contact point a pair. Times are processor
times of the thread.
"""

import argparse
import time

import numpy as np
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.common.eigen_geometry import Quaternion
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

MODULUS = 1e6  # [Pa]
FRICTION = 0.5
EDGE = 0.01  # edges of the meshes of round shapes [m]


def shape(name, x, y, z):
    """Shape and unit inertia of a solid body with the half sizes of a line of the file."""
    if name == "box":
        return Box(2 * x, 2 * y, 2 * z), UnitInertia.SolidBox(2 * x, 2 * y, 2 * z)
    if name == "sphere":
        return Sphere(x), UnitInertia.SolidSphere(x)
    if name == "cylinder":
        return Cylinder(x, 2 * z), UnitInertia.SolidCylinder(x, 2 * z, [0, 0, 1])
    if name == "capsule":
        return Capsule(x, 2 * z), UnitInertia.SolidCapsule(x, 2 * z, [0, 0, 1])
    return Ellipsoid(x, y, z), UnitInertia.SolidEllipsoid(x, y, z)


def properties(rigid):
    """The contact of one shape."""
    material = ProximityProperties()
    AddContactMaterial(dissipation=10.0, friction=CoulombFriction(FRICTION, FRICTION), properties=material)
    if rigid:
        AddRigidHydroelasticProperties(EDGE, material)
    else:
        AddCompliantHydroelasticProperties(EDGE, MODULUS, material)
    return material


def load(file, step, rigid, approximation):
    """The diagram of a file of bodies, its plant and the width of the box."""
    size, *lines = open(file).read().split()
    width, high = map(float, size.split(","))
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=step,
        stiction_tolerance=1e-4,
        contact_model="point" if rigid else "hydroelastic_with_fallback",
        discrete_contact_approximation=approximation,
    )
    plant, _ = AddMultibodyPlant(config, builder)
    thick = 0.05
    beside = 0.5 * (width + thick)
    walls = [
        ([0, 0, -0.5 * thick], [width + 2 * thick, width + 2 * thick, thick]),
        ([-beside, 0, 0.5 * high], [thick, width, high]),
        ([beside, 0, 0.5 * high], [thick, width, high]),
        ([0, -beside, 0.5 * high], [width + 2 * thick, thick, high]),
        ([0, beside, 0.5 * high], [width + 2 * thick, thick, high]),
    ]
    for i, (position, size) in enumerate(walls):
        pose = RigidTransform(position)
        plant.RegisterCollisionGeometry(plant.world_body(), pose, Box(*size), f"wall{i}", properties(True))
    poses = []
    for i, line in enumerate(lines):
        name, *numbers = line.split(",")
        x, y, z, mass, *pose = map(float, numbers)
        solid, inertia = shape(name, x, y, z)
        body = plant.AddRigidBody(f"body{i}", SpatialInertia(mass, np.zeros(3), inertia))
        plant.RegisterCollisionGeometry(body, RigidTransform(), solid, f"shape{i}", properties(rigid))
        poses.append((body, RigidTransform(Quaternion(np.array(pose[3:]) / np.linalg.norm(pose[3:])), pose[:3])))
    plant.Finalize()
    return builder.Build(), plant, poses, width


def run(file, arguments, approximation):
    """One row of the table."""
    diagram, plant, poses, width = load(file, arguments.step, arguments.rigid, approximation)
    simulator = Simulator(diagram)
    context = simulator.get_mutable_context()
    of_plant = plant.GetMyMutableContextFromRoot(context)
    for body, pose in poses:
        plant.SetFreeBodyPose(of_plant, body, pose)
    simulator.Initialize()
    steps = round(arguments.seconds / arguments.step)
    times, failed = [], ""
    for number in range(steps):
        start = time.thread_time()
        try:
            simulator.AdvanceTo((number + 1) * arguments.step)
        except RuntimeError as error:
            failed = f", ends after {number} steps: {str(error)[:80]}"
            break
        times.append(1e6 * (time.thread_time() - start))
    half, landing = np.array(times[steps // 2 :] or [np.nan]), np.array(times[: steps // 2])
    results = plant.get_contact_results_output_port().Eval(of_plant)
    contacts = results.num_point_pair_contacts() + results.num_hydroelastic_contacts()
    velocities = [plant.EvalBodySpatialVelocityInWorld(of_plant, body) for body, _ in poses]
    fastest = max(np.linalg.norm(velocity.translational()) for velocity in velocities)
    centres = np.array([plant.EvalBodyPoseInWorld(of_plant, body).translation() for body, _ in poses])
    outside = max(0.0, np.abs(centres[:, :2]).max() - 0.5 * width, -centres[:, 2].min())
    print(
        f"{len(poses):5} {1e3 * arguments.step:3.0f} ms {approximation:8} {'rigid' if arguments.rigid else 'soft'} | "
        f"{np.median(half):9.0f} {np.percentile(half, 99):9.0f} {half.max():9.0f} us | "
        f"landing {np.median(landing):9.0f} {np.percentile(landing, 99):9.0f} us | contacts {contacts} | "
        f"fastest {1e3 * fastest:.1f} mm/s, outside {1e3 * outside:.1f} mm{failed}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rigid", action="store_true")
    parser.add_argument("--approximations", default="lagged")
    arguments = parser.parse_args()
    for file in arguments.files:
        for approximation in arguments.approximations.split(","):
            run(file, arguments, approximation)


if __name__ == "__main__":
    main()
