"""Writes <robot>.json: the tree of a robot and, at random states, Pinocchio's results for it.

    python3 -m venv v && v/bin/pip install pin example-robot-data numpy && v/bin/python make.py

The tree (joints, bodies, placements) is read from the URDF text here; mass matrices, generalized forces and
Jacobians come from Pinocchio's own reader of the same file, so a mistake in either is detected. Conversions
of Pinocchio's results:
- its free-flyer velocity (v, w) is in body axes, ours (w, v) in world axes about the body's origin:
  v_pin = T v, dv_pin/dt = T dv/dt + Td v, with Td v = (-w_b x v_b, 0);
- mimic joints follow their leaders: v_all = G v, so M = G^T M_all G.
"""

import json
import os
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin

PACKAGE = os.path.join(os.path.dirname(pin.__file__), *[".."] * 4, "share", "example-robot-data", "robots")
ROBOTS = {
    # Name: (URDF inside the package's robots/, floats, frames whose Jacobians are written).
    "panda": ("panda_description/urdf/panda.urdf", False, ["panda_link4", "panda_hand", "panda_rightfinger"]),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False, ["forearm_link", "wrist_3_link", "tool0"]),
    "kinova": (
        "kinova_description/robots/kinova.urdf",
        False,
        ["j2s6s200_link_3", "j2s6s200_link_6", "j2s6s200_end_effector"],
    ),
    "talos": (
        "talos_data/robots/talos_full_v2.urdf",
        True,
        ["base_link", "left_sole_link", "gripper_right_fingertip_3_link"],
    ),
}
GRAVITY = [0.0, 0.0, -9.81]


def numbers(text):
    return [float(x) for x in text.split()]


def origin(element):
    """Placement of an <origin>: (rotation, position)."""
    o = element.find("origin") if element is not None else None
    if o is None:
        return np.eye(3), np.zeros(3)
    return pin.rpy.rpyToMatrix(np.array(numbers(o.get("rpy", "0 0 0")))), np.array(numbers(o.get("xyz", "0 0 0")))


def read_tree(path, floats):
    root = ET.parse(path).getroot()
    bodies, joints = [], []
    for link in root.findall("link"):
        inertial = link.find("inertial")
        body = {"name": link.get("name"), "mass": 0.0, "com": [0.0] * 3, "inertia": [[0.0] * 3] * 3}
        if inertial is not None:
            R, p = origin(inertial)
            i = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
            I = np.array(
                [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
            )
            body["mass"] = float(inertial.find("mass").get("value"))
            body["com"] = p.tolist()
            body["inertia"] = (R @ I @ R.T).tolist()
        bodies.append(body)
    for joint in root.findall("joint"):
        R, p = origin(joint)
        axis = joint.find("axis")
        entry = {
            "name": joint.get("name"),
            "kind": joint.get("type"),
            "parent": joint.find("parent").get("link"),
            "child": joint.find("child").get("link"),
            "R": R.tolist(),
            "p": p.tolist(),
            "axis": numbers(axis.get("xyz")) if axis is not None else [1.0, 0.0, 0.0],
        }
        mimic = joint.find("mimic")
        if mimic is not None:
            entry["mimic"] = {
                "joint": mimic.get("joint"),
                "multiplier": float(mimic.get("multiplier", "1")),
                "offset": float(mimic.get("offset", "0")),
            }
        joints.append(entry)
    children = {j["child"] for j in joints}
    (base,) = [b["name"] for b in bodies if b["name"] not in children]
    if base == "world":
        bodies = [b for b in bodies if b["name"] != "world"]
    else:
        joints.append(
            {
                "name": "base_joint",
                "kind": "floating" if floats else "fixed",
                "parent": "world",
                "child": base,
                "R": np.eye(3).tolist(),
                "p": [0.0] * 3,
                "axis": [0.0, 0.0, 1.0],
            }
        )
    return {"bodies": bodies, "joints": joints}


def leaders(tree, names):
    """Each scalar joint as (leader, multiplier, offset)."""
    mimics = {j["name"]: j["mimic"] for j in tree["joints"] if "mimic" in j}
    result = {}
    for name in names:
        leader, scale, offset = name, 1.0, 0.0
        while leader in mimics:
            m = mimics[leader]
            offset += scale * m["offset"]
            scale *= m["multiplier"]
            leader = m["joint"]
        result[name] = (leader, scale, offset)
    return result


def state(model, data, tree, floats, frames, rng):
    scalars = [n for n, j in list(zip(model.names, model.joints))[1:] if j.nv == 1]  # 0 is the universe
    follow = leaders(tree, scalars)
    free = [n for n in scalars if follow[n][0] == n]
    angle = {n: rng.uniform(-1.5, 1.5) for n in free}
    rate = {n: rng.uniform(-2, 2) for n in free}
    base = 6 if floats else 0
    q, v = pin.neutral(model), np.zeros(model.nv)
    G = np.zeros((model.nv, base + len(free)))
    out = {"q": angle, "v": rate}
    Tdv = np.zeros(model.nv)
    if floats:
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)  # w x y z
        position, w, vo = rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 3)
        q[:3], q[3:7] = position, np.roll(quaternion, -1)
        R = pin.Quaternion(*quaternion).toRotationMatrix()
        G[:3, 3:6], G[3:6, :3] = R.T, R.T
        v[:3], v[3:6] = R.T @ vo, R.T @ w
        Tdv[:3] = -np.cross(v[3:6], v[:3])
        out["base"] = {
            "quaternion_wxyz": quaternion.tolist(),
            "position": position.tolist(),
            "w": w.tolist(),
            "v": vo.tolist(),
        }
    for n in scalars:
        j = model.joints[model.getJointId(n)]
        leader, scale, offset = follow[n]
        x = scale * angle[leader] + offset
        q[j.idx_q : j.idx_q + j.nq] = [x] if j.nq == 1 else [np.cos(x), np.sin(x)]
        v[j.idx_v] = scale * rate[leader]
        G[j.idx_v, base + free.index(leader)] += scale
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    gravity = -G.T @ pin.computeGeneralizedGravity(model, data, q)
    nle = G.T @ (pin.nonLinearEffects(model, data, q, v) + M @ Tdv)
    out |= {"dofs": free, "M": (G.T @ M @ G).tolist()}
    out |= {"coriolis": (nle + gravity).tolist(), "gravity": gravity.tolist()}
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v)
    pin.updateFramePlacements(model, data)
    out["frames"] = []
    for name in frames:
        assert model.existFrame(name, pin.BODY), name
        f = model.getFrameId(name, pin.BODY)
        J = pin.getFrameJacobian(model, data, f, pin.LOCAL_WORLD_ALIGNED) @ G
        V = pin.getFrameVelocity(model, data, f, pin.LOCAL_WORLD_ALIGNED)
        out["frames"].append(
            {
                "body": name,
                "R_WB": data.oMf[f].rotation.tolist(),
                "p_WB": data.oMf[f].translation.tolist(),
                "w_WB": V.angular.tolist(),
                "v_WB": V.linear.tolist(),
                "J": np.vstack([J[3:], J[:3]]).tolist(),
            }
        )
    return out


def rounded(value):
    """Rounds values that are zero up to rounding to exact zeros without a sign, for smaller files."""
    if isinstance(value, list):
        return [rounded(x) for x in value]
    if isinstance(value, dict):
        return {k: rounded(x) for k, x in value.items()}
    return 0 if isinstance(value, float) and abs(value) < 1e-17 else value


def main():
    for robot, (urdf, floats, frames) in ROBOTS.items():
        path = os.path.join(PACKAGE, urdf)
        model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floats else pin.buildModelFromUrdf(path)
        assert not model.armature.any()
        rng = np.random.default_rng(20)
        tree = read_tree(path, floats)
        states = [state(model, model.createData(), tree, floats, frames, rng) for _ in range(3)]
        result = {"robot": robot, "urdf": urdf, "floats": floats, "gravity": GRAVITY} | tree | {"states": states}
        out = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{robot}.json")
        with open(out, "w") as file:
            json.dump(rounded(result), file, separators=(",", ":"))
            file.write("\n")
        print(robot, "nv", model.nv, os.path.getsize(out), "bytes")


main()
