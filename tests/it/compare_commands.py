"""Plays recorded measurements with the Python controller and compares its commands with the recorded ones.

    compare_commands.py RECORD.jsonl...        (written by controllers.rs beside this file)
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "controllers"))
from isobar_control.cell import cell_of_scene  # noqa: E402
from isobar_control.player import Measurement, Player  # noqa: E402
from isobar_control.task import read_task  # noqa: E402

TOLERANCE = 1e-9


def measurement(head, row):
    named = lambda values: dict(zip(head["joints"], values))
    forces = {body: np.array(force) for body, force in zip(head["bodies"], row["forces"])}
    return Measurement(named(row["q"]), named(row["v"]), forces, named(row["torques"]))


def commands(player, measured, dt):
    """[position, velocity, effort] of each joint that the task commands."""
    speeds = player.arm.speeds
    found = {name: [q, v, None] for name, q, v in zip(player.chain.names, player.arm.q, speeds)}
    fingers = player.task.fingers
    if player.grip:
        found.update({f.joint: [None, 0.0, effort] for f, effort in zip(fingers, player.efforts(measured, dt))})
    else:
        found.update({f.joint: [f.factor * player.opening, f.factor * player.opening_rate, None] for f in fingers})
    return found


def compare(path):
    """The largest difference of the recorded commands, and the number of commands compared."""
    head, *rows = (json.loads(line) for line in Path(path).read_text().splitlines())
    task = read_task(Path(head["task"]).read_text())
    cell = cell_of_scene(head["scene"], task.tool)
    player = Player(task, cell, measurement(head, rows[0]).positions)
    largest, count = 0.0, 0
    for index, row in enumerate(rows):
        measured = measurement(head, row)
        player.tick(measured, row["dt"])
        where = f"{path}, row {index}, keyframe {row['keyframe']}"
        assert player.phase.startswith("failed") == row["failed"], f"{where}: {player.phase}"
        if row["failed"]:
            break
        assert player.number == row["keyframe"], f"{where}: Python is in {player.number}"
        wanted = dict(zip(head["joints"], row["targets"]))
        found = commands(player, measured, row["dt"])
        for name, values in found.items():
            for ours, theirs in zip(values, wanted[name]):
                assert (ours is None) == (theirs is None), f"{where}: {name} {values}, not {wanted[name]}"
                if ours is not None:
                    largest, count = max(largest, abs(ours - theirs)), count + 1
        rest = {name for name, values in wanted.items() if values != [None, None, None]} - set(found)
        assert not rest, f"{where}: no command for {rest}"
        assert largest <= TOLERANCE, f"{where}: a command differs by {largest:.1e}"
    return largest, count


for path in sys.argv[1:]:
    largest, count = compare(path)
    print(f"{Path(path).stem}: {count} commands, largest difference {largest:.1e}")
