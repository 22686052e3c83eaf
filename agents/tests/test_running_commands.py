"""Two `zpool import` at once hide disks from each other, so only one is at work; and a command that is at work is found by its words."""

from __future__ import annotations

import json
import os
import threading

import pytest

from agents.collectors import zpool_import
from agents.host import running_commands
from agents.host.host import LocalHost, Ran
from agents.host.running_commands import Busy, importing, no_other_import, still_running
from agents.operations import OPERATIONS
from agents.operations.base import Probe
from agents.tests import rig
from agents.tests.scenarios import step
from agents.tests.stage import Stage
from agents.tests.test_operations import GOOD

LISTED = step("active-on-other-host/zpool-import.txt").read_text()
BY_HAND = b"/usr/sbin/zpool\0import\0-f\0tank\0"
IMPORTS = tuple(name for name in OPERATIONS if name.startswith("zpool_") and running_commands.is_import(OPERATIONS[name].argv(GOOD[name])))


class Node:
    """Processes by number, and a `zpool import` that says what it is told to; `asked` counts it, `most` how many were at work at once."""

    def __init__(self, *lines, imports=(LISTED,)):
        self.lines, self.listings, self.imports = dict(enumerate(lines, 1)), list(imports), threading.RLock()
        self.asked = self.now_at_it = self.most = 0
        self.meanwhile = lambda: None

    def list(self, pattern):
        return tuple(f"/proc/{pid}/cmdline" for pid in self.lines)

    def read(self, path):
        return self.lines[int(path.split("/")[2])]

    def run(self, argv, timeout_seconds):
        self.asked += 1
        self.now_at_it += 1
        self.most = max(self.most, self.now_at_it)
        self.meanwhile()
        self.now_at_it -= 1
        return Ran(tuple(argv), 0, self.listings[min(self.asked, len(self.listings)) - 1].encode(), b"", 0.1)


@pytest.fixture(autouse=True)
def no_time(monkeypatch):
    """Waiting takes as many looks as it takes half seconds, and no time."""
    now = [0.0]
    monkeypatch.setattr("agents.host.running_commands.time.monotonic", lambda: now[0])
    monkeypatch.setattr("agents.host.running_commands.time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def test_a_command_is_found_by_its_words():
    argv = ("zpool", "replace", "ost_0", "7", "/dev/x")
    other = b"zpool\0replace\0ost_0\0" + b"8\0/dev/x\0"
    assert still_running(Node(b"", other, b"/usr/sbin/zpool\0replace\0ost_0\0" + b"7\0/dev/x\0"), argv) == "3"
    assert still_running(Node(b"/bin/sh\0/opt/zpool\0replace\0ost_0\0" + b"7\0/dev/x\0"), argv) == "1"
    assert still_running(Node(other, b"grep\0zpool\0"), argv) == ""


def test_the_process_that_stands_ready_to_start_it_is_not_it_and_another_one_is():
    argv = ("zpool", "replace", "ost_0", "7", "/dev/x")
    minder = b"/usr/bin/python3\0-I\0/opt/zpool\0replace\0ost_0\0" + b"7\0/dev/x\0"
    assert still_running(Node(minder), argv, "1") == ""
    assert still_running(Node(minder, minder), argv, "1") == "2"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (BY_HAND, "1"),
        (b"zpool\0import\0", "1"),
        (b"/sbin/zpool\0import\0-d\0/dev/disk/by-id\0", "1"),
        (b"zpool\0status\0", ""),
        (b"grep\0zpool\0import\0", ""),
        (b"/usr/bin/python3\0-c\0x\0zpool\0import\0", ""),  # a minder waits for its word, and has nothing open
        (b"", ""),
    ],
)
def test_an_import_at_work_is_known_by_its_process(line, found):
    assert importing(Node(line)) == found


def test_what_the_kernel_holds_of_our_own_is_not_waited_for():
    node = Node(b"zpool\0import\0")
    node.left_behind = lambda: (("zpool", "import"),)
    assert importing(node) == ""


def test_one_given_by_hand_is_waited_for(monkeypatch):
    node, looks = Node(BY_HAND), []
    monkeypatch.setattr(
        "agents.host.running_commands.time.sleep", lambda seconds: looks.append(seconds) or (len(looks) == 3 and node.lines.clear())
    )
    (capture,) = zpool_import.collect(node)
    assert (capture.outcome, node.asked, len(looks)) == ("data", 1, 3)


def test_one_that_does_not_end_leaves_open_what_can_be_imported():
    node = Node(BY_HAND)
    (capture,) = zpool_import.collect(node)
    assert (capture.outcome, node.asked) == ("failed", 0)
    assert "process 1, is at work and did not end within 60 s" in capture.reason


def test_a_listing_beside_which_another_began_is_made_again():
    node = Node(imports=("no pools available to import\n", LISTED))
    looks = iter([(), (BY_HAND,), (BY_HAND,), ()])  # before the first; after it; and until that one ended

    def look(pattern):
        node.lines = dict(enumerate(next(looks), 1))
        return Node.list(node, pattern)

    node.list = look
    (capture,) = zpool_import.collect(node)
    assert (capture.text, node.asked) == (LISTED, 2)


def test_two_listings_of_one_agent_are_never_at_work_at_once():
    node, together = Node(), threading.Barrier(2)
    node.meanwhile = lambda: threading.Event().wait(0.05)

    def look():
        together.wait()
        zpool_import.collect(node)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (node.asked, node.most) == (2, 1)


def test_who_waits_for_the_agents_own_import_in_vain_is_told_so():
    node, held, over = Node(), threading.Event(), threading.Event()

    def hold():
        with no_other_import(node):
            held.set()
            over.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    try:
        with pytest.raises(Busy, match="the agent's own, is at work"), no_other_import(node, 0.05):
            pytest.fail("two at once")
    finally:
        over.set()
        holder.join()
    with no_other_import(node, 0.05):
        pass


def test_a_real_host_has_what_they_wait_with():
    with no_other_import(LocalHost(), 0.0):
        pass


@pytest.fixture
def importer(tmp_path, monkeypatch):
    """Hands over one import of any kind to a node that is as it was planned; `disturbed` says what runs beside it."""
    stage = Stage(tmp_path)
    with open(os.path.join(stage.folder, "policy.json"), "w") as file:
        json.dump({"mode": "operate", "operations": list(IMPORTS), "pools": ["*"]}, file)
    stage.given = []

    def take(name):
        operation, argv = OPERATIONS[name], tuple(OPERATIONS[name].argv(GOOD[name]))
        for what, does in {
            "preconditions": lambda host, params: {"fact": "as planned"},
            "guards": lambda pre, params: (("pass", "fine"),),
            "aftermath": lambda host, params: (),
            "probe": lambda host, params, pre: Probe("did", (), ""),
        }.items():
            monkeypatch.setattr(operation, what, does)
        run = stage.host.run
        monkeypatch.setattr(
            stage.host, "run", lambda command, *more: _given(stage, command) if tuple(command) == argv else run(command, *more)
        )
        sealed = rig.seal(operation=name, effect=operation.EFFECT, params=GOOD[name], argv=list(argv), preconditions={"fact": "as planned"})
        return stage.take(stage.order(sealed))

    stage.imports = take
    return stage


def _given(stage, argv):
    stage.given.append(tuple(argv))
    return Ran(tuple(argv), 0, b"", b"", 0.1)


def test_there_are_imports_to_try():
    assert len(IMPORTS) >= 5


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_is_not_given_beside_another(importer, monkeypatch, name):
    monkeypatch.setattr(running_commands, "importing", lambda host: "4711")
    receipt = importer.imports(name)
    assert (receipt["outcome"], importer.given) == ("refused", [])
    assert "process 4711" in receipt["reason"]


@pytest.mark.parametrize("name", IMPORTS)
def test_one_that_begins_while_the_facts_are_read_again_stops_it_too(importer, monkeypatch, name):
    looks = iter(["", "4711"])
    monkeypatch.setattr(running_commands, "importing", lambda host: next(looks))
    receipt = importer.imports(name)
    assert (receipt["outcome"], importer.given) == ("refused", [])
    assert "would hide disks from this one" in receipt["reason"]


@pytest.mark.parametrize("name", IMPORTS)
def test_while_it_imports_no_listing_begins(importer, name):
    importer.host.imports = threading.RLock()
    beside = []

    def look():
        beside.append(importer.host.imports.acquire(blocking=False))

    def given(argv):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    importer.given = type("Given", (list,), {"append": lambda self, argv: (list.append(self, argv), given(argv))})()
    assert importer.imports(name)["outcome"] == "succeeded"
    assert beside == [False]
