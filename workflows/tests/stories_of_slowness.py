"""Stories about what is slow or out of line: a crawling resilver, an odd mode, a slow disk, a link that counts errors."""

from __future__ import annotations

from collections.abc import Mapping

from twin import stories as twins
from workflows.facts import FleetFacts
from workflows.tests.stories_of_disks import answer
from workflows.tests.walks import Story, Walk

NOW = 1795248315.0
KNOB = "zfs_vdev_scrub_max_active"
ODD, SPARE = "naa:5000c500a65b201b", "naa:5000c500a65b206b"


def always(value: str):
    return lambda options: value


def as_tuned_before(walk: Walk) -> None:
    assert walk.node.parameters.get(KNOB, "3") == "3"


TUNES = Story(
    runbook="resilver-tuning",
    twins=lambda: {"oss01": twins.crawling(NOW)},
    params=lambda facts: {name: answer(facts, "resilver-tuning")[name] for name in ("node", "pool", "pool_guid")},
    choices={"choose": always(f"{KNOB} 3 6"), "window": always("3600")},
    restored=as_tuned_before,
    watched_seconds=1700.0,
)


def odd_disk(wwid: str):
    def params(facts: FleetFacts) -> Mapping[str, str]:
        from workflows.situations import drive_mode_drift

        (found,) = [s for s in drive_mode_drift.detect(facts) if s.subject["wwid"] == wwid]
        return found.answers[0].params

    return params


def serves(walk: Walk) -> None:
    assert [leaf.state for leaf in walk.node.pool("ost_0").leaves()] == ["ONLINE"] * 6


MEMBER = Story(
    runbook="drive-mode-audit",
    twins=lambda: {"oss01": twins.odd_modes(NOW)},
    params=odd_disk(ODD),
    choices={"change": always("EN_BMS 1")},
    restored=serves,
    name="drive-mode-audit, a member",
)
HOT_SPARE = Story(**{**vars(MEMBER), "params": odd_disk(SPARE), "name": "drive-mode-audit, a hot spare"})

SLOW = Story(
    runbook="slow-disk-triage",
    twins=lambda: {"oss01": twins.slow_member(NOW)},
    params=lambda facts: answer(facts, "slow-disk-triage"),
    choices={"test": always("short")},
    restored=serves,
)


def reseated(walk: Walk) -> str:
    with walk.changing() as node:
        node.phy_rates.clear()
    return "expander-2:0"


def shelf_without_a_pool():
    """The pool behind the cable is exported, so the cable may be touched."""
    node = twins.weak_cable(NOW)
    node.pool("ost_0").imported = False
    return {"oss01": node}


CABLE = Story(
    runbook="sas-link-triage",
    twins=shelf_without_a_pool,
    params=lambda facts: {"node": "oss01"},
    hands={"hands": reseated},
    watched_seconds=120.0,
)
ONE_DISK = Story(
    **{**vars(CABLE), "twins": lambda: {"oss01": twins.weak_disk_link(NOW)}, "hands": {}, "name": "sas-link-triage, the link of one disk"}
)
STORIES = (TUNES, MEMBER, HOT_SPARE, SLOW, CABLE, ONE_DISK)
