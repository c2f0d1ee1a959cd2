"""Text of URDF files: links, joints, transmissions, contact properties."""

import math

PI = math.pi


def number(x):
    """Ten significant digits, without trailing zeros."""
    text = f"{x:.10g}"
    return "0" if text == "-0" else text


def row(numbers):
    return " ".join(number(x) for x in numbers)


def origin(xyz=(0, 0, 0), rpy=(0, 0, 0)):
    return f'<origin xyz="{row(xyz)}" rpy="{row(rpy)}"/>'


def box(size):
    return f'<box size="{row(size)}"/>'


def cylinder(radius, length):
    return f'<cylinder radius="{number(radius)}" length="{number(length)}"/>'


def sphere(radius):
    return f'<sphere radius="{number(radius)}"/>'


def ellipsoid(a, b, c, path):
    """An ellipsoid for collisions. URDF itself has none. The first shape is a mesh of the
    folder meshes/, from mesh.ellipsoid_surface, which all tools read. The ellipsoid itself follows, for tools
    that tessellate it themselves."""
    return mesh(path, convex=True) + f'<drake:ellipsoid a="{number(a)}" b="{number(b)}" c="{number(c)}"/>'


def mesh(path, convex=False):
    """A mesh of the folder meshes/."""
    inside = "<drake:declare_convex/></mesh>" if convex else ""
    end = ">" + inside if convex else "/>"
    return f'<mesh filename="package://isobar/meshes/{path}"{end}'


def visual(name, geometry, material, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    return [
        f'<visual name="{name}">',
        f"  {origin(xyz, rpy)}",
        f"  <geometry>{geometry}</geometry>",
        f'  <material name="{material}"/>',
        "</visual>",
    ]


def rigid(mu, hint=None):
    """Contact properties of a rigid surface: friction [-] and edge length [m], which Drake requires for round
    shapes."""
    lines = ["<drake:rigid_hydroelastic/>"]
    if hint is not None:
        lines.append(f'<drake:mesh_resolution_hint value="{number(hint)}"/>')
    return [*lines, f'<drake:mu_dynamic value="{number(mu)}"/>']


def compliant(modulus, hint, mu, dissipation=5.0):
    """Contact properties of a compliant volume: E_h [Pa], edge length [m] or None, friction [-],
    Hunt-Crossley dissipation [s/m]."""
    edges = [] if hint is None else [f'<drake:mesh_resolution_hint value="{number(hint)}"/>']
    return [
        "<drake:compliant_hydroelastic/>",
        *edges,
        f'<drake:hydroelastic_modulus value="{number(modulus)}"/>',
        f'<drake:hunt_crossley_dissipation value="{number(dissipation)}"/>',
        f'<drake:mu_dynamic value="{number(mu)}"/>',
    ]


def collision(name, geometry, properties, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    lines = [f'<collision name="{name}">', f"  {origin(xyz, rpy)}", f"  <geometry>{geometry}</geometry>"]
    lines += ["  <drake:proximity_properties>"]
    lines += [f"    {line}" for line in properties]
    lines += ["  </drake:proximity_properties>", "</collision>"]
    return lines


def inertial(mass, com, inertia):
    """`inertia`: ixx, iyy, izz and, where not zero, ixy, ixz, iyz, about the centre of mass [kg m2]."""
    ixx, iyy, izz, ixy, ixz, iyz = (*inertia, 0, 0, 0)[:6]
    values = dict(ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz)
    text = " ".join(f'{key}="{number(value)}"' for key, value in values.items())
    return ["<inertial>", f"  {origin(com)}", f'  <mass value="{number(mass)}"/>', f"  <inertia {text}/>", "</inertial>"]


def solid_box(mass, size):
    x, y, z = (edge * edge for edge in size)
    return tuple(mass / 12 * moment for moment in (y + z, x + z, x + y))


def solid_cylinder(mass, radius, length):
    """Axis along z."""
    across = mass * (3 * radius * radius + length * length) / 12
    return (across, across, mass * radius * radius / 2)


def link(name, *parts, comment=None):
    lines = ["", f"<!-- {comment} -->"] if comment else [""]
    inside = [f"  {line}" for part in parts for line in part]
    return lines + ([f'<link name="{name}">', *inside, "</link>"] if inside else [f'<link name="{name}"/>'])


def fixed(name, parent, child, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    lines = [f'<joint name="{name}" type="fixed">', f'  <parent link="{parent}"/>', f'  <child link="{child}"/>']
    return lines + [f"  {origin(xyz, rpy)}", "</joint>"]


def joint(name, kind, parent, child, xyz, rpy, axis, *, lower=None, upper=None, effort, velocity, acceleration=None,
          damping=None, rotor=None, interface="EffortJointInterface"):
    """A joint with its transmission. `rotor`: inertia of the motor's rotor [kg m2] and gear ratio [-]."""
    limits = {"lower": lower, "upper": upper, "effort": effort, "velocity": velocity, "drake:acceleration": acceleration}
    limits = " ".join(f'{key}="{number(value)}"' for key, value in limits.items() if value is not None)
    lines = [f'<joint name="{name}" type="{kind}">', f'  <parent link="{parent}"/>', f'  <child link="{child}"/>']
    lines += [f"  {origin(xyz, rpy)}", f'  <axis xyz="{row(axis)}"/>', f"  <limit {limits}/>"]
    if damping is not None:
        lines.append(f'  <dynamics damping="{number(damping)}"/>')
    lines += ["</joint>"]
    stem = name.removesuffix("_joint")
    lines += [f'<transmission name="{stem}_transmission">', "  <type>transmission_interface/SimpleTransmission</type>"]
    lines += [f'  <joint name="{name}">', f"    <hardwareInterface>hardware_interface/{interface}</hardwareInterface>"]
    lines += ["  </joint>", f'  <actuator name="{stem}_actuator">']
    lines += [f"    <hardwareInterface>hardware_interface/{interface}</hardwareInterface>"]
    lines += ["    <mechanicalReduction>1</mechanicalReduction>"]
    if rotor is not None:
        lines += [f'    <drake:gear_ratio value="{number(rotor[1])}"/>', f'    <drake:rotor_inertia value="{number(rotor[0])}"/>']
    return lines + ["  </actuator>", "</transmission>"]


def filter_group(name, links):
    """Links of which no two collide with each other."""
    lines = [f'<drake:collision_filter_group name="{name}">']
    lines += [f'  <drake:member link="{member}"/>' for member in links]
    return lines + [f'  <drake:ignored_collision_filter_group name="{name}"/>', "</drake:collision_filter_group>"]


def robot(name, comment, materials, *parts):
    """The whole file. `materials`: name to red, green, blue, alpha."""
    lines = ['<?xml version="1.0"?>', "<!--"]
    lines += [f"  {line}" if line else "" for line in comment.strip().splitlines()]
    lines += ["", "  Written by scripts/make_robots; change it there.", "-->"]
    lines += [f'<robot name="{name}" xmlns:drake="https://drake.mit.edu">']
    for material, rgba in materials.items():
        lines.append(f'  <material name="{material}"><color rgba="{row(rgba)}"/></material>')
    lines += [f"  {line}" if line else "" for part in parts for line in part]
    return "\n".join([*lines, "</robot>", ""])
