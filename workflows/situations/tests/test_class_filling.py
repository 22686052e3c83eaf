"""A special or dedup class that fills: from which percentage on, and where the runbook that adds another mirror answers it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.zpool_list import PoolSpace, Space
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.scenarios import Clock
from workflows.facts import FleetFacts, Unknown
from workflows.runbooks.add_special import rehearsal
from workflows.situations import class_filling, detect_all
from workflows.tests.incident import leaf, vdev, with_pool
from workflows.tests.walks import History

DATA = vdev(70, "raidz2-0", "raidz", 2, *(leaf(number, f"d{number}") for number in range(71, 77)))
FIRST = vdev(80, "mirror-1", "mirror", 0, leaf(81, "a"), leaf(82, "b"), leaf(83, "c"))
SECOND = vdev(90, "mirror-2", "mirror", 0, leaf(91, "d"), leaf(92, "e"), leaf(93, "f"))


def row(guid: int, used: int | None, free: int | None) -> Space:
    return Space(str(guid), None, used, free, None, None, None, None, "ONLINE")


def found(role: str = "special", *rows: Space, tops=(FIRST,)):
    space = PoolSpace(Space("ost_0", 9000, 10, 8990, None, None, None, 0, "ONLINE"), rows)
    return class_filling.detect(with_pool(tops=(("data", DATA), *((role, top) for top in tops)), space=space))


@pytest.mark.parametrize(("used", "severity"), [(74, None), (75, "info"), (89, "info"), (90, "watch"), (100, "watch")])
@pytest.mark.parametrize("role", ["special", "dedup"])
def test_from_75_percent_on_it_is_mentioned_and_from_90_watched(role, used, severity):
    assert [one.severity for one in found(role, row(80, used, 100 - used))] == ([] if severity is None else [severity])


def test_a_class_is_as_full_as_its_vdevs_together():
    (one,) = found("special", row(80, 100, 0), row(90, 60, 40), tops=(FIRST, SECOND))
    assert one.subject["percent"] == "80"
    assert one.vdevs == ("80", "90")


@pytest.mark.parametrize("rows", [(), (row(80, None, 10),), (row(80, 90, None),), (row(70, 90, 10),)])
def test_what_is_not_known_of_it_is_no_situation(rows):
    """That a space is not known is raised where it is read."""
    assert found("special", *rows) == ()
    assert class_filling.detect(with_pool(tops=(("special", FIRST),), space=Unknown("It was not read."))) == ()


def test_a_full_data_vdev_is_not_a_class():
    assert found("data", row(80, 95, 5)) == ()


def facts_of(node) -> FleetFacts:
    clock = Clock()
    return FleetFacts({"oss01": History().facts_at(TwinHost(MemoryStore(node), clock, clock.sleep), "oss01", clock.at)}, at=clock.at)


def test_the_runbook_answers_it_where_disks_enough_are_in_the_node():
    facts = facts_of(rehearsal.beside_a_raidz(2, "special"))
    (one,) = (one for one in detect_all(facts) if one.slug == "class-filling")
    assert [(answer.runbook, answer.params["role"]) for answer in one.answers] == [("add-special", "special")]
    node = facts.nodes["oss01"]
    free = [disk for disk in node.disks if not disk.labels]
    fewer = replace(node, disks=tuple(disk for disk in node.disks if disk not in free[:1]))
    (one,) = (one for one in detect_all(replace(facts, nodes={"oss01": fewer})) if one.slug == "class-filling")
    assert one.answers == ()
    assert one.cures[-1].runbook == "add-special"
