"""A disk that does not answer, imitated by a library that lets no write to the node's files return: the
simulation continues, the log says it once, diagnostics say it, and the node ends."""

import os
import shutil
import subprocess

import pytest
from conftest import stamp_ns
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState

# Writes and renames of files in the folder $STALLED wait while the folder has a file `stall`.
LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void wait_for_disk(const char *path) {
    const char *folder = getenv("STALLED");
    if (folder == NULL || strncmp(path, folder, strlen(folder)) != 0) return;
    char stall[PATH_MAX];
    snprintf(stall, sizeof stall, "%s/stall", folder);
    while (access(stall, F_OK) == 0) usleep(10000);
}

static void wait_for_file(int file) {
    char link[64], path[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 1) > 0) wait_for_disk(path);
}

ssize_t write(int file, const void *data, size_t length) {
    wait_for_file(file);
    return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(file, data, length);
}

ssize_t writev(int file, const struct iovec *data, int count) {
    wait_for_file(file);
    return ((ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev"))(file, data, count);
}

int rename(const char *from, const char *to) {
    wait_for_disk(from);
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


@pytest.fixture
def disk(tmp_path):
    """A folder, and the command that starts a program for which the folder can stall."""
    compiler = shutil.which("gcc") or pytest.skip("gcc is not installed")
    source, library, folder = tmp_path / "stalled.c", tmp_path / "stalled.so", tmp_path / "disk"
    folder.mkdir()
    source.write_text(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    # After the libraries that are preloaded already.
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    return folder, ["env", f"LD_PRELOAD={preload}", f"STALLED={folder}"]


def value_of(message, key):
    return next(entry.value for entry in message.status[0].values if entry.key == key)


# The lines of the log about each kind of file.
KINDS = {
    "recording": ("record:={}/run.mcap", "messages beyond a short queue are not recorded"),
    "checkpoint": ("checkpoint:={}/run.checkpoint", "no checkpoint is written until it does"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_does_not_answer_is_said_once_and_stops_nothing(start, listener, disk, kind):
    folder, wrapper = disk
    parameter, consequence = KINDS[kind]
    node = start(parameters=[parameter.format(folder), "checkpoint_period:=0.05"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    reports = listener.listen(DiagnosticArray, "/diagnostics", 100)
    listener.wait_until(lambda: len(states) > 100 and reports and "run." in str(list(folder.iterdir())), "the file")
    (folder / "stall").touch()
    listener.wait_until(lambda: f"{kind}: the disk has not answered for" in node.log(), "the line")
    silent = lambda: "the disk has not answered for" in value_of(reports[-1], kind)  # noqa: E731
    listener.wait_until(lambda: silent() and reports[-1].status[0].message.startswith(f"{kind}: the disk"), "diagnostics")
    assert consequence in node.log()
    # The queue of 512 instants to record is full before that. Lost ones are warned about only until the stall
    # is noticed.
    listener.wait_for_time(states, 3.0)
    warned = node.log().count("the disk is too slow")
    heard = len(reports)
    listener.wait_until(lambda: len(reports) > heard + 3, "reports")
    assert node.log().count("the disk has not answered") == 1 and node.log().count("the disk is too slow") == warned, node.log()
    before = stamp_ns(states[-1])
    (folder / "stall").unlink()
    listener.wait_until(lambda: f"{kind}: the disk answers again" in node.log(), "the end of the stall")
    listener.wait_until(lambda: not silent() and stamp_ns(states[-1]) > before, "diagnostics of a disk that answers")
    assert node.end() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_node_ends_although_its_disk_does_not_answer(start, listener, disk, kind):
    folder, wrapper = disk
    parameter, _ = KINDS[kind]
    node = start(parameters=[parameter.format(folder), "checkpoint_period:=0.05"], wrapper=wrapper)
    states = listener.listen(JointState, "joint_states")
    listener.wait_until(lambda: len(states) > 100 and "run." in str(list(folder.iterdir())), "the file")
    (folder / "stall").touch()
    assert node.end() == 0
    assert "the node ends without the rest of its recording or checkpoint" in node.log(), node.log()
