"""The scenes of the comparison: bodies, their starts, the measured quantity, and its exact value.

Each body is a URDF file with one link. Each scene has a plane z = 0 or two fingers, and the quantity is an
error: the difference from a closed form or a conservation law.
"""

import math
from dataclasses import dataclass
from typing import Callable

GRAVITY = 9.81
MODULUS = 1e7  # [Pa], of pressure fields


@dataclass
class Shape:
    """A solid of uniform density."""

    kind: str  # sphere, box, cylinder
    size: tuple  # radius; edges; radius and length [m]
    mass: float  # [kg]

    def moments(self):
        if self.kind == "sphere":
            return (0.4 * self.mass * self.size[0] ** 2,) * 3
        if self.kind == "box":
            x, y, z = (edge**2 for edge in self.size)
            return tuple(self.mass / 12 * s for s in (y + z, x + z, x + y))
        radius, length = self.size
        across = self.mass * (radius**2 / 4 + length**2 / 12)
        return across, across, self.mass * radius**2 / 2

    def element(self):
        if self.kind == "sphere":
            return f'<sphere radius="{self.size[0]}"/>'
        if self.kind == "box":
            return '<box size="{} {} {}"/>'.format(*self.size)
        return '<cylinder radius="{}" length="{}"/>'.format(*self.size)


@dataclass
class Material:
    """Contact of a body, with the ground or the fingers of the same friction."""

    mu: float
    dissipation: float = 10.0  # Hunt-Crossley [s/m]
    compliant: bool = False  # a pressure field where a program has them; else points
    bounce: bool = False  # Isobar: a coefficient of restitution of 1; MuJoCo: springs without damping


@dataclass
class Body:
    name: str
    shape: Shape
    xyz: tuple
    velocity: tuple = (0, 0, 0)
    spin: tuple = (0, 0, 0)


@dataclass
class Scene:
    name: str
    title: str
    unit: str
    bodies: list
    material: Material
    duration: float
    #: States of all bodies at several times -> the error. A state is (time, {name: row}), a row has x y z
    #: vx vy vz wx wy wz.
    error: Callable
    steps: tuple = (4e-3, 2e-3, 1e-3, 5e-4)
    samples: float = 0.0  # time between samples; 0: the end only
    fingers: float = 0.0  # force of two fingers on the first body [N]
    resolution: float = 0.0  # smaller errors are equal
    spatula: bool = False  # config/spatula_slip.yaml; the row of the spatula ends with its pitch [rad]


def urdf(name, shape, material):
    """The URDF text of a body."""
    ixx, iyy, izz = shape.moments()
    kind = "compliant" if material.compliant else "rigid"
    # Boxes have no hint: Drake ignores it, and Isobar divides their edges
    hint = f'<drake:mesh_resolution_hint value="{0.2 * max(shape.size):.6g}"/>' if shape.kind != "box" else ""
    field_of = f'<drake:hydroelastic_modulus value="{MODULUS}"/>{hint}' if material.compliant else ""
    return f"""<?xml version="1.0"?>
<robot name="{name}" xmlns:drake="https://drake.mit.edu">
  <link name="{name}">
    <inertial>
      <mass value="{shape.mass}"/>
      <inertia ixx="{ixx:.9g}" ixy="0" ixz="0" iyy="{iyy:.9g}" iyz="0" izz="{izz:.9g}"/>
    </inertial>
    <visual><geometry>{shape.element()}</geometry></visual>
    <collision name="{name}">
      <geometry>{shape.element()}</geometry>
      <drake:proximity_properties>
        {f"<drake:{kind}_hydroelastic/>" if material.compliant else ""}{field_of}
        <drake:mu_dynamic value="{material.mu}"/><drake:mu_static value="{material.mu}"/>
        <drake:hunt_crossley_dissipation value="{material.dissipation}"/>
      </drake:proximity_properties>
    </collision>
  </link>
</robot>
"""


def fingers_urdf(scene):
    """Two pads on slides, beside the first body of the scene."""
    edge, pad = scene.bodies[0].shape.size[1], 0.02
    material = Material(scene.material.mu, scene.material.dissipation, compliant=True)
    links, joints = "", ""
    for name, side in (("left", 1), ("right", -1)):
        text = urdf(name, Shape("box", (pad,) * 3, 0.2), material)
        links += text[text.index("  <link") : text.index("</robot>")]
        joints += f"""  <joint name="{name}_slide" type="prismatic">
    <parent link="base"/><child link="{name}"/>
    <origin xyz="0 {side * 0.5 * (edge + pad)} 0"/><axis xyz="0 {-side} 0"/>
    <limit lower="-0.1" upper="0.1" effort="1000" velocity="10"/>
  </joint>
"""
    head = '<?xml version="1.0"?>\n<robot name="fingers" xmlns:drake="https://drake.mit.edu">\n  <link name="base"/>\n'
    return head + links + joints + "</robot>\n"


def last(states):
    return states[-1][1]


def rolling():
    """A ball that slides without spin ends rolling at 5/7 of its speed."""
    ball = Body("ball", Shape("sphere", (0.05,), 0.2), (0, 0, 0.05), velocity=(0.5, 0, 0))
    exact = 5 / 7 * 0.5
    return Scene(
        "rolling", "a sliding ball ends rolling at 5/7 v0", "relative error of the speed", [ball],
        Material(mu=0.3), 1.0, lambda states: abs(last(states)["ball"][3] / exact - 1),
    )


def bouncing():
    """A ball without dissipation keeps its energy: the height of the first bounce."""
    drop = 0.2
    ball = Body("ball", Shape("sphere", (0.05,), 0.2), (0, 0, 0.05 + drop))

    def error(states):
        falls = math.sqrt(2 * drop / GRAVITY)
        height = max(rows["ball"][2] for time, rows in states if time > 1.2 * falls) - 0.05
        return abs(1 - height / drop)

    return Scene(
        "bouncing", "a ball without dissipation keeps its energy", "relative loss of height", [ball],
        Material(mu=0.3, dissipation=0.0, compliant=True, bounce=True), 0.6, error,
        steps=(2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4), samples=2e-3,
    )


def stack():
    """Ten cubes stand: the largest distance of a cube from its place after a second."""
    edge = 0.05
    bodies = [Body(f"cube{i}", Shape("box", (edge,) * 3, 0.1), (0, 0, (i + 0.5) * edge)) for i in range(10)]

    def error(states):
        # The stack has settled after a second
        start, end = states[1][1], last(states)
        drift = [math.dist(start[body.name][:3], end[body.name][:3]) for body in bodies]
        return max(max(drift), 1e-16)

    return Scene(
        "stack", "ten cubes stand, from 1 s to 10 s", "largest drift [m]", bodies, Material(mu=0.5, compliant=True),
        10.0, error, samples=1.0,
    )


def pinch():
    """Two fingers hold a cube with half of the friction that they have: its creep."""
    load, grip, mu, edge = 0.5, 20.0, 0.5, 0.04
    cube = Body("cube", Shape("box", (edge,) * 3, load * 2 * mu * grip / GRAVITY), (0, 0, 0.5))

    def error(states):
        (t0, start), (t1, end) = states[-2], states[-1]
        return max(abs(start["cube"][2] - end["cube"][2]) / (t1 - t0), 1e-16)

    return Scene(
        "pinch", "a cube held at half of the limit of friction", "creep [m/s]", [cube],
        Material(mu=mu, compliant=True), 2.0, error, samples=1.0, fingers=grip,
    )


def coin_ratio(speed, rim, read, mu=0.2):
    """v/(omega R) where the rim speed omega R falls to `read` [m/s]: the equations of a flat coin.

    With the points p of a uniform pressure in units of R and the slip s = (v - rim y, rim x):
        dv/dt = -mu g mean(s_x/|s|),   d rim/dt = -2 mu g mean((x s_y - y s_x)/|s|).
    Midpoint steps of 2e-3 of the time to stop; 24 x 96 points.
    """
    points = []
    for i in range(24):
        radius = math.sqrt((i + 0.5) / 24)
        points += [(radius * math.cos(a), radius * math.sin(a)) for a in (math.tau * (k + 0.5) / 96 for k in range(96))]

    def rates(v, w):
        force = torque = 0.0
        for x, y in points:
            sx, sy = v - w * y, w * x
            size = math.hypot(sx, sy)
            force += sx / size
            torque += (x * sy - y * sx) / size
        return -mu * GRAVITY * force / len(points), -2 * mu * GRAVITY * torque / len(points)

    v, w = speed, rim
    while True:
        step = 2e-3 * (v + w) / (mu * GRAVITY)
        a = rates(v, w)
        b = rates(v + 0.5 * step * a[0], w + 0.5 * step * a[1])
        v1, w1 = v + step * b[0], w + step * b[1]
        if w1 <= read:
            part = (w - read) / (w - w1)
            return (v + part * (v1 - v)) / read
        v, w = v1, w1


def coin():
    """A coin slides and spins: v/(omega R) where omega R falls to 10 mm/s, of a uniform pressure."""
    radius, rim = 0.01213, 0.5
    body = Body("coin", Shape("cylinder", (radius, 0.00175), 0.00567), (0, 0, 0.000875), (rim, 0, 0), (0, 0, rim / radius))

    def error(states):
        read = 0.01
        exact = coin_ratio(rim, rim, read)
        for (_, before), (_, after) in zip(states, states[1:]):
            speeds = [(math.hypot(*rows["coin"][3:5]), abs(rows["coin"][8]) * radius) for rows in (before, after)]
            if speeds[0][1] > read >= speeds[1][1]:
                part = (speeds[0][1] - read) / (speeds[0][1] - speeds[1][1])
                return abs((speeds[0][0] + part * (speeds[1][0] - speeds[0][0])) / read / exact - 1)
        return math.nan

    return Scene(
        "coin", "a coin slides and spins until it stops", "relative error of v/(omega R)", [body],
        Material(mu=0.2, compliant=True), 0.5, error, steps=(2e-3, 1e-3, 5e-4, 2.5e-4), samples=2e-3,
    )


def clutter():
    """Twenty cubes fall on a heap and come to rest: the fastest after 3 s."""
    bodies = []
    for i in range(20):
        xyz = (0.03 * math.cos(2.4 * i), 0.03 * math.sin(2.4 * i), 0.06 + 0.06 * i)
        bodies.append(Body(f"body{i}", Shape("box", (0.05,) * 3, 0.1), xyz))

    def error(states):
        return max(max(math.hypot(*row[3:6]) for row in last(states).values()), 1e-16)

    return Scene(
        "clutter", "twenty cubes come to rest", "speed of the fastest after 3 s [m/s]", bodies,
        Material(mu=0.5, compliant=True), 3.0, error,
    )


def spatula():
    """A soft-bubble gripper lets a spatula slip at 4.5 s: the pitch after 6 s.

    The exact value is that of Drake's error-controlled steps (CENIC), -0.277 to -0.278 rad at accuracies of
    1e-3 to 1e-4. Errors below 5e-4 are therefore equal.
    """
    return Scene(
        "spatula", "a spatula slips between soft bubbles", "error of the pitch after 6 s [rad]", [],
        Material(mu=1.0, compliant=True), 6.0, lambda states: abs(last(states)["spatula"][9] + 0.2775),
        steps=(8e-3, 4e-3, 2e-3, 1e-3), resolution=5e-4, spatula=True,
    )


SCENES = [rolling(), bouncing(), stack(), pinch(), coin(), clutter(), spatula()]
