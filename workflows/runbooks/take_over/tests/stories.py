"""Walks of take-over: the first one is its transcript."""

from __future__ import annotations

import time

from workflows.runbooks.take_over import rehearsal
from workflows.runbooks.take_over.rehearsal import DEAD, DEAD_HOSTID, SERIALS
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.test_fencing import FRU, STATUS, WATCHDOG
from workflows.tests.walks import Story, Walk

FORCED = ["zpool", "import", "-f", "-N", "-o", "cachefile=none", "-d", "/dev/disk/by-id"]


def date_u(at: float) -> str:
    return time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(at))


def scanned(walk: Walk) -> str:
    return f"chassis: {SERIALS['chassis_serial']}\nunplugged"


def of_its_controller(walk: Walk) -> str:
    return f"{date_u(walk.clock.at)}\n{STATUS}{WATCHDOG}{FRU}"


def of_its_outlets(walk: Walk) -> str:
    outlets = "E000: Success\n 3: oss02 A: Off\n 4: oss02 B: Off\n"
    return f"{date_u(walk.clock.at)}\n{outlets}feeds: 2\nchassis: {SERIALS['product_serial']}"


def comes_back(walk: Walk) -> str:
    """The head has power again, without its SAS cables: it has no pool."""
    with walk.hosts[DEAD].store.changing() as node:
        node.off_since = 0.0
        node.pools, node.disks = [], []
        for enclosure in node.enclosures:
            for bay in enclosure.bays:
                bay.wwid = None
    return ""


def nothing_imported(walk: Walk) -> None:
    """Nothing was written: the labels name the dead head as before."""
    pool = walk.node.pool("ost_0")
    assert not pool.imported
    assert (pool.hostname, pool.hostid) == (DEAD, int(DEAD_HOSTID, 16))
    assert walk.commands() == []


def story(name: str, shows) -> Story:
    return Story(
        runbook="take-over",
        twins=lambda: rehearsal.two_heads(NOW),
        params=lambda facts: answer(facts, "take-over"),
        hands={
            "fence": shows,
            "start": lambda walk: "Keys loaded, all mounted, exports started.",
            "secure": lambda walk: "Its SAS cables are unplugged, by ann, before it was switched on.",
            "returned": comes_back,
            "returned-after-all": comes_back,
        },
        restored=nothing_imported,
        name=name,
    )


FIRST = story("", of_its_controller)
AT_THE_RACK = story("take-over, shown at the rack", scanned)
OUTLETS = story("take-over, shown by its outlets", of_its_outlets)
STORIES = (FIRST, AT_THE_RACK, OUTLETS)
