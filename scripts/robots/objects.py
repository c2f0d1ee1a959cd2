"""Things that robots handle, and furniture."""

from .urdf import box, collision, inertial, link, rigid, robot, solid_box, visual


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


def files():
    return {
        "cube_red": cube("cube_red", 0.06, 0.5, (0.80, 0.12, 0.10, 1), "The cube that is placed on the stack."),
        "cube_70mm": cube("cube_70mm", 0.07, 0.5, (0.86, 0.72, 0.42, 1), "A cube of the stacks."),
        "cube_80mm": cube("cube_80mm", 0.08, 0.5, (0.35, 0.52, 0.70, 1), "A cube of the stacks."),
    }
