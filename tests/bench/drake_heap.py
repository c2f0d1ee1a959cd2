"""The heap of heap.rs in Drake: the time of a step.

    cargo bench --bench heap -- 100 soft 1e-3 2 heap --bodies=FILE
    python tests/bench/drake_heap.py FILE [--step 1e-3] [--seconds 2] [--rigid]

Needs the packages drake and numpy. Soft bodies have the modulus and the dissipation of heap.rs, and the walls
are rigid. With --rigid all shapes are rigid: Drake then takes one contact point a pair. Times are processor
times of the thread.
"""

import heap_file
import numpy as np
from pydrake.common.eigen_geometry import Quaternion
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
    width, walls, bodies = heap_file.read(file)
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=step,
        stiction_tolerance=1e-4,
        contact_model="point" if rigid else "hydroelastic_with_fallback",
        discrete_contact_approximation=approximation,
    )
    plant, _ = AddMultibodyPlant(config, builder)
    for i, (position, size) in enumerate(walls):
        pose = RigidTransform(position)
        plant.RegisterCollisionGeometry(plant.world_body(), pose, Box(*size), f"wall{i}", properties(True))
    poses = []
    for i, (name, size, mass, position, quaternion) in enumerate(bodies):
        solid, inertia = shape(name, *size)
        body = plant.AddRigidBody(f"body{i}", SpatialInertia(mass, np.zeros(3), inertia))
        plant.RegisterCollisionGeometry(body, RigidTransform(), solid, f"shape{i}", properties(rigid))
        turn = Quaternion(np.array(quaternion) / np.linalg.norm(quaternion))
        poses.append((body, RigidTransform(turn, position)))
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
    times, failed = heap_file.time_steps(lambda number: simulator.AdvanceTo((number + 1) * arguments.step), steps)
    results = plant.get_contact_results_output_port().Eval(of_plant)
    contacts = results.num_point_pair_contacts() + results.num_hydroelastic_contacts()
    speeds = [np.linalg.norm(plant.EvalBodySpatialVelocityInWorld(of_plant, body).translational()) for body, _ in poses]
    centres = [plant.EvalBodyPoseInWorld(of_plant, body).translation() for body, _ in poses]
    label = f"{len(poses):5} {1e3 * arguments.step:3.0f} ms {approximation:8} {'rigid' if arguments.rigid else 'soft'}"
    heap_file.report(label, times, steps, (speeds, centres), width, f"contacts {contacts}{failed}")


def main():
    parser = heap_file.parser(__doc__)
    parser.add_argument("--rigid", action="store_true")
    parser.add_argument("--approximations", default="lagged")
    arguments = parser.parse_args()
    for file in arguments.files:
        for approximation in arguments.approximations.split(","):
            run(file, arguments, approximation)


if __name__ == "__main__":
    main()
