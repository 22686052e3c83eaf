"""Stories about disks in bays: blink-and-replace."""

from __future__ import annotations

from collections.abc import Mapping

from agents.twin import scenarios
from agents.twin.model import Node
from workflows.facts import FleetFacts
from workflows.situations import detect_all
from workflows.tests.walks import Story, Walk

SICK_BAY = 3


def sick() -> Mapping[str, Node]:
    return {"oss01": scenarios.sick_disk()}


def faulted() -> Mapping[str, Node]:
    return {"oss01": scenarios.sick_disk(faulted=True)}


def answer(facts: FleetFacts, runbook: str) -> Mapping[str, str]:
    """The parameters that a situation of these facts fills in."""
    found = [a.params for s in detect_all(facts) for a in s.answers if a.runbook == runbook]
    assert found, f"no situation is answered by {runbook}: {[s.slug for s in detect_all(facts)]}"
    return found[0]


def bay(node: Node, number: int):
    return next(b for b in node.enclosures[0].bays if b.number == number)


def pull(walk: Walk) -> str:
    with walk.changing() as node:
        walk.pulled = scenarios.unplug(node, bay(node, SICK_BAY).wwid)
    return ""


def insert(walk: Walk) -> str:
    with walk.changing() as node:
        scenarios.plug(node, scenarios.shelf_disk(), bay(node, SICK_BAY))
    return ""


def put_the_old_one_back(walk: Walk) -> str:
    old = walk.state.params["old_wwid"]
    with walk.changing() as node:
        place = bay(node, SICK_BAY)
        if place.wwid != old:
            if place.wwid is not None:
                scenarios.unplug(node, place.wwid)
            scenarios.plug(node, walk.pulled, place)
    return ""


def as_it_was(walk: Walk) -> None:
    """Every member serves that did, and nothing is lit."""
    leaf = next(leaf for leaf in walk.node.pool("ost_0").leaves() if str(leaf.guid) == walk.state.params["vdev_guid"])
    assert leaf.state in ("ONLINE", "DEGRADED", "FAULTED")
    assert not any(b.locate for e in walk.node.enclosures for b in e.bays)


BLINK = Story(
    runbook="blink-and-replace",
    twins=sick,
    params=lambda facts: answer(facts, "blink-and-replace"),
    choices={"take": lambda options: scenarios.shelf_disk().wwid},
    hands={
        "spare": lambda walk: scenarios.shelf_disk().serial,
        "blinks": lambda walk: str(next(b.number for b in walk.node.enclosures[0].bays if b.locate)),
        "pull": pull,
        "insert": insert,
        "seat": put_the_old_one_back,
    },
    restored=as_it_was,
)
BLINK_A_FAULTED_DISK = Story(
    **{**vars(BLINK), "twins": faulted, "name": "blink-and-replace, ZFS gave the disk up"},
)
