"""Kinova Jaco (second generation): six joints with the curved wrist, seven with the spherical one, and the
hand of three fingers."""

import math

from .urdf import PI, box, collision, compliant, cylinder, fixed, inertial, joint, link, mesh, rigid, solid_box, solid_cylinder, sphere, visual

COMMON = """
Joint frames and centres of mass, and masses and moments of inertia of the palm, are the numbers of the public description in the drake_models
collection (jaco_description), which come from the manufacturer's; right angles are written exactly. Masses and moments of inertia of the arm (base to last
wrist link) are the description's times {share:.4f}: its links sum to {sum:.2f} kg without hand, while the manufacturer's figure is {mass} kg (docs/reference/robots.md). Torques
and speeds are those of the manufacturer's description (kinova_description). The fingers' moments of inertia are those of solid boxes of their size, since the
published ones are not physical in one of the files. Meshes and collision geometry are ours.
"""
HAND = """
The hand: each finger turns about its knuckle (0 open, 2 rad closed) and is one piece; in the real hand its tip gives way. Fingertips are compliant
volumes. `{name}_end_effector` is in the middle of the grasp, z out of the hand.
"""
SOURCE_SIX = """
Kinova Jaco, second generation, six joints with the curved wrist and three fingers (j2n6s300): 4.4 kg without hand, 5.4 kg with it, reach 90 cm by the
manufacturer's figures (docs/reference/robots.md).
"""
SOURCE_SEVEN = """
Kinova Jaco, second generation, seven joints with the spherical wrist and three fingers (j2s7s300): 5.5 kg without hand, 6.18 kg with it, reach 985 mm by the
manufacturer's figures (docs/reference/robots.md), here from the shoulder to the middle of the grasp. Joints 2, 4 and 6 are
straight at pi; at zero the arm would be folded onto itself.
"""
SOURCE_BUBBLES = """
Kinova Jaco, second generation, six joints with the curved wrist, with a soft-bubble gripper in place of the hand, as in the pancake task of
Masterjohn et al. (2022), section V-B. An adapter plate of aluminium joins them.
"""

MATERIALS = {
    "jaco_carbon": (0.17, 0.17, 0.18, 1),
    "jaco_base": (0.42, 0.43, 0.45, 1),
    "jaco_metal": (0.72, 0.73, 0.75, 1),
    "jaco_hand": (0.20, 0.20, 0.21, 1),
    "jaco_finger": (0.50, 0.51, 0.53, 1),
    "jaco_tip": (0.10, 0.10, 0.11, 1),
}

LARGE, SMALL = 0.040, 0.030
ALONG_Y = (PI / 2, 0, 0)
# 60 degrees: the bend of the wrist.
BEND = PI / 3

# The arms without hand, base to last wrist link, by the manufacturer's figures [kg].
MASS_SIX, MASS_SEVEN = 4.4, 5.5

# Mass [kg], centre of mass [m], moments of inertia [kg m2], as published; arm_links scales those of the arm.
BASE = (0.46784, (0, 0, 0.1255), (0.000951270861568, 0.000951270861568, 0.000374272))
SHOULDER = (0.7477, (0, -0.002, -0.0605), (0.00152031725204, 0.00152031725204, 0.00059816))
FOREARM = (0.6763, (0, 0.081, -0.0086), (0.00142022431908, 0.000304335, 0.00142022431908))
WRIST = (0.1785, (0, -0.037, -0.0642), (7.73496906e-05, 7.73496906e-05, 0.0001428))
PALM = (0.727, (0, 0, -0.06), (0.0003453236187, 0.0003453236187, 0.0005816))

BEND_CYLINDERS = [("near", SMALL, 0.050, (0, 0, -0.026), (0, 0, 0)), ("far", SMALL, 0.040, (0, -0.0197, -0.0542), (-BEND, 0, 0))]

# The links after the base: body, visual meshes, collision cylinders (name, radius, length, position, angles).
LINKS_SIX = [
    (SHOULDER, "shoulder", [("tube", LARGE, 0.075, (0, 0, -0.0375), (0, 0, 0)), ("joint_2", LARGE, 0.046, (0, -0.0225, -0.11875), ALONG_Y)]),
    ((0.99, (0, -0.2065, -0.01), (0.010502207991, 0.000792, 0.010502207991)), "upper_arm",
     [("tube", 0.035, 0.33, (0, -0.205, -0.019), ALONG_Y), ("joint_2", LARGE, 0.045, (0, 0, -0.0235), (0, 0, 0)),
      ("joint_3", LARGE, 0.045, (0, -0.41, -0.0235), (0, 0, 0))]),
    (FOREARM, "forearm", [("tube", 0.032, 0.17, (0, 0.1215, -0.013), ALONG_Y), ("joint_3", LARGE, 0.045, (0, 0, -0.0235), (0, 0, 0))]),
    (WRIST, "wrist", BEND_CYLINDERS),
    (WRIST, "wrist", BEND_CYLINDERS),
]
JOINTS_SIX = [
    ("continuous", (0, 0, 0.15675), (0, PI, 0), None, 40, 36),
    ("revolute", (0, 0.0016, -0.11875), (-PI / 2, PI, PI), (-2.618, 2.613), 80, 36),
    ("revolute", (0, -0.410, 0), (0, PI, PI), (-2.618, 2.613), 40, 36),
    ("continuous", (0, 0.2073, -0.0114), (-PI / 2, 0, PI), None, 20, 48),
    ("continuous", (0, -0.03703, -0.06414), (BEND, 0, PI), None, 20, 48),
    ("continuous", (0, -0.03703, -0.06414), (BEND, 0, PI), None, 20, 48),
]

HALF_ARM = 0.8447
LINKS_SEVEN = [
    LINKS_SIX[0],
    ((HALF_ARM, (0, -0.103563213, 0), (0.00247073761701, 0.000380115, 0.00247073761701)), "arm_half_1",
     [("tube", 0.037, 0.160, (0, -0.124, -0.004), ALONG_Y), ("joint_2", LARGE, 0.045, (0, 0, -0.0235), (0, 0, 0))]),
    ((HALF_ARM, (0, 0, -0.1022447445), (0.00247073761701, 0.00247073761701, 0.000380115)), "arm_half_2",
     [("tube", 0.037, 0.160, (0, 0.002, -0.081), (0, 0, 0)), ("joint_4", LARGE, 0.045, (0, 0.0235, -0.205), ALONG_Y)]),
    LINKS_SIX[2],
    ((0.463, (0, 0.0028848942, -0.0541932613), (0.0004321316048, 0.0004321316048, 9.26e-05)), "wrist_1",
     [("tube", SMALL, 0.075, (0, 0, -0.0385), (0, 0, 0)), ("joint_6", SMALL, 0.035, (0, 0.0185, -0.10375), ALONG_Y)]),
    ((0.463, (0, 0.0497208855, -0.0028562765), (0.0004321316048, 9.26e-05, 0.0004321316048)), "wrist_2",
     [("tube", SMALL, 0.070, (0, 0.0675, -0.002), ALONG_Y), ("joint_6", SMALL, 0.035, (0, 0, -0.0185), (0, 0, 0))]),
]
BENT = (0.523598775598, 5.75958653158)
JOINTS_SEVEN = [
    ("continuous", (0, 0, 0.15675), (0, PI, 0), None, 40, 36),
    ("revolute", (0, 0.0016, -0.11875), (-PI / 2, 0, PI), BENT, 80, 36),
    ("continuous", (0, -0.205, 0), (-PI / 2, 0, 0), None, 40, 36),
    ("revolute", (0, 0, -0.205), (PI / 2, 0, PI), BENT, 40, 36),
    ("continuous", (0, 0.2073, -0.0114), (-PI / 2, 0, PI), None, 20, 48),
    ("revolute", (0, 0, -0.10375), (PI / 2, 0, PI), BENT, 20, 48),
    ("continuous", (0, 0.10375, 0), (-PI / 2, 0, PI), None, 20, 48),
]

# The knuckles: position and angles in the palm.
KNUCKLES = [
    ((0.00279, 0.03126, -0.11467), (-1.570796327, 0.649262481663582, 1.35961148639407)),
    ((0.02226, -0.02707, -0.11482), (-1.570796327, 0.649262481663582, -1.38614049188413)),
    ((-0.02226, -0.02707, -0.11482), (-1.570796327, 0.649262481663582, -1.75545216211587)),
]
FINGER_MASS = 0.01
FINGER_SIZE = (0.044, 0.018, 0.018)


def published(links):
    """Mass of the arm without hand in the public description [kg]."""
    return BASE[0] + sum(mass for (mass, _, _), *_ in links)


def common(links, mass):
    """The common part of the headers, for an arm of this mass [kg]."""
    return COMMON.format(share=mass / published(links), mass=mass, sum=published(links))


def common_six():
    return common(LINKS_SIX, MASS_SIX)


def common_seven():
    return common(LINKS_SEVEN, MASS_SEVEN)


def arm_links(name, links, joints, arm_mass):
    """Base and arm up to the last joint, scaled to this mass [kg]; the link that the last joint moves is left
    to the caller."""
    share = arm_mass / published(links)

    def scaled(mass, com, moments):
        return inertial(share * mass, com, tuple(share * moment for moment in moments))

    lines = link(f"{name}_base", comment="Has no mass, as some tools require of a root link.")
    lines += fixed(f"{name}_joint_base", f"{name}_base", f"{name}_link_base")
    lines += link(
        f"{name}_link_base", scaled(*BASE), visual("base", mesh("jaco/base.obj"), "jaco_base"),
        collision("base", cylinder(0.045, 0.150), rigid(0.5, 0.02), (0, 0, 0.075)))
    parent = f"{name}_link_base"
    for k, (kind, xyz, rpy, limits, effort, speed) in enumerate(joints, 1):
        child = f"{name}_link_{k}"
        if k <= len(links):
            body, stem, cylinders = links[k - 1]
            visuals = [visual("shell", mesh(f"jaco/{stem}.obj"), "jaco_carbon"), visual("trim", mesh(f"jaco/{stem}_trim.obj"), "jaco_metal")]
            solids = [collision(part, cylinder(radius, length), rigid(0.5, 0.02), *place) for part, radius, length, *place in cylinders]
            lines += link(child, scaled(*body), *visuals, *solids)
        lower, upper = limits or (None, None)
        lines += joint(f"{name}_joint_{k}", kind, parent, child, xyz, rpy, (0, 0, 1), lower=lower, upper=upper, effort=effort,
                       velocity=math.radians(speed))
        parent = child
    return lines


def palm(name, link_name):
    return link(
        link_name, inertial(*PALM), visual("palm", mesh("jaco/hand.obj"), "jaco_hand"),
        visual("seam", mesh("jaco/wrist_trim.obj"), "jaco_metal"),
        collision("palm", cylinder(0.038, 0.070), rigid(0.7, 0.02), (0, 0, -0.067)), comment="The hand.")


def fingers(name, hand):
    lines = link(f"{name}_end_effector")
    lines += fixed(f"{name}_joint_end_effector", hand, f"{name}_end_effector", (0, 0, -0.16), (PI, 0, 0))
    inertia = solid_box(FINGER_MASS, FINGER_SIZE)
    for k, (xyz, rpy) in enumerate(KNUCKLES, 1):
        near, tip = f"{name}_link_finger_{k}", f"{name}_link_finger_tip_{k}"
        lines += link(
            near, inertial(FINGER_MASS, (0.022, 0, 0), inertia), visual("finger", mesh("jaco/finger.obj"), "jaco_finger"),
            collision("finger", box((0.034, 0.017, 0.017)), rigid(0.7), (0.024, -0.003, 0)))
        lines += link(
            tip, inertial(FINGER_MASS, (0.022, 0, 0), inertia), visual("tip", mesh("jaco/fingertip.obj"), "jaco_tip"),
            collision("pad", cylinder(0.0085, 0.030), compliant(1e6, 0.008, 1.0), (0.015, 0, 0), (0, PI / 2, 0)),
            collision("tip", sphere(0.0075), compliant(1e6, 0.008, 1.0), (0.038, 0.0055, 0)))
        lines += joint(f"{name}_joint_finger_{k}", "revolute", hand, near, xyz, rpy, (0, 0, 1), lower=0, upper=2, effort=2, velocity=1)
        lines += fixed(f"{name}_joint_finger_tip_{k}", near, tip, (0.044, -0.003, 0))
    return lines


def six():
    """Jaco with six joints; its last link is the hand."""
    name = "j2n6s300"
    return arm_links(name, LINKS_SIX, JOINTS_SIX, MASS_SIX) + palm(name, f"{name}_link_6") + fingers(name, f"{name}_link_6")


def seven():
    """Jaco with seven joints; its last link is the hand."""
    name = "j2s7s300"
    return arm_links(name, LINKS_SEVEN, JOINTS_SEVEN, MASS_SEVEN) + palm(name, f"{name}_link_7") + fingers(name, f"{name}_link_7")


def six_without_hand(name):
    """The arm with an adapter plate in place of the hand: 60 mm wide, 14 mm thick, of aluminium."""
    mass = 2700 * PI * 0.030**2 * 0.014
    plate = link(
        f"{name}_link_6", inertial(mass, (0, 0, -0.008), solid_cylinder(mass, 0.030, 0.014)),
        visual("adapter", cylinder(0.030, 0.014), "jaco_metal", (0, 0, -0.008)), comment="The adapter plate of the gripper.")
    return arm_links(name, LINKS_SIX, JOINTS_SIX, MASS_SIX) + plate
