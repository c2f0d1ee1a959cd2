"""Drake: each scene as a MultibodyPlant with discrete steps, lagged friction and hydroelastic contact."""

import time
from importlib import metadata

import numpy as np
from pydrake.geometry import AddContactMaterial, AddRigidHydroelasticProperties, HalfSpace, ProximityProperties
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder


def version():
    return "Drake " + metadata.version("drake")


def run(scene, step, folder):
    """States at the samples, and the processor time per simulated second [s]."""
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=step,
        stiction_tolerance=1e-6,
        contact_model="hydroelastic_with_fallback",
        discrete_contact_approximation="lagged",
    )
    plant, _ = AddMultibodyPlant(config, builder)
    parser = Parser(plant)
    for body in scene.bodies:
        parser.AddModels(str(folder / f"{scene.name}_{body.name}.urdf"))
    if scene.fingers:
        parser.AddModels(str(folder / f"{scene.name}_fingers.urdf"))
        base = plant.GetFrameByName("base")
        plant.WeldFrames(plant.world_frame(), base, RigidTransform([0, 0, 0.5]))
    else:
        properties = ProximityProperties()
        friction = CoulombFriction(scene.material.mu, scene.material.mu)
        AddContactMaterial(scene.material.dissipation, None, friction, properties)
        if scene.material.compliant:
            AddRigidHydroelasticProperties(properties)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", properties)
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    at = plant.GetMyMutableContextFromRoot(context)
    bodies = {body.name: plant.GetBodyByName(body.name) for body in scene.bodies}
    for body in scene.bodies:
        plant.SetFreeBodyPose(at, bodies[body.name], RigidTransform(list(body.xyz)))
        V = SpatialVelocity(w=list(body.spin), v=list(body.velocity))
        plant.SetFreeBodySpatialVelocity(context=at, body=bodies[body.name], V_JpJc=V)
    if scene.fingers:
        force = np.zeros(plant.num_velocities())
        for name in ("left", "right"):
            force[plant.GetJointByName(f"{name}_slide").velocity_start()] = scene.fingers
        plant.get_applied_generalized_force_input_port().FixValue(at, force)

    def rows():
        found = {}
        for name, body in bodies.items():
            V = plant.EvalBodySpatialVelocityInWorld(at, body)
            x = plant.EvalBodyPoseInWorld(at, body).translation()
            found[name] = [*x, *V.translational(), *V.rotational()]
        return found

    simulator = Simulator(diagram, context)
    simulator.set_target_realtime_rate(0)
    simulator.Initialize()
    states, spent = [(0.0, rows())], 0.0
    stride = max(1, round((scene.samples or scene.duration) / step))
    for number in range(stride, round(scene.duration / step) + 1, stride):
        start = time.process_time()
        simulator.AdvanceTo(number * step)
        spent += time.process_time() - start
        states.append((number * step, rows()))
    return states, spent / scene.duration
