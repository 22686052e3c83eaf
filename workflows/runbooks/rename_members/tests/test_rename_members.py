"""What rename-members does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from twin.model import Scan
from twin.scenarios import add_spare
from workflows.engine import events as ev
from workflows.engine.core import warnings
from workflows.runbooks.rename_members import AWAY, rehearsal
from workflows.runbooks.rename_members.tests.stories import FIRST, STOPPED
from workflows.situations import kernel_names
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import ANN, Stuck, Walk, stages_of

FOLDER = Path(__file__).resolve().parents[1]
BY_ID = "/dev/disk/by-id/"


def test_nothing_is_left_to_fill_in():
    marked = [path.name for path in FOLDER.rglob("*.py") if "FILL" + " IN" in path.read_text()]
    assert not marked, marked


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def paths(walk: Walk) -> dict[int, str]:
    return {leaf.guid: leaf.path for leaf in walk.node.pool("ost_0").leaves()}


def test_it_is_exported_and_imported_once_and_every_guid_keeps_its_disk(stages):
    walk = stages.end
    guid = walk.state.params["pool_guid"]
    assert walk.commands() == [["zpool", "export", "ost_0"], ["zpool", "import", "-N", "-d", "/dev/disk/by-id", guid]]
    labels = {disk.partitions[0].label.guid: disk.hex for disk in walk.node.disks if disk.partitions and disk.partitions[0].label}
    assert {guid: path for guid, path in paths(walk).items()} == {guid: f"{BY_ID}wwn-0x{wwn}-part1" for guid, wwn in labels.items()}


def test_afterwards_nothing_is_left_to_end(stages):
    assert kernel_names.detect(stages.end.facts()) == ()


def test_what_stops_is_listed_first_and_names_the_keys(stages):
    walk = stages.at("check")
    shown = warnings(walk.step, walk.facts(), walk.state.params)
    assert [line.split(":")[0] for line in shown] == ["Keys", "Mounts", "Shares", "Not seen from here"]
    assert "ost_0/home (key at prompt)" in shown[0]


def scrubbing(node):
    node.pool("ost_0").scan = Scan("scrub", "running", NOW, 1e6, 1 << 30, 0)


def degraded(node):
    node.pool("ost_0").leaves()[1].state = "OFFLINE"


def in_no_cache_file(node):
    node.pool("ost_0").cachefile = "none"


def under_another_root(node):
    node.pool("ost_0").altroot = "/mnt"


def is_root(node):
    node.pool("ost_0").datasets["ost_0/root"] = {"mountpoint": "/"}
    node.mounts.append("ost_0/root / zfs rw 0 0")


def by_person(node):
    node.pool("ost_0").leaves()[2].path = "/dev/disk/by-path/pci-0000:00:04.0-sas-phy2-lun-0-part1"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (scrubbing, "A scrub of ost_0 is running"),
        (degraded, "ost_0 is DEGRADED; not in service: "),
        (in_no_cache_file, "cachefile of ost_0 is none, and this run would import it with default"),
        (under_another_root, "is imported under /mnt"),
        (is_root, "is mounted on /: the system runs from it"),
        (by_person, "is a name that a person chose"),
    ],
)
def test_it_refuses_before_anything_is_stopped(stages, change, why):
    walk = stages.at("check")
    with walk.changing() as node:
        change(node)
    with pytest.raises(Stuck, match=why):
        walk.go()
    assert walk.commands() == []


def test_while_something_is_mounted_nothing_is_exported():
    walk = Walk(replace(FIRST, hands={**FIRST.hands, "stop": lambda walk: STOPPED}))
    with pytest.raises(Stuck, match="Mounted are still: ost_0/home on /ost_0/home"):
        walk.to_the_end()
    assert walk.commands() == []


def test_a_run_that_ends_after_the_export_imports_the_pool_again(stages):
    walk = stages.at("verify-export")
    assert [loop.loop for loop in walk.state.loops] == [AWAY.slug]
    walk.must(ev.Aborted, by=ANN, reason="The window is over.")
    walk.to_the_end()
    assert [argv[1] for argv in walk.commands()] == ["export", "import"]
    assert walk.state.loops == ()


def test_a_run_that_ends_after_the_import_imports_nothing_twice(stages):
    walk = stages.at("start")
    walk.must(ev.Aborted, by=ANN, reason="Somebody else goes on.")
    walk.to_the_end()
    assert [argv[1] for argv in walk.commands()] == ["export", "import"]


def test_what_is_left_away_is_over_only_when_it_is_imported_and_mounted(stages):
    away, back = stages.at("verify-export"), stages.at("start")
    assert AWAY.over(away.facts(), away.state.params).outcome == "refuse"
    assert AWAY.over(back.facts(), back.state.params).outcome == "unknown"
    with back.changing() as node:
        node.mounts += rehearsal.under_kernel_names().mounts[1:]
    assert AWAY.over(back.facts(), back.state.params).outcome == "pass"


def with_a_spare():
    node = rehearsal.under_kernel_names()
    add_spare(node, "ost_0", node.disks[6])
    node.pool("ost_0").spares[0].path = f"/dev/{node.disks[6].paths[0].name}1"
    return {"oss01": node}


def test_a_spare_has_its_stable_name_too():
    walk = Walk(replace(FIRST, twins=with_a_spare)).to_the_end()
    assert walk.node.pool("ost_0").spares[0].path.startswith(BY_ID)
