"""Walks of add-special: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from twin.model import Node
from workflows.analysis import manual_start
from workflows.facts import FleetFacts
from workflows.guards.several import NUMBERS, key
from workflows.runbooks.add_special import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered: nothing is changed before the mirror is added, and that is the last step that changes anything."""
    assert walk.commands() == []


def from_its_page(facts: FleetFacts) -> Mapping[str, str]:
    """A pool without such a class: a person begins it at the pool."""
    return next(one.params for one in manual_start.of_pool(facts, "oss01", "ost_0") if one.runbook.slug == "add-special")


def scanned(number: int) -> Callable[[Walk], str]:
    return lambda walk: walk.node.disk(walk.state.params[key("wwid", number)]).serial


def story(name: str, node: Callable[[], Node], params: Callable[[FleetFacts], Mapping[str, str]] = from_its_page) -> Story:
    return Story(
        runbook="add-special",
        twins=lambda: {"oss01": node()},
        params=params,
        hands={key("scan", number, "-"): scanned(number) for number in NUMBERS},
        restored=as_it_was,
        name=name,
    )


def answered(facts: FleetFacts) -> Mapping[str, str]:
    return answer(facts, "add-special")


SPECIAL = story("", lambda: rehearsal.beside_a_raidz(2, "special"), answered)
WIDE = story("add-special, beside a raidz3", lambda: rehearsal.beside_a_raidz(3))
MIRRORS = story("add-special, a dedup vdev beside mirrors", lambda: rehearsal.beside_mirrors(2, "dedup"), answered)
NVME = story("add-special, on NVMe disks", lambda: rehearsal.beside_a_raidz_on_nvme(2))
NVME_WIDE = story("add-special, on NVMe disks beside a raidz3", lambda: rehearsal.beside_a_raidz_on_nvme(3))
STORIES = (SPECIAL, WIDE, MIRRORS, NVME, NVME_WIDE)
