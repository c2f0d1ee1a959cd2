"""Shapes of the links of the Kinova Jaco: carbon tubes between actuators; at shoulder and elbow the halves of
an actuator lie side by side."""

from .mesh import below, block, common, cone, drum, ellipsoid, joined, moved, surface, turned, union, without

CELL = 0.0075
WRIST_CELL = 0.006
GAP = 0.001
# Radii of the large and of the small actuators [m]: those that the moments of inertia of the published links
# imply.
LARGE, SMALL = 0.040, 0.030
# Extent of half an actuator along its axis [m].
HALF = 0.046


def half(center, axis, radius, width=HALF):
    """Half an actuator: from its middle plane along `axis`."""
    place = lambda s: tuple(c + s * a for c, a in zip(center, axis))
    return drum(place(GAP), place(width), radius, 0.014)


def clearance(center, axis, radius):
    """The space of the other half of the actuator, with some clearance."""
    place = lambda s: tuple(c - s * a for c, a in zip(center, axis))
    return drum(place(-GAP), place(0.12), radius + 0.003)


def box(solid, low, high, cell=CELL):
    return surface(solid, low, high, cell)


def base():
    profile = [(0, 0), (0.049, 0), (0.050, 0.001), (0.050, 0.050), (0.048, 0.056), (0.043, 0.062), (0.043, 0.1545), (0.042, 0.1555), (0, 0.1555)]
    plugs = box(block((-0.040, 0, 0.027), (0.040, 0.060, 0.046), 0.008), (-0.068, -0.04, -0.004), (-0.02, 0.04, 0.06), WRIST_CELL)
    return joined(turned(profile), plugs)


def shoulder(y, z):
    """Link 1: a tube about z down to joint 2 at (0, y, z), whose half lies at smaller y."""
    stem = drum((0, 0, -GAP), (0, -0.006, z + 0.030), LARGE, 0.003)
    solid = union(stem, half((0, y, z), (0, -1, 0), LARGE), width=0.022)
    return box(without(solid, clearance((0, y, z), (0, -1, 0), LARGE), width=0.006), (-0.06, -0.06, z - 0.06), (0.06, 0.06, 0.015))


def upper_arm(length):
    """Link 2 of six joints: between halves of joints 2 and 3, both at negative z, along -y."""
    tube = cone((0, -0.05, -0.018), (0, -length + 0.05, -0.018), 0.034)
    ends = [half((0, y, 0), (0, 0, -1), LARGE) for y in (0, -length)]
    solid = union(tube, *ends, width=0.026)
    for y in (0, -length):
        solid = without(solid, clearance((0, y, 0), (0, 0, -1), LARGE), width=0.006)
    return box(solid, (-0.06, -length - 0.06, -0.07), (0.06, 0.06, 0.04))


def forearm(y, z):
    """From half of the elbow, at negative z, to the small actuator at (0, y, z) about y."""
    tube = cone((0, 0.055, -0.015), (0, y - 0.03, z), 0.033, SMALL)
    end = drum((0, y - 0.045, z), (0, y - GAP, z), SMALL, 0.003)
    solid = union(tube, half((0, 0, 0), (0, 0, -1), LARGE), width=0.026)
    solid = without(union(solid, end, width=0.004), clearance((0, 0, 0), (0, 0, -1), LARGE), width=0.006)
    return box(common(solid, below((0, y - GAP, 0), (0, 1, 0)), width=0.002), (-0.06, -0.06, -0.07), (0.06, y + 0.015, 0.04))


def wrist(y, z):
    """Links 4 and 5 of the curved wrist: a bend from the axis z to the next actuator at (0, y, z), 60 degrees
    aside."""
    corner = (0, 0, z - 0.5 / 0.8660254 * y)
    aside = (0, -0.8660254, -0.5)
    start = drum((0, 0, -GAP), (0, 0, -0.020), SMALL, 0.002)
    end = drum(tuple(p - 0.018 * a for p, a in zip((0, y, z), aside)), tuple(p - GAP * a for p, a in zip((0, y, z), aside)), SMALL, 0.002)
    bend = union(cone((0, 0, -0.014), corner, SMALL - 0.001), cone(corner, tuple(p - 0.018 * a for p, a in zip((0, y, z), aside)), SMALL - 0.001), width=0.01)
    solid = common(union(start, end, bend, width=0.003), below((0, 0, -GAP), (0, 0, 1)), below((0, y, z), aside))
    return box(solid, (-0.045, -0.085, -0.10), (0.045, 0.045, 0.01), WRIST_CELL)


def half_arm_1(length):
    """Link 2 of seven joints: from half of joint 2 (at negative z) to the tube of joint 3 about y at y =
    -length."""
    stem = drum((0, -0.045, -0.006), (0, -length + GAP, 0), 0.037, 0.003)
    solid = union(stem, half((0, 0, 0), (0, 0, -1), LARGE), width=0.024)
    solid = without(solid, clearance((0, 0, 0), (0, 0, -1), LARGE), width=0.006)
    return box(solid, (-0.06, -length - 0.015, -0.07), (0.06, 0.06, 0.05))


def half_arm_2(length, radius_start, radius):
    """From a tube about z at 0 to half of an actuator about y at z = -length, on the side of positive y."""
    stem = drum((0, 0, -GAP), (0, 0.004, -length + 0.75 * radius), radius_start, 0.003)
    solid = union(stem, half((0, 0, -length), (0, 1, 0), radius, HALF if radius > 0.035 else 0.036), width=0.022)
    solid = without(solid, clearance((0, 0, -length), (0, 1, 0), radius), width=0.006)
    return box(solid, (-0.06, -0.06, -length - 0.06), (0.06, 0.07, 0.015), CELL if radius > 0.035 else WRIST_CELL)


def spherical_wrist_2(length):
    """Link 6 of seven joints: from half of joint 6 (at negative z) to the tube of joint 7 about y at y =
    length."""
    stem = drum((0, 0.028, -0.004), (0, length - GAP, 0), SMALL, 0.003)
    solid = union(stem, half((0, 0, 0), (0, 0, -1), SMALL, 0.036), width=0.020)
    solid = without(solid, clearance((0, 0, 0), (0, 0, -1), SMALL), width=0.006)
    return box(solid, (-0.05, -0.05, -0.06), (0.05, length + 0.015, 0.045), WRIST_CELL)


def hand():
    """The hand without its fingers: from the wrist at z = 0 down to the knuckles."""
    neck = drum((0, 0, -GAP), (0, 0, -0.035), SMALL, 0.002)
    palm = drum((0, 0, -0.030), (0, 0.0, -0.100), 0.031, 0.010, radius_b=0.041)
    knuckles = [cone((x * 0.85, y * 0.85, -0.098), (x, y, -0.111), 0.016, 0.0125) for x, y in ((0.0028, 0.0313), (0.0223, -0.0271), (-0.0223, -0.0271))]
    return box(common(union(neck, palm, *knuckles, width=0.012), below((0, 0, -0.118), (0, 0, -1)), width=0.008), (-0.06, -0.06, -0.13), (0.06, 0.06, 0.01), WRIST_CELL)


def finger():
    """The nearer part of a finger, along x; it closes towards y."""
    return box(union(cone((0, 0, 0), (0.042, -0.003, 0), 0.0105, 0.009), ellipsoid((0.02, -0.006, 0), (0.024, 0.009, 0.009)), width=0.006),
               (-0.014, -0.018, -0.014), (0.056, 0.014, 0.014), 0.0035)


def fingertip():
    """The outer part, bent towards the object."""
    bone = union(cone((0, 0, 0), (0.022, 0.000, 0), 0.0092, 0.0085), cone((0.022, 0.000, 0), (0.042, 0.0075, 0), 0.0085, 0.0062), width=0.004)
    return box(bone, (-0.014, -0.014, -0.014), (0.056, 0.020, 0.014), 0.0035)


def ring(radius, width, xyz, axis):
    """A ring of aluminium in the seam of two tubes."""
    return moved(turned([(radius - 0.004, 0), (radius, 0.0005), (radius, width - 0.0005), (radius - 0.004, width)], 36), tuple(p - 0.5 * width * a for p, a in zip(xyz, axis)), axis)


def lid(radius, xyz, axis):
    """The lid at the end of a half actuator."""
    return moved(turned([(0, 0), (radius, 0), (radius, 0.0015), (radius - 0.002, 0.003), (0, 0.0035)], 36), xyz, axis)


def meshes_of_six():
    y, z = 0.0016, -0.11875
    return {
        "jaco/base.obj": base(),
        "jaco/shoulder.obj": shoulder(y, z),
        "jaco/shoulder_trim.obj": joined(ring(0.0425, 0.006, (0, 0, 0), (0, 0, 1)), lid(0.026, (0, y - HALF, z), (0, -1, 0))),
        "jaco/upper_arm.obj": upper_arm(0.410),
        "jaco/upper_arm_trim.obj": joined(lid(0.026, (0, 0, -HALF), (0, 0, -1)), lid(0.026, (0, -0.410, -HALF), (0, 0, -1))),
        "jaco/forearm.obj": forearm(0.2073, -0.0114),
        "jaco/forearm_trim.obj": lid(0.026, (0, 0, -HALF), (0, 0, -1)),
        "jaco/wrist.obj": wrist(-0.03703, -0.06414),
        "jaco/wrist_trim.obj": ring(0.0315, 0.005, (0, 0, 0), (0, 0, 1)),
    } | meshes_of_hand()


def meshes_of_seven():
    return {
        "jaco/arm_half_1.obj": half_arm_1(0.205),
        "jaco/arm_half_1_trim.obj": lid(0.026, (0, 0, -HALF), (0, 0, -1)),
        "jaco/arm_half_2.obj": half_arm_2(0.205, 0.037, LARGE),
        "jaco/arm_half_2_trim.obj": joined(ring(0.0385, 0.006, (0, 0, 0), (0, 0, 1)), lid(0.026, (0, HALF, -0.205), (0, 1, 0))),
        "jaco/wrist_1.obj": half_arm_2(0.10375, SMALL, SMALL),
        "jaco/wrist_1_trim.obj": joined(ring(0.0315, 0.005, (0, 0, 0), (0, 0, 1)), lid(0.019, (0, 0.036, -0.10375), (0, 1, 0))),
        "jaco/wrist_2.obj": spherical_wrist_2(0.10375),
        "jaco/wrist_2_trim.obj": lid(0.019, (0, 0, -0.036), (0, 0, -1)),
    }


def meshes_of_hand():
    return {"jaco/hand.obj": hand(), "jaco/finger.obj": finger(), "jaco/fingertip.obj": fingertip()}
