"""The commands of tutorials and how-to pages that need ROS: blocks that are marked `sh ros`, run as a reader
would run them.

A block marked `background` continues while the blocks after it run; one that starts a simulator first ends
the earlier ones. Other blocks are files and commands that the ROS ones need; `tests/it/pages.rs` describes
the marks.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, RUNNING, end_all

PAGES = sorted(
    page
    for shelf in ("tutorials", "how-to")
    for page in (ROOT / "docs" / shelf).glob("*.md")
    if re.search(r"^```sh ros", page.read_text(), re.M)
)
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.S | re.M)
# The longest time of one block on a loaded machine [s].
PATIENCE = 120.0
GRACE = 30.0


def fits(line, pattern):
    """Whether a line is as the page says, with anything in the place of each …"""
    return re.fullmatch(".*?".join(re.escape(part) for part in pattern.strip().split("…")), line.strip())


def missing(expected, printed):
    """The first line that a page promises and its command did not print."""
    return next((line for line in expected.splitlines() if not any(fits(other, line) for other in printed.splitlines())), None)


def run_block(page, text, folder, environment):
    """The output of a block of commands, which must succeed."""
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1; set -eo pipefail\n{text}"],
        cwd=folder,
        env=environment,
        timeout=PATIENCE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{page.name}:\n{text}\n{done.stdout}"
    return done.stdout


@pytest.fixture
def environment(tmp_path):
    """A folder with the contents of a clone, and the programs on the PATH."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("config", "urdf", "meshes", "controllers", "scripts", "package.xml"):
        (folder / name).symlink_to(ROOT / name)
    programs = [os.environ["ISOBAR_BIN"], os.environ["PATH"]]
    if shutil.which("ros2") is None:
        programs[1:1] = [str(ROOT / "scripts/lib/bin"), str(Path(os.environ["ISOBAR_PYTHON"]).parent)]
    return folder, {**os.environ, "PATH": ":".join(programs), "PYTHONFAULTHANDLER": "1"}


class Background:
    """Processes that keep running."""

    def __init__(self):
        self.running = []

    def start(self, command, folder, environment):
        log = (folder / f"background_{len(self.running)}.log").open("w")
        script = ["bash", "-c", f"exec {command}"]
        process = subprocess.Popen(script, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        self.running.append((command, process, Path(log.name)))

    def check(self):
        for command, process, log in self.running:
            assert process.poll() is None, f"{command} ended with {process.returncode}:\n{log.read_text()}"

    def end(self):
        running, self.running = self.running, []
        for _, process, _ in reversed(running):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for command, process, log in running:
            try:
                status = process.wait(GRACE)
            except subprocess.TimeoutExpired:
                # A Python process writes where its threads are (PYTHONFAULTHANDLER).
                process.send_signal(signal.SIGABRT)
                process.wait()
                raise AssertionError(f"{command} does not end:\n{log.read_text()}") from None
            assert status in (0, -signal.SIGINT), f"{command} ended with {status}:\n{log.read_text()}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_run(page, environment, request):
    folder, variables = environment
    background, printed, again = Background(), "", ""
    try:
        for mark, text in BLOCK.findall(page.read_text()):
            match mark.split():
                case ["yaml" | "xml" | "python", name]:
                    (folder / name).write_text(text)
                case ["sh", "ros", "background"]:
                    command = text.replace("\\\n", " ").strip()
                    if command.startswith(("isobar_node", "ros2 launch")):
                        background.end()
                        end_all()
                    if command.startswith("ros2 launch"):
                        _, _, package, file, *arguments = shlex.split(command)
                        assert package == "isobar"
                        launch = request.getfixturevalue("launch")
                        launch(file, dict(argument.split(":=", 1) for argument in arguments))
                    else:
                        background.start(command, folder, variables)
                    time.sleep(2.0)
                    background.check()
                case ["sh", "ros"]:
                    printed, again = run_block(page, text, folder, variables), text
                    background.check()
                case ["text", "output"] if printed:
                    # A process discovers its peers one by one: a list of topics is complete after some time.
                    deadline = time.monotonic() + PATIENCE
                    while (absent := missing(text, printed)) and time.monotonic() < deadline:
                        printed = run_block(page, again, folder, variables)
                        background.check()
                    assert not absent, f"{absent}\nis not in\n{printed}"
                case ["sh", *_]:
                    printed = ""
    finally:
        background.end()
        end_all()
    assert not RUNNING
