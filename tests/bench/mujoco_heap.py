"""The heap of heap.rs in MuJoCo: the time of a step, with several solvers.

    cargo bench --bench heap -- 100 rigid 1e-3 2 heap --bodies=FILE
    python tests/bench/mujoco_heap.py FILE [--step 1e-3] [--seconds 2] [--soft]

Needs the packages mujoco and numpy. Contacts are springs of the time constant of two steps. With --soft they
have the stiffness by which a body of the heap sinks as far as in Isobar at the same pressure gradient.
"""

import argparse
import time

import mujoco
import numpy as np

TYPES = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}
SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}
JACOBIANS = {
    "auto": mujoco.mjtJacobian.mjJAC_AUTO,
    "sparse": mujoco.mjtJacobian.mjJAC_SPARSE,
    "dense": mujoco.mjtJacobian.mjJAC_DENSE,
}
CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}


def load(file, step, solver, jacobian, cone):
    """The model of a file of bodies."""
    size, *lines = open(file).read().split()
    width, high = map(float, size.split(","))
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.option.gravity = [0, 0, -9.81]
    spec.option.solver = SOLVERS[solver]
    spec.option.jacobian = JACOBIANS[jacobian]
    spec.option.cone = CONES[cone]
    solref = [2 * step, 1.0]

    def dress(geom):
        geom.friction = [0.5, 0.0, 0.0]
        geom.condim = 3
        geom.solref = solref
        return geom

    thick = 0.05
    beside = 0.5 * (width + thick)
    walls = [
        ([0, 0, -0.5 * thick], [width + 2 * thick, width + 2 * thick, thick]),
        ([-beside, 0, 0.5 * high], [thick, width, high]),
        ([beside, 0, 0.5 * high], [thick, width, high]),
        ([0, -beside, 0.5 * high], [width + 2 * thick, thick, high]),
        ([0, beside, 0.5 * high], [width + 2 * thick, thick, high]),
    ]
    for position, size in walls:
        half = [0.5 * x for x in size]
        dress(spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=position, size=half))
    for line in lines:
        name, *numbers = line.split(",")
        x, y, z, mass, *pose = map(float, numbers)
        body = spec.worldbody.add_body(pos=pose[:3], quat=pose[3:])
        body.add_freejoint()
        size = {"sphere": [x, 0, 0], "cylinder": [x, z, 0], "capsule": [x, z, 0]}.get(name, [x, y, z])
        dress(body.add_geom(type=TYPES[name], size=size, mass=mass))
    return spec.compile(), width


def run(file, step, seconds, solver, jacobian, cone):
    """One row of the table."""
    model, width = load(file, step, solver, jacobian, cone)
    data = mujoco.MjData(model)
    steps = round(seconds / step)
    times, deepest, contacts = [], 0.0, 0
    for _ in range(steps):
        start = time.thread_time()
        mujoco.mj_step(model, data)
        times.append(1e6 * (time.thread_time() - start))
    depths = [-data.contact[i].dist for i in range(data.ncon)]
    deepest, contacts = max(depths, default=0.0), data.ncon
    half = np.array(times[steps // 2 :])
    landing = np.array(times[: steps // 2])
    speeds = data.qvel.reshape(-1, 6)[:, :3]
    fastest = np.linalg.norm(speeds, axis=1).max()
    centres = data.qpos.reshape(-1, 7)[:, :3]
    outside = max(0.0, np.abs(centres[:, :2]).max() - 0.5 * width, -centres[:, 2].min())
    print(
        f"{model.nbody - 1:5} {1e3 * step:3.0f} ms {solver:6} {jacobian:6} {cone:9} | "
        f"{np.median(half):9.0f} {np.percentile(half, 99):9.0f} {half.max():9.0f} us | "
        f"landing {np.median(landing):9.0f} {np.percentile(landing, 99):9.0f} us | "
        f"contacts {contacts} iterations {data.solver_niter.max()} islands {data.nisland} | "
        f"fastest {1e3 * fastest:.1f} mm/s, deepest {1e3 * deepest:.3f} mm, outside {1e3 * outside:.1f} mm",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--solvers", default="newton,cg")
    parser.add_argument("--jacobians", default="auto,sparse")
    parser.add_argument("--cones", default="pyramidal,elliptic")
    arguments = parser.parse_args()
    for file in arguments.files:
        for cone in arguments.cones.split(","):
            for solver in arguments.solvers.split(","):
                for jacobian in arguments.jacobians.split(","):
                    run(file, arguments.step, arguments.seconds, solver, jacobian, cone)


if __name__ == "__main__":
    main()
