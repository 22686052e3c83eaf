"""One verdict per pool, the margin that is shown, and that no guard's margin is larger than the leaves alone allow."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from agents.tests.scenarios import STEPS
from workflows.analysis.pool_fate import contradicts_itself, fate, losses, pool_losses, rows_without_a_reason
from workflows.analysis.redundancy import class_margins, pool_margin
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, ScanFacts, Unknown, VdevFacts, known
from workflows.facts.model import UnreadLine
from workflows.facts.tests.played import played
from workflows.tests import counted
from workflows.tests.incident import NODE

NO_SCAN = (ScanFacts("none", "none", "none requested"),)
RUNNING = (ScanFacts("resilver", "running", "resilver in progress since …", "25.00"),)
REBUILD = (ScanFacts("rebuild", "running", "resilver (draid1:2d:6c:1s-0) in progress since …", "25.00"),)
CLEAN = (ScanFacts("resilver", "finished", "resilvered 580G in 16:55:00 with 0 errors on Sat Nov 21 09:11:32 2026", None, 0),)
WRITABLE = {"readonly": "off"}


def leaf(state="ONLINE", note="", **more):
    return VdevFacts(1, "/dev/sdz1", "disk", 0, state, (0, 0, 0), note, **more)


def row(kind, state, *children, parity=0, name=""):
    return VdevFacts(2, name or f"{kind}-0", kind, parity, state, (0, 0, 0), "", tuple(children))


def pool(*tops, state="ONLINE", scans=NO_SCAN, **more):
    return PoolFacts("ost_0", 7, state, False, scans, tuple(tops), properties=WRITABLE, **{"row_state": state, **more})


MIRROR = row("mirror", "ONLINE", leaf(), leaf())
BOTH_FILLED = row("mirror", "DEGRADED", leaf(resilvering=True), leaf(resilvering=True))
DRAID = row(
    "draid",
    "DEGRADED",
    *(leaf(resilvering=True) for _ in range(4)),
    row("spare", "DEGRADED", leaf("FAULTED", "external device fault"), leaf(resilvering=True)),
    leaf(resilvering=True),
    parity=1,
)
BOTH_DEGRADED = row("mirror", "DEGRADED", leaf("DEGRADED", "too many errors"), leaf("DEGRADED", "too many errors"))
CONTRADICTS = row("raidz", "UNAVAIL", leaf(), leaf(), leaf(), parity=2)
MOVED = row("mirror", "UNAVAIL", leaf("FAULTED", "corrupted data"), leaf("FAULTED", "corrupted data"))
GONE = row("mirror", "UNAVAIL", leaf("UNAVAIL", "cannot open"), leaf("UNAVAIL", "cannot open"))
SILENT = row("mirror", "DEGRADED", leaf(), leaf())
LESS = row("raidz", "DEGRADED", leaf("FAULTED", "too many errors"), *(leaf() for _ in range(5)), parity=2)

# name -> (pool, verdict, whether it gates, the losses shown of its first vdev; None is not known)
POOLS = {
    "whole": (pool(("data", MIRROR)), "serving", False, 1),
    "one disk less": (pool(("data", LESS), state="DEGRADED"), "reduced", False, 1),
    "both halves are filled": (pool(("data", BOTH_FILLED), state="DEGRADED", scans=RUNNING), "reduced", False, 0),
    "a draid rebuilds onto its own spare": (pool(("data", DRAID), state="DEGRADED", scans=REBUILD), "reduced", False, 0),
    "both halves are DEGRADED and serve": (pool(("data", BOTH_DEGRADED), state="DEGRADED"), "reduced", False, 1),
    "its log is off": (pool(("data", MIRROR), ("log", leaf("OFFLINE")), state="DEGRADED"), "reduced", False, 1),
    "a vdev cannot be opened": (pool(("data", GONE), state="UNAVAIL"), "down", True, -1),
    "a special vdev cannot be opened": (pool(("data", MIRROR), ("special", GONE), state="DEGRADED"), "down", True, 1),
    "its row and its leaves contradict each other": (pool(("data", CONTRADICTS), state="UNAVAIL"), "down", True, None),
    "its intent log is bad": (pool(("data", MIRROR), state="FAULTED", row_note="bad intent log", see="K4"), "down", True, 1),
    "no label is found at its paths": (pool(("data", MOVED), state="UNAVAIL"), "moved", True, -1),
    "suspended": (pool(("data", MIRROR), state="SUSPENDED", row_state="ONLINE"), "suspended", True, 1),
    "read-only": (replace(pool(("data", MIRROR)), properties={"readonly": "on"}), "serving", True, 1),
    "a state of a release to come": (pool(("data", MIRROR), state="PONDERING"), "unknown", True, 1),
    "no state was read": (pool(("data", MIRROR), state=""), "unknown", True, 1),
    "its vdevs were not read": (replace(pool(), tops=Unknown("The tree was not read.")), "unknown", True, None),
    "a vdev that lacks too many is called ONLINE": (pool(("data", replace(GONE, state="ONLINE"))), "unknown", True, None),
    "no member says why it is DEGRADED": (pool(("data", SILENT), state="DEGRADED"), "reduced", False, None),
    "the pool serves and a vdev of it does not": (pool(("data", MIRROR), ("data", GONE)), "down", True, 1),
}


@pytest.mark.parametrize("name", POOLS)
def test_each_pool_has_one_verdict(name):
    one, verdict, gates, _ = POOLS[name]
    found = fate(NODE, one)
    assert (found.verdict, found.gates) == (verdict, gates)
    assert "ost_0" in found.reason
    assert found.reason.endswith(".")


@pytest.mark.parametrize("name", [name for name in POOLS if known(POOLS[name][0].tops)])
def test_the_margin_that_is_shown_is_as_zfs_counts(name):
    one, _, _, expected = POOLS[name]
    found = losses(one, one.tops[0][1])
    assert (found if known(found) else None) == expected


def test_a_lost_log_takes_nothing_from_the_margin_of_the_pool():
    assert pool_losses(POOLS["its log is off"][0]) == 1


def test_what_was_removed_from_the_pool_does_not_count():
    assert pool_losses(pool(("data", MIRROR), ("data", VdevFacts(3, "indirect-1", "indirect", 0, "ONLINE", (0, 0, 0), "")))) == 1


def test_without_scan_lines_the_margin_that_is_shown_is_not_known():
    one = replace(pool(("data", MIRROR)), scans=Unknown("The scan: line cannot be read."))
    assert not known(losses(one, MIRROR))
    assert not known(pool_losses(one))


def test_a_row_that_is_missing_from_the_text_is_no_contradiction():
    one = pool(("data", CONTRADICTS), state="UNAVAIL")
    assert contradicts_itself(one)
    assert not contradicts_itself(replace(one, unread=(UnreadLine("sdq  ONLNE", "config", "no row"),)))


def test_a_row_is_without_a_reason_only_while_nothing_fills():
    assert [row.name for row in rows_without_a_reason(pool(("data", SILENT), state="DEGRADED"))] == ["mirror-0"]
    assert rows_without_a_reason(pool(("data", SILENT), state="DEGRADED", scans=RUNNING)) == ()
    assert rows_without_a_reason(pool(("data", BOTH_FILLED), state="DEGRADED", scans=NO_SCAN)) == ()
    assert rows_without_a_reason(pool(("data", LESS), state="DEGRADED")) == ()


def test_a_pool_that_another_node_has_too_is_held():
    here, there = (replace(NODE, node=name, pools=(pool(("data", MIRROR)),)) for name in ("oss01", "oss02"))
    assert fate(here, here.pools[0]).verdict == "serving"
    found = fate(here, here.pools[0], FleetFacts({"oss01": here, "oss02": there}))
    assert (found.verdict, found.gates) == ("held", True)
    assert "oss02" in found.reason


def test_a_pool_of_which_the_kernel_alone_speaks_hangs_where_the_command_did_not_return():
    why = Unknown("Only the kernel's own state could be read.")
    alone = replace(pool(), tops=why, scans=why)
    late: NodeFacts = replace(NODE, failures={"zpool_status": "zpool status: timeout after 20 s"})
    assert fate(late, alone).verdict == "hung"
    assert fate(replace(NODE, failures={}), alone).verdict == "unknown"


@pytest.mark.parametrize("name", STEPS)
def test_of_no_genuine_capture_a_guard_counts_more_than_the_leaves_allow(name):
    for one in played(name).pools_read:
        margins = class_margins(one)
        for (_, top, margin), most in zip(margins, counted.margins(one), strict=True) if known(margins) else ():
            assert not known(margin) or (known(most) and margin <= most), top.name


@pytest.mark.parametrize("name", STEPS)
def test_no_genuine_pool_contradicts_itself_or_is_called_down(name):
    """None of the steps has a pool that cannot be opened and is imported."""
    for one in played(name).pools_read:
        assert contradicts_itself(one) == ""
        assert fate(played(name), one).verdict in ("serving", "reduced", "suspended")
        assert rows_without_a_reason(one) == ()


STATES = ("ONLINE", "ONLINE", "ONLINE", "DEGRADED", "FAULTED", "UNAVAIL", "OFFLINE", "REMOVED", "SPLIT")
SCANS = (NO_SCAN, RUNNING, REBUILD, CLEAN, (replace(CLEAN[0], errors=5),), (ScanFacts("scrub", "running", ""),))


def grown(dice: random.Random, depth: int = 2) -> VdevFacts:
    kind = dice.choice(("disk", "mirror", "raidz", "draid") if depth == 2 else ("disk", "disk", "disk", "replacing", "spare"))
    if kind == "disk" or depth == 0:
        marks = {"resilvering": dice.random() < 0.2, "awaiting_resilver": dice.random() < 0.1}
        return leaf(dice.choice(STATES), **marks, gone=dice.choice((False,) * 8 + (True,)))
    children = [grown(dice, depth - 1) for _ in range(dice.randint(2, 6))]
    return row(kind, dice.choice(STATES), *children, parity=dice.randint(1, 3) if kind in ("raidz", "draid") else 0)


@pytest.mark.parametrize("seed", range(400))
def test_of_no_tree_at_all_a_guard_counts_more_than_the_leaves_allow(seed):
    dice = random.Random(seed)
    tops = [(dice.choice(("data", "special", "log")), grown(dice)) for _ in range(dice.randint(1, 3))]
    for scans, state in itertools.product(SCANS, ("ONLINE", "UNAVAIL")):
        one = pool(*tops, scans=scans, state=state)
        for (_, top, margin), most in zip(class_margins(one), counted.margins(one), strict=True):
            assert not known(margin) or (known(most) and margin <= most)
            assert not known(margin) or top.state not in ("UNAVAIL", "FAULTED") or margin < 0


def test_a_vdev_that_cannot_be_opened_has_nothing_left_for_a_guard_whatever_its_leaves_are_called():
    assert pool_margin(pool(("data", CONTRADICTS))) == -1
    assert pool_margin(pool(("data", replace(CONTRADICTS, state="FAULTED")))) == -1
    assert pool_margin(pool(("data", replace(CONTRADICTS, state="ONLINE")))) == 2
