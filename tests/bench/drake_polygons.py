#!/usr/bin/env python3
"""Polygons and triangle fans in Drake, on our scenes: numbers of faces and times of steps, compared with
ours.

    python3 tests/bench/drake_polygons.py slip               # the spatula slip, stepped by Drake
    python3 tests/bench/drake_polygons.py slip --isobar      # and `isobar experiment spatula-slip` after it
    python3 tests/bench/drake_polygons.py flip               # states of our pancake flip, surfaces of both
    python3 tests/bench/drake_polygons.py flip --our-surfaces  # with our meshes of rigid shapes in Drake
    python3 tests/bench/drake_polygons.py --refinement 2 --markdown flip    # a finer grid, as Markdown

How to read the table of the slip: two plants in one process, one with polygons and one with triangle fans,
take each step in turn. A step is Simulator.AdvanceTo over 1 ms, called from Python. Contact geometry is
QueryObject.ComputeContactSurfaces alone, called before every fifth step, which is not timed. The rest is the
step minus the query: contact Jacobians, the solver and everything else. A third plant, whose pairs are all
filtered out, takes the same steps without contact. The rest of its steps does not depend on faces and is
subtracted. Each row of the table is the round with the median ratio.

How to read the table of the flip: tests/bench/flip_states.rs runs our controller and writes joint positions,
poses and our faces. Drake's joints and free bodies are set to them, its poses of all bodies must equal ours,
and the faces of its contact surfaces are counted pair by pair. `found` are the faces of the surfaces, and
`kept` are those on which pressure rises as the bodies approach (both programs leave out the others). Slivers
are faces smaller than 1e-14 m2, which Isobar leaves out and Drake does not. `states alike` are those in which
the pair has equal numbers of polygons and of triangles in both programs. Rigid pairs have no surface and are
not compared: our run has about one point of them per step.

Compare ratios, not machines. Drake is optional: `pip install drake`.
"""

import argparse
import collections
import csv
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

import drake_spatula

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("polygon", "triangle")
DRAKE = "https://drake.mit.edu"
POSE_TOLERANCE = 1e-9  # URDF numbers have ten digits; [m], and of the entries of rotation matrices [-]
GRADIENT_MIN = 1e-14  # below it a face makes no spring, in both programs [Pa/m]
QUERY_EVERY = 5  # steps; odd, so that each kind comes first equally often
COUNT_EVERY = 50  # steps
AREA_MIN = 1e-14  # Isobar leaves out smaller faces and Drake does not: FACE_AREA_MIN in src/geometry/hydroelastic [m2]
COUNTS = ("found", "found, slivers left out", "kept", "kept, slivers left out")


def print_table(header, rows, markdown):
    rows = [[str(cell) for cell in row] for row in rows]
    if markdown:
        print("| " + " | ".join(header) + " |")
        print("|" + "---|" * len(header))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print(row[0].ljust(widths[0]) + "  " + "  ".join(text.rjust(width) for text, width in zip(row[1:], widths[1:])))


def representation(kind):
    from pydrake.geometry import HydroelasticContactRepresentation

    return getattr(HydroelasticContactRepresentation, {"polygon": "kPolygon", "triangle": "kTriangle"}[kind])


def query(diagram, context):
    """The query object at the positions in `context`."""
    scene_graph = diagram.GetSubsystemByName("scene_graph")
    return scene_graph.get_query_output_port().Eval(scene_graph.GetMyContextFromRoot(context))


def leave_out_all_pairs(diagram, context):
    """Disables all contact."""
    from pydrake.geometry import CollisionFilterDeclaration, GeometrySet, Role

    scene_graph = diagram.GetSubsystemByName("scene_graph")
    filters = scene_graph.collision_filter_manager(scene_graph.GetMyMutableContextFromRoot(context))
    geometries = GeometrySet(scene_graph.model_inspector().GetAllGeometryIds(Role.kProximity))
    filters.Apply(CollisionFilterDeclaration().ExcludeWithin(geometries))


# ---- the spatula slip


class SlipRun:
    """The scene with one kind of faces, and the times of its steps."""

    def __init__(self, kind, options, contact=True):
        import numpy as np
        from pydrake.systems.analysis import Simulator

        read = lambda path: urdf_text(path, [], options.refinement, {}, None)  # noqa: E731
        scene = drake_spatula.build(ROOT / "urdf", "spatula_published_inertia.urdf", options.approximation, kind, read)
        self.diagram, self.context, self.plant, self.plant_context, _, self.left, self.right = scene
        self.kind = representation(kind)
        if not contact:
            leave_out_all_pairs(self.diagram, self.context)
        self.simulator = Simulator(self.diagram, self.context)
        self.simulator.set_target_realtime_rate(0)
        self.simulator.Initialize()
        self.force = np.zeros(self.plant.num_velocities())
        self.fixed = self.plant.get_applied_generalized_force_input_port().FixValue(self.plant_context, self.force)
        self.steps, self.queries, self.faces, self.kept = [], [], [], []

    def step(self, k):
        u = drake_spatula.grip_command(k * drake_spatula.STEP)
        self.force[self.left.velocity_start()], self.force[self.right.velocity_start()] = u, -u
        self.fixed.GetMutableData().set_value(self.force)
        if looks := k % QUERY_EVERY == 0:
            self.look(k % COUNT_EVERY == 0)
        start = time.perf_counter()
        self.simulator.AdvanceTo((k + 1) * drake_spatula.STEP)
        if not looks:
            self.steps.append(time.perf_counter() - start)

    def look(self, counts):
        """The contact surfaces at the start of the next step, with the processor's caches as a step leaves
        them."""
        found = query(self.diagram, self.context)
        start = time.perf_counter()
        surfaces = found.ComputeContactSurfaces(self.kind)
        self.queries.append(time.perf_counter() - start)
        self.faces.append(sum(surface.num_faces() for surface in surfaces))
        if counts:
            self.kept.append(sum(count(surface)[COUNTS.index("kept")] for surface in surfaces))


def slip_round(options):
    """Quantity -> (of polygons, of triangles): mean faces, and medians of the steps [us]."""
    runs = [*(SlipRun(kind, options) for kind in KINDS), SlipRun(KINDS[0], options, contact=False)]
    for k in range(round(options.duration / drake_spatula.STEP)):
        for run in runs if k % 2 == 0 else reversed(runs):
            run.step(k)
    *step, step_without = (statistics.median(run.steps) * 1e6 for run in runs)
    *find, find_without = (statistics.median(run.queries) * 1e6 for run in runs)
    faces, kept = ([statistics.fmean(numbers) for numbers in pair] for pair in zip(*((r.faces, r.kept) for r in runs[:2])))
    rest = [a - b for a, b in zip(step, find)]
    without = step_without - find_without
    contact = [time - without for time in rest]
    result = {"faces": faces, "kept": kept, "step": step, "query": find}
    return result | {"rest": rest, "without": [without] * 2, "contact": contact}


def slip_ours(options):
    """The same quantities from `isobar experiment spatula-slip`: times over all 12 s, and faces over the
    duration of Drake's run."""
    program = ROOT / "target" / "release" / "isobar"
    if not program.exists():
        sys.exit(f"{program} is missing: build it with `cargo build --release`")
    results = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            command = [str(program), "experiment", "spatula-slip", "--refinements", str(options.refinement), "--out", folder]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(pathlib.Path(folder) / "study.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            with open(pathlib.Path(folder) / "spatula_slip.csv", newline="") as file:
                samples = [row for row in csv.DictReader(file) if float(row["time"]) <= options.duration]
        column = lambda name, unit: [float(row[name]) * unit for row in rows]  # noqa: E731
        result = {"faces": column("faces", 1.0), "step": column("step_time", 1e6), "query": column("contact_time", 1e6)}
        result["solver"] = column("solver_time", 1e6)
        faces = [[float(sample["faces"]) for sample in samples if sample["faces_kind"] == f"{kind}s"] for kind in KINDS]
        result["first"] = [statistics.fmean(numbers) for numbers in faces]
        results.append(result)
    return results


def ratio_cells(results, name):
    """Polygons, triangles and ratio of the round with the median ratio, and the range of ratios."""
    ordered = sorted((result[name] for result in results), key=lambda pair: pair[1] / pair[0])
    polygons, triangles = ordered[(len(ordered) - 1) // 2]
    ratios = [b / a for a, b in ordered]
    spread = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})" if ratios[-1] - ratios[0] > 5e-3 else ""
    return [f"{polygons:.1f}", f"{triangles:.1f}", f"{triangles / polygons:.2f}{spread}"]


def slip(options):
    drake = [slip_round(options) for _ in range(options.rounds)]
    names = {
        "faces": "faces of contact surfaces a step, mean",
        "kept": "of these kept, before every fiftieth step, mean",
        "step": "measured: whole step, median [us]",
        "query": "measured: contact geometry alone, before every fifth step, median [us]",
        "rest": "subtracted: step minus contact geometry [us]",
        "without": "the same of a step without contact [us]",
        "contact": "subtracted again: Jacobians and solver of the contact [us]",
    }
    what = f"{options.duration:g} s of the spatula slip, refinement {options.refinement:g}, rounds: {options.rounds}"
    print(f"Drake, {options.approximation}, {what}")
    header = ["", "polygons", "triangles", "ratio"]
    print_table(header, [[text, *ratio_cells(drake, name)] for name, text in names.items()], options.markdown)
    if options.isobar:
        ours = slip_ours(options)
        names = {
            "first": f"faces that the solver kept, mean of the first {options.duration:g} s",
            "faces": "faces that the solver kept a step, mean",
            "step": "measured: whole step, mean [us]",
            "query": "measured: contact geometry and patches within the step, mean [us]",
            "solver": "measured: solver within the step, mean [us]",
        }
        print("ours, 12 s of the same scene (isobar experiment spatula-slip), all times measured within the step")
        print_table(header, [[text, *ratio_cells(ours, name)] for name, text in names.items()], options.markdown)


# ---- the pancake flip


def read_states(refinement, every):
    """The output of tests/bench/flip_states.rs: (rigid surfaces and vertices of our geometries, states, mean
    faces a step of the run)."""
    command = ["cargo", "bench", "--quiet", "--locked", "--bench", "flip_states", "--", "--json"]
    command += [f"--refinement={refinement}", f"--every={every}"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    first, *states, last = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return first["geometries"], states, last["run_faces"]


def obj_text(geometry):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in geometry["vertices"]]
    lines += ["f " + " ".join(str(i + 1) for i in triangle) for triangle in geometry["triangles"]]
    return "\n".join(lines) + "\n"


def urdf_text(path, materials, refinement, surfaces, folder):
    """A URDF with the scene's hints, finer by `refinement`; rigid shapes replaced by the meshes in
    `surfaces`, as files of `folder`."""
    ET.register_namespace("drake", DRAKE)
    robot = ET.fromstring(path.read_text())
    for link in robot.iter("link"):
        for collision in link.iter("collision"):
            properties = collision.find(f"{{{DRAKE}}}proximity_properties")
            hint = properties.find(f"{{{DRAKE}}}mesh_resolution_hint")
            for entry in materials:
                body = fnmatch.fnmatch(link.get("name"), entry.get("body", "*"))
                if body and fnmatch.fnmatch(collision.get("name"), entry.get("geometry", "*")):
                    if hint is None:
                        hint = ET.SubElement(properties, f"{{{DRAKE}}}mesh_resolution_hint")
                    hint.set("value", str(entry["mesh_resolution_hint"]))
            if hint is not None:
                hint.set("value", repr(float(hint.get("value")) / refinement))
            name = f"{link.get('name')}/{collision.get('name')}"
            geometry = collision.find("geometry")
            if len(geometry) > 1 and geometry[0].tag == "mesh":
                geometry.remove(geometry[0])  # of two shapes Drake takes the mesh, which cannot be refined
            shape = geometry[0]
            if shape.tag in ("box", "cylinder", "mesh") and surfaces.get(name, {}).get("triangles"):
                file = folder / (name.replace("/", "-") + ".obj")
                file.write_text(obj_text(surfaces[name]))
                geometry.remove(shape)
                ET.SubElement(geometry, "mesh", filename=file.as_uri())
    return ET.tostring(robot, encoding="unicode")


def flip_plant(refinement, surfaces, kind=KINDS[0], approximation="lagged"):
    """The bodies of config/pancake_flip.yaml in Drake: diagram, plant and context. Nothing drives the
    joints."""
    import yaml
    from pydrake.math import RigidTransform, RollPitchYaw
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
    from pydrake.systems.framework import DiagramBuilder

    scene = yaml.safe_load((ROOT / "config" / "pancake_flip.yaml").read_text())
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=scene["step"],
        stiction_tolerance=scene["contact"]["stiction_tolerance"],
        contact_model="hydroelastic",
        contact_surface_representation=kind,
        discrete_contact_approximation=approximation,
        use_sampled_output_ports=False,  # a step is a discrete update then, which can be evaluated at any state
    )
    plant, scene_graph = AddMultibodyPlant(config, builder)
    scene_graph.set_name("scene_graph")
    parser = Parser(plant)
    parser.package_map().AddPackageXml(str(ROOT / "package.xml"))
    with tempfile.TemporaryDirectory() as folder:
        for model in scene["models"]:
            path = ROOT / "config" / model["urdf"]
            text = urdf_text(path, scene.get("materials", []), refinement, surfaces, pathlib.Path(folder))
            (instance,) = parser.AddModelsFromString(text, "urdf")
            if "weld" in model:
                weld = model["weld"]
                root = plant.get_body(plant.GetBodyIndices(instance)[0]).body_frame()
                parent = plant.GetFrameByName(weld["parent"]) if "parent" in weld else plant.world_frame()
                X_PB = RigidTransform(RollPitchYaw(weld.get("rpy", [0, 0, 0])), weld["xyz"])
                plant.WeldFrames(parent, root, X_PB)
        plant.Finalize()
        leave_out_rigid_pairs(scene_graph)
        diagram = builder.Build()
        return diagram, plant, diagram.CreateDefaultContext()  # reads the meshes


def leave_out_rigid_pairs(scene_graph):
    """Disables contact between rigid geometries: they have no surface of equal pressure, and Drake's query
    for surfaces refuses them."""
    from pydrake.geometry import CollisionFilterDeclaration, GeometrySet, Role, VolumeMesh

    inspector = scene_graph.model_inspector()
    geometries = inspector.GetAllGeometryIds(Role.kProximity)
    # A compliant geometry is a mesh of tetrahedra, a rigid one a surface.
    rigid = [geometry for geometry in geometries if not isinstance(inspector.maybe_get_hydroelastic_mesh(geometry), VolumeMesh)]
    scene_graph.collision_filter_manager().Apply(CollisionFilterDeclaration().ExcludeWithin(GeometrySet(rigid)))


def rigid_transform(pose):
    """The transform of a quaternion (w, x, y, z) and a position."""
    import numpy as np
    from pydrake.common.eigen_geometry import Quaternion
    from pydrake.math import RigidTransform

    wxyz = np.array(pose[:4])
    return RigidTransform(Quaternion(wxyz / np.linalg.norm(wxyz)), pose[4:])


def place(plant, context, state):
    """Sets joints and free bodies as in `state`. Returns the largest difference of a body's pose from
    ours."""
    import numpy as np

    q = plant.GetPositions(context).copy()
    for name, position in state["joints"].items():
        q[plant.GetJointByName(name).position_start()] = position
    plant.SetPositions(context, q)
    for index in plant.GetFloatingBaseBodies():
        body = plant.get_body(index)
        plant.SetFreeBodyPose(context, body, rigid_transform(state["poses"][body.name()]))
    worst = 0.0
    for name, pose in state["poses"].items():
        if plant.HasBodyNamed(name):
            X_WB = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(name))
            difference = X_WB.GetAsMatrix34() - rigid_transform(pose).GetAsMatrix34()
            worst = max(worst, float(np.abs(difference).max()))
    return worst


def count(surface):
    """The counts of COUNTS for a surface of Drake."""
    counts = [0] * len(COUNTS)
    for i in range(surface.num_faces()):
        n = surface.face_normal(i)  # out of N, into M
        g_M = surface.EvaluateGradE_M_W(i).dot(n) if surface.HasGradE_M() else float("inf")
        g_N = -surface.EvaluateGradE_N_W(i).dot(n) if surface.HasGradE_N() else float("inf")
        rises = bool(g_M > GRADIENT_MIN and g_N > GRADIENT_MIN)
        large = surface.area(i) > AREA_MIN
        for k, counted in enumerate((True, large, rises, rises and large)):
            counts[k] += counted
    return counts


def drake_faces(inspector, plant, surfaces):
    """The counts of each pair."""
    faces = {}
    for surface in surfaces:
        names = []
        for geometry in (surface.id_M(), surface.id_N()):
            body = plant.GetBodyFromFrameId(inspector.GetFrameId(geometry))
            names.append(f"{body.name()}/{inspector.GetName(geometry).split('::')[-1]}")
        faces[" - ".join(sorted(names))] = count(surface)
    return faces


def print_meshes(inspector, plant, geometries, pairs):
    """Vertices of both programs' meshes of the geometries that touch."""
    touching = sorted({name for pair in pairs for name in pair.split(" - ")})
    for geometry in inspector.GetAllGeometryIds():
        body = plant.GetBodyFromFrameId(inspector.GetFrameId(geometry))
        name = f"{body.name()}/{inspector.GetName(geometry).split('::')[-1]}"
        mesh = inspector.maybe_get_hydroelastic_mesh(geometry)
        if name in touching and mesh is not None:
            print(f"mesh of {name}: {len(geometries[name]['vertices'])} vertices ours, {mesh.num_vertices()} Drake's")


class Comparison:
    """Sums of both programs' counts over the states, pair by pair, and in how many states they are equal."""

    def __init__(self):
        self.sums = collections.defaultdict(lambda: [0] * len(COUNTS))  # of (program, kind, pair)
        self.alike = collections.Counter()  # of (count, pair), with both kinds
        self.states = collections.Counter()  # of pair

    def add(self, theirs, ours):
        """Counts of one state: kind -> pair -> counts."""
        none = [0] * len(COUNTS)
        for pair in {pair for side in (theirs, ours) for faces in side.values() for pair in faces}:
            for program, side in (("Drake", theirs), ("ours", ours)):
                for kind in KINDS:
                    total = self.sums[program, kind, pair]
                    for k, number in enumerate(side[kind].get(pair, none)):
                        total[k] += number
            self.states[pair] += 1
            for k in range(len(COUNTS)):
                self.alike[k, pair] += all(theirs[kind].get(pair, none)[k] == ours[kind].get(pair, none)[k] for kind in KINDS)

    def row(self, name, k, pairs, states):
        """A line of the table: the k-th count, summed over `pairs`, per state."""
        cells = [name]
        for program in ("Drake", "ours"):
            polygons, triangles = (sum(self.sums[program, kind, pair][k] for pair in pairs) / states for kind in KINDS)
            cells += [f"{polygons:.2f}", f"{triangles:.2f}", f"{triangles / polygons:.3f}" if polygons > 0 else "-"]
        touching = sum(self.states[pair] for pair in pairs)
        return [*cells, *(f"{sum(self.alike[i, pair] for pair in pairs)} of {touching}" for i in ((0, 1) if k < 2 else (2, 3)))]


def flip(options):
    geometries, states, run_faces = read_states(options.refinement, options.every)
    diagram, plant, context = flip_plant(options.refinement, geometries if options.our_surfaces else {})
    inspector = diagram.GetSubsystemByName("scene_graph").model_inspector()
    plant_context = plant.GetMyMutableContextFromRoot(context)
    comparison, worst = Comparison(), 0.0
    seconds = {kind: [[] for _ in range(options.rounds)] for kind in KINDS}
    for number in range(options.rounds):
        for i, state in enumerate(states):
            worst = max(worst, place(plant, plant_context, state))
            found, theirs = query(diagram, context), {}
            found.ComputeContactSurfaces(representation(KINDS[0]))  # brings Drake's poses up to date
            for kind in KINDS if i % 2 == 0 else reversed(KINDS):
                start = time.perf_counter()
                surfaces = found.ComputeContactSurfaces(representation(kind))
                seconds[kind][number].append(time.perf_counter() - start)
                if number == 0:
                    theirs[kind] = drake_faces(inspector, plant, surfaces)
            if number == 0:
                twice = {kind: {pair: [a, a, b, b] for pair, (a, b) in state[f"{kind}s"].items()} for kind in KINDS}
                comparison.add(theirs, twice)
    if worst > POSE_TOLERANCE:
        sys.exit(f"the poses of the two programs differ by {worst:.1e}: these are not the same scenes")
    tessellation = "our surfaces of rigid shapes" if options.our_surfaces else "its own tessellations"
    print(f"pancake flip, refinement {options.refinement:g}, {len(states)} states, poses alike to {worst:.1e}; Drake with {tessellation}")
    keyframes = collections.Counter(state["keyframe"] for state in states)
    print("states of each keyframe: " + ", ".join(f"{name} {number}" for name, number in keyframes.items()))
    at_states = statistics.fmean(state["run_faces"] for state in states)
    print(f"faces of our solver, points between rigid bodies among them: {run_faces:.1f} in all steps, {at_states:.1f} at these states")
    pairs = sorted(comparison.states)
    print_meshes(inspector, plant, geometries, pairs)
    header = ["mean over the states", "Drake's polygons", "triangles", "ratio", "our polygons", "triangles", "ratio"]
    header += ["states alike", "without slivers"]
    rows = [comparison.row(f"{pair}, found", 0, [pair], len(states)) for pair in pairs]
    rows += [comparison.row(f"all pairs, {text}", k, pairs, len(states)) for k, text in enumerate(COUNTS)]
    print_table(header, rows, options.markdown)
    times = [{"query": [statistics.fmean(seconds[kind][number]) * 1e6 for kind in KINDS]} for number in range(options.rounds)]
    polygons, triangles, ratio = ratio_cells(times, "query")
    print(f"Drake's contact geometry alone, mean of the states: polygons {polygons} us, triangles {triangles} us, ratio {ratio}")


def begin():
    """Ends the program if Drake is not installed, and restricts it to one core."""
    try:
        import pydrake  # noqa: F401
    except ImportError:
        sys.exit("Drake is not installed, and only this comparison needs it: `pip install drake` (in a virtual environment).")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--refinement", type=float, default=1.0, help="refinement of the scene's edge lengths")
    parser.add_argument("--rounds", type=int, default=3, help="number of measurements of each time")
    tasks = parser.add_subparsers(dest="task", required=True)
    task = tasks.add_parser("slip", help="the spatula slip, stepped by Drake")
    task.add_argument("--duration", type=float, default=4.5, help="simulated time [s]")
    task.add_argument("--approximation", default="lagged", choices=["lagged", "similar", "tamsi", "sap"])
    task.add_argument("--isobar", action="store_true", help="run our experiment too")
    task = tasks.add_parser("flip", help="states of our pancake flip")
    task.add_argument("--every", type=int, default=25, help="number of steps between two states")
    task.add_argument("--our-surfaces", action="store_true", help="Drake gets our tessellations of rigid shapes")
    options = parser.parse_args()
    begin()
    {"slip": slip, "flip": flip}[options.task](options)


if __name__ == "__main__":
    main()
