"""Recomputes the results of one-step cases: python make.py FILE (needs drake 1.51 from PyPI).

Reads `cases` of FILE (name, mu, bodies, and the settings of each result: dt, stiction_tolerance,
hunt_crossley_d), takes one step of the lagged approximation with Drake, and writes FILE again.
"""

import importlib.util
import json
import pathlib
import sys

from pydrake.geometry import AddContactMaterial
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction, DiscreteContactApproximation)
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

PATH = pathlib.Path(__file__).parent.parent / "contact_surfaces" / "make.py"
SPEC = importlib.util.spec_from_file_location("contact_surfaces_make", PATH)
geometry = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(geometry)


def step(case, dt, stiction_tolerance, hunt_crossley_d):
    """One step from the pose and velocity of each free body."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, dt)
    plant.set_contact_model(ContactModel.kHydroelastic)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
    free = {name: body for name, body in case["bodies"].items() if not body.get("fixed")}
    for name, body in case["bodies"].items():
        props = geometry.properties(body)
        mu, d = body.get("mu", case["mu"]), body.get("hunt_crossley_d", hunt_crossley_d)
        AddContactMaterial(dissipation=d, friction=CoulombFriction(mu, mu), properties=props)
        link, X_BG = plant.world_body(), geometry.pose(body)
        if name in free:
            m, I = body["mass"], body["I"]
            inertia = SpatialInertia(mass=m, p_PScm_E=[0, 0, 0], G_SP_E=UnitInertia(I[0] / m, I[1] / m, I[2] / m))
            link, X_BG = plant.AddRigidBody(name, inertia), RigidTransform()
        plant.RegisterCollisionGeometry(link, X_BG, geometry.shape(body), name, props)
    plant.Finalize()
    plant.set_stiction_tolerance(stiction_tolerance)
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    for name, body in free.items():
        link = plant.GetBodyByName(name)
        plant.SetFreeBodyPose(context, link, geometry.pose(body))
        plant.SetFreeBodySpatialVelocity(context, link, SpatialVelocity(w=body["w"], v=body["v"]))
    simulator = Simulator(diagram, root)
    simulator.Initialize()
    simulator.AdvanceTo(dt)
    contacts = plant.get_contact_results_output_port().Eval(context)
    result = {"approx": "lagged", "dt": dt, "stiction_tolerance": stiction_tolerance, "hunt_crossley_d": hunt_crossley_d}
    result["bodies"] = {}
    for name in free:
        link = plant.GetBodyByName(name)
        X, V = plant.EvalBodyPoseInWorld(context, link), plant.EvalBodySpatialVelocityInWorld(context, link)
        result["bodies"][name] = {
            "p": X.translation().tolist(), "q_wxyz": X.rotation().ToQuaternion().wxyz().tolist(),
            "v": V.translational().tolist(), "w": V.rotational().tolist(),
        }
    infos = [contacts.hydroelastic_contact_info(i) for i in range(contacts.num_hydroelastic_contacts())]
    result["contacts"] = [
        {"faces": info.contact_surface().num_faces(), "f_on_M": info.F_Ac_W().translational().tolist()} for info in infos]
    return result


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        cases = json.load(file)["cases"]
    for case in cases:
        settings = [[r[key] for key in ("dt", "stiction_tolerance", "hunt_crossley_d")] for r in case["results"]]
        case["results"] = [step(case, *values) for values in settings]
    with open(sys.argv[1], "w") as file:
        file.write('{"cases": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]}\n")
