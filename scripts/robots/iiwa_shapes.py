"""Shapes of the links of the iiwa: shells that join a half drum about one axis to a tube about the other."""

from .mesh import below, block, common, cone, drum, joined, moved, surface, turned, union, without

# Radius of the tubes, of the drums about the tilting axes, and of the clearance around the other half's
# drum [m].
TUBE, DRUM = 0.078, 0.086
GAP = 0.0015


def elbow(height, side, tube, drum_radius, width, clearance):
    """A link that starts with a tube about z at 0 and ends in half a drum about y at z = `height`, on the
    side `side` of y."""
    middle = (0, 0, height)
    inner, outer = side * GAP, side * width
    half = drum((0, inner, height), (0, outer, height), drum_radius, 0.030)
    stem = drum((0, 0, GAP), (0, side * 0.012, height - 0.45 * drum_radius), tube, 0.004)
    solid = union(half, stem, width=0.036)
    other = drum((0, -side * GAP, height), (0, -side * 0.2, height), drum_radius + clearance, 0.0)
    floor = below((0, 0, GAP), (0, 0, -1))
    return common(without(solid, other, width=0.014), floor, width=0.009)


def tilting(length, tube, drum_radius, width, clearance):
    """A link that starts with half a drum about z (at z > 0) and ends in a tube about y at y = `length`."""
    half = drum((0, 0, GAP), (0, 0, width), drum_radius, 0.030)
    stem = drum((0, 0.45 * drum_radius, 0.012), (0, length - GAP, 0), tube, 0.004)
    solid = union(half, stem, width=0.036)
    other = drum((0, 0, -GAP), (0, 0, -0.2), drum_radius + clearance, 0.0)
    return common(without(solid, other, width=0.014), below((0, length - GAP, 0), (0, 1, 0)), width=0.009)


def base(height):
    foot = drum((0, 0, 0), (0, 0, 0.026), 0.118, 0.011)
    column = drum((0, 0, 0.004), (0, 0, height - 0.0015), 0.100, 0.005, radius_b=0.079)
    plugs = block((-0.085, 0, 0.045), (0.130, 0.150, 0.090), 0.018)
    return common(union(foot, column, plugs, width=0.030), below((0, 0, 0), (0, 0, -1)), below((0, 0, height - 0.0015), (0, 0, 1)), width=0.009)


def forearm(height):
    """Link 5: a tube that leans aside and ends in a half drum about y."""
    half = drum((0, 0.030, height), (0, 0.088, height), 0.066, 0.026)
    stem = drum((0, 0, GAP), (0, 0, 0.05), 0.076, 0.004)
    lean = cone((0, 0.004, 0.050), (0, 0.050, height - 0.035), 0.070, 0.050)
    other = drum((0, 0.0285, height), (0, -0.2, height), 0.076, 0.0)
    return common(without(union(half, stem, lean, width=0.036), other, width=0.012), below((0, 0, GAP), (0, 0, -1)), width=0.009)


def head(length):
    """Link 6: the pod between the half drum of link 5 and the flange."""
    pod = drum((0, 0, -0.0285), (0, 0, 0.074), 0.066, 0.026)
    stem = drum((0, 0.01, 0), (0, length - 0.030, 0), 0.058, 0.008)
    return common(union(pod, stem, width=0.03), below((0, 0, -0.0285), (0, 0, -1)), width=0.009)


def disc(radius, thickness, xyz, axis):
    rim = 0.2 * thickness
    profile = [(0, 0), (radius, 0), (radius, thickness - rim), (radius - rim, thickness), (0, thickness)]
    return moved(turned(profile, 40), xyz, axis)


def ring(radius, width, xyz, axis):
    profile = [(radius - 0.006, 0), (radius, 0), (radius, width), (radius - 0.006, width)]
    return moved(turned(profile, 40), xyz, axis)


def flange():
    """Link 7, with its ring of light and the bolt circle's face."""
    return turned([(0, -0.029), (0.046, -0.029), (0.048, -0.027), (0.048, 0.012), (0.040, 0.016), (0.0315, 0.020), (0.0315, 0.0445),
                   (0.0310, 0.045), (0.022, 0.045), (0.022, 0.042), (0, 0.042)])


def shells(name, height, heights, lengths, cell):
    """The meshes of links 0 to 6: file name to mesh. `height`: of link 0, `heights`: of links 1, 3, 5;
    `lengths`: of links 2, 4, 6; `cell`: edge of the grid [m]."""
    box = lambda solid, low, high: surface(solid, low, high, cell)
    up = lambda solid, height: box(solid, (-0.13, -0.13, -0.01), (0.13, 0.13, height + 0.12))
    along = lambda solid, length: box(solid, (-0.13, -0.13, -0.09), (0.13, length + 0.02, 0.13))
    small = (0.074, 0.080, 0.090, 0.004)
    return {
        f"{name}/link_0.obj": box(base(height), (-0.17, -0.135, -0.01), (0.135, 0.135, 0.17)),
        f"{name}/link_1.obj": up(elbow(heights[0], -1, TUBE, DRUM, 0.096, 0.004), heights[0]),
        f"{name}/link_2.obj": along(tilting(lengths[0], TUBE, DRUM, 0.096, 0.004), lengths[0]),
        f"{name}/link_3.obj": up(elbow(heights[1], 1, *small), heights[1]),
        f"{name}/link_4.obj": along(tilting(lengths[1], *small), lengths[1]),
        f"{name}/link_5.obj": up(forearm(heights[2]), heights[2]),
        f"{name}/link_6.obj": along(head(lengths[2]), lengths[2]),
    }


def trim(name, heights):
    """Orange covers at the ends of the drums, and dark rings in the seams of the tubes: (file, link, mesh,
    material)."""
    parts = []
    for k, radius, end in ((1, 0.040, 0.0955), (2, 0.040, 0.0955), (3, 0.036, 0.0895), (4, 0.036, 0.0895), (6, 0.030, 0.0735)):
        side = -1 if k == 1 else 1
        place = ((0, side * end, heights[(k - 1) // 2]), (0, side, 0)) if k % 2 else ((0, 0, end), (0, 0, 1))
        parts.append((f"{name}/cover_{k}.obj", k, disc(radius, 0.005, *place), "iiwa_orange"))
    for k, radius in ((1, 0.0785), (3, 0.0745), (5, 0.0765)):
        parts.append((f"{name}/seam_{k}.obj", k, ring(radius, 0.005, (0, 0, -0.0025), (0, 0, 1)), "iiwa_seam"))
    return parts
