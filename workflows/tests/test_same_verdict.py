"""Portal and node judge the same pool in the same way: nobody is walked to an order that the node then refuses, nor kept from one that it would take.

But for what an order of the same run needs later on.

At every order of every story on a member the twin's `zpool` is made to tell of something else that goes on in the pool, to both in the
same words; then the guards of the step and those of the operation are asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.collectors.zpool_get import DEFERS
from agents.host.host import Ran
from agents.operations import OPERATIONS
from workflows.engine.core import ask, blockers
from workflows.tests.reports import History, Taken, taken
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, Walk, stages_of

ON_A_MEMBER = ("zpool_replace", "zpool_replace_serving", "zpool_offline", "zpool_online", "zpool_set_path", "zpool_detach")
EVERY_ORDER = [(title, step.slug) for title, story in STORIES.items() for step in story.definition.steps if step.kind == "EXECUTE"]
ORDERS = [(title, slug) for title, slug in EVERY_ORDER if STORIES[title].definition.step(slug).operation in ON_A_MEMBER]
RELEASES = {  # tools and module
    "of before status could be exact": ("0.7.13-1", "0.7.13-1"),
    "without a property path, and a clear that refuses": ("2.0.7-0ubuntu1", "2.0.7-0ubuntu1"),
    "whose import claims": ("2.3.8-1", "2.3.8-1"),
    "whose import claims, mended": ("2.4.4-1", "2.4.4-1"),
    "that was not read": ("2.5.0-1", "2.5.0-1"),
    "that nobody can read": ("local build", "local build"),
    "of one minor, and different for some": ("2.3.9-1", "2.3.2-1"),
    "of two minors": ("2.3.2-1", "2.1.11-1"),
}
SINCE = "in progress since Wed Nov 25 10:00:00 2026"
AMOUNTS = "\t1.20G scanned at 120M/s, 600M issued at 60.0M/s, 4.00G total\n\t200M resilvered, 15.00% done, 00:00:58 to go\n"
RUNS = f"  scan: resilver {SINCE}\n{AMOUNTS}"
REBUILDS = f"  scan: resilver (mirror-9) {SINCE}\n\t1.20G scanned at 120M/s, 600M issued 60.0M/s, 4.00G total\n\t200M resilvered, 15.00% done, 00:00:58 to go\n"
SCRUBS = f"  scan: scrub {SINCE}\n" + AMOUNTS.replace("resilvered", "repaired")
CHECKPOINT = "checkpoint: created Wed Nov 25 09:00:00 2026, consumes 104K\n"
REMOVAL = f"remove: Evacuation of mirror-9 {SINCE}\n\t104G copied out of 200G at 100M/s, 52.00% done, 0h12m to go\n"
EXPANSION = f"expand: expansion of raidz2-0 {SINCE}\n\t1.20G / 4.00G copied at 12M/s, 30.00% done, 00:03:58 to go\n"
BY_NAME = "\t  mirror-9  ONLINE       0     0     0\n\t    /dev/disk/by-id/wwn-0x5000c500aaaa0001-part1  ONLINE       0     0     0{}\n"
BY_GUID = "\t  9000000000000000009  ONLINE       0     0     0\n\t    9000000000000000001  ONLINE       0     0     0{}\n"

VERSION = "/sys/module/zfs/version"

Edit = Callable[[tuple[str, ...], str], str]


# The portal looks ahead: a member is not taken out where the disk that comes for it could not be put in.
AHEAD = {("blink-and-replace", "offline"): "nothing_blocks_attaching"}


def scanned(scan: str, *more: str) -> Edit:
    """Every pool says this of its scan, and these entries beside it."""

    def edit(argv: tuple[str, ...], text: str) -> str:
        bare = re.sub(r"  scan: .*\n(?:\t(?!NAME).*\n)*", "", text)
        return bare.replace("config:\n", f"{scan}{''.join(more)}config:\n")

    return of_status(edit)


def with_another_vdev(scan: str, note: str) -> Edit:
    """A second top-level vdev, whose disk is marked so."""

    def edit(argv: tuple[str, ...], text: str) -> str:
        rows = (BY_GUID if "-g" in argv else BY_NAME).format(note)
        return re.sub(r"(\tNAME .*\n\t\S.*\n)", lambda head: head.group(0) + rows, scanned(scan)(argv, text))

    return of_status(edit)


def of_status(edit: Edit) -> Edit:
    return lambda argv, text: edit(argv, text) if argv[:2] == ("zpool", "status") else text


def defers(value: str) -> Edit:
    """What `zpool get` says of the feature; "" takes the row away."""

    def edit(argv: tuple[str, ...], text: str) -> str:
        if argv[:2] != ("zpool", "get"):
            return text
        return re.sub(rf"(\S+\t{DEFERS}\t)\S+(.*\n)", rf"\g<1>{value}\g<2>" if value else "", text)

    return edit


def both(*edits: Edit) -> Edit:
    def edit(argv: tuple[str, ...], text: str) -> str:
        for one in edits:
            text = one(argv, text)
        return text

    return edit


HAPPENINGS: dict[str, Edit] = {
    "nothing": lambda argv, text: text,
    "resilver, of no named disk": scanned(RUNS),
    "resilver of another vdev, deferred": both(with_another_vdev(RUNS, "  (resilvering)"), defers("enabled")),
    "resilver of another vdev, in use already": both(with_another_vdev(RUNS, "  (resilvering)"), defers("active")),
    "resilver of another vdev, without the feature": both(with_another_vdev(RUNS, "  (resilvering)"), defers("disabled")),
    "resilver of another vdev, whether deferred not told": both(with_another_vdev(RUNS, "  (resilvering)"), defers("")),
    "sequential rebuild of another vdev": with_another_vdev(REBUILDS, "  (resilvering)"),
    "another vdev waits for its resilver": with_another_vdev(RUNS, "  (awaiting resilver)"),
    "checkpoint": scanned("", CHECKPOINT),
    "removal": scanned("", REMOVAL),
    "expansion": scanned("  scan: resilvered 200M in 00:01:00 with 0 errors on Sat Nov 21 19:44:42 2026\n", EXPANSION),
}


class Printed:
    """A twin whose commands say something else, and its module that it is of another release."""

    def __init__(self, host, edit: Edit, module: str = "") -> None:
        self._host, self._edit, self._module = host, edit, module

    def read(self, path: str) -> bytes:
        return f"{self._module}\n".encode() if self._module and path == VERSION else self._host.read(path)

    def __getattr__(self, name: str):
        return getattr(self._host, name)

    def run(self, argv, timeout: float) -> Ran:
        ran = self._host.run(argv, timeout)
        return replace(ran, stdout=self._edit(tuple(argv), ran.stdout.decode()).encode())


Read = tuple[tuple[Capture, ...], tuple[tuple[tuple[str, ...], str], ...], bool]


class Watched:
    """A twin that keeps which commands a collector runs, what they print, and whether it reads the module's release."""

    def __init__(self, host) -> None:
        self._host, self.ran, self.release = host, [], False

    def __getattr__(self, name: str):
        return getattr(self._host, name)

    def run(self, argv, timeout: float) -> Ran:
        ran = self._host.run(argv, timeout)
        self.ran.append((tuple(argv), ran.stdout.decode()))
        return ran

    def read(self, path: str) -> bytes:
        self.release |= path == VERSION
        return self._host.read(path)


@cache
def read_by_collectors(title: str, slug: str) -> dict[str, dict[str, Read]]:
    """By node and collector, what was read at this step with nothing edited."""
    found: dict[str, dict[str, Read]] = {}
    for node, host in stages_of(STORIES[title]).at(slug).hosts.items():
        for name, collector in COLLECTORS.items():
            watched = Watched(host)
            captures = tuple(collector.collect(watched))
            found.setdefault(node, {})[name] = (captures, tuple(watched.ran), watched.release)
    return found


def print_otherwise(walk: Walk, title: str, edit: Edit, module: str = "") -> None:
    """The walk's nodes print what the edit makes of their outputs; only the collectors that read one of those read anew."""
    nodes = {id(host): name for name, host in walk.hosts.items()}
    read = read_by_collectors(title, walk.state.step)
    walk.hosts = {name: Printed(host, edit, module) for name, host in walk.hosts.items()}

    def collect(host: Printed) -> Taken:
        found: list[Capture] = []
        for name, (captures, ran, release) in read[nodes[id(host._host)]].items():
            anew = (module and release) or any(edit(argv, text) != text for argv, text in ran)
            found += COLLECTORS[name].collect(host) if anew else captures
        return Taken({f"{c.source}/{c.key}" if c.key else c.source: c for c in found})

    walk.history, walk._seen = History(collect), {}


@pytest.mark.parametrize("title", [*dict.fromkeys(title for title, _ in EVERY_ORDER)][:3])
def test_what_is_read_anew_is_what_reading_all_anew_would_find(title, stages):
    """Else a guard could be asked of an output that was never edited."""
    slug = next(slug for of, slug in EVERY_ORDER if of == title and slug in stages(title))
    for edit, module in ((HAPPENINGS["checkpoint"], ""), (of_release("2.3.8-1", "2.3.8-1"), "2.3.8-1")):
        walk = stages(title).at(slug)
        print_otherwise(walk, title, edit, module)
        assert all(walk.history._collect(host).captures == taken(host) for host in walk.hosts.values())


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(STORIES[title])

    return of


@pytest.mark.parametrize("happening", HAPPENINGS)
@pytest.mark.parametrize(("title", "slug"), ORDERS)
def test_what_the_portal_lets_through_the_node_takes_and_the_reverse(title, slug, happening, stages):
    if slug not in stages(title):
        return
    walk = stages(title).at(slug)
    operation, params = OPERATIONS[walk.step.operation], walk.state.plan["params"]
    print_otherwise(walk, title, HAPPENINGS[happening])
    portal = blockers(ask(walk.step.guards, walk.facts(), walk.state.params))
    node = [reason for outcome, reason in operation.guards(operation.preconditions(walk.host, params), params) if outcome != "pass"]
    looks_ahead = {verdict.guard for verdict in portal} == {AHEAD.get((walk.runbook.slug, slug))}
    assert bool(portal) == bool(node) or looks_ahead, (happening, [f"{v.guard}: {v.reason}" for v in portal], node)


def of_release(tools: str, module: str) -> Edit:
    def edit(argv: tuple[str, ...], text: str) -> str:
        return f"zfs-{tools}\nzfs-kmod-{module}\n" if argv[1:] == ("--version",) else text

    return edit


@pytest.mark.parametrize("of", RELEASES)
@pytest.mark.parametrize(("title", "slug"), EVERY_ORDER)
def test_on_every_release_both_allow_the_same_orders(title, slug, of, stages):
    if slug not in stages(title):
        return
    walk, (tools, module) = stages(title).at(slug), RELEASES[of]
    operation, params = OPERATIONS[walk.step.operation], walk.state.plan["params"]
    print_otherwise(walk, title, of_release(tools, module), module)
    gate = [guard for guard in walk.step.guards if guard.__name__ == "it_may_be_ordered_on_this_release_of_openzfs"]
    portal = [verdict.reason for verdict in ask(gate, walk.facts(), walk.state.params) if verdict.outcome != "pass"]
    pre = operation.preconditions(walk.host, params)
    assert pre.get("zfs.module", module) == module
    node = [reason for outcome, reason in operation.guards(pre, params) if outcome != "pass" and "ZFS" in reason]
    assert bool(portal) == bool(node), (portal, node)
    assert all(any(reason in text for text in portal) for reason in node if "not known" not in reason)
