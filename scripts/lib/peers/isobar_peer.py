"""Isobar: a scene file for each scene, run by the program."""

import csv
import json
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COLUMNS = ["x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"]


def version(program):
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()


def scene_file(scene, step, folder):
    """The scene as YAML, which JSON is a part of."""
    models = [
        {
            "name": body.name,
            "urdf": str(folder / f"{scene.name}_{body.name}.urdf"),
            "free": {"xyz": body.xyz, "linear_velocity": body.velocity, "angular_velocity": body.spin},
        }
        for body in scene.bodies
    ]
    text = {"step": step, "models": models}
    material = {"mu_dynamic": scene.material.mu, "hunt_crossley_dissipation": scene.material.dissipation}
    if scene.fingers:
        models.append({"name": "fingers", "urdf": str(folder / f"{scene.name}_fingers.urdf"), "weld": {"xyz": [0, 0, 0.5]}})
        text["commands"] = {f"{name}_slide": {"effort": scene.fingers} for name in ("left", "right")}
    else:
        text["ground"] = material
    if scene.material.bounce:
        material["restitution"] = 1
        text["materials"] = [{"body": body.name, "compliant": False, "restitution": 1} for body in scene.bodies]
    elif not scene.material.compliant:
        text["materials"] = [{"body": body.name, "compliant": False} for body in scene.bodies]
    return json.dumps(text, indent=1)


def run_spatula(scene, step, program):
    """Does the same as `run` with the scene file of the spatula and friction at centroids, as in Drake."""
    with tempfile.TemporaryDirectory() as temporary:
        file, table = Path(temporary) / "scene.yaml", Path(temporary) / "out.csv"
        text = (ROOT / "config/spatula_slip.yaml").read_text().replace("../urdf", str(ROOT / "urdf"))
        file.write_text(text.replace("dissipation:", "face_friction: centroid\n  dissipation:"))
        command = [program, "run", file, "--step", step, "--duration"]
        loading = spent([*command, step])
        whole = spent([*command, scene.duration, "--csv", table, "--every", round(scene.duration / step)])
        rows = csv.DictReader(line for line in table.read_text().splitlines() if not line.startswith("#"))
        names = [f"spatula.{c}" for c in COLUMNS] + ["pitch"]
        states = [(float(row["time"]), {"spatula": [float(row[name]) for name in names]}) for row in rows]
        return states, max(whole - loading, 1e-6) / scene.duration


def spent(command):
    """The processor time of a program [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command), "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run(scene, step, folder, program):
    """States at the samples, and the processor time per simulated second [s], without that of loading."""
    if scene.spatula:
        return run_spatula(scene, step, program)
    with tempfile.TemporaryDirectory() as temporary:
        file, table = Path(temporary) / "scene.yaml", Path(temporary) / "out.csv"
        file.write_text(scene_file(scene, step, folder))
        every = max(1, round((scene.samples or scene.duration) / step))
        loading = spent([program, "run", file, "--duration", step])
        whole = spent([program, "run", file, "--duration", scene.duration, "--csv", table, "--every", every])
        rows = csv.DictReader(line for line in table.read_text().splitlines() if not line.startswith("#"))
        states = [
            (float(row["time"]), {b.name: [float(row[f"{b.name}.{c}"]) for c in COLUMNS] for b in scene.bodies})
            for row in rows
        ]
        return states, max(whole - loading, 1e-6) / scene.duration
