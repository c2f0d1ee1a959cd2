"""Schunk WSG 50-110 with rigid fingers and rubber pads."""

from .urdf import box, collision, compliant, fixed, inertial, joint, link, rigid, solid_box, visual

SOURCE = """
Schunk WSG 50-110: housing 146 mm x 50 mm x 72.5 mm, stroke 55 mm a finger, 5 to 80 N, up to 420 mm/s (the manufacturer's figures, docs/reference/robots.md, which states
1.2 kg). Mass of the housing and of the fingers, size of the fingers and joint limits are those of the public description in the drake_models
collection (wsg_50_description). Its inertias (0.16 kg m2) are far too large; those here are the ones of solid boxes.
Frames: `wsg50_base` is at the middle of the flange, z towards the fingertips, the fingers slide along y. A finger at 0 is closed: the pads
touch at y = 0. The left one opens towards -y, the right one towards +y. `wsg50_grasp` is between the pads' middles.
"""

MATERIALS = {
    "wsg50_housing": (0.66, 0.68, 0.70, 1),
    "wsg50_steel": (0.36, 0.37, 0.39, 1),
    "wsg50_finger": (0.20, 0.21, 0.23, 1),
    "wsg50_pad": (0.12, 0.12, 0.13, 1),
}

HOUSING = (0.050, 0.146, 0.0725)
HOUSING_MASS = 0.988882
FINGER_MASS = 0.05
# A finger: thickness along y, width along x, length along z from the housing to the tip [m].
FINGER = (0.020, 0.012, 0.082)
# A pad of rubber: its free face is at y = 0 in its link, its back on the finger's face [m].
PAD = (0.018, 0.0055, 0.030)


def finger(side, sign):
    """`sign`: the side of the finger, -1 for the left one."""
    name = f"wsg50_{side}_finger"
    x, y, z = FINGER
    middle = (0, sign * (PAD[1] + y / 2), z / 2)
    pad = (0, sign * PAD[1] / 2, z - PAD[2] / 2 - 0.001)
    lines = link(
        name,
        inertial(FINGER_MASS, middle, solid_box(FINGER_MASS, FINGER)),
        visual(f"{side}_jaw", box((0.030, 0.022, 0.016)), "wsg50_steel", (0, sign * 0.016, 0.006)),
        visual(f"{side}_finger", box(FINGER), "wsg50_finger", middle),
        visual(f"{side}_pad", box(PAD), "wsg50_pad", pad),
        collision(f"{side}_finger", box((x, y, z - 0.004)), rigid(0.7), (0, middle[1], z / 2 + 0.002)),
        collision(f"{side}_pad", box(PAD), compliant(1e6, None, 1.0), pad),
        comment=f"The {side} finger; its pad is a compliant volume.",
    )
    lower, upper = sorted((0, sign * 0.055))
    return lines + joint(
        f"{side}_finger_sliding_joint", "prismatic", "wsg50_body", name, (0, 0, HOUSING[2]), (0, 0, 0), (0, 1, 0),
        lower=lower, upper=upper, effort=80, velocity=0.42)


def parts():
    x, y, z = HOUSING
    middle = (0, 0, z / 2)
    return [
        link("wsg50_base", comment="The flange side of the gripper."),
        link(
            "wsg50_body",
            inertial(HOUSING_MASS, middle, solid_box(HOUSING_MASS, HOUSING)),
            visual("housing", box(HOUSING), "wsg50_housing", middle),
            visual("panel", box((x + 0.001, 0.100, 0.034)), "wsg50_steel", middle),
            visual("rail", box((0.022, 0.110, 0.004)), "wsg50_steel", (0, 0, z + 0.001)),
            collision("housing", box(HOUSING), rigid(0.5), middle),
        ),
        fixed("wsg50_body_joint", "wsg50_base", "wsg50_body"),
        finger("left", -1),
        finger("right", 1),
        link("wsg50_grasp"),
        fixed("wsg50_grasp_joint", "wsg50_body", "wsg50_grasp", (0, 0, z + FINGER[2] - PAD[2] / 2 - 0.001)),
    ]
