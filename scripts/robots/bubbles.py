"""Schunk WSG 50 with soft-bubble fingers."""

import math

from .mesh import ellipsoid_surface, turned
from .urdf import box, collision, compliant, ellipsoid, fixed, inertial, joint, link, mesh, solid_box, visual
from .wsg50 import HOUSING, HOUSING_MASS

SOURCE = """
Parallel gripper with soft-bubble fingers: a Schunk WSG 50-110 with one air-filled, latex-covered bubble a finger.

Masses, joint frames and limits, and the contact properties of the bubbles are the numbers of the public description of this gripper in the
drake_models collection (wsg_50_description, hydroelastic bubbles). Its inertias (0.16 kg m2 for a finger of 0.05 kg) are far too large; those
here are the ones of solid boxes of the parts' sizes. They do not act as long as the gripper's base is fixed, because the fingers only slide.
The visual geometry is ours: a housing of the size that the manufacturer states (146 mm x 50 mm x 72.5 mm), carriers, and the front half of each bubble. The
contact geometry is the whole ellipsoid, whose rear half lies in and behind the carrier.

Frames: the origin of `gripper` is at the bottom centre of the housing (the flange), z away from the fingertips, the fingers slide along y.
A finger at 0 is closed; the left one opens towards -y, the right one towards +y.
The drake: elements hold the contact properties; tools that do not know them ignore them.
"""

MATERIALS = {
    "housing": (0.62, 0.64, 0.67, 1),
    "steel": (0.35, 0.36, 0.38, 1),
    "carrier": (0.16, 0.17, 0.19, 1),
    "membrane": (0.80, 0.68, 0.45, 0.65),
}

# Half axes of a bubble and its middle in its link, for the side of +y [m].
AXES = (0.04165, 0.04165, 0.0625)
MIDDLE = (0, 0.041665, -0.1095)
FINGER_MASS = 0.05
CARRIER = (0.092, 0.024, 0.132)


def bubble():
    """The front half of a bubble about its middle: the free side is towards -y."""
    quarter = [0.5 * math.pi * k / 10 for k in range(11)]
    vertices, faces = turned([(math.cos(t) if k < 10 else 0.0, math.sin(t)) for k, t in enumerate(quarter)], 40)
    return [(AXES[0] * x, -AXES[1] * z, AXES[2] * y) for x, y, z in vertices], faces


def side_links(side, sign):
    at = lambda x, y, z: (x, sign * y, z)
    middle = at(*MIDDLE)
    extent = (2 * AXES[0], AXES[1], 2 * AXES[2])
    lines = link(
        f"{side}_finger_bubble",
        inertial(FINGER_MASS, at(0, 0.030, -0.080), solid_box(FINGER_MASS, extent)),
        visual(f"{side}_jaw", box((0.030, 0.022, 0.024)), "steel", at(0, 0.012, -0.012)),
        visual(f"{side}_bubble", mesh("wsg50/bubble.obj"), "membrane", middle, (0, 0, 0 if sign > 0 else math.pi)),
        collision(f"{side}_bubble", ellipsoid(*AXES, "wsg50/bubble_contact.obj"),
                  [*compliant(1e5, 0.04, 1.0)[:-1], '<drake:mu_static value="1"/>', '<drake:mu_dynamic value="1"/>'], middle),
        comment=f"The {side} jaw with its soft bubble: an ellipsoid with the long axis along z, 0.0625 m from the tip to the middle.",
    )
    return lines + link(
        f"{side}_finger",
        inertial(FINGER_MASS, at(0, 0.0535, 0.006), solid_box(FINGER_MASS, CARRIER)),
        visual(f"{side}_carrier", box(CARRIER), "carrier", at(0, 0.0535, 0.006)),
        visual(f"{side}_arm", box((0.030, 0.059, 0.040)), "carrier", at(0, 0.036, 0.0875)),
        comment=f"The {side} finger: the carrier plate behind the bubble and the arm up to the jaw.",
    )


def side_joints(side, sign):
    lower, upper = sorted((0, sign * 0.055))
    lines = [""] + joint(
        f"{side}_finger_sliding_joint", "prismatic", "gripper", f"{side}_finger_bubble", (0, 0, -HOUSING[2]), (0, 0, 0), (0, 1, 0),
        lower=lower, upper=upper, effort=80, velocity=0.42)
    return lines + fixed(f"{side}_finger_weld", f"{side}_finger_bubble", f"{side}_finger", (0, 0, -0.1175))


def parts():
    middle = (0, 0, -HOUSING[2] / 2)
    housing = link(
        "gripper",
        inertial(HOUSING_MASS, middle, solid_box(HOUSING_MASS, HOUSING)),
        visual("housing", box(HOUSING), "housing", middle),
        visual("panel", box((HOUSING[0] + 0.001, 0.100, 0.034)), "steel", middle),
        visual("rail", box((0.022, 0.110, 0.004)), "steel", (0, 0, -0.0745)),
    )
    sides = (("left", -1), ("right", 1))
    return [housing, *(side_links(*side) for side in sides), *(side_joints(*side) for side in sides)]


def meshes():
    return {"wsg50/bubble.obj": bubble(), "wsg50/bubble_contact.obj": ellipsoid_surface(AXES)}
