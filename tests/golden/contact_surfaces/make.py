"""Recomputes the reference part of configurations: python make.py FILE (needs drake 1.51 from PyPI).

Reads `configs` of FILE (only A and B of each are used: type, sizes, compliance, E, hint, slab_thickness,
margin, pose), computes the contact surface with Drake, and writes FILE again. Faces are listed if there are
at most FACES_LISTED.
"""

import json
import sys

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.common.value import AbstractValue
from pydrake.geometry import (
    AddCompliantHydroelasticProperties, AddCompliantHydroelasticPropertiesForHalfSpace, AddRigidHydroelasticProperties,
    Box, Capsule, Cylinder, Ellipsoid, FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace,
    HydroelasticContactRepresentation, ProximityProperties, SceneGraph, Sphere)
from pydrake.math import RigidTransform

FACES_LISTED = 12


def shape(b):
    return {
        "sphere": lambda: Sphere(b["radius"]),
        "ellipsoid": lambda: Ellipsoid(*b["abc"]),
        "box": lambda: Box(*b["size"]),
        "cylinder": lambda: Cylinder(b["radius"], b["length"]),
        "capsule": lambda: Capsule(b["radius"], b["length"]),
        "half_space": HalfSpace,
    }[b["type"]]()


def pose(b):
    q = np.array(b["q_wxyz"], float)
    return RigidTransform(Quaternion(wxyz=q / np.linalg.norm(q)), b["p"])


def properties(b):
    props = ProximityProperties()
    if b["compliance"] == "rigid":
        AddRigidHydroelasticProperties(b.get("hint", 1.0), props)
    elif b["type"] == "half_space":
        AddCompliantHydroelasticPropertiesForHalfSpace(b["slab_thickness"], b["E"], props)
    else:
        AddCompliantHydroelasticProperties(b.get("hint", 1.0), b["E"], props)
    if b.get("margin"):
        props.AddProperty("hydroelastic", "margin", float(b["margin"]))
    return props


def surfaces(config):
    """The id of A, and the contact surface as polygons and as triangles."""
    scene_graph = SceneGraph()
    source = scene_graph.RegisterSource("source")
    poses, ids = FramePoseVector(), {}
    for key in "AB":
        frame = scene_graph.RegisterFrame(source, GeometryFrame(key))
        instance = GeometryInstance(RigidTransform(), shape(config[key]), key)
        instance.set_proximity_properties(properties(config[key]))
        ids[key] = scene_graph.RegisterGeometry(source, frame, instance)
        poses.set_value(frame, pose(config[key]))
    context = scene_graph.CreateDefaultContext()
    scene_graph.get_source_pose_port(source).FixValue(context, AbstractValue.Make(poses))
    query = scene_graph.get_query_output_port().Eval(context)
    Representation = HydroelasticContactRepresentation
    polygons = query.ComputeContactSurfaces(Representation.kPolygon)
    triangles = query.ComputeContactSurfaces(Representation.kTriangle)
    return ids["A"], polygons[0], triangles[0]


def list_faces(surface, first_is_M):
    """Drake's normals point from N into M; those of the file point into 'first'."""
    sign = 1.0 if first_is_M else -1.0
    field = surface.poly_e_MN()
    faces = []
    for i in range(surface.num_faces()):
        centroid = np.array(surface.centroid(i))
        M = surface.EvaluateGradE_M_W(i).tolist() if surface.HasGradE_M() else None
        N = surface.EvaluateGradE_N_W(i).tolist() if surface.HasGradE_N() else None
        first, second = (M, N) if first_is_M else (N, M)
        faces.append({
            "area": surface.area(i), "centroid": centroid.tolist(),
            "normal": (sign * np.array(surface.face_normal(i))).tolist(),
            "p": float(field.EvaluateCartesian(i, centroid)), "grad_first": first, "grad_second": second,
        })
    return faces


def slopes(face):
    along = lambda gradient: np.inf if gradient is None else np.dot(gradient, face["normal"])
    second = along(face["grad_second"])
    return along(face["grad_first"]), second if face["grad_second"] is None else -second


def wrench(faces):
    forces = [face["p"] * face["area"] * np.array(face["normal"]) for face in faces]
    torques = [np.cross(face["centroid"], force) for face, force in zip(faces, forces)]
    return sum(forces, np.zeros(3)), sum(torques, np.zeros(3))


def compute(config):
    """The configuration with its reference part."""
    id_A, surface, triangles = surfaces(config)
    M_is = "A" if surface.id_M() == id_A else "B"
    compliant = [key for key in "AB" if config[key]["compliance"] == "compliant"]
    first = compliant[0] if len(compliant) == 1 else M_is
    faces = [face for face in list_faces(surface, first == M_is) if face["area"] > 1e-14]
    kept = [face for face in faces if min(slopes(face)) > 1e-14]
    area = sum(face["area"] for face in faces)
    (force, torque), (force_kept, torque_kept) = wrench(faces), wrench(kept)
    result = {key: config[key] for key in ("name", "A", "B")}
    result["M_is"] = M_is
    result["drake"] = {
        "num_faces": len(faces), "area": area, "force": force.tolist(), "torque_W": torque.tolist(),
        "stiffness": sum(f["area"] / sum(1 / slope for slope in slopes(f)) for f in kept),
        "p_max": max(face["p"] for face in faces), "faces_ignored_by_solver": len(faces) - len(kept),
        "force_solver": force_kept.tolist(), "torque_solver_W": torque_kept.tolist(),
    }
    result["triangle_faces"] = triangles.num_faces()
    if len(faces) <= FACES_LISTED:
        result["faces"] = faces
    return result


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        configs = json.load(file)["configs"]
    lines = ",\n".join(json.dumps(compute(config)) for config in configs)
    with open(sys.argv[1], "w") as file:
        file.write('{"configs": [\n' + lines + "\n]}\n")
