"""Stories about pools that stand still: members lost together, and signs of life that did not get through."""

from __future__ import annotations

from twin import stories as twins
from twin.scenarios import take_away
from workflows.facts import FleetFacts
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW, always
from workflows.tests.walks import Story, Walk

SICK_WWID = "naa:5000c500a65b204b"
INTERVALS = "zfs_multihost_fail_intervals"


def plugged_in(walk: Walk) -> str:
    with walk.changing() as node:
        twins.reconnected(node)
    return "SAS cable to port 0, HBA end"


SHELF = Story(
    runbook="many-disks-offline",
    twins=lambda: {"oss01": twins.shelf_lost(NOW)},
    params=lambda facts: answer(facts, "many-disks-offline"),
    hands={"mend": plugged_in},
    name="many-disks-offline, the pool stands",
)
BACKPLANE = Story(
    **{**vars(SHELF), "twins": lambda: {"oss01": twins.backplane_lost(NOW)}, "name": "many-disks-offline, the pool serves"},
)


def pulled(walk: Walk) -> str:
    for host in walk.hosts.values():
        with host.store.changing() as node:
            if any(disk.wwid == SICK_WWID for disk in node.disks):
                take_away(node, SICK_WWID)
                leaf = node.pool("ost_0").leaves()[twins.SICK]
                leaf.state, leaf.aux = "UNAVAIL", "open_failed"
    return "ZA20004X"


def came_up(walk: Walk) -> str:
    with walk.changing() as node:
        twins.rebooted(node)
    return "Reset by the management controller."


def imported(walk: Walk) -> str:
    with walk.changing() as node:
        node.pool("ost_0").imported = True
    return "Imported by its guid, without a cache file."


def alike(walk: Walk) -> str:
    """The partner gets what the node has."""
    with walk.hosts["oss02"].store.changing() as node:
        node.parameters[INTERVALS] = walk.node.parameters.get(INTERVALS, "10")
    return "oss02"


def not_raised(walk: Walk) -> None:
    assert walk.node.parameters.get(INTERVALS, "10") == "10"


def two_hosts(release: str):
    def made():
        node = twins.multihost(NOW, release)
        return {"oss01": node, "oss02": twins.partner(node)}

    return made


def no_disk_in_the_log():
    """What all disks hang on stalled: nothing names one of them."""
    hosts = two_hosts("2.3.2-1")()
    hosts["oss01"].kernel_lines = []
    return hosts


def suspended(facts: FleetFacts):
    return answer(facts, "suspended-pool")


HANDS = {
    "attest": lambda walk: "oss02",
    "find": lambda walk: "ZA20004X",
    "pull": pulled,
    "mend": lambda walk: "The cable of the shelf was loose.",
    "others": lambda walk: "none",
    "reboot": came_up,
    "import": imported,
    "alike": alike,
    "alike-again": alike,
}
RESUMED = Story(
    runbook="suspended-pool",
    twins=two_hosts("2.3.2-1"),
    params=suspended,
    choices={"way": always("clear"), "tune": always("20"), "hold": always("1")},
    hands=HANDS,
    restored=not_raised,
    name="suspended-pool, resumed, with more time for a day",
)
REBOOTED = Story(
    runbook="suspended-pool",
    twins=two_hosts("2.1.15-1"),
    params=suspended,
    choices={"way": always("reboot"), "tune": always("keep")},
    hands=HANDS,
    restored=not_raised,
    name="suspended-pool, rebooted",
)
NONE_NAMED = Story(
    runbook="suspended-pool",
    twins=no_disk_in_the_log,
    params=suspended,
    choices={"way": always("clear"), "tune": always("keep")},
    hands=HANDS,
    restored=not_raised,
    name="suspended-pool, no disk is named",
)
STORIES = (SHELF, BACKPLANE, RESUMED, REBOOTED, NONE_NAMED)
