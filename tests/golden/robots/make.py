"""Writes robots.json: Pinocchio's results for the shipped robots.

    python3 -m venv v && v/bin/pip install pin && v/bin/python tests/golden/robots/make.py

Pinocchio reads urdf/*.urdf itself, with the root welded to the world; rotors behind gears are not in its mass
matrix.
"""

import json
import math
import pathlib

import numpy as np
import pinocchio as pin

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROBOTS = ["iiwa7", "iiwa14", "iiwa14_wsg50", "wsg50", "wsg50_bubble_gripper", "j2n6s300", "j2s7s300", "j2n6_bubble_gripper"]
STATES = 4


def state(model, data, rng):
    angles = rng.uniform(-1.5, 1.5, model.nv)
    q = pin.integrate(model, pin.neutral(model), angles)  # a continuous joint has the coordinates cos q, sin q
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    return {
        "q": angles.tolist(),
        "M": M.tolist(),
        "gravity": (-pin.computeGeneralizedGravity(model, data, q)).tolist(),  # generalized force of gravity [N m] or [N]
    }


def main():
    rng = np.random.default_rng(20261121)
    robots = {}
    for name in ROBOTS:
        model = pin.buildModelFromUrdf(str(ROOT / "urdf" / f"{name}.urdf"))
        model.gravity.linear = np.array([0.0, 0.0, -9.81])
        data = model.createData()
        robots[name] = {"joints": list(model.names[1:]), "states": [state(model, data, rng) for _ in range(STATES)]}
    assert all(math.isfinite(x) for robot in robots.values() for s in robot["states"] for x in s["gravity"])
    text = json.dumps({"pinocchio": pin.__version__, "robots": robots}, separators=(",", ":"))
    (ROOT / "tests/golden/robots/robots.json").write_text(text + "\n")


main()
