"""Drake: each scene as a MultibodyPlant with discrete steps, lagged friction and hydroelastic contact."""

import time
from importlib import metadata
from pathlib import Path

import numpy as np
from pydrake.geometry import AddContactMaterial, AddRigidHydroelasticProperties, HalfSpace, ProximityProperties
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

ROOT = Path(__file__).resolve().parents[3]


def version():
    return "Drake " + metadata.version("drake")


def run_spatula(scene, step):
    """Does the same as `run` with the bodies, poses and commands of config/spatula_slip.yaml."""
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=step, stiction_tolerance=1e-4, contact_model="hydroelastic", discrete_contact_approximation="lagged"
    )
    plant, _ = AddMultibodyPlant(config, builder)
    parser = Parser(plant)
    parser.package_map().Add("isobar", str(ROOT))
    for name in ("wsg50_bubble_gripper", "spatula_published_inertia"):
        parser.AddModels(str(ROOT / f"urdf/{name}.urdf"))
    base = RigidTransform(RollPitchYaw(0, -1.57, 0), [0, 0, 0.25])
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("gripper"), base)
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    at = plant.GetMyMutableContextFromRoot(context)
    body = plant.GetBodyByName("spatula")
    plant.SetFreeBodyPose(at, body, RigidTransform(RollPitchYaw(-0.4, 0, 1.57), [0.35, 0, 0.25]))
    joints = [plant.GetJointByName(f"{side}_finger_sliding_joint") for side in ("left", "right")]
    for joint, place in zip(joints, (-0.01, 0.01)):
        joint.set_translation(at, place)
    simulator = Simulator(diagram, context)
    simulator.set_target_realtime_rate(0)
    simulator.Initialize()
    start = time.process_time()
    # The square wave of the fingers: 16 N, and 1 N in the last quarter of 6 s
    for force, until in ((16, 0.75 * scene.duration), (1, scene.duration)):
        efforts = np.zeros(plant.num_velocities())
        for joint, sign in zip(joints, (1, -1)):
            efforts[joint.velocity_start()] = sign * force
        plant.get_applied_generalized_force_input_port().FixValue(at, efforts)
        simulator.AdvanceTo(until)
    spent = time.process_time() - start
    X = plant.EvalBodyPoseInWorld(at, body)
    pitch = float(np.arcsin(X.rotation().matrix()[2, 1]))
    return [(scene.duration, {"spatula": [*X.translation(), *[0.0] * 6, pitch]})], spent / scene.duration


def run(scene, step, folder):
    """States at the samples, and the processor time per simulated second [s]."""
    if scene.spatula:
        return run_spatula(scene, step)
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
