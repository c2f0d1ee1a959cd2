"""Objects that robots handle, and furniture."""

import math

from .mesh import block, cone, drum, ellipsoid_surface, surface, turned, union, without
from .urdf import (box, collision, compliant, cylinder, ellipsoid, fixed, inertial, link, mesh, rigid, robot, solid_box, solid_cylinder,
                   visual)


def cube(name, edge, mass, color, what):
    comment = f"""
{what} Edges of {edge * 1e3:.0f} mm, {mass} kg, inertia m a2 / 6 of a solid; rigid, so that cubes of a stack touch at their corners.
The paper (Pang and Tedrake, 2021, figure 1) gives neither sizes nor masses; these are chosen so that the gripper can hold the cube.
"""
    size = (edge, edge, edge)
    lines = link(
        name,
        inertial(mass, (0, 0, 0), solid_box(mass, size)),
        visual(name, box(size), name),
        collision(name, box(size), rigid(1.0)),
    )
    return robot(name, comment, {name: color}, lines)


def composed(parts):
    """Mass, centre of mass and moments of inertia (with ixy, ixz, iyz) of solid parts (mass, middle,
    principal moments, roll)."""
    mass = sum(part[0] for part in parts)
    com = tuple(sum(part[0] * part[1][i] for part in parts) / mass for i in range(3))
    total = [0.0] * 6
    for own, middle, (ixx, iyy, izz), roll in parts:
        c, s = math.cos(roll), math.sin(roll)
        x, y, z = (middle[i] - com[i] for i in range(3))
        turned_moments = (ixx, c * c * iyy + s * s * izz, s * s * iyy + c * c * izz, 0, 0, s * c * (iyy - izz))
        shift = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
        total = [sum_ + moment + own * square for sum_, moment, square in zip(total, turned_moments, shift)]
    return mass, com, total


# The spatula of the pancake task [m]: handle as published for the slip task, the blade larger.
HANDLE = (0.015, 0.110, (0, 0.135, 0.052), 2.0)
NECK = (0.0025, 0.070, (0, 0.0532, 0.0145), 2.0)
BLADE = (0.090, 0.100)
BLADE_BACK, BLADE_FRONT = 0.0020, 0.0006


def blade():
    """A wedge: flat below at z = 0, from its thick back at y = 0.025 to its thin front edge."""
    x, back, front = BLADE[0] / 2, 0.025, 0.025 - BLADE[1]
    corners = [(-x, front, 0), (x, front, 0), (x, back, 0), (-x, back, 0),
               (-x, front, BLADE_FRONT), (x, front, BLADE_FRONT), (x, back, BLADE_BACK), (-x, back, BLADE_BACK)]
    return corners, [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]


def pancake_spatula():
    thickness = 0.5 * (BLADE_BACK + BLADE_FRONT)
    parts = []
    for (radius, length, middle, roll), density in ((HANDLE, 698.5), (NECK, 7850)):
        mass = density * math.pi * radius**2 * length
        parts.append((mass, middle, solid_cylinder(mass, radius, length), roll))
    mass = 1150 * BLADE[0] * BLADE[1] * thickness
    parts.append((mass, (0, 0.025 - BLADE[1] / 2, thickness / 2), solid_box(mass, (*BLADE, thickness)), 0.0))
    comment = """
The spatula of the pancake task, rigid: the handle of the spatula of the slip task (spatula.urdf), with a larger blade that has contact geometry, a wedge of
90 mm x 100 mm, 2 mm thick at the handle and 0.6 mm at the front edge (chosen; no source gives it). Mass and inertia are those of the solid
parts: beech (698.5 kg/m3), a steel rod and nylon (1150 kg/m3).
Frame: x across the blade, y from the blade to the handle, z up from the blade's lower face; the handle rises at 2 rad about x.
"""
    radius, length, middle, roll = HANDLE
    lines = link(
        "pancake_spatula",
        inertial(*composed(parts)),
        visual("handle", cylinder(radius, length), "beech", middle, (roll, 0, 0)),
        visual("neck", cylinder(*NECK[:2]), "steel", NECK[2], (NECK[3], 0, 0)),
        visual("blade", mesh("objects/blade.obj"), "nylon"),
        collision("handle", cylinder(radius, length), rigid(1.0, 0.005), middle, (roll, 0, 0)),
        collision("blade", mesh("objects/blade.obj", convex=True), rigid(0.15)),
    )
    colors = {"beech": (0.76, 0.57, 0.36, 1), "steel": (0.66, 0.67, 0.69, 1), "nylon": (0.13, 0.13, 0.15, 1)}
    return robot("pancake_spatula", comment, colors, lines)


PANCAKE = (0.060, 0.060, 0.010)


def pancake():
    mass = 0.1
    a, b, c = PANCAKE
    moments = tuple(mass / 5 * moment for moment in (b * b + c * c, a * a + c * c, a * a + b * b))
    comment = """
A pancake: a flat, compliant ellipsoid of 120 mm x 120 mm x 20 mm and 0.1 kg (663 kg/m3; chosen, since the paper gives no size), hydroelastic modulus
1e4 Pa (Masterjohn et al., 2022, section V-B). Inertia of a solid ellipsoid, m (b2 + c2) / 5. One side is darker, so that a flip shows; the
visual dome of that side lies below at the start.
"""
    lines = link(
        "pancake", inertial(mass, (0, 0, 0), moments),
        visual("light_side", mesh("objects/pancake_half.obj"), "batter"),
        visual("dark_side", mesh("objects/pancake_half.obj"), "crust", (0, 0, 0), (math.pi, 0, 0)),
        collision("pancake", ellipsoid(*PANCAKE, "objects/pancake_contact.obj"), compliant(1e4, 0.03, 1.0)))
    return robot("pancake", comment, {"batter": (0.90, 0.76, 0.48, 1), "crust": (0.62, 0.38, 0.16, 1)}, lines)


def pancake_half():
    profile = [(PANCAKE[0] * math.cos(t), PANCAKE[2] * math.sin(t)) for t in (0.5 * math.pi * k / 8 for k in range(8))]
    return turned([*profile, (0, PANCAKE[2])], 40)


STOVE = (0.120, 0.080)


def stove():
    radius, height = STOVE
    comment = """
A cylindrical stove top, rigid: radius 120 mm, height 80 mm (chosen; the paper gives no size). Frame: on the table below its middle, z up;
`stove_top` is in the middle of the top. It is furniture: it has no mass and is to be welded.
"""
    middle = (0, 0, height / 2)
    lines = link(
        "stove",
        visual("body", mesh("objects/stove.obj"), "enamel"),
        visual("plate", cylinder(0.100, 0.002), "iron", (0, 0, height - 0.0008)),
        collision("stove", cylinder(radius, height), rigid(0.8, 0.03), middle))
    lines += link("stove_top") + fixed("stove_top_joint", "stove", "stove_top", (0, 0, height))
    return robot("stove", comment, {"enamel": (0.78, 0.79, 0.80, 1), "iron": (0.16, 0.16, 0.17, 1)}, lines)


def stove_body():
    radius, height = STOVE
    return turned([(0, 0), (radius - 0.004, 0), (radius, 0.004), (radius, height - 0.004), (radius - 0.004, height), (0, height)], 48)


def table():
    size, thickness, height = (1.2, 0.8), 0.03, 0.72
    comment = """
A table, rigid: top 1.2 m x 0.8 m, 0.75 m high. Frame: in the middle of the top's upper face, z up. It is furniture: it has no mass and is to be
welded.
"""
    lines = []
    lines += visual("top", box((*size, thickness)), "wood", (0, 0, -thickness / 2))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        place = (x * (size[0] / 2 - 0.05), y * (size[1] / 2 - 0.05), -thickness - height / 2)
        lines += visual(f"leg_{k}", box((0.05, 0.05, height)), "legs", place)
    lines += collision("top", box((*size, thickness)), rigid(0.5), (0, 0, -thickness / 2))
    return robot("table", comment, {"wood": (0.72, 0.60, 0.45, 1), "legs": (0.30, 0.30, 0.32, 1)}, link("table", lines))


# The stand: height of the shelf; the fork under the handle: position along y, height of its saddle above the
# shelf, gap [m].
SHELF, FORK_Y, SADDLE, GAP = 0.140, 0.108, 0.0203, 0.034


def stand():
    comment = """
A stand for pancake_spatula.urdf, rigid: the blade lies on a shelf 140 mm above the table, the handle in a fork before its middle, so that a
gripper reaches its rear half along the handle. `stand_rest` is where the spatula's frame is then. Sizes are chosen. Frame: on the table, below
`stand_rest`, z up. It is furniture: it has no mass and is to be welded.
"""
    shelf = (BLADE[0] + 0.010, 0.080, 0.008)
    prong = (0.006, 0.012, 0.046)
    solids = [
        ("foot", box((0.120, 0.260, 0.010)), (0, 0.065, 0.005)),
        ("column", box((0.030, 0.030, SHELF - 0.018)), (0, -0.030, (SHELF - 0.018) / 2 + 0.010)),
        ("shelf", box(shelf), (0, -0.030, SHELF - shelf[2] / 2)),
        ("post", box((0.020, 0.012, SHELF + SADDLE - 0.010)), (0, FORK_Y, (SHELF + SADDLE - 0.010) / 2 + 0.005)),
        ("saddle", box((GAP + 0.012, 0.012, 0.006)), (0, FORK_Y, SHELF + SADDLE - 0.003)),
        ("prong_left", box(prong), (-(GAP + prong[0]) / 2, FORK_Y, SHELF + SADDLE + prong[2] / 2 - 0.006)),
        ("prong_right", box(prong), ((GAP + prong[0]) / 2, FORK_Y, SHELF + SADDLE + prong[2] / 2 - 0.006)),
    ]
    lines = [line for name, shape, place in solids for line in visual(name, shape, "stand", place)]
    lines += [line for name, shape, place in solids for line in collision(name, shape, rigid(0.4), place)]
    rest = link("stand_rest") + fixed("stand_rest_joint", "stand", "stand_rest", (0, 0, SHELF))
    return robot("stand", comment, {"stand": (0.55, 0.57, 0.60, 1)}, link("stand", lines), rest)


def prism():
    edge, length, density = 0.060, 0.120, 900
    area = edge**2 * math.sqrt(3) / 4
    mass = density * area * length
    across = mass * (edge**2 / 24 + length**2 / 12)
    comment = """
A prism over an equilateral triangle: edge 60 mm, length 120 mm along x, 900 kg/m3, a compliant volume made from a mesh. Inertia of a solid: m a2 / 12
about its axis, m (a2 / 24 + l2 / 12) across. Frame: in its middle; it lies on the face below.
"""
    lines = link(
        "prism", inertial(mass, (0, 0, 0), (mass * edge**2 / 12, across, across)),
        visual("prism", mesh("objects/prism.obj"), "prism"),
        collision("prism", mesh("objects/prism.obj", convex=True), compliant(1e6, 0.02, 0.6)))
    return robot("prism", comment, {"prism": (0.52, 0.66, 0.42, 1)}, lines)


def prism_mesh():
    edge, x = 0.060, 0.060
    low, high = -edge * math.sqrt(3) / 6, edge * math.sqrt(3) / 3
    ring = [(-edge / 2, low), (edge / 2, low), (0, high)]
    corners = [(side * x, y, z) for side in (-1, 1) for y, z in ring]
    return corners, [[2, 1, 0], [3, 4, 5], [0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]]


def mug():
    """A mug that stands on z = 0: 80 mm wide, 95 mm high, walls of 6 mm, its handle along x."""
    outside = drum((0, 0, 0), (0, 0, 0.095), 0.040)
    inside = drum((0, 0, 0.008), (0, 0, 0.2), 0.034)
    handle = without(block((0.050, 0, 0.048), (0.044, 0.014, 0.066)), block((0.048, 0, 0.048), (0.024, 0.05, 0.044)))
    return surface(without(union(outside, handle), inside), (-0.0445, -0.0445, -0.0035), (0.08, 0.045, 0.1), 0.004)


def bowl():
    """A bowl of 140 mm, 45 mm high, whose foot stands on z = 0: a cone with walls that are 5 mm thick across
    the axis, so that a second one nests 6.4 mm higher."""
    slope = 0.035 / 0.045
    outer = [(0.035 + slope * 0.005 * k, 0.005 * k) for k in range(10)]
    inner = [(radius - 0.005, z) for radius, z in reversed(outer[1:])]
    return turned([(0, 0), *outer, *inner, (0, 0.005)], 48)


def traffic_cone():
    """A solid traffic cone of 200 mm on a square base of 120 mm x 120 mm x 8 mm, which stands on z = 0."""
    base = block((0, 0, 0.004), (0.120, 0.120, 0.008))
    cone_part = drum((0, 0, 0.004), (0, 0, 0.200), 0.045, 0.0, 0.010)
    return surface(union(base, cone_part), (-0.0665, -0.0665, -0.0065), (0.067, 0.067, 0.21), 0.005)


def banana():
    """A banana of 170 mm: balls along an arc in the plane y = 0, thinner at both ends."""
    points = [(0.085 * math.sin(a), 0.0, 0.085 * (1 - math.cos(a))) for a in (math.radians(-60 + 10 * k) for k in range(13))]
    radii = [0.006 + 0.012 * math.sqrt(math.sin(math.pi * (k + 0.6) / 13.2)) for k in range(13)]
    parts = [cone(points[k], points[k + 1], radii[k], radii[k + 1]) for k in range(12)]
    return surface(union(*parts), (-0.0905, -0.0245, -0.0205), (0.092, 0.025, 0.07), 0.005)


def fork():
    """A fork of 170 mm along x that lies on z = 0: a flat handle and four tines of 4 mm x 3 mm."""
    handle = block((-0.035, 0, 0.002), (0.100, 0.012, 0.004))
    neck = block((0.030, 0, 0.002), (0.040, 0.028, 0.004))
    tines = [block((0.067, -0.012 + 0.008 * k, 0.002), (0.044, 0.004, 0.004)) for k in range(4)]
    return surface(union(handle, neck, *tines), (-0.0905, -0.0205, -0.0025), (0.095, 0.021, 0.007), 0.002)


PEG = 0.010


def plate_with_hole(clearance):
    """A plate of 60 mm x 60 mm x 20 mm on z = 0 with a hole of 48 faces: the peg's and `clearance`."""
    half, thickness, count = 0.03, 0.02, 48
    radius = (PEG + 0.5 * clearance) / math.cos(math.pi / count)
    angles = [2 * math.pi * k / count for k in range(count)]
    reach = [half / max(abs(math.cos(a)), abs(math.sin(a))) for a in angles]
    vertices = [(r * math.cos(a), r * math.sin(a), z) for z in (0.0, thickness)
                for ring in ([radius] * count, reach) for r, a in zip(ring, angles)]
    at = lambda top, outer, k: (2 * top + outer) * count + k % count
    faces = []
    for k in range(count):
        faces += [[at(1, 0, k), at(1, 1, k), at(1, 1, k + 1), at(1, 0, k + 1)], [at(0, 0, k), at(0, 0, k + 1), at(0, 1, k + 1), at(0, 1, k)],
                  [at(0, 1, k), at(0, 1, k + 1), at(1, 1, k + 1), at(1, 1, k)], [at(0, 0, k), at(1, 0, k), at(1, 0, k + 1), at(0, 0, k + 1)]]
    return vertices, faces


def files():
    return {
        "cube_red": cube("cube_red", 0.06, 0.5, (0.80, 0.12, 0.10, 1), "The cube that is placed on the stack."),
        "cube_70mm": cube("cube_70mm", 0.07, 0.5, (0.86, 0.72, 0.42, 1), "A cube of the stacks."),
        "cube_80mm": cube("cube_80mm", 0.08, 0.5, (0.35, 0.52, 0.70, 1), "A cube of the stacks."),
        "pancake": pancake(),
        "pancake_spatula": pancake_spatula(),
        "prism": prism(),
        "stand": stand(),
        "stove": stove(),
        "table": table(),
    }


def meshes():
    return {
        "objects/banana.obj": banana(),
        "objects/blade.obj": blade(),
        "objects/bowl.obj": bowl(),
        "objects/fork.obj": fork(),
        "objects/hole_1000um_contact.obj": plate_with_hole(1e-3),
        "objects/hole_100um_contact.obj": plate_with_hole(1e-4),
        "objects/hole_50um_contact.obj": plate_with_hole(5e-5),
        "objects/mug.obj": mug(),
        "objects/pancake_half.obj": pancake_half(),
        "objects/pancake_contact.obj": ellipsoid_surface(PANCAKE),
        "objects/prism.obj": prism_mesh(),
        "objects/stove.obj": stove_body(),
        "objects/traffic_cone.obj": traffic_cone(),
    }
