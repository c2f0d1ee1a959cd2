"""A short run of scripts/soak: memory, threads, files and endpoints do not grow. Times are not compared."""

import pytest

pytest.importorskip("simulation_interfaces.srv", reason="simulation_interfaces is not installed")
import soak  # noqa: E402

# The allowed growth of the memory, because allocators keep some pages [MB].
GROWTH_MAX = 30.0


def test_nothing_grows_while_controllers_come_and_go():
    rows = soak.run(steps=0, seconds=float("inf"), record=True, warm_up=10, cycles=20)
    first, last = rows[0], rows[-1]
    assert last["recorded files"] >= first["recorded files"] + 10, rows
    assert last["cycles"] == first["cycles"] + 20, rows
    for count in soak.COUNTS:
        assert last[count] <= first[count], f"{count}: {rows}"
    assert last["memory [MB]"] <= first["memory [MB]"] + GROWTH_MAX, rows
