"""What import-pool does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from pathlib import Path

import pytest

from twin.scenarios import take_away
from workflows.engine import events as ev
from workflows.engine.core import warnings
from workflows.runbooks.import_pool.tests.stories import FIRST, OF_AN_EXPORTED
from workflows.situations import import_blocked
from workflows.tests.walks import ANN, Stuck, Walk, stages_of

FOLDER = Path(__file__).resolve().parents[1]


def test_nothing_is_left_to_fill_in():
    marked = [path.name for path in FOLDER.rglob("*.py") if "FILL" + " IN" in path.read_text()]
    assert not marked, marked


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def test_it_is_imported_once_by_guid_into_the_nodes_cache_file(stages):
    walk = stages.end
    assert walk.commands() == [["zpool", "import", "-N", "-d", "/dev/disk/by-id", walk.state.params["pool_guid"]]]


def test_an_exported_pool_comes_in_alike():
    walk = Walk(OF_AN_EXPORTED).to_the_end()
    assert [argv[:2] for argv in walk.commands()] == [["zpool", "import"]]
    assert [pool.name for pool in walk.node.imported] == ["ost_0"]


def test_what_is_to_be_started_is_listed_after_the_import(stages):
    walk = stages.at("see-what-to-start")
    shown = warnings(walk.step, walk.facts(), walk.state.params)
    assert [line.split(":")[0] for line in shown] == ["Keys", "Mounts", "Shares", "Lustre targets", "At the next boot"]
    assert "zfs load-key ost_0/home" in shown[0]
    assert "demo-OST0000" in shown[3]


def used_elsewhere(node):
    node.pool("ost_0").hostid, node.pool("ost_0").hostname = 0x5B2F9C07, "oss07"


def active_elsewhere(node):
    node.pool("ost_0").active_on = "oss07 5b2f9c07"


def of_the_same_hostid(node):
    node.pool("ost_0").hostname = "oss07"


def a_disk_is_away(node):
    take_away(node, node.disks[2].wwid)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (used_elsewhere, "Fence it first"),
        (active_elsewhere, "is imported on oss07"),
        (of_the_same_hostid, "oss07 .* used ost_0 last and never exported it"),
        (a_disk_is_away, "Bring back what is away first"),
    ],
)
def test_what_another_host_may_have_and_what_is_not_whole_is_refused(stages, change, why):
    walk = stages.at("check")
    with walk.changing() as node:
        change(node)
    with pytest.raises(Stuck, match=why):
        walk.go()
    assert walk.commands() == []


def test_while_something_of_it_is_mounted_the_way_back_refuses(stages):
    walk = stages.at("verify")
    with walk.changing() as node:
        node.mounts.append("ost_0/ost0 /mnt/ost0 lustre rw,svname=demo-OST0000 0 0")
    walk.must(ev.Aborted, by=ANN, reason="It is not needed here.")
    with pytest.raises(Stuck, match="these are mounted: /mnt/ost0"):
        walk.to_the_end()
    assert [pool.name for pool in walk.node.imported] == ["ost_0"]


def test_its_situation_offers_it(stages):
    (found,) = import_blocked.detect(stages.at("check").facts())
    assert [answer.runbook for answer in found.answers] == ["import-pool"]
