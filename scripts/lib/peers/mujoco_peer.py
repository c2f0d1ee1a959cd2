"""MuJoCo: each scene from the URDF files, with elliptic friction cones and Newton's solver."""

import time

import mujoco
import numpy as np


def version():
    return "MuJoCo " + mujoco.__version__


def run(scene, step, folder):
    """States at the samples, and the processor time per simulated second [s]."""
    if scene.spatula:
        raise NotImplementedError("no pressure fields")
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.option.gravity = [0, 0, -9.81]
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    friction = [scene.material.mu, 0.0, 0.0]
    # Springs of a stiffness per mass of 1e5/s2 without damping, for a ball that keeps its energy
    solref = [-1e5, 0.0] if scene.material.bounce else [2.5 * step, 1.0]

    def dress(geom):
        geom.friction = friction
        geom.solref = solref
        geom.condim = 3

    if not scene.fingers:
        ground = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        dress(ground)
    for body in scene.bodies:
        child = mujoco.MjSpec.from_file(str(folder / f"{scene.name}_{body.name}.urdf"))
        for geom in child.geoms:
            dress(geom)
        frame = spec.worldbody.add_frame(pos=list(body.xyz))
        frame.attach_body(child.body(body.name), f"{body.name}_", "").add_freejoint()
    if scene.fingers:
        child = mujoco.MjSpec.from_file(str(folder / f"{scene.name}_fingers.urdf"))
        for geom in child.geoms:
            dress(geom)
        frame = spec.worldbody.add_frame(pos=[0, 0, 0.5])
        frame.attach_body(child.body("base"), "fingers_", "")
    model = spec.compile()
    data = mujoco.MjData(model)
    numbers = {body.name: model.body(f"{body.name}_{body.name}") for body in scene.bodies}
    for body in scene.bodies:
        joint = model.body_dofadr[numbers[body.name].id]
        # The angular velocity of a free joint is in the axes of the body, which are those of the world here
        data.qvel[joint : joint + 6] = [*body.velocity, *body.spin]
    if scene.fingers:
        for name in ("left", "right"):
            data.qfrc_applied[model.joint(f"fingers_{name}_slide").dofadr[0]] = scene.fingers
    mujoco.mj_forward(model, data)

    def rows():
        found = {}
        for name, body in numbers.items():
            dof = model.body_dofadr[body.id]
            R = data.xmat[body.id].reshape(3, 3)
            v, w = data.qvel[dof : dof + 3], R @ data.qvel[dof + 3 : dof + 6]
            found[name] = [float(x) for x in np.concatenate([data.xpos[body.id], v, w])]
        return found

    states, spent = [(0.0, rows())], 0.0
    stride = max(1, round((scene.samples or scene.duration) / step))
    for number in range(stride, round(scene.duration / step) + 1, stride):
        start = time.process_time()
        for _ in range(stride):
            mujoco.mj_step(model, data)
        spent += time.process_time() - start
        # Poses are those of the start of the last step until they are computed again
        mujoco.mj_kinematics(model, data)
        states.append((number * step, rows()))
    return states, spent / scene.duration
