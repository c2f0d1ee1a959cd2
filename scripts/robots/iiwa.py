"""KUKA LBR iiwa 14 R820 and iiwa 7 R800."""

from . import iiwa_shapes
from .urdf import PI, collision, cylinder, fixed, inertial, joint, link, mesh, rigid, visual

SOURCE_14 = """
KUKA LBR iiwa 14 R820: seven joints, 29.9 kg, reach 820 mm (the manufacturer's figures, docs/reference/robots.md; reach is the distance between the middles of joints 2 and 6).
Joint frames, limits, speeds, torques, masses, centres of mass, inertias, rotors and gears, and the collision cylinders of links 0 to 4 are the
numbers of the public description in the drake_models collection (iiwa_description). Visual meshes and the other cylinders are ours.
Frames: `iiwa_base` on the floor below the robot, z up; at zero the arm points up. `iiwa_link_ee` is on the flange, z out of it.
"""

SOURCE_7 = """
KUKA LBR iiwa 7 R800: seven joints, 23.9 kg, reach 800 mm (the manufacturer's figures, docs/reference/robots.md; reach is the distance between the middles of joints 2 and 6).
Joint frames, limits, speeds and torques follow the manufacturer's figures. The manufacturer publishes no masses of links: those of the iiwa 14 (see iiwa14.urdf) are
scaled to the manufacturer's sum, with lengths in the ratio of the reaches; rotors and gears are those of the iiwa 14. Meshes and cylinders are ours.
Frames: `iiwa_base` on the floor below the robot, z up; at zero the arm points up. `iiwa_link_ee` is on the flange, z out of it.
"""

MATERIALS = {
    "iiwa_shell": (0.80, 0.81, 0.82, 1),
    "iiwa_base_grey": (0.55, 0.56, 0.58, 1),
    "iiwa_orange": (0.96, 0.45, 0.05, 1),
    "iiwa_flange": (0.50, 0.51, 0.53, 1),
    "iiwa_seam": (0.16, 0.16, 0.17, 1),
}

# Mass [kg], centre of mass [m], moments of inertia [kg m2].
BODIES_14 = [
    (5.0, (-0.1, 0, 0.07), (0.05, 0.06, 0.03)),
    (5.76, (0, -0.03, 0.12), (0.033, 0.0333, 0.0123)),
    (6.35, (0.0003, 0.059, 0.042), (0.0305, 0.011, 0.0304)),
    (3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076)),
    (3.5, (0, 0.067, 0.034), (0.017, 0.006, 0.0164)),
    (3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449)),
    (1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036)),
    (1.2, (0, 0, 0.02), (0.001, 0.001, 0.001)),
]
# Radius and length [m], position [m] and angles [rad].
CYLINDERS_14 = [
    (0.139, 0.17, (-0.015, 0, 0.07), (0, 0, 0)),
    (0.101, 0.29, (0, -0.014, 0.14), (0, 0, 0)),
    (0.101, 0.29, (0, 0.056, 0.035), (PI / 2, 0, 0)),
    (0.092, 0.29, (0, 0.025, 0.137), (0, 0, 0)),
    (0.092, 0.25, (0, 0.056, 0.025), (PI / 2, 0, 0)),
    (0.072, 0.11, (0, 0.005, 0.055), (0, 0, 0)),
    (0.072, 0.15, (0, 0, -0.01), (0, 0, 0)),
    (0.045, 0.05, (0, 0, 0.02), (0, 0, 0)),
]
# The half drum of link 5 beside joint 6.
CYLINDER_END = (0.058, 0.058, (0, 0.060, 0.1955), (PI / 2, 0, 0))
ROTORS = [(0.0001321, 160)] * 4 + [(0.0001321, 100)] + [(0.0000454, 160)] * 2
LIMITS = [2.96705972839, 2.09439510239, 2.96705972839, 2.09439510239, 2.96705972839, 2.09439510239, 3.05432619099]
ANGLES = [(0, 0, 0), (PI / 2, 0, PI), (PI / 2, 0, PI), (PI / 2, 0, 0), (-PI / 2, PI, 0), (PI / 2, 0, 0), (-PI / 2, PI, 0)]
PLACES_14 = [(0, 0, 0.1575), (0, 0, 0.2025), (0, 0.2045, 0), (0, 0, 0.2155), (0, 0.1845, 0), (0, 0, 0.2155), (0, 0.081, 0)]
EFFORTS_14 = [320, 320, 176, 176, 110, 40, 40]
SPEEDS_14 = [PI / 180 * degrees for degrees in (85, 85, 100, 75, 130, 135, 135)]
ACCELERATIONS_14 = [8.57, 8.57, 8.74, 11.36, 12.23, 15.72, 15.72]


def shapes(name, places, cell):
    """Meshes (file name to mesh) and visuals (a list for each link)."""
    heights, lengths = [places[k][2] for k in (1, 3, 5)], [places[k][1] for k in (2, 4, 6)]
    meshes = iiwa_shapes.shells(name, places[0][2], heights, lengths, cell)
    visuals = [visual(f"link_{k}", mesh(f"{name}/link_{k}.obj"), "iiwa_base_grey" if k == 0 else "iiwa_shell") for k in range(7)]
    for path, k, part, material in iiwa_shapes.trim(name, heights):
        meshes[path] = part
        visuals[k] += visual(path.split("/")[1].split("_")[0], mesh(path), material)
    meshes["iiwa/flange.obj"] = iiwa_shapes.flange()
    return meshes, [*visuals, visual("flange", mesh("iiwa/flange.obj"), "iiwa_flange")]


def arm(bodies, cylinders, places, efforts, speeds, accelerations, visuals):
    radius, length, xyz, rpy = CYLINDER_END
    end_of_link_5 = collision("link_5_end", cylinder(radius, length), rigid(0.5, 0.05), xyz, rpy)
    lines = link("iiwa_base", comment="On the floor; has no mass, as some tools require of a root link.")
    lines += fixed("iiwa_base_joint", "iiwa_base", "iiwa_link_0")
    for k, (body, (radius, length, xyz, rpy)) in enumerate(zip(bodies, cylinders)):
        lines += link(
            f"iiwa_link_{k}",
            inertial(*body),
            visuals[k],
            collision(f"link_{k}", cylinder(radius, length), rigid(0.5, 0.05), xyz, rpy),
            *([end_of_link_5] if k == 5 else []),
        )
        if k == 0:
            continue
        lines += joint(
            f"iiwa_joint_{k}", "revolute", f"iiwa_link_{k - 1}", f"iiwa_link_{k}", places[k - 1], ANGLES[k - 1], (0, 0, 1),
            lower=-LIMITS[k - 1], upper=LIMITS[k - 1], effort=efforts[k - 1], velocity=speeds[k - 1],
            acceleration=accelerations and accelerations[k - 1], damping=0.5, rotor=ROTORS[k - 1])
    lines += link("iiwa_link_ee", comment="The flange.")
    return lines + fixed("iiwa_joint_ee", "iiwa_link_7", "iiwa_link_ee", (0, 0, 0.045))


def arm_14():
    """The text of the iiwa 14's links and joints, and its meshes."""
    meshes, visuals = shapes("iiwa14", PLACES_14, 0.0095)
    return arm(BODIES_14, CYLINDERS_14, PLACES_14, EFFORTS_14, SPEEDS_14, ACCELERATIONS_14, visuals), meshes


# The iiwa 7: mass by the data sheet [kg], length by the reaches [-].
MASS_7 = 23.9
LENGTH_7 = 0.800 / 0.820
PLACES_7 = [(0, 0, 0.15), (0, 0, 0.19), (0, 0.21, 0), (0, 0, 0.19), (0, 0.21, 0), (0, 0, 0.19), (0, 0.081, 0)]
EFFORTS_7 = [176, 176, 110, 110, 110, 40, 40]
SPEEDS_7 = [PI / 180 * degrees for degrees in (98, 98, 100, 130, 140, 180, 180)]


def arm_7():
    """The text of the iiwa 7's links and joints, and its meshes."""
    share = MASS_7 / sum(mass for mass, _, _ in BODIES_14)
    bodies = [
        (share * mass, tuple(LENGTH_7 * x for x in com), tuple(share * LENGTH_7**2 * moment for moment in moments))
        for mass, com, moments in BODIES_14]
    cylinders = [
        (radius, LENGTH_7 * length, tuple(LENGTH_7 * x for x in xyz), rpy) for radius, length, xyz, rpy in CYLINDERS_14]
    meshes, visuals = shapes("iiwa7", PLACES_7, 0.0105)
    return arm(bodies, cylinders, PLACES_7, EFFORTS_7, SPEEDS_7, None, visuals), meshes
