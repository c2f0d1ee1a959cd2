"""The heap of heap.rs in MuJoCo: the time of a step, with several solvers.

    cargo bench --bench heap -- 100 rigid 1e-3 2 heap --bodies=FILE
    python tests/bench/mujoco_heap.py FILE [--step 1e-3] [--seconds 2]

Needs the packages mujoco and numpy. Contacts are springs of the time constant of two steps.
"""

import heap_file
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
    width, walls, bodies = heap_file.read(file)
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

    for position, size in walls:
        half = [0.5 * x for x in size]
        dress(spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=position, size=half))
    for name, (x, y, z), mass, position, quaternion in bodies:
        body = spec.worldbody.add_body(pos=position, quat=quaternion)
        body.add_freejoint()
        size = {"sphere": [x, 0, 0], "cylinder": [x, z, 0], "capsule": [x, z, 0]}.get(name, [x, y, z])
        dress(body.add_geom(type=TYPES[name], size=size, mass=mass))
    return spec.compile(), width


def run(file, step, seconds, solver, jacobian, cone):
    """One row of the table."""
    model, width = load(file, step, solver, jacobian, cone)
    data = mujoco.MjData(model)
    steps = round(seconds / step)
    times, _ = heap_file.time_steps(lambda _: mujoco.mj_step(model, data), steps)
    deepest = max([-data.contact[i].dist for i in range(data.ncon)], default=0.0)
    speeds = np.linalg.norm(data.qvel.reshape(-1, 6)[:, :3], axis=1)
    centres = data.qpos.reshape(-1, 7)[:, :3]
    label = f"{model.nbody - 1:5} {1e3 * step:3.0f} ms {solver:6} {jacobian:6} {cone:9}"
    notes = f"contacts {data.ncon} iterations {data.solver_niter.max()} islands {data.nisland} deepest {1e3 * deepest:.3f} mm"
    heap_file.report(label, times, steps, (speeds, centres), width, notes)


def main():
    parser = heap_file.parser(__doc__)
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
