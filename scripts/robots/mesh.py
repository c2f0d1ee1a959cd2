"""Meshes from formulas: solids given by their signed distance, surfaces of revolution, and OBJ files.

A solid is a function (x, y, z) -> distance to its surface [m], negative inside, that changes by at most one
metre per metre. Its surface is found by dual contouring on a regular grid, which keeps sharp edges.
"""

import math

# Faces that meet at a smaller angle than this are one round surface [rad].
CREASE = math.radians(35)


# Vectors

def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def add(a, b, scale=1.0):
    return (a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    length = math.sqrt(dot(a, a))
    return (a[0] / length, a[1] / length, a[2] / length) if length > 0 else (0.0, 0.0, 1.0)


# Solids

def cone(a, b, radius_a, radius_b=None):
    """Round cone: balls along the line from `a` to `b`. With one radius it is a capsule."""
    radius_b = radius_a if radius_b is None else radius_b
    ax, ay, az = a
    dx, dy, dz = sub(b, a)
    inverse = 1.0 / max(dx * dx + dy * dy + dz * dz, 1e-18)
    slope = math.sqrt(1.0 + (radius_b - radius_a) ** 2 * inverse)

    def distance(x, y, z):
        px, py, pz = x - ax, y - ay, z - az
        t = min(1.0, max(0.0, (px * dx + py * dy + pz * dz) * inverse))
        px, py, pz = px - t * dx, py - t * dy, pz - t * dz
        return (math.sqrt(px * px + py * py + pz * pz) - radius_a - t * (radius_b - radius_a)) / slope

    return distance


def ball(center, radius):
    return cone(center, center, radius)


def ellipsoid(center, axes):
    """Distances are exact on the surface only, and too small elsewhere."""
    cx, cy, cz = center
    a, b, c = axes
    least = min(axes)

    def distance(x, y, z):
        px, py, pz = (x - cx) / a, (y - cy) / b, (z - cz) / c
        return (math.sqrt(px * px + py * py + pz * pz) - 1.0) * least

    return distance


def drum(a, b, radius, rounding=0.0, radius_b=None):
    """Cylinder (frustum if `radius_b` differs) from `a` to `b` with rounded rims."""
    length = math.sqrt(dot(sub(b, a), sub(b, a)))
    ux, uy, uz = unit(sub(b, a))
    mx, my, mz = add(a, sub(b, a), 0.5)
    half = 0.5 * length
    slope = ((radius if radius_b is None else radius_b) - radius) / length
    scale = 1.0 / math.sqrt(1.0 + slope * slope)

    def distance(x, y, z):
        px, py, pz = x - mx, y - my, z - mz
        along = px * ux + py * uy + pz * uz
        px, py, pz = px - along * ux, py - along * uy, pz - along * uz
        out = (math.sqrt(px * px + py * py + pz * pz) - radius - slope * (along + half)) * scale + rounding
        over = abs(along) - half + rounding
        if out > 0.0 and over > 0.0:
            return math.hypot(out, over) - rounding
        return max(out, over) - rounding

    return distance


def block(center, size, rounding=0.0):
    """Box with rounded edges; `size` is the whole edge lengths."""
    cx, cy, cz = center
    hx, hy, hz = (0.5 * edge - rounding for edge in size)

    def distance(x, y, z):
        px, py, pz = abs(x - cx) - hx, abs(y - cy) - hy, abs(z - cz) - hz
        outside = math.sqrt(max(px, 0.0) ** 2 + max(py, 0.0) ** 2 + max(pz, 0.0) ** 2)
        return outside + min(max(px, py, pz), 0.0) - rounding

    return distance


def below(point, normal):
    """The half space on the side of `point` that `normal` points away from."""
    nx, ny, nz = unit(normal)
    offset = dot(point, (nx, ny, nz))
    return lambda x, y, z: nx * x + ny * y + nz * z - offset


def soft_least(a, b, width):
    """The smaller of two distances, smoothed if they differ by less than `width` (quadratic smooth
    minimum)."""
    if width <= 0.0:
        return min(a, b)
    h = max(width - abs(a - b), 0.0)
    return min(a, b) - h * h / (4.0 * width)


def union(*solids, width=0.0):
    def distance(x, y, z):
        least = solids[0](x, y, z)
        for solid in solids[1:]:
            least = soft_least(least, solid(x, y, z), width)
        return least

    return distance


def common(*solids, width=0.0):
    def distance(x, y, z):
        least = -solids[0](x, y, z)
        for solid in solids[1:]:
            least = soft_least(least, -solid(x, y, z), width)
        return -least

    return distance


def without(solid, *others, width=0.0):
    return common(solid, *((lambda x, y, z, other=other: -other(x, y, z)) for other in others), width=width)


# Meshes: lists of vertices and of faces (three or four vertex numbers)

BLOCK = 4  # cells per side of a block; blocks far from the surface are skipped whole


def surface(solid, low, high, cell):
    """The surface of `solid` inside the box from `low` to `high`, on a grid of edge `cell` [m]."""
    counts = [int(math.ceil((high[i] - low[i]) / cell / BLOCK)) for i in range(3)]
    at = lambda i, j, k: (low[0] + i * cell, low[1] + j * cell, low[2] + k * cell)
    values = {}

    def value(corner):
        found = values.get(corner)
        if found is None:
            found = values[corner] = solid(*at(*corner))
        return found

    reach = 0.5 * math.sqrt(3.0) * BLOCK * cell
    vertices, number = [], {}
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    edges = [(a, b) for a in corners for b in corners if sum(b) - sum(a) == 1 and all(s <= t for s, t in zip(a, b))]
    for I in range(counts[0]):
        for J in range(counts[1]):
            for K in range(counts[2]):
                middle = at(*(BLOCK * (n + 0.5) for n in (I, J, K)))
                if abs(solid(*middle)) > reach:
                    continue
                for i in range(BLOCK * I, BLOCK * (I + 1)):
                    for j in range(BLOCK * J, BLOCK * (J + 1)):
                        for k in range(BLOCK * K, BLOCK * (K + 1)):
                            around = {c: value((i + c[0], j + c[1], k + c[2])) for c in corners}
                            if (min(around.values()) < 0.0) == (max(around.values()) < 0.0):
                                continue
                            number[i, j, k] = len(vertices)
                            vertices.append(net_vertex(solid, at, (i, j, k), around, edges, cell))
    return vertices, net_faces(values, number)


# Weight of the distance of a vertex to the mean of its cell's cut points, relative to its distances to the
# planes at these points [-]: small, so that vertices lie on sharp edges, but positive, because nearly
# parallel planes do not determine a point.
PULL = 0.03


def net_vertex(solid, at, cell_index, around, edges, cell):
    """The point nearest to the surface's tangent planes where it cuts the cell's edges (dual contouring, Ju
    et al., 2002)."""
    cuts = []
    for a, b in edges:
        if (around[a] < 0.0) != (around[b] < 0.0):
            t = around[a] / (around[a] - around[b])
            cuts.append(at(*(index + s + t * (e - s) for index, s, e in zip(cell_index, a, b))))
    mean = tuple(sum(cut[i] for cut in cuts) / len(cuts) for i in range(3))
    A = [[PULL if i == j else 0.0 for j in range(3)] for i in range(3)]
    rest = [0.0, 0.0, 0.0]
    for cut in cuts:
        normal = unit(gradient(solid, cut))
        height = dot(normal, sub(cut, mean)) - solid(*cut)
        for i in range(3):
            rest[i] += normal[i] * height
            for j in range(3):
                A[i][j] += normal[i] * normal[j]
    x, y, z = A
    inverse = (cross(y, z), cross(z, x), cross(x, y))  # rows of the adjugate: A is symmetric
    determinant = dot(x, inverse[0])
    shift = tuple(dot(row, rest) / determinant for row in inverse)
    return add(mean, shift) if dot(shift, shift) < cell * cell else mean


def gradient(solid, p, step=1e-5):
    x, y, z = p
    return (
        (solid(x + step, y, z) - solid(x - step, y, z)) / (2 * step),
        (solid(x, y + step, z) - solid(x, y - step, z)) / (2 * step),
        (solid(x, y, z + step) - solid(x, y, z - step)) / (2 * step),
    )


def net_faces(values, number):
    faces = []
    for (i, j, k), here in sorted(values.items()):
        for axis in range(3):
            there = values.get(tuple(n + (axis == m) for m, n in enumerate((i, j, k))))
            if there is None or (here < 0.0) == (there < 0.0):
                continue
            u, v = (axis + 1) % 3, (axis + 2) % 3
            ring = []
            for a, b in ((0, 0), (-1, 0), (-1, -1), (0, -1)):
                index = [i, j, k]
                index[u] += a
                index[v] += b
                ring.append(number.get(tuple(index)))
            if None not in ring:
                faces.append(ring if here < 0.0 else ring[::-1])
    return faces


def turned(profile, segments=48):
    """The surface of revolution about z of a profile of points (radius, z), from bottom to top."""
    vertices, rings = [], []
    for radius, z in profile:
        if radius < 1e-9:
            rings.append([len(vertices)] * segments)
            vertices.append((0.0, 0.0, z))
        else:
            rings.append([len(vertices) + k for k in range(segments)])
            angles = [2 * math.pi * k / segments for k in range(segments)]
            vertices += [(radius * math.cos(angle), radius * math.sin(angle), z) for angle in angles]
    faces = []
    for lower, upper in zip(rings, rings[1:]):
        for k in range(segments):
            n = (k + 1) % segments
            face = [lower[k], lower[n], upper[n], upper[k]]
            face = [vertex for index, vertex in enumerate(face) if vertex != face[index - 1]]
            if len(face) >= 3:
                faces.append(face)
    return vertices, faces


def ellipsoid_surface(axes, refinements=2):
    """Triangles on the ellipsoid with these half axes: an octahedron whose edges are halved this number of
    times, with each new vertex moved to the unit sphere, all scaled. With two refinements these are the 66
    vertices that Drake and Isobar give an ellipsoid."""
    vertices = [(1.0, 0, 0), (0, 1.0, 0), (-1.0, 0, 0), (0, -1.0, 0), (0, 0, 1.0), (0, 0, -1.0)]
    faces = [face for k in range(4) for face in ([k, (k + 1) % 4, 4], [(k + 1) % 4, k, 5])]
    for _ in range(refinements):
        middles = {}

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(vertices)
                vertices.append(unit(add(vertices[a], vertices[b])))
            return middles[key]

        halves = [(face, [middle(face[i], face[(i + 1) % 3]) for i in range(3)]) for face in faces]
        faces = [half for (a, b, c), (ab, bc, ca) in halves for half in ([a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca])]
    return [tuple(axis * x for axis, x in zip(axes, vertex)) for vertex in vertices], faces


def joined(*meshes):
    vertices, faces = [], []
    for more_vertices, more_faces in meshes:
        faces += [[vertex + len(vertices) for vertex in face] for face in more_faces]
        vertices += more_vertices
    return vertices, faces


def moved(mesh, xyz, axis=(0, 0, 1)):
    """The mesh with its z axis turned to `axis` and its origin moved to `xyz`."""
    z = unit(axis)
    x = unit(cross((0, 1, 0) if abs(z[1]) < 0.9 else (1, 0, 0), z))
    y = cross(z, x)
    place = lambda p: tuple(xyz[i] + p[0] * x[i] + p[1] * y[i] + p[2] * z[i] for i in range(3))
    return [place(p) for p in mesh[0]], mesh[1]


def face_normal(vertices, face):
    """Normal, as long as twice the area."""
    total = (0.0, 0.0, 0.0)
    for b, c in zip(face[1:], face[2:]):
        total = add(total, cross(sub(vertices[b], vertices[face[0]]), sub(vertices[c], vertices[face[0]])))
    return total


def short(x, decimals):
    """The number with at most that many decimals, in as few characters as possible; the zero before the point
    remains, because some readers need it."""
    text = f"{x:.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def obj(mesh, comment, decimals=4):
    """Text of an OBJ file with a normal at each corner, smooth up to the crease angle. Coordinates of
    vertices [m] have up to `decimals` decimals."""
    vertices, faces = mesh
    normals = [face_normal(vertices, face) for face in faces]
    faces = [(face, normal) for face, normal in zip(faces, normals) if dot(normal, normal) > 1e-24]
    around = {}
    for face, normal in faces:
        for vertex in face:
            around.setdefault(vertex, []).append(normal)
    lines = [f"# {comment}", "# Written by scripts/make_robots. Metres."]
    lines += [f"v {' '.join(short(x, decimals) for x in vertex)}" for vertex in vertices]
    numbers, body = {}, []
    normal_lines = []
    cosine = math.cos(CREASE)
    for face, normal in faces:
        corners = []
        own = unit(normal)
        for vertex in face:
            near = [other for other in around[vertex] if dot(unit(other), own) >= cosine]
            total = unit(tuple(sum(other[i] for other in near) for i in range(3)))
            text = "vn " + " ".join(short(x, 2) for x in total)
            if text not in numbers:
                numbers[text] = len(numbers) + 1
                normal_lines.append(text)
            corners.append(f"{vertex + 1}//{numbers[text]}")
        body.append("f " + " ".join(corners))
    return "\n".join([*lines, *normal_lines, *body, ""])
